//! Polynomials as text that [`Poly::parse`] reads back to the same value.
//!
//! `M*N+1`, `2*M^2`; `M/32` only where 32 divides M; `M%32` where M is not negative, else `mod(M,32)` (the remainder is
//! that of the floor); `floor_div(M,32)`, `ceil_div(M,32)`, `min(M,N,..)`, `max(M,N,..)`, `abs(M)`, `sign(M)`. An opaque
//! term has several texts, as `M - 32*floor_div(M,32)` is `M%32`: the one that leaves the fewest terms is chosen.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::atom::Atom;
use super::order::Mono;
use super::poly::Poly;
use super::symbol::Symbol;
use cute_arith::gcd;

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sum(&Texts::default(), self))
    }
}

// One way to write a part of a sum: `factor * text`, where `rest` is what remains of the sum.
struct Choice {
    factor: Poly,
    text: Text,
    rest: Poly,
}

// How the text stands in a product.
enum Text {
    Call(String),
    // A remainder `a%b`, in parentheses beside other factors.
    Remainder(String),
}

impl Choice {
    // About how long the whole text becomes.
    fn cost(&self) -> usize {
        let (Text::Call(text) | Text::Remainder(text)) = &self.text;
        let below = |p: &Poly| p.terms().iter().filter(|(_, c)| *c < 0).count();
        let signs = below(&self.rest) + below(&self.factor);
        let signs = signs + text.matches('-').count();
        signs + 4 * (self.rest.terms().len() + self.factor.terms().len()) + text.len()
    }
}

// Texts that were made: an argument stands in several choices, at every level.
#[derive(Default)]
struct Texts(RefCell<HashMap<Poly, String>>);

// Signs apart from magnitudes.
type Piece = (bool, String);

fn sum(w: &Texts, p: &Poly) -> String {
    if let Some(known) = w.0.borrow().get(p) {
        return known.clone();
    }
    let text = write(w, p);
    w.0.borrow_mut().insert(p.clone(), text.clone());
    text
}

fn write(w: &Texts, p: &Poly) -> String {
    let mut rest = p.clone();
    let mut opaque: Vec<Atom> = p.atoms().into_iter().collect();
    opaque.retain(|a| matches!(a, Atom::Floor(..) | Atom::Least(_)));
    // Outer ones first: what they leave may hold inner ones.
    opaque.sort_by_key(|a| std::cmp::Reverse(a.extent()));
    let mut parts: Vec<Piece> = Vec::new();
    for atom in &opaque {
        let Some((factor, left)) = rest.split(atom).filter(|(f, _)| !f.is(0)) else {
            continue;
        };
        // The first of the cheapest.
        let best = choices(w, atom, &factor, &left)
            .into_iter()
            .min_by_key(Choice::cost);
        if let Some(best) = best {
            parts.extend(
                best.factor
                    .terms()
                    .iter()
                    .map(|(m, c)| term(w, m, *c, Some(&best.text))),
            );
            rest = best.rest;
        }
    }
    let mut all: Vec<Piece> = Vec::new();
    let (constant, others): (Vec<_>, Vec<_>) = rest.terms().iter().partition(|(m, _)| m.is_one());
    all.extend(others.iter().map(|(m, c)| term(w, m, *c, None)));
    all.extend(parts);
    all.extend(constant.iter().map(|(m, c)| term(w, m, *c, None)));
    if let Some(at) = all.iter().position(|(negative, _)| !negative) {
        all[..=at].rotate_right(1);
    }
    let mut out = String::new();
    for (negative, text) in &all {
        if *negative {
            out.push('-');
        } else if !out.is_empty() {
            out.push('+');
        }
        out += text;
    }
    if out.is_empty() {
        out.push('0');
    }
    out
}

// A term times what stands for an opaque one.
fn term(w: &Texts, mono: &Mono, c: i64, opaque: Option<&Text>) -> Piece {
    let mut symbols: BTreeMap<&Symbol, i64> = BTreeMap::new();
    let mut calls = Vec::new();
    let mut den = Some(1i128);
    for (atom, e) in &mono.0 {
        let e = *e;
        match atom {
            Atom::Unit(s) => unit(s, e, &mut symbols, &mut den),
            other => calls.push(powered(&raw(w, other), e.into())),
        }
    }
    let den = den.unwrap_or(1);
    let g = gcd(c.into(), den).max(1);
    let (num, den) = (i128::from(c).unsigned_abs() / g.unsigned_abs(), den / g);
    let mut factors = Vec::new();
    let mut below = Vec::new();
    for (s, e) in symbols {
        match e {
            1.. => factors.push(powered(&s.name, e)),
            0 => {}
            _ => below.push(powered(&s.name, -e)),
        }
    }
    factors.extend(calls);
    if den != 1 {
        below.push(den.to_string());
    }
    let alone = num == 1 && factors.is_empty() && below.is_empty();
    match opaque {
        Some(Text::Call(t)) => factors.push(t.clone()),
        Some(Text::Remainder(t)) if alone => factors.push(t.clone()),
        Some(Text::Remainder(t)) => factors.push(format!("({t})")),
        None => {}
    }
    if num != 1 || factors.is_empty() {
        factors.insert(0, num.to_string());
    }
    let mut text = factors.join("*");
    for d in below {
        text = format!("{text}/{d}");
    }
    (c < 0, text)
}

// Exponents of named symbols, and the number below, that are a power of a unit.
fn unit<'a>(
    s: &'a Arc<Symbol>,
    e: u32,
    symbols: &mut BTreeMap<&'a Symbol, i64>,
    den: &mut Option<i128>,
) {
    let wide = den.and_then(|d| d.checked_mul(i128::from(s.div).checked_pow(e)?));
    *symbols.entry(s).or_insert(0) += i64::from(e);
    *den = wide;
    for below in &s.of {
        let r = below.unit_range();
        match Poly::of_symbol(below).ok().and_then(|p| p.as_constant()) {
            Some(v) if r.lo == r.hi => {
                *den = den.and_then(|d| d.checked_mul(i128::from(v).checked_pow(e)?));
            }
            _ => *symbols.entry(below).or_insert(0) -= i64::from(e),
        }
    }
}

fn powered(text: &str, e: i64) -> String {
    match e {
        1 => text.to_string(),
        _ => format!("{text}^{e}"),
    }
}

fn call(w: &Texts, name: &str, args: &[Poly]) -> String {
    let args: Vec<String> = args.iter().map(|p| sum(w, p)).collect();
    format!("{name}({})", args.join(","))
}

// The atom as it is.
fn raw(w: &Texts, atom: &Atom) -> String {
    match atom {
        Atom::Unit(s) => s.name.to_string(),
        Atom::Floor(p, q) => call(w, "floor_div", &[p.clone(), q.clone()]),
        Atom::Least(ps) => {
            let mut all = ps.to_vec();
            all.push(Poly::constant(0));
            call(w, "min", &all)
        }
        Atom::Sign(p) => call(w, "sign", std::slice::from_ref(p)),
    }
}

// The ways to write `factor * atom + left`. What overflows is no way.
fn choices(w: &Texts, atom: &Atom, factor: &Poly, left: &Poly) -> Vec<Choice> {
    let mut out = Vec::new();
    match atom {
        Atom::Floor(p, q) => {
            floors(w, p, q, factor, left, &mut out);
            // -floor((-p + q - 1) / q) is the same.
            let other = || -> Option<(Poly, Poly, Poly)> {
                let turned = q.sub(p).ok()?.add(&(-1).into()).ok()?;
                let (whole, r) = turned.div_rem(q).ok()?;
                let left = left.sub(&factor.mul(&whole).ok()?).ok()?;
                Some((r, factor.neg().ok()?, left))
            };
            if let Some((r, factor, left)) = other() {
                floors(w, &r, q, &factor, &left, &mut out);
            }
            // The residues that are not negative.
            let raised = || -> Option<(Poly, Poly)> {
                let c = q.as_constant()?;
                let up = p.map_terms(|m, x| Some((m.clone(), x.rem_euclid(c))));
                let up = up.ok()?;
                let whole = p.sub(&up).ok()?.div_exact(q)?;
                let left = left.add(&factor.mul(&whole).ok()?).ok()?;
                (up != *p).then_some((up, left))
            };
            if let Some((up, left)) = raised() {
                floors(w, &up, q, factor, &left, &mut out);
            }
        }
        Atom::Least(ps) => minima(w, ps, factor, left, &mut out),
        _ => {}
    }
    out
}

fn floors(w: &Texts, p: &Poly, q: &Poly, factor: &Poly, left: &Poly, out: &mut Vec<Choice>) {
    let mut put = |factor: Poly, text: Text, rest: Poly| out.push(Choice { factor, text, rest });
    let remainder = || -> Option<(Poly, Poly)> {
        let (times, r) = factor.neg().ok()?.div_rem(q).ok()?;
        if !r.is(0) {
            return None;
        }
        Some((times.clone(), left.sub(&times.mul(p).ok()?).ok()?))
    };
    if let Some((times, rest)) = remainder() {
        let text = if p.bounds().lo.is_some_and(|lo| lo >= 0) {
            Text::Remainder(percent(w, p, q))
        } else {
            Text::Call(call(w, "mod", &[p.clone(), q.clone()]))
        };
        put(times, text, rest);
    }
    let up = |over: Poly| Text::Call(call(w, "ceil_div", &[over, q.clone()]));
    if let Ok(over) = p.sub(q).and_then(|p| p.add(&1.into())) {
        put(factor.clone(), up(over), left.clone());
    }
    if let (Ok(over), Ok(rest)) = (p.add(&1.into()), left.sub(factor)) {
        put(factor.clone(), up(over), rest);
    }
    let text = call(w, "floor_div", &[p.clone(), q.clone()]);
    put(factor.clone(), Text::Call(text), left.clone());
}

fn percent(w: &Texts, p: &Poly, q: &Poly) -> String {
    let (p_text, q_text) = (sum(w, p), sum(w, q));
    let simple = p.terms().len() == 1 && !p_text.contains(['+', '-']);
    let p_text = if simple {
        p_text
    } else {
        format!("({p_text})")
    };
    let name = q_text
        .bytes()
        .all(|c| c.is_ascii_alphanumeric() || c == b'_');
    let q_text = if name { q_text } else { format!("({q_text})") };
    format!("{p_text}%{q_text}")
}

fn minima(w: &Texts, ps: &[Poly], factor: &Poly, left: &Poly, out: &mut Vec<Choice>) {
    let zero = Poly::constant(0);
    let mut all = ps.to_vec();
    all.reverse();
    all.push(zero.clone());
    // `factor * least = factor * (min(t + each) - t)`, and `-factor * (max(t - each) - t)`.
    let shifted = |t: &Poly, sign: i128| -> Option<Choice> {
        let mut args = Vec::new();
        for p in &all {
            args.push(t.plus(p, sign, "min").ok()?);
        }
        if sign < 0 {
            args.reverse();
        }
        let times = factor.scale(sign, "min").ok()?;
        Some(Choice {
            rest: left.sub(&times.mul(t).ok()?).ok()?,
            text: Text::Call(call(w, if sign > 0 { "min" } else { "max" }, &args)),
            factor: times,
        })
    };
    for sign in [1, -1] {
        // What makes all coefficients of the arguments positive; what takes the whole rest in; nothing.
        let lift = lift(ps, sign);
        let whole = factor
            .scale(sign, "min")
            .ok()
            .and_then(|f| left.div_exact(&f));
        for t in [lift, whole, Some(zero.clone())].into_iter().flatten() {
            out.extend(shifted(&t, sign));
        }
    }
    // `2 * least(0, p) = p - |p|`.
    if let [p] = ps
        && let Some(half) = factor.div_exact(&2.into())
        && let Ok(rest) = half.mul(p).and_then(|x| left.add(&x))
        && let Ok(factor) = half.neg()
    {
        out.push(Choice {
            factor,
            text: Text::Call(call(w, "abs", std::slice::from_ref(p))),
            rest,
        });
    }
}

// The least t so that t + sign*p has no negative coefficient, for each p.
fn lift(ps: &[Poly], sign: i128) -> Option<Poly> {
    let mut most: BTreeMap<Mono, i128> = BTreeMap::new();
    for (m, c) in ps.iter().flat_map(|p| p.terms()) {
        let c = i128::from(*c) * -sign;
        let at = most.entry(m.clone()).or_insert(0);
        *at = (*at).max(c);
    }
    let mut sum = super::poly::Sum::default();
    for (m, c) in most {
        sum.add(m, c, "min").ok()?;
    }
    sum.finish("min").ok()
}
