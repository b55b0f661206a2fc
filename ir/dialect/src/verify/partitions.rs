//! Partitions: a thread for each part; and what is exchanged by warps: an element for each.

use super::{Checked, tensor};
use crate::mlir::*;
use crate::ops::{arith, cute};
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
    let what = match name_of(op) {
        cute::TILED_MMA_PARTITION => "MMA",
        _ => "copy",
    };
    check_threads(op, tiled, thread, what)
}

/// Checks that blocks have a thread for each part of a tiled copy or MMA, of which `op` takes that of `thread`.
pub(super) fn check_threads(op: Op<'_>, tiled: Val<'_>, thread: Val<'_>, what: &str) -> Checked {
    let Some(threads) = tiled_threads(tiled.r#type()) else {
        return Ok(());
    };
    let (Some(dimension), Some(block)) = (thread_dimension(thread), block_size(op)) else {
        return Ok(());
    };
    if block[dimension] >= threads {
        return Ok(());
    }
    Err(format!(
        "is a part of {threads}, one for each thread of the tiled {what}, but blocks have {} threads along {}: the parts of \
         the others would be nobody's; expected known_block_size of {threads} there, or a tiled {what} of fewer threads",
        block[dimension],
        ["x", "y", "z"][dimension]
    ))
}

/// An element for each warp of the block, where it is known how many threads that has.
pub(super) fn verify_check_warps(op: cute::CheckWarps<'_>) -> Checked {
    const WARP: i64 = cute_target::WARP as i64;
    let Some(block) = block_size(op.op()) else {
        return Ok(());
    };
    let threads: i64 = block.iter().product();
    let warps = (threads + WARP - 1) / WARP;
    let tensor = tensor(0, op.tensor())?;
    let given = op
        .warps()
        .and_then(defining_op)
        .filter(|value| name_of(*value) == arith::CONSTANT)
        .and_then(|value| integer_of(value, "value"));
    if let Some(given) = given.filter(|given| *given != warps) {
        return Err(format!(
            "is for blocks of {given} warps, but those of this kernel have {threads} threads, which are {warps}; expected {warps} as the number of warps"
        ));
    }
    let size = tensor.layout.size().map_err(|e| e.to_string())?;
    if size < warps || (op.exactly().is_some() && size != warps) {
        return Err(format!(
            "expected a tensor of {warps} elements, one for each warp of the block's {threads} threads, found {size} elements, {}; give it one of the layout {warps}:1",
            tensor.layout
        ));
    }
    Ok(())
}
