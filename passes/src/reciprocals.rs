//! Quotients by what only a launch knows, as products with reciprocals that the launch computes.

use cute_ir::ops::arith;
use cute_ir::{Failure, mlir::*};

/// The power of two that reciprocals are parts of.
pub(crate) const BITS: u32 = 62;

/// The product of a number of 32 bits and a reciprocal, over 2^[`BITS`] and rounded down, in 64 bits: both with signs, or both without.
pub(crate) fn product<'c>(
    b: Builder<'c>,
    number: Val<'c>,
    reciprocal: Val<'c>,
    has_signs: bool,
) -> Result<Val<'c>, Failure> {
    let (extend, multiply) = match has_signs {
        true => (arith::EXTSI, arith::MULSI_EXTENDED),
        false => (arith::EXTUI, arith::MULUI_EXTENDED),
    };
    let wide = b.i64_type();
    let number = b.value(extend, &[number], wide, &[])?;
    let shift = b.constant(wide, i64::from(64 - BITS))?;
    let shifted = b.value(arith::SHLI, &[number, shift], wide, &[])?;
    // The upper half of a product of 64 bits each.
    let halves = b.op(multiply, &[shifted, reciprocal], &[wide, wide], &[])?;
    Ok(result_of(halves, 1))
}
