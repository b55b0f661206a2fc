//! Tensor maps as the emulator's kernels take them: 128 bytes with a magic number and a checksum, so that what is no map is recognised.

use super::{
    Interleave, L2Promotion, MAX_RANK, MapElement, MapSwizzle, OobFill, PixelBox, TENSOR_MAP_BYTES,
    TensorMap, TensorMapError,
};

const MAGIC: [u8; 8] = *b"CuTeMap2";
/// Offsets of the fields, which stand in the order that [`TensorMap::to_emulated`] writes them in.
const ELEMENT: usize = MAGIC.len();
const RANK: usize = ELEMENT + 1;
const SWIZZLE: usize = ELEMENT + 2;
const FILL: usize = ELEMENT + 4;
const ADDRESS: usize = ELEMENT + 5;
const SIZES: usize = ADDRESS + 8;
const STRIDES: usize = SIZES + 4 * MAX_RANK;
const BOXES: usize = STRIDES + 8 * (MAX_RANK - 1);
const STEPS: usize = BOXES + 2 * MAX_RANK;
/// The checksum stands last, of all that is before it.
const CHECKED: usize = TENSOR_MAP_BYTES - 4;

/// A field of a tensor map that a kernel may replace (PTX ISA, "tensormap.replace"). Modes count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapField {
    /// Address of the first element in global memory.
    Address,
    /// Modes of the tensor, less one.
    Rank,
    /// Elements that one copy traverses along a mode.
    Box(u8),
    /// Elements along a mode.
    Size(u8),
    /// Bytes between elements along the mode behind this one.
    Stride(u8),
    /// Elements from one that is copied to the next, along a mode.
    ElementStride(u8),
    /// The type of the elements, by the driver's number.
    Element,
    /// The pattern in shared memory, by the driver's number.
    Swizzle,
    /// The fill of elements outside, by the driver's number.
    Fill,
}

impl MapField {
    /// Bits of a value of the field in its instruction.
    pub fn bits(self) -> u32 {
        match self {
            MapField::Address | MapField::Stride(_) => 64,
            _ => 32,
        }
    }

    /// The number of modes that the field has a value for; none of a field without modes.
    pub fn modes(self) -> Option<usize> {
        match self {
            MapField::Box(_) | MapField::Size(_) | MapField::ElementStride(_) => Some(MAX_RANK),
            MapField::Stride(_) => Some(MAX_RANK - 1),
            _ => None,
        }
    }

    /// Offset and bytes of the field in a map.
    fn place(self) -> (usize, usize) {
        let of_mode = |start: usize, bytes: usize, mode: u8| start + bytes * usize::from(mode);
        match self {
            MapField::Address => (ADDRESS, 8),
            MapField::Rank => (RANK, 1),
            MapField::Box(mode) => (of_mode(BOXES, 2, mode), 2),
            MapField::Size(mode) => (of_mode(SIZES, 4, mode), 4),
            MapField::Stride(mode) => (of_mode(STRIDES, 8, mode), 8),
            MapField::ElementStride(mode) => (of_mode(STEPS, 1, mode), 1),
            MapField::Element => (ELEMENT, 1),
            MapField::Swizzle => (SWIZZLE, 1),
            MapField::Fill => (FILL, 1),
        }
    }

    /// The smallest and the largest value that there is room for, and what is added to a value where it stands.
    fn room(self) -> (u64, u64, i64) {
        match self {
            MapField::Rank => (0, MAX_RANK as u64 - 1, 1),
            // As in `to_emulated`: 2^32 has no room in four bytes.
            MapField::Size(_) => (1, 1 << 32, -1),
            _ => (0, u64::MAX >> (64 - 8 * self.place().1), 0),
        }
    }
}

/// 128 bytes that are no tensor map of the emulator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulatedMapError {
    /// Bytes that do not begin as a map does.
    #[error(
        "these 128 bytes are no tensor map; pass the address of a parameter that is one, of 128 bytes with .align 64"
    )]
    NoMap,
    /// A map that was written over.
    #[error(
        "these 128 bytes begin as a tensor map but were changed since the host made them; pass the parameter's own address"
    )]
    Changed,
    /// A value that a field cannot hold.
    #[error("expected {least} to {most} in this field of a tensor map, found {found}")]
    Value {
        /// The smallest value.
        least: u64,
        /// The largest value.
        most: u64,
        /// The value.
        found: u64,
    },
    /// A map that breaks the driver's rules.
    #[error(transparent)]
    Rule(#[from] TensorMapError),
}

/// The fields in their order, little-endian.
struct Writer {
    bytes: [u8; TENSOR_MAP_BYTES],
    at: usize,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }
}

struct Reader<'b> {
    bytes: &'b [u8; TENSOR_MAP_BYTES],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut part = [0; N];
        part.copy_from_slice(&self.bytes[self.at..self.at + N]);
        self.at += N;
        part
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }
}

impl TensorMap {
    /// Returns the map as the emulator's kernels take it by value.
    ///
    /// # Errors
    /// If the map breaks a rule of [`TensorMap::check`].
    pub fn to_emulated(&self) -> Result<[u8; TENSOR_MAP_BYTES], TensorMapError> {
        self.check()?;
        let mut out = Writer {
            bytes: [0; TENSOR_MAP_BYTES],
            at: 0,
        };
        out.put(&MAGIC);
        let small = [
            self.element.driver(),
            self.rank() as u32,
            self.swizzle.driver(),
            self.l2_promotion.driver(),
            self.oob_fill.driver(),
        ];
        // `check` bounds them all.
        out.put(&small.map(|number| number as u8));
        out.put(&self.address.to_le_bytes());
        for mode in 0..MAX_RANK {
            // 2^32 has no room in four bytes, 0 is no size.
            let size = self.sizes.get(mode).map_or(0, |size| size - 1) as u32;
            out.put(&size.to_le_bytes());
        }
        for mode in 0..MAX_RANK - 1 {
            let stride = self.strides.get(mode).copied().unwrap_or(0);
            out.put(&stride.to_le_bytes());
        }
        for mode in 0..MAX_RANK {
            let size = self.box_sizes.get(mode).copied().unwrap_or(0) as u16;
            out.put(&size.to_le_bytes());
        }
        for mode in 0..MAX_RANK {
            out.put(&[self.element_strides.get(mode).copied().unwrap_or(0) as u8]);
        }
        out.put(&[u8::from(self.im2col.is_some())]);
        let none = PixelBox::default();
        let pixels = self.im2col.as_ref().unwrap_or(&none);
        for corner in [&pixels.lower, &pixels.upper] {
            for mode in 0..MAX_RANK - 2 {
                let along = corner.get(mode).copied().unwrap_or(0) as i16;
                out.put(&along.to_le_bytes());
            }
        }
        close(&mut out.bytes);
        Ok(out.bytes)
    }

    /// Replaces a field of a map that [`TensorMap::to_emulated`] made, or of 128 zero bytes, which become the map of one mode whose other
    /// fields are zero. Whether the fields fit each other is seen when the map is read.
    ///
    /// # Errors
    /// If the bytes are neither, were changed in another way, or if the field cannot hold the value.
    pub fn replace_emulated(
        bytes: &mut [u8; TENSOR_MAP_BYTES],
        field: MapField,
        value: u64,
    ) -> Result<(), EmulatedMapError> {
        if bytes.iter().all(|byte| *byte == 0) {
            bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
            bytes[RANK] = 1;
        } else {
            opened(bytes)?;
        }
        let (least, most, added) = field.room();
        if !(least..=most).contains(&value) {
            return Err(EmulatedMapError::Value {
                least,
                most,
                found: value,
            });
        }
        let (at, length) = field.place();
        let stored = value.wrapping_add_signed(added);
        bytes[at..at + length].copy_from_slice(&stored.to_le_bytes()[..length]);
        close(bytes);
        Ok(())
    }

    /// Reads what [`TensorMap::to_emulated`] made.
    ///
    /// # Errors
    /// If the bytes are no map, were changed, or say what no map may.
    pub fn from_emulated(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<TensorMap, EmulatedMapError> {
        opened(bytes)?;
        let mut from = Reader {
            bytes,
            at: MAGIC.len(),
        };
        let changed = EmulatedMapError::Changed;
        let element = MapElement::ALL.get(usize::from(from.byte()));
        let element = *element.ok_or(changed.clone())?;
        let rank = usize::from(from.byte());
        if !(1..=MAX_RANK).contains(&rank) {
            return Err(TensorMapError::Rank { found: rank }.into());
        }
        let swizzle = MapSwizzle::ALL.get(usize::from(from.byte()));
        let swizzle = *swizzle.ok_or(changed.clone())?;
        let l2_promotion = L2Promotion::ALL.get(usize::from(from.byte()));
        let l2_promotion = *l2_promotion.ok_or(changed.clone())?;
        let oob_fill = match from.byte() {
            0 => OobFill::Zero,
            1 => OobFill::Nan,
            _ => return Err(changed),
        };
        let address = u64::from_le_bytes(from.take());
        let sizes: [u64; MAX_RANK] =
            std::array::from_fn(|_| u64::from(u32::from_le_bytes(from.take())) + 1);
        let strides: [u64; MAX_RANK - 1] = std::array::from_fn(|_| u64::from_le_bytes(from.take()));
        let boxes: [u32; MAX_RANK] =
            std::array::from_fn(|_| u32::from(u16::from_le_bytes(from.take())));
        let steps: [u32; MAX_RANK] = std::array::from_fn(|_| u32::from(from.byte()));
        let is_im2col = match from.byte() {
            0 => false,
            1 => true,
            _ => return Err(changed),
        };
        let mut corner = || {
            let along: [i32; MAX_RANK - 2] =
                std::array::from_fn(|_| i32::from(i16::from_le_bytes(from.take())));
            along[..rank.saturating_sub(2)].to_vec()
        };
        let (lower, upper) = (corner(), corner());
        let map = TensorMap {
            element,
            address,
            sizes: sizes[..rank].to_vec(),
            strides: strides[..rank - 1].to_vec(),
            box_sizes: boxes[..if is_im2col { 2 } else { rank }].to_vec(),
            im2col: is_im2col.then_some(PixelBox { lower, upper }),
            element_strides: steps[..rank].to_vec(),
            interleave: Interleave::None,
            swizzle,
            l2_promotion,
            oob_fill,
        };
        map.check()?;
        Ok(map)
    }
}

/// Writes the checksum of a map.
fn close(bytes: &mut [u8; TENSOR_MAP_BYTES]) {
    let sum = crc32fast::hash(&bytes[..CHECKED]);
    bytes[CHECKED..].copy_from_slice(&sum.to_le_bytes());
}

/// Tells what is wrong with bytes that should be a map.
fn opened(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<(), EmulatedMapError> {
    if bytes[..MAGIC.len()] != MAGIC {
        return Err(EmulatedMapError::NoMap);
    }
    if bytes[CHECKED..] != crc32fast::hash(&bytes[..CHECKED]).to_le_bytes() {
        return Err(EmulatedMapError::Changed);
    }
    Ok(())
}
