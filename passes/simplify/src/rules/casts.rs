//! Conversions between widths. Those of signs become those of zeros where nothing is negative; what is known to fit is
//! computed at either width, so that sums see through conversions and extraction takes the cheaper one.

use super::{Env, Rule};

/// `x + y` does not wrap at the width of `x`, which is the second of the rule.
fn sum_fits(e: &Env) -> bool {
    e.x()
        .hi
        .checked_add(e.y().hi)
        .is_some_and(|sum| sum <= e.ones(1))
}

fn product_fits(e: &Env) -> bool {
    e.x()
        .hi
        .checked_mul(e.y().hi)
        .is_some_and(|product| product <= e.ones(1))
}

/// The `b` that is added as `c = -b` at the second width.
fn subtracted(e: &Env) -> u64 {
    e.c().wrapping_neg() & e.ones(1)
}

pub(super) const RULES: &[Rule] = &[
    // sext x = zext x if x is not negative
    Rule::new("sext-is-zext", "(sext ?x)", "(zext ?x)").when(|e| e.x().hi <= e.half(1)),
    // Two conversions in one
    Rule::new("zext-zext", "(zext (zext ?x))", "(zext ?x)"),
    Rule::new("sext-zext", "(sext (zext ?x))", "(zext ?x)"),
    Rule::new("sext-sext", "(sext (sext ?x))", "(sext ?x)"),
    Rule::new("trunc-trunc", "(trunc (trunc ?x))", "(trunc ?x)"),
    // There and back
    Rule::new("trunc-zext", "(trunc (zext ?x))", "?x"),
    Rule::new("trunc-sext", "(trunc (sext ?x))", "?x"),
    Rule::new("trunc-zext-up", "(trunc (zext ?x))", "(zext ?x)"),
    Rule::new("trunc-sext-up", "(trunc (sext ?x))", "(sext ?x)"),
    Rule::new("trunc-zext-down", "(trunc (zext ?x))", "(trunc ?x)"),
    Rule::new("trunc-sext-down", "(trunc (sext ?x))", "(trunc ?x)"),
    // zext (trunc x) = x if x fits, and so for sext
    Rule::new("zext-trunc", "(zext (trunc ?x))", "?x").when(|e| e.x().hi <= e.ones(1)),
    Rule::new("sext-trunc", "(sext (trunc ?x))", "?x").when(|e| e.x().hi <= e.half(1)),
    // The low bits of a result are that of the low bits
    Rule::new(
        "trunc-add",
        "(trunc (+ ?x ?y))",
        "(+ (trunc ?x) (trunc ?y))",
    ),
    Rule::new(
        "trunc-sub",
        "(trunc (- ?x ?y))",
        "(- (trunc ?x) (trunc ?y))",
    ),
    Rule::new(
        "trunc-mul",
        "(trunc (* ?x ?y))",
        "(* (trunc ?x) (trunc ?y))",
    ),
    Rule::new(
        "trunc-and",
        "(trunc (& ?x ?y))",
        "(& (trunc ?x) (trunc ?y))",
    ),
    Rule::new("trunc-or", "(trunc (| ?x ?y))", "(| (trunc ?x) (trunc ?y))"),
    Rule::new(
        "trunc-xor",
        "(trunc (^ ?x ?y))",
        "(^ (trunc ?x) (trunc ?y))",
    ),
    // zext (x + y) = zext x + zext y if the sum fits: sums see through the conversion
    Rule::new("zext-add", "(zext (+ ?x ?y))", "(+ (zext ?x) (zext ?y))").when(sum_fits),
    // zext (x - b) = zext x - b if x >= b
    Rule::new("zext-sub-const", "(zext (+ ?x ?c))", "(+ (zext ?x) ?k)")
        .when(|e| e.c() != 0 && e.x().lo >= subtracted(e))
        .k(|e| subtracted(e).wrapping_neg()),
    // zext (x - y) = zext x - zext y if x >= y
    Rule::new("zext-sub", "(zext (- ?x ?y))", "(- (zext ?x) (zext ?y))")
        .when(|e| e.x().lo >= e.y().hi),
    // zext (x * y) = zext x * zext y if the product fits
    Rule::new("zext-mul", "(zext (* ?x ?y))", "(* (zext ?x) (zext ?y))").when(product_fits),
    // The same back: narrow arithmetic costs half
    Rule::new("add-zexts", "(+ (zext ?x) (zext ?y))", "(zext (+ ?x ?y))").when(sum_fits),
    Rule::new("add-zext-const", "(+ (zext ?x) ?c)", "(zext (+ ?x ?k))")
        .when(|e| {
            e.x()
                .hi
                .checked_add(e.c())
                .is_some_and(|sum| sum <= e.ones(1))
        })
        .k(Env::c),
    Rule::new("sub-zexts", "(- (zext ?x) (zext ?y))", "(zext (- ?x ?y))")
        .when(|e| e.x().lo >= e.y().hi),
    Rule::new("mul-zexts", "(* (zext ?x) (zext ?y))", "(zext (* ?x ?y))").when(product_fits),
    Rule::new("mul-zext-const", "(* (zext ?x) ?c)", "(zext (* ?x ?k))")
        .when(|e| {
            e.x()
                .hi
                .checked_mul(e.c())
                .is_some_and(|product| product <= e.ones(1))
                && e.c() <= e.ones(1)
        })
        .k(Env::c),
    Rule::new("div-zexts", "(/ (zext ?x) (zext ?y))", "(zext (/ ?x ?y))").when(|e| e.y().lo > 0),
    Rule::new("div-zext-const", "(/ (zext ?x) ?c)", "(zext (/ ?x ?k))")
        .when(|e| e.c() > 0 && e.c() <= e.ones(1))
        .k(Env::c),
    Rule::new("rem-zexts", "(% (zext ?x) (zext ?y))", "(zext (% ?x ?y))"),
    Rule::new("rem-zext-const", "(% (zext ?x) ?c)", "(zext (% ?x ?k))")
        .when(|e| e.c() <= e.ones(1))
        .k(Env::c),
    Rule::new("and-zexts", "(& (zext ?x) (zext ?y))", "(zext (& ?x ?y))"),
    Rule::new("and-zext-const", "(& (zext ?x) ?c)", "(zext (& ?x ?k))").k(Env::c),
    Rule::new("or-zexts", "(| (zext ?x) (zext ?y))", "(zext (| ?x ?y))"),
    Rule::new("xor-zexts", "(^ (zext ?x) (zext ?y))", "(zext (^ ?x ?y))"),
    Rule::new("xor-zext-const", "(^ (zext ?x) ?c)", "(zext (^ ?x ?k))")
        .when(|e| e.c() <= e.ones(1))
        .k(Env::c),
    Rule::new(
        "min-zexts",
        "(min (zext ?x) (zext ?y))",
        "(zext (min ?x ?y))",
    ),
    Rule::new(
        "max-zexts",
        "(max (zext ?x) (zext ?y))",
        "(zext (max ?x ?y))",
    ),
    Rule::new("min-zext-const", "(min (zext ?x) ?c)", "(zext (min ?x ?k))")
        .when(|e| e.c() <= e.ones(1))
        .k(Env::c),
    Rule::new("max-zext-const", "(max (zext ?x) ?c)", "(zext (max ?x ?k))")
        .when(|e| e.c() <= e.ones(1))
        .k(Env::c),
];
