//! Exclusive ors of sums: what makes one swizzled base serve many addresses. A swizzle is `x ^ ((x & m) >> n)`; what an
//! offset does to the mask is in `bits.rs` (and-add-*), what it does to the exclusive or is here.

use super::{Env, Rule};
use cute_arith::cover;

/// The bits of `c` that `y` may reach.
fn low_part(e: &Env) -> u64 {
    e.c() & cover(e.y().maybe())
}

pub(super) const RULES: &[Rule] = &[
    // (x + z) ^ y = (x ^ y) + z if z is a multiple of a power of two above y
    Rule::new("xor-add-out", "(^ (+ ?x ?z) ?y)", "(+ (^ ?x ?y) ?z)")
        .when(|e| e.z().maybe() & cover(e.y().maybe()) == 0),
    // (x + c) ^ y = ((x ^ y) ^ k) + l: c = k + l, l above what y reaches, no bit of k in x
    Rule::new(
        "xor-add-const-out",
        "(^ (+ ?x ?c) ?y)",
        "(+ (^ (^ ?x ?y) ?k) ?l)",
    )
    .when(|e| low_part(e) != 0 && low_part(e) & e.x().maybe() == 0)
    .k(low_part)
    .l(|e| e.c() & !low_part(e)),
];
