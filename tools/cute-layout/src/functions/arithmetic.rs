//! Arithmetic by name, on known and symbolic integers.

use cute_layout::symbolic::{Poly, SymError};
use cute_layout::{IntTuple, LayoutError, Leaf};

use super::{Answer, Call, Function, MANY};
use crate::failure::Fault;

pub const FUNCTIONS: &[Function] = &[
    Function {
        names: &["floor_div"],
        signature: "floor_div(a, b)",
        about: "a / b, rounded down",
        example: "floor_div(-7, 2)",
        gives: "-4",
        arity: 2..=2,
        run: |c| two(c, Poly::div_floor),
    },
    Function {
        names: &["div"],
        signature: "div(a, b)",
        about: "a / b, rounded towards 0",
        example: "div(-7, 2)",
        gives: "-3",
        arity: 2..=2,
        run: |c| two(c, Poly::div_trunc),
    },
    Function {
        names: &["mod"],
        signature: "mod(a, b)",
        about: "the remainder of floor_div; a % b is that of div",
        example: "mod(-7, 2)",
        gives: "1",
        arity: 2..=2,
        run: |c| two(c, Poly::rem_floor),
    },
    Function {
        names: &["min"],
        signature: "min(a, ..)",
        about: "the least",
        example: "min(8, 3, 5)",
        gives: "3",
        arity: 1..=MANY,
        run: |c| fold(c, Poly::min),
    },
    Function {
        names: &["max"],
        signature: "max(a, ..)",
        about: "the greatest",
        example: "max(8, 3, 5)",
        gives: "8",
        arity: 1..=MANY,
        run: |c| fold(c, Poly::max),
    },
    Function {
        names: &["abs"],
        signature: "abs(a)",
        about: "the magnitude",
        example: "abs(-3)",
        gives: "3",
        arity: 1..=1,
        run: |c| answer(poly(c, 0)?.abs()),
    },
    Function {
        names: &["sign"],
        signature: "sign(a)",
        about: "-1, 0 or 1",
        example: "sign(-3)",
        gives: "-1",
        arity: 1..=1,
        run: |c| answer(poly(c, 0)?.signum()),
    },
];

type Op = fn(&Poly, &Poly) -> Result<Poly, SymError>;

fn poly(c: &Call<'_>, i: usize) -> Result<Poly, Fault> {
    let value = c.tuple(i)?;
    match value.as_leaf().and_then(crate::arith::poly) {
        Some(p) => Ok(p),
        None => c.bad(
            i,
            format!("expected a known or symbolic integer, found {value}"),
        ),
    }
}

fn answer(p: Result<Poly, SymError>) -> Answer {
    let p = p.map_err(LayoutError::from)?;
    Ok(IntTuple::Leaf(Leaf::symbolic(p)).into())
}

fn two(c: &mut Call<'_>, op: Op) -> Answer {
    answer(op(&poly(c, 0)?, &poly(c, 1)?))
}

fn fold(c: &mut Call<'_>, op: Op) -> Answer {
    let mut all = poly(c, 0)?;
    for i in 1..c.len() {
        all = op(&all, &poly(c, i)?).map_err(LayoutError::from)?;
    }
    answer(Ok(all))
}
