//! Passes over the banks of shared memory. Phases, and what lanes share, stand in [`cute_target::banks`].

use cute_target::banks::{self, Access, BANK_BYTES, NUM_BANKS, ideal, warp_wavefronts as passes};

use crate::emulator::{LANES, Mask, Row, lanes};

/// Passes over the banks ("wavefronts") of one instruction of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wavefronts {
    /// The passes that it takes; none if no lane is active.
    pub actual: u32,
    /// The passes that its active lanes' bytes take without conflicts, or `actual`, where lanes share so much that this is less.
    pub ideal: u32,
}

impl Wavefronts {
    fn new(actual: u32, active: Mask, bytes: u32) -> Self {
        let ideal = ideal(active.count_ones(), bytes).min(actual);
        Self { actual, ideal }
    }
}

/// `ld.shared` and `st.shared` of `bytes` a lane (1, 2, 4, 8 or 16; a vector's elements together).
pub fn shared_wavefronts(addresses: &Row, active: Mask, bytes: u32, is_store: bool) -> Wavefronts {
    let access = if is_store {
        Access::Store
    } else {
        Access::Load
    };
    Wavefronts::new(passes(addresses, active, bytes, access), active, bytes)
}

/// ldmatrix and stmatrix, transposing or not, of 1, 2 or 4 matrices: the first `8 * matrices` lanes of `rows` address
/// rows of 16 bytes. The rows of one matrix are one phase.
pub fn matrix_wavefronts(rows: &Row, matrices: u32) -> Wavefronts {
    const ROWS: u32 = 8;
    const ROW_BYTES: u32 = 16;
    let unused = (LANES as u32).saturating_sub(ROWS.saturating_mul(matrices));
    let active = u32::MAX.checked_shr(unused).unwrap_or(0);
    let actual = passes(rows, active, ROW_BYTES, Access::Store);
    Wavefronts::new(actual, active, ROW_BYTES)
}

/// `cp.async` of `bytes` a lane (4, 8 or 16) from global memory at `from` to shared memory at `to`.
///
/// Lanes in `zeros` write zeros alone because their source size is zero.
///
/// `cp.async.ca` takes more passes than this if its sources lie in more than four lines, by how a hash of the lines'
/// addresses places them in L1. `cp.async.cg` has no passes in hardware counters, as its data come through L2; the
/// profiler's `memory_l1_wavefronts_shared` counts these for it.
pub fn async_copy_wavefronts(
    to: &Row,
    from: &Row,
    active: Mask,
    zeros: Mask,
    bytes: u32,
) -> Wavefronts {
    let actual = banks::async_copy_wavefronts(to, from, active, zeros, bytes);
    Wavefronts::new(actual, active, bytes)
}

/// The operation of an atomic instruction on shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAtomic {
    /// `add`, `min`, `max`, `inc`, `dec`, `and`, `or`, `xor`, `exch`, as one instruction of the machine.
    Update,
    /// `cas`, which passes twice.
    CompareAndSwap,
}

/// `atom.shared` and `red.shared` of 4 bytes a lane, as one instruction of the machine: no two lanes with the same bank
/// share a pass, even if their words are the same. (Measured for integer `add` and for `cas`. What the machine has no
/// instruction for, such as `add.f32`, becomes a loop around `cas`, which this does not count.)
pub fn shared_atomic_wavefronts(
    addresses: &Row,
    active: Mask,
    operation: SharedAtomic,
) -> Wavefronts {
    let mut load = [0u32; NUM_BANKS as usize];
    for lane in lanes(active) {
        load[bank(addresses[lane])] += 1;
    }
    let actual = load.into_iter().max().unwrap_or(0);
    let times = match operation {
        SharedAtomic::Update => 1,
        SharedAtomic::CompareAndSwap => 2,
    };
    Wavefronts {
        actual: times * actual,
        ideal: times * ideal(active.count_ones(), BANK_BYTES as u32).min(actual),
    }
}

fn bank(address: u64) -> usize {
    (address / BANK_BYTES as u64 % NUM_BANKS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(f: impl Fn(u64) -> u64) -> Row {
        std::array::from_fn(|lane| f(lane as u64))
    }

    fn load(f: impl Fn(u64) -> u64, active: Mask, bytes: u32) -> (u32, u32) {
        let w = shared_wavefronts(&row(f), active, bytes, false);
        (w.actual, w.ideal)
    }

    fn store(f: impl Fn(u64) -> u64, active: Mask, bytes: u32) -> (u32, u32) {
        let w = shared_wavefronts(&row(f), active, bytes, true);
        (w.actual, w.ideal)
    }

    const ALL: Mask = u32::MAX;

    #[test]
    fn words_and_conflicts() {
        assert_eq!(load(|l| 4 * l, ALL, 4), (1, 1));
        assert_eq!(load(|l| 128 * l, ALL, 4), (32, 1));
        assert_eq!(load(|l| 132 * l, ALL, 4), (1, 1));
        assert_eq!(load(|l| 128 * l, 0x0000_ffff, 4), (16, 1));
        assert_eq!(load(|l| 128 * (l % 3), ALL, 4), (3, 1));
        assert_eq!(store(|_| 64, ALL, 4), (1, 1));
        assert_eq!(store(|l| l, ALL, 1), (1, 1));
        assert_eq!(load(|l| 4 * l, 0, 4), (0, 0));
        assert_eq!(load(|l| u64::MAX - 3 - 4 * l, ALL, 4), (1, 1));
    }

    #[test]
    fn loads_of_neighbours_that_share_merge_phases_and_stores_do_not() {
        assert_eq!(
            (load(|_| 0, ALL, 8), store(|_| 0, ALL, 8)),
            ((1, 1), (2, 2))
        );
        assert_eq!(
            (load(|_| 0, ALL, 16), store(|_| 0, ALL, 16)),
            ((2, 2), (4, 4))
        );
        // Pairs, then every second lane inactive.
        assert_eq!(load(|l| 8 * (l / 2), ALL, 8), (1, 1));
        assert_eq!(load(|l| 8 * (l / 2), 0x5555_5555, 8), (1, 1));
        assert_eq!(load(|l| 8 * (l & !2), 0x3333_3333, 8), (2, 1));
        // Fours that share, but no lane with its neighbours: no merging.
        assert_eq!(load(|l| 8 * (l & !4), ALL, 8), (2, 2));
        // One half of the warp alone does not merge its phases.
        let half = |l: u64| if l < 16 { 16 * (l / 2) } else { 16 * l };
        assert_eq!(load(half, ALL, 16), (4, 4));
        assert_eq!(load(half, 0xffff, 16), (1, 1));
    }

    #[test]
    fn matrices_go_row_by_row() {
        let w = |f: fn(u64) -> u64, n| matrix_wavefronts(&row(f), n);
        let is = |actual, ideal| Wavefronts { actual, ideal };
        assert_eq!(w(|l| 16 * l, 4), is(4, 4));
        assert_eq!(w(|l| 128 * l, 4), is(32, 4));
        assert_eq!(w(|l| 128 * l, 1), is(8, 1));
        assert_eq!(w(|l| 128 * l + 16 * (l % 8), 2), is(2, 2));
        assert_eq!(w(|_| 0, 4), is(4, 4), "matrices do not merge");
        assert_eq!(w(|_| 0, 0), is(0, 0));
        assert_eq!(w(|l| 16 * l, u32::MAX), is(4, 4));
    }

    #[test]
    fn async_copies_conflict_on_either_side() {
        let w = |to: fn(u64) -> u64, from: fn(u64) -> u64, zeros, bytes| {
            async_copy_wavefronts(&row(to), &row(from), ALL, zeros, bytes).actual
        };
        assert_eq!(w(|l| 16 * l, |l| 16 * l, 0, 16), 4);
        assert_eq!(w(|l| 128 * l, |l| 16 * l, 0, 16), 32);
        // Rows of 64 bytes: two of them in a phase begin at the same bank of their lines, unless nothing is read.
        let rows = |l| 256 * (l / 4) + 16 * (l % 4);
        assert_eq!(w(|l| 16 * l, rows, 0, 16), 8);
        assert_eq!(w(|l| 16 * l, rows, ALL, 16), 4);
        // One word for all lanes is not shared.
        assert_eq!(w(|l| 4 * l, |_| 0, 0, 4), 32);
        assert_eq!(w(|_| 0, |l| 4 * l, 0, 4), 32);
        let none = async_copy_wavefronts(&row(|_| 0), &row(|_| 0), 0, 0, 4);
        assert_eq!(none, Wavefronts::default());
    }

    #[test]
    fn atomics_share_nothing() {
        let w = |f: fn(u64) -> u64, op| shared_atomic_wavefronts(&row(f), ALL, op);
        let is = |actual, ideal| Wavefronts { actual, ideal };
        assert_eq!(w(|l| 4 * l, SharedAtomic::Update), is(1, 1));
        assert_eq!(w(|_| 0, SharedAtomic::Update), is(32, 1));
        assert_eq!(w(|l| 8 * l, SharedAtomic::CompareAndSwap), is(4, 2));
    }
}
