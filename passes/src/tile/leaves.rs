//! The leaves of a tensor's layout that only a launch knows, as values.

use super::indexed::layout_value;
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{CuteType, MemRef, memref_of},
};
use cute_layout::{IntTuple, Layout};
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

/// The extent of a mode of a tensor, of type `index`.
pub(super) fn extent_of_mode<'c>(
    host: Builder<'c>,
    tensor: Val<'c>,
    mode: usize,
) -> Result<Val<'c>, Failure> {
    let memref = memref_of(tensor).expected(host, "a tensor")?;
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(host, layout)?;
    let own = places_of(&memref, mode);
    let known = memref
        .layout
        .shape()
        .get(mode)
        .expected(host, "an extent")?;
    extent_of_leaves(host, known, &leaves[own])
}

/// The product of extents, of type `index`, of which these are the values of those that are not known.
pub(super) fn extent_of_leaves<'c>(
    host: Builder<'c>,
    extents: &IntTuple,
    values: &[Option<Val<'c>>],
) -> Result<Val<'c>, Failure> {
    let index = host.index_type();
    let mut product = None;
    for (known, value) in extents.leaves().into_iter().zip(values) {
        let value = match value {
            Some(value) => host.value(arith::INDEX_CAST, &[*value], index, &[])?,
            None => host.constant(index, known.as_static().expected(host, "a number")?)?,
        };
        product = Some(match product {
            Some(before) => host.value(arith::MULI, &[before, value], index, &[])?,
            None => value,
        });
    }
    product.expected(host, "an extent")
}

/// A tensor with another layout, of which these are the leaves that are not known, those of the shape and then those of the stride.
pub(super) fn with_layout<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    layout: &Layout,
    leaves: [&[Val<'c>]; 2],
) -> Result<Val<'c>, Failure> {
    let memref = memref_of(tensor).expected(b, "a tensor")?;
    let start = b.infer(cute::GET_ITER, &[tensor], &[])?;
    let layout = layout.clone();
    view_at(b, start, &MemRef { layout, ..memref }, leaves)
}

/// A tensor of a type that starts at a pointer, with these leaves of its layout that are not known.
pub(super) fn view_at<'c>(
    b: Builder<'c>,
    start: Val<'c>,
    whole: &MemRef<'c>,
    [of_shape, of_stride]: [&[Val<'c>]; 2],
) -> Result<Val<'c>, Failure> {
    let layout = &whole.layout;
    let ty = whole.to_type(b.location)?;
    let value = layout_value(b, layout, [of_shape, of_stride])?;
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}

/// The larger one of a value and a number, or 1 in place of 0: of an extent and what divides it, which 0 does where there are no elements.
pub(super) fn at_least<'c>(b: Builder<'c>, value: Val<'c>, least: i64) -> Result<Val<'c>, Failure> {
    let ty = value.r#type();
    let least = b.constant(ty, least.max(1))?;
    b.value(arith::MAXSI, &[value, least], ty, &[])
}

/// The extent of modes of a tensor together, of type `index`, where it is not known.
pub(super) fn extent_of_modes<'c>(
    host: Builder<'c>,
    known: Option<i64>,
    tensor: Val<'c>,
    modes: &[usize],
) -> Result<Val<'c>, Failure> {
    let index = host.index_type();
    if let Some(known) = known {
        return host.constant(index, known);
    }
    let mut product = None;
    for mode in modes {
        let extent = extent_of_mode(host, tensor, *mode)?;
        product = Some(match product {
            Some(before) => host.value(arith::MULI, &[before, extent], index, &[])?,
            None => extent,
        });
    }
    product.map_or_else(|| host.constant(index, 1), Ok)
}

/// The leaves that only a launch knows of a tensor of that type, in the order of modes that are put together: those of the shape, and those of the
/// stride.
pub(super) fn open_leaves<'c>(
    b: Builder<'c>,
    tensor: Val<'c>,
    memref: &MemRef<'_>,
    modes: &[Vec<usize>],
) -> Result<[Vec<Val<'c>>; 2], Failure> {
    let layout = b.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(b, layout)?;
    let (shape, stride) = leaves.split_at(leaves.len() / 2);
    let pick = |leaves: &[Option<Val<'c>>]| {
        let places = modes.iter().flatten();
        let places = places.flat_map(|mode| places_of(memref, *mode));
        places
            .filter_map(|at| leaves.get(at).copied().flatten())
            .collect()
    };
    Ok([pick(shape), pick(stride)])
}

/// The extent of a mode that is known of one of these layouts.
pub(super) fn known_extent<'a>(
    layouts: impl IntoIterator<Item = &'a Layout>,
    mode: usize,
) -> Option<i64> {
    let mut extents = layouts.into_iter().filter_map(|layout| {
        let mode = layout.mode(mode).ok()?;
        mode.shape().is_static().then(|| mode.size().ok())?
    });
    extents.next()
}
