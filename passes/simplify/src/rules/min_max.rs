//! Minimum and maximum, mostly by ranges.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    // min(x, y) = x if x <= y
    Rule::new("min-by-range", "(min ?x ?y)", "?x").when(|e| e.x().hi <= e.y().lo),
    // max(x, y) = x if x >= y
    Rule::new("max-by-range", "(max ?x ?y)", "?x").when(|e| e.x().lo >= e.y().hi),
    // min(x, x) = max(x, x) = x
    Rule::new("min-self", "(min ?x ?x)", "?x"),
    Rule::new("max-self", "(max ?x ?x)", "?x"),
    // min(min(x, c), d) = min(x, min(c, d)), and so for max
    Rule::new("min-min-const", "(min (min ?x ?c) ?d)", "(min ?x ?k)").k(|e| e.c().min(e.d())),
    Rule::new("max-max-const", "(max (max ?x ?c) ?d)", "(max ?x ?k)").k(|e| e.c().max(e.d())),
    // min(x + c, d) = min(x, d - c) + c if d >= c and x + c fits
    Rule::new("min-add-const", "(min (+ ?x ?c) ?d)", "(+ (min ?x ?k) ?c)")
        .when(|e| e.c() != 0 && e.d() >= e.c() && e.sum_fits(e.x().hi, e.c()))
        .k(|e| e.d() - e.c()),
];
