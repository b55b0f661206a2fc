//! Factors of which threads compute the place of each access, but which TMA loads: columns of pixels, what a convolution multiplies, by im2col, and matrices whose modes have
//! several leaves, by boxes within these.

use super::sm90;
use crate::arch::WIDEST;
use cute_arith::gcd;
use cute_ir::{
    contract::{At, divisor, step},
    hopper::Convolution,
    plan::SharedTile,
};
use cute_layout::{
    Dyn, IntTuple, Layout, LayoutError, Leaf, int,
    tma::{Filter, MOST_DIMS, PixelBox, TmaBox},
    tuple,
};

/// Modes of pixels of a tensor map, at most: W, H and D.
const MOST_PIXELS: usize = 3;

/// Bytes of a line of L2.
const LINE: i64 = 128;

/// Bits of an offset of an instruction along each mode of pixels, of so many modes (PTX ISA, im2col mode).
const OFFSET_BITS: [u32; MOST_PIXELS] = [16, 8, 5];

/// Elements of the filter behind its last one that tiles reach over at most: of 32 channels each, eight of a tile of 256, in a cluster of eight.
const OVER: i64 = 64;

/// Strides of a tensor that stands for any, in elements.
const FAR: i64 = 1 << 20;

/// What TMA loads of a factor whose rows or columns have no stride of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boxes {
    /// Columns of pixels.
    Columns(Columns),
    /// Parts of the first leaves of modes.
    Leaves(Leaves),
}

/// A matrix whose modes have several leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// The extents of the first leaves of rows and of columns; 0 of a mode of one leaf, which a tile may reach over.
    first: [i64; 2],
    lines: i64,
    pitch: i64,
}

impl Boxes {
    /// The columns of pixels; none of another factor.
    pub fn columns(self) -> Option<Columns> {
        match self {
            Boxes::Columns(columns) => Some(columns),
            Boxes::Leaves(_) => None,
        }
    }

    /// Tells whether rows are channels and elements of a filter, as the gradient of a filter has them.
    pub(super) fn is_across(self) -> bool {
        matches!(self, Boxes::Columns(Columns { places: 1, .. }))
    }

    /// Elements of the factor that are one in memory.
    pub(super) fn same(self) -> i64 {
        match self {
            Boxes::Columns(columns) => columns.same,
            Boxes::Leaves(_) => 1,
        }
    }

    /// Elements that lines start at multiples of, wherever they end, and elements that they are multiples of apart, up to a line of L2.
    pub(super) fn lines(self) -> [i64; 2] {
        match self {
            Boxes::Columns(columns) => [columns.lines, columns.pitch],
            Boxes::Leaves(leaves) => [leaves.lines, leaves.pitch],
        }
    }

    /// Tells whether a box may have so many elements along K.
    pub(super) fn has_along_k(self, k: i64) -> bool {
        match self {
            Boxes::Columns(own) => own.places == 1 || own.channels % k == 0,
            Boxes::Leaves(own) => own.first[1] % k == 0,
        }
    }

    /// Tells whether loads of a tile of so many rows and columns bring whole lines of L2 where the factor has them: less takes as many loads and twice the time, or more.
    pub(super) fn loads_lines(self, tile: [i64; 2]) -> bool {
        let Boxes::Columns(own) = self else {
            return true;
        };
        let is_whole = |channels: i64| channels * own.bytes % LINE == 0;
        !is_whole(own.channels) || is_whole(own.channels_at_once(tile))
    }

    /// Checks that a tile of so many rows and columns of a factor is one box. Errors: what it does not divide.
    pub(super) fn check(self, name: &str, tile: [i64; 2]) -> Result<(), String> {
        let [rows, columns] = tile;
        match self {
            Boxes::Columns(own) if own.channels % own.channels_at_once(tile).max(1) != 0 => {
                Err(format!(
                    "expected channels of {name} that boxes divide, as TMA loads those of one element of the filter at a time, found {} channels and boxes of {}",
                    own.channels,
                    own.channels_at_once(tile)
                ))
            }
            Boxes::Leaves(own) if (0..2).any(|mode| own.first[mode] % tile[mode].max(1) != 0) => {
                Err(format!(
                    "expected modes of {name} whose first leaf tiles divide, as TMA loads a part of one leaf at a time, found leaves of {:?} and tiles of {rows}x{columns}",
                    own.first
                ))
            }
            _ => Ok(()),
        }
    }
}

impl Leaves {
    /// The leaves of a matrix, of elements of so many bytes, whose start is aligned to so many; none of one that TMA cannot load.
    pub fn of(layout: &Layout, bytes: i64, align: i64) -> Option<Self> {
        let bytes = bytes.max(1);
        let mut own = Self {
            first: [0; 2],
            lines: align / bytes,
            pitch: LINE / bytes,
        };
        let mut is_contiguous = false;
        for (at, mode) in layout.modes().iter().enumerate() {
            let (shape, strides) = (mode.shape().leaves(), mode.stride().leaves());
            if shape.len() > 1 {
                *own.first.get_mut(at)? = shape.first()?.as_static()?;
                // The place along a mode is taken apart by these.
                shape
                    .iter()
                    .map(|extent| extent.as_static())
                    .collect::<Option<Vec<_>>>()?;
            }
            for (leaf, stride) in strides.into_iter().enumerate() {
                if leaf == 0 && stride.is(1) && !is_contiguous {
                    is_contiguous = true;
                    continue;
                }
                if stride.is(0) {
                    return None;
                }
                own.lines = gcd(own.lines, divisor(stride));
                own.pitch = gcd(own.pitch, divisor(stride));
            }
        }
        let dims = layout.stride().leaves().len();
        let fits = layout.rank() == 2 && is_contiguous && dims <= MOST_DIMS;
        fits.then_some(own)
    }
}

/// The columns of pixels that a factor is: the places of a filter along one mode, channels and elements of the filter along the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// The mode of the matrix that has the places of the filter: 0 where each is a row.
    places: usize,
    /// Channels of an image.
    channels: i64,
    /// Bytes of an element.
    bytes: i64,
    lines: i64,
    pitch: i64,
    /// Modes of pixels: W, H and D, as many as there are.
    pixels: usize,
    /// Elements of the matrix for each element of the images.
    same: i64,
    lower: [i64; MOST_PIXELS],
    upper: [i64; MOST_PIXELS],
    strides: [i64; MOST_PIXELS],
    extents: [i64; MOST_PIXELS],
    dilation: [i64; MOST_PIXELS],
}

/// The places or the elements of a filter along a mode of pixels: how many there are, and how far apart.
type Steps = (i64, i64);

impl Columns {
    /// The columns of a factor that has the elements of images (C,W,H,D,N) at coordinates; none of coordinates that are no places of a filter in this order, and where only a
    /// launch knows an extent but the number of images.
    pub fn of(at: &At<'_>) -> Option<Self> {
        let (images, bytes) = (&at.tensor, at.matrix.element_bytes().max(1));
        let pixels = images.rank().checked_sub(2)?;
        if !(1..=MOST_PIXELS).contains(&pixels) || at.places.rank() != 2 {
            return None;
        }
        let mut modes = Vec::new();
        for mode in at.places.modes() {
            let leaves = mode.shape().leaves().into_iter().cloned();
            let strides = mode.stride().leaves().into_iter();
            let strides =
                strides.map(|leaf| step(leaf).map(|own| own.map(|(by, at)| (by.clone(), at))));
            let strides = strides.collect::<Result<Vec<_>, _>>().ok()?;
            modes.push(leaves.zip(strides).collect::<Vec<_>>());
        }
        let is_channels = |mode: &[(Leaf, Option<(Leaf, usize)>)]| {
            let first = mode.first().and_then(|(_, step)| step.as_ref());
            first.is_some_and(|(by, along)| by.is(1) && *along == 0)
        };
        let places = (0..2).find(|places| is_channels(&modes[1 - places]))?;
        let extent = |mode: usize| images.shape().get(mode)?.as_static();
        let (channels, taps) = modes[1 - places].split_first()?;
        let channels = channels.0.as_static()?;
        if extent(0) != Some(channels) {
            return None;
        }
        let (of_taps, has_images) = steps(taps, pixels)?;
        let (of_places, _) = steps(&modes[places], pixels)?;
        if has_images || of_places.iter().any(|(count, _)| *count < 1) {
            return None;
        }
        let start = |mode: usize| at.start.get(mode)?.as_static();
        if start(0) != Some(0) || start(pixels + 1) != Some(0) {
            return None;
        }
        let mut own = Self {
            places,
            channels,
            bytes,
            lines: at.matrix.align / bytes,
            pitch: LINE / bytes,
            pixels,
            same: 1,
            lower: [0; MOST_PIXELS],
            upper: [0; MOST_PIXELS],
            strides: [1; MOST_PIXELS],
            extents: [1; MOST_PIXELS],
            dilation: [1; MOST_PIXELS],
        };
        // Of the matrix and of the images, in pixels.
        let mut sizes = [1i64; 2];
        for along in 0..pixels {
            let ((count, by), (taps, apart)) = (of_places[along], of_taps[along]);
            let last = count.checked_sub(1)?.checked_mul(by)?;
            let reach = taps.checked_sub(1)?.checked_mul(apart)?;
            // Through a filter that is gone through from its end a place is that of the last pixel that it reads.
            own.lower[along] = start(along + 1)?.checked_add(reach.min(0))?;
            let end = own.lower[along].checked_add(last)?;
            own.upper[along] = end.checked_sub(extent(along + 1)? - 1)?;
            sizes[0] = sizes[0].saturating_mul(count.saturating_mul(taps));
            sizes[1] = sizes[1].saturating_mul(extent(along + 1)?);
            own.strides[along] = by;
            own.extents[along] = taps;
            own.dilation[along] = apart;
        }
        own.same = (sizes[0] / sizes[1].max(1)).max(1);
        for mode in 1..images.rank() {
            let stride = images.stride().get(mode)?.as_leaf()?;
            own.lines = gcd(own.lines, divisor(stride));
            own.pitch = gcd(own.pitch, divisor(stride));
        }
        if places == 1 && !own.reaches_over() {
            return None;
        }
        // A tile of as little as TMA copies, to learn whether a map of these images has such columns.
        let convolution = own.convolution();
        let granule = (WIDEST / 8 / bytes).max(1);
        let smem = Layout::new(tuple([8, granule].map(int)), tuple([granule, 1].map(int))).ok()?;
        TmaBox::of_im2col(images, &smem, None, bytes * 8, &convolution.pixels).ok()?;
        convolution.coordinates(images).ok()?;
        Some(own)
    }

    /// Tells whether an instruction reaches elements behind the last one of the filter, which tiles may have that go over its end, and those of blocks of a cluster that have no tile: what
    /// comes is multiplied for columns that nobody stores.
    fn reaches_over(&self) -> bool {
        let last = self.pixels - 1;
        let others: i64 = self.extents[..last].iter().product();
        let over = (OVER + others - 1) / others.max(1);
        let reach = (self.extents[last] - 1 + over).saturating_mul(self.dilation[last]);
        let is_forward = self.dilation.iter().all(|apart| *apart > 0);
        is_forward && reach < 1 << OFFSET_BITS[last]
    }

    /// The places of the filter and its elements, as an atom of TMA is made of them.
    pub fn convolution(&self) -> Convolution {
        let own = |all: &[i64; MOST_PIXELS]| all[..self.pixels].to_vec();
        Convolution {
            pixels: PixelBox {
                lower: own(&self.lower),
                upper: own(&self.upper),
                strides: own(&self.strides),
            },
            filter: Filter {
                extents: own(&self.extents),
                dilation: own(&self.dilation),
            },
        }
    }

    /// Channels of a tile of so many rows and columns that one load brings, which are of one element of the filter: all of them, or where channels are rows those that lie side by side
    /// in shared memory.
    fn channels_at_once(&self, tile: [i64; 2]) -> i64 {
        let channels = tile[1 - self.places];
        let of_run = sm90::spanned(channels * self.bytes).map(|span| span / self.bytes);
        match self.places {
            0 => channels,
            _ => of_run.unwrap_or(channels),
        }
    }

    /// Loads of a tile of so many rows and columns that a block makes along rows.
    pub(crate) fn loads(&self, tile: [i64; 2]) -> i64 {
        match self.places {
            0 => 1,
            _ => tile[0] / self.channels_at_once(tile).max(1),
        }
    }

    /// The layout in shared memory of what one load brings of a tile of these modes: places of the filter, and channels.
    pub(crate) fn of_load(&self, modes: Vec<Layout>) -> Result<Layout, LayoutError> {
        let sizes = modes
            .iter()
            .map(Layout::size)
            .collect::<Result<Vec<_>, _>>()?;
        let mut own = modes;
        if let ([rows, columns], 1) = (&sizes[..], self.places) {
            let run = Layout::leaf(self.channels_at_once([*rows, *columns]), 1)?;
            own[0] = own[0].composition(&run)?;
        }
        Layout::from_modes(&self.by_places(own))
    }

    /// What TMA copies at once of a tile of rows and columns of the matrix in shared memory, of elements of so many bits. Strides and extents of the images do not matter.
    pub(super) fn column(&self, tile: &SharedTile, bits: i64) -> Result<TmaBox, LayoutError> {
        let modes = self.pixels + 2;
        let stride = |mode: usize| if mode == 0 { int(1) } else { int(FAR) };
        let images = Layout::new(
            tuple(
                (0..modes)
                    .map(|_| IntTuple::Leaf(Leaf::Dynamic(Dyn::I32)))
                    .collect::<Vec<_>>(),
            ),
            tuple((0..modes).map(stride).collect::<Vec<_>>()),
        )?;
        let smem = self.of_load(tile.layout.modes())?;
        TmaBox::of_im2col(
            &images,
            &smem,
            tile.swizzle,
            bits,
            &self.convolution().pixels,
        )
    }

    /// The modes of a matrix with the places of the filter first, as TMA has them.
    pub(crate) fn by_places<T>(&self, mut modes: Vec<T>) -> Vec<T> {
        if self.places == 1 {
            modes.swap(0, 1);
        }
        modes
    }
}

/// The steps along each mode of pixels of leaves that step along W, H and D and then from image to image, in this order, one step of extent 1 along a mode without a
/// leaf, and whether there is one of images; none of other leaves.
fn steps(leaves: &[(Leaf, Option<(Leaf, usize)>)], pixels: usize) -> Option<(Vec<Steps>, bool)> {
    let (mut all, mut has_images) = (vec![(1, 1); pixels], false);
    let mut next = 1;
    for (extent, step) in leaves {
        if extent.is(1) {
            continue;
        }
        let (by, along) = step.as_ref()?;
        if *along < next {
            return None;
        }
        next = along + 1;
        match all.get_mut(along - 1) {
            Some(own) => *own = (extent.as_static()?, by.as_static()?),
            None if by.is(1) && *along == pixels + 1 => has_images = true,
            None => return None,
        }
    }
    Some((all, has_images))
}
