//! Copy atoms tiled over threads. Source: CuTe's `copy_atom.hpp`.

use crate::atoms::CopyAtom;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::tile::Tile;
use crate::tuple::{int, tuple};
use std::sync::Arc;

/// A copy atom repeated over threads and values, and the tile that they cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledCopy {
    atom: Arc<CopyAtom>,
    layout_tv: Layout,
    tiler_mn: Tile,
    threads: i64,
    values: i64,
}

pub(super) const OP: &str = "tiled copy";

/// Tiles up to this many elements are checked element by element.
const COVER_LIMIT: i64 = 1 << 22;

impl TiledCopy {
    /// `layout_tv` maps (thread, value) to the column-major index of the tile that `tiler_mn` cuts out of a tensor.
    ///
    /// Errors: a TV layout that is not rank 2 and static; threads or values that are no multiple of the atom's; indices
    /// beyond the tile.
    pub fn new(
        atom: impl Into<Arc<CopyAtom>>,
        layout_tv: Layout,
        tiler_mn: Tile,
    ) -> Result<TiledCopy> {
        let atom = atom.into();
        if layout_tv.rank() != 2 {
            let expected = "a layout (thread, value) of rank 2".to_string();
            return Err(LayoutError::Rank {
                op: OP,
                expected,
                found: layout_tv.to_string(),
            });
        }
        let (threads, values) = (layout_tv.mode(0)?.size()?, layout_tv.mode(1)?.size()?);
        for (what, have, unit) in [
            ("threads", threads, atom.num_threads()?),
            ("values a thread", values, atom.num_val),
        ] {
            if unit < 1 || have % unit != 0 {
                return Err(LayoutError::Divisibility {
                    op: OP,
                    expected: format!("{what} in multiples of the {unit} that {} moves", atom.name),
                    found: have.to_string(),
                    cure: if what == "threads" {
                        "give it whole atoms of threads".to_string()
                    } else {
                        format!(
                            "give each thread a value layout of {unit} elements, or choose a narrower atom"
                        )
                    },
                });
            }
        }
        let size = tiler_mn.size().ok_or_else(|| LayoutError::Dynamic {
            op: OP,
            found: tiler_mn.to_string(),
        })?;
        if layout_tv.cosize()? > size {
            return Err(LayoutError::Divisibility {
                op: OP,
                expected: format!(
                    "a layout (thread, value) within the {size} elements of {tiler_mn}"
                ),
                found: layout_tv.to_string(),
                cure: "enlarge the tiler".to_string(),
            });
        }
        Ok(TiledCopy {
            atom,
            layout_tv,
            tiler_mn,
            threads,
            values,
        })
    }

    /// Makes a tiled copy as [`TiledCopy::new`] does, of a TV layout that reaches every element of the tile: CuTe's
    /// `make_tiled_copy_impl`.
    ///
    /// Errors: elements that no thread has, which a copy would leave out; those of [`TiledCopy::new`].
    pub fn make_tiled_copy_impl(
        atom: impl Into<Arc<CopyAtom>>,
        layout_tv: Layout,
        tiler_mn: Tile,
    ) -> Result<TiledCopy> {
        let copy = Self::new(atom, layout_tv, tiler_mn)?;
        let missing = copy.missing()?;
        if missing > 0 {
            return Err(LayoutError::Divisibility {
                op: "make_tiled_copy_impl",
                expected: format!(
                    "a layout (thread, value) that reaches every element of {}",
                    copy.tiler_mn
                ),
                found: format!("{}, which leaves out {missing}", copy.layout_tv),
                cure: "give threads more values, or shrink the tiler".to_string(),
            });
        }
        Ok(copy)
    }

    /// The number of elements of the tile that no thread has. Errors: a tile of more than 2^22 elements.
    pub fn missing(&self) -> Result<i64> {
        let size = self.tile_shape()?.size()?;
        let tv = self.layout_tv.filter()?.flat_or(OP)?;
        if size.max(tv.size()) > COVER_LIMIT {
            return Err(LayoutError::Limit {
                what: "elements in a tile",
                limit: COVER_LIMIT as usize,
            });
        }
        let mut seen = vec![false; size as usize];
        let mut missing = size;
        for i in 0..tv.size() {
            let at = usize::try_from(tv.at(i)).ok();
            if let Some(slot) = at.and_then(|at| seen.get_mut(at))
                && !std::mem::replace(slot, true)
            {
                missing -= 1;
            }
        }
        Ok(missing)
    }

    /// From a thread layout and a value layout, both (m,n) to index: each thread owns a block of values.
    ///
    /// Errors: layouts that do not number their threads and values from 0 without gaps.
    pub fn make_tiled_copy(
        atom: impl Into<Arc<CopyAtom>>,
        thr: &Layout,
        val: &Layout,
    ) -> Result<TiledCopy> {
        let (layout_tv, tiler) = Self::thread_value(thr, val)?;
        Self::new(atom, layout_tv, tiler)
    }

    /// The layout and the tile that [`TiledCopy::make_tiled_copy`] makes of a thread layout and a value layout, whatever the atom: (thread, value) to the column-major index of
    /// the tile, and the tile.
    ///
    /// # Errors
    /// Layouts that do not number their threads and values from 0 without gaps.
    pub fn thread_value(thr: &Layout, val: &Layout) -> Result<(Layout, Tile)> {
        let layout_mn = thr.raked_product(val)?;
        let shape = tuple([int(thr.size()?), int(val.size()?)]);
        let inverse = layout_mn.right_inverse()?;
        // Gaps of one would be filled with the other, and CuTe does not ask.
        let gaps = thr.cosize()? != thr.size()? || val.cosize()? != val.size()?;
        if gaps || inverse.size()? != shape.size()? {
            return Err(LayoutError::NotInjective {
                op: "make_tiled_copy",
                found: format!("threads {thr} and values {val}"),
                cure: "number threads and values 0, 1, 2, ... without gaps",
            });
        }
        let layout_tv = inverse.with_shape(&shape)?;
        let tiler = Tile::from_shape(&layout_mn.shape().product_each()?)?;
        Ok((layout_tv, tiler))
    }

    /// The atom.
    pub fn atom(&self) -> &Arc<CopyAtom> {
        &self.atom
    }

    /// (thread, value) to the column-major index of the tile.
    pub fn layout_tv(&self) -> &Layout {
        &self.layout_tv
    }

    /// The tiler that cuts the tile out of a tensor.
    pub fn tiler_mn(&self) -> &Tile {
        &self.tiler_mn
    }

    /// Threads that take part.
    pub fn num_threads(&self) -> i64 {
        self.threads
    }

    /// Values a thread has of one tile, in the reference.
    pub fn num_values(&self) -> i64 {
        self.values
    }
}
