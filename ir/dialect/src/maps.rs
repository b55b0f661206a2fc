//! The regions of `cute.map` and `cute.block.map`: what they reduce, and which of their values are the same along a mode. The verifier,
//! `cute-tile` and `cute-partition` read it here.

use crate::{
    mlir::*,
    ops::cute,
    types::{MemRef, memref_of},
};
use cute_arith::ReduceOp;
use cute_layout::{Layout, Leaf};
use std::collections::HashSet;

/// The reductions of a region, in its order.
pub fn reductions<'c>(block: Blk<'c>) -> Vec<cute::AllReduce<'c>> {
    let ops = ops_of(block).into_iter();
    ops.filter_map(cute::AllReduce::of).collect()
}

/// The kind of a reduction; none of one that is not known.
pub fn kind_of(reduce: &cute::AllReduce<'_>) -> Option<ReduceOp> {
    ReduceOp::named(reduce.kind().and_then(string_value)?)
}

/// The modes that a reduction is along.
pub fn modes_of(reduce: &cute::AllReduce<'_>) -> Vec<i64> {
    reduce.along().and_then(i64s_of).unwrap_or_default()
}

/// Tells whether all elements along a mode of a layout are one, whatever its extent.
pub fn is_same_along(layout: &Layout, mode: usize) -> bool {
    let Ok(mode) = layout.mode(mode) else {
        return false;
    };
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    let same = |(extent, stride): (&&Leaf, &&Leaf)| {
        **extent == Leaf::Static(1) || **stride == Leaf::Static(0)
    };
    shape.iter().zip(&stride).all(same)
}

/// Tells whether elements along a mode of a layout are known to lie at one place: all of them, or those of a part of the mode.
pub fn repeats_along(layout: &Layout, mode: usize) -> bool {
    let Ok(mode) = layout.mode(mode) else {
        return false;
    };
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    let mut leaves = shape.into_iter().zip(stride);
    leaves.any(|(extent, stride)| !extent.is(1) && stride.is(0))
}

/// The values of a region that may differ along some of the modes, where the region's arguments are elements of these tensors. A
/// reduction gives what is the same along its own modes.
pub fn varying<'c>(
    block: Blk<'c>,
    inputs: &[MemRef<'c>],
    modes: impl Fn(usize) -> bool,
) -> HashSet<ValueKey> {
    let mut found = HashSet::new();
    for (argument, input) in arguments_of(block).into_iter().zip(inputs) {
        let mut own = (0..input.layout.rank()).filter(|mode| modes(*mode));
        if own.any(|mode| !is_same_along(&input.layout, mode)) {
            found.insert(key(argument));
        }
    }
    for op in ops_of(block) {
        if let Some(reduce) = cute::AllReduce::of(op) {
            let along = modes_of(&reduce);
            let is_reduced = |mode: usize| along.contains(&(mode as i64));
            if (0..rank(inputs)).any(|mode| modes(mode) && !is_reduced(mode))
                && found.contains(&key(reduce.value()))
            {
                found.insert(key(reduce.result()));
            }
            continue;
        }
        if values_used_by(op)
            .iter()
            .any(|value| found.contains(&key(*value)))
        {
            found.extend(results_of(op).into_iter().map(key));
        }
    }
    found
}

fn rank(inputs: &[MemRef]) -> usize {
    inputs.first().map_or(0, |input| input.layout.rank())
}

/// The types of tensors; none where a value is no tensor.
pub fn tensors<'c>(values: &[Val<'c>]) -> Option<Vec<MemRef<'c>>> {
    values.iter().map(|value| memref_of(*value)).collect()
}
