//! The grid of a kernel whose blocks take tiles of rows and columns, each of one part of a batch: what a launch counts, and what a block finds by
//! its index.

use super::host::{LaunchSizes, launch_kernel};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    ops::{arith, cute},
};
use cute_layout::{Dyn, IntTuple, Leaf, int, tuple};

/// Rows, among the axes of a grid.
pub(super) const ROWS: usize = 0;
/// Columns, among the axes of a grid.
pub(super) const COLUMNS: usize = 1;
/// Parts of a batch, among the axes of a grid.
pub(super) const BATCH: usize = 2;

/// The grid of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Rows, columns and parts of the batch of a tile.
    pub(super) tile: [i64; 3],
    /// Tiles along them, where they are known.
    pub(super) known: [Option<i64>; 3],
    /// Tells whether there is a batch.
    pub(super) is_batched: bool,
    /// Columns of a range that a part of the batch stands for; none where columns are tiled.
    pub(super) range: Option<i64>,
    /// The most blocks, which take tile after tile; none where each takes one.
    pub(super) stays: Option<Stays>,
}

/// The blocks of a grid whose blocks take tile after tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stays {
    /// Blocks of a multiprocessor.
    pub(super) blocks: i64,
    /// A divisor of all of them.
    pub(super) multiple: i64,
}

impl Grid {
    /// The grid of a tile on an iteration space, of which these extents are known; where all columns are of one block, they are one tile.
    pub(super) fn new(
        tile: [i64; 3],
        extents: [Option<i64>; 3],
        (is_batched, has_columns): (bool, bool),
    ) -> Self {
        let mut known = [None; 3];
        for (axis, known) in known.iter_mut().enumerate() {
            let count = |extent: i64| extent / tile[axis] + i64::from(extent % tile[axis] != 0);
            *known = match axis {
                COLUMNS if has_columns => Some(1),
                _ => extents[axis].map(count),
            };
        }
        Self {
            tile,
            known,
            is_batched,
            range: None,
            stays: None,
        }
    }

    /// The number of blocks, where it is known.
    pub(super) fn known_blocks(&self) -> Option<i64> {
        self.known_tiles().filter(|_| self.stays.is_none())
    }

    fn known_tiles(&self) -> Option<i64> {
        let mut known = self.known.into_iter();
        known.try_fold(1i64, |all, tiles| all.checked_mul(tiles?))
    }

    /// The axes whose tiles only a launch can count and a kernel needs: its arguments behind the others.
    pub(super) fn counted(&self) -> Vec<usize> {
        let needed = [COLUMNS, ROWS].into_iter();
        let needed = needed.take(1 + usize::from(self.is_batched));
        needed.filter(|axis| self.known[*axis].is_none()).collect()
    }

    /// Launches a kernel, a symbol, with `arguments` and what it needs counted; `extent` gives extents, of type `index`.
    pub(super) fn launch<'c>(
        &self,
        host: Builder<'c>,
        (kernel, threads): (&str, i64),
        arguments: &[Val<'c>],
        extent: impl Fn(usize) -> Result<Val<'c>, Failure>,
    ) -> Result<(), Failure> {
        let (blocks, counted) = self.of_launch(host, extent)?;
        let sizes = LaunchSizes {
            blocks,
            rows: 1,
            threads,
            cluster: 1,
        };
        launch_kernel(host, kernel, sizes, &[arguments, &counted].concat())
    }

    /// The blocks of a launch, of type `index`, and what a kernel needs counted; `extent` gives extents, of type `index`.
    pub(super) fn of_launch<'c>(
        &self,
        host: Builder<'c>,
        extent: impl Fn(usize) -> Result<Val<'c>, Failure>,
    ) -> Result<(Val<'c>, Vec<Val<'c>>), Failure> {
        let index = host.index_type();
        let tiles = |axis: usize| {
            if let Some(known) = self.known[axis] {
                return host.constant(index, known);
            }
            let extent = extent(axis)?;
            match self.tile[axis] {
                1 => Ok(extent),
                tile => {
                    let tile = host.constant(index, tile)?;
                    host.value(arith::CEILDIVSI, &[extent, tile], index, &[])
                }
            }
        };
        let mut blocks = match self.known_tiles() {
            Some(known) => host.constant(index, known)?,
            None => {
                let mut blocks = tiles(ROWS)?;
                for axis in [COLUMNS, BATCH] {
                    if self.known[axis] != Some(1) {
                        let tiles = tiles(axis)?;
                        blocks = host.value(arith::MULI, &[blocks, tiles], index, &[])?;
                    }
                }
                blocks
            }
        };
        if let Some(Stays {
            blocks: each,
            multiple,
        }) = self.stays
        {
            let number = |name: &str, x, y| host.value(name, &[x, y], index, &[]);
            let sms = host.value(cute::SM_COUNT, &[], index, &[])?;
            let multiple = host.constant(index, multiple)?;
            let most = number(arith::MULI, sms, host.constant(index, each)?)?;
            // One more than there is room for would begin when the others end.
            let most = number(arith::DIVSI, most, multiple)?;
            let most = number(arith::MAXSI, most, host.constant(index, 1)?)?;
            let needed = number(arith::CEILDIVSI, blocks, multiple)?;
            let all = number(arith::MINSI, needed, most)?;
            blocks = number(arith::MULI, all, multiple)?;
        }
        let mut counted = Vec::new();
        for axis in self.counted() {
            let tiles = tiles(axis)?;
            counted.push(host.value(arith::INDEX_CAST, &[tiles], host.i32_type(), &[])?);
        }
        Ok((blocks, counted))
    }

    /// The first row and column of a block's tile, a coordinate, and its part of the batch, if there is one, by the block's index; what was counted stands behind
    /// so many arguments.
    pub(super) fn place<'c>(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (block, arguments): (Val<'c>, usize),
    ) -> Result<(Val<'c>, Option<Val<'c>>), Failure> {
        let Origin { row, column, part } = self.origin(b, body, (block, arguments))?;
        let columns = self.range.unwrap_or(self.tile[COLUMNS]);
        let first = tuple([
            multiple(self.tile[ROWS]),
            column.map_or(int(0), |_| multiple(columns)),
        ]);
        let leaves: Vec<_> = std::iter::once(row).chain(column).collect();
        Ok((b.coord(&first, &leaves)?, part))
    }

    /// The place where a block's tile begins. Neighbouring blocks are neighbours along columns, and then along rows.
    pub(super) fn origin<'c>(
        &self,
        b: Builder<'c>,
        body: Blk<'c>,
        (mut block, arguments): (Val<'c>, usize),
    ) -> Result<Origin<'c>, Failure> {
        let word = b.i32_type();
        let tiles = |axis: usize| match self.known[axis] {
            Some(known) => b.i32(known),
            None => {
                let counted = self.counted();
                let place = counted.iter().position(|other| *other == axis);
                let place = place.expected(b, "an axis that the launch counts")?;
                Ok(argument(body, arguments + place))
            }
        };
        let mut column = None;
        if self.known[COLUMNS] != Some(1) {
            let parts = tiles(COLUMNS)?;
            let part = b.value(arith::REMUI, &[block, parts], word, &[])?;
            block = b.value(arith::DIVUI, &[block, parts], word, &[])?;
            let each = b.i32(self.tile[COLUMNS])?;
            column = Some(b.value(arith::MULI, &[part, each], word, &[])?);
        }
        let mut part = None;
        if self.is_batched {
            let rows = tiles(ROWS)?;
            part = Some(b.value(arith::DIVUI, &[block, rows], word, &[])?);
            block = b.value(arith::REMUI, &[block, rows], word, &[])?;
        }
        if let (Some(columns), Some(part)) = (self.range, part) {
            column = Some(b.value(arith::MULI, &[part, b.i32(columns)?], word, &[])?);
        }
        let each = b.i32(self.tile[ROWS])?;
        let row = b.value(arith::MULI, &[block, each], word, &[])?;
        Ok(Origin { row, column, part })
    }
}

/// The first row and column of a block's tile, and its part of the batch, as far as there are several.
pub(super) struct Origin<'c> {
    pub(super) row: Val<'c>,
    pub(super) column: Option<Val<'c>>,
    pub(super) part: Option<Val<'c>>,
}

/// A leaf of which only a kernel knows more than that it is a multiple of a number.
pub(super) fn multiple(of: i64) -> IntTuple {
    IntTuple::Leaf(Leaf::Dynamic(Dyn {
        div: of,
        ..Dyn::I32
    }))
}
