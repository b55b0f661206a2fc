//! Boxes of tensors as pieces of memory (PTX ISA, "Tensors": tiled mode, im2col mode, swizzling modes, out-of-boundary access).

use super::*;
use crate::emulator::address;
use crate::emulator::alu::{Format, Mode, narrow};
use crate::tensor_map::{
    MapElement, OobFill, PixelBox, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES, TensorMap,
};

/// Bytes of shared memory that belong to consecutive bytes of global memory, some of which may not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub shared: u64,
    pub bytes: u32,
    /// Address of the first byte that is there.
    pub global: u64,
    /// The bytes of the piece that are there.
    pub first: u32,
    pub last: u32,
}

impl Piece {
    /// A copy without a map.
    pub(super) fn whole(shared: u64, global: u64, bytes: u64) -> Vec<Piece> {
        let bytes = bytes as u32;
        let piece = Piece {
            shared,
            bytes,
            global,
            first: 0,
            last: bytes,
        };
        if bytes == 0 { Vec::new() } else { vec![piece] }
    }

    /// Bytes that are there.
    pub(super) fn there(&self) -> u64 {
        u64::from(self.last - self.first)
    }
}

/// A box of a tensor: its map, and where it begins.
pub(super) struct Boxed {
    pub map: TensorMap,
    pub coordinates: Vec<i32>,
    /// The numbers that are added to each pixel along W, H and D, by im2col.
    pub offsets: Vec<u32>,
}

/// Elements of the first mode that lie side by side.
struct Row {
    /// Address of the first one, which may not be there.
    at: u64,
    inside: bool,
}

impl Boxed {
    /// The pieces of the box that lies at an address of shared memory, for a load or for a store. A store writes whole granules of 16 bytes: where the tensor's rows end
    /// within one, what lies behind them in the box is written as well. PTX does not say so; an H100 does it for every type and swizzle, and reductions likewise, while
    /// loads are exact.
    pub(super) fn pieces(&self, shared: u64, stores: bool) -> Vec<Piece> {
        let map = &self.map;
        let element = map.element.bytes() as u64;
        let copied = map.copied();
        let row_bytes = u64::from(copied[0]) * element;
        // Bytes of a row that are there, from its first element on.
        let start = i64::from(self.coordinates[0]);
        let size = map.sizes[0] as i64;
        let first = (-start).clamp(0, i64::from(copied[0])) as u64 * element;
        let mut last = (size - start).clamp(0, i64::from(copied[0])) as u64 * element;
        if stores && last > 0 {
            let end = (map.sizes[0] * element).next_multiple_of(GRANULE) as i64;
            last = (end - start * element as i64).clamp(0, row_bytes as i64) as u64;
        }
        // Whole chunks move together; without a swizzle, whole rows do.
        let chunk = if map.swizzle.bits() == 0 {
            row_bytes
        } else {
            16
        };
        let mut pieces = Vec::new();
        let rows = match &map.im2col {
            None => self.tiled_rows(&copied),
            Some(pixels) => self.pixel_rows(pixels, copied[1]),
        };
        for (row, Row { at, inside }) in (0..).zip(rows) {
            for offset in (0..row_bytes).step_by(chunk as usize) {
                let bytes = chunk.min(row_bytes - offset);
                let within = |place: u64| place.clamp(offset, offset + bytes) - offset;
                let (mut first, last) = (within(first), within(last));
                if !inside || first >= last {
                    first = last;
                }
                pieces.push(Piece {
                    shared: map.swizzle.apply(shared + row * row_bytes + offset),
                    bytes: bytes as u32,
                    global: at.wrapping_add(offset + first),
                    first: first as u32,
                    last: last as u32,
                });
            }
        }
        pieces
    }

    /// The row at those coordinates of the modes behind the first one.
    fn row(&self, places: impl Iterator<Item = i64>) -> Row {
        let map = &self.map;
        let start = i64::from(self.coordinates[0]) * map.element.bytes() as i64;
        let mut row = Row {
            at: map.address.wrapping_add_signed(start),
            inside: true,
        };
        for ((place, &size), &stride) in places.zip(&map.sizes[1..]).zip(&map.strides) {
            row.inside &= (0..size as i64).contains(&place);
            row.at = (row.at).wrapping_add_signed(place.wrapping_mul(stride as i64));
        }
        row
    }

    /// The rows of a box of so many elements along each mode.
    fn tiled_rows(&self, copied: &[u32]) -> Vec<Row> {
        let count: u64 = copied[1..].iter().map(|&n| u64::from(n)).product();
        let mut index = vec![0u32; copied.len()];
        let mut rows = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let steps = self.map.element_strides.iter().zip(&index);
            let places = self.coordinates.iter().zip(steps).skip(1);
            rows.push(self.row(places.map(|(&first, (&step, &index))| {
                i64::from(first) + i64::from(index) * i64::from(step)
            })));
            for (mode, index) in index.iter_mut().enumerate().skip(1) {
                *index += 1;
                if *index < copied[mode] {
                    break;
                }
                *index = 0;
            }
        }
        rows
    }

    /// The rows of a column of so many pixels: along W, where that ends along H, along D, and on in the next image.
    fn pixel_rows(&self, pixels: &PixelBox, count: u32) -> Vec<Row> {
        let map = &self.map;
        let spatial = map.rank() - 2;
        let mut at: Vec<i64> = (self.coordinates[1..].iter().map(|&c| i64::from(c))).collect();
        let mut rows = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let offsets = self.offsets.iter().copied().chain(std::iter::repeat(0));
            let places = at.iter().zip(offsets);
            rows.push(self.row(places.map(|(&place, offset)| place + i64::from(offset))));
            let mut mode = 0;
            while mode < spatial {
                let (first, last) = pixels.range(mode, map.sizes[mode + 1]);
                at[mode] += i64::from(map.element_strides[mode + 1]);
                if at[mode] <= last {
                    break;
                }
                at[mode] = first;
                mode += 1;
            }
            if mode == spatial {
                at[spatial] += 1;
            }
        }
        rows
    }
}

/// The bytes that arrive: those that are there, perhaps rounded, and others for those that are not.
#[derive(Clone, Copy)]
pub(super) struct Fill {
    element: MapElement,
    nan: bool,
    swizzle: Option<MapSwizzle>,
}

impl Fill {
    pub(super) fn zeros() -> Fill {
        Fill {
            element: MapElement::U8,
            nan: false,
            swizzle: None,
        }
    }

    pub(super) fn of(map: &TensorMap) -> Fill {
        Fill {
            element: map.element,
            nan: map.oob_fill == OobFill::Nan,
            swizzle: Some(map.swizzle),
        }
    }

    /// The swizzle of the map; none without one.
    pub(super) fn swizzle(self) -> Option<MapSwizzle> {
        self.swizzle
    }

    /// The type that `cp.reduce` computes with.
    pub(super) fn reduced_as(self) -> Option<&'static str> {
        Some(match self.element {
            MapElement::U32 => "u32",
            MapElement::S32 => "s32",
            MapElement::U64 => "u64",
            MapElement::S64 => "s64",
            MapElement::F16 => "f16",
            MapElement::Bf16 => "bf16",
            MapElement::F32 | MapElement::F32Ftz => "f32",
            _ => return None,
        })
    }

    /// Writes a piece; `read` brings what lies at an address.
    pub(super) fn write(self, piece: &Piece, to: &mut [u8], read: impl Fn(u64, &mut [u8])) {
        let nan: &[u8] = match self.element {
            _ if !self.nan => &[0],
            MapElement::F16 | MapElement::Bf16 => &[0xff, 0x7f],
            MapElement::F64 => &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
            _ => &[0xff, 0xff, 0xff, 0x7f],
        };
        let (first, last) = (piece.first as usize, piece.last as usize);
        if first != 0 || last != to.len() {
            for (byte, fill) in to.iter_mut().zip(nan.iter().cycle()) {
                *byte = *fill;
            }
        }
        if first == last {
            return;
        }
        let there = &mut to[first..last];
        read(piece.global, there);
        let (flush, round) = match self.element {
            MapElement::F32Ftz => (true, false),
            MapElement::Tf32 => (false, true),
            MapElement::Tf32Ftz => (true, true),
            _ => return,
        };
        for word in there.chunks_exact_mut(4) {
            let mut bits = [0; 4];
            bits.copy_from_slice(word);
            let mut value = f32::from_le_bytes(bits);
            if flush && value.is_subnormal() {
                value = 0.0f32.copysign(value);
            }
            let mut value = value.to_bits();
            if round {
                let number = f64::from(f32::from_bits(value));
                value = (narrow(number, Format::TF32, Mode::Rn) as u32) << 13;
            }
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

impl Context<'_> {
    /// The tensor map at a generic address: of a parameter, or in global or constant memory.
    pub(super) fn tensor_map(&self, at: u64) -> std::result::Result<TensorMap, String> {
        if !at.is_multiple_of(TENSOR_MAP_ALIGN as u64) && address::space_of(at) != Space::Global {
            return Err(format!(
                "expected a tensor map at a multiple of {TENSOR_MAP_ALIGN} bytes, found the address {at:#x}; declare the parameter .align {TENSOR_MAP_ALIGN}"
            ));
        }
        let mut bytes = [0; TENSOR_MAP_BYTES];
        let (space, offset) = Self::space_of(Space::Generic, at);
        match space {
            Space::Param => {
                let params = self.launch.params.get(offset as usize..);
                let Some(found) = params.and_then(|rest| rest.get(..TENSOR_MAP_BYTES)) else {
                    return Err(format!(
                        "expected a tensor map of {TENSOR_MAP_BYTES} bytes, found the end of the parameters"
                    ));
                };
                bytes.copy_from_slice(found);
            }
            Space::Global => {
                let found = self.launch.global.range(at, TENSOR_MAP_BYTES as u64);
                let Some((buffer, offset)) = found else {
                    return Err(format!(
                        "expected a tensor map in a parameter or in global memory, found nothing at address {at:#x}"
                    ));
                };
                buffer.copy_out(offset, &mut bytes);
            }
            _ => {
                return Err(
                    "expected a tensor map in a parameter, in constant or in global memory, found an address of shared or local memory".into(),
                );
            }
        }
        TensorMap::from_emulated(&bytes).map_err(|error| error.to_string())
    }
}
