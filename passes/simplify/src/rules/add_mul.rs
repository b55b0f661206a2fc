//! Sums and products: constants outward, equal factors together, one spelling for products by powers of two.
//! Sums of many terms are put in order by `linear.rs`, not by rules.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    // x + 0 = x
    Rule::new("add-zero", "(+ ?x 0)", "?x"),
    // x - 0 = x
    Rule::new("sub-zero", "(- ?x 0)", "?x"),
    // x * 1 = x
    Rule::new("mul-one", "(* ?x 1)", "?x"),
    // x - x = 0
    Rule::new("sub-self", "(- ?x ?x)", "0"),
    // x + x = x * 2
    Rule::new("add-self", "(+ ?x ?x)", "(* ?x ?k)").k(|_| 2),
    // x - c = x + (-c): constants are added, never subtracted
    Rule::new("sub-const", "(- ?x ?c)", "(+ ?x ?k)")
        .when(|e| e.c() != 0)
        .k(|e| e.c().wrapping_neg()),
    // c - (x + d) = (c - d) - x
    Rule::new("const-sub-add", "(- ?c (+ ?x ?d))", "(- ?k ?x)").k(|e| e.c().wrapping_sub(e.d())),
    // (x + c) + d = x + (c + d)
    Rule::new("add-add-const", "(+ (+ ?x ?c) ?d)", "(+ ?x ?k)").k(|e| e.c().wrapping_add(e.d())),
    // (x + c) + u = (x + u) + c
    Rule::new("add-const-out", "(+ (+ ?x ?c) ?u)", "(+ (+ ?x ?u) ?c)"),
    // (x + c) - u = (x - u) + c
    Rule::new("sub-const-out-left", "(- (+ ?x ?c) ?u)", "(+ (- ?x ?u) ?c)"),
    // u - (x + c) = (u - x) + (-c)
    Rule::new(
        "sub-const-out-right",
        "(- ?u (+ ?x ?c))",
        "(+ (- ?u ?x) ?k)",
    )
    .k(|e| e.c().wrapping_neg()),
    // (x - y) + y = x
    Rule::new("sub-add-cancel", "(+ (- ?x ?y) ?y)", "?x"),
    // (x + y) - y = x
    Rule::new("add-sub-cancel", "(- (+ ?x ?y) ?y)", "?x"),
    // x << c = x * 2^c: one spelling inside; extraction writes shifts again
    Rule::new("shl-is-mul", "(<< ?x ?c)", "(* ?x ?k)")
        .when(|e| e.c() < u64::from(e.width))
        .k(|e| 1 << e.c()),
    // (x * c) * d = x * (c * d)
    Rule::new("mul-mul-const", "(* (* ?x ?c) ?d)", "(* ?x ?k)").k(|e| e.c().wrapping_mul(e.d())),
    // (x * c) * u = (x * u) * c
    Rule::new("mul-const-out", "(* (* ?x ?c) ?u)", "(* (* ?x ?u) ?c)"),
    // (x + c) * d = x * d + c * d
    Rule::new("mul-add-const", "(* (+ ?x ?c) ?d)", "(+ (* ?x ?d) ?k)")
        .k(|e| e.c().wrapping_mul(e.d())),
    // (x + c) * u = x * u + u * c: dearer alone, but rows of one tile then share x * u
    Rule::new(
        "mul-add-const-var",
        "(* (+ ?x ?c) ?u)",
        "(+ (* ?x ?u) (* ?u ?c))",
    ),
    // x * z + y * z = (x + y) * z
    Rule::new("factor", "(+ (* ?x ?z) (* ?y ?z))", "(* (+ ?x ?y) ?z)"),
];
