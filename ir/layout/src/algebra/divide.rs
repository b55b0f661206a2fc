//! Divides: a layout as tiles and the rest.
//!
//! A tile that does not divide rounds up, as in CuTe: `10:1` by `4:1` has size 12, and the elements beyond need a
//! predicate. [`Layout::divides_evenly`] says whether that happens.

use super::fast;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, Truth, require};
use crate::tile::Tile;
use crate::tuple::IntTuple;

impl Layout {
    /// `(tile, rest)` a mode: `self o (tile, complement(tile, size))`; by-mode tiles work on each mode, the modes beyond
    /// stay.
    ///
    /// Errors: a tile with more modes than the layout; those of complement and composition.
    pub fn logical_divide(&self, tile: &Tile) -> Result<Layout> {
        fast::logical_divide(self, tile).map_or_else(|| self.logical_divide_general(tile), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn logical_divide_general(&self, tile: &Tile) -> Result<Layout> {
        match tile {
            Tile::Underscore => Ok(self.clone()),
            Tile::Layout(t) => {
                let rest = t.complement_by_leaf(self.shape())?;
                self.composition(&Layout::from_modes(&[t.clone(), rest])?)
            }
            Tile::Modes(tiles) => {
                self.check_tile_rank("logical_divide", tile)?;
                let mut modes = self.modes();
                for (m, t) in modes.iter_mut().zip(tiles) {
                    *m = m.logical_divide(t)?;
                }
                Layout::from_modes(&modes)
            }
        }
    }

    /// `((tile modes), (rest modes))`. Under `_` a mode must have rank 2: it is taken as divided already.
    pub fn zipped_divide(&self, tile: &Tile) -> Result<Layout> {
        fast::zipped_divide(self, tile).map_or_else(|| self.zipped_divide_general(tile), Ok)
    }

    // Without the short cut; public for the tests of that.
    #[doc(hidden)]
    pub fn zipped_divide_general(&self, tile: &Tile) -> Result<Layout> {
        let (tile, rest) = self.logical_divide(tile)?.unzip("zipped_divide", tile)?;
        Layout::from_modes(&[tile, rest])
    }

    /// `((tile modes), rest0, rest1, ...)`.
    pub fn tiled_divide(&self, tile: &Tile) -> Result<Layout> {
        let (tile, rest) = self.logical_divide(tile)?.unzip("tiled_divide", tile)?;
        let mut modes = vec![tile];
        modes.extend(rest.modes());
        Layout::from_modes(&modes)
    }

    /// `(tile0, tile1, ..., rest0, rest1, ...)`.
    pub fn flat_divide(&self, tile: &Tile) -> Result<Layout> {
        let (tile, rest) = self.logical_divide(tile)?.unzip("flat_divide", tile)?;
        let mut modes = tile.modes();
        modes.extend(rest.modes());
        Layout::from_modes(&modes)
    }

    /// Tells whether the tile covers the layout without rounding up. Errors: those of the divide; dynamic extents.
    pub fn divides_evenly(&self, tile: &Tile) -> Result<bool> {
        match tile {
            Tile::Underscore => Ok(true),
            Tile::Layout(tile) => {
                let (made, own) = (
                    self.logical_divide(&Tile::Layout(tile.clone()))?
                        .shape()
                        .product()?,
                    self.shape().product()?,
                );
                let same = made.equals(&own)?;
                if let Truth::Known(same) = same {
                    return Ok(same);
                }
                // Enough, and easier to say: what the tile reaches divides the size.
                let same = match tile_reach(tile) {
                    Some(reach) => own.divisible_by(&Leaf::Static(reach))?,
                    None => same,
                };
                require(&same, || LayoutError::Divisibility {
                    op: "divides_evenly",
                    expected: format!("to know whether {tile} divides {self}"),
                    found: format!("sizes {made} and {own}"),
                    cure: "make the sizes known".to_string(),
                })?;
                Err(self.dynamic("divides_evenly"))
            }
            Tile::Modes(tiles) => {
                self.check_tile_rank("logical_divide", tile)?;
                for (i, t) in tiles.iter().enumerate() {
                    if !self.mode(i)?.divides_evenly(t)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// Follows the profile of `tile` and gathers first and second halves of the modes that it reaches.
    ///
    /// CuTe's `tile_unzip`; modes beyond the tile go to the second half.
    pub(crate) fn unzip(&self, op: &'static str, tile: &Tile) -> Result<(Layout, Layout)> {
        match tile {
            Tile::Layout(_) | Tile::Underscore => {
                if self.rank() != 2 {
                    let expected = format!("a mode of rank 2 (tile, rest) under {tile}");
                    return Err(LayoutError::Rank {
                        op,
                        expected,
                        found: self.to_string(),
                    });
                }
                Ok((self.mode(0)?, self.mode(1)?))
            }
            Tile::Modes(tiles) => {
                let modes = self.modes();
                let (mut first, mut second) = (
                    Vec::with_capacity(modes.len()),
                    Vec::with_capacity(modes.len()),
                );
                for (i, m) in modes.into_iter().enumerate() {
                    match tiles.get(i) {
                        Some(t) => {
                            let (a, b) = m.unzip(op, t)?;
                            first.push(a);
                            second.push(b);
                        }
                        None => second.push(m),
                    }
                }
                Ok((Layout::from_modes(&first)?, Layout::from_modes(&second)?))
            }
        }
    }

    /// The shape of the rest mode when `tile` divides a mode of `size` elements, rounded up (CuTe's `ceil_div` by a layout).
    pub fn rest_shape(tile: &Layout, size: &Leaf) -> Result<IntTuple> {
        Ok(tile
            .complement(&IntTuple::Leaf(size.clone()))?
            .shape()
            .clone())
    }
}

/// The end of the block that a known tile and its gaps make.
pub(crate) fn tile_reach(tile: &Layout) -> Option<i64> {
    let flat = tile.flat()?;
    let mut reach = 1i64;
    for (s, d) in flat.modes() {
        reach = reach.max(s.checked_mul(*d)?);
    }
    Some(reach)
}
