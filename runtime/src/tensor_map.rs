//! Tensor maps: what the tensor memory accelerator (TMA) has to know of a tensor in global memory, as plain data.
//!
//! A [`TensorMap`] holds the arguments of the driver's `cuTensorMapEncodeTiled`, or of `cuTensorMapEncodeIm2col` where it has a [`PixelBox`]. On a GPU the driver makes 128 opaque bytes of them, which a
//! kernel takes by value (`.param .align 64 .b8 map[128]`); for the emulator [`TensorMap::to_emulated`] makes bytes of our own.

mod check;
mod emulated;
mod im2col;

use crate::element::Element;

pub use check::{GRANULE, TensorMapError, is_map_start};
pub use emulated::{EmulatedMapError, MapField};
pub use im2col::PixelBox;

/// Bytes of a tensor map, on a GPU and on the emulator.
pub const TENSOR_MAP_BYTES: usize = 128;
/// Alignment in bytes that `cuTensorMapEncodeTiled` asks of a tensor map, and of a kernel's parameter that is one.
pub const TENSOR_MAP_ALIGN: usize = 64;
/// The most modes of a tensor that a map has.
pub const MAX_RANK: usize = 5;

/// The type of the elements that a map moves; a row of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapElement {
    /// Bytes, which numbers of 8 bits travel as.
    U8,
    /// Integers of 16 bits without a sign.
    U16,
    /// Integers of 32 bits without a sign.
    U32,
    /// Integers of 32 bits with a sign.
    S32,
    /// Integers of 64 bits without a sign.
    U64,
    /// Integers of 64 bits with a sign.
    S64,
    /// IEEE 754's binary16.
    F16,
    /// IEEE 754's binary32.
    F32,
    /// IEEE 754's binary64.
    F64,
    /// The upper half of an `f32`.
    Bf16,
    /// An `f32` whose subnormal numbers arrive as zeros.
    F32Ftz,
    /// An `f32` that is rounded to TF32 on its way into shared memory.
    Tf32,
    /// As [`MapElement::Tf32`], with subnormal numbers as zeros.
    Tf32Ftz,
}

impl MapElement {
    /// The type by which elements of a tensor travel as they are: numbers of 8 bits as bytes, `tf32` as the `f32` that holds it.
    pub fn of(element: Element) -> Option<MapElement> {
        Some(match element {
            Element::F8E4M3FN | Element::F8E5M2 | Element::I8 | Element::U8 => MapElement::U8,
            Element::F16 => MapElement::F16,
            Element::Bf16 => MapElement::Bf16,
            Element::Tf32 | Element::F32 => MapElement::F32,
            Element::F64 => MapElement::F64,
            Element::I32 => MapElement::S32,
            Element::I64 => MapElement::S64,
        })
    }

    /// All element types, in the order of the driver's numbers.
    pub const ALL: [MapElement; 13] = [
        MapElement::U8,
        MapElement::U16,
        MapElement::U32,
        MapElement::S32,
        MapElement::U64,
        MapElement::S64,
        MapElement::F16,
        MapElement::F32,
        MapElement::F64,
        MapElement::Bf16,
        MapElement::F32Ftz,
        MapElement::Tf32,
        MapElement::Tf32Ftz,
    ];

    /// Returns the name behind `CU_TENSOR_MAP_DATA_TYPE_`, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            MapElement::U8 => "uint8",
            MapElement::U16 => "uint16",
            MapElement::U32 => "uint32",
            MapElement::S32 => "int32",
            MapElement::U64 => "uint64",
            MapElement::S64 => "int64",
            MapElement::F16 => "float16",
            MapElement::F32 => "float32",
            MapElement::F64 => "float64",
            MapElement::Bf16 => "bfloat16",
            MapElement::F32Ftz => "float32_ftz",
            MapElement::Tf32 => "tfloat32",
            MapElement::Tf32Ftz => "tfloat32_ftz",
        }
    }

    /// Size of one element in bytes.
    pub fn bytes(self) -> usize {
        match self {
            MapElement::U8 => 1,
            MapElement::U16 | MapElement::F16 | MapElement::Bf16 => 2,
            MapElement::U32
            | MapElement::S32
            | MapElement::F32
            | MapElement::F32Ftz
            | MapElement::Tf32
            | MapElement::Tf32Ftz => 4,
            MapElement::U64 | MapElement::S64 | MapElement::F64 => 8,
        }
    }

    /// The driver's number of the type, that of `CUtensorMapDataType`.
    pub fn driver(self) -> u32 {
        Self::ALL
            .iter()
            .position(|&other| other == self)
            .unwrap_or_default() as u32
    }

    /// Tells whether it is a floating-point type.
    pub fn is_float(self) -> bool {
        use MapElement::{Bf16, F16, F32, F32Ftz, F64, Tf32, Tf32Ftz};
        matches!(self, F16 | F32 | F64 | Bf16 | F32Ftz | Tf32 | Tf32Ftz)
    }
}

/// The interleaving of elements in global memory; a row of `CUtensorMapInterleave`. Only [`Interleave::None`] is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Interleave {
    /// Elements follow each other.
    #[default]
    None,
    /// Slices of 16 bytes, as in NC/8HWC8 with elements of two bytes.
    B16,
    /// Slices of 32 bytes.
    B32,
}

impl Interleave {
    /// The driver's number, that of `CUtensorMapInterleave`.
    pub fn driver(self) -> u32 {
        self as u32
    }
}

/// The pattern in which 16-byte chunks lie in shared memory; a row of `CUtensorMapSwizzle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum MapSwizzle {
    /// Elements lie as the box says.
    #[default]
    None,
    /// Within 32 bytes: CuTe's `Sw<1,4,3>` on byte addresses.
    B32,
    /// Within 64 bytes: CuTe's `Sw<2,4,3>` on byte addresses.
    B64,
    /// Within 128 bytes: CuTe's `Sw<3,4,3>` on byte addresses.
    B128,
}

impl MapSwizzle {
    /// The swizzle that spans so many bytes; 0 of none.
    pub fn spanning(bytes: u32) -> Option<MapSwizzle> {
        let spans = |swizzle: &MapSwizzle| swizzle.span().unwrap_or(0) == bytes as usize;
        MapSwizzle::ALL.into_iter().find(spans)
    }

    /// All patterns, in the order of the driver's numbers.
    pub const ALL: [MapSwizzle; 4] = [
        MapSwizzle::None,
        MapSwizzle::B32,
        MapSwizzle::B64,
        MapSwizzle::B128,
    ];

    /// The driver's number, that of `CUtensorMapSwizzle`.
    pub fn driver(self) -> u32 {
        self as u32
    }

    /// Bytes that the first mode of a box may have at most; none without a swizzle.
    pub fn span(self) -> Option<usize> {
        (self != MapSwizzle::None).then(|| 16 << self.bits())
    }

    /// Bits of the address that are exchanged: those from bit 4 on, by those from bit 7 on.
    pub fn bits(self) -> u32 {
        self as u32
    }

    /// Returns where the byte at an absolute address of shared memory lies in the pattern.
    pub fn apply(self, address: u64) -> u64 {
        let mask = (1 << self.bits()) - 1;
        address ^ (((address >> 7) & mask) << 4)
    }
}

/// Bytes that a miss fetches into L2 at least; a row of `CUtensorMapL2promotion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum L2Promotion {
    /// Bytes of the access alone.
    #[default]
    None,
    /// 64 bytes.
    B64,
    /// 128 bytes.
    B128,
    /// 256 bytes.
    B256,
}

impl L2Promotion {
    /// All choices, in the order of the driver's numbers.
    pub const ALL: [L2Promotion; 4] = [
        L2Promotion::None,
        L2Promotion::B64,
        L2Promotion::B128,
        L2Promotion::B256,
    ];

    /// The driver's number, that of `CUtensorMapL2promotion`.
    pub fn driver(self) -> u32 {
        self as u32
    }

    /// The choice of so many bytes: 0, 64, 128 or 256.
    pub fn of_bytes(bytes: u32) -> Option<L2Promotion> {
        let at = [0, 64, 128, 256].iter().position(|known| *known == bytes)?;
        Some(L2Promotion::ALL[at])
    }
}

/// The fill of elements outside of the tensor; a row of `CUtensorMapFloatOOBfill`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OobFill {
    /// Zeros.
    #[default]
    Zero,
    /// A NaN, of floating-point types.
    Nan,
}

impl OobFill {
    /// The driver's number, that of `CUtensorMapFloatOOBfill`.
    pub fn driver(self) -> u32 {
        self as u32
    }
}

/// The arguments of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`. Modes stand fastest first, as there; the stride of the first one is one
/// element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The type of the elements.
    pub element: MapElement,
    /// Address of the first element in global memory.
    pub address: u64,
    /// Elements along each mode; as many as the tensor has modes, 1 to 5.
    pub sizes: Vec<u64>,
    /// Bytes between elements along each mode but the first one.
    pub strides: Vec<u64>,
    /// Elements that one copy traverses along each mode; of a map by im2col, the channels of a pixel and the pixels of a column.
    pub box_sizes: Vec<u32>,
    /// Elements from one that is copied to the next, along each mode; that of the first mode is ignored. By im2col, those from one pixel to the next.
    pub element_strides: Vec<u32>,
    /// The pixels that a column goes through, of a map by im2col; none of a tiled one.
    pub im2col: Option<PixelBox>,
    /// The interleaving of elements in global memory.
    pub interleave: Interleave,
    /// The pattern in shared memory.
    pub swizzle: MapSwizzle,
    /// Bytes that a miss fetches into L2.
    pub l2_promotion: L2Promotion,
    /// The fill of elements outside.
    pub oob_fill: OobFill,
}

impl TensorMap {
    /// Modes of the tensor.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Elements that one copy brings along each mode: those of the box that the element stride does not skip; by im2col, channels and pixels, of which it
    /// skips none.
    pub fn copied(&self) -> Vec<u32> {
        if self.im2col.is_some() {
            return self.box_sizes.clone();
        }
        let strides = self.element_strides.iter().enumerate();
        let steps = strides.map(|(mode, &step)| if mode == 0 { 1 } else { step.max(1) });
        let sizes = self.box_sizes.iter().zip(steps);
        sizes.map(|(&size, step)| size.div_ceil(step)).collect()
    }

    /// Bytes that one copy brings, and counts on its mbarrier, elements outside of the tensor included.
    pub fn box_bytes(&self) -> u64 {
        let elements: u64 = self.copied().iter().map(|&size| u64::from(size)).product();
        elements * self.element.bytes() as u64
    }
}
