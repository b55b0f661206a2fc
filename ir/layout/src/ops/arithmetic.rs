//! Arithmetic on tuples, and comparisons.

use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::error::Result;
use crate::eval;
use crate::leaf::{Leaf, with_divisors};
use crate::tile::Tile;
use crate::tuple::IntTuple;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "tuple_add" => add_sub(args, IntTuple::add),
        "tuple_sub" => add_sub(args, IntTuple::sub),
        "tuple_mul" => leaf_by_leaf(args, Leaf::mul),
        "tuple_div" => leaf_by_leaf(args, Leaf::div),
        "tuple_mod" => leaf_by_leaf(args, Leaf::rem),
        "shape_div" => shape_div(args),
        "ceil_div" => ceil_div(args),
        "elem_less" => elem_less(args),
        "equal" => equal(args),
        _ => return None,
    })
}

/// Within the common rank the nesting must agree, also where a leaf is a known 0.
fn same_nesting(a: &IntTuple, b: &IntTuple) -> bool {
    match (a, b) {
        (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
            a.iter().zip(b).all(|(a, b)| same_nesting(a, b))
        }
        (IntTuple::Leaf(_), IntTuple::Leaf(_)) => true,
        _ => false,
    }
}

/// Both operands, integer tuples or shapes, and what makes the result of their kind.
#[allow(clippy::type_complexity)]
fn both_of_a_kind<'a>(
    args: &Operands<'a>,
) -> std::result::Result<(&'a IntTuple, &'a IntTuple, fn(IntTuple) -> Value), OpError> {
    let [lhs, rhs] = args.exactly()?;
    match (lhs, rhs) {
        (Value::IntTuple(a), Value::IntTuple(b)) => Ok((a, b, Value::IntTuple)),
        (Value::Shape(a), Value::Shape(b)) => Ok((a, b, Value::Shape)),
        (Value::IntTuple(_) | Value::Shape(_), v) => Err(args.kind("rhs", "of the kind of lhs", v)),
        (v, _) => Err(args.kind("lhs", "!cute.int_tuple or !cute.shape", v)),
    }
}

fn add_sub(args: &Operands<'_>, f: fn(&IntTuple, &IntTuple) -> Result<IntTuple>) -> OpResult {
    let (a, b, make) = both_of_a_kind(args)?;
    let both = a.is_tuple() && b.is_tuple();
    if both && !same_nesting(a, b) {
        return Err(args.refuse(
            "one nesting within the common rank",
            format!("{a} and {b}"),
            "give both tuples the same profile",
        ));
    }
    Ok(vec![make(f(a, b)?)])
}

/// `f` of the leaves at one place; an integer beside a tuple counts for each of its leaves.
fn leaf_by_leaf(args: &Operands<'_>, f: fn(&Leaf, &Leaf) -> Result<Leaf>) -> OpResult {
    fn walk(a: &IntTuple, b: &IntTuple, f: fn(&Leaf, &Leaf) -> Result<Leaf>) -> Result<IntTuple> {
        Ok(match (a, b) {
            (IntTuple::Leaf(a), IntTuple::Leaf(b)) => IntTuple::Leaf(f(a, b)?),
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => IntTuple::Tuple(
                a.iter()
                    .zip(b)
                    .map(|(a, b)| walk(a, b, f))
                    .collect::<Result<_>>()?,
            ),
            (IntTuple::Tuple(a), leaf) => {
                IntTuple::Tuple(a.iter().map(|a| walk(a, leaf, f)).collect::<Result<_>>()?)
            }
            (leaf, IntTuple::Tuple(b)) => {
                IntTuple::Tuple(b.iter().map(|b| walk(leaf, b, f)).collect::<Result<_>>()?)
            }
        })
    }
    fn meet(a: &IntTuple, b: &IntTuple) -> bool {
        match (a, b) {
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| meet(a, b))
            }
            _ => true,
        }
    }
    let (a, b, make) = both_of_a_kind(args)?;
    if !meet(a, b) {
        return Err(args.refuse(
            "congruent tuples, or an integer beside a tuple",
            format!("{a} and {b}"),
            "give both tuples the same nesting",
        ));
    }
    Ok(vec![make(with_divisors(|| walk(a, b, f))?)])
}

fn shape_div(args: &Operands<'_>) -> OpResult {
    let [a, b] = args.exactly()?;
    let (a, b) = (args.shape("a", a)?, args.shape("b", b)?);
    Ok(vec![Value::Shape(a.shape_div(b)?)])
}

fn ceil_div(args: &Operands<'_>) -> OpResult {
    let [input, tiler] = args.exactly()?;
    let divide = |t: &IntTuple| -> std::result::Result<IntTuple, OpError> {
        Ok(match tiler {
            Value::IntTuple(b) | Value::Shape(b) => t.ceil_div(b)?,
            Value::Tile(b) if b.leaves().contains(&&Tile::Underscore) => {
                return Err(args.refuse(
                    "a tiler without `_`",
                    b,
                    "write the layout of one element, 1:0, for a mode that stays",
                ));
            }
            Value::Tile(b) => t.ceil_div_tile(b)?,
            v => {
                let kinds = "!cute.int_tuple, !cute.shape or !cute.tile";
                return Err(args.kind("tiler", kinds, v));
            }
        })
    };
    Ok(vec![match input {
        Value::IntTuple(t) => Value::IntTuple(divide(t)?),
        Value::Shape(t) => Value::Shape(divide(t)?),
        v => return Err(args.kind("input", "!cute.int_tuple or !cute.shape", v)),
    }])
}

fn comparable<'a>(
    args: &Operands<'a>,
    operand: &'static str,
    v: &'a Value,
) -> std::result::Result<&'a IntTuple, OpError> {
    match v {
        Value::IntTuple(t) | Value::Shape(t) | Value::Coord(t) => Ok(t),
        v => Err(args.kind(operand, "!cute.int_tuple, !cute.shape or !cute.coord", v)),
    }
}

fn elem_less(args: &Operands<'_>) -> OpResult {
    let [lhs, rhs] = args.exactly()?;
    let a = comparable(args, "lhs", lhs)?;
    let b = comparable(args, "rhs", rhs)?;
    if !a.congruent(b) {
        return Err(args.refuse(
            "congruent tuples",
            format!("{a} and {b}"),
            "give both the same nesting",
        ));
    }
    if let Some(t) = [a, b].into_iter().find(|t| t.has_underscore()) {
        return Err(args.refuse(
            "coordinates without `_`",
            t,
            "give an integer for each leaf",
        ));
    }
    Ok(vec![Value::Bool(eval::elem_less(a, b)?)])
}

fn equal(args: &Operands<'_>) -> OpResult {
    let [lhs, rhs] = args.exactly()?;
    let truth = match (lhs, rhs) {
        (Value::IntTuple(a), Value::IntTuple(b))
        | (Value::Shape(a), Value::Shape(b))
        | (Value::Stride(a), Value::Stride(b))
        | (Value::Coord(a), Value::Coord(b)) => eval::equal(a, b)?,
        (Value::Layout(a), Value::Layout(b)) => eval::layouts_equal(a, b)?,
        (
            Value::IntTuple(_)
            | Value::Shape(_)
            | Value::Stride(_)
            | Value::Coord(_)
            | Value::Layout(_),
            v,
        ) => return Err(args.kind("rhs", "of the kind of lhs", v)),
        (v, _) => {
            let kinds = "!cute.int_tuple, !cute.shape, !cute.coord, !cute.stride or !cute.layout";
            return Err(args.kind("lhs", kinds, v));
        }
    };
    Ok(vec![Value::Bool(truth)])
}
