//! Comparisons: without signs, at the narrower width, constants on one side. Those that ranges decide are constants already,
//! and are written with `<` and `<=` only.

use super::{Env, Rule};

/// The upper bound of what a number adds below the lowest bit that the others have.
fn is_below(e: &Env) -> bool {
    let unit = 1_u64.checked_shl((e.x().maybe() | e.z().maybe()).trailing_zeros());
    unit.is_none_or(|unit| e.y().hi < unit) && e.sum_fits(e.x().hi, e.y().hi)
}

/// `c` is the extension of a number of the narrower width with its sign, which is the third width of the rule.
fn fits_signed(e: &Env) -> bool {
    e.c() <= e.half(2) || e.c() >= e.ones(1) - e.half(2)
}

pub(super) const RULES: &[Rule] = &[
    // x = x, and so on
    Rule::new("eq-self", "(eq ?x ?x)", "1"),
    Rule::new("ne-self", "(ne ?x ?x)", "0"),
    Rule::new("ult-self", "(ult ?x ?x)", "0"),
    Rule::new("ule-self", "(ule ?x ?x)", "1"),
    Rule::new("slt-self", "(slt ?x ?x)", "0"),
    Rule::new("sle-self", "(sle ?x ?x)", "1"),
    // Signs that nothing has
    Rule::new("slt-is-ult", "(slt ?x ?y)", "(ult ?x ?y)").when(|e| e.not_negative([e.x(), e.y()])),
    Rule::new("sle-is-ule", "(sle ?x ?y)", "(ule ?x ?y)").when(|e| e.not_negative([e.x(), e.y()])),
    // One spelling for comparisons with constants
    Rule::new("ule-const", "(ule ?x ?c)", "(ult ?x ?k)")
        .when(|e| e.c() < e.all())
        .k(|e| e.c() + 1),
    Rule::new("const-ule", "(ule ?c ?x)", "(ult ?k ?x)")
        .when(|e| e.c() > 0)
        .k(|e| e.c() - 1),
    Rule::new("sle-const", "(sle ?x ?c)", "(slt ?x ?k)")
        .when(|e| e.c() != e.all() >> 1)
        .k(|e| e.c().wrapping_add(1)),
    Rule::new("const-sle", "(sle ?c ?x)", "(slt ?k ?x)")
        .when(|e| e.c() != (e.all() >> 1) + 1)
        .k(|e| e.c().wrapping_sub(1)),
    Rule::new("ult-one", "(ult ?x 1)", "(eq ?x 0)"),
    Rule::new("zero-ult", "(ult 0 ?x)", "(ne ?x 0)"),
    // Both sides extended
    Rule::new("ult-zexts", "(ult (zext ?x) (zext ?y))", "(ult ?x ?y)"),
    Rule::new("ule-zexts", "(ule (zext ?x) (zext ?y))", "(ule ?x ?y)"),
    Rule::new("eq-zexts", "(eq (zext ?x) (zext ?y))", "(eq ?x ?y)"),
    Rule::new("ne-zexts", "(ne (zext ?x) (zext ?y))", "(ne ?x ?y)"),
    Rule::new("slt-zexts", "(slt (zext ?x) (zext ?y))", "(ult ?x ?y)"),
    Rule::new("slt-sexts", "(slt (sext ?x) (sext ?y))", "(slt ?x ?y)"),
    Rule::new("sle-sexts", "(sle (sext ?x) (sext ?y))", "(sle ?x ?y)"),
    Rule::new("eq-sexts", "(eq (sext ?x) (sext ?y))", "(eq ?x ?y)"),
    Rule::new("ne-sexts", "(ne (sext ?x) (sext ?y))", "(ne ?x ?y)"),
    // One side extended, the other constant
    Rule::new("ult-zext-const", "(ult (zext ?x) ?c)", "(ult ?x ?k)")
        .when(|e| e.c() <= e.ones(2))
        .k(Env::c),
    Rule::new("const-ult-zext", "(ult ?c (zext ?x))", "(ult ?k ?x)")
        .when(|e| e.c() <= e.ones(2))
        .k(Env::c),
    Rule::new("eq-zext-const", "(eq (zext ?x) ?c)", "(eq ?x ?k)")
        .when(|e| e.c() <= e.ones(2))
        .k(Env::c),
    Rule::new("ne-zext-const", "(ne (zext ?x) ?c)", "(ne ?x ?k)")
        .when(|e| e.c() <= e.ones(2))
        .k(Env::c),
    Rule::new("slt-sext-const", "(slt (sext ?x) ?c)", "(slt ?x ?k)")
        .when(fits_signed)
        .k(Env::c),
    Rule::new("const-slt-sext", "(slt ?c (sext ?x))", "(slt ?k ?x)")
        .when(fits_signed)
        .k(Env::c),
    Rule::new("eq-sext-const", "(eq (sext ?x) ?c)", "(eq ?x ?k)")
        .when(fits_signed)
        .k(Env::c),
    // A predicate that became a number and is compared with 0
    Rule::new("ne-zero-of-bit", "(ne (zext ?x) 0)", "?x"),
    Rule::new("eq-zero-of-bit", "(eq (zext ?x) 0)", "(^ ?x 1)"),
    // x + c < d = x < d - c if x + c fits
    Rule::new("ult-add-const", "(ult (+ ?x ?c) ?d)", "(ult ?x ?k)")
        .when(|e| e.c() != 0 && e.d() >= e.c() && e.sum_fits(e.x().hi, e.c()))
        .k(|e| e.d() - e.c()),
    Rule::new("const-ult-add", "(ult ?d (+ ?x ?c))", "(ult ?k ?x)")
        .when(|e| e.c() != 0 && e.d() >= e.c() && e.sum_fits(e.x().hi, e.c()))
        .k(|e| e.d() - e.c()),
    // x + c = d is x = d - c, wrapped or not
    Rule::new("eq-add-const", "(eq (+ ?x ?c) ?d)", "(eq ?x ?k)").k(|e| e.d().wrapping_sub(e.c())),
    Rule::new("ne-add-const", "(ne (+ ?x ?c) ?d)", "(ne ?x ?k)").k(|e| e.d().wrapping_sub(e.c())),
    // x + z < y + z = x < y if neither wraps
    Rule::new("ult-add-both", "(ult (+ ?x ?z) (+ ?y ?z))", "(ult ?x ?y)")
        .when(|e| e.sum_fits(e.x().hi, e.z().hi) && e.sum_fits(e.y().hi, e.z().hi)),
    Rule::new("eq-add-both", "(eq (+ ?x ?z) (+ ?y ?z))", "(eq ?x ?y)"),
    // x + y < z = x < z if x and z are multiples of a power of two above y: a tile is there or it is not
    Rule::new("ult-add-below", "(ult (+ ?x ?y) ?z)", "(ult ?x ?z)").when(is_below),
    Rule::new("ule-add-below", "(ule ?z (+ ?x ?y))", "(ule ?z ?x)").when(is_below),
    // x * c < d = x < ceil(d / c), if x * c fits
    Rule::new("ult-mul-const", "(ult (* ?x ?c) ?d)", "(ult ?x ?k)")
        .when(|e| e.c() > 1 && e.product_fits(e.x().hi, e.c()))
        .k(|e| e.d().div_ceil(e.c())),
    // d < x * c = floor(d / c) < x
    Rule::new("const-ult-mul", "(ult ?d (* ?x ?c))", "(ult ?k ?x)")
        .when(|e| e.c() > 1 && e.product_fits(e.x().hi, e.c()))
        .k(|e| e.d() / e.c()),
    // not (x < y) = y <= x, and so on
    Rule::new("not-eq", "(^ (eq ?x ?y) 1)", "(ne ?x ?y)"),
    Rule::new("not-ne", "(^ (ne ?x ?y) 1)", "(eq ?x ?y)"),
    Rule::new("not-ult", "(^ (ult ?x ?y) 1)", "(ule ?y ?x)"),
    Rule::new("not-ule", "(^ (ule ?x ?y) 1)", "(ult ?y ?x)"),
    Rule::new("not-slt", "(^ (slt ?x ?y) 1)", "(sle ?y ?x)"),
    Rule::new("not-sle", "(^ (sle ?x ?y) 1)", "(slt ?y ?x)"),
    // x < y and x < z = x < y where y <= z
    Rule::new("and-ult-ult", "(& (ult ?x ?y) (ult ?x ?z))", "(ult ?x ?y)")
        .when(|e| e.y().hi <= e.z().lo),
];
