//! Swizzles, and elements of another width.

use cute_layout::Swizzle;
use cute_layout::algebra::AnyLayout;

use super::{Call, Function};
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
            Ok(layout.into())
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
            Ok(match c.value(0) {
                Value::Swizzle(s) => Value::Swizzle(s.upcast(n)?),
                Value::Composed(l) => AnyLayout::from(l.recast(1, n)?).into(),
                _ => c.layout(0)?.upcast(n)?.into(),
            })
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
            Ok(match c.value(0) {
                Value::Swizzle(s) => Value::Swizzle(s.downcast(n)?),
                Value::Composed(l) => AnyLayout::from(l.recast(n, 1)?).into(),
                _ => c.layout(0)?.downcast(n)?.into(),
            })
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
            Ok(match c.value(0) {
                Value::Swizzle(s) => Value::Swizzle(s.recast(old, new)?),
                Value::Composed(l) => AnyLayout::from(l.recast(old, new)?).into(),
                _ => c.layout(0)?.recast(old, new)?.into(),
            })
        },
    },
];

fn factor(c: &Call<'_>, i: usize) -> Result<i64, Fault> {
    match c.int(i)? {
        n if n >= 1 => Ok(n),
        n => c.bad(i, format!("expected a factor of at least 1, found {n}")),
    }
}
