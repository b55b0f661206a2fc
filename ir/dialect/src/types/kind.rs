//! The kinds of types, as the shim numbers them.

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
    Sm80Mma,
}

/// Every kind, at its number.
pub const KINDS: [Kind; 20] = [
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
    Kind::Sm80Mma,
];
