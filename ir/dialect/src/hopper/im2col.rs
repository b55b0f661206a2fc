//! Loads by im2col: the columns of pixels that a convolution multiplies.

use super::tma_place;
use crate::{
    mlir::{Op, attribute_of, entry_of, i64s_of},
    types::{self, CuteType, MemRef},
};
use cute_layout::{
    IntTuple, Layout,
    tma::{Filter, PixelBox, TmaBox},
};
use melior::ir::{Attribute, Location, Type, ValueLike};

/// The images and the filter of a `cute_nvgpu.atom.make_im2col_tma_load`, as it says them.
pub struct Convolution {
    /// The places at which the filter stands.
    pub pixels: PixelBox,
    /// Its elements.
    pub filter: Filter,
}

impl Convolution {
    /// Reads the op.
    pub fn of(op: Op<'_>) -> Result<Self, String> {
        Self::read(|name| attribute_of(op, name))
    }

    /// Reads a dictionary of the op's attributes.
    pub fn of_entries(attributes: Attribute<'_>) -> Result<Self, String> {
        Self::read(|name| entry_of(attributes, name))
    }

    fn read<'c>(attribute: impl Fn(&str) -> Option<Attribute<'c>>) -> Result<Self, String> {
        let list = |name: &str| {
            let found = attribute(name).map(|found| i64s_of(found).ok_or(found));
            found.transpose().map_err(|found| {
                format!("expected {name} = a list of numbers, such as [1, 1], found {found}")
            })
        };
        let required = |name: &str| list(name)?.ok_or_else(|| format!("requires {name}"));
        let lower = required("lower_corner")?;
        let ones = vec![1; lower.len()];
        Ok(Convolution {
            pixels: PixelBox {
                upper: required("upper_corner")?,
                strides: list("stride")?.unwrap_or_else(|| ones.clone()),
                lower,
            },
            filter: Filter {
                extents: required("filter")?,
                dilation: list("dilation")?.unwrap_or(ones),
            },
        })
    }

    /// The coordinates of columns of images: where they start, and the steps from there.
    pub fn coordinates(&self, images: &Layout) -> Result<(IntTuple, Layout), String> {
        let found = self.pixels.coordinates(images, &self.filter);
        found.map_err(|e| e.to_string())
    }
}

/// The types of the atom that loads columns of `tensor` that lie in shared memory as `layout` says, and of the tensor of its coordinates.
pub fn im2col_types<'c>(
    location: Location<'c>,
    tensor: &MemRef<'c>,
    layout: &CuteType<'c>,
    convolution: &Convolution,
) -> Result<(Type<'c>, Type<'c>), String> {
    let (layout, swizzle, bits) = tma_place(tensor, layout)?;
    let (images, pixels) = (&tensor.layout, &convolution.pixels);
    let map = TmaBox::of_im2col(images, layout, swizzle, bits, pixels);
    let map = map.map_err(|e| e.to_string())?;
    let atom = types::tma_type(location, tensor.element, &map, false)
        .map_err(|_| "has no atom".to_owned())?;
    let (start, coordinates) = convolution.coordinates(images)?;
    let coordinates = types::coord_tensor_type(location, &start, &coordinates)
        .map_err(|_| "has no coordinates".to_owned())?;
    Ok((atom, coordinates))
}

/// The extents by which the place of a filter is taken apart, behind the coordinates that a tile moves in.
pub fn coordinates_of_tile(map: &TmaBox) -> usize {
    let places = map.im2col.as_ref().map_or(0, |pixels| pixels.lower.len());
    map.coordinates_count() + places
}

/// The numbers that an instruction takes: a coordinate for each mode of the tensor, then an offset for each mode of pixels.
pub fn numbers_of_instruction(map: &TmaBox) -> usize {
    match &map.im2col {
        Some(pixels) => 2 + 2 * pixels.lower.len(),
        None => map.dims.len(),
    }
}

/// The modes of pixels of an atom that loads by im2col; none of another value.
pub fn pixel_modes<'c>(atom: impl ValueLike<'c>) -> Option<usize> {
    match CuteType::get(atom.r#type()) {
        Some(CuteType::Tma { map, .. }) => map.im2col.as_ref().map(|pixels| pixels.lower.len()),
        _ => None,
    }
}
