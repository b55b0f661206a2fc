//! The kernel of a fused map: which rows and columns a block computes.

use super::Fuse;
use crate::{
    arch::WARP,
    fused::{COLUMNS, OUTER, ROWS},
    launch::follow,
    tile::{
        function::{Kernel, block_index},
        grid::{Grid, Origin, multiple},
        leaves::{open_leaves, with_layout},
    },
};
use cute_ir::{
    Expected, Failure,
    attributes::{FUSED, PLAN},
    maps::modes_of,
    mlir::*,
    ops::cute,
};
use cute_layout::{IntTuple, int, tuple};
use melior::ir::ValueLike;

/// The place of the batch among a layout's modes.
pub(super) const BATCH: usize = OUTER + 1;

impl<'c> Fuse<'c> {
    /// Writes the kernel.
    pub(super) fn kernel(&self, place: Builder<'c>, name: &str) -> Result<(), Failure> {
        let mut arguments: Vec<_> = self.arguments.iter().map(|v| v.r#type()).collect();
        let grid = self.grid();
        arguments.extend(grid.counted().iter().map(|_| place.i32_type()));
        // The assembler may find that it spills: whoever chose it may choose another one.
        let mut attributes = Vec::new();
        if let Some(plan) = self.choice.plan() {
            attributes.push((FUSED, plan.attribute(place.location)?));
        }
        let kernel = Kernel {
            name,
            arguments,
            threads: self.choice.warps * WARP,
            blocks: grid.known_blocks(),
            attributes,
        };
        kernel.write(place, |b, body| self.body(b, body))
    }

    fn body(&self, b: Builder<'c>, body: Blk<'c>) -> Result<(), Failure> {
        follow(b, &self.archs)?;
        let grid = self.grid();
        let found = (block_index(b)?, self.arguments.len());
        let (at, part) = match self.choice.shared {
            None => grid.place(b, body, found)?,
            // All columns are of one block, and the grid's are those of E.
            Some(outer) => {
                let Origin { row, column, part } = grid.origin(b, body, found)?;
                let column = column.expected(b, "several tiles of E")?;
                let first = tuple([multiple(self.choice.rows), int(0), multiple(outer)]);
                (b.coord(&first, &[row, column])?, part)
            }
        };
        let mut tensors = Vec::new();
        for whole in &self.tensors {
            let tensor = argument(body, whole.argument);
            let mut tensor = if whole.layout.is_static() {
                with_layout(b, tensor, &whole.layout, [&[], &[]])?
            } else {
                let [shape, stride] = open_leaves(b, tensor, &whole.memref, &self.modes)?;
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

    /// The grid of the kernel.
    pub(super) fn grid(&self) -> Grid {
        let (columns, all) = match self.choice.shared {
            Some(outer) => (outer, false),
            None => (self.choice.columns, self.reduces),
        };
        Grid::new(
            [self.choice.rows, columns, 1],
            self.axes().map(|mode| self.known(mode)),
            (self.is_batched(), all),
        )
    }

    /// The modes of the grid's axes.
    pub(super) fn axes(&self) -> [usize; 3] {
        match self.choice.shared {
            Some(_) => [ROWS, OUTER, BATCH],
            None => [ROWS, COLUMNS, BATCH],
        }
    }
}
