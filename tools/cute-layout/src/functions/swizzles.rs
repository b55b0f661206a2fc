//! Swizzles, and elements of another width.

use cute_layout::algebra::AnyLayout;
use cute_layout::{ComposedLayout, Inner, Layout, Result as Algebra, Swizzle, int};

use super::{Answer, Call, Function};
use crate::failure::Fault;
use crate::value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["make_swizzle"],
        signature: "make_swizzle(b, m, s)",
        about: "the swizzle S<b,m,s>",
        example: "make_swizzle(3, 4, 3)",
        gives: "S<3,4,3>",
        arity: 3..=3,
        run: |c| {
            Ok(Value::Swizzle(Swizzle::new(
                c.int(0)?,
                c.int(1)?,
                c.int(2)?,
            )?))
        },
    },
    Function {
        names: &["make_composed_layout"],
        signature: "make_composed_layout(swizzle | layout, offset, layout)",
        about: "the composed layout inner o offset o outer",
        example: "make_composed_layout(S<3,4,3>, 0, (8,4):(1,8))",
        gives: "S<3,4,3> o 0 o (8,4):(1,8)",
        arity: 3..=3,
        run: super::composition,
    },
    Function {
        names: &["decay"],
        signature: "decay(layout)",
        about: "the layout that a composed layout is, where it is one; a number to add is given in a note",
        example: "decay(S<3,4,3> o 0 o 8:128)",
        gives: "8:144",
        arity: 1..=1,
        run: |c| {
            let Value::Composed(l) = c.value(0) else {
                return Ok(c.layout(0)?.into());
            };
            let (layout, by) = l.decay()?;
            if by != 0 {
                c.note(format!("the layout begins at offset {by}"));
            }
            Ok(match layout {
                AnyLayout::Plain(l) => l.into(),
                AnyLayout::Composed(l) => l.into(),
            })
        },
    },
    Function {
        names: &["upcast"],
        signature: "upcast(layout | swizzle, n)",
        about: "elements n times as wide",
        example: "upcast<8>((64,8):(1,64))",
        gives: "(8,8):(1,8)",
        arity: 2..=2,
        run: |c| {
            let n = factor(c, 1)?;
            cast(c, n, 1)
        },
    },
    Function {
        names: &["downcast"],
        signature: "downcast(layout | swizzle, n)",
        about: "elements n times as narrow",
        example: "downcast((8,8):(1,8), 2)",
        gives: "(16,8):(1,16)",
        arity: 2..=2,
        run: |c| {
            let n = factor(c, 1)?;
            cast(c, 1, n)
        },
    },
    Function {
        names: &["recast", "recast_layout"],
        signature: "recast(layout | swizzle, old_bits, new_bits)",
        about: "the same bytes as elements of another width",
        example: "recast(S<3,3,3> o 0 o (8,64):(64,1), 16, 8)",
        gives: "S<3,4,3> o 0 o (8,128):(128,1)",
        arity: 3..=3,
        run: |c| {
            let (old, new) = (factor(c, 1)?, factor(c, 2)?);
            let (mut a, mut b) = (old, new);
            while b != 0 {
                (a, b) = (b, a % b);
            }
            cast(c, new / a, old / a)
        },
    },
];

fn factor(c: &Call<'_>, i: usize) -> Result<i64, Fault> {
    match c.int(i)? {
        n if n >= 1 => Ok(n),
        n => c.bad(i, format!("expected a factor of at least 1, found {n}")),
    }
}

// First `up` times as wide, then `down` times as narrow.
fn cast(c: &mut Call<'_>, up: i64, down: i64) -> Answer {
    match c.value(0) {
        Value::Swizzle(s) => Ok(Value::Swizzle(cast_swizzle(*s, up, down)?)),
        Value::Composed(l) => {
            let Inner::Swizzle(s) = l.inner() else {
                return c.bad(0, format!("expected a layout under a swizzle, found {l}"));
            };
            let offset = match l.offset().as_static() {
                Some(v) if v % up == 0 => (v / up).checked_mul(down),
                _ => None,
            };
            let Some(offset) = offset else {
                return c.bad(
                    0,
                    format!("expected an offset that is a multiple of {up}, found {l}"),
                );
            };
            let inner = Inner::Swizzle(cast_swizzle(*s, up, down)?);
            Ok(ComposedLayout::new(inner, int(offset), cast_layout(l.outer(), up, down)?)?.into())
        }
        _ => Ok(cast_layout(&c.layout(0)?, up, down)?.into()),
    }
}

fn cast_layout(l: &Layout, up: i64, down: i64) -> Algebra<Layout> {
    l.upcast(up)?.downcast(down)
}

fn cast_swizzle(s: Swizzle, up: i64, down: i64) -> Algebra<Swizzle> {
    s.upcast(up)?.downcast(down)
}
