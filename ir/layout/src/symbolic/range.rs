//! Bounds of polynomials.
//!
//! [`of`] intersects the bounds of several sums that are equal to the polynomial for every value of the symbols:
//! - interval arithmetic on monomials, after each variable is measured from its lower bound (`M*N - M` with `M = 1 + m`,
//!   `N = 1 + n` is `n + m*n`, not below 0), and again from its upper one;
//! - a floor replaced by its quotient less a remainder, a new variable: `floor(p/q) = (p - e)/q` with `0 <= e < q`;
//! - a minimum replaced by each of its values;
//! - a symbol that is at least another replaced by the other and a difference that is at least 0.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::atom::Atom;
use super::poly::Poly;

/// Bounds, both inclusive; none where there is none that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub lo: Option<i128>,
    pub hi: Option<i128>,
}

impl Range {
    pub(super) const ANY: Range = Range { lo: None, hi: None };

    pub(super) fn exactly(v: i128) -> Range {
        Range {
            lo: Some(v),
            hi: Some(v),
        }
    }

    pub(super) fn holds(&self, v: i128) -> bool {
        self.lo.is_none_or(|lo| lo <= v) && self.hi.is_none_or(|hi| v <= hi)
    }

    pub(super) fn add(self, other: Range) -> Range {
        let sum = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Range {
            lo: sum(self.lo, other.lo),
            hi: sum(self.hi, other.hi),
        }
    }

    pub(super) fn mul(self, other: Range) -> Range {
        if self == Range::exactly(0) || other == Range::exactly(0) {
            return Range::exactly(0);
        }
        // Ends are finite, or beyond all numbers; 0 times such an end is 0.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        enum End {
            Below,
            At(i128),
            Above,
        }
        let ends = |r: Range| {
            [
                r.lo.map_or(End::Below, End::At),
                r.hi.map_or(End::Above, End::At),
            ]
        };
        let sign = |e: End| match e {
            End::Below => -1,
            End::At(v) => v.signum(),
            End::Above => 1,
        };
        let product = |a: End, b: End| {
            let exact = match (a, b) {
                (End::At(a), End::At(b)) => a.checked_mul(b).map(End::At),
                _ => None,
            };
            exact.unwrap_or(match sign(a) * sign(b) {
                0 => End::At(0),
                1 => End::Above,
                _ => End::Below,
            })
        };
        let [a, b] = ends(self);
        let mut all = ends(other).map(|c| [product(a, c), product(b, c)]).concat();
        all.sort();
        let at = |e: End| match e {
            End::At(v) => Some(v),
            _ => None,
        };
        // An end beyond all on the wrong side comes of an overflow: then nothing is known.
        Range {
            lo: all.first().copied().and_then(at),
            hi: all.last().copied().and_then(at),
        }
    }

    pub(super) fn pow(self, e: u32) -> Range {
        let mut out = (0..e).fold(Range::exactly(1), |r, _| r.mul(self));
        if e.is_multiple_of(2) {
            out.lo = Some(out.lo.map_or(0, |lo| lo.max(0)));
        }
        out
    }

    pub(super) fn meet(self, other: Range) -> Range {
        let both = |a: Option<i128>, b: Option<i128>, f: fn(i128, i128) -> i128| match (a, b) {
            (Some(a), Some(b)) => Some(f(a, b)),
            (a, b) => a.or(b),
        };
        Range {
            lo: both(self.lo, other.lo, i128::max),
            hi: both(self.hi, other.hi, i128::min),
        }
    }

    /// Bounds of the floor of a quotient, where the divisor is at least 1.
    pub(super) fn floor(self, by: Range) -> Range {
        let (small, large) = (by.lo.unwrap_or(1).max(1), by.hi);
        // Towards 0 by the largest divisor, away from it by the smallest.
        let lo = self.lo.map(|lo| match (lo < 0, large) {
            (true, _) => lo.div_euclid(small),
            (false, Some(d)) if d >= 1 => lo.div_euclid(d),
            (false, _) => 0,
        });
        let hi = self.hi.map(|hi| match (hi < 0, large) {
            (false, _) => hi.div_euclid(small),
            (true, Some(d)) if d >= 1 => hi.div_euclid(d),
            (true, _) => -1,
        });
        Range { lo, hi }
    }

    // Bounds of the integer x where `scale * x` has these.
    fn unscaled(self, scale: i128) -> Range {
        Range {
            lo: self
                .lo
                .and_then(|v| Some(-v.checked_neg()?.div_euclid(scale))),
            hi: self.hi.map(|v| v.div_euclid(scale)),
        }
    }
}

/// The bounds of a polynomial.
pub(super) fn of(p: &Poly) -> Range {
    let (constant, slope) = (i128::from(p.constant_term()), p.slope());
    if slope == 0 {
        return Range::exactly(constant);
    }
    // Bounds are found without the constant and the common factor, so that they do not depend on them.
    let varying = p.map_terms(|m, c| {
        let c = i64::try_from(i128::from(c) / slope).ok()?;
        (!m.is_one()).then(|| (m.clone(), c))
    });
    let inner = varying.map_or(Range::ANY, |p| search(&p));
    let outer = |v: Option<i128>| v?.checked_mul(slope)?.checked_add(constant);
    Range {
        lo: outer(inner.lo),
        hi: outer(inner.hi),
    }
}

fn search(p: &Poly) -> Range {
    let mut engine = Engine {
        vars: Vec::new(),
        index: BTreeMap::new(),
        // The larger, the fewer sums, so that the whole stays short.
        budget: (EFFORT / p.extent().1.max(1)).min(BUDGET),
    };
    let whole = engine
        .import(p)
        .map_or(Range::ANY, |sum| engine.bounds(&sum));
    // Bounds that cross can only come of facts that no integer satisfies; then anything holds, but nothing is said.
    match (whole.lo, whole.hi) {
        (Some(lo), Some(hi)) if lo > hi => Range::ANY,
        _ => whole,
    }
}

// Sums that are bounded for one polynomial, and their terms in all.
const BUDGET: u32 = 48;
const EFFORT: u32 = 1024;
// Terms of a sum; larger ones are given up.
const TERMS: usize = 512;
// Degree up to which variables are measured from their bounds.
const DEGREE: u32 = 8;

type Product = Vec<(usize, u32)>;

// A sum of products of variables, and what it is a multiple of the value by.
#[derive(Clone)]
struct Scaled {
    sum: BTreeMap<Product, i128>,
    scale: i128,
}

#[derive(Clone)]
struct Var {
    range: Range,
    atom: Option<Atom>,
}

struct Engine {
    vars: Vec<Var>,
    index: BTreeMap<Atom, usize>,
    budget: u32,
}

fn times(a: &Product, b: &Product) -> Product {
    let mut out: BTreeMap<usize, u32> = a.iter().copied().collect();
    for (v, e) in b {
        *out.entry(*v).or_insert(0) += e;
    }
    out.into_iter().collect()
}

fn power(p: &Product, var: usize) -> u32 {
    p.iter().find(|(v, _)| *v == var).map_or(0, |(_, e)| *e)
}

impl Scaled {
    fn constant(v: i128) -> Scaled {
        Scaled {
            sum: BTreeMap::from([(Product::new(), v)]),
            scale: 1,
        }
    }

    fn var(v: usize) -> Scaled {
        Scaled {
            sum: BTreeMap::from([(vec![(v, 1)], 1)]),
            scale: 1,
        }
    }

    fn put(&mut self, p: Product, c: i128) -> Option<()> {
        let at = self.sum.entry(p).or_insert(0);
        *at = at.checked_add(c)?;
        (self.sum.len() <= TERMS).then_some(())
    }

    fn plus(mut self, other: &Scaled, by: i128) -> Option<Scaled> {
        for (p, c) in &other.sum {
            self.put(p.clone(), c.checked_mul(by)?)?;
        }
        Some(self)
    }

    fn has(&self, var: usize) -> bool {
        self.sum.iter().any(|(p, c)| *c != 0 && power(p, var) > 0)
    }

    // Replaces a variable by `by / den`.
    fn replace(&self, var: usize, by: &Scaled, den: i128) -> Option<Scaled> {
        let top = self.sum.keys().map(|p| power(p, var)).max()?;
        let mut powers = vec![Scaled::constant(1)];
        for _ in 0..top {
            let last = powers.last()?;
            let mut next = Scaled {
                sum: BTreeMap::new(),
                scale: 1,
            };
            for (p, c) in &last.sum {
                for (q, d) in &by.sum {
                    next.put(times(p, q), c.checked_mul(*d)?)?;
                }
            }
            powers.push(next);
        }
        let mut out = Scaled {
            sum: BTreeMap::new(),
            scale: self.scale.checked_mul(den.checked_pow(top)?)?,
        };
        for (p, c) in &self.sum {
            let e = power(p, var);
            let c = c.checked_mul(den.checked_pow(top - e)?)?;
            let rest: Product = p.iter().filter(|(v, _)| *v != var).copied().collect();
            for (q, d) in &powers[e as usize].sum {
                out.put(times(&rest, q), c.checked_mul(*d)?)?;
            }
        }
        out.sum.retain(|_, c| *c != 0);
        Some(out)
    }

    // The factor of a variable in which the sum is linear.
    fn factor(&self, var: usize) -> Option<Scaled> {
        let mut out = Scaled {
            sum: BTreeMap::new(),
            scale: 1,
        };
        for (p, c) in &self.sum {
            match power(p, var) {
                0 => {}
                1 => {
                    let rest = p.iter().filter(|(v, _)| *v != var).copied().collect();
                    out.put(rest, *c)?;
                }
                _ => return None,
            }
        }
        Some(out)
    }
}

impl Engine {
    fn var(&mut self, range: Range, atom: Option<Atom>) -> usize {
        self.vars.push(Var { range, atom });
        self.vars.len() - 1
    }

    fn atom(&mut self, atom: &Atom) -> usize {
        if let Some(v) = self.index.get(atom) {
            return *v;
        }
        let v = self.var(atom.range(), Some(atom.clone()));
        self.index.insert(atom.clone(), v);
        v
    }

    fn import(&mut self, p: &Poly) -> Option<Scaled> {
        let mut out = Scaled {
            sum: BTreeMap::new(),
            scale: 1,
        };
        for (m, c) in p.terms() {
            let mut product: Product = m.0.iter().map(|(a, e)| (self.atom(a), *e)).collect();
            product.sort();
            out.put(product, (*c).into())?;
        }
        Some(out)
    }

    fn bounds(&mut self, sum: &Scaled) -> Range {
        let mut r = self.plain(sum);
        if self.budget == 0 {
            return r;
        }
        self.budget -= 1;
        let mut used: Vec<usize> = sum.sum.keys().flatten().map(|(v, _)| *v).collect();
        used.sort();
        used.dedup();
        // The first opaque one that can be replaced; the others are replaced in what comes of it. Of symbols each one, those
        // that others are bounded by after those.
        used.sort_by_key(|v| match &self.vars[*v].atom {
            Some(Atom::Unit(s)) => Reverse(s.depth()),
            _ => Reverse(0),
        });
        for want in [Kind::Least, Kind::Floor, Kind::Unit] {
            for v in &used {
                let Some(atom) = self.vars[*v].atom.clone() else {
                    continue;
                };
                let found = match (want, &atom) {
                    (Kind::Least, Atom::Least(ps)) => self.cases(sum, *v, ps),
                    (Kind::Floor, Atom::Floor(p, q)) => self.quotient(sum, *v, p, q),
                    (Kind::Unit, Atom::Unit(s)) => self.facts(sum, *v, s),
                    _ => None,
                };
                if let Some(more) = found {
                    r = r.meet(more);
                    if !matches!(want, Kind::Unit) {
                        return r;
                    }
                }
            }
        }
        r
    }

    // A minimum is one of its values, and at most each of them.
    fn cases(&mut self, sum: &Scaled, v: usize, ps: &[Poly]) -> Option<Range> {
        let sign = sum.factor(v).map(|f| self.plain(&f));
        let up = sign.and_then(|r| r.lo).is_some_and(|lo| lo >= 0);
        let down = sign.and_then(|r| r.hi).is_some_and(|hi| hi <= 0);
        let mut all = vec![Scaled::constant(0)];
        for p in ps {
            all.push(self.import(p)?);
        }
        let mut ranges = Vec::new();
        for by in &all {
            let one = sum.replace(v, by, 1)?;
            ranges.push(self.bounds(&one));
        }
        let worst = |f: fn(i128, i128) -> i128, ends: Vec<Option<i128>>| {
            let ends: Option<Vec<i128>> = ends.into_iter().collect();
            ends?.into_iter().reduce(f)
        };
        let best = |f: fn(i128, i128) -> i128, ends: Vec<Option<i128>>| {
            ends.into_iter().flatten().reduce(f)
        };
        let los: Vec<_> = ranges.iter().map(|r| r.lo).collect();
        let his: Vec<_> = ranges.iter().map(|r| r.hi).collect();
        Some(Range {
            lo: if down {
                best(i128::max, los)
            } else {
                worst(i128::min, los)
            },
            hi: if up {
                best(i128::min, his)
            } else {
                worst(i128::max, his)
            },
        })
    }

    // `floor(p/q) = (p - e)/q` with `0 <= e <= q - 1`.
    fn quotient(&mut self, sum: &Scaled, v: usize, p: &Poly, q: &Poly) -> Option<Range> {
        let p = self.import(p)?;
        if p.has(v) {
            return None;
        }
        if let Some(c) = q.as_constant() {
            let c = i128::from(c);
            let rest = Range {
                lo: Some(0),
                hi: Some(c - 1),
            };
            let e = self.var(rest, None);
            let by = p.plus(&Scaled::var(e), -1)?;
            let one = sum.replace(v, &by, c)?;
            return Some(self.bounds(&one));
        }
        // For a divisor with symbols its monomial must be a factor of the floor's, so that no quotient is left.
        let [(mono, c)] = q.terms() else {
            return None;
        };
        // The scale stays positive.
        let (c, sign) = (i128::from(*c).abs(), i128::from(c.signum()));
        let mono: Product = {
            let mut all: Product = mono.0.iter().map(|(a, e)| (self.atom(a), *e)).collect();
            all.sort();
            all
        };
        let factor = sum.factor(v)?;
        let mut rest = Scaled {
            sum: BTreeMap::new(),
            scale: sum.scale.checked_mul(c)?,
        };
        for (product, k) in &sum.sum {
            if power(product, v) == 0 {
                rest.put(product.clone(), k.checked_mul(c)?)?;
            }
        }
        let mut less = Scaled {
            sum: BTreeMap::new(),
            scale: 1,
        };
        for (product, k) in &factor.sum {
            let mut out: BTreeMap<usize, u32> = product.iter().copied().collect();
            for (w, e) in &mono {
                let left = out.get_mut(w)?;
                *left = left.checked_sub(*e)?;
            }
            less.put(out.into_iter().filter(|(_, e)| *e > 0).collect(), sign * *k)?;
        }
        let top = q.bounds().hi.and_then(|hi| hi.checked_sub(1));
        let remainder = Range {
            lo: Some(0),
            hi: top,
        };
        // The remainder as it is, and as what it lacks to q - 1.
        let mut r = Range::ANY;
        for lacking in [false, true] {
            let e = self.var(remainder, None);
            let q = self.import(q)?;
            let minus_e = match lacking {
                false => p.clone().plus(&Scaled::var(e), -1)?,
                true => {
                    let p = p.clone().plus(&q, -1)?;
                    p.plus(&Scaled::constant(1), 1)?.plus(&Scaled::var(e), 1)?
                }
            };
            let mut one = rest.clone();
            for (a, k) in &less.sum {
                for (b, l) in &minus_e.sum {
                    one.put(times(a, b), k.checked_mul(*l)?)?;
                }
            }
            one.sum.retain(|_, c| *c != 0);
            r = r.meet(self.bounds(&one));
        }
        Some(r)
    }

    // A symbol by those that are at most it, or with its symbolic divisors as one variable.
    fn facts(&mut self, sum: &Scaled, v: usize, symbol: &super::symbol::Symbol) -> Option<Range> {
        let mut r = Range::ANY;
        let mut any = false;
        if symbol.of.is_empty() {
            for (least, over) in &symbol.least {
                let over = i128::from(*over);
                let Ok(low) = Poly::of_symbol(least) else {
                    continue;
                };
                let gap = symbol
                    .max
                    .map(|m| i128::from(m) - i128::from(least.min) - over);
                let s = self.var(
                    Range {
                        lo: Some(0),
                        hi: gap,
                    },
                    None,
                );
                let by = self.import(&low)?.plus(&Scaled::var(s), 1)?;
                let by = by.plus(&Scaled::constant(over), 1)?;
                if by.has(v) {
                    continue;
                }
                let one = sum.replace(v, &by, symbol.div.into())?;
                r = r.meet(self.bounds(&one));
                any = true;
            }
        } else {
            // unit * of = symbol / div, wherever all of `of` stand beside the unit.
            let mut of: BTreeMap<usize, u32> = BTreeMap::new();
            for s in &symbol.of {
                let p = Poly::of_symbol(s).ok()?;
                let [(mono, 1)] = p.terms() else {
                    return None;
                };
                for (a, e) in &mono.0 {
                    *of.entry(self.atom(a)).or_insert(0) += e;
                }
            }
            let whole = self.var(symbol.part_range(), None);
            let mut one = Scaled {
                sum: BTreeMap::new(),
                scale: sum.scale,
            };
            for (product, c) in &sum.sum {
                let mut out: BTreeMap<usize, u32> = product.iter().copied().collect();
                let fits = |out: &BTreeMap<usize, u32>| {
                    out.get(&v).is_some_and(|e| *e > 0)
                        && of.iter().all(|(w, e)| out.get(w).is_some_and(|x| x >= e))
                };
                while fits(&out) {
                    for (w, e) in of.iter().chain([(&v, &1)]) {
                        *out.get_mut(w)? -= e;
                    }
                    *out.entry(whole).or_insert(0) += 1;
                    any = true;
                }
                one.put(out.into_iter().filter(|(_, e)| *e > 0).collect(), *c)?;
            }
            if any {
                r = self.bounds(&one);
            }
        }
        any.then_some(r)
    }

    // Interval arithmetic, each variable measured from its lower bound, and from its upper one.
    fn plain(&mut self, sum: &Scaled) -> Range {
        let naive = self.intervals(sum, &|e, v| e.vars[v].range);
        let mut r = naive;
        let degree = |p: &Product| p.iter().map(|(_, e)| e).sum::<u32>();
        if sum.sum.len() > 1 && sum.sum.keys().all(|p| degree(p) <= DEGREE) {
            for from_top in [false, true] {
                if let Some(shifted) = self.shifted(sum, from_top) {
                    r = r.meet(shifted);
                }
            }
        }
        r.unscaled(sum.scale)
    }

    fn intervals(&self, sum: &Scaled, range: &dyn Fn(&Engine, usize) -> Range) -> Range {
        sum.sum.iter().fold(Range::exactly(0), |r, (p, c)| {
            let term = p.iter().fold(Range::exactly(*c), |t, (v, e)| {
                t.mul(range(self, *v).pow(*e))
            });
            r.add(term)
        })
    }

    fn shifted(&self, sum: &Scaled, from_top: bool) -> Option<Range> {
        let mut used: Vec<usize> = sum.sum.keys().flatten().map(|(v, _)| *v).collect();
        used.sort();
        used.dedup();
        let mut shifted = sum.clone();
        let mut ranges = BTreeMap::new();
        for v in used {
            let Range { lo, hi } = self.vars[v].range;
            let (by, width) = match (lo, hi) {
                (Some(lo), Some(hi)) if from_top => (Some((hi, -1)), hi.checked_sub(lo)),
                (None, Some(hi)) => (Some((hi, -1)), None),
                (Some(lo), hi) => (Some((lo, 1)), hi.and_then(|hi| hi.checked_sub(lo))),
                (None, None) => (None, None),
            };
            let Some((from, sign)) = by else {
                continue;
            };
            ranges.insert(
                v,
                Range {
                    lo: Some(0),
                    hi: width,
                },
            );
            if from == 0 && sign == 1 {
                continue;
            }
            let by = Scaled::constant(from).plus(&Scaled::var(v), sign)?;
            shifted = shifted.replace(v, &by, 1)?;
        }
        Some(self.intervals(&shifted, &|e, v| {
            ranges.get(&v).copied().unwrap_or(e.vars[v].range)
        }))
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Least,
    Floor,
    Unit,
}
