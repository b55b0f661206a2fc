//! Types, made from Rust values.

use super::kind::Kind;
use crate::diag::{self, Failure};
use crate::mlir::{Parts, type_of as get};
use cute_layout::{
    IntTuple, Layout, Leaf, Tile,
    atoms::{Completion, Family, FragKind, MmaAtom},
    ops::Value,
};
use melior::{
    Context,
    ir::{Location, Type, r#type::IntegerType},
};

fn text_type<'c>(context: &'c Context, kind: Kind, text: &str) -> Type<'c> {
    get(Location::unknown(context), &parts(kind, &[], &[text], &[]))
        .expect("a text type has nothing to verify")
}

pub(super) fn parts<'c, 't>(
    kind: Kind,
    types: &[Type<'c>],
    texts: &[&'t str],
    ints: &[i64],
) -> Parts<'c, 't> {
    Parts {
        kind,
        types: types.to_vec(),
        texts: texts.to_vec(),
        ints: ints.to_vec(),
        arrays: Vec::new(),
    }
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

/// `!cute.coord_tensor<...>`. Errors, at `location`: parameters that no such type has.
pub fn coord_tensor_type<'c>(
    location: Location<'c>,
    start: &IntTuple,
    layout: &Layout,
) -> Result<Type<'c>, Failure> {
    let (start, layout) = (start.to_string(), layout.to_string());
    get(
        location,
        &parts(Kind::CoordTensor, &[], &[&start, &layout], &[]),
    )
}
/// `!cute.arith_tuple_iter<...>`
pub fn arith_tuple_iter_type<'c>(context: &'c Context, start: &IntTuple) -> Type<'c> {
    text_type(context, Kind::ArithTupleIter, &start.to_string())
}
/// `!cute.token`
pub fn token_type(context: &Context) -> Type<'_> {
    get(
        Location::unknown(context),
        &parts(Kind::Token, &[], &[], &[]),
    )
    .expect("a token has nothing to verify")
}
/// `!cute_nvgpu.smem_desc`
pub fn smem_desc_type(context: &Context) -> Type<'_> {
    get(
        Location::unknown(context),
        &parts(Kind::SmemDesc, &[], &[], &[]),
    )
    .expect("a descriptor has nothing to verify")
}
/// `!cute.any`
pub fn any_type(context: &Context) -> Type<'_> {
    get(Location::unknown(context), &parts(Kind::Any, &[], &[], &[]))
        .expect("a type that is open has nothing to verify")
}
/// `!cute.pipeline<N>`, or `!cute.pipeline<N, immediate>`
pub fn pipeline_type<'c>(
    location: Location<'c>,
    stages: i64,
    completion: Completion,
) -> Result<Type<'c>, Failure> {
    let name = super::completion_name(completion);
    get(location, &parts(Kind::Pipeline, &[], &[name], &[stages]))
}
/// `!cute_nvgpu.sm80.mma<...>`, `!cute_nvgpu.sm89.mma<...>` or `!cute_nvgpu.atom.universal_fma<...>`: the product of a row of the table, of factors and sums of these
/// types. Errors, at `location`: a row of another family.
pub fn mma_type<'c>(
    location: Location<'c>,
    row: &MmaAtom,
    a: Type<'c>,
    b: Type<'c>,
    acc: Type<'c>,
) -> Result<Type<'c>, Failure> {
    let majors = row.majors.map(|major| major.name());
    let from = match row.frag_kind() {
        FragKind::Rs => "rs",
        _ => "ss",
    };
    let overflow = if row.saturate { "satfinite" } else { "" };
    let of_warpgroup = [majors[0], majors[1], from, overflow, row.negated_names()];
    let (kind, texts): (Kind, &[&str]) = match row.family {
        Family::Sm90 => (Kind::Sm90Mma, &of_warpgroup),
        Family::Sm80 => (Kind::Sm80Mma, &["", ""]),
        Family::Sm89 => (Kind::Sm89Mma, &[]),
        Family::Universal => (Kind::UniversalFma, &[]),
        _ => {
            let message = format!(
                "expected a product of a warp of SM80 or SM89, of a warpgroup, or of a thread, found {}",
                row.name
            );
            return Err(diag::error(location, message));
        }
    };
    get(location, &parts(kind, &[a, b, acc], texts, &row.shape_mnk))
}
/// `!cute.tiled_copy<...>` over the atom type `atom`.
pub fn tiled_copy_type<'c>(
    location: Location<'c>,
    atom: Type<'c>,
    tv: &Layout,
    tiler: &Tile,
) -> Result<Type<'c>, Failure> {
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
) -> Result<Type<'c>, Failure> {
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
) -> Result<Type<'c>, Failure> {
    get(location, &parts(kind, &[atom], &[first, second], &[]))
}

/// A signless integer type.
pub fn int_type(context: &Context, width: u32) -> Type<'_> {
    IntegerType::new(context, width).into()
}
