//! The leaves of a tensor's layout that only a launch knows, as values.

use cute_ir::ops::cute;
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{CuteType, MemRef},
};
use melior::ir::ValueLike;
use std::ops::Range;

/// The values of a layout's leaves, those of the shape from left to right, then those of the stride; none of those that its type
/// knows.
pub(super) fn leaves_of<'c>(
    b: Builder<'c>,
    layout: Val<'c>,
) -> Result<Vec<Option<Val<'c>>>, Failure> {
    let Some(CuteType::Layout(ty)) = CuteType::get(layout.r#type()) else {
        return Err(b.error("expected a layout"));
    };
    let values = b.infer_all(cute::GET_SCALARS, &[layout], &[("only_dynamic", b.unit())])?;
    let mut values = values.into_iter();
    let leaves = ty.shape().leaves().into_iter().chain(ty.stride().leaves());
    let leaves = leaves.map(|leaf| match leaf.is_static() {
        true => Ok(None),
        false => values.next().expected(b, "a dynamic leaf").map(Some),
    });
    leaves.collect()
}

/// The places of a mode's leaves among those of its shape.
pub(super) fn places_of(memref: &MemRef<'_>, mode: usize) -> Range<usize> {
    let modes = memref.layout.shape().modes();
    let before: usize = modes[..mode].iter().map(|mode| mode.leaves().len()).sum();
    before..before + modes[mode].leaves().len()
}
