//! Atoms tiled over threads, and what each thread gets of a tensor.
//!
//! Sources: CuTe's `include/cute/atom/copy_atom.hpp`, `mma_atom.hpp` and `tensor_impl.hpp`. Everything here is a function
//! on layouts: where a thread's part begins is the value of a layout at the thread, so that threads, extents and strides
//! may be known, dynamic, traced or symbolic, and tensors of coordinates (basis strides) go the same way as those of data.
//!
//! A condition that CuTe asserts while it compiles is an error here. `tests/cute` has CuTe's own results, which the tests compare.

mod copy;
mod copy_from;
mod copy_parts;
mod local;
mod mma;
mod mma_parts;

pub use copy::TiledCopy;
pub use copy_parts::{Side, ThrCopy};
pub use mma::TiledMma;
pub use mma_parts::{Operand, ThrMma};

use crate::algebra::AnyLayout;
use crate::algebra::divide::tile_reach;
use crate::error::{LayoutError, Result};
use crate::layout::Layout;
use crate::leaf::{Leaf, require};
use crate::swizzle::ComposedLayout;
use crate::tile::Tile;
use crate::tuple::IntTuple;

/// A tensor's layout, split by thread: `offset(t, c) = thr(t) + val(c)`, in elements of the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Thread index to offset.
    pub thr: Layout,
    /// One thread's values: `(V, rest of the first mode, rest of the second, trailing modes...)`.
    pub val: Layout,
}

/// A part of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The start of the part: an offset in elements, or the coordinate that a layout of basis strides gives.
    pub offset: IntTuple,
    /// The layout of the part, from there.
    pub layout: Layout,
}

/// The treatment of a mode whose extent is no multiple of the tile's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residue {
    /// It is an error: no element needs a predicate. Of a dynamic extent divisibility is a condition of the result
    /// ([`crate::record`]).
    Refuse,
    /// CuTe's choice: the rest is rounded up. Elements beyond the extent must be masked, by a predicate that is computed
    /// from the same partition of the tensor's coordinates ([`Layout::identity`]).
    RoundUp,
}

impl Partition {
    /// The part of one thread, whose index may be dynamic. Errors: overflow.
    pub fn part(&self, thread: &Leaf) -> Result<Part> {
        Ok(Part {
            offset: self.thr.eval(&IntTuple::Leaf(thread.clone()))?,
            layout: self.val.clone(),
        })
    }

    /// The part of one thread of a composed layout (swizzled shared memory), where this is the partition of its outer
    /// layout: what is left, and what is added to it, as [`ComposedLayout::slice`] gives them. Errors as there.
    pub fn part_composed(
        &self,
        tensor: &ComposedLayout,
        thread: &Leaf,
    ) -> Result<(AnyLayout, IntTuple)> {
        let val = self.val.modes();
        let mut coord = vec![IntTuple::Leaf(thread.clone())];
        coord.resize(val.len() + 1, IntTuple::underscore());
        let outer = Layout::from_modes(&[std::slice::from_ref(&self.thr), &val[..]].concat())?;
        ComposedLayout::new(tensor.inner().clone(), tensor.offset().clone(), outer)?
            .slice(&IntTuple::Tuple(coord))
    }
}

/// A thread index that is known must be one of `threads`.
fn check_thread(op: &'static str, thread: &Leaf, threads: i64) -> Result<()> {
    match thread {
        Leaf::Dynamic(_) => Ok(()),
        Leaf::Static(t) if (0..threads).contains(t) => Ok(()),
        _ => Err(LayoutError::Divisibility {
            op,
            expected: format!("a thread index from 0 to {}", threads - 1),
            found: thread.to_string(),
            cure: "name a thread that takes part".to_string(),
        }),
    }
}

/// Mode `i` of a tensor must be cut into whole tiles, where a rest is refused.
fn check_whole(
    op: &'static str,
    tensor: &Layout,
    i: usize,
    tile: &Tile,
    name: &str,
    residue: Residue,
) -> Result<()> {
    fn walk(
        mode: &Layout,
        tile: &Tile,
        refuse: &dyn Fn(&Leaf, &Layout) -> LayoutError,
    ) -> Result<()> {
        match tile {
            Tile::Underscore => Ok(()),
            Tile::Modes(tiles) => tiles
                .iter()
                .enumerate()
                .try_for_each(|(i, t)| walk(&mode.mode(i)?, t, refuse)),
            Tile::Layout(t) => {
                let size = mode.shape().product()?;
                let Some(known) = size.as_static() else {
                    let reach = tile_reach(t).ok_or(LayoutError::Overflow { op: "tile" })?;
                    let whole = size.divisible_by(&Leaf::Static(reach))?;
                    return require(&whole, || refuse(&size, t));
                };
                let tiles = Layout::rest_shape(t, &size)?.size()?;
                match t.size()?.checked_mul(tiles) {
                    Some(n) if n == known => Ok(()),
                    _ => Err(refuse(&size, t)),
                }
            }
        }
    }
    if residue == Residue::RoundUp {
        return Ok(());
    }
    let refuse = |size: &Leaf, tile: &Layout| {
        let by = tile_reach(tile).unwrap_or(1).max(1);
        let pad = match size.as_static() {
            Some(n) => {
                let padded = (n / by + 1).saturating_mul(by);
                format!("choose a tile that divides {n}, or pad the tensor to {padded}")
            }
            None => format!("choose a tile that divides {size}"),
        };
        LayoutError::Divisibility {
            op,
            expected: format!("a tensor whose mode {i} ({name}) is a multiple of {by}"),
            found: tensor.to_string(),
            cure: format!("{pad}; or round up, and predicate"),
        }
    };
    walk(&tensor.mode(i)?, tile, &refuse)
}

fn check_rank(op: &'static str, tensor: &Layout, rank: usize) -> Result<()> {
    if tensor.rank() >= rank {
        return Ok(());
    }
    let expected = format!("a tensor of rank at least {rank}");
    Err(LayoutError::Rank {
        op,
        expected,
        found: tensor.to_string(),
    })
}
