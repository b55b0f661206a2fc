//! Integer arithmetic, as MLIR's `arith` has it.
//!
//! One row an operation ([`Op`]) and one a comparison ([`Predicate`]): its name, whether it reads its operands with a sign, its exact
//! result over the integers, its result at a width, and what is known of results from what is known of operands ([`Facts`]). [`Cast`] has the conversions between widths. The
//! expressions of traced layouts, of launches, of the index simplifier and of the report are views of these rows. Operations on
//! numbers of any type have rows of their own ([`ScalarOp`]): name, operands, ops of MLIR, and result in real arithmetic; so have
//! reductions of them ([`ReduceOp`]).
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod backward;
mod cast;
mod facts;
mod gcd;
mod op;
mod predicate;
mod reduce;
mod scalar;

pub use cast::Cast;
pub use facts::{Facts, cover, mask};
pub use gcd::{Integer, gcd};
pub use op::Op;
pub use predicate::Predicate;
pub use reduce::ReduceOp;
pub use scalar::{MAX_REGION_OPS, ScalarOp};

/// The way in which an operation reads the bits of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sign {
    /// It gives the same bits whichever way they are read.
    Any,
    /// The bits are numbers of two's complement.
    Signed,
    /// The bits are numbers that are not negative.
    Unsigned,
}

/// The number that the lowest `width` bits of `value` are in two's complement; `width` is 1 to 64.
pub(crate) fn signed(value: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((value << unused) as i64) >> unused
}
