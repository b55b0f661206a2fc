//! Integers as far as they are known: a number, and multiples of unknown numbers with known divisors.

use cute_arith::{Op, gcd};
use std::collections::HashMap;

/// An unknown number that is the same for all threads that have it.
pub(super) type Symbol = u32;

/// `constant + sum of coefficient * symbol`; symbols ascend, coefficients are not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Linear {
    pub constant: i64,
    pub terms: Vec<(Symbol, i64)>,
}

/// An operation on numbers that are not known, for which a symbol stands: the same one on the same numbers is the same symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Made {
    Quotient(Linear, i64),
    Remainder(Linear, i64),
    Part(Symbol, i64),
    Product(Symbol, Symbol),
    Other(&'static str, Vec<Linear>),
}

/// The symbols of a kernel: a number that divides each, and what they were made of.
#[derive(Default)]
pub(super) struct Symbols {
    divisors: Vec<i64>,
    made: HashMap<Made, Symbol>,
}

/// The largest divisor that is kept, beyond all periods that matter.
const MOST: i64 = 1 << 40;

/// A divisor of what `divisor` divides, at least 1 and at most [`MOST`].
fn kept(divisor: Option<i64>) -> i64 {
    match divisor.and_then(i64::checked_abs) {
        Some(divisor) if (1..=MOST).contains(&divisor) => divisor,
        Some(divisor) if divisor > MOST => gcd(divisor, MOST),
        _ => 1,
    }
}

impl From<i64> for Linear {
    fn from(constant: i64) -> Self {
        Self {
            constant,
            terms: Vec::new(),
        }
    }
}

impl Linear {
    pub(super) fn symbol(symbol: Symbol) -> Self {
        Self {
            constant: 0,
            terms: vec![(symbol, 1)],
        }
    }

    /// The number, where it is known.
    pub(super) fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn add(&self, other: &Linear) -> Option<Linear> {
        let constant = self.constant.checked_add(other.constant)?;
        if other.terms.is_empty() {
            return Some(Linear {
                constant,
                terms: self.terms.clone(),
            });
        }
        let mut terms = self.terms.clone();
        for (symbol, coefficient) in &other.terms {
            match terms.binary_search_by_key(symbol, |term| term.0) {
                Ok(at) => {
                    terms[at].1 = terms[at].1.checked_add(*coefficient)?;
                    if terms[at].1 == 0 {
                        terms.remove(at);
                    }
                }
                Err(at) => terms.insert(at, (*symbol, *coefficient)),
            }
        }
        Some(Linear { constant, terms })
    }

    pub(super) fn scale(&self, by: i64) -> Option<Linear> {
        if by == 0 {
            return Some(0.into());
        }
        Some(Linear {
            constant: self.constant.checked_mul(by)?,
            terms: self
                .terms
                .iter()
                .map(|(symbol, k)| Some((*symbol, k.checked_mul(by)?)))
                .collect::<Option<_>>()?,
        })
    }

    pub(super) fn sub(&self, other: &Linear) -> Option<Linear> {
        self.add(&other.scale(-1)?)
    }
}

impl Symbols {
    /// A new unknown number that `divisor` divides.
    pub(super) fn fresh(&mut self, divisor: i64) -> Symbol {
        self.divisors.push(kept(Some(divisor)));
        (self.divisors.len() - 1) as Symbol
    }

    fn make(&mut self, made: Made, divisor: i64) -> Symbol {
        if let Some(symbol) = self.made.get(&made) {
            return *symbol;
        }
        let symbol = self.fresh(divisor);
        self.made.insert(made, symbol);
        symbol
    }

    /// A number that divides all that is not known of `value`; 0 where all is known.
    pub(super) fn divisor(&self, value: &Linear) -> i64 {
        value.terms.iter().fold(0, |all, (symbol, k)| {
            let own = self.divisors[*symbol as usize];
            gcd(all, kept(k.checked_mul(own)))
        })
    }

    /// Returns the result of an operation that is not looked into, on these numbers.
    pub(super) fn other(&mut self, name: &'static str, of: &[&Linear]) -> Linear {
        let of = of.iter().map(|l| (*l).clone()).collect();
        Linear::symbol(self.make(Made::Other(name, of), 1))
    }

    pub(super) fn mul(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        if let Some(k) = b.known() {
            return a.scale(k);
        }
        if let Some(k) = a.known() {
            return b.scale(k);
        }
        let mut sum = a
            .scale(b.constant)?
            .add(&b.scale(a.constant)?)?
            .add(&(-a.constant.checked_mul(b.constant)?).into())?;
        for (x, j) in &a.terms {
            for (y, k) in &b.terms {
                let divisor =
                    kept(self.divisors[*x as usize].checked_mul(self.divisors[*y as usize]));
                let product = self.make(Made::Product(*x.min(y), *x.max(y)), divisor);
                sum = sum.add(&Linear::symbol(product).scale(j.checked_mul(*k)?)?)?;
            }
        }
        Some(sum)
    }

    /// `floor(a / d)`. For numbers that are not negative, as indices are, that is what every division of `arith` gives.
    pub(super) fn div(&mut self, a: &Linear, d: i64) -> Option<Linear> {
        if d <= 0 {
            return None;
        }
        if let Some(known) = a.known() {
            return Some(known.div_euclid(d).into());
        }
        let (g, whole) = self.by_divisor(a, d)?;
        if g == d {
            return Some(whole);
        }
        Some(Linear::symbol(self.make(Made::Quotient(whole, d / g), 1)))
    }

    /// The largest g that divides d and all that is not known of `a`, and `floor(a / g)`: what is below g is known, and
    /// cut off in every case.
    fn by_divisor(&mut self, a: &Linear, d: i64) -> Option<(i64, Linear)> {
        let g = gcd(self.divisor(a), d);
        let mut whole = Linear::from(a.constant.div_euclid(g));
        for (symbol, k) in &a.terms {
            let common = gcd(*k, g);
            let rest = g / common;
            let part = if rest == 1 {
                *symbol
            } else {
                let divisor = self.divisors[*symbol as usize] / rest;
                self.make(Made::Part(*symbol, rest), divisor)
            };
            whole = whole.add(&Linear::symbol(part).scale(k / common)?)?;
        }
        Some((g, whole))
    }

    /// Returns what [`Symbols::div`] leaves: what is known below the unknown numbers' divisor, and multiples of that.
    pub(super) fn rem(&mut self, a: &Linear, d: i64) -> Option<Linear> {
        if d <= 0 {
            return None;
        }
        if let Some(known) = a.known() {
            return Some(known.rem_euclid(d).into());
        }
        let (g, whole) = self.by_divisor(a, d)?;
        let low = Linear::from(a.constant.rem_euclid(g));
        if g == d {
            return Some(low);
        }
        let rest = self.make(Made::Remainder(whole, d / g), 1);
        low.add(&Linear::symbol(rest).scale(g)?)
    }

    /// A bitwise operation: known where both are, or where `b` is known and all that is not known of `a` is above it.
    pub(super) fn bits(&mut self, op: Op, a: &Linear, b: &Linear) -> Option<Linear> {
        let name = op.name();
        let (a, b) = if b.known().is_some() { (a, b) } else { (b, a) };
        let Some(mask) = b.known() else {
            return Some(self.other(name, &[a, b]));
        };
        if let Some(known) = a.known() {
            return op.exact(known, mask).map(Linear::from);
        }
        if mask < 0 {
            return Some(self.other(name, &[a, b]));
        }
        let width = 64 - mask.leading_zeros();
        if width >= 62 {
            return Some(self.other(name, &[a, b]));
        }
        let period = 1i64 << width;
        let low = self.rem(a, period)?;
        let high = a.sub(&low)?;
        let keeps_high = op.exact(period, 0)? != 0;
        let low = match low.known() {
            Some(low) => op.exact(low, mask)?.into(),
            // All of the low bits.
            None if mask == period - 1 && !keeps_high => low,
            None => return Some(self.other(name, &[a, b])),
        };
        if keeps_high {
            high.add(&low)
        } else {
            Some(low)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_cut_off_where_it_divides() {
        let mut symbols = Symbols::default();
        let s = Linear::symbol(symbols.fresh(64));
        let at = |lane: i64| s.add(&lane.into()).unwrap();
        // 64 divides the start: the warp's quarters are known.
        for lane in 0..64 {
            assert_eq!(symbols.rem(&at(lane), 16).unwrap().known(), Some(lane % 16));
            let (quarter, first) = (
                symbols.div(&at(lane), 16).unwrap(),
                symbols.div(&at(0), 16).unwrap(),
            );
            assert_eq!(quarter.sub(&first).unwrap().known(), Some(lane / 16));
        }
        // 128 does not, but it is the same for all below 64.
        let (a, b) = (
            symbols.div(&at(3), 128).unwrap(),
            symbols.div(&at(63), 128).unwrap(),
        );
        assert_eq!(a, b);
        let c = symbols.div(&at(64), 128).unwrap();
        assert_ne!(a, c);
        let rest = symbols.rem(&at(3), 128).unwrap();
        assert_eq!(rest.constant, 3);
        assert_eq!(symbols.divisor(&rest), 64);
    }

    #[test]
    fn strides_that_are_not_known_leave_their_multiples() {
        let mut symbols = Symbols::default();
        let stride = Linear::symbol(symbols.fresh(8));
        let row = symbols.mul(&stride, &5.into()).unwrap();
        assert_eq!(row.known(), None);
        assert_eq!(symbols.divisor(&row), 40);
        let other = Linear::symbol(symbols.fresh(4));
        let product = symbols.mul(&row, &other.add(&1.into()).unwrap()).unwrap();
        assert_eq!(symbols.divisor(&product), 40);
        assert_eq!(
            product,
            symbols.mul(&other.add(&1.into()).unwrap(), &row).unwrap()
        );
        assert_eq!(row.sub(&row).unwrap().known(), Some(0));
    }

    #[test]
    fn bits_below_what_is_not_known_are_known() {
        let mut symbols = Symbols::default();
        let s = Linear::symbol(symbols.fresh(32));
        let a = s.add(&13.into()).unwrap();
        let and = symbols.bits(Op::And, &a, &7.into()).unwrap();
        assert_eq!(and.known(), Some(5));
        let xor = symbols.bits(Op::Xor, &a, &6.into()).unwrap();
        assert_eq!(xor.sub(&s).unwrap().known(), Some(13 ^ 6));
        let all = symbols.bits(Op::And, &a, &63.into()).unwrap();
        assert_eq!((all.constant, symbols.divisor(&all)), (13, 32));
        let none = symbols.bits(Op::And, &a, &(-8).into()).unwrap();
        assert_eq!(symbols.divisor(&none), 1);
    }
}
