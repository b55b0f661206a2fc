//! `cute-lower-algorithms`: what one thread does with tensors, in terms of few ops.
//!
//! The ops that are left are `cute.copy` on `((V,R),...)` by an atom or a tiled copy, the values in memory order, `cute.gemm` of
//! fragments, `cute.clear` of registers, `cute.convert`, `cute.prefetch` of one request, and single elements and vectors of
//! registers (`memref.load`, `memref.load_vec`, ...). Copies and prefetches are in `copies.rs`, products in `products.rs`, elementwise
//! ops in `elementwise.rs`, what several threads do together in `cooperative.rs`, tiles within bounds in `tile.rs`, tiles of TMA and
//! products of warpgroups in `hopper.rs`, and reductions over them in `reductions.rs`. What a layout allows is decided in
//! `cute_ir::algorithm`.

mod cooperative;
mod copies;
mod elementwise;
mod hopper;
mod products;
mod reductions;
mod tile;

pub(crate) use hopper::{Arrival, Rest, start_load};

pub(crate) use reductions::operation;

use crate::arch::WIDEST;
use cute_arith::Predicate;
use cute_ir::ops::{cute, cute_nvgpu, gpu, scf};
use cute_ir::{
    Anchor, Failure, PassSpec,
    args::{
        AxpbyArgs, CooperativeCopyArgs, CooperativeGemmArgs, CopyArgs, GemmArgs, PlainCopyArgs,
        PrefetchArgs,
    },
    mlir::*,
    tensor,
    types::memref_of,
    types::{self, CopyOp, CuteType, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Tile, int, tuple};
use melior::ir::{Type, ValueLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-lower-algorithms",
    description: "Lower algorithms on one thread's tensors to copies, products and elements",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    crate::usage::check(kernel);
    // What is within a region before what the region is of.
    for op in nested_ops(kernel).into_iter().rev() {
        if lower(
            op,
            Lower {
                b: Builder::before(op),
            },
        )? {
            rewriter.erase(op)?;
        }
    }
    Ok(())
}

/// Puts others in place of `op`; false where it stays.
fn lower<'c>(op: Op<'c>, l: Lower<'c>) -> Result<bool, Failure> {
    if let Some(args) = CopyArgs::of(op) {
        match args {
            CopyArgs::Thread(copy) if name_of(op) == cute::COPY => l.copy(copy),
            CopyArgs::Thread(copy) => {
                if !l.copy(copy)? {
                    l.b.copy(&copy.operands())?;
                }
                Ok(true)
            }
            CopyArgs::Elements {
                predicate,
                source,
                destination,
            } => l.copy_elements(source, destination, Some(predicate)),
        }
    } else if let Some(copy) = cute::CopyTile::of(op) {
        l.copy_tile(copy)
    } else if let Some(copy) = PlainCopyArgs::of(op) {
        if name_of(op) == cute::BASIC_COPY {
            return l.copy_elements(copy.source, copy.destination, None);
        }
        let most = integer_of(op, "max_vec_bits").unwrap_or(WIDEST);
        l.copy_vectors(copy.source, copy.destination, most)?;
        Ok(true)
    } else if let Some(args) = PrefetchArgs::of(op) {
        l.prefetch(op, args)
    } else if let Some(args) = GemmArgs::of(op) {
        l.gemm(args)
    } else if let Some(clear) = cute::Clear::of(op) {
        l.clear(clear.tensor())
    } else if let Some(fill) = cute::Fill::of(op) {
        l.fill(fill.tensor(), fill.value())
    } else if let Some(args) = AxpbyArgs::of(op) {
        l.axpby(args)
    } else if let Some(transform) = cute::Transform::of(op) {
        l.transform(transform)
    } else if let Some(reduce) = cute::Reduce::of(op) {
        l.reduce(reduce)
    } else if let Some(args) = CooperativeCopyArgs::of(op) {
        l.cooperative_copy(op, args)
    } else if let Some(args) = CooperativeGemmArgs::of(op) {
        l.cooperative_gemm(op, args)
    } else if let Some(load) = cute_nvgpu::TmaLoad::of(op) {
        l.tma_load(load)
    } else if let Some(store) = cute_nvgpu::TmaStore::of(op) {
        l.tma_store(store)
    } else if let Some(prefetch) = cute_nvgpu::TmaPrefetch::of(op) {
        l.tma_prefetch(prefetch)
    } else if let Some(reduce) = gpu::SubgroupReduce::of(op) {
        l.subgroup_reduce(reduce)
    } else if let Some(reduce) = gpu::AllReduce::of(op) {
        l.all_reduce(reduce)
    } else {
        Ok(false)
    }
}

/// Elements, requests or steps of a thread that are written out one by one: far more than a thread has registers for.
const MOST: i64 = 1 << 12;

/// The place where ops are put instead of one.
#[derive(Clone, Copy)]
struct Lower<'c> {
    b: Builder<'c>,
}

impl<'c> Lower<'c> {
    fn wrong<E: ToString>(&self) -> impl Fn(E) -> Failure {
        let b = self.b;
        move |error| b.error(error.to_string())
    }

    /// Checks that so many of `what` can be written out one by one.
    fn check_count(&self, what: &str, count: i64, layout: &Layout) -> Result<(), Failure> {
        if count <= MOST {
            return Ok(());
        }
        Err(self.b.error(format!(
            "expected a thread's tensor of at most {MOST} {what}, found {count} in {layout}; partition it over threads"
        )))
    }

    fn memref(&self, value: Val<'c>) -> Result<MemRef<'c>, Failure> {
        memref_of(value).ok_or_else(|| self.b.error("expected a tensor in memory or registers"))
    }

    /// The tensor's elements in another order.
    fn ordered(&self, tensor: Val<'c>, order: &Layout) -> Result<Val<'c>, Failure> {
        let order = types::layout_type(self.b.context, order);
        let order = self.b.static_value(order)?;
        self.b.infer(cute::COMPOSITION, &[tensor, order], &[])
    }

    fn divided(&self, tensor: Val<'c>, tile: Tile) -> Result<Val<'c>, Failure> {
        let tile = self
            .b
            .static_value(types::tile_type(self.b.context, &tile))?;
        self.b.infer(cute::LOGICAL_DIVIDE, &[tensor, tile], &[])
    }

    /// The part of a tensor at a coordinate whose dynamic leaves are these.
    fn slice(
        &self,
        tensor: Val<'c>,
        coord: &IntTuple,
        leaves: &[Val<'c>],
    ) -> Result<Val<'c>, Failure> {
        let coord = self.coord(coord, leaves)?;
        self.b.infer(cute::SLICE, &[tensor, coord], &[])
    }

    fn coord(&self, coord: &IntTuple, leaves: &[Val<'c>]) -> Result<Val<'c>, Failure> {
        if coord.is_static() || leaves.is_empty() {
            return self
                .b
                .static_value(types::coord_type(self.b.context, coord));
        }
        self.b.coord(coord, leaves)
    }

    /// The part of a tensor of `rank` modes at `index` of the last one.
    fn at_last(&self, tensor: Val<'c>, rank: usize, index: i64) -> Result<Val<'c>, Failure> {
        let all = std::iter::repeat_n(IntTuple::underscore(), rank - 1);
        self.slice(tensor, &tuple(all.chain([int(index)])), &[])
    }

    /// Registers of that shape, the first mode the fastest.
    fn registers(&self, element: Type<'c>, shape: &IntTuple) -> Result<Val<'c>, Failure> {
        let layout = Layout::col_major(shape).map_err(self.wrong())?;
        let memref = tensor::registers(types::register_type(element), layout);
        let ty = memref.to_type(self.b.location)?;
        self.b.value(cute::MEMREF_ALLOCA, &[], ty, &[])
    }

    /// `tensor` itself where it is in registers, and registers that hold what it holds where it is not.
    fn loaded(&self, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let memref = self.memref(tensor)?;
        if memref.space == Space::Rmem {
            return Ok(tensor);
        }
        let registers = self.registers(memref.element, memref.layout.shape())?;
        self.copy_vectors(tensor, registers, WIDEST)?;
        Ok(registers)
    }

    /// The atom that copies `bits` bits of elements of that type.
    fn universal(&self, element: Type<'c>, bits: i64) -> Result<Val<'c>, Failure> {
        let ty = types::copy_atom_type(self.b.location, element, CopyOp::Universal { bits })?;
        self.b.value(cute::MAKE_ATOM, &[], ty, &[])
    }

    /// The integer of a thread's index.
    fn thread(&self, index: Val<'c>) -> Result<Val<'c>, Failure> {
        let Some(CuteType::Coord(coord)) = CuteType::of(index.r#type()) else {
            return Ok(index);
        };
        if let Some(index) = coord.as_static() {
            return self.b.i32(index);
        }
        if let Some(made) = defining_op(index).and_then(cute::MakeCoord::of)
            && let [index] = made.leaves()[..]
        {
            return Ok(index);
        }
        self.b
            .value(cute::GET_SCALARS, &[index], self.b.i32_type(), &[])
    }

    /// Makes what `build` makes, where a thread's index is below `bound`.
    fn if_below(
        &self,
        index: Val<'c>,
        bound: i64,
        build: impl FnOnce(Lower<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let b = self.b;
        let bound = b.i32(bound)?;
        let below = b.compare(Predicate::Slt, index, bound)?;
        let (region, block) = Detached::with_block(&[]);
        let inner = Builder::at_end(b.context, block, b.location);
        let regions = vec![region, Detached::empty()];
        b.with_regions(scf::IF, &[below], &[], &[], regions)?;
        build(Lower { b: inner })?;
        inner.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }
}
