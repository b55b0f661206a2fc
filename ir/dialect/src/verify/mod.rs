//! The verifier of every op. MLIR has checked the number and the kinds of operands, and the
//! declared result types against the inferred ones; what is left:
//!
//! - `static`: the type says the whole value (`values.rs`, as the next three);
//! - `make_int_tuple`, `make_shape`, `make_stride`, `make_coord`, `make_tile`: an integer of the right
//!   width for each dynamic leaf;
//! - `equal`: operands of one kind; `elem_less`: congruent operands;
//! - `make_atom`: an atom, with all of its state or none; `atom.set_value`, `atom.get_value`: a part of the state that the
//!   atom has, of its type (`atoms.rs`);
//! - `memref.alloca`: in smem or rmem, static, aligned as its swizzle needs; placed at a multiple
//!   of its alignment (`algorithms.rs`, as the next three);
//! - `memref.load`, `memref.store`: a whole coordinate within the tensor, its element's type; `recast`, `recast_iter`,
//!   `make_identity_tensor`: the type that follows (`views.rs`);
//! - `copy`, `copy_if`: tensors of one shape; with an atom, values that it can move as vectors, in one order on both sides, as
//!   aligned as it needs, and a predicate for each atom (`algorithms/copy.rs`, as the next three);
//! - `autovec_copy`, `basic_copy`: tensors of one size, no place written from several;
//! - `cooperative_copy`: memory that all threads see, no more threads than the block has;
//! - `prefetch`: global memory;
//! - `gemm`, `cooperative_gemm`: the ranks and extents of their forms, the atom's values and element types (`algorithms/gemm.rs`);
//! - `clear`, `fill`, `axpby`, `transform`, `reduce`: tensors of one size, a region of their elements (`algorithms/elementwise.rs`);
//! - `convert`: registers, same layout;
//! - `sm_count`: outside of kernels (`facts.rs`);
//! - `tiled.copy.partition_S` and `_D`, `tiled.mma.partition`: no part for a thread that blocks do not have (`partitions.rs`);
//! - atoms: spaces that the atom copies between, vectors of its length and type, an `at` within the partition (`atoms.rs`).

mod algorithms;
mod atoms;
mod attributes;
mod facts;
mod partitions;
mod values;
mod views;

pub use atoms::field_of;
pub(crate) use attributes::attribute;
pub use attributes::{MOST_TURNS, Place};
pub use partitions::tiled_threads;

use crate::{
    diag::{self, Failure},
    infer::memref_of,
    types::{CopyOp, CuteType, MemRef, Space},
};
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike, operation::OperationLike};
use mlir_sys::*;

type Checked = Result<(), String>;

/// Verifies an op of the dialects by what the verifier asks beside its operands' kinds: for passes that make an op of what
/// somebody wrote. Errors: those of the verifier, as a diagnostic at the op.
pub fn verify(op: OperationRef) -> Result<(), Failure> {
    let name = op
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let result = match name.as_str() {
        "cute.static" => values::verify_static(op),
        "cute.make_int_tuple"
        | "cute.make_shape"
        | "cute.make_stride"
        | "cute.make_coord"
        | "cute.make_tile" => values::verify_make(op, &name),
        "cute.equal" | "cute.elem_less" => values::verify_comparison(op, &name),
        "cute.make_atom" => atoms::verify_make_atom(op),
        "cute.memref.alloca" => algorithms::verify_alloca(op),
        "cute.print" => values::verify_print(op),
        "cute.make_view" => views::verify_make_view(op),
        "cute.assume" => facts::verify_assume(op),
        "cute.derefine" => facts::verify_derefine(op),
        "cute.sm_count" => facts::verify_sm_count(op),
        "cute.ptrtoint" => facts::verify_ptrtoint(op),
        "cute.inttoptr" => facts::verify_inttoptr(op),
        "cute.memref.load" => views::verify_load(op),
        "cute.memref.store" => views::verify_store(op),
        "cute.memref.store_vec" => views::verify_store_vec(op),
        "cute.recast" => views::verify_recast(op),
        "cute.recast_iter" => views::verify_recast_iter(op),
        "cute.make_identity_tensor" => views::verify_identity(op),
        "cute.copy" => algorithms::verify_copy(op),
        "cute.copy_if" => algorithms::verify_copy_if(op),
        "cute.autovec_copy" | "cute.basic_copy" => algorithms::verify_plain_copy(op),
        "cute.cooperative_copy" => algorithms::verify_cooperative_copy(op),
        "cute.prefetch" => algorithms::verify_prefetch(op),
        "cute.gemm" => algorithms::verify_gemm(op),
        "cute.cooperative_gemm" => algorithms::verify_cooperative_gemm(op),
        "cute.clear" => algorithms::verify_clear(op),
        "cute.fill" => algorithms::verify_fill(op),
        "cute.axpby" => algorithms::verify_axpby(op),
        "cute.transform" => algorithms::verify_transform(op),
        "cute.reduce" => algorithms::verify_reduce(op),
        "cute.convert" => algorithms::verify_convert(op),
        "cute.tiled.copy.partition_S"
        | "cute.tiled.copy.partition_D"
        | "cute.tiled.mma.partition" => partitions::verify_partition(op),
        "cute.atom_load" => atoms::verify_atom_load(op),
        "cute.atom_store" => atoms::verify_atom_store(op),
        "cute.atom_copy" => atoms::verify_atom_copy(op),
        "cute.atom_move" => atoms::verify_atom_move(op),
        "cute.atom_mma" => atoms::verify_atom_mma(op),
        "cute_nvgpu.atom.set_value" => atoms::verify_set_value(op),
        "cute_nvgpu.atom.get_value" => atoms::verify_get_value(op),
        _ => Ok(()),
    };
    result.map_err(|message| {
        // The op outlives this call.
        let op: crate::build::Op = unsafe { OperationRef::from_raw(op.to_raw()) };
        let notes = match name.as_str() {
            "cute.copy" | "cute.copy_if" => algorithms::argument_notes(op),
            _ => Vec::new(),
        };
        let notes: Vec<_> = notes.iter().map(|(l, text)| (*l, text.as_str())).collect();
        diag::error_with_notes(op.location(), format!("'{name}' op {message}"), &notes)
    })
}

fn result_type<'c>(op: OperationRef<'c, '_>) -> Type<'c> {
    unsafe { Type::from_raw(mlirValueGetType(mlirOperationGetResult(op.to_raw(), 0))) }
}

fn operands<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    (0..op.operand_count())
        .filter_map(|i| op.operand(i).ok())
        .collect()
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

fn check_spaces(atom: CopyOp, source: &MemRef, destination: &MemRef) -> Checked {
    let expected = match atom {
        CopyOp::Universal { .. } | CopyOp::Auto => return Ok(()),
        CopyOp::SimtAsync { .. } => (Space::Gmem, Space::Smem),
        CopyOp::Ldsm { .. } => (Space::Smem, Space::Rmem),
        CopyOp::Stsm { .. } => (Space::Rmem, Space::Smem),
        CopyOp::Movm => (Space::Rmem, Space::Rmem),
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
