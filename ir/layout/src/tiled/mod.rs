//! Atoms tiled over threads, and what each thread gets of a tensor.

mod copy;
mod mma;

pub use copy::TiledCopy;
pub use mma::TiledMma;

use crate::error::{LayoutError, Result};
use crate::layout::Layout;

/// A tensor's layout, split by thread: `offset(t, c) = thr(t) + val(c)`, in elements of the tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// Thread index to offset.
    pub thr: Layout,
    /// One thread's values: `(V, rest of the first mode, rest of the second, trailing modes...)`.
    pub val: Layout,
}

/// The extent of mode `i` of a tensor must be known and a multiple of the tile's, for then no element needs a predicate.
fn check_multiple(
    op: &'static str,
    tensor: &Layout,
    i: usize,
    tile: i64,
    name: &str,
) -> Result<()> {
    let size = tensor.mode(i)?.size()?;
    if size % tile == 0 {
        return Ok(());
    }
    Err(LayoutError::Divisibility {
        op,
        expected: format!("a tensor whose mode {i} ({name}) is a multiple of {tile}"),
        found: tensor.to_string(),
        cure: format!(
            "choose a tile that divides {size}, or pad the tensor to {}",
            (size / tile + 1).saturating_mul(tile)
        ),
    })
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
