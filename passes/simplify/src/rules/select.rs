//! Selections: decided, of what is equal, and those that are a minimum, a maximum or the condition itself.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    // The condition is known, or does not matter
    Rule::new("select-true", "(select 1 ?y ?z)", "?y"),
    Rule::new("select-false", "(select 0 ?y ?z)", "?z"),
    Rule::new("select-same", "(select ?x ?y ?y)", "?y"),
    // A condition as a number
    Rule::new("select-bit", "(select ?x 1 0)", "(zext ?x)"),
    Rule::new("select-condition", "(select ?x 1 0)", "?x"),
    Rule::new("select-not", "(select ?x 0 1)", "(^ ?x 1)"),
    // Minima and maxima
    Rule::new("select-min", "(select (ult ?x ?y) ?x ?y)", "(min ?x ?y)"),
    Rule::new(
        "select-min-equal",
        "(select (ule ?x ?y) ?x ?y)",
        "(min ?x ?y)",
    ),
    Rule::new("select-max", "(select (ult ?x ?y) ?y ?x)", "(max ?x ?y)"),
    Rule::new(
        "select-max-equal",
        "(select (ule ?x ?y) ?y ?x)",
        "(max ?x ?y)",
    ),
    Rule::new("select-mins", "(select (slt ?x ?y) ?x ?y)", "(mins ?x ?y)"),
    Rule::new(
        "select-mins-equal",
        "(select (sle ?x ?y) ?x ?y)",
        "(mins ?x ?y)",
    ),
    Rule::new("select-maxs", "(select (slt ?x ?y) ?y ?x)", "(maxs ?x ?y)"),
    Rule::new(
        "select-maxs-equal",
        "(select (sle ?x ?y) ?y ?x)",
        "(maxs ?x ?y)",
    ),
    // What is done to one of two constants is done to both
    Rule::new(
        "add-select-const",
        "(+ (select ?x ?c ?d) ?m)",
        "(select ?x ?k ?l)",
    )
    .k(|e| e.c().wrapping_add(e.m()))
    .l(|e| e.d().wrapping_add(e.m())),
    Rule::new(
        "mul-select-const",
        "(* (select ?x ?c ?d) ?m)",
        "(select ?x ?k ?l)",
    )
    .k(|e| e.c().wrapping_mul(e.m()))
    .l(|e| e.d().wrapping_mul(e.m())),
    Rule::new(
        "zext-select-const",
        "(zext (select ?x ?c ?d))",
        "(select ?x ?k ?l)",
    )
    .k(|e| e.c())
    .l(|e| e.d()),
    // One arm of two selections by one condition
    Rule::new(
        "select-select-yes",
        "(select ?x (select ?x ?y ?z) ?u)",
        "(select ?x ?y ?u)",
    ),
    Rule::new(
        "select-select-no",
        "(select ?x ?u (select ?x ?y ?z))",
        "(select ?x ?u ?z)",
    ),
];
