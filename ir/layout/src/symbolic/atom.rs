//! Atoms, and the opaque ones among them in canonical form.

use std::sync::Arc;

use super::order::Mono;
use super::poly::Poly;
use super::range::Range;
use super::symbol::Symbol;
use super::{SymResult, gcd, limits};

/// What monomials are made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A symbol divided by all its known divisors.
    Unit(Arc<Symbol>),
    /// `floor(p / q)`, q at least 1, in the form that [`Poly::div_floor`] makes.
    Floor(Poly, Poly),
    /// The least of 0 and these, in the form that [`least`] makes.
    Least(Arc<[Poly]>),
    /// The sign of a polynomial whose leading coefficient is positive.
    Sign(Poly),
}

impl Atom {
    /// A power of it: signs have only the powers 1 and 2, or 1 and 0 where they are never 0.
    pub fn power(&self, e: u32) -> (Atom, u32) {
        let reduced = match self {
            Atom::Sign(_) if e % 2 == 1 => 1,
            Atom::Sign(p) if e > 0 => 2 * u32::from(!p.is_nonzero()),
            _ => e,
        };
        (self.clone(), reduced)
    }

    /// Levels of opaque terms, and terms in all.
    pub fn extent(&self) -> (u32, u32) {
        let all = |ps: &mut dyn Iterator<Item = &Poly>| {
            ps.map(Poly::extent).fold((1, 1u32), |(d, w), (d2, w2)| {
                (d.max(d2 + 1), w.saturating_add(w2))
            })
        };
        match self {
            Atom::Unit(_) => (0, 1),
            Atom::Floor(p, q) => all(&mut [p, q].into_iter()),
            Atom::Least(ps) => all(&mut ps.iter()),
            Atom::Sign(p) => all(&mut std::iter::once(p)),
        }
    }

    pub fn range(&self) -> Range {
        match self {
            Atom::Unit(s) => s.unit_range(),
            Atom::Floor(p, q) => p.bounds().floor(q.bounds()),
            Atom::Least(ps) => {
                let mut r = Range::exactly(0);
                for p in ps.iter() {
                    let p = p.bounds();
                    r.lo = r.lo.zip(p.lo).map(|(a, b)| a.min(b));
                    r.hi = r.hi.map(|a| p.hi.map_or(a, |b| a.min(b)));
                }
                r
            }
            Atom::Sign(p) => {
                let p = p.bounds();
                Range {
                    lo: Some(p.lo.map_or(-1, i128::signum)),
                    hi: Some(p.hi.map_or(1, i128::signum)),
                }
            }
        }
    }

    pub fn eval(&self, values: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i128> {
        match self {
            Atom::Unit(s) => s.eval(values).map(|(_, unit)| unit),
            Atom::Floor(p, q) => {
                let (p, q) = (p.eval_wide(values)?, q.eval_wide(values)?);
                (q > 0).then(|| p.div_euclid(q))
            }
            Atom::Least(ps) => ps
                .iter()
                .try_fold(0, |v: i128, p| Some(v.min(p.eval_wide(values)?))),
            Atom::Sign(p) => p.eval_wide(values).map(i128::signum),
        }
    }
}

impl Poly {
    /// The lesser of the two. Errors: overflow; too large.
    pub fn min(&self, other: &Poly) -> SymResult<Poly> {
        least(&[self.clone(), other.clone()])
    }

    /// The greater of the two. Errors: overflow; too large.
    pub fn max(&self, other: &Poly) -> SymResult<Poly> {
        least(&[self.neg()?, other.neg()?])?.neg()
    }

    /// The magnitude. Errors: overflow; too large.
    pub fn abs(&self) -> SymResult<Poly> {
        self.max(&self.neg()?)
    }

    /// -1, 0 or 1. Errors: overflow; too large.
    pub fn signum(&self) -> SymResult<Poly> {
        let r = self.bounds();
        let decided = match (r.lo, r.hi) {
            (Some(lo), _) if lo > 0 => Some(1),
            (_, Some(hi)) if hi < 0 => Some(-1),
            (Some(0), Some(0)) => Some(0),
            _ => None,
        };
        if let Some(v) = decided {
            return Ok(Poly::constant(v));
        }
        // A positive factor does not change it.
        let factor = factors(&self.monomial(), 1);
        let divisor = i128::from(self.divisor().max(1));
        let by = if self.leading() < 0 {
            -divisor
        } else {
            divisor
        };
        let inner = self.reduced(&factor, by)?;
        Poly::of_atom(Atom::Sign(inner.bounded()))?.scale(by.signum(), "signum")
    }

    /// Divides each coefficient by `by`, and each monomial by `mono`; both divide all.
    pub(super) fn reduced(&self, mono: &Mono, by: i128) -> SymResult<Poly> {
        self.map_terms(|m, c| {
            let c = i64::try_from(i128::from(c) / by).ok()?;
            m.div(mono).map(|m| (m, c))
        })
    }

    // `s` and the others, if the polynomial is the least of `s` and `s` plus each of the others.
    fn as_least(&self) -> Option<(Poly, Vec<Poly>)> {
        let atoms = self.atoms();
        let mut all = atoms.iter().filter(|a| matches!(a, Atom::Least(_)));
        let (Some(atom @ Atom::Least(ps)), None) = (all.next(), all.next()) else {
            return None;
        };
        let (factor, rest) = self.split(atom)?;
        let [(mono, 1..)] = factor.terms() else {
            return None;
        };
        if factors(mono, 0) != *mono {
            return None;
        }
        let over: SymResult<Vec<Poly>> = ps.iter().map(|p| p.mul(&factor)).collect();
        Some((rest, over.ok()?))
    }
}

/// The part of a monomial whose atoms are at least `lo`.
pub(super) fn factors(mono: &Mono, lo: i128) -> Mono {
    let all = mono.0.iter();
    Mono(
        all.filter(|(a, _)| a.range().lo.is_some_and(|x| x >= lo))
            .cloned()
            .collect(),
    )
}

/// The least of some polynomials.
///
/// Canonical: minima within are opened; what is never the least is dropped; the smallest by the sign of the difference's
/// leading coefficient is subtracted from all; common factors of the others are taken out.
pub(super) fn least(of: &[Poly]) -> SymResult<Poly> {
    let mut open = Vec::new();
    for p in of {
        match p.as_least() {
            Some((s, ps)) if open.len() + ps.len() < limits::CASES => {
                for other in ps.iter() {
                    open.push(s.add(other)?);
                }
                open.push(s);
            }
            _ => open.push(p.clone()),
        }
    }
    let mut kept: Vec<Poly> = Vec::new();
    for p in open {
        // Whether it, or what it makes superfluous, is never the only least one.
        let mut drop = false;
        let mut rest = Vec::with_capacity(kept.len());
        for k in kept {
            let over = p.sub(&k)?.bounds();
            drop |= over.lo.is_some_and(|lo| lo >= 0);
            if drop || over.hi.is_none_or(|hi| hi > 0) {
                rest.push(k);
            }
        }
        kept = rest;
        if !drop {
            kept.push(p);
        }
    }
    let mut base = kept[0].clone();
    for p in &kept[1..] {
        if p.sub(&base)?.leading() < 0 {
            base = p.clone();
        }
    }
    let mut over = Vec::with_capacity(kept.len());
    for p in kept.iter().filter(|p| **p != base) {
        over.push(p.sub(&base)?);
    }
    if over.is_empty() {
        return Ok(base);
    }
    let mono = over[1..]
        .iter()
        .fold(over[0].monomial(), |m, p| m.common(&p.monomial()));
    let mono = factors(&mono, 0);
    let by = over.iter().fold(0, |g, p| gcd(g, p.divisor().into()));
    for p in &mut over {
        *p = p.reduced(&mono, by)?;
    }
    let mut i = 1;
    while i < over.len() {
        // Insertion by the sign of the leading difference, which no translation changes.
        let mut j = i;
        while j > 0 && over[j].sub(&over[j - 1])?.leading() < 0 {
            over.swap(j, j - 1);
            j -= 1;
        }
        i += 1;
    }
    let atom = Poly::of_atom(Atom::Least(over.into_iter().map(Poly::bounded).collect()))?;
    let factor = Poly::monic(mono)?.scale(by, "min")?;
    base.add(&factor.mul(&atom)?)
}
