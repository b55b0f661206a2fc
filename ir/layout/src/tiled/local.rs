//! Tiles and partitions without atoms: CuTe's `inner_partition`, `outer_partition`, `local_tile`, `local_partition`.
//!
//! A tiler cuts a tensor into tiles `((tile modes), (rest modes))`. The inner partition at a coordinate of the rest is one
//! tile; the outer one, at a coordinate within the tile, is the element of every tile that stands there.

use super::{Part, Residue, check_rank, check_whole};
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tile::Tile;
use crate::tuple::{IntTuple, int};

impl Layout {
    /// The tile at `coord` of the rest: the tile's modes, then the rest's at `_`. Modes that `coord` does not name stay; an
    /// integer is a 1-D index of the rest.
    ///
    /// Errors: a tiler with more modes than the layout; modes that it does not divide, where those are refused; a
    /// coordinate that does not fit the rest, or lies outside.
    pub fn inner_partition(
        &self,
        tiler: &Tile,
        coord: &IntTuple,
        residue: Residue,
    ) -> Result<Part> {
        self.tile_at("inner_partition", tiler, coord, residue, 1)
    }

    /// The elements at `coord` of every tile: the tile's modes at `_`, then the rest's. Errors as
    /// [`Layout::inner_partition`].
    pub fn outer_partition(
        &self,
        tiler: &Tile,
        coord: &IntTuple,
        residue: Residue,
    ) -> Result<Part> {
        self.tile_at("outer_partition", tiler, coord, residue, 0)
    }

    /// [`Layout::inner_partition`], of the modes of `tiler` and `coord` at which `projection` is not `_`: with
    /// `(1,_,1)` the tile (M,N,K) cuts a tensor (M,K).
    pub fn local_tile(
        &self,
        tiler: &Tile,
        coord: &IntTuple,
        projection: Option<&IntTuple>,
        residue: Residue,
    ) -> Result<Part> {
        const OP: &str = "local_tile";
        let Some(projection) = projection else {
            return self.tile_at(OP, tiler, coord, residue, 1);
        };
        let (tiler, coord) = (
            Tile::Modes(kept(OP, projection, tiler.modes(), &tiler.to_string())?),
            IntTuple::Tuple(kept(OP, projection, coord.modes(), &coord.to_string())?),
        );
        self.tile_at(OP, &tiler, &coord, residue, 1)
    }

    /// The elements of thread `index`, where `threads` gives each place of a tile its thread: the outer partition by the
    /// sizes of its modes, at the place of `index`. A projection leaves modes of `threads` out, as in
    /// [`Layout::local_tile`].
    ///
    /// Errors: strides of `threads` that are dynamic; those of [`Layout::outer_partition`].
    pub fn local_partition(
        &self,
        threads: &Layout,
        index: &Leaf,
        projection: Option<&IntTuple>,
        residue: Residue,
    ) -> Result<Part> {
        const OP: &str = "local_partition";
        let threads = match projection {
            None => threads.clone(),
            Some(p) => {
                let modes = threads.modes();
                Layout::from_modes(&kept(OP, p, &modes, &threads.to_string())?)?
            }
        };
        let tiler = Tile::from_shape(&threads.shape().product_each()?)?;
        let coord = threads.flat_coord(index)?;
        self.tile_at(OP, &tiler, &coord, residue, 0)
    }

    /// The coordinate, one value a mode, at which the layout gives `index`: `(index / stride) % extent` of each leaf.
    ///
    /// Right where the layout is injective and its strides divide in order, as of threads; modes of stride 0 give 0.
    /// Source: CuTe's `get_flat_coord`. Errors: basis strides; a negative index.
    pub fn flat_coord(&self, index: &Leaf) -> Result<IntTuple> {
        const OP: &str = "flat_coord";
        fn walk(s: &IntTuple, d: &IntTuple, index: &Leaf, whole: &Layout) -> Result<IntTuple> {
            match (s, d) {
                (IntTuple::Tuple(s), IntTuple::Tuple(d)) => s
                    .iter()
                    .zip(d)
                    .map(|(s, d)| walk(s, d, index, whole))
                    .collect::<Result<Vec<_>>>()
                    .map(IntTuple::Tuple),
                (_, IntTuple::Leaf(Leaf::Static(0))) | (IntTuple::Leaf(Leaf::Static(1)), _) => {
                    Ok(int(0))
                }
                (IntTuple::Leaf(s), IntTuple::Leaf(d @ (Leaf::Static(1..) | Leaf::Dynamic(_)))) => {
                    Ok(IntTuple::Leaf(index.div(d)?.rem(s)?))
                }
                _ => Err(whole.basis(OP)),
            }
        }
        if !matches!(index, Leaf::Static(0..) | Leaf::Dynamic(_)) {
            return Err(LayoutError::Divisibility {
                op: OP,
                expected: "an index that is not negative".to_string(),
                found: index.to_string(),
                cure: "name a thread".to_string(),
            });
        }
        let natural = walk(self.shape(), self.stride(), index, self)?;
        // One integer a mode: the 1-D coordinate within it.
        let flat = |c: &IntTuple, s: &IntTuple| match s {
            IntTuple::Leaf(_) => Ok(c.clone()),
            _ => Layout::col_major(s)?.eval(c),
        };
        if !self.shape().is_tuple() {
            return Ok(natural);
        }
        natural
            .modes()
            .iter()
            .zip(self.shape().modes())
            .map(|(c, s)| flat(c, s))
            .collect::<Result<Vec<_>>>()
            .map(IntTuple::Tuple)
    }

    // Divides, and slices half `half` at `coord`, keeping the modes of the other.
    fn tile_at(
        &self,
        op: &'static str,
        tiler: &Tile,
        coord: &IntTuple,
        residue: Residue,
        half: usize,
    ) -> Result<Part> {
        match tiler {
            Tile::Modes(tiles) => {
                check_rank(op, self, tiles.len())?;
                for (i, tile) in tiles.iter().enumerate() {
                    check_whole(op, self, i, tile, "of the tiler", residue)?;
                }
            }
            _ if residue == Residue::Refuse => {
                let whole = Layout::from_modes(std::slice::from_ref(self))?;
                check_whole(op, &whole, 0, tiler, "all of it", residue)?;
            }
            _ => {}
        }
        let divided = self.zipped_divide(tiler)?;
        let (cut, other) = (divided.mode(half)?, divided.mode(1 - half)?);
        check_inside(op, coord, &cut)?;
        let coord = match coord {
            IntTuple::Tuple(c) if c.len() < cut.rank() => {
                let mut c = c.clone();
                c.resize(cut.rank(), IntTuple::underscore());
                IntTuple::Tuple(c)
            }
            // A tiler of one layout has halves that need not be tuples.
            IntTuple::Tuple(c) if c.len() == 1 && !cut.shape().is_tuple() => c[0].clone(),
            c => c.clone(),
        };
        let offset = cut.eval(&coord)?;
        let sliced = match &coord {
            IntTuple::Leaf(Leaf::Underscore) => vec![cut],
            IntTuple::Leaf(_) => vec![],
            _ => cut.slice_modes(&coord)?.modes(),
        };
        let modes = match half {
            0 => [sliced, other.modes()].concat(),
            _ => [other.modes(), sliced].concat(),
        };
        Ok(Part {
            offset,
            layout: Layout::from_modes(&modes)?,
        })
    }
}

// The modes at which the projection is not `_` (CuTe's `dice` on tilers and coordinates).
fn kept<T: Clone>(
    op: &'static str,
    projection: &IntTuple,
    modes: &[T],
    whole: &str,
) -> Result<Vec<T>> {
    let steps = projection.modes();
    if !projection.is_tuple() || steps.len() != modes.len() {
        return Err(LayoutError::Rank {
            op,
            expected: format!("a projection of the {} modes of {whole}", modes.len()),
            found: projection.to_string(),
        });
    }
    let kept = steps.iter().zip(modes);
    Ok(kept
        .filter(|(p, _)| **p != IntTuple::underscore())
        .map(|(_, m)| m.clone())
        .collect())
}

// A known coordinate lies within a known mode.
fn check_inside(op: &'static str, coord: &IntTuple, of: &Layout) -> Result<()> {
    match coord {
        IntTuple::Leaf(Leaf::Static(c)) => {
            let size = of.shape().product()?;
            if *c >= 0 && size.as_static().is_none_or(|n| *c < n) {
                return Ok(());
            }
            Err(LayoutError::Divisibility {
                op,
                expected: format!("a coordinate from 0 below {size} of the mode {of}"),
                found: c.to_string(),
                cure: "name a tile, or a place in it, that exists".to_string(),
            })
        }
        IntTuple::Leaf(_) => Ok(()),
        IntTuple::Tuple(c) if c.len() <= of.rank() => c
            .iter()
            .zip(of.modes())
            .try_for_each(|(c, m)| check_inside(op, c, &m)),
        IntTuple::Tuple(_) => Err(LayoutError::Rank {
            op,
            expected: format!("a coordinate of at most {} modes, for {of}", of.rank()),
            found: coord.to_string(),
        }),
    }
}
