//! The verifier of every op. MLIR has checked the number and the kinds of operands, and the
//! declared result types against the inferred ones; what is left:
//!
//! - `static`: the type says the whole value;
//! - `make_coord`: an integer of the right width for each dynamic leaf;
//! - `make_atom`: an atom;
//! - `memref.alloca`: in smem or rmem, static, aligned as its swizzle needs; placed at a multiple
//!   of its alignment;
//! - `copy`: tensors of one shape and, on partitions, values that the atom can move as vectors;
//! - `gemm`: the ranks and extents of the three forms, element types that an atom takes;
//! - `convert`: registers, same layout;
//! - atoms: vectors of the atom's length and type, an `at` within the partition.

use crate::{
    diag::{self, Failure},
    infer::memref_of,
    tensor,
    types::{self, CopyOp, CuteType, MemRef, Space},
};
use cute_layout::{Leaf, Tile};
use melior::ir::{
    OperationRef, Type, TypeLike, Value, ValueLike, attribute::TypeAttribute,
    operation::OperationLike,
};
use mlir_sys::*;

type Checked = Result<(), String>;

pub(crate) fn verify(op: OperationRef) -> Result<(), Failure> {
    let name = op
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let result = match name.as_str() {
        "cute.static" => verify_static(op),
        "cute.make_coord" => verify_make_coord(op),
        "cute.make_atom" => verify_make_atom(op),
        "cute.memref.alloca" => verify_alloca(op),
        "cute.copy" => verify_copy(op),
        "cute.gemm" => verify_gemm(op),
        "cute.convert" => verify_convert(op),
        "cute.atom_load" => verify_atom_load(op),
        "cute.atom_store" => verify_atom_store(op),
        "cute.atom_copy" => verify_atom_copy(op),
        "cute.atom_mma" => verify_atom_mma(op),
        _ => Ok(()),
    };
    result.map_err(|message| diag::error(op.location(), format!("'{name}' op {message}")))
}

fn result_type<'c>(op: OperationRef<'c, '_>) -> Type<'c> {
    unsafe { Type::from_raw(mlirValueGetType(mlirOperationGetResult(op.to_raw(), 0))) }
}

fn operands<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    (0..op.operand_count())
        .filter_map(|i| op.operand(i).ok())
        .collect()
}

fn verify_static(op: OperationRef) -> Checked {
    let ty = result_type(op);
    let whole = match CuteType::of(ty) {
        Some(
            CuteType::IntTuple(value)
            | CuteType::Shape(value)
            | CuteType::Stride(value)
            | CuteType::Coord(value),
        ) => value.is_static(),
        Some(CuteType::Layout(layout)) => layout.is_static(),
        Some(CuteType::ComposedLayout(layout)) => {
            layout.outer().is_static() && layout.offset().is_static()
        }
        Some(CuteType::Tile(tile)) => static_tile(&tile),
        Some(
            CuteType::Swizzle(_)
            | CuteType::TiledCopy { .. }
            | CuteType::TiledMma { .. }
            | CuteType::CopyAtom { .. }
            | CuteType::MmaAtom { .. },
        ) => true,
        _ => false,
    };
    if whole {
        Ok(())
    } else {
        Err(format!(
            "expected a type that says its whole value, found {ty}"
        ))
    }
}

fn static_tile(tile: &Tile) -> bool {
    match tile {
        Tile::Layout(layout) => layout.is_static(),
        Tile::Underscore => true,
        Tile::Modes(modes) => modes.iter().all(static_tile),
    }
}

fn verify_make_coord(op: OperationRef) -> Checked {
    let Some(CuteType::Coord(coord)) = CuteType::of(result_type(op)) else {
        return Err("expected a coordinate".to_owned());
    };
    let widths: Vec<u32> = coord
        .leaves()
        .iter()
        .filter_map(|leaf| match leaf {
            Leaf::Dynamic(dynamic) => Some(dynamic.width),
            _ => None,
        })
        .collect();
    let operands = operands(op);
    if operands.len() != widths.len() {
        return Err(format!(
            "expected an operand for each of the {} dynamic leaves of {coord}, found {}",
            widths.len(),
            operands.len()
        ));
    }
    for (i, (value, width)) in operands.iter().zip(widths).enumerate() {
        let expected = format!("i{width}");
        if value.r#type().to_string() != expected {
            return Err(format!(
                "expected {expected} for dynamic leaf {i} of {coord}, found {}",
                value.r#type()
            ));
        }
    }
    Ok(())
}

fn verify_make_atom(op: OperationRef) -> Checked {
    let ty = result_type(op);
    match CuteType::of(ty) {
        Some(CuteType::CopyAtom { .. } | CuteType::MmaAtom { .. }) => Ok(()),
        _ => Err(format!("expected an atom of cute_nvgpu, found {ty}")),
    }
}

fn verify_alloca(op: OperationRef) -> Checked {
    let Some(CuteType::MemRef(memref)) = CuteType::of(result_type(op)) else {
        return Err("expected a tensor".to_owned());
    };
    if memref.space == Space::Gmem {
        return Err("allocates in gmem; expected smem or rmem: pass it as an argument".to_owned());
    }
    memref.check_allocation()?;
    if let Ok(offset) = op.attribute("offset") {
        let offset =
            unsafe { mlirIntegerAttrGetValueInt(melior::ir::AttributeLike::to_raw(&offset)) };
        if offset < 0 || offset % memref.align != 0 {
            return Err(format!(
                "expected an offset that is a multiple of the alignment {}, found {offset}",
                memref.align
            ));
        }
    }
    Ok(())
}

fn tensors<'c>(
    op: OperationRef<'c, '_>,
    from: usize,
    to: usize,
) -> Result<Vec<MemRef<'c>>, String> {
    operands(op)[from..to]
        .iter()
        .enumerate()
        .map(|(i, value)| {
            memref_of(*value).ok_or_else(|| {
                format!(
                    "expected a tensor as operand {}, found {}",
                    from + i,
                    value.r#type()
                )
            })
        })
        .collect()
}

/// The atom of a tiled copy's type.
pub fn copy_op(ty: Type) -> Option<CopyOp> {
    let Some(CuteType::TiledCopy { atom, .. }) = CuteType::of(ty) else {
        return None;
    };
    match CuteType::of(atom) {
        Some(CuteType::CopyAtom { op, .. }) => Some(op),
        _ => None,
    }
}

fn verify_copy(op: OperationRef) -> Checked {
    let count = op.operand_count();
    let partitioned = match count {
        2 => false,
        3 => true,
        _ => {
            return Err(format!(
                "expected (source, destination) or (tiled copy, source, destination), found {count} operands"
            ));
        }
    };
    let both = tensors(op, count - 2, count)?;
    let (source, destination) = (&both[0], &both[1]);
    if source.element != destination.element {
        return Err(format!(
            "expected the same element type on both sides, found {} and {}; use cute.convert",
            source.element, destination.element
        ));
    }
    if !partitioned {
        return same_extents(source, destination);
    }
    let ty = operands(op)[0].r#type();
    let atom = copy_op(ty).ok_or_else(|| format!("expected a tiled copy, found {ty}"))?;
    let (from, to) = (
        tensor::atom_extents(&source.layout)?,
        tensor::atom_extents(&destination.layout)?,
    );
    if from != to {
        return Err(format!(
            "expected as many atoms on both sides, found {from:?} in the source {} and {to:?} in \
             the destination {}",
            source.layout, destination.layout
        ));
    }
    check_spaces(atom, source, destination)?;
    if source.space != Space::Rmem {
        tensor::check_contiguous("the source", source, atom)?;
    }
    if destination.space != Space::Rmem {
        tensor::check_contiguous("the destination", destination, atom)?;
    }
    Ok(())
}

fn check_spaces(atom: CopyOp, source: &MemRef, destination: &MemRef) -> Checked {
    let expected = match atom {
        CopyOp::Universal { .. } => return Ok(()),
        CopyOp::SimtAsync { .. } => (Space::Gmem, Space::Smem),
        CopyOp::Ldsm { .. } => (Space::Smem, Space::Rmem),
    };
    let found = (source.space, destination.space);
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "copies from {} to {} with an atom that copies from {} to {}",
        found.0, found.1, expected.0, expected.1
    ))
}

fn same_extents(source: &MemRef, destination: &MemRef) -> Checked {
    let extents = |m: &MemRef| {
        m.layout
            .modes()
            .iter()
            .map(|mode| mode.size())
            .collect::<Result<Vec<_>, _>>()
    };
    let from = extents(source).map_err(|e| e.to_string())?;
    let to = extents(destination).map_err(|e| e.to_string())?;
    if from != to {
        return Err(format!(
            "expected the same shape on both sides, found {} and {}",
            source.layout.shape(),
            destination.layout.shape()
        ));
    }
    Ok(())
}

fn extent(memref: &MemRef, mode: usize) -> Result<i64, String> {
    memref
        .layout
        .mode(mode)
        .and_then(|m| m.size())
        .map_err(|e| e.to_string())
}

fn verify_gemm(op: OperationRef) -> Checked {
    match op.operand_count() {
        3 => verify_whole_gemm(op, &tensors(op, 0, 3)?),
        5 => verify_fragment_gemm(op, &tensors(op, 1, 5)?),
        count => Err(format!(
            "expected (A, B, C), or (tiled mma, D, A, B, C), found {count} operands"
        )),
    }
}

fn verify_whole_gemm(op: OperationRef, t: &[MemRef]) -> Checked {
    let (a, b, c) = (&t[0], &t[1], &t[2]);
    for (what, memref) in [("A (M,K)", a), ("B (N,K)", b), ("C (M,N)", c)] {
        if memref.layout.rank() != 2 {
            return Err(format!(
                "expected {what} of rank 2, found {}",
                memref.layout
            ));
        }
    }
    for (what, (x, i), (y, j)) in [
        ("K of A and B", (a, 1), (b, 1)),
        ("M of A and C", (a, 0), (c, 0)),
        ("N of B and C", (b, 0), (c, 1)),
    ] {
        if !x.layout.is_static() || !y.layout.is_static() {
            continue;
        }
        let (left, right) = (extent(x, i)?, extent(y, j)?);
        if left != right {
            return Err(format!(
                "expected the same {what}, found {left} and {right}: A (M,K) is {}, B (N,K) is {}, \
                 C (M,N) is {}",
                a.layout.shape(),
                b.layout.shape(),
                c.layout.shape()
            ));
        }
    }
    if a.element != b.element {
        return Err(format!(
            "expected A and B of one element type, found {} and {}",
            a.element, b.element
        ));
    }
    if let Ok(attribute) = op.attribute("accumulate") {
        let accumulate = TypeAttribute::try_from(attribute)
            .map_err(|e| e.to_string())?
            .value();
        if types::element_bits(accumulate).is_none() {
            return Err(format!(
                "expected a number type to accumulate in, found {accumulate}"
            ));
        }
    }
    Ok(())
}

fn verify_fragment_gemm(op: OperationRef, t: &[MemRef]) -> Checked {
    let (d, a, b, c) = (&t[0], &t[1], &t[2], &t[3]);
    let ty = operands(op)[0].r#type();
    let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(ty) else {
        return Err(format!("expected a tiled MMA, found {ty}"));
    };
    let Some(CuteType::MmaAtom {
        a: ea, b: eb, acc, ..
    }) = CuteType::of(atom)
    else {
        return Err("expected a tiled MMA over an MMA atom".to_owned());
    };
    for (what, memref, element) in [("D", d, acc), ("A", a, ea), ("B", b, eb), ("C", c, acc)] {
        if memref.space != Space::Rmem {
            return Err(format!("expected {what} in rmem, found {}", memref.space));
        }
        if memref.element != element {
            return Err(format!(
                "expected {what} of {element}, found {}",
                memref.element
            ));
        }
        if memref.layout.rank() != 3 {
            return Err(format!(
                "expected {what} of rank 3, (V,M,K), (V,N,K) or (V,M,N), found {}",
                memref.layout
            ));
        }
    }
    for (what, left, right) in [
        ("M of A and C", extent(a, 1)?, extent(c, 1)?),
        ("N of B and C", extent(b, 1)?, extent(c, 2)?),
        ("K of A and B", extent(a, 2)?, extent(b, 2)?),
    ] {
        if left != right {
            return Err(format!(
                "expected the same {what}, found {left} and {right}"
            ));
        }
    }
    if d.layout != c.layout {
        return Err(format!(
            "expected D and C of one layout, found {} and {}",
            d.layout, c.layout
        ));
    }
    Ok(())
}

fn verify_convert(op: OperationRef) -> Checked {
    let source = tensors(op, 0, 1)?.remove(0);
    let Some(CuteType::MemRef(result)) = CuteType::of(result_type(op)) else {
        return Err("expected a tensor".to_owned());
    };
    if source.space != Space::Rmem || result.space != Space::Rmem {
        return Err("expected tensors in rmem".to_owned());
    }
    let (from, to) = (source.element, result.element);
    if !types::is_float(from)
        || !types::is_float(to)
        || types::element_bits(from) == types::element_bits(to)
    {
        return Err(format!(
            "expected floating-point types of different widths, found {from} and {to}"
        ));
    }
    if source.layout != result.layout {
        return Err(format!(
            "expected the same layout, found {} and {}",
            source.layout, result.layout
        ));
    }
    Ok(())
}

//===-- Atoms -------------------------------------------------------------===//

/// (elements, element type) of a one-dimensional vector type.
pub fn vector_of(ty: Type) -> Option<(i64, Type)> {
    unsafe {
        let raw = ty.to_raw();
        (mlirTypeIsAVector(raw) && mlirShapedTypeGetRank(raw) == 1).then(|| {
            (
                mlirShapedTypeGetDimSize(raw, 0),
                Type::from_raw(mlirShapedTypeGetElementType(raw)),
            )
        })
    }
}

/// The value of the attribute `at`.
pub fn at_of(op: OperationRef) -> Vec<i64> {
    op.attribute("at").map_or_else(
        |_| Vec::new(),
        |attribute| unsafe {
            let raw = melior::ir::AttributeLike::to_raw(&attribute);
            (0..mlirDenseArrayGetNumElements(raw))
                .map(|i| mlirDenseI64ArrayGetElement(raw, i))
                .collect()
        },
    )
}

fn check_vector(what: &str, ty: Type, element: Type, length: i64) -> Checked {
    match vector_of(ty) {
        Some((n, e)) if n == length && e == element => Ok(()),
        _ => Err(format!(
            "expected {what} of type vector<{length}x{element}>, found {ty}"
        )),
    }
}

fn atom_values(memref: &MemRef, at: &[i64]) -> Result<i64, String> {
    Ok(tensor::atom_access(&memref.layout, at)?.values.len() as i64)
}

fn verify_atom_load(op: OperationRef) -> Checked {
    let source = tensors(op, 1, 2)?.remove(0);
    let atom = copy_op(operands(op)[0].r#type()).ok_or("expected a tiled copy")?;
    let destination = MemRef {
        space: Space::Rmem,
        swizzle: None,
        ..source.clone()
    };
    check_spaces(atom, &source, &destination)?;
    tensor::check_contiguous("the source", &source, atom)?;
    atom_values(&source, &at_of(op))?;
    let copy = CuteType::of(operands(op)[0].r#type()).ok_or("expected a tiled copy")?;
    let length = types::tiled_copy(&copy)?
        .atom()
        .num_val_dst()
        .map_err(|e| e.to_string())?;
    check_vector("a result", result_type(op), source.element, length)
}

fn verify_atom_store(op: OperationRef) -> Checked {
    let destination = tensors(op, 2, 3)?.remove(0);
    let atom = copy_op(operands(op)[0].r#type()).ok_or("expected a tiled copy")?;
    let source = MemRef {
        space: Space::Rmem,
        swizzle: None,
        ..destination.clone()
    };
    check_spaces(atom, &source, &destination)?;
    tensor::check_contiguous("the destination", &destination, atom)?;
    let length = atom_values(&destination, &at_of(op))?;
    check_vector(
        "a value",
        operands(op)[1].r#type(),
        destination.element,
        length,
    )
}

fn verify_atom_copy(op: OperationRef) -> Checked {
    let both = tensors(op, 1, 3)?;
    let atom = copy_op(operands(op)[0].r#type()).ok_or("expected a tiled copy")?;
    if !matches!(atom, CopyOp::SimtAsync { .. }) {
        return Err("expected an asynchronous atom; use atom_load and atom_store".to_owned());
    }
    check_spaces(atom, &both[0], &both[1])?;
    for (what, memref) in [("the source", &both[0]), ("the destination", &both[1])] {
        tensor::check_contiguous(what, memref, atom)?;
        atom_values(memref, &at_of(op))?;
    }
    Ok(())
}

fn verify_atom_mma(op: OperationRef) -> Checked {
    let ty = operands(op)[0].r#type();
    let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(ty) else {
        return Err(format!("expected a tiled MMA, found {ty}"));
    };
    let atom = CuteType::of(atom).ok_or("expected an MMA atom")?;
    let table = types::mma_atom(&atom)?;
    let CuteType::MmaAtom { a, b, acc, .. } = atom else {
        return Err("expected an MMA atom".to_owned());
    };
    let count = |layout: &cute_layout::Layout| {
        layout
            .mode(1)
            .and_then(|values| values.size())
            .map_err(|e| e.to_string())
    };
    let values = operands(op);
    check_vector("A", values[1].r#type(), a, count(&table.a_tv)?)?;
    check_vector("B", values[2].r#type(), b, count(&table.b_tv)?)?;
    check_vector("C", values[3].r#type(), acc, count(&table.c_tv)?)?;
    check_vector("D", result_type(op), acc, count(&table.c_tv)?)
}
