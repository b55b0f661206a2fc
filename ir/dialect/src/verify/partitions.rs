//! Partitions: a thread for each part.

use super::Checked;
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    args::PartitionArgs,
    block::{block_size, thread_dimension},
    types::tiled_threads,
};
use melior::ir::ValueLike;

/// A part for a thread that no block has is nobody's.
pub(super) fn verify_partition(op: Op<'_>) -> Checked {
    let Some(PartitionArgs { tiled, thread, .. }) = PartitionArgs::of(op) else {
        return Ok(());
    };
    let Some(threads) = tiled_threads(tiled.r#type()) else {
        return Ok(());
    };
    let (Some(dimension), Some(block)) = (thread_dimension(thread), block_size(op)) else {
        return Ok(());
    };
    if block[dimension] >= threads {
        return Ok(());
    }
    let what = if name_of(op) == cute::TILED_MMA_PARTITION {
        "MMA"
    } else {
        "copy"
    };
    Err(format!(
        "is a part of {threads}, one for each thread of the tiled {what}, but blocks have {} threads along {}: the parts of \
         the others would be nobody's; expected known_block_size of {threads} there, or a tiled {what} of fewer threads",
        block[dimension],
        ["x", "y", "z"][dimension]
    ))
}
