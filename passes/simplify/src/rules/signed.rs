//! Operations with signs become those without where nothing is negative, and quotients that are rounded up sums and quotients
//! that are rounded down.

use super::{Env, Rule};

fn both(e: &Env) -> bool {
    e.not_negative([e.x(), e.y()])
}

pub(super) const RULES: &[Rule] = &[
    Rule::new("divs-is-div", "(divs ?x ?y)", "(/ ?x ?y)").when(both),
    Rule::new("floors-is-div", "(floors ?x ?y)", "(/ ?x ?y)").when(both),
    Rule::new("ceils-is-ceil", "(ceils ?x ?y)", "(ceil ?x ?y)").when(both),
    Rule::new("rems-is-rem", "(rems ?x ?y)", "(% ?x ?y)").when(both),
    Rule::new("mins-is-min", "(mins ?x ?y)", "(min ?x ?y)").when(both),
    Rule::new("maxs-is-max", "(maxs ?x ?y)", "(max ?x ?y)").when(both),
    Rule::new("shrs-is-shr", "(shrs ?x ?y)", "(>> ?x ?y)").when(|e| e.not_negative([e.x()])),
    // Where one is negative and the other is not
    Rule::new("mins-by-range", "(mins ?x ?y)", "?x")
        .when(|e| e.x().lo > e.all() >> 1 && e.not_negative([e.y()])),
    Rule::new("maxs-by-range", "(maxs ?x ?y)", "?x")
        .when(|e| e.y().lo > e.all() >> 1 && e.not_negative([e.x()])),
    Rule::new("mins-self", "(mins ?x ?x)", "?x"),
    Rule::new("maxs-self", "(maxs ?x ?x)", "?x"),
    // ceil(x / c) = (x + (c - 1)) / c if the sum fits
    Rule::new("ceil-const", "(ceil ?x ?c)", "(/ (+ ?x ?k) ?c)")
        .when(|e| e.c() > 0 && e.sum_fits(e.x().hi, e.c() - 1))
        .k(|e| e.c() - 1),
    // x / c + (x / c * c < x) = ceil(x / c)
    Rule::new(
        "quotient-and-more",
        "(+ (/ ?x ?c) (zext (ult (* (/ ?x ?c) ?c) ?x)))",
        "(/ (+ ?x ?k) ?c)",
    )
    .when(|e| e.c() > 0 && e.sum_fits(e.x().hi, e.c() - 1))
    .k(|e| e.c() - 1),
];
