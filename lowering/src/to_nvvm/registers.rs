//! Vectors and the registers that instructions take: 32 bits each, or 64 of f64.
//!
//! A fragment's vector is taken apart in order: the tables' value index runs as the PTX ISA numbers the registers, and the
//! parts of one from its low bits up.

use super::math;
use cute_ir::{Failure, build::*, types, verify::vector_of};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Bytes of a register.
const REGISTER: i64 = 4;

pub(super) fn bytes_of(ty: Type) -> Option<i64> {
    let (length, element) = vector_of(ty)?;
    Some(length * types::element_bits(element)? / 8)
}

/// Element `index` of an LLVM struct.
pub(super) fn member<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    index: i64,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    b.value(
        "llvm.extractvalue",
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
    let index = b.i32(index)?;
    b.value("llvm.extractelement", &[vector, index], ty, &[])
}

/// A vector of these elements.
pub(super) fn assemble<'c>(
    b: Builder<'c>,
    parts: &[Val<'c>],
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let mut vector = b.value("llvm.mlir.poison", &[], ty, &[])?;
    for (i, part) in parts.iter().enumerate() {
        let index = b.i32(i as i64)?;
        vector = b.value("llvm.insertelement", &[vector, *part, index], ty, &[])?;
    }
    Ok(vector)
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
        b.value("llvm.bitcast", &[value], ty, &[])
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
    (0..count)
        .map(|i| extract(b, words, i, b.i32_type()))
        .collect()
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

/// What an instruction gives that gives `count` values of this type.
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
    let attributes = [
        ("asm_string", b.string(text)),
        ("constraints", b.string(constraints)),
        ("has_side_effects", b.attribute("unit")?),
    ];
    b.op("llvm.inline_asm", operands, results, &attributes)
}

/// One number of all elements, in pairs: a tree is shallow, and its sums are better than those of a chain.
fn reduce<'c>(b: Builder<'c>, op: Op<'c>, operands: &[Val<'c>]) -> Result<Val<'c>, Failure> {
    let (length, element) = vector_of(operands[0].r#type())
        .ok_or_else(|| b.error("expected a vector of one dimension"))?;
    let kind = attribute_of(op, "kind").map_or_else(String::new, |kind| kind.to_string());
    let is_float = types::is_float(element);
    let name = KINDS
        .iter()
        .find(|(name, ..)| kind == format!("#vector.kind<{name}>"))
        .and_then(|(_, float, integer)| if is_float { *float } else { *integer })
        .ok_or_else(|| b.error(format!("{kind} has no instruction on {element}")))?;
    let mut parts = (0..length)
        .map(|i| extract(b, operands[0], i, element))
        .collect::<Result<Vec<_>, _>>()?;
    while parts.len() > 1 {
        parts = parts
            .chunks(2)
            .map(|pair| match *pair {
                [left, right] => math::apply(b, name, &[left, right], element),
                _ => Ok(pair[0]),
            })
            .collect::<Result<Vec<_>, _>>()?;
    }
    match operands.get(1) {
        Some(first) => math::apply(b, name, &[*first, parts[0]], element),
        None => Ok(parts[0]),
    }
}

/// A kind of reduction, and the operation on two floating-point numbers and on two integers.
type Kind = (&'static str, Option<&'static str>, Option<&'static str>);

const KINDS: &[Kind] = &[
    ("add", Some("arith.addf"), Some("arith.addi")),
    ("mul", Some("arith.mulf"), Some("arith.muli")),
    ("maxnumf", Some("arith.maxnumf"), None),
    ("minnumf", Some("arith.minnumf"), None),
    ("maximumf", Some("arith.maximumf"), None),
    ("minimumf", Some("arith.minimumf"), None),
    ("minsi", None, Some("arith.minsi")),
    ("maxsi", None, Some("arith.maxsi")),
    ("minui", None, Some("arith.minui")),
    ("maxui", None, Some("arith.maxui")),
    ("and", None, Some("arith.andi")),
    ("or", None, Some("arith.ori")),
    ("xor", None, Some("arith.xori")),
];

/// The vector operations that taking fragments apart leaves behind.
pub(super) fn vector_op(op: Op<'_>) -> Result<(), Failure> {
    let b = Builder::before(op);
    let operands = operands_of(op);
    let constants = |name: &str| -> Vec<i64> {
        use melior::ir::AttributeLike;
        let Some(attribute) = attribute_of(op, name) else {
            return Vec::new();
        };
        let raw = attribute.to_raw();
        unsafe {
            if mlir_sys::mlirAttributeIsADenseI64Array(raw) {
                (0..mlir_sys::mlirDenseArrayGetNumElements(raw))
                    .map(|i| mlir_sys::mlirDenseI64ArrayGetElement(raw, i))
                    .collect()
            } else {
                (0..mlir_sys::mlirArrayAttrGetNumElements(raw))
                    .map(|i| {
                        mlir_sys::mlirIntegerAttrGetValueInt(mlir_sys::mlirArrayAttrGetElement(
                            raw, i,
                        ))
                    })
                    .collect()
            }
        }
    };
    let result = result_of(op, 0);
    let new = match name_of(op) {
        "vector.extract_strided_slice" => {
            let (length, element) = vector_of(result.r#type()).ok_or(Failure)?;
            let from = constants("offsets")[0];
            let parts = (from..from + length)
                .map(|i| extract(b, operands[0], i, element))
                .collect::<Result<Vec<_>, _>>()?;
            assemble(b, &parts, result.r#type())?
        }
        "vector.from_elements" => assemble(b, &operands, result.r#type())?,
        "vector.extract" if operands.len() == 1 => extract(
            b,
            operands[0],
            constants("static_position")[0],
            result.r#type(),
        )?,
        "vector.insert" if operands.len() == 2 => {
            let index = b.i32(constants("static_position")[0])?;
            b.value(
                "llvm.insertelement",
                &[operands[1], operands[0], index],
                result.r#type(),
                &[],
            )?
        }
        "vector.broadcast" if vector_of(operands[0].r#type()).is_none() => {
            let (length, _) = vector_of(result.r#type())
                .ok_or_else(|| b.error("expected a vector of one dimension"))?;
            let parts = vec![operands[0]; length as usize];
            assemble(b, &parts, result.r#type())?
        }
        "vector.bitcast" => bitcast(b, operands[0], result.r#type())?,
        "vector.reduction" => reduce(b, op, &operands)?,
        _ => return Ok(()),
    };
    debug_assert!(op.result_count() == 1);
    replace_uses(result, new);
    erase(op);
    Ok(())
}
