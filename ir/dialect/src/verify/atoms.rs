//! Atoms, and atoms on values.

use super::{Checked, check_spaces, tensor as operand};
use crate::args::{at_of, field_of};
use crate::mlir::*;
use crate::{
    ops::{cute, cute_nvgpu},
    tensor,
    types::{self, CuteType, Field, MemRef, Space, describe_fields},
};
use cute_layout::atoms::{Completion, CopyAtom, Form, Source};
use melior::ir::{Type, ValueLike};
use std::sync::Arc;

pub(super) fn verify_make_atom(op: cute::MakeAtom<'_>) -> Checked {
    let ty = op.atom().r#type();
    let fields = match CuteType::of(ty) {
        Some(atom @ (CuteType::CopyAtom { .. } | CuteType::MmaAtom { .. })) => atom.fields(),
        _ => return Err(format!("expected an atom of cute_nvgpu, found {ty}")),
    };
    let given: Vec<String> = op
        .state()
        .iter()
        .map(|value| value.r#type().to_string())
        .collect();
    if given.is_empty() || given.iter().eq(fields.iter().map(|field| field.ty)) {
        return Ok(());
    }
    Err(format!(
        "expected no state, or all of it, {}, found ({})",
        describe_fields(fields),
        given.join(", ")
    ))
}

fn check_field_type(field: &Field, ty: Type) -> Checked {
    if ty.to_string() == field.ty {
        return Ok(());
    }
    Err(format!(
        "expected {} to be of type {}, found {ty}",
        field.name, field.ty
    ))
}

pub(super) fn verify_set_value(op: cute_nvgpu::AtomSetValue<'_>) -> Checked {
    if let Some(CuteType::Tma { stores, .. } | CuteType::TensorMap { stores, .. }) =
        CuteType::get(op.atom().r#type())
    {
        return super::hopper::verify_set_barrier(op, *stores);
    }
    check_field_type(field_of(op.op())?, op.value().r#type())
}

pub(super) fn verify_get_value(op: cute_nvgpu::AtomGetValue<'_>) -> Checked {
    check_field_type(field_of(op.op())?, op.value().r#type())
}

fn check_vector(what: &str, ty: Type, element: Type, length: i64) -> Checked {
    let element = types::register_type(element);
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

/// The table's entry for a tiled copy's atom.
fn table_of(copy: Val<'_>) -> Result<Arc<CopyAtom>, String> {
    match CuteType::get(copy.r#type()) {
        Some(CuteType::TiledCopy { atom, .. }) => types::copy_row(*atom),
        _ => None,
    }
    .ok_or_else(|| "expected a tiled copy".to_owned())
}

/// A vector that an auto-vectorising atom moves at once: as long as it is, it lies in memory in one piece, aligned.
fn check_auto_vector(what: &str, ty: Type, memref: &MemRef, at: &[i64]) -> Checked {
    let element = types::register_type(memref.element);
    let bytes = memref.element_bytes();
    let length = match vector_of(ty) {
        Some((n, e)) if e == element && n > 0 && n & (n - 1) == 0 && n * bytes <= 16 => n,
        _ => {
            return Err(format!(
                "expected {what} of type vector<Nx{element}>, N a power of two and at most {}, found {ty}",
                16 / bytes
            ));
        }
    };
    let start = tensor::atom_start(&memref.layout, at)?;
    let (align, size) = (memref.align, length * bytes);
    let missing = (start..start + length).find(|offset| !tensor::covers(&memref.layout, *offset));
    if let Some(offset) = missing {
        return Err(format!(
            "expected {length} elements side by side from {start} on, found that {offset} is none of {}",
            memref.layout
        ));
    }
    if align % size != 0 || (start * bytes) % size != 0 {
        return Err(format!(
            "moves {size} bytes at once from {} bytes on in a tensor of align<{align}>; expected a multiple of {size}",
            start * bytes
        ));
    }
    if let Some(swizzle) = memref.byte_swizzle()
        && size > 1 << swizzle.m()
    {
        return Err(format!(
            "moves {size} bytes at once, which the swizzle {swizzle} takes apart"
        ));
    }
    Ok(())
}

/// The row of the atom that a tiled copy is over.
fn copy_of(copy: Val<'_>) -> Result<Arc<CopyAtom>, String> {
    let ty = copy.r#type();
    match CuteType::get(ty) {
        Some(CuteType::TiledCopy { .. }) => types::copy_row(ty),
        _ => None,
    }
    .ok_or_else(|| "expected a tiled copy".to_owned())
}

pub(super) fn verify_atom_load(op: cute::AtomLoad<'_>) -> Checked {
    let at = at_of(op.op());
    let guard = [op.predicate(), op.otherwise()];
    let given = [op.copy(), op.source(), op.value()].into_iter();
    let types: Vec<Type> = given
        .chain(guard.into_iter().flatten())
        .map(|value| value.r#type())
        .collect();
    let there = guard.map(|value| i64::from(value.is_some()));
    let numbers = [&there[..], &at].concat();
    checked(cute::ATOM_LOAD, &types, &numbers, || check_load(op, &at))
}

fn check_load(op: cute::AtomLoad<'_>, at: &[i64]) -> Checked {
    let source = operand(1, op.source())?;
    let value = op.value().r#type();
    let atom = copy_of(op.copy())?;
    let destination = MemRef {
        space: Space::Rmem,
        swizzle: None,
        inner: None,
        ..source.clone()
    };
    check_spaces(&atom, &source, &destination)?;
    in_memory("the source", &source)?;
    match (op.predicate(), op.otherwise()) {
        (None, None) => {}
        (Some(_), Some(_)) if source.space != Space::Gmem || atom.spaces.is_some() => {
            return Err(format!(
                "expected a predicate only where each thread loads from {} by itself, found {} from {}",
                Space::Gmem,
                atom.name,
                source.space
            ));
        }
        (Some(_), Some(otherwise)) if otherwise.r#type() == value => {}
        (Some(_), Some(otherwise)) => {
            return Err(format!(
                "expected {value} behind else, as is loaded, found {}",
                otherwise.r#type()
            ));
        }
        _ => {
            return Err("expected both a predicate and a value behind else, or neither".to_owned());
        }
    }
    if atom.is_auto_vectorizing() {
        return check_auto_vector("a result", value, &source, at);
    }
    tensor::check_contiguous("the source", &source, &atom)?;
    atom_values(&source, at)?;
    let length = table_of(op.copy())?
        .num_val_dst()
        .map_err(|e| e.to_string())?;
    check_vector("a result", value, source.element, length)
}

pub(super) fn verify_atom_store(op: cute::AtomStore<'_>) -> Checked {
    let at = at_of(op.op());
    let types = [op.copy(), op.value(), op.destination()].map(|value| value.r#type());
    checked(cute::ATOM_STORE, &types, &at, || check_store(op, &at))
}

fn check_store(op: cute::AtomStore<'_>, at: &[i64]) -> Checked {
    let destination = operand(2, op.destination())?;
    let atom = copy_of(op.copy())?;
    let source = MemRef {
        space: Space::Rmem,
        swizzle: None,
        inner: None,
        ..destination.clone()
    };
    check_spaces(&atom, &source, &destination)?;
    in_memory("the destination", &destination)?;
    let value = op.value().r#type();
    if atom.is_auto_vectorizing() {
        return check_auto_vector("a value", value, &destination, at);
    }
    tensor::check_contiguous("the destination", &destination, &atom)?;
    atom_values(&destination, at)?;
    let length = table_of(op.copy())?
        .num_val_src()
        .map_err(|e| e.to_string())?;
    check_vector("a value", value, destination.element, length)
}

fn in_memory(what: &str, memref: &MemRef) -> Checked {
    if memref.space == Space::Rmem {
        return Err(format!(
            "expected {what} in memory, found {}; register tensors are vectors at this level",
            memref.space
        ));
    }
    Ok(())
}

pub(super) fn verify_atom_move(op: cute::AtomMove<'_>) -> Checked {
    let atom = copy_of(op.copy())?;
    if atom.form != Form::Move {
        return Err(
            "expected !cute_nvgpu.atom.movm; other atoms load, store or copy memory".to_owned(),
        );
    }
    let table = table_of(op.copy())?;
    let value = op.value().r#type();
    let Some((_, element)) = vector_of(value) else {
        return Err(format!("expected a vector, found {value}"));
    };
    if types::element_bits(element) != Some(table.val_bits) {
        return Err(format!(
            "expected elements of {} bits, as the atom moves, found {value}",
            table.val_bits
        ));
    }
    check_vector("a value", value, element, table.num_val)?;
    check_vector("a result", op.result().r#type(), element, table.num_val)
}

pub(super) fn verify_atom_copy(op: cute::AtomCopy<'_>) -> Checked {
    let at = at_of(op.op());
    let types = [op.copy(), op.source(), op.destination()].map(|value| value.r#type());
    checked(cute::ATOM_COPY, &types, &at, || check_copy(op, &at))
}

fn check_copy(op: cute::AtomCopy<'_>, at: &[i64]) -> Checked {
    let (source, destination) = (operand(1, op.source())?, operand(2, op.destination())?);
    let atom = copy_of(op.copy())?;
    if atom.completion == Completion::Immediate {
        return Err("expected an asynchronous atom; use atom_load and atom_store".to_owned());
    }
    check_spaces(&atom, &source, &destination)?;
    for (what, memref) in [("the source", &source), ("the destination", &destination)] {
        tensor::check_contiguous(what, memref, &atom)?;
        atom_values(memref, at)?;
    }
    Ok(())
}

pub(super) fn verify_atom_mma(op: cute::AtomMma<'_>) -> Checked {
    let types = [op.mma(), op.a(), op.b(), op.c(), op.d()].map(|value| value.r#type());
    checked(cute::ATOM_MMA, &types, &[], || check_mma(op))
}

fn check_mma(op: cute::AtomMma<'_>) -> Checked {
    let ty = op.mma().r#type();
    let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(ty) else {
        return Err(format!("expected a tiled MMA, found {ty}"));
    };
    let Some(CuteType::MmaAtom {
        a,
        b,
        acc,
        atom: table,
    }) = CuteType::of(atom)
    else {
        return Err("expected an MMA atom".to_owned());
    };
    if table.sources != [Source::Registers; 3] || table.completion != Completion::Immediate {
        return Err(format!(
            "expected an atom that takes its operands from registers and is done at once, found {}",
            table.name
        ));
    }
    let count = |layout: &cute_layout::Layout| {
        layout
            .mode(1)
            .and_then(|values| values.size())
            .map_err(|e| e.to_string())
    };
    check_vector("A", op.a().r#type(), a, count(&table.a_tv)?)?;
    check_vector("B", op.b().r#type(), b, count(&table.b_tv)?)?;
    check_vector("C", op.c().r#type(), acc, count(&table.c_tv)?)?;
    check_vector("D", op.d().r#type(), acc, count(&table.c_tv)?)
}
