//! What a layout or a tuple is: rank, size, parts, relations.

use cute_layout::algebra::{ceil_div, shape_div};
use cute_layout::{IntTuple, LayoutError, Leaf};

use super::{Answer, Call, Function, MANY};
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
            let layout = part(c)?.to_layout()?;
            match layout.cosize() {
                Ok(n) => Ok(n.into()),
                // Symbolic leaves have one all the same; of `?` nothing is known.
                Err(e) => match layout.cosize_leaf() {
                    Ok(n) if n.is_identified() => Ok(IntTuple::Leaf(n).into()),
                    Err(named @ LayoutError::NeedsFact { .. }) => Err(named.into()),
                    _ => Err(e.into()),
                },
            }
        },
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
        run: |c| Ok(c.shape(0)?.compatible(&c.shape(1)?).into()),
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
        names: &["product"],
        signature: "product(tuple)",
        about: "the product of the leaves",
        example: "product((2,(3,4)))",
        gives: "24",
        arity: 1..=1,
        run: |c| Ok(IntTuple::Leaf(c.tuple(0)?.product()?).into()),
    },
    Function {
        names: &["product_each"],
        signature: "product_each(tuple)",
        about: "the product of each mode",
        example: "product_each((2,(3,4)))",
        gives: "(2,12)",
        arity: 1..=1,
        run: |c| Ok(c.tuple(0)?.product_each()?.into()),
    },
    Function {
        names: &["sum"],
        signature: "sum(tuple)",
        about: "the sum of the leaves",
        example: "sum((2,(3,4)))",
        gives: "9",
        arity: 1..=1,
        run: |c| {
            let t = c.tuple(0)?;
            let mut all = Leaf::Static(0);
            for leaf in t.leaves() {
                if !leaf.is_identified() || *leaf == Leaf::Underscore {
                    return c.bad(0, format!("expected known integers, found {leaf}"));
                }
                all = all.add(leaf)?;
            }
            Ok(IntTuple::Leaf(all).into())
        },
    },
    Function {
        names: &["shape_div"],
        signature: "shape_div(a, b)",
        about: "a / b on shapes, exact, fastest mode first",
        example: "shape_div((3,4), 6)",
        gives: "(1,2)",
        arity: 2..=2,
        run: |c| {
            if c.shape(1)?.leaves().iter().any(|l| l.is(0)) {
                return c.bad(
                    1,
                    "expected divisors of at least 1, found a division by zero",
                );
            }
            Ok(shape_div(&c.shape(0)?, &c.shape(1)?)?.into())
        },
    },
    Function {
        names: &["ceil_div"],
        signature: "ceil_div(a, b)",
        about: "a / b on shapes, rounded up",
        example: "ceil_div((10,7), (4,2))",
        gives: "(3,4)",
        arity: 2..=2,
        run: |c| {
            if c.shape(1)?.leaves().iter().any(|l| l.is(0)) {
                return c.bad(
                    1,
                    "expected divisors of at least 1, found a division by zero",
                );
            }
            Ok(ceil_div(&c.shape(0)?, &c.shape(1)?)?.into())
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

fn c_shape(c: &Call<'_>) -> Result<IntTuple, crate::failure::Fault> {
    c.at(0, part(c)?.to_shape())
}

fn elem_less(c: &mut Call<'_>) -> Answer {
    fn walk(a: &IntTuple, b: &IntTuple) -> Option<bool> {
        match (a, b) {
            (IntTuple::Leaf(Leaf::Static(a)), IntTuple::Leaf(Leaf::Static(b))) => Some(a < b),
            (IntTuple::Tuple(a), IntTuple::Tuple(b)) if a.len() <= b.len() => a
                .iter()
                .zip(b)
                .try_fold(true, |acc, (a, b)| Some(walk(a, b)? && acc)),
            _ => None,
        }
    }
    let (a, b) = (c.tuple(0)?, c.tuple(1)?);
    match walk(&a, &b) {
        Some(answer) => Ok(answer.into()),
        None => c.bad(
            0,
            format!("expected known integers of the nesting of {b}, found {a}"),
        ),
    }
}
