//! `math.powf`, as instructions.

use super::math::{call, number};
use cute_ir::{
    Failure,
    mlir::*,
    ops::{arith, llvm},
    types,
};
use melior::ir::ValueLike;

/// Orders of `arith.cmpf`, of two numbers of which neither is NaN.
#[derive(Clone, Copy)]
enum Order {
    Equal = 1,
    Less = 4,
}

/// `x^y` of f32: `2^(y log2 |x|)`, off by some `|y| max(1, |log2 |x||) 2^-22` of itself, with the sign of x for an odd y, NaN for an x below 0 and an y that is no
/// integer, and 1 for y = 0 and for |x| = 1 whatever the other is, as C has it.
pub(super) fn power<'c>(b: Builder<'c>, [x, y]: [Val<'c>; 2]) -> Result<Val<'c>, Failure> {
    let ty = x.r#type();
    let [zero, one, infinity, undefined] =
        [0.0, 1.0, f32::INFINITY, f32::NAN].map(|value| number(b, value));
    let (zero, one) = (zero?, one?);
    let size = call(b, "llvm.fabs", &[x], ty)?;
    let logarithm = call(b, "llvm.nvvm.lg2.approx.f", &[size], ty)?;
    let exponent = b.value(llvm::FMUL, &[y, logarithm], ty, &[])?;
    let found = call(b, "llvm.nvvm.ex2.approx", &[exponent], ty)?;
    // 0 times an infinity is no exponent.
    let found = select(b, is(b, Order::Equal, size, one)?, one, found)?;
    let found = select(b, is(b, Order::Equal, y, zero)?, one, found)?;

    let is_integer = is(b, Order::Equal, call(b, "llvm.floor", &[y], ty)?, y)?;
    let half = b.value(llvm::FMUL, &[y, number(b, 0.5)?], ty, &[])?;
    let is_even = is(b, Order::Equal, call(b, "llvm.floor", &[half], ty)?, half)?;
    let signed = call(b, "llvm.copysign", &[found, x], ty)?;
    let of_integer = select(b, is_even, found, signed)?;
    let is_below = is(b, Order::Less, x, zero)?;
    let is_finite = is(b, Order::Less, size, infinity?)?;
    let of_other = select(b, is_finite, undefined?, found)?;
    let of_other = select(b, is_below, of_other, found)?;
    select(b, is_integer, of_integer, of_other)
}

fn is<'c>(b: Builder<'c>, order: Order, x: Val<'c>, y: Val<'c>) -> Result<Val<'c>, Failure> {
    let predicate = [("predicate", b.i64_attribute(order as i64))];
    b.value(
        arith::CMPF,
        &[x, y],
        types::int_type(b.context, 1),
        &predicate,
    )
}

fn select<'c>(
    b: Builder<'c>,
    holds: Val<'c>,
    yes: Val<'c>,
    no: Val<'c>,
) -> Result<Val<'c>, Failure> {
    b.value(arith::SELECT, &[holds, yes, no], yes.r#type(), &[])
}
