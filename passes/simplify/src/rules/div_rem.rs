//! Unsigned division and remainder: by constants, nested, of sums. Every law that needs a sum or a product not to wrap
//! says so from ranges. Divisions by powers of two are the spelling of shifts to the right inside.

use super::{Env, Rule, divides};
use cute_arith::gcd;

/// `x + y` does not wrap.
fn fits(e: &Env) -> bool {
    e.sum_fits(e.x().hi, e.y().hi)
}

/// `x + c` does not wrap, and dividing by `d` does not carry from below.
fn splits(e: &Env) -> bool {
    let (x, c, d) = (e.x(), e.c(), e.d());
    if d == 0 || !e.sum_fits(x.hi, c) {
        return false;
    }
    divides(d, c) || (d.is_power_of_two() && (x.maybe() & (d - 1)) + (c & (d - 1)) < d)
}

/// `x - b` does not wrap for the `b` that is added as `c = -b`, and `d` divides `b`.
fn splits_below(e: &Env) -> bool {
    let b = e.c().wrapping_neg() & e.all();
    e.c() != 0 && divides(e.d(), b) && e.x().lo >= b
}

/// `c` is a multiple of `d`, and `x * c + y` does not wrap.
fn multiple_splits(e: &Env) -> bool {
    divides(e.d(), e.c()) && e.linear_fits(e.x().hi, e.c(), e.y().hi)
}

pub(super) const RULES: &[Rule] = &[
    // x / 1 = x
    Rule::new("div-one", "(/ ?x 1)", "?x"),
    // x >> c = x / 2^c: one spelling inside; extraction writes shifts again
    Rule::new("shr-is-div", "(>> ?x ?c)", "(/ ?x ?k)")
        .when(|e| e.c() < u64::from(e.width))
        .k(|e| 1 << e.c()),
    // x % 2^n = x & (2^n - 1)
    Rule::new("rem-is-and", "(% ?x ?c)", "(& ?x ?k)")
        .when(|e| e.c().is_power_of_two())
        .k(|e| e.c() - 1),
    // x % y = x if x < y; x / y = 0 then follows from its range
    Rule::new("rem-small", "(% ?x ?y)", "?x").when(|e| e.x().hi < e.y().lo),
    // x / x = 1 if x > 0
    Rule::new("div-self", "(/ ?x ?x)", "1").when(|e| e.x().lo > 0),
    // x % x = 0 if x > 0
    Rule::new("rem-self", "(% ?x ?x)", "0").when(|e| e.x().lo > 0),
    // (x / c) / d = x / (c * d) if c * d fits; if it does not, the range already says 0
    Rule::new("div-div", "(/ (/ ?x ?c) ?d)", "(/ ?x ?k)")
        .when(|e| e.c() > 0 && e.d() > 0 && e.product_fits(e.c(), e.d()))
        .k(|e| e.c() * e.d()),
    // (x * c) / d = (x * (c / g)) / (d / g) with g = gcd(c, d), if x * c fits
    Rule::new("div-mul", "(/ (* ?x ?c) ?d)", "(/ (* ?x ?k) ?l)")
        .when(|e| {
            e.c() > 0 && e.d() > 0 && gcd(e.c(), e.d()) > 1 && e.product_fits(e.x().hi, e.c())
        })
        .k(|e| e.c() / gcd(e.c(), e.d()))
        .l(|e| e.d() / gcd(e.c(), e.d())),
    // (x * y) / y = x if y > 0 and x * y fits
    Rule::new("div-mul-var", "(/ (* ?x ?y) ?y)", "?x")
        .when(|e| e.y().lo > 0 && e.product_fits(e.x().hi, e.y().hi)),
    // (x * c) % d = 0 if d divides c and x * c fits
    Rule::new("rem-mul-multiple", "(% (* ?x ?c) ?d)", "0")
        .when(|e| divides(e.d(), e.c()) && e.product_fits(e.x().hi, e.c())),
    // (x * c) % d = (x % (d / c)) * c if c divides d and x * c fits
    Rule::new("rem-mul-factor", "(% (* ?x ?c) ?d)", "(* (% ?x ?k) ?c)")
        .when(|e| e.d() > 0 && divides(e.c(), e.d()) && e.product_fits(e.x().hi, e.c()))
        .k(|e| e.d() / e.c()),
    // (x * c + y) / d = x * (c / d) + y / d if d divides c and nothing wraps
    Rule::new(
        "div-add-mul",
        "(/ (+ (* ?x ?c) ?y) ?d)",
        "(+ (* ?x ?k) (/ ?y ?d))",
    )
    .when(multiple_splits)
    .k(|e| e.c() / e.d()),
    // (x * c + y) % d = y % d if d divides c and nothing wraps
    Rule::new("rem-add-mul", "(% (+ (* ?x ?c) ?y) ?d)", "(% ?y ?d)").when(multiple_splits),
    // (x + y) / d = x / d if x is a multiple of the power of two d, y < d, and the sum fits
    Rule::new("div-add-drop", "(/ (+ ?x ?y) ?d)", "(/ ?x ?d)").when(|e| {
        e.d().is_power_of_two()
            && e.x().maybe() & e.y().maybe() & (e.d() - 1) == 0
            && e.y().hi < e.d()
            && fits(e)
    }),
    // (x + c) / d = x / d + c / d if the sum fits and nothing is carried across d
    Rule::new("div-add-const", "(/ (+ ?x ?c) ?d)", "(+ (/ ?x ?d) ?k)")
        .when(splits)
        .k(|e| e.c() / e.d()),
    // (x - b) / d = x / d - b / d if d divides b and x >= b
    Rule::new("div-sub-const", "(/ (+ ?x ?c) ?d)", "(+ (/ ?x ?d) ?k)")
        .when(splits_below)
        .k(|e| ((e.c().wrapping_neg() & e.all()) / e.d()).wrapping_neg()),
    // (x + c) % d = x % d if d divides c and the sum fits
    Rule::new("rem-add-const", "(% (+ ?x ?c) ?d)", "(% ?x ?d)")
        .when(|e| divides(e.d(), e.c()) && e.sum_fits(e.x().hi, e.c())),
    // (x - b) % d = x % d if d divides b and x >= b
    Rule::new("rem-sub-const", "(% (+ ?x ?c) ?d)", "(% ?x ?d)").when(splits_below),
    // (x % c) % d = x % d if d divides c
    Rule::new("rem-rem", "(% (% ?x ?c) ?d)", "(% ?x ?d)")
        .when(|e| e.c() > 0 && divides(e.d(), e.c())),
    // (x % c) & (d - 1) = x & (d - 1) if the power of two d divides c
    Rule::new("and-rem", "(& (% ?x ?c) ?m)", "(& ?x ?m)").when(|e| {
        e.c() > 0 && e.m() < e.all() && (e.m() + 1).is_power_of_two() && divides(e.m() + 1, e.c())
    }),
    // (x % c) / d = (x / d) % (c / d) if d divides c
    Rule::new("div-rem", "(/ (% ?x ?c) ?d)", "(% (/ ?x ?d) ?k)")
        .when(|e| e.c() > 0 && divides(e.d(), e.c()))
        .k(|e| e.c() / e.d()),
    // (x / c) * d + (x % c) * m = x * m if d = c * m
    Rule::new(
        "quotient-remainder-scaled",
        "(+ (* (/ ?x ?c) ?d) (* (% ?x ?c) ?m))",
        "(* ?x ?m)",
    )
    .when(|e| e.d() == e.c().wrapping_mul(e.m()) & e.all()),
    // (x / y) * y + x % y = x
    Rule::new("quotient-remainder", "(+ (* (/ ?x ?y) ?y) (% ?x ?y))", "?x"),
    // x - (x / y) * y = x % y
    Rule::new("sub-quotient", "(- ?x (* (/ ?x ?y) ?y))", "(% ?x ?y)"),
    // x % y = x - (x / y) * y: as dear, and shares the quotient with whoever else needs it
    Rule::new("rem-by-quotient", "(% ?x ?y)", "(- ?x (* (/ ?x ?y) ?y))").when(|e| {
        let y = e.y();
        y.as_constant().is_none_or(|c| !c.is_power_of_two()) && e.x().hi >= y.lo
    }),
];
