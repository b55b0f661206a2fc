//! `cute-lower-algorithms`: what one thread does with tensors, in terms of few ops.
//!
//! What is left is `cute.copy` on `((V,R),...)` by an atom or a tiled copy, the values in memory order, `cute.gemm` of
//! fragments, `cute.clear` of registers, `cute.convert`, `cute.prefetch` of one request, and single elements and vectors of
//! registers (`memref.load`, `memref.load_vec`, ...). Copies and prefetches are in `copies.rs`, products in `products.rs`, elementwise
//! ops in `elementwise.rs`, what several threads do together in `cooperative.rs`, and reductions over them in `reductions.rs`. What a layout allows is decided in
//! `cute_ir::algorithm`.

mod cooperative;
mod copies;
mod elementwise;
mod products;
mod reductions;

use crate::partition::kernels;
use cute_ir::ops::{arith, cute, gpu, scf};
use cute_ir::{
    Failure, PassSpec,
    infer::memref_of,
    mlir::*,
    tensor,
    types::{self, CopyOp, CuteType, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Tile, int, tuple};
use melior::ir::{Type, ValueLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-lower-algorithms",
    description: "Lower algorithms on one thread's tensors to copies, products and elements",
    anchor: "builtin.module",
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
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
    }
    Ok(())
}

/// Puts others in place of `op`; false where it stays.
fn lower<'c>(op: Op<'c>, l: Lower<'c>) -> Result<bool, Failure> {
    let operands = operands_of(op);
    match (name_of(op), operands.len()) {
        (cute::COPY, 3 | 4) => l.copy(
            operands[0],
            operands[1],
            operands[2],
            operands.get(3).copied(),
        ),
        (cute::COPY_IF, 4) => {
            let [atom, pred, source, destination] =
                [operands[0], operands[1], operands[2], operands[3]];
            if !l.copy(atom, source, destination, Some(pred))? {
                let all = [atom, source, destination, pred];
                l.b.copy(&all)?;
            }
            Ok(true)
        }
        (cute::COPY_IF, 3) => l.copy_elements(operands[1], operands[2], Some(operands[0])),
        (cute::BASIC_COPY, 2) => l.copy_elements(operands[0], operands[1], None),
        (cute::AUTOVEC_COPY, 2) => {
            let most = integer_of(op, "max_vec_bits").unwrap_or(WIDEST);
            l.copy_vectors(operands[0], operands[1], most)?;
            Ok(true)
        }
        (cute::PREFETCH, 1 | 2) => l.prefetch(op, operands[operands.len() - 1]),
        (cute::GEMM, 4 | 5) => l.gemm(&operands),
        (cute::CLEAR, 1) => l.clear(operands[0]),
        (cute::FILL, 2) => l.fill(operands[0], operands[1]),
        (cute::AXPBY, 4 | 5) => l.axpby(&operands),
        (cute::TRANSFORM, _) => l.transform(op, &operands),
        (cute::REDUCE, 2) => l.reduce(op, operands[0], operands[1]),
        (cute::COOPERATIVE_COPY, 3) => l.cooperative_copy(op, &operands),
        (cute::COOPERATIVE_GEMM, 5 | 7) => l.cooperative_gemm(op, &operands),
        (gpu::SUBGROUP_REDUCE, 1) => l.subgroup_reduce(op, operands[0]),
        (gpu::ALL_REDUCE, 1) => l.all_reduce(op, operands[0]),
        _ => Ok(false),
    }
}

/// Bits of the widest load and store.
const WIDEST: i64 = 128;

/// Elements, requests or steps of a thread that are written out one by one: far more than a thread has registers for.
const MOST: i64 = 1 << 12;

/// Where ops are put in place of one.
#[derive(Clone, Copy)]
struct Lower<'c> {
    b: Builder<'c>,
}

impl<'c> Lower<'c> {
    fn wrong<E: ToString>(&self) -> impl Fn(E) -> Failure {
        let b = self.b;
        move |error| b.error(error.to_string())
    }

    /// Whether so many of `what` can be written out one by one.
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
        if let Some(made) = defining_op(index).filter(|op| name_of(*op) == cute::MAKE_COORD)
            && let [index] = operands_of(made)[..]
        {
            return Ok(index);
        }
        self.b
            .op(cute::GET_SCALARS, &[index], &[self.b.i32_type()], &[])
            .map(|op| result_of(op, 0))
    }

    /// What `build` makes, where a thread's index is below `bound`.
    fn if_below(
        &self,
        index: Val<'c>,
        bound: i64,
        build: impl FnOnce(Lower<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let b = self.b;
        let bound = b.i32(bound)?;
        // `slt`, as arith.cmpi numbers it.
        let below = [("predicate", b.i64_attribute(2))];
        let below = b.value(arith::CMPI, &[index, bound], b.ty("i1")?, &below)?;
        let (region, block) = Detached::with_block(&[]);
        let inner = Builder::at_end(b.context, block, b.location);
        let regions = vec![region, Detached::empty()];
        b.with_regions(scf::IF, &[below], &[], &[], regions)?;
        build(Lower { b: inner })?;
        inner.op(scf::YIELD, &[], &[], &[])?;
        Ok(())
    }
}
