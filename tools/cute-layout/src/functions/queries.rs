//! The properties of a layout or a tuple: rank, size, parts, relations.

use cute_layout::eval::{equal as equal_tuples, layouts_equal};
use cute_layout::{Inner, IntTuple, LayoutError, Leaf, Tile, Truth};

use super::{Answer, Call, Function, MANY};
use crate::failure::Fault;
use crate::value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["rank"],
        signature: "rank(x[, mode..])",
        about: "modes at the top",
        example: "rank((3,(6,2),8))",
        gives: "3",
        arity: 1..=MANY,
        run: |c| {
            Ok(match part(c)? {
                Value::Layout(l) => l.rank().into(),
                Value::Tile(t) => t.rank().into(),
                _ => c_shape(c)?.rank().into(),
            })
        },
    },
    Function {
        names: &["depth"],
        signature: "depth(x[, mode..])",
        about: "levels of nesting",
        example: "depth((3,(6,2),8))",
        gives: "2",
        arity: 1..=MANY,
        run: |c| Ok(c_shape(c)?.depth().into()),
    },
    Function {
        names: &["size"],
        signature: "size(x[, mode..])",
        about: "elements of the domain: the product of the shape",
        example: "size(((2,4),3):((1,2),8))",
        gives: "24",
        arity: 1..=MANY,
        run: |c| Ok(IntTuple::Leaf(c_shape(c)?.product()?).into()),
    },
    Function {
        names: &["cosize"],
        signature: "cosize(layout[, mode..])",
        about: "one more than the largest reach of the offsets",
        example: "cosize(8:2)",
        gives: "15",
        arity: 1..=MANY,
        run: |c| {
            let value = part(c)?;
            let Value::Composed(composed) = &value else {
                return Ok(IntTuple::Leaf(value.to_layout()?.cosize_leaf()?).into());
            };
            if let Inner::Layout(l) = composed.inner() {
                return c.bad(
                    0,
                    format!("expected a layout, or one under a swizzle, found one under {l}; take the cosize of that"),
                );
            }
            let n = composed.outer().cosize_leaf()?;
            c.note(format!(
                "the cosize is that of {}, as in CuTe: swizzle and offset are not counted",
                composed.outer()
            ));
            Ok(IntTuple::Leaf(n).into())
        },
    },
    Function {
        names: &["coshape"],
        signature: "coshape(layout[, mode..])",
        about: "one more than the largest coordinate that basis strides reach; else the cosize",
        example: "coshape((2,3):(1@0,2@1))",
        gives: "(2,5)",
        arity: 1..=MANY,
        run: |c| Ok(part(c)?.to_layout()?.coshape()?.into()),
    },
    Function {
        names: &["shape"],
        signature: "shape(layout[, mode..])",
        about: "the shape",
        example: "shape(((2,4),3):((1,2),8), 0)",
        gives: "(2,4)",
        arity: 1..=MANY,
        run: |c| Ok(c_shape(c)?.into()),
    },
    Function {
        names: &["stride"],
        signature: "stride(layout[, mode..])",
        about: "the stride",
        example: "stride<0>(((2,4),3):((1,2),8))",
        gives: "(1,2)",
        arity: 1..=MANY,
        run: |c| match part(c)? {
            Value::Tuple(_) => c.bad(0, "expected a layout, found a tuple"),
            v => Ok(v.to_layout()?.stride().clone().into()),
        },
    },
    Function {
        names: &["congruent"],
        signature: "congruent(a, b)",
        about: "whether both have the same nesting",
        example: "congruent((4,(1,2)), (7,(8,9)))",
        gives: "true",
        arity: 2..=2,
        run: |c| Ok(c.shape(0)?.congruent(&c.shape(1)?).into()),
    },
    Function {
        names: &["weakly_congruent"],
        signature: "weakly_congruent(a, b)",
        about: "whether the nesting of b refines that of a",
        example: "weakly_congruent((4,6), ((2,2),6))",
        gives: "true",
        arity: 2..=2,
        run: |c| Ok(c.shape(0)?.weakly_congruent(&c.shape(1)?).into()),
    },
    Function {
        names: &["compatible"],
        signature: "compatible(a, b)",
        about: "whether sizes agree and each coordinate of a is one of b",
        example: "compatible(24, (4,6))",
        gives: "true",
        arity: 2..=2,
        run: |c| Ok(compatible(&c.shape(0)?, &c.shape(1)?)?.into()),
    },
    Function {
        names: &["divides_evenly", "evenly_divides"],
        signature: "divides_evenly(layout, tiler)",
        about: "whether a divide by the tiler does not round up",
        example: "divides_evenly(10:1, 4:1)",
        gives: "false",
        arity: 2..=2,
        run: |c| Ok(c.layout(0)?.divides_evenly(&c.tile(1)?)?.into()),
    },
    Function {
        names: &["elem_less"],
        signature: "elem_less(a, b)",
        about: "whether each leaf of coordinate a is below that of b",
        example: "elem_less((1,2), (4,4))",
        gives: "true",
        arity: 2..=2,
        run: elem_less,
    },
    Function {
        names: &["equal"],
        signature: "equal(a, b)",
        about: "whether both are written alike: equal nesting and leaves, of layouts shape and stride (equal functions may differ)",
        example: "equal((4,8):(1,4), (4,8):(1,4))",
        gives: "true",
        arity: 2..=2,
        run: |c| match equal(c.value(0), c.value(1))? {
            Some(truth) => Ok(decided(&truth)?.into()),
            None => {
                let (a, b) = (c.value(0), c.value(1));
                c.bad(
                    1,
                    format!("expected {} beside {a}, found {}", a.kind(), b.kind()),
                )
            }
        },
    },
];

// The first argument, or the mode of it that the other arguments name.
fn part(c: &Call<'_>) -> Answer {
    let mut value = c.value(0).clone();
    for i in 1..c.len() {
        value = super::modes::mode(&value, c.index(i)?).or_else(|e| c.at(i, Err(e)))?;
    }
    Ok(value)
}

fn c_shape(c: &Call<'_>) -> Result<IntTuple, Fault> {
    c.at(0, part(c)?.to_shape())
}

// `None`: values of two kinds.
fn equal(a: &Value, b: &Value) -> Result<Option<Truth>, Fault> {
    fn tiles(a: &Tile, b: &Tile) -> cute_layout::Result<Truth> {
        match (a, b) {
            (Tile::Layout(a), Tile::Layout(b)) => layouts_equal(a, b),
            (Tile::Modes(a), Tile::Modes(b)) if a.len() == b.len() => {
                let mut pairs = a.iter().zip(b);
                pairs.try_fold(Truth::Known(true), |all, (a, b)| Ok(all.and(&tiles(a, b)?)))
            }
            (a, b) => Ok(Truth::Known(a == b)),
        }
    }
    Ok(Some(match (a, b) {
        (Value::Tuple(a), Value::Tuple(b)) => equal_tuples(a, b)?,
        (Value::Layout(a), Value::Layout(b)) => layouts_equal(a, b)?,
        (Value::Tile(a), Value::Tile(b)) => tiles(a, b)?,
        (Value::Composed(a), Value::Composed(b)) => {
            let inner = match (a.inner(), b.inner()) {
                (Inner::Layout(a), Inner::Layout(b)) => layouts_equal(a, b)?,
                (a, b) => Truth::Known(a == b),
            };
            let offset = equal_tuples(a.offset(), b.offset())?;
            let outer = layouts_equal(a.outer(), b.outer())?;
            inner.and(&offset).and(&outer)
        }
        (Value::Swizzle(_), Value::Swizzle(_))
        | (Value::Bool(_), Value::Bool(_))
        | (Value::Major(_), Value::Major(_)) => Truth::Known(a == b),
        _ => return Ok(None),
    }))
}

// As `IntTuple::compatible`, where what symbols leave open is an error.
fn compatible(a: &IntTuple, b: &IntTuple) -> Result<bool, Fault> {
    if a.compatible(b) {
        return Ok(true);
    }
    let size = match (a, b) {
        (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() == b.len() => {
            // One that is not decides, whatever the others need.
            let all: Vec<_> = a.iter().zip(b).map(|(a, b)| compatible(a, b)).collect();
            if all.iter().any(|r| matches!(r, Ok(false))) {
                return Ok(false);
            }
            return all.into_iter().try_fold(true, |acc, r| Ok(acc && r?));
        }
        (IntTuple::Leaf(Leaf::Underscore), _) | (IntTuple::Tuple(_), _) => return Ok(false),
        (IntTuple::Leaf(a), b) => (a, b.product()?),
    };
    if !size.0.is_identified() || !size.1.is_identified() {
        return Ok(false);
    }
    decided(&size.0.equals(&size.1)?)
}

fn decided(truth: &Truth) -> Result<bool, Fault> {
    match truth {
        Truth::Known(v) => Ok(*v),
        Truth::Unproved(fact) => Err(Fault::Algebra(LayoutError::NeedsFact {
            fact: fact.to_string(),
            otherwise: "expected symbols that decide the answer".to_string(),
        })),
        Truth::Unknown(_) => Err(Fault::Call(
            "expected known or symbolic integers, found `?`".into(),
        )),
    }
}

fn elem_less(c: &mut Call<'_>) -> Answer {
    fn walk(a: &IntTuple, b: &IntTuple) -> Option<Truth> {
        match (a, b) {
            (IntTuple::Leaf(a), IntTuple::Leaf(b)) if a.is_identified() && b.is_identified() => {
                a.less(b).ok()
            }
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() <= b.len() => {
                a.iter().zip(b).try_fold(Truth::Known(true), |acc, (a, b)| {
                    Some(acc.and(&walk(a, b)?))
                })
            }
            _ => None,
        }
    }
    let (a, b) = (c.tuple(0)?, c.tuple(1)?);
    match walk(&a, &b) {
        Some(answer) => Ok(decided(&answer)?.into()),
        None => c.bad(
            0,
            format!("expected known integers of the nesting of {b}, found {a}"),
        ),
    }
}
