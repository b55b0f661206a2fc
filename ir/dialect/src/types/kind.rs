//! The kinds of types, as the shim numbers them.

use cute_layout::atoms::Family;

/// A kind of type; the order is that of `CuteTypeKind` in `shim/cute.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    IntTuple,
    Shape,
    Stride,
    Coord,
    Layout,
    Tile,
    Swizzle,
    ComposedLayout,
    Ptr,
    MemRef,
    TiledCopy,
    TiledMma,
    Pipeline,
    Token,
    CoordTensor,
    ArithTupleIter,
    UniversalCopy,
    SimtAsyncCopy,
    Ldsm,
    Stsm,
    Movm,
    UniversalFma,
    Sm70Mma,
    Sm75Mma,
    Sm80Mma,
    Sm89Mma,
    Sm90WarpMma,
    Sm90Mma,
    Sm120Mma,
    Sm120MmaBs,
    Divisible,
}

/// Every kind, at its number.
pub const KINDS: [Kind; 31] = [
    Kind::IntTuple,
    Kind::Shape,
    Kind::Stride,
    Kind::Coord,
    Kind::Layout,
    Kind::Tile,
    Kind::Swizzle,
    Kind::ComposedLayout,
    Kind::Ptr,
    Kind::MemRef,
    Kind::TiledCopy,
    Kind::TiledMma,
    Kind::Pipeline,
    Kind::Token,
    Kind::CoordTensor,
    Kind::ArithTupleIter,
    Kind::UniversalCopy,
    Kind::SimtAsyncCopy,
    Kind::Ldsm,
    Kind::Stsm,
    Kind::Movm,
    Kind::UniversalFma,
    Kind::Sm70Mma,
    Kind::Sm75Mma,
    Kind::Sm80Mma,
    Kind::Sm89Mma,
    Kind::Sm90WarpMma,
    Kind::Sm90Mma,
    Kind::Sm120Mma,
    Kind::Sm120MmaBs,
    Kind::Divisible,
];

impl Kind {
    /// The family of an MMA atom's type.
    pub fn family(self) -> Option<Family> {
        Some(match self {
            Kind::UniversalFma => Family::Universal,
            Kind::Sm70Mma => Family::Sm70,
            Kind::Sm75Mma => Family::Sm75,
            Kind::Sm80Mma => Family::Sm80,
            Kind::Sm89Mma => Family::Sm89,
            Kind::Sm90WarpMma => Family::Sm90Warp,
            Kind::Sm90Mma => Family::Sm90,
            Kind::Sm120Mma => Family::Sm120,
            Kind::Sm120MmaBs => Family::Sm120BlockScaled,
            _ => return None,
        })
    }
}
