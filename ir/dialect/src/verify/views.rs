//! Views of tensors, and their elements.

use super::{Checked, same, tensor};
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    infer::{self, dynamic_leaves},
    types::{self, CuteType},
    view,
};
use cute_layout::IntTuple;
use melior::ir::{ValueLike, operation::OperationLike};

/// An operand's type; diagnostics name its place.
fn decoded<'c>(place: usize, value: Val<'c>) -> Result<CuteType<'c>, String> {
    let ty = value.r#type();
    CuteType::of(ty).ok_or_else(|| format!("expected a cute type as operand {place}, found {ty}"))
}

/// The coordinate of one element.
fn element_at(coord: Val<'_>) -> Result<IntTuple, String> {
    match decoded(1, coord)? {
        CuteType::Coord(coord) if coord.has_underscore() => Err(format!(
            "expected the coordinate of one element, found {coord}; take the part at `_` by cute.slice"
        )),
        CuteType::Coord(coord) => Ok(coord),
        _ => Err("expected a coordinate as operand 1".to_owned()),
    }
}

/// The operands are those that the result's type says; a layout that is left out is static.
pub(super) fn verify_make_view(op: cute::MakeView<'_>) -> Checked {
    let result = op.result().r#type();
    let given = operands_of(op.op());
    let expected = infer::operand_types(cute::MAKE_VIEW, given.len(), result)?;
    for (what, (value, expected)) in ["a start", "a layout"]
        .iter()
        .zip(given.iter().zip(expected))
    {
        same(what, value.r#type(), expected)?;
    }
    let layout = match CuteType::of(result) {
        Some(CuteType::MemRef(memref)) => memref.layout,
        Some(CuteType::CoordTensor { layout, .. }) => layout,
        _ => return Ok(()),
    };
    if op.layout().is_none() && !layout.is_static() {
        return Err(format!(
            "expected a layout as operand 1, for the type does not say all of {layout}"
        ));
    }
    Ok(())
}

pub(super) fn verify_load(op: cute::MemrefLoad<'_>) -> Checked {
    let coord = element_at(op.coord())?;
    let value = op.value().r#type();
    match decoded(0, op.tensor())? {
        CuteType::MemRef(memref) => {
            memref.check_addressable()?;
            view::slice(&memref.layout, &coord)?.of(&memref, &dynamic_leaves(&coord))?;
            same("a result", value, memref.element)
        }
        CuteType::CoordTensor { start, layout } => {
            let view = view::slice(&layout, &coord)?;
            let element = view.start(&start, &dynamic_leaves(&coord))?;
            let context = context_of_type(value);
            same("a result", value, types::coord_type(context, &element))
        }
        _ => Err("expected a tensor as operand 0".to_owned()),
    }
}

pub(super) fn verify_store(op: cute::MemrefStore<'_>) -> Checked {
    let coord = element_at(op.coord())?;
    let memref = tensor(0, op.tensor())?;
    memref.check_addressable()?;
    view::slice(&memref.layout, &coord)?.of(&memref, &dynamic_leaves(&coord))?;
    same("a value", op.value().r#type(), memref.element)
}

pub(super) fn verify_store_vec(op: cute::MemrefStoreVec<'_>) -> Checked {
    let memref = tensor(1, op.tensor())?;
    let size = memref.layout.size().map_err(|e| e.to_string())?;
    let found = op.value().r#type();
    match vector_of(found) {
        Some((n, element)) if n == size && element == memref.element => Ok(()),
        _ => Err(format!(
            "expected a value of type vector<{size}x{}>, found {found}",
            memref.element
        )),
    }
}

pub(super) fn verify_recast(op: cute::Recast<'_>) -> Checked {
    let source = tensor(0, op.tensor())?;
    let ty = op.result().r#type();
    let Some(CuteType::MemRef(result)) = CuteType::of(ty) else {
        return Err("expected a tensor".to_owned());
    };
    let element = op.element().and_then(type_value);
    let expected = view::recast(source, element.unwrap_or(result.element))?
        .to_type(op.op().location())
        .map_err(|_| "has no valid result type")?;
    same("a result", ty, expected)
}

pub(super) fn verify_recast_iter(op: cute::RecastIter<'_>) -> Checked {
    let (Some(CuteType::Ptr(from)), Some(CuteType::Ptr(to))) = (
        CuteType::of(op.iter().r#type()),
        CuteType::of(op.result().r#type()),
    ) else {
        return Err("expected pointers".to_owned());
    };
    if from.space != to.space {
        return Err(format!(
            "expected a pointer into {}, as the operand is, found {}",
            from.space, to.space
        ));
    }
    Ok(())
}

pub(super) fn verify_identity(op: cute::MakeIdentityTensor<'_>) -> Checked {
    let CuteType::Shape(shape) = decoded(0, op.shape())? else {
        return Err("expected a shape".to_owned());
    };
    let expected = infer::identity_tensor(op.op().location(), &shape)?;
    same("a result", op.result().r#type(), expected)
}
