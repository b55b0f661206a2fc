//! Numbers of 8 bits as wider ones.
//!
//! LLVM has no floating-point numbers of 8 bits: registers hold their bits, and PTX converts two of them to f16 at once (`cvt`,
//! `.e4m3x2`, `.e5m2x2`; PTX ISA, "Data Movement and Conversion Instructions"). Bytes become f16 without a conversion, which takes
//! longer than arithmetic: 1024 + u, for a byte u, is the number whose lower bits are u, of which two are made by one permutation of
//! bytes, and 1024, or 1152 where the byte is u - 128, is exact to take away again. They become bf16 and f32 by way of f16, which has them all. Where an architecture lacks `cvt` of numbers of 8 bits, they are put
//! together by integer operations.

use super::{
    math::call,
    registers::{assemble, bitcast, extract, from_words, words},
};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, llvm},
};
use cute_target::{Arch, Requirement};
use melior::ir::{Type, ValueLike};

/// The instructions that convert two numbers of 8 bits to f16, by the type of the numbers.
const PAIRS: [(&str, &str); 2] = [
    ("f8E4M3FN", "llvm.nvvm.e4m3x2.to.f16x2.rn"),
    ("f8E5M2", "llvm.nvvm.e5m2x2.to.f16x2.rn"),
];

/// The instructions that round two numbers to ones of 8 bits, by the type of these: of f32, the upper one first, and of f16.
const NARROWS: [(&str, [&str; 2]); 2] = [
    (
        "f8E4M3FN",
        ["llvm.nvvm.ff.to.e4m3x2.rn", "llvm.nvvm.f16x2.to.e4m3x2.rn"],
    ),
    (
        "f8E5M2",
        ["llvm.nvvm.ff.to.e5m2x2.rn", "llvm.nvvm.f16x2.to.e5m2x2.rn"],
    ),
];

/// The architectures that have them (PTX ISA, `cvt`, "Target ISA Notes").
const CONVERTS: Requirement = Requirement::Since(8, 9);

/// The version of PTX from which on all of these have them ("PTX ISA Notes").
const CONVERTS_IN_PTX: i64 = 81;

/// The upper byte of each half word: of an f16, the exponent of 1024.
const UPPER: i64 = 0x6464_6464;
/// The permutations that put the first two, and the last two, of four bytes into the lower bytes of half words.
const HALVES: [i64; 2] = [0x4140, 0x4342];
/// The permutations that put the first two, and the last two, of four bytes into the upper bytes of half words, beside bytes of another register.
const UPPER_HALVES: [i64; 2] = [0x1404, 0x3424];
/// The bits by which u - 128 and u differ.
const SIGNS: i64 = 0x8080_8080;

/// Bytes of a register.
const WORD: i64 = 4;

/// The type without its vector.
fn element_of(ty: Type<'_>) -> Type<'_> {
    vector_of(ty).map_or(ty, |(_, element)| element)
}

/// A type with as many elements as another.
fn like<'c>(b: Builder<'c>, ty: Type<'_>, element: Type<'c>) -> Type<'c> {
    match vector_of(ty) {
        Some((length, _)) => b.vector(length, element),
        None => element,
    }
}

/// Tells whether an op names the bits of a register as numbers of 8 bits, or the other way round: both are i8 to LLVM.
pub(super) fn names_bits(op: Op<'_>) -> bool {
    let is_byte = |value: &Val<'_>| element_bits(element_of(value.r#type())) == Some(8);
    name_of(op) == arith::BITCAST && operands_of(op).iter().chain(&results_of(op)).all(is_byte)
}

/// Lowers a conversion that is none of LLVM's, or slower there, in a kernel that is compiled for these architectures; false of others.
pub(super) fn convert<'c>(
    rewriter: &Rewriter<'c>,
    op: Op<'c>,
    (kernel, archs): (Op<'c>, &[Arch]),
) -> Result<bool, Failure> {
    let b = Builder::before(op);
    let (Some(source), [result]) = (operands_of(op).first().copied(), &results_of(op)[..]) else {
        return Ok(false);
    };
    let (from, to) = (source.r#type(), result.r#type());
    let f16 = b.ty("f16")?;
    let new = match name_of(op) {
        arith::EXTF => {
            let name = element_of(from).to_string();
            let Some((_, intrinsic)) = PAIRS.iter().find(|(known, _)| *known == name) else {
                return Ok(false);
            };
            let named = defining_op(source).filter(|op| name_of(*op) == arith::BITCAST);
            let named = named.and_then(|op| operands_of(op).first().copied());
            let named = named.filter(|bits| int_width(element_of(bits.r#type())) == Some(8));
            let bits = match named {
                Some(bits) => bits,
                None => b.value(arith::BITCAST, &[source], like(b, from, b.ty("i8")?), &[])?,
            };
            let halves = match archs.iter().all(|arch| arch.has(CONVERTS)) {
                true => {
                    crate::binary::require_ptx(kernel, CONVERTS_IN_PTX);
                    pairs(b, bits, intrinsic)?
                }
                false => by_integers(b, bits, name == PAIRS[0].0)?,
            };
            widened(b, halves, to)?
        }
        arith::TRUNCF => {
            let name = element_of(to).to_string();
            let Some((_, intrinsics)) = NARROWS.iter().find(|(known, _)| *known == name) else {
                return Ok(false);
            };
            if !archs.iter().all(|arch| arch.has(CONVERTS)) {
                return Err(b.error(format!(
                    "converts to {name}, for which there are instructions from sm_89 on; compile it for one of these, or convert to f16"
                )));
            }
            crate::binary::require_ptx(kernel, CONVERTS_IN_PTX);
            let bits = narrowed(b, source, intrinsics)?;
            b.value(arith::BITCAST, &[bits], to, &[])?
        }
        arith::SITOFP | arith::UITOFP
            if int_width(element_of(from)) == Some(8)
                && element_bits(element_of(to)).is_some_and(|bits| matches!(bits, 16 | 32)) =>
        {
            match vector_of(from) {
                Some((length, _)) if length % WORD == 0 => {
                    let halves = b.vector(length, f16);
                    let halves = bytes(b, source, name_of(op) == arith::SITOFP, halves)?;
                    widened(b, halves, to)?
                }
                _ => return Ok(false),
            }
        }
        _ => return Ok(false),
    };
    replace_uses(*result, new);
    rewriter.erase(op)?;
    if let Some(named) = defining_op(source).filter(|op| name_of(*op) == arith::BITCAST)
        && users_of(source).is_empty()
    {
        rewriter.erase(named)?;
    }
    Ok(true)
}

/// Numbers of 8 bits, by their bits, as f16.
fn pairs<'c>(b: Builder<'c>, bits: Val<'c>, intrinsic: &str) -> Result<Val<'c>, Failure> {
    let (f16, i16) = (b.ty("f16")?, b.ty("i16")?);
    let two = b.vector(2, f16);
    let Some((length, _)) = vector_of(bits.r#type()) else {
        let word = b.value(llvm::ZEXT, &[bits], i16, &[])?;
        let both = call(b, intrinsic, &[word], two)?;
        return extract(b, both, 0, f16);
    };
    let mut elements = Vec::new();
    if length % 2 == 0 {
        let words = bitcast(b, bits, b.vector(length / 2, i16))?;
        for at in 0..length / 2 {
            let both = call(b, intrinsic, &[extract(b, words, at, i16)?], two)?;
            elements.push(extract(b, both, 0, f16)?);
            elements.push(extract(b, both, 1, f16)?);
        }
    } else {
        for at in 0..length {
            let byte = extract(b, bits, at, b.ty("i8")?)?;
            elements.push(pairs(b, byte, intrinsic)?);
        }
    }
    assemble(b, &elements, b.vector(length, f16))
}

/// The bits of numbers rounded to ones of 8 bits, two by two; the other one of a pair is nothing where there is one number more.
fn narrowed<'c>(
    b: Builder<'c>,
    source: Val<'c>,
    [of_f32, of_f16]: &[&str; 2],
) -> Result<Val<'c>, Failure> {
    let (f16, f32, i8, i16) = (b.ty("f16")?, b.ty("f32")?, b.ty("i8")?, b.ty("i16")?);
    let mut source = source;
    let mut element = element_of(source.r#type());
    if element != f16 && element != f32 {
        let name = match element_bits(element) {
            Some(64) => arith::TRUNCF,
            _ => arith::EXTF,
        };
        source = b.value(name, &[source], like(b, source.r#type(), f32), &[])?;
        element = f32;
    }
    let pair = |low: Val<'c>, high: Val<'c>| match element == f16 {
        true => {
            let both = assemble(b, &[low, high], b.vector(2, f16))?;
            call(b, of_f16, &[both], i16)
        }
        false => call(b, of_f32, &[high, low], i16),
    };
    let Some((length, _)) = vector_of(source.r#type()) else {
        return b.value(llvm::TRUNC, &[pair(source, source)?], i8, &[]);
    };
    let at = |i: i64| extract(b, source, i.min(length - 1), element);
    let pairs: Vec<_> = (0..length)
        .step_by(2)
        .map(|i| pair(at(i)?, at(i + 1)?))
        .collect::<Result<_, Failure>>()?;
    if length % 2 == 0 {
        let words = assemble(b, &pairs, b.vector(length / 2, i16))?;
        return bitcast(b, words, b.vector(length, i8));
    }
    let bytes = (0..length).map(|i| {
        let both = bitcast(b, pairs[i as usize / 2], b.vector(2, i8))?;
        extract(b, both, i % 2, i8)
    });
    let bytes = bytes.collect::<Result<Vec<_>, Failure>>()?;
    assemble(b, &bytes, b.vector(length, i8))
}

/// Numbers of 8 bits, by their bits, as f16, where there is no instruction for it. The upper byte of an f16 is an E5M2. Of an E4M3, sign, exponent
/// and fraction moved to their places in an f16 are the number divided by 256, also of those without a leading one; what would be 480 then
/// is no number.
fn by_integers<'c>(b: Builder<'c>, bits: Val<'c>, is_e4m3: bool) -> Result<Val<'c>, Failure> {
    let (i16, f16) = (b.ty("i16")?, b.ty("f16")?);
    let wide = like(b, bits.r#type(), i16);
    let to = like(b, bits.r#type(), f16);
    let number = |value: i64| {
        let text = match vector_of(wide) {
            Some(_) => format!("dense<{value}> : {wide}"),
            None => format!("{value} : {wide}"),
        };
        let value = b.attribute(&text)?;
        b.value(arith::CONSTANT, &[], wide, &[("value", value)])
    };
    let apply = |name: &str, x: Val<'c>, y: i64| b.value(name, &[x, number(y)?], wide, &[]);
    let upper = upper_bytes(b, bits, wide)?;
    if !is_e4m3 {
        return bitcast(b, upper, to);
    }
    let sign = apply(arith::ANDI, upper, -0x8000)?;
    let rest = apply(arith::ANDI, upper, 0x7f00)?;
    let moved = apply(arith::SHRUI, rest, 1)?;
    let moved = b.value(arith::ORI, &[sign, moved], wide, &[])?;
    let real = |text: &str| {
        let text = match vector_of(to) {
            Some(_) => format!("dense<{text}> : {to}"),
            None => format!("{text} : {to}"),
        };
        let value = b.attribute(&text)?;
        b.value(arith::CONSTANT, &[], to, &[("value", value)])
    };
    let scaled = b.value(
        arith::MULF,
        &[bitcast(b, moved, to)?, real("256.0")?],
        to,
        &[],
    )?;
    let truths = like(b, to, b.ty("i1")?);
    let equal = b.integer(b.i64_type(), 0);
    let is_none = b.value(
        arith::CMPI,
        &[rest, number(0x7f00)?],
        truths,
        &[("predicate", equal)],
    )?;
    b.value(arith::SELECT, &[is_none, real("0x7E00")?, scaled], to, &[])
}

/// Bytes as the upper ones of half words whose lower ones are 0.
fn upper_bytes<'c>(b: Builder<'c>, bits: Val<'c>, wide: Type<'c>) -> Result<Val<'c>, Failure> {
    if vector_of(bits.r#type()).is_some_and(|(length, _)| length % WORD == 0) {
        let zero = b.i32(0)?;
        let mut halves = Vec::new();
        for word in words(b, bits)? {
            for order in UPPER_HALVES {
                let order = b.constant(b.i32_type(), order)?;
                halves.push(call(
                    b,
                    "llvm.nvvm.prmt",
                    &[word, zero, order],
                    b.i32_type(),
                )?);
            }
        }
        return from_words(b, &halves, wide);
    }
    let extended = b.value(arith::EXTUI, &[bits], wide, &[])?;
    let eight = match vector_of(wide) {
        Some(_) => format!("dense<8> : {wide}"),
        None => format!("8 : {wide}"),
    };
    let eight = b.attribute(&eight)?;
    let eight = b.value(arith::CONSTANT, &[], wide, &[("value", eight)])?;
    b.value(arith::SHLI, &[extended, eight], wide, &[])
}

/// Numbers of f16 that were ones of 8 bits, in another type that has them all, exactly.
fn widened<'c>(b: Builder<'c>, halves: Val<'c>, to: Type<'c>) -> Result<Val<'c>, Failure> {
    if halves.r#type() == to {
        return Ok(halves);
    }
    let bits = element_bits(element_of(to)).expected(b, "a floating-point type")?;
    if bits > 16 {
        return b.value(arith::EXTF, &[halves], to, &[]);
    }
    // Of 16 bits, but another type than f16.
    let wide = like(b, to, b.ty("f32")?);
    let wide = b.value(arith::EXTF, &[halves], wide, &[])?;
    b.value(arith::TRUNCF, &[wide], to, &[])
}

/// Bytes as f16, four at a time.
fn bytes<'c>(
    b: Builder<'c>,
    bytes: Val<'c>,
    signed: bool,
    to: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let i32 = b.i32_type();
    let number = |value: i64| b.constant(i32, i64::from(value as u32 as i32));
    let upper = number(UPPER)?;
    let mut halves = Vec::new();
    for mut word in words(b, bytes)? {
        if signed {
            word = b.value(arith::XORI, &[word, number(SIGNS)?], i32, &[])?;
        }
        for half in HALVES {
            halves.push(call(
                b,
                "llvm.nvvm.prmt",
                &[word, upper, number(half)?],
                i32,
            )?);
        }
    }
    let moved = from_words(b, &halves, to)?;
    let offset = if signed { 1152 } else { 1024 };
    let offset = b.attribute(&format!("dense<{offset}.0> : {to}"))?;
    let offset = b.value(arith::CONSTANT, &[], to, &[("value", offset)])?;
    b.value(arith::SUBF, &[moved, offset], to, &[])
}
