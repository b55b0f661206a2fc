//! Coordinates: indices, slices, application.

use cute_layout::{IntTuple, Layout, Leaf, int};

use super::{Answer, Call, Function};
use crate::value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["crd2idx"],
        signature: "crd2idx(coord, layout) or crd2idx(coord, shape[, stride])",
        about: "the offset of a coordinate: an integer, one value a mode, or one a leaf",
        example: "crd2idx((1,5), (3,(2,3)), (3,(12,1)))",
        gives: "17",
        arity: 2..=3,
        run: |c| {
            if c.len() == 3 {
                return value_at(&Layout::new(c.shape(1)?, c.tuple(2)?)?, &c.tuple(0)?);
            }
            apply(c, 0, 1)
        },
    },
    Function {
        names: &["idx2crd"],
        signature: "idx2crd(index, shape)",
        about: "the natural coordinate of an index, colexicographic",
        example: "idx2crd(16, (3,(2,3)))",
        gives: "(1,(1,2))",
        arity: 2..=2,
        run: |c| {
            let (index, shape) = (c.tuple(0)?, c.shape(1)?);
            if index.is_static() && shape.is_static() {
                return Ok(shape.idx2crd(&index)?.into());
            }
            Ok(shape.idx2crd_leaf(&index)?.into())
        },
    },
    Function {
        names: &["crd2crd"],
        signature: "crd2crd(coord, from_shape, to_shape)",
        about: "the coordinate of the same index in another shape",
        example: "crd2crd((1,2), (2,6), (3,4))",
        gives: "(2,1)",
        arity: 3..=3,
        run: |c| {
            let (coord, from, to) = (c.tuple(0)?, c.shape(1)?, c.shape(2)?);
            if from.product()?.equals(&to.product()?)?.is_false() {
                return c.bad(
                    2,
                    format!("expected a shape of as many elements as {from}, found {to}"),
                );
            }
            if coord.is_static() && from.is_static() && to.is_static() {
                let index = Layout::col_major(&from)?.crd2idx(&coord)?;
                return Ok(to.idx2crd(&int(index))?.into());
            }
            let index = IntTuple::Leaf(from.crd2idx(&coord)?);
            Ok(to.idx2crd_leaf(&index)?.into())
        },
    },
    Function {
        names: &["increment", "increment_coord"],
        signature: "increment(coord, shape)",
        about: "the next coordinate, colexicographic, one value a leaf; behind the last one it is out of range",
        example: "increment((1,(2,0)), (2,(3,4)))",
        gives: "(0,(0,1))",
        arity: 2..=2,
        run: |c| Ok(c.shape(1)?.increment(&c.tuple(0)?)?.into()),
    },
    Function {
        names: &["slice", "slice_"],
        signature: "slice(coord, layout)",
        about: "the modes at `_`; an offset that is not 0 is given in a note",
        example: "slice(((1,1),(_,_)), ((2,4),(3,5)):((3,6),(1,24)))",
        gives: "(3,5):(1,24)",
        arity: 2..=2,
        run: slice,
    },
    Function {
        names: &["slice_offset"],
        signature: "slice_offset(coord, layout)",
        about: "the offset of a slice; of a composed layout, what slice does not hold inside",
        example: "slice_offset(((1,1),(_,_)), ((2,4),(3,5)):((3,6),(1,24)))",
        gives: "9",
        arity: 2..=2,
        run: |c| {
            let (coord, layout) = order(c);
            let at = c.tuple(coord)?;
            if let Value::Composed(l) = c.value(layout) {
                return Ok(l.slice(&at)?.1.into());
            }
            let l = c.layout(layout)?;
            // The error of a coordinate that does not fit.
            l.slice_modes(&at)?;
            value_at(&l, &zeroed(&at))
        },
    },
    Function {
        names: &["dice"],
        signature: "dice(coord, layout)",
        about: "the modes that are not at `_`",
        example: "dice((_,1), (4,8):(1,4))",
        gives: "(8):(4)",
        arity: 2..=2,
        run: |c| {
            let (coord, layout) = order(c);
            let at = c.tuple(coord)?;
            if let Value::Tuple(t) = c.value(layout) {
                return keep(c, &at, t, false);
            }
            c.map(layout, |l| Ok(l.dice(&at)?))
        },
    },
    Function {
        names: &["apply", "layout_eval"],
        signature: "apply(layout | swizzle, coord)",
        about: "the value of the function at a coordinate",
        example: "apply(S<3,4,3>, 896)",
        gives: "1008",
        arity: 2..=2,
        run: |c| apply(c, 1, 0),
    },
];

fn apply(c: &mut Call<'_>, coord: usize, function: usize) -> Answer {
    // Either order is taken where the kinds tell them apart.
    let swapped = c.is_tuple(function) && !c.is_tuple(coord);
    let (coord, function) = if swapped {
        (function, coord)
    } else {
        (coord, function)
    };
    match c.value(function) {
        Value::Swizzle(s) => match c.tuple(coord)?.as_leaf() {
            Some(offset) => Ok(IntTuple::Leaf(s.apply_leaf(offset)?).into()),
            None => c.bad(
                coord,
                format!("expected an integer, found {}", c.value(coord)),
            ),
        },
        Value::Composed(l) => Ok(l.eval(&c.tuple(coord)?)?.into()),
        _ => value_at(&c.layout(function)?, &c.tuple(coord)?),
    }
}

// The value of a layout: an integer, or the coordinate that basis strides give; dynamic where a leaf is.
fn value_at(l: &Layout, at: &IntTuple) -> Answer {
    if l.is_static() && at.is_static() && !l.stride().has_basis() {
        return Ok(l.crd2idx(at)?.into());
    }
    Ok(l.eval(at)?.into())
}

// 0 in the place of each `_`.
fn zeroed(t: &IntTuple) -> IntTuple {
    match t {
        IntTuple::Leaf(Leaf::Underscore) => int(0),
        IntTuple::Leaf(_) => t.clone(),
        IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(zeroed).collect()),
    }
}

// CuTe C++ takes the coordinate first, CuTe DSL the layout.
fn order(c: &Call<'_>) -> (usize, usize) {
    if !c.is_tuple(0) && c.is_tuple(1) {
        (1, 0)
    } else {
        (0, 1)
    }
}

fn slice(c: &mut Call<'_>) -> Answer {
    let (coord, layout) = order(c);
    let at = c.tuple(coord)?;
    match c.value(layout) {
        Value::Tuple(t) => keep(c, &at, t, true),
        Value::Composed(l) => {
            let (made, offset) = l.slice(&at)?;
            note_offset(c, &offset);
            Ok(made.into())
        }
        _ => {
            let l = c.layout(layout)?;
            let modes = l.slice_modes(&at)?;
            if let Value::Tuple(offset) = value_at(&l, &zeroed(&at))? {
                note_offset(c, &offset);
            }
            Ok(modes.into())
        }
    }
}

fn note_offset(c: &mut Call<'_>, offset: &IntTuple) {
    if offset.leaves().iter().any(|l| !l.is(0)) {
        c.note(format!("the slice begins at offset {offset}"));
    }
}

// Slice and dice of a tuple: the modes at (or not at) `_`.
fn keep(c: &Call<'_>, coord: &IntTuple, t: &IntTuple, underscore: bool) -> Answer {
    fn walk(t: &IntTuple, c: &IntTuple, underscore: bool, out: &mut Vec<IntTuple>) -> bool {
        match c {
            IntTuple::Leaf(l) => {
                if (*l == Leaf::Underscore) == underscore {
                    out.push(t.clone());
                }
                true
            }
            IntTuple::Tuple(cs) => {
                t.is_tuple()
                    && cs.len() == t.rank()
                    && t.modes()
                        .iter()
                        .zip(cs)
                        .all(|(t, c)| walk(t, c, underscore, out))
            }
        }
    }
    let mut out = Vec::new();
    if !walk(t, coord, underscore, &mut out) {
        return c.bad(0, format!("expected a coordinate of {t}, found {coord}"));
    }
    match (coord, out.pop()) {
        (IntTuple::Leaf(_), Some(t)) => Ok(t.into()),
        (_, last) => {
            out.extend(last);
            Ok(IntTuple::Tuple(out).into())
        }
    }
}
