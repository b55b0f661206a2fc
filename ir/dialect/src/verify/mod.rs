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

use crate::mlir::*;
use crate::ops::{cute, cute_nvgpu};
pub use atoms::field_of;
pub(crate) use attributes::attribute;
pub use attributes::{MOST_TURNS, Place};
pub use partitions::tiled_threads;

use crate::{
    diag::{self, Failure},
    infer::memref_of,
    types::{CopyOp, CuteType, MemRef, Space},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

type Checked = Result<(), String>;

/// Verifies an op of the dialects by what the verifier asks beside its operands' kinds: for passes that make an op of what
/// somebody wrote. Errors: those of the verifier, as a diagnostic at the op.
pub fn verify(op: Op<'_>) -> Result<(), Failure> {
    let name = op
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let result = match name.as_str() {
        cute::STATIC => values::verify_static(op),
        cute::MAKE_INT_TUPLE
        | cute::MAKE_SHAPE
        | cute::MAKE_STRIDE
        | cute::MAKE_COORD
        | cute::MAKE_TILE => values::verify_make(op, &name),
        cute::EQUAL | cute::ELEM_LESS => values::verify_comparison(op, &name),
        cute::MAKE_ATOM => atoms::verify_make_atom(op),
        cute::MEMREF_ALLOCA => algorithms::verify_alloca(op),
        cute::PRINT => values::verify_print(op),
        cute::MAKE_VIEW => views::verify_make_view(op),
        cute::ASSUME => facts::verify_assume(op),
        cute::DEREFINE => facts::verify_derefine(op),
        cute::SM_COUNT => facts::verify_sm_count(op),
        cute::PTRTOINT => facts::verify_ptrtoint(op),
        cute::INTTOPTR => facts::verify_inttoptr(op),
        cute::MEMREF_LOAD => views::verify_load(op),
        cute::MEMREF_STORE => views::verify_store(op),
        cute::MEMREF_STORE_VEC => views::verify_store_vec(op),
        cute::RECAST => views::verify_recast(op),
        cute::RECAST_ITER => views::verify_recast_iter(op),
        cute::MAKE_IDENTITY_TENSOR => views::verify_identity(op),
        cute::COPY => algorithms::verify_copy(op),
        cute::COPY_IF => algorithms::verify_copy_if(op),
        cute::AUTOVEC_COPY | cute::BASIC_COPY => algorithms::verify_plain_copy(op),
        cute::COOPERATIVE_COPY => algorithms::verify_cooperative_copy(op),
        cute::PREFETCH => algorithms::verify_prefetch(op),
        cute::GEMM => algorithms::verify_gemm(op),
        cute::COOPERATIVE_GEMM => algorithms::verify_cooperative_gemm(op),
        cute::CLEAR => algorithms::verify_clear(op),
        cute::FILL => algorithms::verify_fill(op),
        cute::AXPBY => algorithms::verify_axpby(op),
        cute::TRANSFORM => algorithms::verify_transform(op),
        cute::REDUCE => algorithms::verify_reduce(op),
        cute::CONVERT => algorithms::verify_convert(op),
        cute::TILED_COPY_PARTITION_S | cute::TILED_COPY_PARTITION_D | cute::TILED_MMA_PARTITION => {
            partitions::verify_partition(op)
        }
        cute::ATOM_LOAD => atoms::verify_atom_load(op),
        cute::ATOM_STORE => atoms::verify_atom_store(op),
        cute::ATOM_COPY => atoms::verify_atom_copy(op),
        cute::ATOM_MOVE => atoms::verify_atom_move(op),
        cute::ATOM_MMA => atoms::verify_atom_mma(op),
        cute_nvgpu::ATOM_SET_VALUE => atoms::verify_set_value(op),
        cute_nvgpu::ATOM_GET_VALUE => atoms::verify_get_value(op),
        _ => Ok(()),
    };
    result.map_err(|message| {
        let notes = match name.as_str() {
            cute::COPY | cute::COPY_IF => algorithms::argument_notes(op),
            _ => Vec::new(),
        };
        let notes: Vec<_> = notes.iter().map(|(l, text)| (*l, text.as_str())).collect();
        diag::error_with_notes(op.location(), format!("'{name}' op {message}"), &notes)
    })
}

fn result_type<'c>(op: Op<'c>) -> Type<'c> {
    result_of(op, 0).r#type()
}

fn tensors<'c>(op: Op<'c>, from: usize, to: usize) -> Result<Vec<MemRef<'c>>, String> {
    operands_of(op)[from..to]
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

/// The coordinates in the attribute `at`, none where it is not given.
pub fn at_of(op: Op<'_>) -> Vec<i64> {
    attribute_of(op, "at").and_then(i64s_of).unwrap_or_default()
}
