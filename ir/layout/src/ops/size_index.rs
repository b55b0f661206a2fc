//! Sizes, indices and coordinates.

use super::accessors::{Profile, layout_at, path, tuple_at};
use super::operands::Operands;
use super::{OpError, OpResult, Value};
use crate::layout::Layout;
use crate::swizzle::Inner;
use crate::tuple::IntTuple;

pub(super) fn apply(args: &Operands<'_>) -> Option<OpResult> {
    Some(match args.op {
        "size" => size(args),
        "cosize" => cosize(args),
        "tuple_product" | "tuple_product_each" | "tuple.product" | "tuple.product_each" => {
            product(args)
        }
        "layout_eval" => layout_eval(args),
        "crd2idx" => crd2idx(args),
        "idx2crd" => idx2crd(args),
        "increment_coord" => increment(args),
        "append_to_rank" | "prepend_to_rank" => pad(args),
        _ => return None,
    })
}

fn size(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let shape = match input {
        Value::Shape(t) | Value::IntTuple(t) => t,
        Value::Layout(l) => l.shape(),
        Value::ComposedLayout(c) => c.outer().shape(),
        v => {
            let kinds = "!cute.shape, !cute.int_tuple, !cute.layout or !cute.composed_layout";
            return Err(args.kind("input", kinds, v));
        }
    };
    let mode = tuple_at(shape, &path(args, &Profile::Tuple(shape))?);
    Ok(vec![Value::IntTuple(IntTuple::Leaf(mode.product()?))])
}

fn cosize(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let layout = match input {
        Value::Layout(l) => l,
        Value::ComposedLayout(c) => {
            if let Inner::Layout(_) = c.inner() {
                return Err(args.refuse(
                    "a composed layout whose inner function is a swizzle",
                    c,
                    "take the cosize of the inner layout",
                ));
            }
            c.outer()
        }
        v => return Err(args.kind("input", "!cute.layout or !cute.composed_layout", v)),
    };
    let mode = layout_at(layout, &path(args, &Profile::Tuple(layout.shape()))?)?;
    Ok(vec![Value::IntTuple(IntTuple::Leaf(mode.cosize_leaf()?))])
}

fn product(args: &Operands<'_>) -> OpResult {
    let [input] = args.exactly()?;
    let compute = |t: &IntTuple| -> Result<IntTuple, OpError> {
        Ok(match args.op {
            "tuple_product" | "tuple.product" => IntTuple::Leaf(t.product()?),
            // An integer is a tuple of one mode here, as CuTe IR has it.
            _ => IntTuple::Tuple(t.product_each()?.modes().to_vec()),
        })
    };
    Ok(vec![match input {
        Value::IntTuple(t) => Value::IntTuple(compute(t)?),
        Value::Shape(t) => Value::Shape(compute(t)?),
        v => return Err(args.kind("input", "!cute.int_tuple or !cute.shape", v)),
    }])
}

fn layout_eval(args: &Operands<'_>) -> OpResult {
    let [coord, layout] = args.exactly()?;
    let coord = args.coord("coord", coord)?;
    let shape = match layout {
        Value::Layout(l) => l.shape(),
        Value::ComposedLayout(c) => c.outer().shape(),
        v => return Err(args.kind("layout", "!cute.layout or !cute.composed_layout", v)),
    };
    if coord.is_tuple() && coord.rank() != shape.rank() {
        return Err(args.refuse(
            format!(
                "a coordinate of rank {} (that of {shape}), or an integer",
                shape.rank()
            ),
            coord,
            "give one value for each mode",
        ));
    }
    let value = match layout {
        Value::Layout(l) => l.eval(coord)?,
        Value::ComposedLayout(c) => c.eval(coord)?,
        v => return Err(args.kind("layout", "!cute.layout or !cute.composed_layout", v)),
    };
    Ok(vec![Value::IntTuple(value)])
}

fn crd2idx(args: &Operands<'_>) -> OpResult {
    let [coord, shape] = args.exactly()?;
    let coord = args.coord("coord", coord)?;
    let shape = args.shape("shape", shape)?;
    if !coord.weakly_congruent(shape) {
        return Err(args.refuse(
            format!("a coordinate whose profile {shape} refines"),
            coord,
            "give an integer, one value a mode, or one a leaf",
        ));
    }
    Ok(vec![Value::IntTuple(IntTuple::Leaf(shape.crd2idx(coord)?))])
}

fn idx2crd(args: &Operands<'_>) -> OpResult {
    let [index, shape] = args.exactly()?;
    let index = args.int_tuple("index", index)?;
    let shape = args.shape("shape", shape)?;
    if index.rank() > 1 && index.rank() != shape.rank() {
        return Err(args.refuse(
            format!(
                "an index of rank {} (that of {shape}), or an integer",
                shape.rank()
            ),
            index,
            "give one value for each mode",
        ));
    }
    Ok(vec![Value::Coord(shape.idx2crd_leaf(index)?)])
}

fn increment(args: &Operands<'_>) -> OpResult {
    let [coord, shape] = args.exactly()?;
    let coord = args.coord("coord", coord)?;
    let shape = args.shape("shape", shape)?;
    if !coord.congruent(shape) {
        return Err(args.refuse(
            format!("a coordinate congruent to {shape}"),
            coord,
            "give one value for each leaf",
        ));
    }
    if coord.has_underscore() {
        return Err(args.refuse(
            "a coordinate without `_`",
            coord,
            "give one value for each leaf",
        ));
    }
    Ok(vec![Value::Coord(shape.increment(coord)?)])
}

/// Copies of the element before or behind, up to a rank. What has the rank already, or more, stays as it is.
fn pad(args: &Operands<'_>) -> OpResult {
    let [input, element] = args.exactly()?;
    let rank = args.attr("rank", args.attrs.rank)?;
    let append = args.op == "append_to_rank";
    let rank = usize::try_from(rank)
        .ok()
        .filter(|r| (1..=crate::tuple::MAX_LEAVES).contains(r))
        .ok_or_else(|| {
            args.refuse(
                format!("a rank from 1 to {}", crate::tuple::MAX_LEAVES),
                rank,
                "name the rank of the result",
            )
        })?;
    let tuple = |t: &IntTuple, e: &IntTuple| {
        let mut modes = t.modes().to_vec();
        if modes.len() >= rank {
            return t.clone();
        }
        let missing = std::iter::repeat_n(e.clone(), rank - modes.len());
        if append {
            modes.extend(missing);
        } else {
            modes.splice(0..0, missing);
        }
        IntTuple::Tuple(modes)
    };
    let layout = |l: &Layout, e: &Layout| -> Result<Layout, OpError> {
        Ok(match (l.rank() >= rank, append) {
            (true, _) => l.clone(),
            (false, true) => l.append_to_rank(rank, e)?,
            (false, false) => l.prepend_to_rank(rank, e)?,
        })
    };
    Ok(vec![match (input, element) {
        (Value::IntTuple(t), Value::IntTuple(e)) => Value::IntTuple(tuple(t, e)),
        (Value::Shape(t), Value::Shape(e)) => Value::Shape(tuple(t, e)),
        (Value::Stride(t), Value::Stride(e)) => {
            let padded = tuple(t, e);
            padded.check_stride()?;
            Value::Stride(padded)
        }
        (Value::Coord(t), Value::Coord(e)) => Value::Coord(tuple(t, e)),
        (Value::Layout(l), Value::Layout(e)) => Value::Layout(layout(l, e)?),
        (Value::ComposedLayout(c), Value::Layout(e)) => {
            Value::ComposedLayout(c.map_outer(|l| layout(l, e))?)
        }
        (Value::ComposedLayout(_), e) => {
            return Err(args.kind("element", "!cute.layout beside a !cute.composed_layout", e));
        }
        (
            Value::IntTuple(_)
            | Value::Shape(_)
            | Value::Stride(_)
            | Value::Coord(_)
            | Value::Layout(_),
            e,
        ) => return Err(args.kind("element", "of the kind of the input", e)),
        (v, _) => {
            let kinds = "!cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout or \
                         !cute.composed_layout";
            return Err(args.kind("input", kinds, v));
        }
    }])
}
