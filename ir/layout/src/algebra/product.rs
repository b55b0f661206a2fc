//! Products: a block repeated over a tiler.

use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tuple::IntTuple;

impl Layout {
    /// `(block, copies)`: `(self, complement(self) o tiler)`; by-mode tiles work on each mode.
    ///
    /// Copies are disjoint; where the block's gaps hold no whole number of them, the ends of the gaps stay empty, as in CuTe:
    /// `(4,6):(1,6)` by `3:1` is `((4,6),3):((1,6),36)`. Errors: a tile with more modes than the layout; a block that reaches
    /// an offset twice, strides of unknown order; those of composition.
    pub fn logical_product(&self, tile: &Tile) -> Result<Layout> {
        match tile {
            Tile::Underscore => Ok(self.clone()),
            Tile::Layout(t) => {
                // The last mode goes on as far as the tiler reaches.
                let copies = self.places()?.composition(t)?;
                Layout::from_modes(&[self.clone(), copies])
            }
            Tile::Modes(tiles) => {
                self.check_tile_rank("logical_product", tile)?;
                let mut modes = self.modes();
                for (m, t) in modes.iter_mut().zip(tiles) {
                    *m = m.logical_product(t)?;
                }
                Layout::from_modes(&modes)
            }
        }
    }

    /// `((block modes), (copy modes))`.
    pub fn zipped_product(&self, tile: &Tile) -> Result<Layout> {
        let (block, copies) = self.logical_product(tile)?.unzip("zipped_product", tile)?;
        Layout::from_modes(&[block, copies])
    }

    /// `((block modes), copy0, copy1, ...)`.
    pub fn tiled_product(&self, tile: &Tile) -> Result<Layout> {
        let (block, copies) = self.logical_product(tile)?.unzip("tiled_product", tile)?;
        let mut modes = vec![block];
        modes.extend(copies.modes());
        Layout::from_modes(&modes)
    }

    /// `(block0, block1, ..., copy0, copy1, ...)`.
    pub fn flat_product(&self, tile: &Tile) -> Result<Layout> {
        let (block, copies) = self.logical_product(tile)?.unzip("flat_product", tile)?;
        let mut modes = block.modes();
        modes.extend(copies.modes());
        Layout::from_modes(&modes)
    }

    /// Each mode is `(block, copies)`: the block is repeated whole.
    pub fn blocked_product(&self, tiler: &Layout) -> Result<Layout> {
        let (block, copies) = self.padded_product(tiler)?;
        block.zip(&copies)
    }

    /// Each mode is `(copies, block)`: the copies interleave.
    pub fn raked_product(&self, tiler: &Layout) -> Result<Layout> {
        let (block, copies) = self.padded_product(tiler)?;
        copies.zip(&block)
    }

    fn padded_product(&self, tiler: &Layout) -> Result<(Layout, Layout)> {
        let one = Layout::leaf(1, 0)?;
        let rank = self.rank().max(tiler.rank());
        let block = self.append_to_rank(rank, &one)?;
        let product = block.logical_product(&Tile::Layout(tiler.append_to_rank(rank, &one)?))?;
        let (block, copies) = (product.mode(0)?, product.mode(1)?);
        // The copies of a tiler of one leaf are one mode, also where that leaf had to be split.
        if rank == 1 && !tiler.shape().is_tuple() && copies.rank() != 1 {
            return Ok((block, Layout::from_modes(&[copies])?));
        }
        Ok((block, copies))
    }

    /// The block repeated until the modes cover the sizes of `shape`, rounded up to whole blocks.
    ///
    /// `order` says which mode is filled first (`(2,1)`: the second); without it the first is. Errors: a rank above that of
    /// `shape`; a block whose complement does not exist.
    pub fn tile_to_shape(&self, shape: &IntTuple, order: Option<&IntTuple>) -> Result<Layout> {
        const OP: &str = "tile_to_shape";
        let rank = shape.rank();
        if self.rank() > rank {
            let expected = format!("a block of rank at most {rank}");
            return Err(LayoutError::Rank {
                op: OP,
                expected,
                found: self.to_string(),
            });
        }
        let block = self.append_to_rank(rank, &Layout::leaf(1, 0)?)?;
        let mut copies = Vec::with_capacity(rank);
        for (b, s) in block.shape().modes().iter().zip(shape.modes()) {
            copies.push(IntTuple::Leaf(s.product()?.ceil_div(&b.product()?)?));
        }
        let copies = if shape.is_tuple() {
            IntTuple::Tuple(copies)
        } else {
            copies.remove(0)
        };
        let tiler = match order {
            Some(order) => Layout::ordered(&copies, order)?,
            None => Layout::col_major(&copies)?,
        };
        block.blocked_product(&tiler)
    }
}
