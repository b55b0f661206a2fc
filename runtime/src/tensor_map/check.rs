//! The rules of `cuTensorMapEncodeTiled`, and those that `cuTensorMapEncodeIm2col` has as well (CUDA driver API, "Tensor Map Object Management").

use super::{Interleave, MAX_RANK, MapSwizzle, OobFill, TensorMap};

/// The most elements along a mode.
const MAX_SIZE: u64 = 1 << 32;
/// Strides are below this.
const MAX_STRIDE: u64 = 1 << 40;
/// The most elements of a box along a mode.
const MAX_BOX: u32 = 256;
/// The largest element stride.
const MAX_ELEMENT_STRIDE: u32 = 8;
/// Bytes that addresses, strides and rows of a box are multiples of.
pub const GRANULE: u64 = 16;

/// A rule that a tensor map breaks. Each text says what the rule is, what was found, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorMapError {
    /// A tensor with no or too many modes.
    #[error(
        "a tensor map has 1 to {MAX_RANK} modes, not {found}; merge modes that are contiguous, or give some to the grid"
    )]
    Rank {
        /// Modes of the tensor.
        found: usize,
    },
    /// A list that has not one entry for each mode.
    #[error(
        "a tensor map of {rank} modes has {expected} {list}, not {found}; give one for each mode{}",
        entries_of(list)
    )]
    Length {
        /// The list's name.
        list: &'static str,
        /// Modes of the tensor.
        rank: usize,
        /// Entries that the list should have.
        expected: usize,
        /// Entries that it has.
        found: usize,
    },
    /// An address that is not aligned.
    #[error(
        "the tensor of a map begins at a multiple of 16 bytes, not at {found:#x} ({} bytes too many); align the tensor, or copy it by another way", found % GRANULE
    )]
    Address {
        /// The address.
        found: u64,
    },
    /// A mode that is empty or too long.
    #[error(
        "mode {mode} of a tensor map has 1 to 2^32 elements, not {found}; leave an empty tensor out of the launch, split a longer one"
    )]
    Size {
        /// The mode.
        mode: usize,
        /// Its elements.
        found: u64,
    },
    /// A stride that is no multiple of 16 bytes.
    #[error(
        "the stride of mode {mode} of a tensor map is a multiple of 16 bytes, not {found}; pad rows to a multiple of {} elements, or copy the tensor by cp.async", GRANULE / *element
    )]
    StrideGranule {
        /// The mode.
        mode: usize,
        /// Its stride in bytes.
        found: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// A stride that is too long.
    #[error(
        "the stride of mode {mode} of a tensor map is below 2^40 bytes, not {found}; move the base of the tensor instead"
    )]
    StrideLimit {
        /// The mode.
        mode: usize,
        /// Its stride in bytes.
        found: u64,
    },
    /// A box that is empty or too long along a mode.
    #[error(
        "the box of a tensor map has 1 to 256 elements along mode {mode}, not {found}; copy a longer tile in several boxes"
    )]
    Box {
        /// The mode.
        mode: usize,
        /// Elements of the box.
        found: u32,
    },
    /// A row of the box that is no multiple of 16 bytes.
    #[error(
        "a row of a tensor map's box is a multiple of 16 bytes; {found} elements of {element} bytes are {}; take a multiple of {} elements", u64::from(*found) * element, GRANULE / *element
    )]
    BoxGranule {
        /// Elements of the box along the first mode.
        found: u32,
        /// Bytes of an element.
        element: u64,
    },
    /// A row of the box that is wider than the swizzle.
    #[error(
        "with a swizzle of {span} bytes a row of a tensor map's box has at most {span} bytes, not {found}; take a box of {span} bytes along the first mode and copy several of them"
    )]
    BoxSpan {
        /// Bytes of the swizzle.
        span: u64,
        /// Bytes of a row of the box.
        found: u64,
    },
    /// An element stride of 0 or above 8.
    #[error(
        "the element stride of mode {mode} of a tensor map is 1 to 8, not {found}; fold a longer one into the tensor's stride"
    )]
    ElementStride {
        /// The mode.
        mode: usize,
        /// The element stride.
        found: u32,
    },
    /// A map by im2col of a tensor that is no batch of images.
    #[error(
        "a tensor map by im2col has 3 to 5 modes, channels, one to three of pixels, and images, not {found}; give the tensor modes of one element, or copy it \
         by a tiled map"
    )]
    Im2colRank {
        /// Modes of the tensor.
        found: usize,
    },
    /// A corner of the pixels that does not fit.
    #[error(
        "the {which} corner of a tensor map of {rank} modes by im2col is {least} to {most} along mode {mode}, not {found}; pad the tensor in memory, or take a \
         smaller filter"
    )]
    Corner {
        /// The corner's name, lower or upper.
        which: &'static str,
        /// Modes of the tensor.
        rank: usize,
        /// The least number that fits.
        least: i32,
        /// The largest number that fits.
        most: i32,
        /// The mode of the tensor.
        mode: usize,
        /// The corner along it.
        found: i32,
    },
    /// Corners without a pixel between them.
    #[error(
        "the corners of a tensor map by im2col have pixels between them; along mode {mode}, of {size} elements, {lower} and {upper} leave none; pad more, or \
         take a smaller filter"
    )]
    NoPixels {
        /// The mode.
        mode: usize,
        /// Its elements.
        size: u64,
        /// The lower corner along it.
        lower: i32,
        /// The upper corner along it.
        upper: i32,
    },
    /// A pixel without or with too many channels.
    #[error(
        "a pixel of a tensor map by im2col has 1 to 256 channels, not {found}; copy more in several columns"
    )]
    Channels {
        /// The channels.
        found: u32,
    },
    /// A column without or with too many pixels.
    #[error(
        "a column of a tensor map by im2col has 1 to 1024 pixels, not {found}; copy more in several columns"
    )]
    Pixels {
        /// The pixels.
        found: u32,
    },
    /// A stride over images.
    #[error(
        "a tensor map by im2col steps through the pixels of an image, but not over images: the element stride of mode {mode} is 1, not {found}; fold it \
         into the tensor's stride"
    )]
    ImageStride {
        /// The mode of the images.
        mode: usize,
        /// The element stride.
        found: u32,
    },
    /// An interleaved tensor.
    #[error(
        "tensor maps here are not interleaved, but this one is by {bytes} bytes; make the slice a mode of its own"
    )]
    Interleave {
        /// Bytes of a slice.
        bytes: u32,
    },
    /// NaN as a fill of integers.
    #[error(
        "only elements of a floating-point type are filled with NaN, not {element}; fill with zero"
    )]
    Fill {
        /// The element's name.
        element: &'static str,
    },
}

/// The modes that a list has an entry for, as far as that is not all of them.
fn entries_of(list: &str) -> &'static str {
    match list {
        "strides" => " but the first",
        "extents of the lower corner" | "extents of the upper corner" => " of pixels, W, H and D",
        "extents of a column" => ": channels, then pixels",
        _ => "",
    }
}

/// Tells whether a map may begin so many bytes behind an address at which one may.
pub fn is_map_start(bytes: i64) -> bool {
    u64::try_from(bytes).is_ok_and(|bytes| bytes.is_multiple_of(GRANULE))
}

impl TensorMap {
    /// Enforces the driver's rules.
    ///
    /// # Errors
    /// The first rule that is broken: the number of modes, then what is not per mode, then mode by mode.
    pub fn check(&self) -> Result<(), TensorMapError> {
        self.check_lengths()?;
        Self::check_address(self.address)?;
        let bytes = match self.interleave {
            Interleave::None => 0,
            Interleave::B16 => 16,
            Interleave::B32 => 32,
        };
        if bytes != 0 {
            return Err(TensorMapError::Interleave { bytes });
        }
        if self.oob_fill == OobFill::Nan && !self.element.is_float() {
            let element = self.element.name();
            return Err(TensorMapError::Fill { element });
        }
        self.check_tensor()?;
        self.check_box()
    }

    /// Enforces the driver's rule on the address of the first element.
    pub(crate) fn check_address(found: u64) -> Result<(), TensorMapError> {
        if found.is_multiple_of(GRANULE) {
            Ok(())
        } else {
            Err(TensorMapError::Address { found })
        }
    }

    fn check_lengths(&self) -> Result<(), TensorMapError> {
        let rank = self.rank();
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(TensorMapError::Rank { found: rank });
        }
        let corners = self.check_corners_lengths()?;
        let (extents, expected) = match self.im2col {
            Some(_) => ("extents of a column", 2),
            None => ("extents of the box", rank),
        };
        let lists = [
            ("strides", rank - 1, self.strides.len()),
            (extents, expected, self.box_sizes.len()),
            ("element strides", rank, self.element_strides.len()),
        ];
        let lists = lists.into_iter().chain(corners);
        for (list, expected, found) in lists {
            if expected != found {
                return Err(TensorMapError::Length {
                    list,
                    rank,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }

    fn check_tensor(&self) -> Result<(), TensorMapError> {
        for (mode, &found) in self.sizes.iter().enumerate() {
            if !(1..=MAX_SIZE).contains(&found) {
                return Err(TensorMapError::Size { mode, found });
            }
        }
        for (mode, &found) in self.strides.iter().enumerate() {
            let mode = mode + 1;
            if !found.is_multiple_of(GRANULE) {
                let element = self.element.bytes() as u64;
                return Err(TensorMapError::StrideGranule {
                    mode,
                    found,
                    element,
                });
            }
            if found >= MAX_STRIDE {
                return Err(TensorMapError::StrideLimit { mode, found });
            }
        }
        Ok(())
    }

    fn check_extents(&self) -> Result<(), TensorMapError> {
        for (mode, &found) in self.box_sizes.iter().enumerate() {
            if !(1..=MAX_BOX).contains(&found) {
                return Err(TensorMapError::Box { mode, found });
            }
        }
        Ok(())
    }

    fn check_box(&self) -> Result<(), TensorMapError> {
        match &self.im2col {
            Some(pixels) => self.check_pixels(pixels)?,
            None => self.check_extents()?,
        }
        // The first mode's is ignored where nothing is interleaved, but has to be a legal number all the same.
        for (mode, &found) in self.element_strides.iter().enumerate() {
            if !(1..=MAX_ELEMENT_STRIDE).contains(&found) {
                return Err(TensorMapError::ElementStride { mode, found });
            }
        }
        let element = self.element.bytes() as u64;
        let row = u64::from(self.box_sizes[0]) * element;
        if !row.is_multiple_of(GRANULE) {
            return Err(TensorMapError::BoxGranule {
                found: self.box_sizes[0],
                element,
            });
        }
        match MapSwizzle::span(self.swizzle) {
            Some(span) if row > span as u64 => Err(TensorMapError::BoxSpan {
                span: span as u64,
                found: row,
            }),
            _ => Ok(()),
        }
    }
}
