//! Tensors of more modes than a tensor map has dimensions: the last dimension stands for several of them.
//!
//! Modes along which a tile has one element are only ever gone to, never through. So one dimension does for several: it steps by the greatest common divisor of their
//! strides, and an element of each mode is so many steps from the one before (CuTe's `construct_tma_gbasis` folds them so). An index outside of one of these modes
//! is then another element of the tensor, and no zero. Which modes a dimension stands for follows from the map and the tensor: all that have no dimension of their own.

use super::{Dim, GlobalMode, MOST_DIMS, Run, TmaBox, modes, refuse};
use crate::error::Result;
use crate::layout::Layout;
use cute_arith::gcd;

/// Leaves that one dimension of a map stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    /// Elements of the tensor from one coordinate along the dimension to the next: the greatest common divisor of the leaves' strides.
    pub stride: i64,
    /// The leaves, by number, and how many coordinates each of their elements is from the one before.
    pub leaves: Vec<(usize, i64)>,
}

impl TmaBox {
    /// The leaves that the last dimension of the map stands for, where a tensor has more than a map has dimensions; nothing where each has its own. Errors: strides that
    /// are not known, of a tensor that the box was not made for.
    pub fn folded(&self, gmem: &Layout) -> Result<Option<Folded>> {
        let Some(last) = self.dims.last().filter(|_| self.im2col.is_none()) else {
            return Ok(None);
        };
        let strides: Vec<GlobalMode> = modes(gmem)?.into_iter().flatten().collect();
        let mut leaves: Vec<usize> = (0..strides.len())
            .filter(|mode| {
                is_dimension(&strides[*mode]) && self.dims.iter().all(|dim| dim.mode != *mode)
            })
            .collect();
        if leaves.is_empty() {
            return Ok(None);
        }
        leaves.insert(0, last.mode);
        let known: Option<Vec<i64>> = leaves.iter().map(|mode| strides.get(*mode)?.1).collect();
        let Some(known) = known else {
            return too_many(gmem);
        };
        let stride = known.iter().fold(0, |all, stride| gcd(all, *stride));
        let steps = known.iter().map(|own| own / stride);
        Ok(Some(Folded {
            stride,
            leaves: leaves.iter().copied().zip(steps).collect(),
        }))
    }
}

/// Tells whether a leaf is a dimension of a map: where all elements are one, a coordinate along it changes nothing.
fn is_dimension((extent, stride, _): &GlobalMode) -> bool {
    *extent != Some(1) && *stride != Some(0)
}

fn too_many<T>(gmem: &Layout) -> Result<T> {
    refuse(
        format!(
            "a tensor of at most {MOST_DIMS} modes with more than one element, or more of which the others have known strides and the tile one element along each"
        ),
        gmem.to_string(),
        "slice the tensor before it, or merge modes that follow each other in memory",
    )
}

/// The leaves that are dimensions behind those of a box. Where a map has too few, the last one stands for several, along which the tile has one element (CuTe's
/// `construct_tma_gbasis` folds them so).
pub(super) fn others(
    gmem: &Layout,
    strides: &[GlobalMode],
    runs: &[Run],
    dims: &[Dim],
) -> Result<Vec<usize>> {
    let mut others: Vec<usize> = (0..strides.len())
        .filter(|mode| is_dimension(&strides[*mode]) && dims.iter().all(|dim| dim.mode != *mode))
        .collect();
    let room = MOST_DIMS.saturating_sub(dims.len());
    if others.len() <= room {
        return Ok(others);
    }
    let is_foldable = |mode: &usize| {
        let is_gone_through = runs.iter().any(|run| run.mode == *mode && run.extent > 1);
        strides[*mode].1.is_some_and(|stride| stride > 0) && !is_gone_through
    };
    // Those that have to be dimensions of their own come first.
    others.sort_by_key(is_foldable);
    let own = others.iter().filter(|mode| !is_foldable(mode)).count();
    if own + 1 > room {
        return too_many(gmem);
    }
    others.truncate(room);
    Ok(others)
}
