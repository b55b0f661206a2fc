//! Maps by im2col: columns of pixels of a batch of images (PTX ISA, "im2col mode"; CUDA driver API, `cuTensorMapEncodeIm2col`).
//!
//! The modes of the tensor are channels, one to three of pixels (W, H, D), and images (N), fastest first.

use super::{TensorMap, TensorMapError};

/// Modes that are channels and images, beside those of pixels.
pub(crate) const OTHER_MODES: usize = 2;
/// The most channels of a pixel.
const MAX_CHANNELS: u32 = 256;
/// The most pixels of a column.
const MAX_PIXELS: u32 = 1024;

/// The pixels that a column goes through: W, then H, then D, each from the lower corner to the upper one, then the next image.
///
/// They are those at which a filter stands; what it reads there lies by the offsets of the instruction away.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PixelBox {
    /// The first pixel along W, H and D, from the tensor's first one: padding makes it negative.
    pub lower: Vec<i32>,
    /// The last pixel along W, H and D, from the tensor's last one: the extent of a filter makes it negative.
    pub upper: Vec<i32>,
}

impl PixelBox {
    /// Bits of a corner along one mode, of a tensor of that many modes.
    fn bits(rank: usize) -> u32 {
        match rank {
            3 => 16,
            4 => 8,
            _ => 5,
        }
    }

    /// The most that an instruction adds to a pixel along one mode, of a tensor of that many modes (PTX ISA, "im2col offsets range").
    pub fn max_offset(rank: usize) -> u32 {
        (1 << Self::bits(rank)) - 1
    }

    /// The first and the last pixel along a mode, counted among those of W, H and D, of that many elements.
    pub fn range(&self, mode: usize, size: u64) -> (i64, i64) {
        let at = |corner: &[i32]| i64::from(corner.get(mode).copied().unwrap_or(0));
        (at(&self.lower), size as i64 - 1 + at(&self.upper))
    }
}

/// A list's name, the entries that it should have, and those that it has.
type Length = (&'static str, usize, usize);

impl TensorMap {
    /// Returns what a map by im2col has lists of besides; nothing of a tiled one. Errors: modes that are no images.
    pub(super) fn check_corners_lengths(&self) -> Result<Vec<Length>, TensorMapError> {
        let Some(pixels) = &self.im2col else {
            return Ok(Vec::new());
        };
        let found = self.rank();
        let expected = found.checked_sub(OTHER_MODES).filter(|modes| *modes > 0);
        let expected = expected.ok_or(TensorMapError::Im2colRank { found })?;
        Ok(vec![
            ("extents of the lower corner", expected, pixels.lower.len()),
            ("extents of the upper corner", expected, pixels.upper.len()),
        ])
    }

    /// Enforces the driver's rules on corners, channels and pixels, of lists that are as long as they should be.
    pub(super) fn check_pixels(&self, pixels: &PixelBox) -> Result<(), TensorMapError> {
        let rank = self.rank();
        let most = (1 << (PixelBox::bits(rank) - 1)) - 1;
        let least = -most - 1;
        for (which, corner) in [("lower", &pixels.lower), ("upper", &pixels.upper)] {
            for (mode, &found) in corner.iter().enumerate() {
                if !(least..=most).contains(&found) {
                    return Err(TensorMapError::Corner {
                        which,
                        rank,
                        least,
                        most,
                        mode: mode + 1,
                        found,
                    });
                }
            }
        }
        for mode in 0..rank - OTHER_MODES {
            let size = self.sizes[mode + 1];
            let (first, last) = pixels.range(mode, size);
            if last < first {
                let (lower, upper) = (pixels.lower[mode], pixels.upper[mode]);
                return Err(TensorMapError::NoPixels {
                    mode: mode + 1,
                    size,
                    lower,
                    upper,
                });
            }
        }
        let (channels, column) = (self.box_sizes[0], self.box_sizes[1]);
        if !(1..=MAX_CHANNELS).contains(&channels) {
            return Err(TensorMapError::Channels { found: channels });
        }
        if !(1..=MAX_PIXELS).contains(&column) {
            return Err(TensorMapError::Pixels { found: column });
        }
        // The PTX ISA gives a stride of D, H and W alone a meaning.
        match self.element_strides[rank - 1] {
            1 => Ok(()),
            found => Err(TensorMapError::ImageStride {
                mode: rank - 1,
                found,
            }),
        }
    }
}
