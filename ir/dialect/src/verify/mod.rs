//! The verifier of every op. MLIR has checked the number and the kinds of operands, and the
//! declared result types against the inferred ones; what is left:
//!
//! - `static`: the type says the whole value (`values.rs`, as the next four); `param`: arithmetic on parameters;
//! - `make_int_tuple`, `make_shape`, `make_stride`, `make_coord`, `make_tile`: an integer of the right
//!   width for each dynamic leaf;
//! - `equal`: operands of one kind; `elem_less`: congruent operands;
//! - `make_atom`: an atom, with all of its state or none; `atom.set_value`, `atom.get_value`: a part of the state that the
//!   atom has, of its type (`atoms.rs`);
//! - `memref.alloca`: in smem or rmem, static, aligned as its swizzle needs; placed at a multiple
//!   of its alignment (`algorithms.rs`, as the next three);
//! - `memref.load`, `memref.store`: a whole coordinate within the tensor, its element's type; `recast`, `recast_iter`,
//!   `make_identity_tensor`: the type that follows (`views.rs`);
//! - `contract`, `block.gemm`, `block.promote`: matrices of one product, each in its space; `block.copy`: tiles of one shape
//!   (`algorithms/gemm.rs`, `algorithms/copy.rs`); in regions, operations on numbers (`algorithms/regions.rs`) that round as instructions do
//!   (`rounding.rs`);
//! - `copy`, `copy_if`: tensors of one shape; with an atom, values that it can move as vectors, in one order on both sides, as
//!   aligned as it needs, and a predicate for each atom (`algorithms/copy.rs`, as the next three);
//! - `copy_tile`: tiles of one shape, or one and a fragment; coordinates for each element (`algorithms/tile.rs`);
//! - `autovec_copy`, `basic_copy`: tensors of one size, no place written from several;
//! - `cooperative_copy`: memory that all threads see, no more threads than the block has;
//! - `prefetch`: global memory;
//! - `gemm`, `cooperative_gemm`: the ranks and extents of their forms, the atom's values and element types (`algorithms/gemm.rs`);
//! - `clear`, `fill`, `axpby`, `transform`, `reduce`: tensors of one size, a region of their elements (`algorithms/elementwise.rs`);
//! - `convert`: registers, same layout;
//! - `candidates`: outside of kernels, a time for each plan, and one plan that is not left out (`algorithms/candidates.rs`);
//! - `sm_count`, `compute_values`, `compute_view`, `compute_here`, `workspace`, `launch`: outside of kernels (`facts.rs`); `launch`: a grid of one to three modes; `workspace`: in global memory, aligned as packages promise
//!   (`algorithms.rs`);
//! - `check_warps`: an element for each warp of the block, and their number (`partitions.rs`);
//! - `tiled.copy.partition_S` and `_D`, `tiled.mma.partition`: no part for a thread that blocks do not have (`partitions.rs`);
//! - barriers in shared memory: a tensor of i64; `atom.make_tma_load`, `_store` and `make_im2col_tma_load`: the atom and the coordinates that follow from the
//!   tensor and the layout; `tma_load`, `tma_store`: tiles that are boxes of the atom; `wgmma_fence`, `wgmma_wait_group`: accumulators;
//!   `atom_wgmma`, `make_gmma_smem_desc`: operands that have descriptors; `get_dyn_smem`: a pointer to bytes (`hopper.rs`);
//! - `call`: a function that is there, or imported (`calls.rs`);
//! - atoms: spaces that the atom copies between, vectors of its length and type, an `at` within the partition (`atoms.rs`).

mod algorithms;
mod atoms;
mod attributes;
mod calls;
mod facts;
mod hopper;
mod partitions;
mod pipelines;
mod rounding;
mod values;
mod views;

use crate::mlir::*;
use crate::ops::{cute, cute_nvgpu};
pub(crate) use attributes::attribute;
pub use attributes::{Place, without_prefix};
pub use calls::missing;
pub(crate) use calls::verify_symbols;
use cute_layout::atoms::CopyAtom;
pub(crate) use facts::{address_width, is_weaker};
pub use rounding::check_rounding;

use crate::{
    diag::{self, Failure},
    types::MemRef,
    types::memref_of,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

type Checked = Result<(), String>;

/// Verifies an op of the dialects by what the verifier asks beside its operands' kinds: for passes that make an op of what
/// somebody wrote. Errors: those of the verifier, as a diagnostic at the op.
pub fn verify(op: Op<'_>) -> Result<(), Failure> {
    let name = name_of(op);
    algorithms::check_regions(op)?;
    let result = match name {
        cute::STATIC => with(cute::Static::of(op), values::verify_static),
        cute::MAKE_INT_TUPLE
        | cute::MAKE_SHAPE
        | cute::MAKE_STRIDE
        | cute::MAKE_COORD
        | cute::MAKE_TILE => values::verify_make(op, name),
        cute::EQUAL | cute::ELEM_LESS => values::verify_comparison(op, name),
        cute::MAKE_ATOM => with(cute::MakeAtom::of(op), atoms::verify_make_atom),
        cute::MEMREF_ALLOCA => with(cute::MemrefAlloca::of(op), algorithms::verify_alloca),
        cute::WORKSPACE => with(cute::Workspace::of(op), algorithms::verify_workspace),
        cute::CANDIDATES => with(cute::Candidates::of(op), algorithms::verify_candidates),
        cute::PARAM => with(cute::Param::of(op), values::verify_param),
        cute::PRINT => with(cute::Print::of(op), values::verify_print),
        cute::MAKE_VIEW => with(cute::MakeView::of(op), views::verify_make_view),
        cute::ASSUME => with(cute::Assume::of(op), facts::verify_assume),
        cute::DEREFINE => with(cute::Derefine::of(op), facts::verify_derefine),
        cute::LAUNCH => with(cute::Launch::of(op), facts::verify_launch),
        cute::SM_COUNT => with(cute::SmCount::of(op), facts::verify_sm_count),
        cute::COMPUTE_VALUES => with(cute::ComputeValues::of(op), facts::verify_compute_values),
        cute::COMPUTE_VIEW => with(cute::ComputeView::of(op), facts::verify_compute_view),
        cute::COMPUTE_HERE => with(cute::ComputeHere::of(op), facts::verify_compute_here),
        cute::PTRTOINT => with(cute::Ptrtoint::of(op), facts::verify_ptrtoint),
        cute::INTTOPTR => with(cute::Inttoptr::of(op), facts::verify_inttoptr),
        cute::MEMREF_LOAD => with(cute::MemrefLoad::of(op), views::verify_load),
        cute::MEMREF_STORE => with(cute::MemrefStore::of(op), views::verify_store),
        cute::MEMREF_STORE_VEC => with(cute::MemrefStoreVec::of(op), views::verify_store_vec),
        cute::RECAST => with(cute::Recast::of(op), views::verify_recast),
        cute::RECAST_ITER => with(cute::RecastIter::of(op), views::verify_recast_iter),
        cute::MAKE_IDENTITY_TENSOR => {
            with(cute::MakeIdentityTensor::of(op), views::verify_identity)
        }
        cute::CONTRACT => with(cute::Contract::of(op), algorithms::verify_contract),
        cute::MAP => with(cute::Map::of(op), algorithms::verify_map),
        cute::ALL_REDUCE => with(cute::AllReduce::of(op), algorithms::verify_all_reduce),
        cute::BLOCK_MAP => with(cute::BlockMap::of(op), algorithms::verify_block_map),
        cute::BLOCK_FUSE => with(cute::BlockFuse::of(op), algorithms::verify_block_fuse),
        cute::BLOCK_TRANSFORM => with(
            cute::BlockTransform::of(op),
            algorithms::verify_block_transform,
        ),
        cute::BLOCK_COPY => with(cute::BlockCopy::of(op), algorithms::verify_block_copy),
        cute::BLOCK_GEMM => with(cute::BlockGemm::of(op), algorithms::verify_block_gemm),
        cute::BLOCK_PROMOTE => with(cute::BlockPromote::of(op), algorithms::verify_block_promote),
        cute::BLOCK_WARP_LOAD => with(
            cute::BlockWarpLoad::of(op),
            algorithms::verify_block_warp_load,
        ),
        cute::BLOCK_CLUSTER_SUM => with(
            cute::BlockClusterSum::of(op),
            algorithms::verify_block_cluster_sum,
        ),
        cute::COPY => algorithms::verify_copy(op),
        cute::COPY_IF => algorithms::verify_copy_if(op),
        cute::COPY_TILE => with(cute::CopyTile::of(op), algorithms::verify_copy_tile),
        cute::AUTOVEC_COPY | cute::BASIC_COPY => algorithms::verify_plain_copy(op),
        cute::COOPERATIVE_COPY => algorithms::verify_cooperative_copy(op),
        cute::PREFETCH => algorithms::verify_prefetch(op),
        cute::GEMM => algorithms::verify_gemm(op),
        cute::COOPERATIVE_GEMM => algorithms::verify_cooperative_gemm(op),
        cute::CLEAR => with(cute::Clear::of(op), algorithms::verify_clear),
        cute::FILL => with(cute::Fill::of(op), algorithms::verify_fill),
        cute::AXPBY => algorithms::verify_axpby(op),
        cute::TRANSFORM => with(cute::Transform::of(op), algorithms::verify_transform),
        cute::REDUCE => with(cute::Reduce::of(op), algorithms::verify_reduce),
        cute::CONVERT => with(cute::Convert::of(op), algorithms::verify_convert),
        cute::TILED_COPY_PARTITION_S | cute::TILED_COPY_PARTITION_D | cute::TILED_MMA_PARTITION => {
            partitions::verify_partition(op)
        }
        cute::CHECK_WARPS => with(cute::CheckWarps::of(op), partitions::verify_check_warps),
        cute::ATOM_LOAD => with(cute::AtomLoad::of(op), atoms::verify_atom_load),
        cute::ATOM_STORE => with(cute::AtomStore::of(op), atoms::verify_atom_store),
        cute::ATOM_COPY => with(cute::AtomCopy::of(op), atoms::verify_atom_copy),
        cute::ATOM_MOVE => with(cute::AtomMove::of(op), atoms::verify_atom_move),
        cute::ATOM_MMA => with(cute::AtomMma::of(op), atoms::verify_atom_mma),
        cute_nvgpu::ATOM_SET_VALUE => {
            with(cute_nvgpu::AtomSetValue::of(op), atoms::verify_set_value)
        }
        cute_nvgpu::ATOM_GET_VALUE => {
            with(cute_nvgpu::AtomGetValue::of(op), atoms::verify_get_value)
        }
        cute_nvgpu::MBARRIER_INIT
        | cute_nvgpu::MBARRIER_INVAL
        | cute_nvgpu::MBARRIER_ARRIVE
        | cute_nvgpu::MBARRIER_ARRIVE_AT
        | cute_nvgpu::MBARRIER_ARRIVE_AND_EXPECT_TX
        | cute_nvgpu::MBARRIER_EXPECT_TX
        | cute_nvgpu::MBARRIER_WAIT
        | cute_nvgpu::MBARRIER_TRY_WAIT
        | cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE => hopper::verify_barrier(op),
        cute_nvgpu::NAMED_BARRIERS => pipelines::verify_named_barriers(op),
        cute::WARP_SPECIALIZE => with(
            cute::WarpSpecialize::of(op),
            pipelines::verify_warp_specialize,
        ),
        cute_nvgpu::PIPELINE_CREATE => {
            with(cute_nvgpu::PipelineCreate::of(op), pipelines::verify_create)
        }
        cute_nvgpu::PIPELINE_PRODUCER_ACQUIRE
        | cute_nvgpu::PIPELINE_PRODUCER_COMMIT
        | cute_nvgpu::PIPELINE_CONSUMER_WAIT
        | cute_nvgpu::PIPELINE_CONSUMER_RELEASE
        | cute::PIPELINE_CREATE
        | cute::PIPELINE_PRODUCER_ACQUIRE
        | cute::PIPELINE_PRODUCER_COMMIT
        | cute::PIPELINE_PRODUCER_TAIL
        | cute::PIPELINE_CONSUMER_WAIT
        | cute::PIPELINE_CONSUMER_RELEASE => pipelines::verify_pipeline(op),
        cute_nvgpu::ARCH_MAP_DSMEM => {
            with(cute_nvgpu::ArchMapDsmem::of(op), hopper::verify_map_dsmem)
        }
        cute_nvgpu::ST_ASYNC => with(cute_nvgpu::StAsync::of(op), hopper::verify_st_async),
        cute_nvgpu::ATOM_MAKE_TMA_LOAD
        | cute_nvgpu::ATOM_MAKE_IM2COL_TMA_LOAD
        | cute_nvgpu::ATOM_MAKE_TMA_STORE => hopper::verify_make_tma(op),
        cute_nvgpu::TMA_LOAD => with(cute_nvgpu::TmaLoad::of(op), hopper::verify_tma_load),
        cute_nvgpu::TMA_PREFETCH => {
            with(cute_nvgpu::TmaPrefetch::of(op), hopper::verify_tma_prefetch)
        }
        cute_nvgpu::BULK_PREFETCH => with(
            cute_nvgpu::BulkPrefetch::of(op),
            hopper::verify_bulk_prefetch,
        ),
        cute_nvgpu::TMA_STORE => with(cute_nvgpu::TmaStore::of(op), hopper::verify_tma_store),
        cute_nvgpu::BULK_LOAD => with(cute_nvgpu::BulkLoad::of(op), hopper::verify_bulk_load),
        cute_nvgpu::BULK_STORE => with(cute_nvgpu::BulkStore::of(op), hopper::verify_bulk_store),
        cute_nvgpu::WGMMA_FENCE | cute_nvgpu::WGMMA_WAIT_GROUP => hopper::verify_accumulators(op),
        cute_nvgpu::MAKE_GMMA_SMEM_DESC => with(
            cute_nvgpu::MakeGmmaSmemDesc::of(op),
            hopper::verify_make_descriptor,
        ),
        cute_nvgpu::ARCH_GET_DYN_SMEM => with(
            cute_nvgpu::ArchGetDynSmem::of(op),
            hopper::verify_dynamic_shared,
        ),
        cute_nvgpu::ATOM_WGMMA => with(cute_nvgpu::AtomWgmma::of(op), hopper::verify_atom_wgmma),
        _ => Ok(()),
    };
    result.map_err(|message| {
        let notes = match name {
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

/// Verifies an op that has been told by its name.
fn with<H>(op: Option<H>, verify: impl FnOnce(H) -> Checked) -> Checked {
    verify(op.ok_or("is another op than its name says")?)
}

/// An operand as a tensor; diagnostics name its place.
fn tensor<'c>(place: usize, value: Val<'c>) -> Result<MemRef<'c>, String> {
    memref_of(value).ok_or_else(|| {
        format!(
            "expected a tensor as operand {place}, found {}",
            value.r#type()
        )
    })
}

/// Checks the spaces of a copy by the row of its atom.
fn check_spaces(atom: &CopyAtom, source: &MemRef, destination: &MemRef) -> Checked {
    let Some([from, to]) = atom.spaces else {
        return Ok(());
    };
    let expected = (from, to);
    let found = (source.space, destination.space);
    if found == expected {
        return Ok(());
    }
    Err(format!(
        "copies from {} to {} with an atom that copies from {} to {}; give it tensors there, or copy by another atom, such as \
         universal_copy, which copies between any two",
        found.0, found.1, expected.0, expected.1
    ))
}

/// Checks the type of a value by the one that is needed; where a number of one makes one of the other, it says by which op.
fn same(what: &str, found: Type, expected: Type) -> Checked {
    if found == expected {
        return Ok(());
    }
    let bits = |ty| Some((is_float(ty), crate::types::element_bits(ty)?));
    let cure = match (bits(found), bits(expected)) {
        (Some((true, from)), Some((true, to))) if from != to => {
            if from > to {
                "arith.truncf"
            } else {
                "arith.extf"
            }
        }
        (Some((false, from)), Some((false, to))) if from != to => {
            if from > to {
                "arith.trunci"
            } else {
                "arith.extsi or arith.extui"
            }
        }
        (Some((false, _)), Some((true, _))) => "arith.sitofp or arith.uitofp",
        (Some((true, _)), Some((false, _))) => "arith.fptosi or arith.fptoui",
        _ => "",
    };
    let cure = match cure {
        "" => String::new(),
        op => format!("; convert it by {op}"),
    };
    Err(format!(
        "expected {what} of type {expected}, found {found}{cure}"
    ))
}
