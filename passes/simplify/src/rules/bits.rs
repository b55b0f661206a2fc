//! Masks, shifts and their combinations. A field of bits has one spelling: the mask innermost, on the unshifted value,
//! then one shift: `(x & m) / 2^n` or `(x & m) * 2^n`. Sums of disjoint bits are sums.

use super::{Env, Rule};
use cute_arith::cover;

/// `x` and `y` share no bit that may be one, so that `+`, `|` and `^` are the same.
fn disjoint(e: &Env) -> bool {
    e.x().maybe() & e.y().maybe() == 0
}

/// Tells whether nothing that `y` adds to `x` reaches the bits of the mask `m`.
fn out_of_mask(e: &Env) -> bool {
    let y = e.y().maybe();
    y & e.m() == 0 && (y & cover(e.m()) == 0 || y & cover(e.m()) & e.x().maybe() == 0)
}

/// `c` and `d` are powers of two.
fn powers(e: &Env) -> bool {
    e.c().is_power_of_two() && e.d().is_power_of_two()
}

/// The bits of `x` that `x / c` leaves. Masks hold only bits that may be one, so that equal masks are the same.
fn quotient_bits(e: &Env) -> u64 {
    !(e.c() - 1) & e.x().maybe()
}

pub(super) const RULES: &[Rule] = &[
    // x | 0 = x ^ 0 = x << 0 = x >> 0 = x
    Rule::new("or-zero", "(| ?x 0)", "?x"),
    Rule::new("xor-zero", "(^ ?x 0)", "?x"),
    // x & y = x if y is one wherever x may be
    Rule::new("and-covers", "(& ?x ?y)", "?x").when(|e| e.x().maybe() & !e.y().one_bits == 0),
    // x | y = x if x is one wherever y may be
    Rule::new("or-covers", "(| ?x ?y)", "?x").when(|e| e.y().maybe() & !e.x().one_bits == 0),
    // x & x = x | x = x, x ^ x = 0
    Rule::new("and-self", "(& ?x ?x)", "?x"),
    Rule::new("or-self", "(| ?x ?x)", "?x"),
    Rule::new("xor-self", "(^ ?x ?x)", "0"),
    // x & (x | y) = x, x | (x & y) = x
    Rule::new("and-absorbs", "(& ?x (| ?x ?y))", "?x"),
    Rule::new("or-absorbs", "(| ?x (& ?x ?y))", "?x"),
    // (x ^ y) ^ y = x
    Rule::new("xor-cancel", "(^ (^ ?x ?y) ?y)", "?x"),
    // (x & c) & d = x & (c & d), and so for | and ^
    Rule::new("and-and-const", "(& (& ?x ?c) ?d)", "(& ?x ?k)").k(|e| e.c() & e.d()),
    Rule::new("or-or-const", "(| (| ?x ?c) ?d)", "(| ?x ?k)").k(|e| e.c() | e.d()),
    Rule::new("xor-xor-const", "(^ (^ ?x ?c) ?d)", "(^ ?x ?k)").k(|e| e.c() ^ e.d()),
    // (x & c) & u = (x & u) & c, and so for | and ^
    Rule::new("and-const-out", "(& (& ?x ?c) ?u)", "(& (& ?x ?u) ?c)"),
    Rule::new("or-const-out", "(| (| ?x ?c) ?u)", "(| (| ?x ?u) ?c)"),
    Rule::new("xor-const-out", "(^ (^ ?x ?c) ?u)", "(^ (^ ?x ?u) ?c)"),
    // x | y = x ^ y = x + y if no bit is in both
    Rule::new("or-disjoint", "(| ?x ?y)", "(+ ?x ?y)").when(disjoint),
    Rule::new("xor-disjoint", "(^ ?x ?y)", "(+ ?x ?y)").when(disjoint),
    // x & c = x & k with k the bits of c that x may have
    Rule::new("and-trim", "(& ?x ?c)", "(& ?x ?k)")
        .when(|e| e.c() & e.x().zero_bits != 0)
        .k(|e| e.c() & e.x().maybe()),
    // (x * 2^n) & m = (x & (m >> n)) * 2^n
    Rule::new("and-mul", "(& (* ?x ?c) ?m)", "(* (& ?x ?k) ?c)")
        .when(|e| e.c().is_power_of_two())
        .k(|e| e.m() >> e.c().trailing_zeros()),
    // (x / 2^n) & m = (x & (m << n)) / 2^n
    Rule::new("and-div", "(& (/ ?x ?c) ?m)", "(/ (& ?x ?k) ?c)")
        .when(|e| e.c().is_power_of_two())
        .k(|e| e.m() << e.c().trailing_zeros()),
    // (x & m) / 2^n = (x & k) / 2^n with k the bits of m that are not shifted out
    Rule::new("div-and-trim", "(/ (& ?x ?m) ?c)", "(/ (& ?x ?k) ?c)")
        .when(|e| e.c().is_power_of_two() && e.m() & (e.c() - 1) != 0)
        .k(|e| e.m() & quotient_bits(e)),
    // (x & m) / 2^n = x / 2^n if m has every bit of x that is not shifted out
    Rule::new("div-and-covers", "(/ (& ?x ?m) ?c)", "(/ ?x ?c)")
        .when(|e| e.c().is_power_of_two() && e.x().maybe() & quotient_bits(e) & !e.m() == 0),
    // (x >> a) << b = (x & k) << (b - a) with k the bits that are not shifted out, if b >= a
    Rule::new("mul-div-up", "(* (/ ?x ?c) ?d)", "(* (& ?x ?k) ?l)")
        .when(|e| powers(e) && e.d() >= e.c())
        .k(quotient_bits)
        .l(|e| e.d() / e.c()),
    // (x >> a) << b = (x & k) >> (a - b), if b < a
    Rule::new("mul-div-down", "(* (/ ?x ?c) ?d)", "(/ (& ?x ?k) ?l)")
        .when(|e| powers(e) && e.d() < e.c())
        .k(quotient_bits)
        .l(|e| e.c() / e.d()),
    // (x << a) >> b = (x & k) << (a - b) with k the bits that are not lost, if a >= b
    Rule::new("div-mul-up", "(/ (* ?x ?c) ?d)", "(* (& ?x ?k) ?l)")
        .when(|e| powers(e) && e.c() >= e.d())
        .k(|e| e.all() >> e.c().trailing_zeros() & e.x().maybe())
        .l(|e| e.c() / e.d()),
    // (x << a) >> b = (x & k) >> (b - a), if a < b
    Rule::new("div-mul-down", "(/ (* ?x ?c) ?d)", "(/ (& ?x ?k) ?l)")
        .when(|e| powers(e) && e.c() < e.d())
        .k(|e| e.all() >> e.c().trailing_zeros() & e.x().maybe())
        .l(|e| e.d() / e.c()),
    // (x & c) + (x & d) = x & (c | d) if no bit is in both masks
    Rule::new("add-masks", "(+ (& ?x ?c) (& ?x ?d))", "(& ?x ?k)")
        .when(|e| e.c() & e.d() == 0)
        .k(|e| e.c() | e.d()),
    // x - (x & m) = x & ~m
    Rule::new("sub-mask", "(- ?x (& ?x ?m))", "(& ?x ?k)").k(|e| !e.m() & e.x().maybe()),
    // (x + y) & m = x & m if y reaches no bit of m
    Rule::new("and-add-drop", "(& (+ ?x ?y) ?m)", "(& ?x ?m)").when(out_of_mask),
    // (x + c) & m = (x & m) + (c & m) if nothing is carried below the top of m
    Rule::new("and-add-const", "(& (+ ?x ?c) ?m)", "(+ (& ?x ?m) ?k)")
        .when(|e| e.c() & e.m() != 0 && e.c() & cover(e.m()) & e.x().maybe() == 0)
        .k(|e| e.c() & e.m()),
    // (x + c) & m = (x + k) & m with k the bits of c up to the top of m
    Rule::new("and-add-trim", "(& (+ ?x ?c) ?m)", "(& (+ ?x ?k) ?m)")
        .when(|e| e.c() & !cover(e.m()) != 0)
        .k(|e| e.c() & cover(e.m())),
    // ((x & c) + y) & m = (x + y) & m if c has every bit up to the top of m
    Rule::new("and-add-and", "(& (+ (& ?x ?c) ?y) ?m)", "(& (+ ?x ?y) ?m)")
        .when(|e| cover(e.m()) & !e.c() == 0),
    // (x ^ y) & m = (x | y) & m = x & m if y has no bit of m
    Rule::new("and-xor-drop", "(& (^ ?x ?y) ?m)", "(& ?x ?m)").when(|e| e.y().maybe() & e.m() == 0),
    Rule::new("and-or-drop", "(& (| ?x ?y) ?m)", "(& ?x ?m)").when(|e| e.y().maybe() & e.m() == 0),
    // (x ^ c) & m = (x & m) ^ (c & m)
    Rule::new("and-xor-const", "(& (^ ?x ?c) ?m)", "(^ (& ?x ?m) ?k)")
        .when(|e| e.c() & e.m() != 0)
        .k(|e| e.c() & e.m()),
    // (x | c) & m = (x & m) | (c & m)
    Rule::new("and-or-const", "(& (| ?x ?c) ?m)", "(| (& ?x ?m) ?k)")
        .when(|e| e.c() & e.m() != 0)
        .k(|e| e.c() & e.m()),
    // (x ^ c) * 2^n = (x * 2^n) ^ (c << n)
    Rule::new("mul-xor-const", "(* (^ ?x ?c) ?d)", "(^ (* ?x ?d) ?k)")
        .when(|e| e.d().is_power_of_two())
        .k(|e| e.c() << e.d().trailing_zeros()),
    // (x ^ c) / 2^n = (x / 2^n) ^ (c >> n)
    Rule::new("div-xor-const", "(/ (^ ?x ?c) ?d)", "(^ (/ ?x ?d) ?k)")
        .when(|e| e.d().is_power_of_two())
        .k(|e| e.c() >> e.d().trailing_zeros()),
    // (x ^ y) / 2^n = x / 2^n if y < 2^n
    Rule::new("div-xor-drop", "(/ (^ ?x ?y) ?d)", "(/ ?x ?d)")
        .when(|e| e.d().is_power_of_two() && e.y().hi < e.d()),
];
