//! Coalesce, filter, composition, complement, inverses.

use cute_layout::{ComposedLayout, Inner, IntTuple, Layout, Tile};

use super::{Answer, Call, Function};
use crate::value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["coalesce"],
        signature: "coalesce(layout[, profile])",
        about: "the fewest modes with the same function of an index; at the leaves of a profile",
        example: "coalesce((2,(1,6)):(1,(6,2)))",
        gives: "12:1",
        arity: 1..=2,
        run: |c| match c.len() {
            1 => c.map(0, |l| Ok(l.coalesce()?)),
            _ => {
                let profile = c.shape(1)?;
                c.map(0, |l| Ok(l.coalesce_by(&profile)?))
            }
        },
    },
    Function {
        names: &["filter"],
        signature: "filter(layout[, profile])",
        about: "without modes of stride 0 or size 1, coalesced",
        example: "filter((2,4,3):(0,1,4))",
        gives: "12:1",
        arity: 1..=2,
        run: |c| match c.len() {
            1 => Ok(c.layout(0)?.filter()?.into()),
            _ => Ok(c.layout(0)?.filter_by(&c.shape(1)?)?.into()),
        },
    },
    Function {
        names: &["filter_zeros"],
        signature: "filter_zeros(layout)",
        about: "modes of stride 0 get extent 1",
        example: "filter_zeros((2,4):(0,1))",
        gives: "(1,4):(0,1)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.filter_zeros()?.into()),
    },
    Function {
        names: &["composition"],
        signature: "composition(layout, layout | tiler), composition(swizzle, swizzle | layout) or composition(swizzle | layout, offset, layout)",
        about: "a o b: the layout c -> a(b(c)); mode by mode for a tiler; `a o b` is the same",
        example: "composition((6,2):(8,2), (4,3):(3,1))",
        gives: "((2,2),3):((24,2),8)",
        arity: 2..=3,
        run: composition,
    },
    Function {
        names: &["with_shape"],
        signature: "with_shape(layout, shape)",
        about: "the same function under another shape",
        example: "with_shape(12:3, (4,3))",
        gives: "(4,3):(3,12)",
        arity: 2..=2,
        run: |c| {
            let shape = c.shape(1)?;
            c.map(0, |l| Ok(l.with_shape(&shape)?))
        },
    },
    Function {
        names: &["complement"],
        signature: "complement(layout[, cotarget])",
        about: "the ordered layout that fills the gaps up to the cotarget; without one its last mode has size 1, and goes on",
        example: "complement((2,2):(1,6), 24)",
        gives: "(3,2):(2,12)",
        arity: 1..=2,
        run: |c| match c.len() {
            1 => Ok(c.layout(0)?.complement_open()?.into()),
            _ => Ok(c.layout(0)?.complement(&c.shape(1)?)?.into()),
        },
    },
    Function {
        names: &["right_inverse"],
        signature: "right_inverse(layout)",
        about: "the largest r with layout(r(i)) == i",
        example: "right_inverse((4,8):(8,1))",
        gives: "(8,4):(4,1)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.right_inverse()?.into()),
    },
    Function {
        names: &["left_inverse"],
        signature: "left_inverse(layout)",
        about: "l with l(layout(i)) == i where the layout is injective",
        example: "left_inverse(4:4)",
        gives: "(4,4):(0,1)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.left_inverse()?.into()),
    },
    Function {
        names: &["nullspace"],
        signature: "nullspace(layout)",
        about: "n with layout(n(i)) == 0: the 1-D indices of the modes of stride 0",
        example: "nullspace((2,4,3):(0,1,0))",
        gives: "(2,3):(1,8)",
        arity: 1..=1,
        run: |c| Ok(c.layout(0)?.nullspace()?.into()),
    },
    Function {
        names: &["max_common_layout"],
        signature: "max_common_layout(a, b)",
        about: "the longest r with a(r(i)) == b(r(i)) == i",
        example: "max_common_layout((8,4):(4,1), (8,4):(16,1))",
        gives: "4:8",
        arity: 2..=2,
        run: |c| Ok(c.layout(0)?.max_common_layout(&c.layout(1)?)?.into()),
    },
    Function {
        names: &["max_common_vector"],
        signature: "max_common_vector(a, b)",
        about: "how many elements from offset 0 both hold in the same order",
        example: "max_common_vector((8,4):(1,8), (8,4):(1,16))",
        gives: "8",
        arity: 2..=2,
        run: |c| Ok(c.layout(0)?.max_common_vector(&c.layout(1)?)?.into()),
    },
];

/// `composition`, which the infix `o` shares.
pub fn composition(c: &mut Call<'_>) -> Answer {
    if c.len() == 3 {
        let (offset, outer) = (c.tuple(1)?, c.layout(2)?);
        let at = c.args[0].1.clone();
        return Ok(crate::eval::composed(
            c.value(0),
            offset,
            outer,
            &at,
            c.span.clone(),
        )?);
    }
    if matches!(c.value(0), Value::Swizzle(_)) {
        let at = c.args[0].1.clone();
        match (c.value(0), c.value(1)) {
            (Value::Swizzle(a), Value::Swizzle(b)) => return Ok(Value::Swizzle(a.compose(b)?)),
            (Value::Swizzle(a), Value::Composed(l)) => {
                let Inner::Swizzle(b) = l.inner() else {
                    return c.bad(
                        1,
                        format!(
                            "expected a layout, or one under a swizzle, beside a swizzle, found {l}"
                        ),
                    );
                };
                let (inner, outer) = (Inner::Swizzle(a.compose(b)?), l.outer().clone());
                return Ok(ComposedLayout::new(inner, l.offset().clone(), outer)?.into());
            }
            _ => {}
        }
        let outer = c.layout(1)?;
        return Ok(crate::eval::composed(
            c.value(0),
            IntTuple::from(0),
            outer,
            &at,
            c.span.clone(),
        )?);
    }
    let tile = c.tile(1)?;
    let mut notes = Vec::new();
    let answer = c.map(0, |l| {
        let made = l.composition_tile(&tile)?;
        note_extension(l, &tile, &mut notes);
        Ok(made)
    });
    notes.into_iter().for_each(|n| c.note(n));
    answer
}

// Says where a composition reads its left side beyond its size.
fn note_extension(a: &Layout, tile: &Tile, notes: &mut Vec<String>) {
    match tile {
        Tile::Underscore => {}
        Tile::Modes(tiles) => {
            for (mode, tile) in a.modes().iter().zip(tiles) {
                note_extension(mode, tile, notes);
            }
        }
        Tile::Layout(b) => {
            let (Ok(size), Some(flat)) = (a.size(), b.flat()) else {
                return;
            };
            let (mut low, mut high) = (0i128, 0i128);
            for &(s, d) in flat.modes() {
                let reach = i128::from(s - 1) * i128::from(d);
                low += reach.min(0);
                high += reach.max(0);
            }
            if high >= i128::from(size) {
                notes.push(format!(
                    "{a} is extended by its last leaf: it has size {size}, and {b} reaches index {high}"
                ));
            }
            if low < 0 {
                notes.push(format!(
                    "{a} is extended to negative indices by L(-i) = -L(i): {b} reaches index {low}"
                ));
            }
        }
    }
}
