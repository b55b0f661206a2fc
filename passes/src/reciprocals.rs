//! Quotients by what only a launch knows, as products with reciprocals that the launch computes.

use cute_ir::ops::{arith, llvm};
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
    let multiply = match has_signs {
        true => arith::MULSI_EXTENDED,
        false => arith::MULUI_EXTENDED,
    };
    let shifted = shifted(b, number, has_signs)?;
    // The upper half of a product of 64 bits each.
    let wide = b.i64_type();
    let halves = b.op(multiply, &[shifted, reciprocal], &[wide, wide], &[])?;
    Ok(result_of(halves, 1))
}

/// The same in a kernel that `cute-to-nvvm` has lowered, which makes an intrinsic of the products that it meets.
pub(crate) fn lowered_product<'c>(
    b: Builder<'c>,
    number: Val<'c>,
    reciprocal: Val<'c>,
    has_signs: bool,
) -> Result<Val<'c>, Failure> {
    let shifted = shifted(b, number, has_signs)?;
    upper_half(b, [shifted, reciprocal], has_signs)
}

/// A number in 64 bits, times what the reciprocal's power of two lacks of them.
fn shifted<'c>(b: Builder<'c>, number: Val<'c>, has_signs: bool) -> Result<Val<'c>, Failure> {
    let extend = match has_signs {
        true => arith::EXTSI,
        false => arith::EXTUI,
    };
    let wide = b.i64_type();
    let number = b.value(extend, &[number], wide, &[])?;
    let shift = b.constant(wide, i64::from(64 - BITS))?;
    b.value(arith::SHLI, &[number, shift], wide, &[])
}

/// The upper half of a product of 64 bits each, both with signs or both without, as an intrinsic. A product of 128 bits is an instruction only where both operands are
/// extended alike: of a number that LLVM knows not to be negative it extends one as the other is not, and calls a library.
pub fn upper_half<'c>(
    b: Builder<'c>,
    operands: [Val<'c>; 2],
    has_signs: bool,
) -> Result<Val<'c>, Failure> {
    let intrinsic = match has_signs {
        true => "llvm.nvvm.mulhi.ll",
        false => "llvm.nvvm.mulhi.ull",
    };
    let attributes = [
        ("intrin", b.string(intrinsic)),
        ("operandSegmentSizes", b.i32_array(&[2, 0])),
        ("op_bundle_sizes", b.i32_array(&[])),
    ];
    b.value(llvm::CALL_INTRINSIC, &operands, b.i64_type(), &attributes)
}
