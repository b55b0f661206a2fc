//! The ops of the published CuTe IR dialect as one pure function on values, [`apply`].
//!
//! A [`Value`] is what an SSA value of the dialect holds, with `?` where an integer is known only at run time. The same
//! function serves four callers:
//! - type inference and verification: the leaves are those of the operands' types, the results are the result types;
//! - folding: every leaf is known, and so is every leaf of the result;
//! - lowering: dynamic leaves carry terms, and each leaf of a result is made from those of the operands by the arithmetic
//!   of [`Leaf`] alone, so that the terms record what has to be computed.
//!
//! Names, operands and attributes are those of NVIDIA/cutlass 4.7, `cutlass_compiler/cute_ir` (`CuteOps.td`). What an op
//! accepts is accepted here where the result is the right function, and is an [`OpError`] where it is not; see
//! [`crate::algebra`].
//!
//! A file a group: [`constructors`], [`accessors`], [`layout_algebra`], [`size_index`], [`arithmetic`], [`tiling`].

mod accessors;
mod arithmetic;
mod constructors;
mod error;
mod layout_algebra;
mod operands;
mod size_index;
mod tiling;
mod trace;

pub use error::OpError;

use std::fmt;

use crate::layout::Layout;
use crate::leaf::{Leaf, Truth};
use crate::swizzle::{ComposedLayout, Inner, Swizzle};
use crate::tile::Tile;
use crate::tuple::IntTuple;
use operands::Operands;

/// Results of an op, or why it was refused.
pub type OpResult = Result<Vec<Value>, OpError>;

/// The content of a value of the dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `!cute.int_tuple`.
    IntTuple(IntTuple),
    /// `!cute.shape`.
    Shape(IntTuple),
    /// `!cute.stride`; leaves may be basis elements.
    Stride(IntTuple),
    /// `!cute.coord`; leaves may be `_`.
    Coord(IntTuple),
    /// `!cute.layout`.
    Layout(Layout),
    /// `!cute.tile`.
    Tile(Tile),
    /// `!cute.swizzle`.
    Swizzle(Swizzle),
    /// `!cute.composed_layout`.
    ComposedLayout(ComposedLayout),
    /// `i32` or `i64`.
    Scalar(Leaf),
    /// `i1`.
    Bool(Truth),
}

impl Value {
    /// The name of its type, as the dialect spells it.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::IntTuple(_) => "!cute.int_tuple",
            Value::Shape(_) => "!cute.shape",
            Value::Stride(_) => "!cute.stride",
            Value::Coord(_) => "!cute.coord",
            Value::Layout(_) => "!cute.layout",
            Value::Tile(_) => "!cute.tile",
            Value::Swizzle(_) => "!cute.swizzle",
            Value::ComposedLayout(_) => "!cute.composed_layout",
            Value::Scalar(_) => "an integer",
            Value::Bool(_) => "i1",
        }
    }

    /// Tells whether every number in it is known.
    pub fn is_static(&self) -> bool {
        match self {
            Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t) => {
                t.is_static()
            }
            Value::Layout(l) => l.is_static(),
            Value::Tile(t) => t.is_static(),
            Value::Swizzle(_) => true,
            Value::ComposedLayout(c) => c.is_static(),
            Value::Scalar(l) => l.is_static(),
            Value::Bool(t) => matches!(t, Truth::Known(_)),
        }
    }

    /// Its leaves in the order in which the dialect lists them: a layout's shape before its stride, a tile's modes left to
    /// right, a composed layout's outer layout, offset and inner layout. `_` and swizzles have none.
    pub fn leaves(&self) -> Vec<&Leaf> {
        fn tuple<'a>(t: &'a IntTuple, out: &mut Vec<&'a Leaf>) {
            out.extend(t.leaves().into_iter().filter(|l| **l != Leaf::Underscore));
        }
        fn layout<'a>(l: &'a Layout, out: &mut Vec<&'a Leaf>) {
            tuple(l.shape(), out);
            tuple(l.stride(), out);
        }
        fn tile<'a>(t: &'a Tile, out: &mut Vec<&'a Leaf>) {
            match t {
                Tile::Layout(l) => layout(l, out),
                Tile::Underscore => {}
                Tile::Modes(m) => m.iter().for_each(|t| tile(t, out)),
            }
        }
        let mut out = Vec::new();
        match self {
            Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t) => {
                tuple(t, &mut out)
            }
            Value::Layout(l) => layout(l, &mut out),
            Value::Tile(t) => tile(t, &mut out),
            Value::Swizzle(_) | Value::Bool(_) => {}
            Value::ComposedLayout(c) => {
                layout(c.outer(), &mut out);
                tuple(c.offset(), &mut out);
                if let Inner::Layout(l) = c.inner() {
                    layout(l, &mut out);
                }
            }
            Value::Scalar(l) => out.push(l),
        }
        out
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t) => t.fmt(f),
            Value::Layout(l) => l.fmt(f),
            Value::Tile(t) => t.fmt(f),
            Value::Swizzle(s) => s.fmt(f),
            Value::ComposedLayout(c) => c.fmt(f),
            Value::Scalar(l) => l.fmt(f),
            Value::Bool(Truth::Known(b)) => b.fmt(f),
            Value::Bool(Truth::Unknown(_) | Truth::Unproved(_)) => f.write_str("?"),
        }
    }
}

/// The attributes of an op. Those that an op does not have are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attrs {
    /// `mode`: a path to a mode (`get`, `size`, `cosize`), or the modes to keep (`select`).
    pub mode: Option<Vec<i64>>,
    /// `begin` of `group_modes`.
    pub begin: Option<i64>,
    /// `end` of `group_modes`, exclusive.
    pub end: Option<i64>,
    /// `new_type_bits` of `recast_layout`.
    pub new_type_bits: Option<i64>,
    /// `old_type_bits` of `recast_layout`.
    pub old_type_bits: Option<i64>,
    /// `rank` of `append_to_rank` and `prepend_to_rank`.
    pub rank: Option<i64>,
    /// `only_dynamic` of `get_scalars`.
    pub only_dynamic: bool,
    /// The result type that is written down, for ops whose result does not follow from the operands: `static`,
    /// `make_int_tuple`, `make_shape`, `make_stride`, `make_coord`, `make_tile`.
    pub result: Option<Value>,
}

/// Every op of the dialect, by name: those of the published dialect in the order of `CuteOps.td`, then those that CuTe DSL
/// alone prints.
pub const OPS: [&str; 70] = [
    "static",
    "print",
    "make_int_tuple",
    "make_shape",
    "make_stride",
    "make_coord",
    "make_layout",
    "make_tile",
    "make_composed_layout",
    "make_layout_like",
    "make_ordered_layout",
    "make_identity_layout",
    "get_shape",
    "get_stride",
    "composed_get_inner",
    "composed_get_offset",
    "composed_get_outer",
    "get_leaves",
    "get_scalars",
    "get",
    "select",
    "to_int_tuple",
    "to_shape",
    "to_stride",
    "to_coord",
    "get_layouts_from_tile",
    "composition",
    "coalesce",
    "flatten",
    "complement",
    "group_modes",
    "recast_layout",
    "slice",
    "dice",
    "right_inverse",
    "left_inverse",
    "size",
    "cosize",
    "tuple_product",
    "tuple_product_each",
    "layout_eval",
    "crd2idx",
    "idx2crd",
    "increment_coord",
    "append_to_rank",
    "prepend_to_rank",
    "tuple_add",
    "tuple_sub",
    "shape_div",
    "ceil_div",
    "elem_less",
    "equal",
    "logical_product",
    "zipped_product",
    "tiled_product",
    "flat_product",
    "raked_product",
    "blocked_product",
    "logical_divide",
    "zipped_divide",
    "tiled_divide",
    "flat_divide",
    "tile_to_shape",
    "filter",
    "tuple_mul",
    "tuple_div",
    "tuple_mod",
    "tuple.product",
    "tuple.product_each",
    "derefine",
];

/// The results of `op` (without the dialect's prefix) on `operands`.
///
/// An optional operand that is absent is left out of `operands`. Errors: a name that is no op; operands of the wrong number
/// or kind; attributes that are missing or out of range; preconditions of the op that do not hold; a result that no layout
/// of the form expresses.
pub fn apply(op: &str, operands: &[Value], attrs: &Attrs) -> OpResult {
    let Some(op) = OPS.iter().copied().find(|o| *o == op) else {
        return Err(OpError::Unknown { op: op.to_string() });
    };
    let args = Operands::new(op, operands, attrs);
    let groups = [
        constructors::apply,
        accessors::apply,
        layout_algebra::apply,
        size_index::apply,
        arithmetic::apply,
        tiling::apply,
    ];
    groups
        .iter()
        .find_map(|group| group(&args))
        .unwrap_or_else(|| Err(OpError::Unknown { op: op.to_string() }))
}
