//! Products of warpgroups, and the parts in which their sums go out.

use super::{Partition, tiled_mma, wrong};
use crate::arch::{WARP, WARPGROUP};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute, cute_nvgpu},
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::{Layout, Operand, atoms::Issue, int, tuple};

impl<'c> Partition<'c> {
    /// C += A B, or C = A B, with B in shared memory, which all threads of a warpgroup see alike, and A there as well, or in registers where it is computed.
    pub(super) fn product_of_warpgroups(
        &self,
        b: Builder<'c>,
        factors: [Val<'c>; 2],
        (accumulators, overwrites): (Val<'c>, bool),
    ) -> Result<(), Failure> {
        let first = self.first_of_warpgroup()?;
        let mma = match overwrites {
            // The first step along K adds nothing to what the sums held.
            true => tiled_mma(
                self.top,
                self.plan.mma,
                &[self.top.constant(b.ty("i1")?, 0)?],
            )?,
            false => self.mma,
        };
        let mut operands = vec![mma, accumulators];
        for (id, shared) in factors.into_iter().enumerate() {
            let is_held = memref_of(shared).is_some_and(|factor| factor.space == Space::Rmem);
            if is_held {
                if id != 0 || self.factors.get(&key(shared)) != Some(&Operand::A) {
                    return Err(b.error("expected A and B in shared memory, where warpgroups multiply them, or A in registers where a cute.block.transform A computes it"));
                }
                if let Some(computed) = self.computed.get(&key(shared)) {
                    computed.write(b)?;
                }
                operands.push(self.fragment(b, shared)?);
                continue;
            }
            let id = [("operand_id", b.integer(b.i32_type(), id as i64))];
            operands.push(b.infer(cute::TILED_MMA_PARTITION, &[mma, shared, first], &id)?);
        }
        operands.push(accumulators);
        b.op(cute::GEMM, &operands, &[], &[])?;
        Ok(())
    }

    /// The first thread of this warpgroup, which its warps know to be the same for all of their threads. It is found once: the turns of a loop would ask the warp anew.
    fn first_of_warpgroup(&self) -> Result<Val<'c>, Failure> {
        let b = self.top;
        let i32_type = b.i32_type();
        let thread = b.infer(cute::GET_SCALARS, &[self.thread], &[])?;
        let warp = b.value(arith::DIVUI, &[thread, b.i32(WARP)?], i32_type, &[])?;
        let warp = b.value(cute_nvgpu::ARCH_MAKE_WARP_UNIFORM, &[warp], i32_type, &[])?;
        let group = b.value(
            arith::DIVUI,
            &[warp, b.i32(WARPGROUP / WARP)?],
            i32_type,
            &[],
        )?;
        let first = b.value(arith::MULI, &[group, b.i32(WARPGROUP)?], i32_type, &[])?;
        b.coord(&cute_layout::IntTuple::dynamic(), &[first])
    }

    /// The part of a thread's sums that a `cute.local_tile` of a register tile of the block takes: some columns of all rows.
    pub(super) fn part_of_registers(
        &self,
        op: Op<'c>,
        b: Builder<'c>,
    ) -> Result<Option<Val<'c>>, Failure> {
        let operands = operands_of(op);
        let (Some(tile), true) = (operands.first(), name_of(op) == cute::LOCAL_TILE) else {
            return Ok(None);
        };
        if !memref_of(*tile).is_some_and(|memref| memref.space == Space::Rmem) {
            return Ok(None);
        }
        let sums = self.fragment(b, *tile)?;
        let memref = memref_of(sums).expected(b, "a fragment")?;
        let parts = self.plan.parts(Operand::C);
        // Of each atom's values ((2,2,N/8)) so many eights of columns are of a part.
        let layout = parts_of(&memref.layout, parts).map_err(wrong(b))?;
        let start = b.infer(cute::GET_ITER, &[sums], &[])?;
        let value = b.static_value(types::layout_type(b.context, &layout))?;
        let ty = MemRef {
            layout: layout.clone(),
            ..memref
        }
        .to_type(b.location)?;
        let all = b.value(cute::MAKE_VIEW, &[start, value], ty, &[])?;
        let coord = operands
            .get(2)
            .copied()
            .expected(b, "the place of a part")?;
        let made = defining_op(coord).filter(|op| name_of(*op) == cute::MAKE_COORD);
        let leaves = made.map(operands_of).unwrap_or_default();
        let [part] = leaves[..] else {
            return Err(b.error("expected the place of a part made by cute.make_coord of one number, that of its columns"));
        };
        let keep = cute_layout::IntTuple::underscore;
        let coord = tuple([keep(), keep(), keep(), cute_layout::IntTuple::dynamic()]);
        let coord = b.coord(&coord, &[part])?;
        Ok(Some(b.infer(cute::SLICE, &[all, coord], &[])?))
    }

    /// Adds a thread's sums and those of the same thread of other blocks of the cluster.
    pub(super) fn cluster_sum(
        &self,
        b: Builder<'c>,
        sum: cute::BlockClusterSum<'c>,
    ) -> Result<(), Failure> {
        let sums = self.fragment(b, sum.sums())?;
        let thread = b.infer(cute::GET_SCALARS, &[self.thread], &[])?;
        let keep = cute_layout::IntTuple::underscore;
        let own = tuple([keep(), cute_layout::IntTuple::dynamic(), keep()]);
        let own = b.coord(&own, &[thread])?;
        let own = b.infer(cute::SLICE, &[sum.exchange(), own], &[])?;
        b.op(cute::BLOCK_CLUSTER_SUM, &[sums, own, sum.turn()], &[], &[])?;
        Ok(())
    }

    /// Copies a part of C from registers into shared memory, as the product deals it out.
    pub(super) fn gather(
        &self,
        b: Builder<'c>,
        part: Val<'c>,
        shared: Val<'c>,
    ) -> Result<(), Failure> {
        let into = self.plan.path(Operand::C).first();
        let into = into.expected(b, "a movement of C")?.row();
        if into.map_err(wrong(b))?.issue != Issue::Thread {
            let tiled = self.tiled_copy(b, Operand::C, 0)?;
            let from = b.infer(cute::TILED_COPY_RETILE, &[tiled, part], &[])?;
            let to = [tiled, shared, self.thread];
            let to = b.infer(cute::TILED_COPY_PARTITION_D, &to, &[])?;
            b.copy(&[tiled, from, to])?;
            return Ok(());
        }
        let ty = self.plan.part_mma(b.location).map_err(wrong(b))?;
        let mma = tiled_mma(self.top, ty, &[])?;
        let to = self.part_of(b, Operand::C, mma, shared)?;
        b.op(cute::AUTOVEC_COPY, &[part, to], &[], &[])?;
        Ok(())
    }
}

/// The layout of a thread's sums with a mode for parts of their columns behind the others.
fn parts_of(layout: &Layout, parts: i64) -> Result<Layout, String> {
    let wrong = |e: cute_layout::LayoutError| e.to_string();
    let mut modes = layout.modes();
    let values = modes
        .first()
        .ok_or("expected the values of an atom")?
        .modes();
    let [pair, rows, eights] = &values[..] else {
        return Err(format!(
            "expected values of pairs, rows and columns, found {layout}"
        ));
    };
    let (count, stride) = (
        eights.size().map_err(wrong)?,
        eights
            .stride()
            .static_leaves()
            .and_then(|all| all.first().copied()),
    );
    let stride = stride.ok_or("expected known strides")?;
    if parts < 1 || count % parts != 0 {
        return Err(format!("expected {parts} parts of columns, found {layout}"));
    }
    let own = count / parts;
    let eights = Layout::new(int(own), int(stride)).map_err(wrong)?;
    modes[0] = Layout::from_modes(&[pair.clone(), rows.clone(), eights]).map_err(wrong)?;
    modes.push(Layout::new(int(parts), int(stride * own)).map_err(wrong)?);
    Layout::from_modes(&modes).map_err(wrong)
}
