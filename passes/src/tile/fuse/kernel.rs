//! The kernel of a fused map: which rows and columns a block computes.

use super::{Fuse, Whole};
use crate::{
    arch::WARP,
    fused::{COLUMNS, INNER, OUTER, ROWS},
    tile::{
        function::Kernel,
        leaves::{leaves_of, places_of, with_layout},
    },
};
use cute_ir::{
    Expected, Failure,
    attributes::PLAN,
    maps::modes_of,
    mlir::*,
    ops::{arith, cute, gpu},
};
use cute_layout::{Dyn, IntTuple, Leaf, int, tuple};
use melior::ir::ValueLike;

/// The place of the batch among a layout's modes.
pub(super) const BATCH: usize = OUTER + 1;

impl<'c> Fuse<'c> {
    /// Writes the kernel.
    pub(super) fn kernel(&self, place: Builder<'c>, name: &str) -> Result<(), Failure> {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.r#type()).collect();
        let counted = self.counted_by_launch();
        arguments.extend(counted.iter().map(|_| place.i32_type()));
        let kernel = Kernel {
            name,
            arguments,
            threads: self.choice.warps * WARP,
            blocks: self.known_blocks(),
            attributes: Vec::new(),
        };
        kernel.write(place, |b, body| self.body(b, body))
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>) -> Result<(), Failure> {
        let word = b.i32_type();
        let dimension = [("dimension", b.attribute("#gpu<dim x>")?)];
        let block = b.value(gpu::BLOCK_ID, &[], b.index_type(), &dimension)?;
        let mut block = b.value(arith::INDEX_CAST, &[block], word, &[])?;
        let tiles = |axis: usize| match self.known_tiles(axis) {
            Some(known) => b.i32(known),
            None => {
                let counted = self.counted_by_launch();
                let place = counted.iter().position(|other| *other == axis);
                let place = place.expected(b, "an axis that the launch counts")?;
                Ok(argument(body, self.arguments.len() + place))
            }
        };
        // Neighbouring blocks are neighbours along columns, and then along rows.
        let mut column = None;
        if self.known_tiles(COLUMNS) != Some(1) {
            let parts = tiles(COLUMNS)?;
            let part = b.value(arith::REMUI, &[block, parts], word, &[])?;
            block = b.value(arith::DIVUI, &[block, parts], word, &[])?;
            let each = b.i32(self.choice.columns)?;
            column = Some(b.value(arith::MULI, &[part, each], word, &[])?);
        }
        let mut part = None;
        if self.is_batched() {
            let rows = tiles(ROWS)?;
            part = Some(b.value(arith::DIVUI, &[block, rows], word, &[])?);
            block = b.value(arith::REMUI, &[block, rows], word, &[])?;
        }
        let each = b.i32(self.choice.rows)?;
        let row = b.value(arith::MULI, &[block, each], word, &[])?;
        let multiple = |of: i64| {
            IntTuple::Leaf(Leaf::Dynamic(Dyn {
                div: of,
                ..Dyn::I32
            }))
        };
        let first = tuple([
            multiple(self.choice.rows),
            column.map_or(int(0), |_| multiple(self.choice.columns)),
        ]);
        let leaves: Vec<_> = std::iter::once(row).chain(column).collect();
        let at = b.coord(&first, &leaves)?;
        let mut tensors = Vec::new();
        for whole in &self.tensors {
            let tensor = argument(body, whole.argument);
            let mut tensor = if whole.layout.is_static() {
                with_layout(b, tensor, &whole.layout, [&[], &[]])?
            } else {
                let [shape, stride] = whole.open_leaves(b, tensor, &self.modes)?;
                with_layout(b, tensor, &whole.layout, [&shape, &stride])?
            };
            if let Some(part) = part {
                let keep = IntTuple::underscore;
                let coord = tuple([keep(), keep(), keep(), keep(), IntTuple::dynamic()]);
                let coord = b.coord(&coord, &[part])?;
                tensor = b.infer(cute::SLICE, &[tensor, coord], &[])?;
            }
            tensors.push(tensor);
        }
        let outputs = i32::try_from(tensors.len() - self.inputs).unwrap_or(0);
        let inputs = i32::try_from(self.inputs).unwrap_or(0);
        let operands = [tensors, vec![at]].concat();
        let mut attributes = vec![("operandSegmentSizes", b.i32_array(&[inputs, outputs, 1]))];
        if self.choice.held {
            attributes.push(("held", b.unit()));
        }
        let (region, inner) = Detached::with_block(&self.region.arguments());
        b.with_regions(cute::BLOCK_FUSE, &operands, &[], &attributes, vec![region])?;
        let l = Builder::at_end(b.context, inner, b.location);
        let elements = arguments_of(inner);
        let computed = self
            .region
            .compute(l, &elements, |place| argument(body, place))?;
        l.op(cute::YIELD, &computed, &[], &[])?;
        // Modes by their names in a block, and how products are multiplied.
        let names = self.roles.names(self.rank());
        let mut plans = self.choice.plans.iter();
        for op in ops_of(inner) {
            let Some(reduce) = cute::AllReduce::of(op) else {
                continue;
            };
            let along: Option<Vec<i64>> = modes_of(&reduce)
                .into_iter()
                .map(|mode| Some(names.get(usize::try_from(mode).ok()?).copied().flatten()? as i64))
                .collect();
            let along = along.expected(op, "a mode of a block")?;
            set_attribute(op, "along", l.i64_array(&along));
            if let Some(plan) = plans.next().expected(op, "a plan or none")? {
                set_attribute(op, PLAN, plan.attribute(l.location)?);
            }
        }
        Ok(())
    }

    /// The modes of the tensors.
    pub(super) fn rank(&self) -> usize {
        let first = self.tensors.first();
        first.map_or(0, |whole| whole.memref.layout.rank())
    }

    /// Tiles along rows, columns or parts of the batch, where they are known.
    pub(super) fn known_tiles(&self, axis: usize) -> Option<i64> {
        let tile = match axis {
            ROWS => self.choice.rows,
            COLUMNS if self.reduces => return Some(1),
            COLUMNS => self.choice.columns,
            INNER | OUTER => return Some(1),
            _ => 1,
        };
        let extent = self.known(axis)?;
        Some(extent / tile + i64::from(extent % tile != 0))
    }

    /// The axes whose tiles only a launch can count and a kernel needs: its arguments behind the tensors.
    pub(super) fn counted_by_launch(&self) -> Vec<usize> {
        let needed = [COLUMNS, ROWS]
            .into_iter()
            .take(1 + usize::from(self.is_batched()));
        let open = needed.filter(|axis| self.known_tiles(*axis).is_none());
        open.collect()
    }

    /// The blocks of the grid, where they are known.
    pub(super) fn known_blocks(&self) -> Option<i64> {
        [ROWS, COLUMNS, BATCH]
            .into_iter()
            .try_fold(1i64, |all, axis| all.checked_mul(self.known_tiles(axis)?))
    }
}

impl<'c> Whole<'c> {
    /// The leaves that only a launch knows of a tensor of this type, mode by mode: those of the shape, and those of the stride.
    fn open_leaves(
        &self,
        b: Builder<'c>,
        tensor: Val<'c>,
        modes: &[Vec<usize>],
    ) -> Result<[Vec<Val<'c>>; 2], Failure> {
        let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
        let leaves = leaves_of(b, layout)?;
        let (shape, stride) = leaves.split_at(leaves.len() / 2);
        let pick = |leaves: &[Option<Val<'c>>]| {
            let places = modes.iter().flatten();
            let places = places.flat_map(|mode| places_of(&self.memref, *mode));
            places
                .filter_map(|at| leaves.get(at).copied().flatten())
                .collect()
        };
        Ok([pick(shape), pick(stride)])
    }
}
