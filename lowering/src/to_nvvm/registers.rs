//! Vectors and the registers that instructions take: 32 bits each, or 64 of f64.
//!
//! A fragment's vector is taken apart in order: the tables' value index runs as the PTX ISA numbers the registers, and the
//! parts of one from its low bits up.

use super::math;
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, llvm, vector},
};
use melior::ir::{Attribute, Type, ValueLike};
use std::ops::Range;

/// Bytes of a register.
const REGISTER: i64 = 4;

pub(super) fn bytes_of(ty: Type) -> Option<i64> {
    let (length, element) = vector_of(ty)?;
    Some(length * element_bits(element)? / 8)
}

/// Element `index` of an LLVM struct.
pub(super) fn member<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    index: i64,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    b.value(
        llvm::EXTRACTVALUE,
        &[value],
        ty,
        &[("position", b.i64_array(&[index]))],
    )
}

/// `struct<(T, T, ...)>`
pub(super) fn structure<'c>(
    b: Builder<'c>,
    element: &str,
    count: usize,
) -> Result<Type<'c>, Failure> {
    b.ty(&format!(
        "!llvm.struct<({})>",
        vec![element; count].join(", ")
    ))
}

pub(super) fn extract<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    index: i64,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let at = b.i32(index)?;
    if is_index(ty) {
        let numbers = as_numbers(b, vector)?;
        let number = b.value(llvm::EXTRACTELEMENT, &[numbers, at], b.i32_type(), &[])?;
        return b.value(arith::INDEX_CAST, &[number], ty, &[]);
    }
    b.value(llvm::EXTRACTELEMENT, &[vector, at], ty, &[])
}

/// An index, or a vector of them, as integers of 32 bits, which indices have in kernels: LLVM has no vectors of indices. What is none stays as it is.
fn as_numbers<'c>(b: Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Failure> {
    let ty = value.r#type();
    let numbers = match vector_of(ty) {
        Some((length, element)) if is_index(element) => b.vector(length, b.i32_type()),
        None if is_index(ty) => b.i32_type(),
        _ => return Ok(value),
    };
    b.value(arith::INDEX_CAST, &[value], numbers, &[])
}

/// What was computed of numbers in place of indices, in the type that it is used in.
fn in_type<'c>(b: Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
    match value.r#type() == ty {
        true => Ok(value),
        false => b.value(arith::INDEX_CAST, &[value], ty, &[]),
    }
}

/// The type that LLVM has for a vector.
fn of_numbers<'c>(b: Builder<'c>, ty: Type<'c>) -> Type<'c> {
    match vector_of(ty) {
        Some((length, element)) if is_index(element) => b.vector(length, b.i32_type()),
        _ => ty,
    }
}

/// The elements of a vector at a range of places: those that it has just been made of, where it was, so that atoms that follow each other do not put
/// accumulators into vectors and take them out again.
pub(super) fn elements<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    places: Range<i64>,
    ty: Type<'c>,
) -> Result<Vec<Val<'c>>, Failure> {
    let first = places.start;
    let mut known = vec![None; (first..places.end).count()];
    let mut whole = vector;
    while let Some(op) = defining_op(whole).filter(|op| is_part(*op)) {
        let [inside, part, place] = operands_of(op)[..] else {
            break;
        };
        let Some(place) = constant_of(place) else {
            break;
        };
        let slot = usize::try_from(place - first).ok();
        if let Some(slot) = slot.and_then(|slot| known.get_mut(slot)) {
            slot.get_or_insert(part);
        }
        whole = inside;
    }
    let each = places.zip(known);
    each.map(|(place, part)| part.map_or_else(|| extract(b, vector, place, ty), Ok))
        .collect()
}

/// The vectors put together element by element that ops which were lowered used. Where [`elements`] gave the ops what the
/// vectors had been made of, nobody uses them any more.
#[derive(Default)]
pub(super) struct Assembled<'c>(Vec<Op<'c>>);

impl<'c> Assembled<'c> {
    /// Notes the vectors that an op uses, before it is lowered.
    pub(super) fn note(&mut self, op: Op<'c>) {
        let makers = operands_of(op).into_iter().filter_map(defining_op);
        self.0.extend(makers.filter(|op| is_part(*op)));
    }

    /// Erases those that nobody uses, once the ops that used them are erased.
    pub(super) fn erase_unused(self, rewriter: &Rewriter<'c>) -> Result<(), Failure> {
        // The last one first: what it was made of may be used by nothing else. What is erased is in no block.
        for op in self.0.into_iter().rev() {
            let mut next = Some(op);
            while let Some(op) = next.filter(|op| is_part(*op) && block_of(*op).is_some()) {
                if !users_of(result_of(op, 0)).is_empty() {
                    break;
                }
                next = operands_of(op).first().copied().and_then(defining_op);
                rewriter.erase(op)?;
            }
        }
        Ok(())
    }
}

/// Tells whether an op puts an element into a vector.
fn is_part(op: Op<'_>) -> bool {
    name_of(op) == llvm::INSERTELEMENT
}

/// A vector of these elements.
pub(super) fn assemble<'c>(
    b: Builder<'c>,
    parts: &[Val<'c>],
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let own = of_numbers(b, ty);
    let mut vector = b.value(llvm::MLIR_POISON, &[], own, &[])?;
    for (i, part) in parts.iter().enumerate() {
        let index = b.i32(i as i64)?;
        let part = as_numbers(b, *part)?;
        vector = b.value(llvm::INSERTELEMENT, &[vector, part, index], own, &[])?;
    }
    in_type(b, vector, ty)
}

/// The same bits as another type.
pub(super) fn bitcast<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    if value.r#type() == ty {
        Ok(value)
    } else {
        b.value(llvm::BITCAST, &[value], ty, &[])
    }
}

/// The type that moves `bytes` bytes at once: registers, or a part of one.
pub(super) fn words_type<'c>(b: Builder<'c>, bytes: i64) -> Result<Type<'c>, Failure> {
    match bytes {
        1 => b.ty("i8"),
        2 => b.ty("i16"),
        4 => Ok(b.i32_type()),
        _ => Ok(b.vector(bytes / REGISTER, b.i32_type())),
    }
}

/// The 32-bit registers that hold a vector.
pub(super) fn words<'c>(b: Builder<'c>, vector: Val<'c>) -> Result<Vec<Val<'c>>, Failure> {
    let bytes = bytes_of(vector.r#type()).ok_or_else(|| b.error("expected a vector of numbers"))?;
    let count = bytes / REGISTER;
    let words = bitcast(b, vector, b.vector(count, b.i32_type()))?;
    elements(b, words, 0..count, b.i32_type())
}

/// The vector of type `ty` that 32-bit registers hold.
pub(super) fn from_words<'c>(
    b: Builder<'c>,
    words: &[Val<'c>],
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let whole = assemble(b, words, b.vector(words.len() as i64, b.i32_type()))?;
    bitcast(b, whole, ty)
}

/// The members of an LLVM struct of `count` values of one type; the value itself where it is one.
pub(super) fn members<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    count: usize,
    ty: Type<'c>,
) -> Result<Vec<Val<'c>>, Failure> {
    if count == 1 {
        return Ok(vec![value]);
    }
    (0..count).map(|i| member(b, value, i as i64, ty)).collect()
}

/// The result type of an instruction that gives `count` values of this type.
pub(super) fn results<'c>(b: Builder<'c>, ty: Type<'c>, count: usize) -> Result<Type<'c>, Failure> {
    if count == 1 {
        Ok(ty)
    } else {
        structure(b, &ty.to_string(), count)
    }
}

/// An instruction as text. `constraints` are LLVM's, one for each result and operand.
pub(super) fn assembly<'c>(
    b: Builder<'c>,
    text: &str,
    constraints: &str,
    operands: &[Val<'c>],
    results: &[Type<'c>],
) -> Result<Op<'c>, Failure> {
    let effects = [("has_side_effects", b.unit())];
    inline_assembly(b, (text, constraints), operands, results, &effects)
}

/// An instruction of which nothing but its result is wanted, so that it is made once for all that want the same, and before a loop.
pub(super) fn pure_assembly<'c>(
    b: Builder<'c>,
    text: &str,
    constraints: &str,
    operands: &[Val<'c>],
    result: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let made = inline_assembly(b, (text, constraints), operands, &[result], &[])?;
    Ok(result_of(made, 0))
}

fn inline_assembly<'c>(
    b: Builder<'c>,
    (text, constraints): (&str, &str),
    operands: &[Val<'c>],
    results: &[Type<'c>],
    effects: &[(&str, Attribute<'c>)],
) -> Result<Op<'c>, Failure> {
    let own = [
        ("asm_string", b.string(text)),
        ("constraints", b.string(constraints)),
    ];
    b.op(
        llvm::INLINE_ASM,
        operands,
        results,
        &[&own, effects].concat(),
    )
}

/// One number of all elements, in pairs: a tree is shallow, and its sums are better than those of a chain.
fn reduce<'c>(b: Builder<'c>, op: vector::Reduction<'c>) -> Result<Val<'c>, Failure> {
    let (length, element) = vector_of(op.vector().r#type())
        .ok_or_else(|| b.error("expected a vector of one dimension"))?;
    let kind = op.kind().map_or_else(String::new, |kind| kind.to_string());
    let is_float = is_float(element);
    let name = KINDS
        .iter()
        .find(|(name, ..)| kind == format!("#vector.kind<{name}>"))
        .and_then(|(_, float, integer)| if is_float { *float } else { *integer })
        .ok_or_else(|| b.error(format!("{kind} has no instruction on {element}")))?;
    let mut parts = elements(b, op.vector(), 0..length, element)?;
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match *pair {
                [left, right] => math::apply(b, name, &[left, right], element),
                _ => Ok(pair[0]),
            })
            .collect::<Result<Vec<_>, _>>()?;
    }
    let all = *parts.first().expected(b, "a vector of elements")?;
    match op.acc() {
        Some(first) => math::apply(b, name, &[first, all], element),
        None => Ok(all),
    }
}

/// A kind of reduction, and the operation on two floating-point numbers and on two integers.
type Kind = (&'static str, Option<&'static str>, Option<&'static str>);

const KINDS: &[Kind] = &[
    ("add", Some(arith::ADDF), Some(arith::ADDI)),
    ("mul", Some(arith::MULF), Some(arith::MULI)),
    ("maxnumf", Some(arith::MAXNUMF), None),
    ("minnumf", Some(arith::MINNUMF), None),
    ("maximumf", Some(arith::MAXIMUMF), None),
    ("minimumf", Some(arith::MINIMUMF), None),
    ("minsi", None, Some(arith::MINSI)),
    ("maxsi", None, Some(arith::MAXSI)),
    ("minui", None, Some(arith::MINUI)),
    ("maxui", None, Some(arith::MAXUI)),
    ("and", None, Some(arith::ANDI)),
    ("or", None, Some(arith::ORI)),
    ("xor", None, Some(arith::XORI)),
];

/// The vector operations that taking fragments apart leaves behind.
pub(super) fn vector_op<'c>(rewriter: &Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let Some(new) = taken_apart(op, Builder::before(op))? else {
        return Ok(());
    };
    replace_uses(result_of(op, 0), new);
    rewriter.erase(op)
}

/// The result of a vector operation, made of operations on single elements; nothing where it stays as it is.
fn taken_apart<'c>(op: Op<'c>, b: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
    if let Some(op) = vector::ExtractStridedSlice::of(op) {
        let ty = op.unnamed0().r#type();
        let (length, element) =
            vector_of(ty).ok_or_else(|| b.error("expected a vector of one dimension"))?;
        let from = first_of(op.offsets()).expected(b, "an offset")?;
        let parts = elements(b, op.source(), from..from + length, element)?;
        assemble(b, &parts, ty).map(Some)
    } else if let Some(op) = vector::FromElements::of(op) {
        assemble(b, &op.elements(), op.dest().r#type()).map(Some)
    } else if let Some(op) = vector::Extract::of(op) {
        if !op.dynamic_position().is_empty() {
            return Ok(None);
        }
        let index = first_of(op.static_position())
            .ok_or_else(|| b.error("expected a position in a vector of one dimension"))?;
        extract(b, op.source(), index, op.result().r#type()).map(Some)
    } else if let Some(op) = vector::Insert::of(op) {
        if !op.dynamic_position().is_empty() {
            return Ok(None);
        }
        let index = first_of(op.static_position())
            .ok_or_else(|| b.error("expected a position in a vector of one dimension"))?;
        let index = b.i32(index)?;
        let [dest, value] = [op.dest(), op.value_to_store()].map(|value| as_numbers(b, value));
        let ty = op.result().r#type();
        let own = of_numbers(b, ty);
        let inserted = b.value(llvm::INSERTELEMENT, &[dest?, value?, index], own, &[])?;
        in_type(b, inserted, ty).map(Some)
    } else if let Some(op) = vector::Broadcast::of(op) {
        if vector_of(op.source().r#type()).is_some() {
            return Ok(None);
        }
        let ty = op.vector().r#type();
        let (length, _) =
            vector_of(ty).ok_or_else(|| b.error("expected a vector of one dimension"))?;
        assemble(b, &vec![op.source(); length as usize], ty).map(Some)
    } else if let Some(op) = vector::Step::of(op) {
        let ty = op.result().r#type();
        let (length, _) =
            vector_of(ty).ok_or_else(|| b.error("expected a vector of one dimension"))?;
        let own = of_numbers(b, ty);
        let numbers: Vec<String> = (0..length).map(|i| i.to_string()).collect();
        let numbers = b.attribute(&format!("dense<[{}]> : {own}", numbers.join(", ")))?;
        let numbers = b.value(arith::CONSTANT, &[], own, &[("value", numbers)])?;
        in_type(b, numbers, ty).map(Some)
    } else if let Some(op) = vector::Bitcast::of(op) {
        bitcast(b, op.source(), op.result().r#type()).map(Some)
    } else if let Some(op) = vector::Reduction::of(op) {
        reduce(b, op).map(Some)
    } else {
        Ok(None)
    }
}

/// The first of the integers in an attribute, which is a dense array or an array of them.
fn first_of(attribute: Option<Attribute<'_>>) -> Option<i64> {
    match i64s_of(attribute?) {
        Some(all) => all.first().copied(),
        None => integer_value(*array_of(attribute?)?.first()?),
    }
}
