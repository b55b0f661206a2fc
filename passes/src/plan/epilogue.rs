//! The registers and shared memory that an epilogue takes beside the product that it stands behind.

use super::Access;
use cute_ir::{
    mlir::{Blk, Op, may_approximate, name_of, nested_ops_of},
    ops::{arith, math},
};
use melior::ir::Type;

/// The outputs that are stored where they are computed of the sums.
#[derive(Clone, Copy, Debug)]
pub struct Epilogue<'c> {
    /// The elements of C and the accesses to it, where it may be computed of sums in registers; none where it is computed of sums elsewhere.
    pub stored: Option<(Type<'c>, Access)>,
    /// Instructions of a thread for each element.
    pub work: i64,
    /// Bits that are read and written for each element of C, beside C's own, of matrices that are as large.
    pub beside: i64,
}

/// Tells whether an epilogue that may be computed of sums in registers is: by one team, as others' products hide the way through shared memory, and cost less so; and where
/// the sums are whole.
pub(crate) fn takes_sums(teams: i64, split: i64) -> bool {
    teams == 1 && split == 1
}

/// Instructions of a thread that an op is, by what one of GELU's and one of SiLU's take on an H200 (`docs/performance/epilogues.md`).
const WORK: &[(&str, i64)] = &[
    (arith::CONSTANT, 0),
    (math::ERF, 14),
    (math::TANH, 14),
    (math::EXP, 12),
    (math::EXP2, 12),
    (math::LOG, 10),
    (math::LOG2, 10),
    (math::RSQRT, 10),
    (math::SQRT, 20),
    (math::SIN, 10),
    (math::COS, 10),
    (math::POWF, 40),
];

/// Instructions of an exact division, and of one that may be approximate.
const DIVISION: [i64; 2] = [60, 12];

/// Instructions of a thread for each element of a region.
pub(crate) fn work(body: Blk<'_>) -> i64 {
    nested_ops_of(body).into_iter().map(work_of).sum()
}

fn work_of(op: Op<'_>) -> i64 {
    let name = name_of(op);
    if name == arith::DIVF {
        return DIVISION[usize::from(may_approximate(op))];
    }
    let known = WORK.iter().find(|(known, _)| *known == name);
    known.map_or(1, |(_, work)| *work)
}
