//! The instructions of SM80's atoms: ldmatrix, mma.sync, cp.async, vector loads and stores.
//!
//! A fragment's vector is taken apart into 32-bit registers, two f16 each, in order: the tables'
//! value index runs as the PTX ISA numbers the registers.

use cute_ir::{
    Failure,
    build::*,
    types::{self, CopyOp, CuteType},
    verify::vector_of,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Bytes of a register.
const REGISTER: i64 = 4;

fn bytes_of(ty: Type) -> Option<i64> {
    let (length, element) = vector_of(ty)?;
    Some(length * types::element_bits(element)? / 8)
}

/// Element `index` of an LLVM struct.
fn member<'c>(
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
fn structure<'c>(b: Builder<'c>, element: &str, count: usize) -> Result<Type<'c>, Failure> {
    b.ty(&format!(
        "!llvm.struct<({})>",
        vec![element; count].join(", ")
    ))
}

fn extract<'c>(
    b: Builder<'c>,
    vector: Val<'c>,
    index: i64,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let index = b.i32(index)?;
    b.value("llvm.extractelement", &[vector, index], ty, &[])
}

/// A vector of these elements.
fn assemble<'c>(b: Builder<'c>, parts: &[Val<'c>], ty: Type<'c>) -> Result<Val<'c>, Failure> {
    let mut vector = b.value("llvm.mlir.poison", &[], ty, &[])?;
    for (i, part) in parts.iter().enumerate() {
        let index = b.i32(i as i64)?;
        vector = b.value("llvm.insertelement", &[vector, *part, index], ty, &[])?;
    }
    Ok(vector)
}

/// The same bits as another type.
fn bitcast<'c>(b: Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
    if value.r#type() == ty {
        Ok(value)
    } else {
        b.value("llvm.bitcast", &[value], ty, &[])
    }
}

/// Loads one atom's vector of type `ty`.
pub(super) fn load<'c>(
    b: Builder<'c>,
    copy: CopyOp,
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let bytes = bytes_of(ty).ok_or_else(|| b.error("expected a vector of numbers"))?;
    match copy {
        CopyOp::Universal { .. } => {
            // As registers, so that the load is one instruction whatever the element.
            let words = words_type(b, bytes)?;
            let loaded = b.value(
                "llvm.load",
                &[pointer],
                words,
                &[("alignment", b.i64_attribute(bytes))],
            )?;
            bitcast(b, loaded, ty)
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => {
            let count = matrices as usize;
            let result = if count == 1 {
                b.i32_type()
            } else {
                structure(b, "i32", count)?
            };
            let layout = if transpose { "col" } else { "row" };
            let attributes = [
                ("num", b.integer(b.i32_type(), matrices)),
                (
                    "layout",
                    b.attribute(&format!("#nvvm.mma_layout<{layout}>"))?,
                ),
                (
                    "shape",
                    b.attribute("#nvvm.ld_st_matrix_shape<m = 8, n = 8>")?,
                ),
                ("eltType", b.attribute("#nvvm.ld_st_matrix_elt_type<b16>")?),
            ];
            let loaded = b.value("nvvm.ldmatrix", &[pointer], result, &attributes)?;
            let words: Vec<_> = if count == 1 {
                vec![loaded]
            } else {
                (0..count)
                    .map(|i| member(b, loaded, i as i64, b.i32_type()))
                    .collect::<Result<_, _>>()?
            };
            let whole = assemble(b, &words, b.vector(count as i64, b.i32_type()))?;
            bitcast(b, whole, ty)
        }
        CopyOp::SimtAsync { .. } => Err(b.error("an asynchronous copy has no value")),
    }
}

/// Loads one element.
pub(super) fn load_element<'c>(
    b: Builder<'c>,
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let alignment = [("alignment", b.i64_attribute(element_bytes(b, ty)?))];
    b.value("llvm.load", &[pointer], ty, &alignment)
}

/// Stores one element.
pub(super) fn store_element<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let alignment = [(
        "alignment",
        b.i64_attribute(element_bytes(b, value.r#type())?),
    )];
    b.op("llvm.store", &[value, pointer], &[], &alignment)?;
    Ok(())
}

fn element_bytes<'c>(b: Builder<'c>, ty: Type<'c>) -> Result<i64, Failure> {
    types::element_bits(ty)
        .filter(|bits| bits % 8 == 0)
        .map(|bits| bits / 8)
        .ok_or_else(|| b.error(format!("expected elements of whole bytes, found {ty}")))
}

/// The type that moves `bytes` bytes at once: registers, or a part of one.
fn words_type<'c>(b: Builder<'c>, bytes: i64) -> Result<Type<'c>, Failure> {
    match bytes {
        1 => b.ty("i8"),
        2 => b.ty("i16"),
        4 => Ok(b.i32_type()),
        _ => Ok(b.vector(bytes / REGISTER, b.i32_type())),
    }
}

/// Stores one atom's vector.
pub(super) fn store<'c>(b: Builder<'c>, value: Val<'c>, pointer: Val<'c>) -> Result<(), Failure> {
    let bytes = bytes_of(value.r#type()).ok_or_else(|| b.error("expected a vector of numbers"))?;
    let words = bitcast(b, value, words_type(b, bytes)?)?;
    b.op(
        "llvm.store",
        &[words, pointer],
        &[],
        &[("alignment", b.i64_attribute(bytes))],
    )?;
    Ok(())
}

/// cp.async of one atom; zeros where `predicate` is false.
pub(super) fn copy_async<'c>(
    b: Builder<'c>,
    copy: CopyOp,
    from: Val<'c>,
    to: Val<'c>,
    predicate: Option<Val<'c>>,
) -> Result<(), Failure> {
    let CopyOp::SimtAsync { global, bits } = copy else {
        return Err(b.error("expected an asynchronous copy"));
    };
    let modifier = if global { "cg" } else { "ca" };
    let attributes = [
        ("size", b.integer(b.i32_type(), bits / 8)),
        (
            "modifier",
            b.attribute(&format!("#nvvm<load_cache_modifier {modifier}>"))?,
        ),
    ];
    let mut operands = vec![to, from];
    if let Some(predicate) = predicate {
        // Bytes that are read; the rest of the size is zeros (PTX ISA, cp.async, src-size).
        let (all, none) = (b.i32(bits / 8)?, b.i32(0)?);
        operands.push(b.value("arith.select", &[predicate, all, none], b.i32_type(), &[])?);
    }
    b.op("nvvm.cp.async.shared.global", &operands, &[], &attributes)?;
    Ok(())
}

/// mma.sync on the vectors A, B and C.
pub(super) fn mma<'c>(
    b: Builder<'c>,
    mma: &CuteType<'c>,
    operands: &[Val<'c>],
) -> Result<Val<'c>, Failure> {
    let CuteType::TiledMma { atom, .. } = mma else {
        return Err(b.error("expected a tiled MMA"));
    };
    let Some(CuteType::MmaAtom {
        shape: [m, n, k],
        acc,
        ..
    }) = CuteType::of(*atom)
    else {
        return Err(b.error("expected an MMA atom"));
    };
    let [left, right, sum] = operands else {
        return Err(b.error("expected A, B and C"));
    };
    let mut registers = Vec::new();
    let mut counts = Vec::new();
    let mut kinds = Vec::new();
    for operand in [left, right] {
        let (length, element) = vector_of(operand.r#type()).ok_or(Failure)?;
        let bytes = bytes_of(operand.r#type()).ok_or(Failure)?;
        let count = bytes / REGISTER;
        let pair = b.vector(length / count, element);
        let words = bitcast(b, *operand, b.vector(count, b.i32_type()))?;
        for i in 0..count {
            let word = extract(b, words, i, b.i32_type())?;
            registers.push(bitcast(b, word, pair)?);
        }
        counts.push(count as i32);
        kinds.push(b.attribute(&format!("#nvvm.mma_type<{element}>"))?);
    }
    let (length, _) = vector_of(sum.r#type()).ok_or(Failure)?;
    for i in 0..length {
        registers.push(extract(b, *sum, i, acc)?);
    }
    counts.push(length as i32);
    let result = structure(b, &acc.to_string(), length as usize)?;
    let attributes = [
        (
            "shape",
            b.attribute(&format!("#nvvm.shape<m = {m}, n = {n}, k = {k}>"))?,
        ),
        ("layoutA", b.attribute("#nvvm.mma_layout<row>")?),
        ("layoutB", b.attribute("#nvvm.mma_layout<col>")?),
        ("multiplicandAPtxType", kinds[0]),
        ("multiplicandBPtxType", kinds[1]),
        ("operandSegmentSizes", b.i32_array(&counts)),
    ];
    let product = b.value("nvvm.mma.sync", &registers, result, &attributes)?;
    let parts = (0..length)
        .map(|i| member(b, product, i, acc))
        .collect::<Result<Vec<_>, _>>()?;
    assemble(b, &parts, sum.r#type())
}

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
        _ => return Ok(()),
    };
    debug_assert!(op.result_count() == 1);
    replace_uses(result, new);
    erase(op);
    Ok(())
}
