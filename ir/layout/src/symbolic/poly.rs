//! Polynomials in normal form, and their ring.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::atom::Atom;
use super::order::Mono;
use super::range::Range;
use super::symbol::Symbol;
use super::{SymError, SymResult, limits};
use cute_arith::gcd;

/// A symbolic integer. Cheap to clone; see the [module](super) for the normal form.
#[derive(Clone)]
pub struct Poly(Arc<Inner>);

struct Inner {
    // Descending monomials, no coefficient 0.
    terms: Vec<(Mono, i64)>,
    depth: u32,
    weight: u32,
    // Bounds, where they were asked for beforehand. They follow from the terms, so that equality does not ask.
    range: Option<Range>,
}

impl PartialEq for Poly {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.terms == other.0.terms
    }
}

impl Eq for Poly {}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.terms.hash(state);
    }
}

impl std::fmt::Debug for Poly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Poly({self})")
    }
}

/// A number times a product of powers of symbols.
pub type Product = (i64, Vec<(Arc<Symbol>, u32)>);

/// A sum that is being made.
#[derive(Default)]
pub(super) struct Sum(BTreeMap<Mono, i128>);

impl Sum {
    pub(super) fn add(&mut self, mono: Mono, by: i128, op: &'static str) -> SymResult<()> {
        let at = self.0.entry(mono).or_insert(0);
        *at = at.checked_add(by).ok_or(SymError::Overflow { op })?;
        Ok(())
    }

    /// Adds `scale * mono * p`.
    pub(super) fn add_poly(
        &mut self,
        p: &Poly,
        scale: i128,
        mono: &Mono,
        op: &'static str,
    ) -> SymResult<()> {
        for (m, c) in p.terms() {
            let c = i128::from(*c)
                .checked_mul(scale)
                .ok_or(SymError::Overflow { op })?;
            let m = if mono.is_one() {
                m.clone()
            } else {
                m.mul(mono)?
            };
            self.add(m, c, op)?;
        }
        Ok(())
    }

    /// Takes the largest term out.
    pub(super) fn pop(&mut self) -> Option<(Mono, i128)> {
        self.0.pop_last()
    }

    pub(super) fn finish(self, op: &'static str) -> SymResult<Poly> {
        let mut terms = Vec::with_capacity(self.0.len());
        for (m, c) in self.0.into_iter().rev().filter(|(_, c)| *c != 0) {
            let c = i64::try_from(c).map_err(|_| SymError::Overflow { op })?;
            terms.push((m, c));
        }
        Poly::from_terms(terms)
    }
}

impl Poly {
    // `terms` are in normal form.
    fn from_terms(terms: Vec<(Mono, i64)>) -> SymResult<Poly> {
        let (mut depth, mut weight) = (0, 1u32);
        for (atom, _) in terms.iter().flat_map(|(m, _)| &m.0) {
            let (d, w) = atom.extent();
            depth = depth.max(d);
            weight = weight.saturating_add(w);
        }
        weight = weight.saturating_add(terms.len() as u32);
        let too_large = |what, limit| Err(SymError::TooLarge { what, limit });
        if terms.len() > limits::TERMS {
            return too_large("terms", limits::TERMS);
        }
        if weight > limits::WEIGHT {
            return too_large("terms, inner ones counted,", limits::WEIGHT as usize);
        }
        if depth > limits::DEPTH {
            return too_large("opaque terms within one another", limits::DEPTH as usize);
        }
        Ok(Poly(Arc::new(Inner {
            terms,
            depth,
            weight,
            range: None,
        })))
    }

    /// A known integer.
    pub fn constant(value: i64) -> Poly {
        let terms = match value {
            0 => Vec::new(),
            v => vec![(Mono::one(), v)],
        };
        Poly(Arc::new(Inner {
            terms,
            depth: 0,
            weight: 2,
            range: None,
        }))
    }

    /// A symbol. Errors: facts that no integer satisfies; a name that is none.
    pub fn symbol(symbol: Symbol) -> SymResult<Poly> {
        Poly::of_symbol(&Arc::new(symbol))
    }

    /// The same, of a symbol that is shared.
    pub fn of_symbol(symbol: &Arc<Symbol>) -> SymResult<Poly> {
        symbol.check()?;
        let unit = symbol.unit_range();
        let mut out = match (unit.lo, unit.hi) {
            (Some(lo), Some(hi)) if lo == hi => {
                let v = i64::try_from(lo).map_err(|_| SymError::Overflow { op: "symbol" })?;
                Poly::constant(v)
            }
            _ => Poly::of_atom(Atom::Unit(symbol.clone()))?,
        };
        for s in &symbol.of {
            out = out.mul(&Poly::of_symbol(s)?)?;
        }
        out.mul(&Poly::constant(symbol.div))
    }

    pub(super) fn monic(mono: Mono) -> SymResult<Poly> {
        Poly::from_terms(vec![(mono, 1)])
    }

    pub(super) fn of_atom(atom: Atom) -> SymResult<Poly> {
        Poly::from_terms(vec![(Mono::of(atom), 1)])
    }

    /// The terms, largest monomial first.
    pub(super) fn terms(&self) -> &[(Mono, i64)] {
        &self.0.terms
    }

    pub(super) fn extent(&self) -> (u32, u32) {
        (self.0.depth, self.0.weight)
    }

    pub(super) fn bounds(&self) -> Range {
        self.0.range.unwrap_or_else(|| super::range::of(self))
    }

    /// The same, with its bounds at hand: for what stands in an atom, so that bounds of what is nested are found once.
    pub(super) fn bounded(self) -> Poly {
        if self.0.range.is_some() {
            return self;
        }
        let range = Some(self.bounds());
        let Inner {
            ref terms,
            depth,
            weight,
            ..
        } = *self.0;
        let terms = terms.clone();
        Poly(Arc::new(Inner {
            terms,
            depth,
            weight,
            range,
        }))
    }

    /// The integer, if there is no symbol in it.
    pub fn as_constant(&self) -> Option<i64> {
        match self.terms() {
            [] => Some(0),
            [(m, c)] if m.is_one() => Some(*c),
            _ => None,
        }
    }

    /// Tells whether this is the known integer `v`.
    pub fn is(&self, v: i64) -> bool {
        self.as_constant() == Some(v)
    }

    /// The term without symbols.
    pub(super) fn constant_term(&self) -> i64 {
        match self.terms().last() {
            Some((m, c)) if m.is_one() => *c,
            _ => 0,
        }
    }

    /// The coefficient of the largest monomial; 0 of 0.
    pub(super) fn leading(&self) -> i64 {
        self.terms().first().map_or(0, |(_, c)| *c)
    }

    /// A total order of the normal forms, for deterministic collections. It says nothing of the values, which is why there
    /// is no `Ord`: `p < q` and `p.min(q)` would read as if it did.
    pub fn canonical_cmp(&self, other: &Poly) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.0.terms.cmp(&other.0.terms)
    }

    /// The sum. Errors: overflow; too large.
    pub fn add(&self, other: &Poly) -> SymResult<Poly> {
        self.plus(other, 1, "add")
    }

    /// The difference. Errors: overflow; too large.
    pub fn sub(&self, other: &Poly) -> SymResult<Poly> {
        self.plus(other, -1, "subtract")
    }

    /// The negative. Errors: overflow.
    pub fn neg(&self) -> SymResult<Poly> {
        self.scale(-1, "negate")
    }

    /// The product. Errors: overflow; too large.
    pub fn mul(&self, other: &Poly) -> SymResult<Poly> {
        if self.is(1) {
            return Ok(other.clone());
        }
        if other.is(1) {
            return Ok(self.clone());
        }
        let mut sum = Sum::default();
        for (m, c) in self.terms() {
            sum.add_poly(other, (*c).into(), m, "multiply")?;
        }
        sum.finish("multiply")
    }

    pub(super) fn plus(&self, other: &Poly, times: i128, op: &'static str) -> SymResult<Poly> {
        if other.terms().is_empty() {
            return Ok(self.clone());
        }
        let mut sum = Sum::default();
        sum.add_poly(self, 1, &Mono::one(), op)?;
        sum.add_poly(other, times, &Mono::one(), op)?;
        sum.finish(op)
    }

    pub(super) fn scale(&self, by: i128, op: &'static str) -> SymResult<Poly> {
        let mut sum = Sum::default();
        sum.add_poly(self, by, &Mono::one(), op)?;
        sum.finish(op)
    }

    /// The terms changed one by one, where the order stays.
    pub(super) fn map_terms(
        &self,
        f: impl Fn(&Mono, i64) -> Option<(Mono, i64)>,
    ) -> SymResult<Poly> {
        let mut sum = Sum::default();
        for (m, c) in self.terms() {
            if let Some((m, c)) = f(m, *c) {
                sum.add(m, c.into(), "divide")?;
            }
        }
        sum.finish("divide")
    }

    /// The largest number that is known to divide every value: the gcd of the coefficients. It is 0 for 0, as every number
    /// divides 0.
    pub fn divisor(&self) -> i64 {
        let all = self
            .terms()
            .iter()
            .fold(0i128, |g, (_, c)| gcd(g, (*c).into()));
        // Only the magnitude of i64::MIN does not fit; half of it divides too.
        i64::try_from(all).unwrap_or(1 << 62)
    }

    /// The gcd of the coefficients other than the constant's.
    pub(super) fn slope(&self) -> i128 {
        let all = self.terms().iter().filter(|(m, _)| !m.is_one());
        all.fold(0i128, |g, (_, c)| gcd(g, (*c).into()))
    }

    /// The largest monomial that divides every term.
    pub(super) fn monomial(&self) -> Mono {
        let mut all = self.terms().iter().map(|(m, _)| m);
        let first = all.next().cloned().unwrap_or_default();
        all.fold(first, |g, m| g.common(m))
    }

    /// The factor of `atom`, if the polynomial is linear in it, and the rest.
    pub(super) fn split(&self, atom: &Atom) -> Option<(Poly, Poly)> {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        let one = Mono::of(atom.clone());
        for (m, c) in self.terms() {
            match m.power(atom) {
                0 => without.push((m.clone(), *c)),
                1 => with.push((m.div(&one)?, *c)),
                _ => return None,
            }
        }
        // An admissible order stays after division.
        Some((
            Poly::from_terms(with).ok()?,
            Poly::from_terms(without).ok()?,
        ))
    }

    /// The atoms of the terms, not those within them.
    pub(super) fn atoms(&self) -> BTreeSet<Atom> {
        let all = self.terms().iter().flat_map(|(m, _)| &m.0);
        all.map(|(a, _)| a.clone()).collect()
    }

    /// The symbols, those within opaque terms and facts too, by name.
    pub fn symbols(&self) -> BTreeSet<Arc<Symbol>> {
        let mut out = BTreeSet::new();
        self.collect(&mut out);
        out
    }

    pub(super) fn collect(&self, into: &mut BTreeSet<Arc<Symbol>>) {
        for (atom, _) in self.terms().iter().flat_map(|(m, _)| &m.0) {
            match atom {
                Atom::Unit(s) => Symbol::collect(s, into),
                Atom::Floor(p, q) => {
                    p.collect(into);
                    q.collect(into);
                }
                Atom::Least(all) => all.iter().for_each(|p| p.collect(into)),
                Atom::Sign(p) => p.collect(into),
            }
        }
    }

    /// The terms as products of symbols: a coefficient, and each symbol with its power. Nothing where a term is opaque, or where
    /// a symbol would have to be divided by a number or a symbol that divides it.
    pub fn products(&self) -> Option<Vec<Product>> {
        let term = |(mono, coefficient): &(Mono, i64)| {
            let mut coefficient = *coefficient;
            let mut factors = Vec::new();
            for (atom, power) in &mono.0 {
                let Atom::Unit(symbol) = atom else {
                    return None;
                };
                for _ in 0..*power {
                    if !symbol.of.is_empty() || coefficient % symbol.div != 0 {
                        return None;
                    }
                    coefficient /= symbol.div;
                }
                factors.push((symbol.clone(), *power));
            }
            Some((coefficient, factors))
        };
        self.terms().iter().map(term).collect()
    }

    /// The value where the symbols have these values. None: a symbol has none, the facts do not hold, or something does
    /// not fit (128 bits within, 64 in the result).
    pub fn eval(&self, values: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i64> {
        i64::try_from(self.eval_wide(values)?).ok()
    }

    pub(super) fn eval_wide(&self, values: &dyn Fn(&Symbol) -> Option<i64>) -> Option<i128> {
        let mut sum = 0i128;
        for (m, c) in self.terms() {
            let mut term = i128::from(*c);
            for (atom, e) in &m.0 {
                term = term.checked_mul(atom.eval(values)?.checked_pow(*e)?)?;
            }
            sum = sum.checked_add(term)?;
        }
        Some(sum)
    }
}

impl From<i64> for Poly {
    fn from(value: i64) -> Poly {
        Poly::constant(value)
    }
}
