//! Coordinates: indices, slices, application.

use cute_layout::{ComposedLayout, IntTuple, Layout, LayoutError, Leaf, int};

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
                let layout = Layout::new(c.shape(1)?, c.tuple(2)?)?;
                return Ok(layout.crd2idx(&c.tuple(0)?)?.into());
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
        run: |c| Ok(c.shape(1)?.idx2crd(&c.tuple(0)?)?.into()),
    },
    Function {
        names: &["crd2crd"],
        signature: "crd2crd(coord, from_shape, to_shape)",
        about: "the coordinate of the same index in another shape",
        example: "crd2crd((1,2), (2,6), (3,4))",
        gives: "(2,1)",
        arity: 3..=3,
        run: |c| {
            let index = Layout::col_major(&c.shape(1)?)?.crd2idx(&c.tuple(0)?)?;
            Ok(c.shape(2)?.idx2crd(&int(index))?.into())
        },
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
        about: "the offset of a slice",
        example: "slice_offset(((1,1),(_,_)), ((2,4),(3,5)):((3,6),(1,24)))",
        gives: "9",
        arity: 2..=2,
        run: |c| {
            let (coord, layout) = order(c);
            Ok(c.layout(layout)?.slice(&c.tuple(coord)?)?.1.into())
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
        names: &["apply"],
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
        Value::Swizzle(s) => Ok(s.apply(c.int(coord)?).into()),
        Value::Composed(l) => Ok(l.crd2idx(&c.tuple(coord)?)?.into()),
        _ => {
            let (l, at) = (c.layout(function)?, c.tuple(coord)?);
            if l.is_static() && at.is_static() {
                return Ok(l.crd2idx(&at)?.into());
            }
            // Symbols are known as far as that goes; `?` is not.
            match l.eval(&at) {
                Ok(v) if v.leaves().iter().all(|l| l.is_identified()) => Ok(v.into()),
                Err(e @ (LayoutError::NeedsFact { .. } | LayoutError::Symbolic(_))) => {
                    Err(e.into())
                }
                _ => Ok(l.crd2idx(&at)?.into()),
            }
        }
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
            let (modes, by) = l.outer().slice(&at)?;
            let offset = l.offset().as_static().and_then(|o| o.checked_add(by));
            let Some(offset) = offset else {
                return c.bad(
                    layout,
                    format!("expected an offset that is known and fits 64 bits, found {l}"),
                );
            };
            Ok(ComposedLayout::new(l.inner().clone(), int(offset), modes)?.into())
        }
        _ => {
            let l = c.layout(layout)?;
            if at.is_static() {
                let (modes, offset) = l.slice(&at)?;
                if offset != 0 {
                    c.note(format!("the slice begins at offset {offset}"));
                }
                return Ok(modes.into());
            }
            Ok(l.slice_modes(&at)?.into())
        }
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
