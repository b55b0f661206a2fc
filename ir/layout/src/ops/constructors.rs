//! Values from their parts.

use std::sync::Arc;

use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::layout::Layout;
use crate::leaf::{Dyn, Expr, Leaf, Term};
use crate::swizzle::{ComposedLayout, Inner};
use crate::tile::Tile;
use crate::tuple::IntTuple;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "static" => constant(args),
        "print" => print(args),
        "make_int_tuple" | "make_shape" | "make_stride" | "make_coord" | "make_tile" => fill(args),
        "derefine" => derefine(args),
        "make_layout" => layout(args),
        "make_composed_layout" => composed(args),
        "make_layout_like" => like(args),
        "make_ordered_layout" => ordered(args),
        "make_identity_layout" => identity(args),
        _ => return None,
    })
}

/// The value itself: what its type says less, the declared type leaves out.
fn derefine(args: &Operands<'_>) -> OpResult {
    let [value] = args.exactly()?;
    Ok(vec![value.clone()])
}

fn print(args: &Operands<'_>) -> OpResult {
    match args.exactly()? {
        [v @ (Value::Scalar(_) | Value::Bool(_))] => {
            Err(args.kind("value", "a type of the dialect", v))
        }
        _ => Ok(vec![]),
    }
}

/// The result type that is written down, of the kind that the op's name says.
fn declared<'a>(args: &Operands<'a>) -> Result<&'a Value, OpError> {
    args.attrs.result.as_ref().ok_or(OpError::MissingAttr {
        op: args.op,
        name: "result",
    })
}

fn constant(args: &Operands<'_>) -> OpResult {
    args.exactly::<0>()?;
    let result = declared(args)?;
    if matches!(result, Value::Scalar(_) | Value::Bool(_)) {
        return Err(args.kind("result", "a type of the dialect", result));
    }
    if !result.is_static() {
        return Err(args.refuse(
            "a result without `?`",
            result,
            "make a value with `?` by the `make_` op of its type",
        ));
    }
    Ok(vec![result.clone()])
}

/// The operands, in order, put where the declared result has `?`.
///
/// The result has the declared type: a static operand becomes a `?` that is computed as that constant.
fn fill(args: &Operands<'_>) -> OpResult {
    let declared = declared(args)?;
    let right = matches!(
        (args.op, declared),
        ("make_int_tuple", Value::IntTuple(_))
            | ("make_shape", Value::Shape(_))
            | ("make_stride", Value::Stride(_))
            | ("make_coord", Value::Coord(_))
            | ("make_tile", Value::Tile(_))
    );
    if !right {
        return Err(args.kind("result", "the type in the op's name", declared));
    }
    let leaves = args
        .all
        .iter()
        .map(|v| match v {
            Value::Scalar(l) | Value::IntTuple(IntTuple::Leaf(l)) => Ok(l),
            _ => Err(args.kind("operands", "i32, i64 or a !cute.int_tuple of one leaf", v)),
        })
        .collect::<Result<Vec<_>, _>>()?;
    let slots = declared.leaves().iter().filter(|l| !l.is_static()).count();
    if slots != leaves.len() {
        return Err(args.refuse(
            format!("{slots} operand(s), one for each `?` of {declared}"),
            leaves.len(),
            "give as many operands as the result type has `?`",
        ));
    }
    let mut filler = Filler {
        args,
        given: leaves.into_iter().enumerate(),
    };
    Ok(vec![match declared {
        Value::IntTuple(t) => Value::IntTuple(filler.tuple(t)?),
        Value::Shape(t) => Value::Shape(filler.tuple(t)?),
        Value::Stride(t) => Value::Stride(filler.tuple(t)?),
        Value::Coord(t) => Value::Coord(filler.tuple(t)?),
        Value::Tile(t) => Value::Tile(filler.tile(t)?),
        other => other.clone(),
    }])
}

struct Filler<'a, 'b, I> {
    args: &'b Operands<'a>,
    given: I,
}

impl<'a, I: Iterator<Item = (usize, &'a Leaf)>> Filler<'a, '_, I> {
    fn leaf(&mut self, slot: &Leaf) -> Result<Leaf, OpError> {
        let want = match slot {
            Leaf::Dynamic(want) => want,
            Leaf::Basis { value, path } if !value.is_static() => {
                return Ok(Leaf::Basis {
                    value: Box::new(self.leaf(value)?),
                    path: path.clone(),
                });
            }
            other => return Ok(other.clone()),
        };
        let Some((i, leaf)) = self.given.next() else {
            return Ok(slot.clone());
        };
        let misfit = |found: String| {
            self.args.refuse(
                format!("operand {i} to fit `{want}` ({} bits)", want.width),
                found,
                "change the width or divisor of the operand or of the result type",
            )
        };
        match leaf {
            Leaf::Dynamic(have) if have.width != want.width => {
                Err(misfit(format!("`{have}` of {} bits", have.width)))
            }
            // What the type promises beyond what the operand carries is the program's to keep.
            Leaf::Dynamic(have) if !have.is_within(want) => {
                let mut promised = have.clone();
                promised.div = want.div;
                Ok(Leaf::Dynamic(promised))
            }
            Leaf::Static(v) if want.width == 32 && i32::try_from(*v).is_err() => {
                Err(misfit(v.to_string()))
            }
            Leaf::Static(v) if !want.admits(*v) => Err(misfit(v.to_string())),
            Leaf::Static(v) => Ok(Leaf::Dynamic(Dyn {
                term: Term::Traced(Arc::new(Expr::Const(*v))),
                ..want.clone()
            })),
            Leaf::Dynamic(_) => Ok(leaf.clone()),
            other => Err(misfit(other.to_string())),
        }
    }

    fn tuple(&mut self, t: &IntTuple) -> Result<IntTuple, OpError> {
        match t {
            IntTuple::Leaf(l) => Ok(IntTuple::Leaf(self.leaf(l)?)),
            IntTuple::Tuple(t) => Ok(IntTuple::Tuple(
                t.iter().map(|t| self.tuple(t)).collect::<Result<_, _>>()?,
            )),
        }
    }

    fn tile(&mut self, t: &Tile) -> Result<Tile, OpError> {
        match t {
            Tile::Layout(l) => {
                let shape = self.tuple(l.shape())?;
                let stride = self.tuple(l.stride())?;
                Ok(Tile::Layout(Layout::new(shape, stride)?))
            }
            Tile::Underscore => Ok(Tile::Underscore),
            Tile::Modes(m) => Ok(Tile::Modes(
                m.iter().map(|t| self.tile(t)).collect::<Result<_, _>>()?,
            )),
        }
    }
}

fn layout(args: &Operands<'_>) -> OpResult {
    let (shape, stride) = args.one_or_two()?;
    let shape = args.shape("shape", shape)?;
    let Some(stride) = stride else {
        return Ok(vec![Value::Layout(Layout::col_major(shape)?)]);
    };
    let stride = args.stride("stride", stride)?;
    Ok(vec![Value::Layout(Layout::new(
        shape.clone(),
        stride.clone(),
    )?)])
}

fn composed(args: &Operands<'_>) -> OpResult {
    let [inner, offset, outer] = args.exactly()?;
    let offset = args.int_tuple("offset", offset)?;
    let outer = args.layout("outer", outer)?;
    let inner = match inner {
        Value::Layout(l) => Inner::Layout(l.clone()),
        Value::Swizzle(s) => Inner::Swizzle(*s),
        v => return Err(args.kind("inner", "!cute.layout or !cute.swizzle", v)),
    };
    let made = ComposedLayout::new(inner, offset.clone(), outer.clone())?;
    Ok(vec![Value::ComposedLayout(made)])
}

fn like(args: &Operands<'_>) -> OpResult {
    let [src] = args.exactly()?;
    let source = match src {
        Value::Layout(l) => l,
        Value::ComposedLayout(c) => {
            if let Inner::Layout(_) = c.inner() {
                return Err(args.refuse(
                    "a composed layout whose inner function is a swizzle",
                    c,
                    "compose the layouts into one first",
                ));
            }
            c.outer()
        }
        v => return Err(args.kind("src", "!cute.layout or !cute.composed_layout", v)),
    };
    if source.stride().has_basis() {
        return Err(args.refuse(
            "integer strides",
            source,
            "make the layout of the shape with `make_ordered_layout`",
        ));
    }
    Ok(vec![Value::Layout(source.make_layout_like()?)])
}

fn ordered(args: &Operands<'_>) -> OpResult {
    let [shape, order] = args.exactly()?;
    let shape = args.shape("shape", shape)?;
    let order = args.int_tuple("order", order)?;
    if !order.is_static() {
        return Err(args.refuse("a static order", order, "write the order as integers"));
    }
    if !order.weakly_congruent(shape) {
        return Err(args.refuse(
            format!("an order whose profile {shape} refines"),
            order,
            "give one integer for each mode",
        ));
    }
    Ok(vec![Value::Layout(Layout::ordered(shape, order)?)])
}

fn identity(args: &Operands<'_>) -> OpResult {
    let [shape] = args.exactly()?;
    let shape = args.shape("shape", shape)?;
    Ok(vec![Value::Layout(Layout::identity(shape)?)])
}
