//! The passes that take kernels down from tiles of blocks to atoms on static views, in the order in which they run.
//!
//! `--cute-compile` runs all of them, `cute-report` those that say where data is.

use crate::{
    algorithms, allocate_shared, fence_proxies, lower_layouts, number_barriers, partition,
    pipeline::{expand, handed, latencies, lower, rings, schedule},
    specialize, synchronize, values, warp_specialize,
};

/// The purpose of a pass among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Says where data is: which thread has it, in which register, at which place in memory.
    Place,
    /// Says when things happen, and changes no place.
    Time,
    /// Refuses what no later pass lowers.
    Check,
    /// Merges what is there twice.
    Tidy,
}

/// A pass in its place.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The name of the pass.
    pub pass: &'static str,
    /// The purpose, by which a user of the order picks passes.
    pub purpose: Purpose,
}

const fn step(pass: &'static str, purpose: Purpose) -> Step {
    Step { pass, purpose }
}

/// The passes behind `cute-tile` that see a kernel at a time.
pub const ON_KERNELS: &[Step] = &[
    step(handed::PASS.name, Purpose::Place),
    step(warp_specialize::PASS.name, Purpose::Place),
    step(fence_proxies::PASS.name, Purpose::Time),
    step(partition::PASS.name, Purpose::Place),
    step(specialize::PASS.name, Purpose::Place),
    step(algorithms::PASS.name, Purpose::Place),
    step("cute-check-atoms", Purpose::Check),
    step(values::PASS.name, Purpose::Place),
    step("cse", Purpose::Tidy),
    step(rings::PASS.name, Purpose::Time),
    step(latencies::PASS.name, Purpose::Time),
    step(schedule::PASS.name, Purpose::Time),
    step(expand::PASS.name, Purpose::Time),
    step("cse", Purpose::Tidy),
    step(lower::PASS.name, Purpose::Time),
    step(allocate_shared::PASS.name, Purpose::Place),
    step(synchronize::PASS.name, Purpose::Time),
    step(number_barriers::PASS.name, Purpose::Time),
];

/// The passes behind [`ON_KERNELS`], which see host functions too.
pub const ON_MODULES: &[Step] = &[step(lower_layouts::PASS.name, Purpose::Place)];

/// The passes that say where data is, in their order.
pub fn places() -> impl Iterator<Item = &'static str> {
    let steps = ON_KERNELS.iter().chain(ON_MODULES);
    steps
        .filter(|step| step.purpose == Purpose::Place)
        .map(|step| step.pass)
}
