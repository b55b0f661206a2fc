//! Tiles of C of which a thread's part is loaded, computed or stored some rows, or columns, at a time: in a loop, where it is larger.

use super::{Partition, transform::OUT, wrong};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{cute, scf},
    types::{self, memref_of},
};
use cute_layout::{IntTuple, Layout, Operand, Tile, int, tuple};

/// The most that a thread may have in a step.
pub(super) enum Most {
    Elements(i64),
    Vectors(i64),
}

/// The steps of a tile, of which the ops of one are written.
pub(super) struct Steps<'c> {
    /// The place to which the ops of a step go.
    pub(super) inner: Builder<'c>,
    /// The tiled copy by which threads have parts of the tile.
    pub(super) tiled: Val<'c>,
    thread: Val<'c>,
    /// The mode of C that the steps divide.
    beside: usize,
    /// The part of a tile that is one step, and its number, where there are several.
    step: Option<[Val<'c>; 2]>,
}

impl<'c> Partition<'c> {
    /// Begins the steps of a tile of C on its way out of shared memory: as few as leave a thread no more than `most` in one, where its rows or
    /// columns can be divided by so many.
    pub(super) fn steps(
        &self,
        b: Builder<'c>,
        tile: Val<'c>,
        most: Most,
    ) -> Result<Steps<'c>, Failure> {
        let beside = 1 - self.plan.major(Operand::C).map_err(wrong(b))?;
        let tiled = self.tiled_copy(b, Operand::C, OUT)?;
        let part = b.infer(
            cute::TILED_COPY_PARTITION_S,
            &[tiled, tile, self.thread],
            &[],
        )?;
        let part = memref_of(part).expected(b, "a tensor")?.layout;
        let size = |layout: cute_layout::Result<Layout>| {
            layout.and_then(|layout| layout.size()).map_err(wrong(b))
        };
        let (all, passes) = (size(Ok(part.clone()))?, size(part.mode(1 + beside))?);
        let most = match most {
            Most::Elements(most) => most,
            Most::Vectors(most) => most * size(part.mode(0))?,
        };
        let steps = (1..=passes).find(|n| passes % n == 0 && all / n <= most);
        let steps = steps.unwrap_or(passes);
        let (inner, step) = if steps == 1 {
            (b, None)
        } else {
            let layout = memref_of(tile).expected(b, "a tensor")?.layout;
            let extent = |mode| size(layout.mode(mode));
            let mut extents = [extent(0)?, extent(1)?];
            extents[beside] /= steps;
            let tile = Tile::from_shape(&tuple(extents.map(int))).map_err(wrong(b))?;
            let tile = b.static_value(types::tile_type(b.context, &tile))?;
            let (from, to, by) = (b.i32(0)?, b.i32(steps)?, b.i32(1)?);
            let (region, body) = Detached::with_block(&[(b.i32_type(), b.location)]);
            b.with_regions(scf::FOR, &[from, to, by], &[], &[], vec![region])?;
            let inner = Builder::at_end(b.context, body, b.location);
            (inner, Some([tile, argument(body, 0)]))
        };
        Ok(Steps {
            inner,
            tiled,
            thread: self.thread,
            beside,
            step,
        })
    }
}

impl<'c> Steps<'c> {
    /// A thread's part of a step of a tensor of the tile's shape, by `side`, the op of source or destination.
    pub(super) fn part(&self, tensor: Val<'c>, side: &str) -> Result<Val<'c>, Failure> {
        let tensor = match self.step {
            None => tensor,
            Some([tile, step]) => {
                let mut coord = [int(0), int(0)];
                coord[self.beside] = IntTuple::dynamic();
                let coord = self.inner.coord(&tuple(coord), &[step])?;
                self.inner
                    .infer(cute::LOCAL_TILE, &[tensor, tile, coord], &[])?
            }
        };
        self.inner
            .infer(side, &[self.tiled, tensor, self.thread], &[])
    }

    /// Ends the steps.
    pub(super) fn end(self) -> Result<(), Failure> {
        if self.step.is_some() {
            self.inner.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    }
}
