//! Types, made from Rust values.

use super::{atoms::CopyOp, kind::Kind};
use crate::ffi::{self, CuteTypeParts};
use cute_layout::{IntTuple, Layout, Leaf, Tile, ops::Value};
use melior::{
    Context,
    ir::{Location, Type, TypeLike, r#type::IntegerType},
};
use std::ffi::c_int;

/// The type of these parts, or nothing after a diagnostic at `location`.
pub(super) fn get<'c>(location: Location<'c>, parts: &CuteTypeParts) -> Option<Type<'c>> {
    unsafe { Type::from_option_raw(ffi::cuteTypeGet(location.to_raw(), parts)) }
}

fn text_type<'c>(context: &'c Context, kind: Kind, text: &str) -> Type<'c> {
    let mut parts = CuteTypeParts::empty(kind as c_int);
    parts.texts[0] = ffi::string_ref(text);
    get(Location::unknown(context), &parts).expect("a text type has nothing to verify")
}

/// `!cute.coord<...>`
pub fn coord_type<'c>(context: &'c Context, coord: &IntTuple) -> Type<'c> {
    text_type(context, Kind::Coord, &coord.to_string())
}
/// `!cute.int_tuple<...>`
pub fn int_tuple_type<'c>(context: &'c Context, tuple: &IntTuple) -> Type<'c> {
    text_type(context, Kind::IntTuple, &tuple.to_string())
}
/// `!cute.shape<...>`
pub fn shape_type<'c>(context: &'c Context, shape: &IntTuple) -> Type<'c> {
    text_type(context, Kind::Shape, &shape.to_string())
}
/// `!cute.layout<...>`
pub fn layout_type<'c>(context: &'c Context, layout: &Layout) -> Type<'c> {
    text_type(context, Kind::Layout, &layout.to_string())
}
/// `!cute.composed_layout<...>` of a swizzle, or `!cute.layout<...>` without one.
pub fn composed_type<'c>(
    context: &'c Context,
    inner: Option<&(cute_layout::Swizzle, IntTuple)>,
    layout: &Layout,
) -> Type<'c> {
    match inner {
        Some((swizzle, offset)) => text_type(
            context,
            Kind::ComposedLayout,
            &format!("{swizzle} o {offset} o {layout}"),
        ),
        None => layout_type(context, layout),
    }
}
/// `!cute.tile<...>`
pub fn tile_type<'c>(context: &'c Context, tile: &Tile) -> Type<'c> {
    text_type(context, Kind::Tile, &tile.to_string())
}
/// The type of a value of the layout algebra, and of what is read out of it: i32 or i64 as its leaf
/// is wide, an integer that is known an i32 where it fits; i1 for a truth value.
pub fn value_type<'c>(context: &'c Context, value: &Value) -> Type<'c> {
    let kind = match value {
        Value::IntTuple(_) => Kind::IntTuple,
        Value::Shape(_) => Kind::Shape,
        Value::Stride(_) => Kind::Stride,
        Value::Coord(_) => Kind::Coord,
        Value::Layout(_) => Kind::Layout,
        Value::Tile(_) => Kind::Tile,
        Value::Swizzle(_) => Kind::Swizzle,
        Value::ComposedLayout(_) => Kind::ComposedLayout,
        Value::Scalar(leaf) => return int_type(context, width(leaf)),
        Value::Bool(_) => return int_type(context, 1),
    };
    text_type(context, kind, &value.to_string())
}

/// The width of a leaf as an integer.
fn width(leaf: &Leaf) -> u32 {
    match leaf {
        Leaf::Dynamic(dynamic) => dynamic.width,
        Leaf::Static(value) if i32::try_from(*value).is_err() => 64,
        Leaf::Basis { value, .. } => width(value),
        _ => 32,
    }
}

/// `!cute.coord_tensor<...>`, or nothing after a diagnostic at `location`.
pub fn coord_tensor_type<'c>(
    location: Location<'c>,
    start: &IntTuple,
    layout: &Layout,
) -> Option<Type<'c>> {
    let (start, layout) = (start.to_string(), layout.to_string());
    let mut parts = CuteTypeParts::empty(Kind::CoordTensor as c_int);
    parts.texts[0] = ffi::string_ref(&start);
    parts.texts[1] = ffi::string_ref(&layout);
    get(location, &parts)
}
/// `!cute.arith_tuple_iter<...>`
pub fn arith_tuple_iter_type<'c>(context: &'c Context, start: &IntTuple) -> Type<'c> {
    text_type(context, Kind::ArithTupleIter, &start.to_string())
}
/// `!cute.token`
pub fn token_type(context: &Context) -> Type<'_> {
    get(
        Location::unknown(context),
        &CuteTypeParts::empty(Kind::Token as c_int),
    )
    .expect("a token has nothing to verify")
}
/// `!cute.pipeline<N>`
pub fn pipeline_type<'c>(location: Location<'c>, stages: i64) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(Kind::Pipeline as c_int);
    parts.ints[0] = stages;
    get(location, &parts)
}
/// A copy atom's type.
pub fn copy_atom_type<'c>(location: Location<'c>, value: Type<'c>, op: CopyOp) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(0);
    parts.types[0] = value.to_raw();
    match op {
        CopyOp::Universal { bits } => {
            parts.kind = Kind::UniversalCopy as c_int;
            parts.ints[0] = bits;
        }
        CopyOp::Auto => parts.kind = Kind::UniversalCopy as c_int,
        CopyOp::SimtAsync { global, bits } => {
            parts.kind = Kind::SimtAsyncCopy as c_int;
            parts.texts[0] = ffi::string_ref(if global { "global" } else { "always" });
            parts.ints[0] = bits;
        }
        CopyOp::Ldsm {
            matrices,
            transpose,
        } => {
            parts.kind = Kind::Ldsm as c_int;
            parts.texts[0] = ffi::string_ref("(8,8)");
            parts.texts[1] = ffi::string_ref("u16");
            parts.texts[2] = ffi::string_ref(if transpose { "t" } else { "n" });
            parts.ints[0] = matrices;
        }
        CopyOp::Stsm {
            matrices,
            transpose,
        } => {
            parts.kind = Kind::Stsm as c_int;
            parts.texts[0] = ffi::string_ref("(8,8)");
            parts.texts[1] = ffi::string_ref(if transpose { "t" } else { "n" });
            parts.ints[0] = matrices;
        }
        CopyOp::Movm => {
            parts.kind = Kind::Movm as c_int;
            parts.texts[0] = ffi::string_ref("(8,8)");
            parts.texts[1] = ffi::string_ref("t");
            parts.ints[0] = 1;
        }
    }
    get(location, &parts)
}
/// `!cute_nvgpu.sm80.mma<...>`
pub fn sm80_mma_type<'c>(
    location: Location<'c>,
    shape: [i64; 3],
    a: Type<'c>,
    b: Type<'c>,
    acc: Type<'c>,
) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(Kind::Sm80Mma as c_int);
    parts.types[..3].copy_from_slice(&[a.to_raw(), b.to_raw(), acc.to_raw()]);
    parts.ints[..3].copy_from_slice(&shape);
    get(location, &parts)
}
/// `!cute.tiled_copy<...>` over the atom type `atom`.
pub fn tiled_copy_type<'c>(
    location: Location<'c>,
    atom: Type<'c>,
    tv: &Layout,
    tiler: &Tile,
) -> Option<Type<'c>> {
    tiled_type(
        location,
        Kind::TiledCopy,
        atom,
        &tv.to_string(),
        &tiler.to_string(),
    )
}
/// `!cute.tiled_mma<...>` over the atom type `atom`.
pub fn tiled_mma_type<'c>(
    location: Location<'c>,
    atom: Type<'c>,
    atoms: &Layout,
    permutation: &Tile,
) -> Option<Type<'c>> {
    tiled_type(
        location,
        Kind::TiledMma,
        atom,
        &atoms.to_string(),
        &match permutation {
            Tile::Underscore => String::new(),
            tile => tile.to_string(),
        },
    )
}

fn tiled_type<'c>(
    location: Location<'c>,
    kind: Kind,
    atom: Type<'c>,
    first: &str,
    second: &str,
) -> Option<Type<'c>> {
    let mut parts = CuteTypeParts::empty(kind as c_int);
    parts.types[0] = atom.to_raw();
    parts.texts[0] = ffi::string_ref(first);
    parts.texts[1] = ffi::string_ref(second);
    get(location, &parts)
}

/// A signless integer type.
pub fn int_type(context: &Context, width: u32) -> Type<'_> {
    IntegerType::new(context, width).into()
}
