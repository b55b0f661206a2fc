//! Tuples of integers: products, sums, division of shapes, compact strides.

use cute_layout::{IntTuple, Layout, Leaf, Tile, Truth, record};

use super::{Answer, Call, Function};
use crate::failure::Fault;
use crate::value::{Major, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["product", "tuple_product"],
        signature: "product(tuple)",
        about: "the product of the leaves",
        example: "product((2,(3,4)))",
        gives: "24",
        arity: 1..=1,
        run: |c| Ok(IntTuple::Leaf(c.tuple(0)?.product()?).into()),
    },
    Function {
        names: &["product_each", "tuple_product_each"],
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
        names: &["tuple_add"],
        signature: "tuple_add(a, b)",
        about: "a + b leaf by leaf; modes that are not there count as 0",
        example: "tuple_add((1,(2,3)), (4,(5,6),7))",
        gives: "(5,(7,9),7)",
        arity: 2..=2,
        run: |c| Ok(c.tuple(0)?.add(&c.tuple(1)?)?.into()),
    },
    Function {
        names: &["tuple_sub"],
        signature: "tuple_sub(a, b)",
        about: "a - b leaf by leaf; modes that only one has are taken as they are, which a note says of b's",
        example: "tuple_sub((10,8), (3,2))",
        gives: "(7,6)",
        arity: 2..=2,
        run: |c| {
            let (a, b) = (c.tuple(0)?, c.tuple(1)?);
            let made = a.sub(&b)?;
            if only_right(&a, &b) {
                c.note(format!(
                    "modes that {b} has and {a} has not are taken as they are, as in CuTe IR, not with a minus sign"
                ));
            }
            Ok(made.into())
        },
    },
    Function {
        names: &["shape_div"],
        signature: "shape_div(a, b)",
        about: "a / b on shapes, exact, fastest mode first; what is left of b behind the last leaf is dropped",
        example: "shape_div((3,4), 6)",
        gives: "(1,2)",
        arity: 2..=2,
        run: |c| {
            let (a, b) = divided(c)?;
            let quotient = a.shape_div(&b)?;
            // What it takes of `?`, of which the answer alone says nothing.
            let (a, b) = (traced(&a, 0), traced(&b, a.leaves().len()));
            // That sizes are at least 1 goes without saying.
            let (_, checks) = record(|| a.shape_div(&b));
            if checks.iter().any(|check| check.positive().is_none()) {
                c.note("the answer holds where, at each leaf, one of the run-time sizes divides the other");
            }
            Ok(quotient.into())
        },
    },
    Function {
        names: &["ceil_div"],
        signature: "ceil_div(a, b | tiler)",
        about: "a / b on shapes, rounded up; by an integer leaf by leaf, where a note says if that is too few; how many tiles cover a",
        example: "ceil_div((10,7), (4,2))",
        gives: "(3,4)",
        arity: 2..=2,
        run: |c| {
            if let Value::Tile(_) | Value::Layout(_) = c.value(1) {
                let tile = c.tile(1)?;
                if tile.leaves().contains(&&Tile::Underscore) {
                    return c.bad(
                        1,
                        format!("expected a tiler without `_`, found {tile}; write 1:0 for a mode that stays"),
                    );
                }
                return Ok(sizes(c, 0)?.ceil_div_tile(&tile)?.into());
            }
            let (a, b) = divided(c)?;
            let blocks = a.ceil_div(&b)?;
            note_uncovered(c, &a, &b, &blocks);
            Ok(blocks.into())
        },
    },
    Function {
        names: &["compact_col_major"],
        signature: "compact_col_major(shape[, first])",
        about: "the strides of the compact layout, first mode fastest; `first` instead of 1 as the smallest",
        example: "compact_col_major((2,(3,4)))",
        gives: "(1,(2,6))",
        arity: 1..=2,
        run: |c| compact(c, Layout::col_major),
    },
    Function {
        names: &["compact_row_major"],
        signature: "compact_row_major(shape[, first])",
        about: "the strides of the compact layout, last mode fastest; `first` instead of 1 as the smallest",
        example: "compact_row_major((2,(3,4)))",
        gives: "(12,(4,1))",
        arity: 1..=2,
        run: |c| compact(c, Layout::row_major),
    },
    Function {
        names: &["compact_order"],
        signature: "compact_order(shape, order)",
        about: "the strides of the compact layout, the mode of the lowest order fastest",
        example: "compact_order((2,3,4), (2,0,1))",
        gives: "(12,1,3)",
        arity: 2..=2,
        run: |c| {
            let shape = c.shape(0)?;
            let made = match c.value(1) {
                Value::Major(Major::Left) => Layout::col_major(&shape)?,
                Value::Major(Major::Right) => Layout::row_major(&shape)?,
                _ => Layout::ordered(&shape, &c.tuple(1)?)?,
            };
            Ok(made.stride().clone().into())
        },
    },
];

fn compact(c: &mut Call<'_>, f: fn(&IntTuple) -> cute_layout::Result<Layout>) -> Answer {
    fn scaled(t: &IntTuple, by: &Leaf) -> cute_layout::Result<IntTuple> {
        Ok(match t {
            IntTuple::Leaf(l) => IntTuple::Leaf(l.mul(by)?),
            IntTuple::Tuple(t) => {
                IntTuple::Tuple(t.iter().map(|t| scaled(t, by)).collect::<Result<_, _>>()?)
            }
        })
    }
    let made = f(&c.shape(0)?)?;
    if c.len() == 1 {
        return Ok(made.stride().clone().into());
    }
    match c.tuple(1)?.as_leaf() {
        Some(first) if *first != Leaf::Underscore => Ok(scaled(made.stride(), first)?.into()),
        _ => c.bad(1, format!("expected an integer, found {}", c.value(1))),
    }
}

// A shape without `_` and basis elements, which have no quotient.
fn sizes(c: &Call<'_>, i: usize) -> Result<IntTuple, Fault> {
    let t = c.shape(i)?;
    if t.has_underscore() || t.has_basis() {
        return c.bad(i, format!("expected integers, found {t}"));
    }
    Ok(t)
}

// The two shapes of a division, no leaf of the second one 0.
fn divided(c: &Call<'_>) -> Result<(IntTuple, IntTuple), Fault> {
    let (a, b) = (sizes(c, 0)?, sizes(c, 1)?);
    if b.leaves().iter().any(|l| l.is(0)) {
        return c.bad(
            1,
            "expected divisors of at least 1, found a division by zero",
        );
    }
    Ok((a, b))
}

fn only_right(a: &IntTuple, b: &IntTuple) -> bool {
    match (a, b) {
        (IntTuple::Tuple(a), IntTuple::Tuple(b)) => {
            b.len() > a.len() || a.iter().zip(b).any(|(a, b)| only_right(a, b))
        }
        _ => false,
    }
}

// The same with every `?` an input, so that conditions on it are recorded.
fn traced(t: &IntTuple, first: usize) -> IntTuple {
    fn walk(t: &IntTuple, next: &mut usize) -> IntTuple {
        match t {
            IntTuple::Leaf(l) => {
                *next += 1;
                IntTuple::Leaf(match l {
                    Leaf::Dynamic(d) if l.as_symbolic().is_none() => Leaf::Dynamic(d.traced(*next)),
                    l => l.clone(),
                })
            }
            IntTuple::Tuple(t) => IntTuple::Tuple(t.iter().map(|t| walk(t, next)).collect()),
        }
    }
    let mut next = first;
    walk(t, &mut next)
}

// Says where a division of a tuple by an integer, leaf by leaf as CuTe does it, gives fewer blocks than cover the tuple.
fn note_uncovered(c: &mut Call<'_>, a: &IntTuple, b: &IntTuple, blocks: &IntTuple) {
    match (a, b) {
        (IntTuple::Tuple(x), IntTuple::Tuple(y)) => {
            for ((a, b), blocks) in x.iter().zip(y).zip(blocks.modes()) {
                note_uncovered(c, a, b, blocks);
            }
        }
        (IntTuple::Tuple(_), IntTuple::Leaf(by)) => {
            let Ok(held) = blocks.product().and_then(|n| n.mul(by)) else {
                return;
            };
            // A size that does not fit 64 bits is more than one that does.
            let (short, all) = match a.product() {
                Ok(all) => (
                    held.less(&all).unwrap_or(Truth::Known(false)),
                    all.to_string(),
                ),
                Err(_) => (Truth::Known(true), "more".to_string()),
            };
            c.note(match short {
                Truth::Known(false) => return,
                Truth::Known(true) => format!(
                    "{blocks} blocks of {by} hold {held} of the {all} elements of {a}: CuTe rounds up leaf by leaf; divide the product, or by mode"
                ),
                // Of a single leaf it is the quotient rounded up, whatever is known of it.
                _ if a.leaves().len() == 1 => return,
                _ => format!(
                    "where sizes do not divide, {blocks} blocks of {by} need not hold {a}: CuTe rounds up leaf by leaf; divide the product, or by mode"
                ),
            });
        }
        _ => {}
    }
}
