//! Division: of polynomials, and rounded.

use super::atom::{Atom, factors};
use super::order::Mono;
use super::poly::{Poly, Sum};
use super::{SymError, SymResult, limits};
use cute_arith::gcd;

impl Poly {
    // `self = q * by + r`, with the one r of which no term can be reduced: where the leading monomial of `by` divides a
    // monomial, the coefficient lies in (-l/2, l/2] for the leading coefficient l, and the constant in [0, l) where `by` is
    // the constant l.
    pub(super) fn div_rem(&self, by: &Poly) -> SymResult<(Poly, Poly)> {
        const OP: &str = "divide";
        let Some((top, lead)) = by.terms().first() else {
            return Err(SymError::DivisionByZero {
                op: OP,
                dividend: self.to_string(),
            });
        };
        let lead = i128::from(*lead);
        let (mut rest, mut quotient, mut remainder) =
            (Sum::default(), Sum::default(), Sum::default());
        rest.add_poly(self, 1, &Mono::one(), OP)?;
        let mut steps = 0;
        while let Some((mono, c)) = rest.pop() {
            steps += 1;
            if steps > limits::STEPS {
                return Err(SymError::TooLarge {
                    what: "steps of a division",
                    limit: limits::STEPS,
                });
            }
            let Some(factor) = mono.div(top) else {
                remainder.add(mono, c, OP)?;
                continue;
            };
            let mut left = c.rem_euclid(lead);
            if !mono.is_one() && 2 * left > lead.abs() {
                left -= lead.abs();
            }
            let k = (c - left) / lead;
            if k != 0 {
                for (m, c) in &by.terms()[1..] {
                    let c = i128::from(*c).checked_mul(-k);
                    let c = c.ok_or(SymError::Overflow { op: OP })?;
                    rest.add(m.mul(&factor)?, c, OP)?;
                }
                quotient.add(factor, k, OP)?;
            }
            remainder.add(mono, left, OP)?;
        }
        Ok((quotient.finish(OP)?, remainder.finish(OP)?))
    }

    /// The quotient, if it is known that the division has no remainder and that the divisor is not 0.
    pub fn div_exact(&self, by: &Poly) -> Option<Poly> {
        if !by.is_nonzero() {
            return None;
        }
        if let Ok((q, r)) = self.div_rem(by)
            && r.is(0)
        {
            return Some(q);
        }
        // A floor may be opaque, and its multiple the dividend all the same.
        let q = self.div_floor(by).ok()?;
        (q.mul(by).ok()? == *self).then_some(q)
    }

    /// The same. Errors: it is not known that there is no remainder.
    pub fn exact(&self, by: &Poly) -> SymResult<Poly> {
        if by.is(0) {
            return Err(SymError::DivisionByZero {
                op: "/",
                dividend: self.to_string(),
            });
        }
        self.div_exact(by).ok_or_else(|| {
            if !by.is_nonzero() {
                return SymError::UnknownSign {
                    op: "/",
                    divisor: by.to_string(),
                };
            }
            SymError::NotExact {
                dividend: self.to_string(),
                divisor: by.to_string(),
                need: self.needs(by),
            }
        })
    }

    // Facts, a divisor of one symbol each, with which `by` divides every term.
    fn needs(&self, by: &Poly) -> Option<String> {
        let [(below, d)] = by.terms() else {
            return None;
        };
        let mut facts: Vec<String> = Vec::new();
        for (mono, c) in self.terms() {
            let shared = mono.common(below);
            let rest = below.div(&shared)?;
            let number = i128::from(*d).abs() / gcd::<i128>((*d).into(), (*c).into()).max(1);
            if number == 1 && rest.is_one() {
                continue;
            }
            // A symbol of the term that is no part of the divisor.
            let symbol = mono.0.iter().find_map(|(a, _)| match a {
                Atom::Unit(s) if below.power(a) == 0 => Some(s),
                _ => None,
            })?;
            // The symbol's own divisor times what is missing, or simply all of `by`.
            let missing = || -> SymResult<Poly> {
                let own = Poly::of_symbol(symbol)?.split(&Atom::Unit(symbol.clone()));
                let own = own.map(|(own, _)| own);
                let number = i64::try_from(number).unwrap_or(i64::MAX);
                let factor = Poly::monic(rest.clone())?.mul(&Poly::constant(number))?;
                own.unwrap_or(Poly::constant(1)).mul(&factor)
            };
            let texts = [missing().ok()?.to_string(), by.to_string()];
            let text = texts.into_iter().find(|t| !t.contains('/'))?;
            let product = match text.contains(['*', '^']) {
                true => format!("({text})"),
                false => text,
            };
            let fact = format!("{} % {product} == 0", symbol.name);
            if !facts.contains(&fact) {
                facts.push(fact);
            }
        }
        (!facts.is_empty()).then(|| facts.join(", "))
    }

    // Dividend and divisor with the divisor made positive.
    fn positive(&self, by: &Poly, op: &'static str) -> SymResult<(Poly, Poly)> {
        let range = by.bounds();
        if range.lo.is_some_and(|lo| lo > 0) {
            return Ok((self.clone(), by.clone()));
        }
        if range.hi.is_some_and(|hi| hi < 0) {
            return Ok((self.neg()?, by.neg()?));
        }
        if by.is(0) {
            let dividend = self.to_string();
            return Err(SymError::DivisionByZero { op, dividend });
        }
        let divisor = by.to_string();
        Err(SymError::UnknownSign { op, divisor })
    }

    /// The quotient, rounded towards negative infinity. Errors: a divisor of unknown sign; overflow; too large.
    ///
    /// Canonical: multiples of the divisor, common factors and floors within are taken out; what bounds decide is decided;
    /// of `floor(p/q)` and `-floor((-p + q - 1)/q)` the one whose dividend has the larger leading coefficient stands for
    /// both.
    pub fn div_floor(&self, by: &Poly) -> SymResult<Poly> {
        let (p, q) = self.positive(by, "floor_div")?;
        floor(p, q, limits::DEPTH * 4)
    }

    /// The quotient, rounded towards positive infinity. Errors as [`Poly::div_floor`].
    pub fn ceil_div(&self, by: &Poly) -> SymResult<Poly> {
        let (p, q) = self.positive(by, "ceil_div")?;
        floor(p.neg()?, q, limits::DEPTH * 4)?.neg()
    }

    /// The quotient, rounded towards zero, as C divides. Errors as [`Poly::div_floor`].
    pub fn div_trunc(&self, by: &Poly) -> SymResult<Poly> {
        if let Some(q) = self.div_exact(by) {
            return Ok(q);
        }
        let (p, q) = self.positive(by, "div")?;
        let range = p.bounds();
        if range.lo.is_some_and(|lo| lo >= 0) {
            p.div_floor(&q)
        } else if range.hi.is_some_and(|hi| hi <= 0) {
            p.ceil_div(&q)
        } else {
            p.signum()?.mul(&p.abs()?.div_floor(&q)?)
        }
    }

    /// The remainder with the sign of the dividend, as in C. Errors as [`Poly::div_floor`].
    pub fn rem(&self, by: &Poly) -> SymResult<Poly> {
        self.sub(&self.div_trunc(by)?.mul(by)?)
    }

    /// The remainder with the sign of the divisor: `p - q*floor(p/q)`. Errors as [`Poly::div_floor`].
    pub fn rem_floor(&self, by: &Poly) -> SymResult<Poly> {
        self.sub(&self.div_floor(by)?.mul(by)?)
    }
}

// The floor of p / q, where q is at least 1.
fn floor(p: Poly, q: Poly, fuel: u32) -> SymResult<Poly> {
    if q.is(1) {
        return Ok(p);
    }
    let (whole, r) = p.div_rem(&q)?;
    let rest = match simpler(&r, &q, fuel)? {
        Some(v) => v,
        None => {
            // -floor((-r + q - 1) / q) is the same number.
            let (other_whole, other) = q
                .plus(&r, -1, "floor_div")?
                .add(&(-1).into())?
                .div_rem(&q)?;
            match simpler(&other, &q, fuel)? {
                Some(v) => v.add(&other_whole)?.neg()?,
                None if r.sub(&other)?.leading() >= 0 => {
                    Poly::of_atom(Atom::Floor(r.bounded(), q.bounded()))?
                }
                None => Poly::of_atom(Atom::Floor(other.bounded(), q.bounded()))?
                    .add(&other_whole)?
                    .neg()?,
            }
        }
    };
    whole.add(&rest)
}

// The floor of r / q without an atom for just this quotient, if there is a law that makes it simpler. `r` is a remainder.
fn simpler(r: &Poly, q: &Poly, fuel: u32) -> SymResult<Option<Poly>> {
    if let Some(v) = decided(r, q)? {
        return Ok(Some(v));
    }
    let Some(fuel) = fuel.checked_sub(1) else {
        return Ok(None);
    };
    // Only what is known to be positive divides, so that the text of the result can be read back.
    let positive = |q: &Poly| q.bounds().lo.is_some_and(|lo| lo > 0);
    // floor(g*r / g*q) = floor(r / q) for a positive monomial g.
    let mono = factors(&r.monomial().common(&q.monomial()), 1);
    if !mono.is_one() {
        let q = q.reduced(&mono, 1)?;
        if positive(&q) {
            return floor(r.reduced(&mono, 1)?, q, fuel).map(Some);
        }
    }
    // floor((g*r + c) / g*q) = floor((r + floor(c/g)) / q) for a positive number g.
    let g = gcd(r.slope(), q.divisor().into());
    if g > 1 {
        let c = i128::from(r.constant_term());
        let down = r.add(&Poly::constant(-(c.rem_euclid(g) as i64)))?;
        let q = q.reduced(&Mono::one(), g)?;
        if positive(&q) {
            return floor(down.reduced(&Mono::one(), g)?, q, fuel).map(Some);
        }
    }
    // floor((floor(a/b) + s) / q) = floor((a + b*s) / (b*q)); below a minus, ceil(x/q) = floor((x + q - 1)/q).
    let atoms = r.atoms();
    let mut floors = atoms.iter().filter(|a| matches!(a, Atom::Floor(..)));
    if let (Some(atom @ Atom::Floor(a, b)), None) = (floors.next(), floors.next())
        && let Some((factor, s)) = r.split(atom)
    {
        let below = b.mul(q)?;
        if factor.is(1) && positive(&below) {
            return floor(a.add(&b.mul(&s)?)?, below, fuel).map(Some);
        }
        if factor.is(-1) && positive(&below) {
            let s = q.sub(&s)?.add(&(-1).into())?;
            return floor(a.add(&b.mul(&s)?)?, below, fuel)?.neg().map(Some);
        }
    }
    Ok(None)
}

// The floor of r / q, if bounds leave one value.
fn decided(r: &Poly, q: &Poly) -> SymResult<Option<Poly>> {
    if let Some(c) = q.as_constant() {
        let range = r.bounds();
        let at = |v: Option<i128>| v.map(|v| v.div_euclid(c.into()));
        let (lo, hi) = (at(range.lo), at(range.hi));
        return Ok(match lo {
            Some(v) if lo == hi => i64::try_from(v).ok().map(Poly::constant),
            _ => None,
        });
    }
    for k in [0, -1, 1] {
        let over = r.plus(q, -k, "floor_div")?.bounds();
        let below = r.plus(q, -k - 1, "floor_div")?.bounds();
        if over.lo.is_some_and(|lo| lo >= 0) && below.hi.is_some_and(|hi| hi < 0) {
            return Ok(Some(Poly::constant(k as i64)));
        }
    }
    Ok(None)
}
