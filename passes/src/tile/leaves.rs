//! The leaves of a tensor's layout that only a launch knows, as values.

use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    mlir::*,
    types::{self, CuteType, MemRef, memref_of},
};
use cute_layout::{Layout, ops::Value};
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
    let index = host.index_type();
    let memref = memref_of(tensor).expected(host, "a tensor")?;
    let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
    let leaves = leaves_of(host, layout)?;
    let known = memref.layout.shape().leaves();
    let mut product = None;
    for at in places_of(&memref, mode) {
        let value = match leaves[at] {
            Some(value) => host.value(arith::INDEX_CAST, &[value], index, &[])?,
            None => {
                let known = known[at].as_static();
                host.constant(index, known.expected(host, "a number")?)?
            }
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
    if layout.is_static() {
        let value = b.static_value(types::layout_type(b.context, layout))?;
        return b.value(cute::MAKE_VIEW, &[start, value], ty, &[]);
    }
    let (shape, stride) = (layout.shape(), layout.stride());
    let make = |name: &str, ty, leaves: &[Val<'c>]| match leaves.is_empty() {
        true => b.static_value(ty),
        false => b.value(name, leaves, ty, &[]),
    };
    let shape_type = types::shape_type(b.context, shape);
    let shape = make(cute::MAKE_SHAPE, shape_type, of_shape)?;
    let stride_type = types::value_type(b.context, &Value::Stride(stride.clone()));
    let stride = make(cute::MAKE_STRIDE, stride_type, of_stride)?;
    let value = b.infer(cute::MAKE_LAYOUT, &[shape, stride], &[])?;
    b.value(cute::MAKE_VIEW, &[start, value], ty, &[])
}
