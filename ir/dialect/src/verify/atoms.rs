//! Atoms, and atoms on values.

use super::{Checked, at_of, check_spaces, copy_op, operands, result_type, tensors, vector_of};
use crate::{
    tensor,
    types::{self, CopyOp, CuteType, MemRef, Space},
};
use melior::ir::{OperationRef, Type, ValueLike};

pub(super) fn verify_make_atom(op: OperationRef) -> Checked {
    let ty = result_type(op);
    match CuteType::of(ty) {
        Some(CuteType::CopyAtom { .. } | CuteType::MmaAtom { .. }) => Ok(()),
        _ => Err(format!("expected an atom of cute_nvgpu, found {ty}")),
    }
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
    tensor::check_at(&memref.layout, at)?;
    tensor::atom_values(&memref.layout)?
        .size()
        .map_err(|e| e.to_string())
}

pub(super) fn verify_atom_load(op: OperationRef) -> Checked {
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

pub(super) fn verify_atom_store(op: OperationRef) -> Checked {
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

pub(super) fn verify_atom_copy(op: OperationRef) -> Checked {
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

pub(super) fn verify_atom_mma(op: OperationRef) -> Checked {
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
