//! Sums of blocks of a cluster that share a tile: each block sends its sums of the columns that are another one's, and adds those that it gets to its own.
//!
//! Thread i of one block has the same elements as thread i of another. So each thread sends to itself in the other blocks, by stores that an mbarrier there counts the
//! bytes of, and there is no other order between threads than that of the mbarrier's phases. A second mbarrier tells those who send that what they sent before was read.

use super::{Who, emit::Emit};
use crate::arch::WARP;
use crate::mbarriers::{alone, expect, mbarriers};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, nvvm};
use cute_ir::{
    Expected, Failure, diag,
    hopper::{self, SENT_AT_ONCE},
    mlir::*,
    tensor,
    types::{self, MemRef, memref_of},
};
use cute_layout::{IntTuple, Layout, int, tuple};
use melior::ir::{ValueLike, operation::OperationLike};

/// The mbarriers of blocks that share tiles.
#[derive(Clone, Copy)]
pub(super) struct Exchange<'c> {
    /// The mbarrier at which sums of other blocks arrive.
    full: Val<'c>,
    /// The mbarrier at which other blocks say that they have read what this one sent.
    empty: Val<'c>,
    /// Blocks of the cluster.
    blocks: i64,
    /// Threads that compute.
    threads: i64,
}

impl<'c> Exchange<'c> {
    /// Makes the mbarriers of a kernel whose blocks share tiles; none of another kernel. Errors: sums that not all blocks of a cluster share.
    pub(super) fn allocate(
        kernel: Op<'c>,
        b: Builder<'c>,
        (blocks, threads): (i64, i64),
    ) -> Result<Option<Self>, Failure> {
        let mut all = nested_ops(kernel)
            .into_iter()
            .filter_map(cute::BlockClusterSum::of);
        let Some(sum) = all.next() else {
            return Ok(None);
        };
        let wrong = |op: Op<'c>, message: String| Err(diag::error(op.location(), message));
        if let Some(other) = all.next() {
            let message = "is a second sum over the blocks of a cluster; expected one in a kernel";
            return wrong(other.op(), message.to_owned());
        }
        let exchange = memref_of(sum.exchange()).expected(sum.op(), "a tensor")?;
        let others = exchange.layout.mode(1).and_then(|mode| mode.size());
        let others = others.map_err(|e| b.error(e.to_string()))?;
        if others + 1 != blocks {
            return wrong(
                sum.op(),
                format!(
                    "expected room for the sums of {} other blocks of the cluster, found {others}",
                    blocks - 1
                ),
            );
        }
        Ok(Some(Self {
            full: mbarriers(b, 1)?,
            empty: mbarriers(b, 1)?,
            blocks,
            threads,
        }))
    }

    /// Makes the mbarriers ready: one arrival and the bytes end a phase of the first, one of each warp of each other block a phase of the second.
    pub(super) fn init(self, b: Builder<'c>) -> Result<(), Failure> {
        let zero = b.i32(0)?;
        let arrivals = (self.blocks - 1) * (self.threads / WARP);
        for (barrier, count) in [(self.full, 1), (self.empty, arrivals)] {
            let operands = [barrier, zero, b.i32(count)?];
            b.op(cute_nvgpu::MBARRIER_INIT, &operands, &[], &[])?;
        }
        Ok(())
    }
}

/// A view of registers or of a thread's room in shared memory: the chunk of a share, or of what another block sent.
fn chunk<'c>(
    b: Builder<'c>,
    view: Val<'c>,
    chunk: i64,
    (known, leaf): (IntTuple, &[Val<'c>]),
) -> Result<Val<'c>, Failure> {
    let values = tuple([IntTuple::underscore(), int(chunk)]);
    let at = b.coord(&tuple([values, known]), leaf)?;
    b.infer(cute::SLICE, &[view, at], &[])
}

/// A tensor in shared memory as it is in a block of the cluster.
fn mapped<'c>(b: Builder<'c>, tensor: Val<'c>, block: Val<'c>) -> Result<Val<'c>, Failure> {
    let memref = memref_of(tensor).expected(b, "a tensor")?;
    let there = hopper::mapped(&memref).map_err(|e| b.error(e))?;
    let ty = there.to_type(b.location)?;
    b.value(cute_nvgpu::ARCH_MAP_DSMEM, &[tensor, block], ty, &[])
}

impl<'c> Emit<'_, 'c> {
    /// Writes the sum over the blocks of a cluster.
    pub(super) fn cluster_sum(
        &mut self,
        sum: cute::BlockClusterSum<'c>,
        b: Builder<'c>,
    ) -> Result<(), Failure> {
        let exchange = self.who.exchange.expected(b, "mbarriers of the cluster")?;
        let Exchange {
            full,
            empty,
            blocks,
            ..
        } = exchange;
        let [sums, room, turn] =
            [sum.sums(), sum.exchange(), sum.turn()].map(|value| self.mapped(value));
        let i32_type = b.i32_type();
        let of_thread = memref_of(room).expected(b, "a tensor")?;
        let values = of_thread.layout.mode(0).and_then(|mode| mode.size());
        let values = values.map_err(|e| b.error(e.to_string()))?;
        let view = shares_of(b, sums, (values, blocks))?;
        let chunks = values / SENT_AT_ONCE;
        let rank = b.value(nvvm::READ_PTX_SREG_CLUSTER_CTARANK, &[], i32_type, &[])?;
        let (zero, one) = (b.i32(0)?, b.i32(1)?);
        let bytes = (blocks - 1) * values * exchange.threads * of_thread.element_bytes();
        let parity = b.value(arith::ANDI, &[turn, one], i32_type, &[])?;
        // Of a new mbarrier the phase before the first is over.
        let before = b.value(arith::XORI, &[parity, one], i32_type, &[])?;
        b.op(cute_nvgpu::MBARRIER_WAIT, &[empty, zero, before], &[], &[])?;
        alone(b, self.who.is_first, |b| {
            expect(b, [full, zero], b.i32(bytes)?)
        })?;
        // Which share is whose is known, so that it is known which registers are sent; not which of them is this block's.
        for other in 0..blocks {
            let is_other = b.compare(Predicate::Ne, rank, b.i32(other)?)?;
            alone(b, is_other, |b| {
                // A block has no room for its own: those behind it move up.
                let block = b.i32(other)?;
                let is_behind = b.compare(Predicate::Sgt, rank, block)?;
                let moved = b.value(arith::EXTUI, &[is_behind], i32_type, &[])?;
                let place = b.value(arith::SUBI, &[rank, moved], i32_type, &[])?;
                let there = mapped(b, room, block)?;
                let arrives = mapped(b, full, block)?;
                for at in 0..chunks {
                    let from = chunk(b, view, at, (int(other), &[]))?;
                    let vector = b.infer(cute::MEMREF_LOAD_VEC, &[from], &[])?;
                    let to = chunk(b, there, at, (IntTuple::dynamic(), &[place]))?;
                    let operands = [vector, to, arrives, zero];
                    b.op(cute_nvgpu::ST_ASYNC, &operands, &[], &[])?;
                }
                Ok(())
            })?;
        }
        b.op(cute_nvgpu::MBARRIER_WAIT, &[full, zero, parity], &[], &[])?;
        for own in 0..blocks {
            let is_own = b.compare(Predicate::Eq, rank, b.i32(own)?)?;
            alone(b, is_own, |b| {
                for place in 0..blocks - 1 {
                    add(b, (view, own), (room, place), chunks)?;
                }
                Ok(())
            })?;
        }
        // All threads of the warp have read: each of its first ones tells a block.
        b.op(nvvm::BAR_WARP_SYNC, &[b.i32(-1)?], &[], &[])?;
        let Who { lane, .. } = self.who;
        let tells = b.compare(Predicate::Ult, lane, b.i32(blocks)?)?;
        let is_other = b.compare(Predicate::Ne, lane, rank)?;
        let tells = b.value(arith::ANDI, &[tells, is_other], tells.r#type(), &[])?;
        // A block that there is even where nothing is told: LLVM computes its address ahead of the branch.
        let last = b.i32(blocks - 1)?;
        let told = b.value(arith::MINUI, &[lane, last], i32_type, &[])?;
        alone(b, tells, |b| {
            let operands = [empty, zero, told];
            b.op(cute_nvgpu::MBARRIER_ARRIVE_AT, &operands, &[], &[])?;
            Ok(())
        })?;
        Ok(())
    }
}

/// A thread's sums as a tensor of values, four at a time, and of shares of the blocks of a cluster, of so many values each: some columns of every atom along M.
fn shares_of<'c>(
    b: Builder<'c>,
    sums: Val<'c>,
    (values, blocks): (i64, i64),
) -> Result<Val<'c>, Failure> {
    let wrong = |e: cute_layout::LayoutError| b.error(e.to_string());
    let memref = memref_of(sums).expected(b, "sums in registers")?;
    let atom = memref.layout.mode(0).map_err(wrong)?;
    let (size, of_atom) = (
        memref.layout.size().map_err(wrong)?,
        atom.size().map_err(wrong)?,
    );
    let has_gaps =
        memref.layout.cosize().map_err(wrong)? != size || atom.cosize().map_err(wrong)? != of_atom;
    let each = of_atom / blocks;
    if has_gaps || each % SENT_AT_ONCE != 0 || each * blocks != of_atom || size != values * blocks {
        return Err(b.error(format!(
            "expected sums in registers without gaps, {values} for each of {blocks} blocks, found {}",
            memref.layout
        )));
    }
    let chunks = [int(each / SENT_AT_ONCE), int(size / of_atom)];
    let shape = tuple([tuple([int(SENT_AT_ONCE), tuple(chunks)]), int(blocks)]);
    let apart = tuple([int(SENT_AT_ONCE), int(of_atom)]);
    let stride = tuple([tuple([int(1), apart]), int(each)]);
    let layout = Layout::new(shape, stride).map_err(wrong)?;
    let start = b.infer(cute::GET_ITER, &[sums], &[])?;
    let of_type = b.static_value(types::layout_type(b.context, &layout))?;
    let ty = MemRef { layout, ..memref }.to_type(b.location)?;
    b.value(cute::MAKE_VIEW, &[start, of_type], ty, &[])
}

/// Adds what a block has sent to a thread's own share.
fn add<'c>(
    b: Builder<'c>,
    (view, own): (Val<'c>, i64),
    (room, place): (Val<'c>, i64),
    chunks: i64,
) -> Result<(), Failure> {
    for at in 0..chunks {
        let sent = chunk(b, room, at, (int(place), &[]))?;
        let memref = memref_of(sent).expected(b, "a tensor")?;
        let registers = tensor::registers(memref.element, memref.layout.clone());
        let registers = registers.to_type(b.location)?;
        let registers = b.value(cute::MEMREF_ALLOCA, &[], registers, &[])?;
        b.op(cute::AUTOVEC_COPY, &[sent, registers], &[], &[])?;
        let sums = chunk(b, view, at, (int(own), &[]))?;
        let one = b.infer(cute::MEMREF_LOAD_VEC, &[sums], &[])?;
        let other = b.infer(cute::MEMREF_LOAD_VEC, &[registers], &[])?;
        let name = match is_float(memref.element) {
            true => arith::ADDF,
            false => arith::ADDI,
        };
        let both = b.value(name, &[one, other], one.r#type(), &[])?;
        b.op(cute::MEMREF_STORE_VEC, &[both, sums], &[], &[])?;
    }
    Ok(())
}
