//! The operations on layouts. Each is a method of [`Layout`]; a file a family.
//!
//! Static layouts are exact: the result is the right function, or an error that names where no layout is. Dynamic leaves
//! go through where an operation only rearranges modes, or where divisibility of what is known decides; else the error is
//! [`LayoutError::Dynamic`](crate::LayoutError::Dynamic).
//!
//! Sources: CuTe's `include/cute/layout.hpp`; Cecka, "CuTe Layout Representation and Algebra", arXiv 2603.02298.

mod coalesce;
mod complement;
mod composed;
mod composition;
pub(crate) mod divide;
// For tests, which stand outside so that the library is compiled once.
#[doc(hidden)]
pub mod fast;
mod inverse;
mod inverse_basis;
mod kernel;
mod like;
mod modes;
mod product;
mod recast;
mod slice;
mod swizzles;
mod trial;

pub use composed::AnyLayout;

use smallvec::SmallVec;

use crate::error::Result;
use crate::layout::Layout;
use crate::leaf::Leaf;
use crate::tuple::IntTuple;

/// Domains up to this many elements are enumerated where divisibility alone does not prove a result.
pub const ENUMERATION_LIMIT: i64 = 1 << 16;

/// Leaves of a layout as pairs of extent and stride.
pub(crate) type Leaves = SmallVec<[(Leaf, Leaf); 8]>;

pub(crate) fn leaves(l: &Layout) -> Leaves {
    l.shape()
        .leaves()
        .into_iter()
        .cloned()
        .zip(l.stride().leaves().into_iter().cloned())
        .collect()
}

/// A layout of depth at most 1; a single leaf stands alone, nothing gives `1:0`.
pub(crate) fn from_leaves(mut leaves: Leaves) -> Result<Layout> {
    match leaves.len() {
        0 => Layout::leaf(1, 0),
        1 => {
            let (s, d) = leaves.remove(0);
            Layout::new(IntTuple::Leaf(s), IntTuple::Leaf(d))
        }
        n => {
            let (mut shape, mut stride) = (Vec::with_capacity(n), Vec::with_capacity(n));
            for (s, d) in leaves {
                shape.push(IntTuple::Leaf(s));
                stride.push(IntTuple::Leaf(d));
            }
            Layout::new(IntTuple::Tuple(shape), IntTuple::Tuple(stride))
        }
    }
}
