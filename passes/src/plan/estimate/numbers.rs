//! Integers that estimates are computed in.

use cute_arith::Op;

/// Integers that a time is computed in: numbers, or values of a function that launches.
pub trait Arithmetic {
    /// An integer.
    type Value: Clone;
    /// The reason why one cannot be computed.
    type Error;

    /// A number.
    fn constant(&self, value: i64) -> Result<Self::Value, Self::Error>;

    /// An operation on integers, none of which is negative.
    fn apply(&self, op: Op, operands: [&Self::Value; 2]) -> Result<Self::Value, Self::Error>;
}

/// Numbers, of which those that 64 bits do not hold are the largest.
pub(in crate::plan) struct Numbers;

impl Arithmetic for Numbers {
    type Value = i64;
    type Error = std::convert::Infallible;

    #[inline(always)]
    fn constant(&self, value: i64) -> Result<i64, Self::Error> {
        Ok(value)
    }

    // Millions of times for an open problem, each of them of one operation that is known where it stands.
    #[inline(always)]
    fn apply(&self, op: Op, [a, b]: [&i64; 2]) -> Result<i64, Self::Error> {
        Ok(op.exact(*a, *b).unwrap_or(i64::MAX))
    }
}
