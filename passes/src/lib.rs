//! The passes from an algorithm on whole tensors to pipelined atoms, one file each.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod algorithms;
pub mod allocate_shared;
pub mod arch;
pub mod assert_at_launch;
mod branches;
mod bulk_loads;
pub mod carry_remainders;
pub mod check;
mod divergence;
pub mod divide_by_arguments;
mod explain;
mod fence_proxies;
pub mod fold_static;
mod fused;
pub mod inline;
pub mod instantiate;
pub mod kernel;
pub mod launch;
mod lives;
mod loops;
pub mod lower_layouts;
mod mbarriers;
pub mod memory;
pub mod number_barriers;
mod open;
pub mod order;
pub mod partition;
pub mod pipeline;
pub mod plan;
pub mod read_dsl;
pub mod reciprocals;
pub mod report;
mod shared;
pub mod simplify_indices;
pub mod simplify_layouts;
pub mod specialize;
pub mod synchronize;
mod testing;
pub mod tile;
pub mod uncalled;
mod usage;
pub mod values;
mod vectorize;
mod warp_specialize;
pub mod watchdog;

use cute_ir::PassSpec;

/// Every pass of this crate. In which order they run, [`order`] says.
pub fn passes() -> Vec<PassSpec> {
    vec![
        instantiate::PASS,
        uncalled::PASS,
        inline::PASS,
        read_dsl::PASS,
        check::PASS,
        tile::PASS,
        pipeline::handed::PASS,
        warp_specialize::PASS,
        fence_proxies::PASS,
        partition::PASS,
        specialize::PASS,
        algorithms::PASS,
        values::PASS,
        pipeline::rings::PASS,
        pipeline::latencies::PASS,
        pipeline::schedule::PASS,
        pipeline::print::PASS,
        pipeline::expand::PASS,
        pipeline::lower::PASS,
        allocate_shared::PASS,
        synchronize::PASS,
        number_barriers::PASS,
        fold_static::PASS,
        lower_layouts::PASS,
        simplify_layouts::PASS,
        assert_at_launch::PASS,
        divide_by_arguments::PASS,
        carry_remainders::PASS,
        simplify_indices::PASS,
        watchdog::PASS,
        report::PASS,
        testing::PASS,
    ]
}
