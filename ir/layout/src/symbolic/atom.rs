//! Atoms, and the opaque ones among them in canonical form.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::order::Mono;
use super::poly::{Poly, Sum};
use super::range::Range;
use super::symbol::Symbol;
use super::{SymResult, limits};
use cute_arith::gcd;

/// A factor that monomials are made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

impl Ord for Atom {
    fn cmp(&self, other: &Self) -> Ordering {
        let kind = |a: &Atom| match a {
            Atom::Unit(_) => 0,
            Atom::Floor(..) => 1,
            Atom::Least(_) => 2,
            Atom::Sign(_) => 3,
        };
        match (self, other) {
            (Atom::Unit(a), Atom::Unit(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            (Atom::Unit(a), Atom::Unit(b)) => a.cmp(b),
            (Atom::Floor(a, b), Atom::Floor(c, d)) => {
                a.canonical_cmp(c).then_with(|| b.canonical_cmp(d))
            }
            (Atom::Least(a), Atom::Least(b)) => {
                let each = a.iter().zip(b.iter()).map(|(p, q)| p.canonical_cmp(q));
                let first = each.into_iter().find(|o| o.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            (Atom::Sign(a), Atom::Sign(b)) => a.canonical_cmp(b),
            _ => kind(self).cmp(&kind(other)),
        }
    }
}

impl PartialOrd for Atom {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Atom {
    /// A power of it: signs have only the powers 1 and 2, or 1 and 0 where they are never 0.
    pub(super) fn power(&self, e: u32) -> (Atom, u32) {
        let reduced = match self {
            Atom::Sign(_) if e % 2 == 1 => 1,
            Atom::Sign(p) if e > 0 => 2 * u32::from(!p.is_nonzero()),
            _ => e,
        };
        (self.clone(), reduced)
    }

    /// Levels of opaque terms, and terms in all.
    pub(super) fn extent(&self) -> (u32, u32) {
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

    pub(super) fn range(&self) -> Range {
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

    pub(super) fn eval(&self, values: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i128> {
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
        if inner != *self {
            // Without the factors more may be decided.
            return inner.signum()?.scale(by.signum(), "signum");
        }
        Poly::of_atom(Atom::Sign(inner.bounded()))
    }

    /// Divides each coefficient by `by`, and each monomial by `mono`; both divide all.
    pub(super) fn reduced(&self, mono: &Mono, by: i128) -> SymResult<Poly> {
        self.map_terms(|m, c| {
            let c = i64::try_from(i128::from(c) / by).ok()?;
            m.div(mono).map(|m| (m, c))
        })
    }

    // Its side of 0, as bounds of its product with what is not negative.
    fn side(&self) -> Range {
        let r = self.bounds();
        Range {
            lo: r.lo.filter(|lo| *lo >= 0).map(|_| 0),
            hi: r.hi.filter(|hi| *hi <= 0).map(|_| 0),
        }
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
/// leading coefficient is subtracted from all; common factors of the others are taken out. Nothing of this depends on a
/// polynomial that is added to all, so that `min(p + t, q + t)` is `min(p, q) + t`.
pub(super) fn least(of: &[Poly]) -> SymResult<Poly> {
    let mut all = of.to_vec();
    let mut lifted = Poly::constant(0);
    loop {
        let shift = shared_minima(&all)?;
        if !shift.is(0) {
            lifted = lifted.add(&shift)?;
            for p in &mut all {
                *p = p.sub(&shift)?;
            }
        }
        sort(&mut all)?;
        prune(&mut all)?;
        let open = all.iter().position(|p| {
            p.as_least()
                .is_some_and(|(_, ps)| all.len() + ps.len() <= limits::CASES)
        });
        let Some((s, ps)) = open.and_then(|i| all.remove(i).as_least()) else {
            break;
        };
        for over in ps {
            all.push(s.add(&over)?);
        }
        all.push(s);
    }
    let base = all.remove(0);
    let whole = base.add(&lifted)?;
    let Some(first) = all.first() else {
        return Ok(whole);
    };
    let mut over = Vec::with_capacity(all.len());
    let mut mono = first.sub(&base)?.monomial();
    for p in &all {
        let p = p.sub(&base)?;
        mono = mono.common(&p.monomial());
        over.push(p);
    }
    let mono = factors(&mono, 0);
    let by = over.iter().fold(0, |g, p| gcd(g, p.divisor().into()));
    for p in &mut over {
        *p = p.reduced(&mono, by)?.bounded();
    }
    let atom = Poly::of_atom(Atom::Least(over.into()))?;
    whole.add(&Poly::monic(mono)?.scale(by, "min")?.mul(&atom)?)
}

// What to subtract from all so that the least coefficient of each monomial that has a minimum in it is 0.
fn shared_minima(all: &[Poly]) -> SymResult<Poly> {
    let minimum = |m: &&Mono| m.0.iter().any(|(a, _)| matches!(a, Atom::Least(_)));
    let mut sum = Sum::default();
    let terms = all.iter().flat_map(|p| p.terms());
    let monos: BTreeSet<&Mono> = terms.map(|(m, _)| m).filter(minimum).collect();
    for m in monos {
        let coefficient = |p: &Poly| {
            let found = p.terms().iter().find(|(n, _)| n == m);
            found.map_or(0, |(_, c)| *c)
        };
        let lowest = all.iter().map(coefficient).min().unwrap_or(0);
        sum.add(m.clone(), lowest.into(), "min")?;
    }
    sum.finish("min")
}

// Ascending by the sign of the difference's leading coefficient, which no polynomial added to all changes.
fn sort(all: &mut [Poly]) -> SymResult<()> {
    for i in 1..all.len() {
        let mut j = i;
        while j > 0 && all[j].sub(&all[j - 1])?.leading() < 0 {
            all.swap(j, j - 1);
            j -= 1;
        }
    }
    Ok(())
}

// Drops what is never below all others.
fn prune(all: &mut Vec<Poly>) -> SymResult<()> {
    let mut kept: Vec<Poly> = Vec::new();
    for p in all.drain(..) {
        let mut drop = false;
        let mut rest = Vec::with_capacity(kept.len() + 1);
        for k in kept {
            let over = p.sub(&k)?;
            // A factor that is not negative does not matter.
            let mono = factors(&over.monomial(), 0);
            let over = match mono.is_one() {
                true => over.bounds(),
                false => over.bounds().meet(over.reduced(&mono, 1)?.side()),
            };
            drop |= over.lo.is_some_and(|lo| lo >= 0);
            // What is dropped is at least what stays: the others are compared with both.
            if drop || over.hi.is_none_or(|hi| hi > 0) {
                rest.push(k);
            }
        }
        if !drop {
            rest.push(p);
        }
        kept = rest;
    }
    *all = kept;
    Ok(())
}
