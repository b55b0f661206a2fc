//! Copies by im2col: columns of pixels of a batch of images, as a convolution multiplies them.
//!
//! To a tile such a copy is one of a matrix (pixels, channels) whose rows are the places at which a filter stands, and whose columns are what
//! it reads there: `(M,(C,S,R))`, for each element of the filter all channels. A row is a number; the hardware wants it as coordinates of the
//! image, so that the coordinates of a tile have, behind the channel, the row and the offsets of the filter, the extents by which a row is taken
//! apart. No mode of the layout steps through these, and every part of the tensor starts with them. Sources: PTX ISA, "im2col mode";
//! `cuTensorMapEncodeIm2col`; CuTe's `copy_traits_sm90_im2col.hpp`.

use super::{GRANULE, TmaBox, check_stride, modes, refuse, unit};
use crate::error::Result;
use crate::layout::Layout;
use crate::leaf::{Dyn, Leaf};
use crate::swizzle::Swizzle;
use crate::tuple::{IntTuple, int, tuple};

/// Pixels of a column, at most.
pub(super) const MOST_PIXELS: i64 = 1024;
/// Elements from one pixel to the next, at most.
const MOST_STRIDE: i64 = 8;
/// Names of the modes that are no channels and no images.
const NAMES: [&str; 3] = ["W", "H", "D"];

/// The places at which a filter stands: along W, H and D, from the lower corner to the upper one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PixelBox {
    /// The first place, from the first pixel: -padding.
    pub lower: Vec<i64>,
    /// The last place, from the last pixel: padding - (extent of the filter - 1) * dilation.
    pub upper: Vec<i64>,
    /// Pixels from one place to the next, the convolution's stride.
    pub strides: Vec<i64>,
}

/// The elements of a filter: along W, H and D.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Elements along each mode.
    pub extents: Vec<i64>,
    /// Pixels from one element to the next; a negative number goes through the filter from its end.
    pub dilation: Vec<i64>,
}

impl PixelBox {
    /// Bits of a corner along one of so many modes.
    fn bits(&self) -> u32 {
        [16, 8, 5][self.lower.len().clamp(1, 3) - 1]
    }

    /// Checks that a tensor map can have these corners and strides.
    pub fn check(&self) -> Result<()> {
        let count = self.lower.len();
        let lists = [
            ("lower_corner", &self.lower),
            ("upper_corner", &self.upper),
            ("stride", &self.strides),
        ];
        for (name, list) in lists {
            if !(1..=3).contains(&count) || list.len() != count {
                return refuse(
                    "a number for W, or for W and H, or for W, H and D, in each of lower_corner, upper_corner and stride",
                    format!("{} of {name}", list.len()),
                    "give one for each mode of the tensor but the first, channels, and the last, images",
                );
            }
        }
        let most = (1 << (self.bits() - 1)) - 1;
        for (name, list) in &lists[..2] {
            for (along, corner) in NAMES.iter().zip(*list) {
                if !(-most - 1..=most).contains(corner) {
                    return refuse(
                        format!(
                            "{name} of {} to {most} along {along}, as a tensor map of {} modes has it",
                            -most - 1,
                            count + 2
                        ),
                        corner.to_string(),
                        "pad the tensor in memory, or take a smaller filter",
                    );
                }
            }
        }
        for (along, stride) in NAMES.iter().zip(&self.strides) {
            if !(1..=MOST_STRIDE).contains(stride) {
                return refuse(
                    format!("a stride of 1 to {MOST_STRIDE} along {along}"),
                    stride.to_string(),
                    "fold a longer one into the tensor's stride",
                );
            }
        }
        Ok(())
    }

    /// The number of places along a mode of that extent.
    fn places(&self, mode: usize, extent: &Leaf) -> Result<Leaf> {
        let reach = self.upper[mode] - self.lower[mode];
        match (self.strides[mode], reach) {
            (1, 0) => return Ok(extent.clone()),
            (1, _) => return extent.add(&Leaf::Static(reach)),
            _ => {}
        }
        let last = extent.add(&Leaf::Static(reach - 1))?;
        let steps = last.div(&Leaf::Static(self.strides[mode]))?;
        steps.add(&Leaf::Static(1))
    }
}

impl Filter {
    /// Checks that an instruction reaches all elements of the filter over such pixels.
    fn check(&self, pixels: &PixelBox) -> Result<()> {
        let count = pixels.lower.len();
        for (name, list) in [("filter", &self.extents), ("dilation", &self.dilation)] {
            if list.len() != count {
                return refuse(
                    format!("{count} numbers of {name}, as many as of lower_corner"),
                    list.len().to_string(),
                    "give one for each mode of pixels: W, H and D",
                );
            }
        }
        let most = (1i64 << pixels.bits()) - 1;
        let all = self.extents.iter().zip(&self.dilation);
        for (along, (extent, dilation)) in NAMES.iter().zip(all) {
            let apart = dilation.saturating_abs();
            let reach = extent
                .checked_sub(1)
                .and_then(|steps| steps.checked_mul(apart));
            let is_within = reach.is_some_and(|reach| reach <= most);
            if *extent < 1 || !(1..=most).contains(&apart) || !is_within {
                return refuse(
                    format!(
                        "a filter of at least one element along {along}, not 0 pixels apart, whose last one is at most {most} pixels from the first, as an \
                         instruction on {} modes has it",
                        count + 2
                    ),
                    format!("{extent} elements, {dilation} pixels apart"),
                    "split the filter, and load each part from a lower corner of its own",
                );
            }
        }
        Ok(())
    }
}

/// Checks that a tensor is one of images: channels, pixels, images.
fn check_images(gmem: &Layout, pixels: &PixelBox, bytes: i64) -> Result<()> {
    let all = modes(gmem)?;
    if all.iter().any(|mode| mode.len() > 1) {
        return refuse(
            "a tensor whose modes are one extent and one stride each",
            gmem.to_string(),
            "flatten the tensor, so that each dimension of the map is a mode",
        );
    }
    let all: Vec<_> = all.into_iter().flatten().collect();
    let spatial = pixels.lower.len();
    if all.len() != spatial + 2 {
        return refuse(
            format!(
                "a tensor of {} modes, (C,{},N): channels, {spatial} of pixels, as corners are given for, and images",
                spatial + 2,
                NAMES[..spatial].join(",")
            ),
            gmem.to_string(),
            "order the modes so, or give a corner for each mode of pixels",
        );
    }
    if all[0].1 != Some(1) {
        return refuse(
            "a tensor whose first mode, channels, has stride 1",
            gmem.to_string(),
            "lay images out as NHWC, and write the modes (C,W,H,N); TMA's innermost stride is one element",
        );
    }
    for (_, stride, known) in &all[1..] {
        check_stride(gmem, *stride, *known, bytes)?;
    }
    for (mode, along) in NAMES.iter().enumerate().take(spatial) {
        let (lower, upper) = (pixels.lower[mode], pixels.upper[mode]);
        if all[mode + 1]
            .0
            .is_some_and(|extent| extent < lower - upper + 1)
        {
            return refuse(
                format!("corners with a pixel between them along {along}, in {gmem}"),
                format!("lower_corner {lower} and upper_corner {upper}"),
                "pad more, or take a smaller filter",
            );
        }
    }
    Ok(())
}

impl TmaBox {
    /// The column of a tile (pixels, channels) that lies in shared memory as `smem`, of the images of `gmem`, (C,W,H,D,N).
    ///
    /// Elements have `bits` bits. Errors: what TMA cannot do, with what forbids it.
    pub fn of_im2col(
        gmem: &Layout,
        smem: &Layout,
        swizzle: Option<Swizzle>,
        bits: i64,
        pixels: &PixelBox,
    ) -> Result<TmaBox> {
        pixels.check()?;
        let bytes = (bits / 8).max(1);
        check_images(gmem, pixels, bytes)?;
        if smem.rank() != 2 {
            return refuse(
                "a layout in shared memory of two modes, pixels and channels",
                smem.to_string(),
                "give the layout of one place, such as S<3,4,3> o 0 o (128,64):(64,1)",
            );
        }
        // A row of the matrix is a pixel: how many there are and how far apart is of no matter, but that it is whole granules.
        let shape = tuple([
            IntTuple::Leaf(Leaf::Dynamic(Dyn::I32)),
            IntTuple::Leaf(Leaf::Dynamic(Dyn::I32)),
        ]);
        let apart = Dyn::new(32, GRANULE / bytes);
        let matrix = Layout::new(shape, tuple([IntTuple::Leaf(Leaf::Dynamic(apart)), int(1)]))?;
        let found = TmaBox::within(&matrix, smem, swizzle, bits, MOST_PIXELS)?;
        Ok(TmaBox {
            im2col: Some(pixels.clone()),
            ..found
        })
    }
}

impl PixelBox {
    /// The coordinates of a tensor's columns: where they start, and the layout (M,(C,S,R,T)) of the steps from there.
    ///
    /// They are the channel, the place of the filter, its offsets along W, H and D, and how many places there are along these. Errors: a filter that an
    /// instruction does not reach; modes that are no images.
    pub fn coordinates(&self, gmem: &Layout, filter: &Filter) -> Result<(IntTuple, Layout)> {
        filter.check(self)?;
        let shape = gmem.shape().modes().to_vec();
        let extent = |mode: usize| match shape.get(mode) {
            Some(IntTuple::Leaf(leaf)) => Ok(leaf.clone()),
            _ => refuse(
                "a tensor whose modes are one extent each",
                gmem.to_string(),
                "flatten the tensor, so that each dimension of the map is a mode",
            ),
        };
        let spatial = self.lower.len();
        let mut rows = extent(spatial + 1)?;
        let mut places = Vec::new();
        for mode in (0..spatial).rev() {
            let here = self.places(mode, &extent(mode + 1)?)?;
            rows = rows.mul(&here)?;
            places.push(here);
        }
        places.reverse();
        let firsts = filter.extents.iter().zip(&filter.dilation);
        let firsts = firsts.map(|(extent, dilation)| int((extent - 1) * (-dilation).max(0)));
        let places = places.into_iter().map(IntTuple::Leaf);
        let start = [int(0), int(0)].into_iter().chain(firsts).chain(places);
        let mut columns = vec![IntTuple::Leaf(extent(0)?)];
        columns.extend(filter.extents.iter().map(|extent| int(*extent)));
        let mut steps = vec![unit(0)];
        for (mode, dilation) in filter.dilation.iter().enumerate() {
            steps.push(IntTuple::Leaf(Leaf::Basis {
                value: Box::new(Leaf::Static(*dilation)),
                path: std::iter::once(mode as u16 + 2).collect(),
            }));
        }
        let layout = Layout::new(
            tuple([IntTuple::Leaf(rows), tuple(columns)]),
            tuple([unit(1), tuple(steps)]),
        )?;
        Ok((tuple(start), layout))
    }
}
