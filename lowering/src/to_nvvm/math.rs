//! Functions of numbers: `math` ops, and those of `arith` that MLIR calls a library for, as instructions.
//!
//! A function that a multiprocessor has an instruction for is that instruction, approximate where it is (`ex2.approx`, PTX ISA, "Floating
//! Point Instructions"); LLVM has the rest. There is no library of device functions to call.
//!
//! A result of `exp` or `exp2` below 2^-126 is exact to its last bits at the price of three more instructions. Where `fastmath<afn>` allows
//! approximations it is 0 (`ex2.approx.ftz`).

use super::{
    power::power,
    registers::{assemble, extract},
};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, llvm, math},
};
use cute_passes::reciprocals::upper_half;
use melior::ir::{Type, ValueLike};
use std::f32::consts::LOG2_E;

/// The form in which an op of `math` becomes one of LLVM's.
enum Form {
    /// An intrinsic that LLVM selects for any floating-point type, and for vectors.
    Llvm(&'static str),
    /// An instruction on one f32. The operand is multiplied by the first number before, the result by the second after.
    Approximate(&'static str, f32, f32),
    /// Instructions on one f32 that this function puts together.
    Composed(for<'c> fn(Builder<'c>, Val<'c>) -> Result<Val<'c>, Failure>),
    /// The same on two f32.
    OfTwo(for<'c> fn(Builder<'c>, [Val<'c>; 2]) -> Result<Val<'c>, Failure>),
}

/// Powers of two, and those of which results below 2^-126 are 0.
const EXP2: &str = "llvm.nvvm.ex2.approx";
const EXP2_TO_ZERO: &str = "llvm.nvvm.ex2.approx.ftz";

const FORMS: &[(&str, Form)] = &[
    (arith::MAXNUMF, Form::Llvm("llvm.maxnum")),
    (arith::MINNUMF, Form::Llvm("llvm.minnum")),
    (math::ABSF, Form::Llvm("llvm.fabs")),
    (math::CEIL, Form::Llvm("llvm.ceil")),
    (math::COPYSIGN, Form::Llvm("llvm.copysign")),
    (math::FLOOR, Form::Llvm("llvm.floor")),
    (math::FMA, Form::Llvm("llvm.fma")),
    (math::ROUNDEVEN, Form::Llvm("llvm.roundeven")),
    (math::SQRT, Form::Llvm("llvm.sqrt")),
    (math::TRUNC, Form::Llvm("llvm.trunc")),
    (math::EXP2, Form::Approximate(EXP2, 1.0, 1.0)),
    (math::EXP, Form::Approximate(EXP2, LOG2_E, 1.0)),
    (
        math::LOG2,
        Form::Approximate("llvm.nvvm.lg2.approx.f", 1.0, 1.0),
    ),
    (
        math::LOG,
        Form::Approximate("llvm.nvvm.lg2.approx.f", 1.0, std::f32::consts::LN_2),
    ),
    (
        math::RSQRT,
        Form::Approximate("llvm.nvvm.rsqrt.approx.f", 1.0, 1.0),
    ),
    (
        math::SIN,
        Form::Approximate("llvm.nvvm.sin.approx.f", 1.0, 1.0),
    ),
    (
        math::COS,
        Form::Approximate("llvm.nvvm.cos.approx.f", 1.0, 1.0),
    ),
    (math::POWF, Form::OfTwo(power)),
    (math::TANH, Form::Composed(tanh)),
    (math::ERF, Form::Composed(erf)),
];

/// Lowers an op of `math`, or one of `arith` that has a form here.
pub(super) fn math_op<'c>(rewriter: &Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let b = Builder::before(op);
    let name = name_of(op);
    let known = FORMS.iter().any(|(known, _)| *known == name);
    if matches!(name, arith::MULSI_EXTENDED | arith::MULUI_EXTENDED)
        && result_of(op, 0).r#type() == b.i64_type()
    {
        return halves(rewriter, op);
    }
    if name == arith::REMF {
        return Err(b.error(format!(
            "'{name}' has no instruction; write x - trunc(x / y) * y with arith.divf, math.trunc and math.fma, which is as near to it as the \
             quotient is small, or reduce the operands as integers by arith.remsi"
        )));
    }
    if name.starts_with("arith.") && !known {
        return check_arithmetic(op);
    }
    if !known {
        let known = FORMS.iter().map(|(known, _)| *known);
        let known: Vec<_> = known.filter(|name| name.starts_with("math.")).collect();
        return Err(b.error(format!(
            "'{name}' has no instruction; write it with {}, or as llvm.call_intrinsic",
            known.join(", ")
        )));
    }
    let result = result_of(op, 0);
    let (operands, ty) = (operands_of(op), result.r#type());
    let new = match FORMS.iter().find(|(known, _)| *known == name) {
        Some((_, Form::Approximate(EXP2, before, after))) if may_approximate(op) => {
            approximate(b, name, &operands, (EXP2_TO_ZERO, *before, *after))?
        }
        _ => apply(b, name, &operands, ty)?,
    };
    replace_uses(result, new);
    rewriter.erase(op)
}

/// Lowers a product of 128 bits to its halves.
fn halves<'c>(rewriter: &Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let b = Builder::before(op);
    let operands = operands_of(op);
    let low = b.value(arith::MULI, &operands, b.i64_type(), &[])?;
    let has_signs = name_of(op) == arith::MULSI_EXTENDED;
    let operands = operands.try_into().ok().expected(b, "two operands")?;
    replace_uses(result_of(op, 0), low);
    replace_uses(result_of(op, 1), upper_half(b, operands, has_signs)?);
    rewriter.erase(op)
}

/// LLVM knows no floating-point numbers below 16 bits: their bits are integers to it.
fn check_arithmetic(op: Op<'_>) -> Result<(), Failure> {
    for value in operands_of(op).into_iter().chain(results_of(op)) {
        let ty = value.r#type();
        let element = vector_of(ty).map_or(ty, |(_, element)| element);
        if is_float(element)
            && element_bits(element).is_none_or(|bits| bits < 16)
            && name_of(op) != arith::CONSTANT
        {
            let b = Builder::before(op);
            return Err(b.error(format!(
                "'{}' has no instruction on {element}; arithmetic is of f16, bf16, f32 and f64: make numbers of f8E4M3FN and f8E5M2 ones of f16 \
                 by arith.extf or cute.convert, and what was computed such numbers by arith.truncf or cute.convert",
                name_of(op)
            )));
        }
    }
    Ok(())
}

/// The op of this name, in the form that it has here where it has one.
pub(super) fn apply<'c>(
    b: Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    match FORMS.iter().find(|(known, _)| *known == name) {
        None => b.value(name, operands, ty, &[]),
        Some((_, Form::Llvm(intrinsic))) => call(b, intrinsic, operands, ty),
        Some((_, Form::Composed(function))) => {
            let value = *operands.first().expected(b, "an operand")?;
            each(b, name, [value], &|b, [x]| function(b, x))
        }
        Some((_, Form::OfTwo(function))) => {
            let values = operands.try_into().ok().expected(b, "two operands")?;
            each(b, name, values, function)
        }
        Some((_, Form::Approximate(intrinsic, before, after))) => {
            approximate(b, name, operands, (intrinsic, *before, *after))
        }
    }
}

/// An instruction, with the numbers that its operand and its result are multiplied by.
fn approximate<'c>(
    b: Builder<'c>,
    name: &str,
    operands: &[Val<'c>],
    (intrinsic, before, after): (&str, f32, f32),
) -> Result<Val<'c>, Failure> {
    let value = *operands.first().expected(b, "an operand")?;
    each(b, name, [value], &|b, [value]| {
        let value = scaled(b, value, before)?;
        let value = call(b, intrinsic, &[value], value.r#type())?;
        scaled(b, value, after)
    })
}

/// A function of f32 on numbers, or on each element of vectors; of narrower types through f32.
fn each<'c, const N: usize>(
    b: Builder<'c>,
    name: &str,
    values: [Val<'c>; N],
    function: &dyn Fn(Builder<'c>, [Val<'c>; N]) -> Result<Val<'c>, Failure>,
) -> Result<Val<'c>, Failure> {
    let ty = values.first().expected(b, "an operand")?.r#type();
    if let Some((length, element)) = vector_of(ty) {
        let part = |i| {
            let parts = all(b, values.map(|value| extract(b, value, i, element)))?;
            each(b, name, parts, function)
        };
        let parts = (0..length).map(part).collect::<Result<Vec<_>, _>>()?;
        return assemble(b, &parts, ty);
    }
    let f32 = b.ty("f32")?;
    if ty == f32 {
        return function(b, values);
    }
    if !is_float(ty) || element_bits(ty) != Some(16) {
        return Err(b.error(format!(
            "'{name}' is an instruction of f32, and of f16 and bf16 through it; found {ty}: convert it, or compute it by \
             operations of that type"
        )));
    }
    let wide = all(
        b,
        values.map(|value| b.value(llvm::FPEXT, &[value], f32, &[])),
    )?;
    let result = function(b, wide)?;
    b.value(llvm::FPTRUNC, &[result], ty, &[])
}

/// All values, or the first failure.
fn all<'c, const N: usize>(
    b: Builder<'c>,
    values: [Result<Val<'c>, Failure>; N],
) -> Result<[Val<'c>; N], Failure> {
    let found: Vec<Val> = values.into_iter().collect::<Result<_, _>>()?;
    found.try_into().ok().expected(b, "as many values")
}

fn scaled<'c>(b: Builder<'c>, value: Val<'c>, factor: f32) -> Result<Val<'c>, Failure> {
    if factor == 1.0 {
        return Ok(value);
    }
    let factor = number(b, factor)?;
    b.value(llvm::FMUL, &[value, factor], value.r#type(), &[])
}

/// A number as an f32.
pub(super) fn number<'c>(b: Builder<'c>, number: f32) -> Result<Val<'c>, Failure> {
    // MLIR wants a point, and the bits of what is not finite.
    let text = match format!("{number:e}") {
        _ if !number.is_finite() => format!("{:#010X}", number.to_bits()),
        text if text.contains('.') => text,
        text => text.replacen('e', ".0e", 1),
    };
    let value = b.attribute(&format!("{text} : f32"))?;
    b.value(llvm::MLIR_CONSTANT, &[], b.ty("f32")?, &[("value", value)])
}

/// `a b + c` of f32.
fn fma<'c>(b: Builder<'c>, factors: [Val<'c>; 2], c: Val<'c>) -> Result<Val<'c>, Failure> {
    let [x, y] = factors;
    call(b, "llvm.fma", &[x, y, c], x.r#type())
}

/// `1 / x` of an f32, within 2^-23 of it.
fn reciprocal<'c>(b: Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Failure> {
    call(b, "llvm.nvvm.rcp.approx.ftz.f", &[value], value.r#type())
}

/// `1 - 2 / (1 + exp(2 x))`: within 2^-21 of the hyperbolic tangent, which `tanh.approx` has to 2^-11.
fn tanh<'c>(b: Builder<'c>, x: Val<'c>) -> Result<Val<'c>, Failure> {
    let scaled = scaled(b, x, 2.0 * LOG2_E)?;
    // Nothing of what would be below 2^-126 is seen beside 1.
    let power = call(b, EXP2_TO_ZERO, &[scaled], x.r#type())?;
    let one = number(b, 1.0)?;
    let below = b.value(llvm::FADD, &[power, one], x.r#type(), &[])?;
    let part = reciprocal(b, below)?;
    fma(b, [part, number(b, -2.0)?], one)
}

/// The error function, within 2^-21: `1 - 2^(a P(a))` of the size `a`, with its sign. The polynomial is the one whose result is off by the least, 1.6e-8, for
/// sizes up to 4.2, beyond which the power is below that and falls on, as the highest coefficient is below 0. To it comes the error of `ex2.approx`, at most 2^-22
/// (PTX ISA), and that of `a P(a)`.
fn erf<'c>(b: Builder<'c>, x: Val<'c>) -> Result<Val<'c>, Failure> {
    const FROM_HIGHEST: [f32; 8] = [
        -4.535_845_8e-5,
        4.455_065e-4,
        -1.489_438e-3,
        -7.746_355e-4,
        2.825_368_6e-2,
        -1.484_816_2e-1,
        -9.184_164e-1,
        -1.627_908_6,
    ];
    let ty = x.r#type();
    let size = call(b, "llvm.fabs", &[x], ty)?;
    let mut sum = number(b, FROM_HIGHEST[0])?;
    for coefficient in &FROM_HIGHEST[1..] {
        sum = fma(b, [sum, size], number(b, *coefficient)?)?;
    }
    let exponent = b.value(llvm::FMUL, &[sum, size], ty, &[])?;
    // Nothing of what would be below 2^-126 is seen beside 1.
    let power = call(b, EXP2_TO_ZERO, &[exponent], ty)?;
    let found = b.value(llvm::FSUB, &[number(b, 1.0)?, power], ty, &[])?;
    call(b, "llvm.copysign", &[found, x], ty)
}

/// An intrinsic by its name without types, which LLVM takes from the operands.
pub(super) fn call<'c>(
    b: Builder<'c>,
    intrinsic: &str,
    operands: &[Val<'c>],
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    // The LLVM dialect's own ops of these names are illegal to MLIR's conversion of GPU modules, which wants a library.
    let attributes = [
        ("intrin", b.string(intrinsic)),
        (
            "operandSegmentSizes",
            b.i32_array(&[operands.len() as i32, 0]),
        ),
        ("op_bundle_sizes", b.i32_array(&[])),
    ];
    b.value(llvm::CALL_INTRINSIC, operands, ty, &attributes)
}
