//! Monomials and their order: by degree, then by the first atom, largest exponent first. It is admissible, so that
//! division of polynomials has one remainder.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::atom::Atom;
use super::{SymError, SymResult, limits};

/// A product of powers of atoms, the atoms ascending, the exponents at least 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Mono(pub SmallVec<[(Atom, u32); 2]>);

impl Mono {
    pub(super) fn one() -> Mono {
        Mono::default()
    }

    pub(super) fn of(atom: Atom) -> Mono {
        Mono(SmallVec::from_iter([(atom, 1)]))
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn degree(&self) -> u32 {
        self.0.iter().map(|(_, e)| e).sum()
    }

    /// The exponent of an atom.
    pub(super) fn power(&self, atom: &Atom) -> u32 {
        self.0
            .iter()
            .find(|(a, _)| a == atom)
            .map_or(0, |(_, e)| *e)
    }

    pub(super) fn mul(&self, other: &Mono) -> SymResult<Mono> {
        if self.degree() + other.degree() > limits::DEGREE {
            return Err(SymError::TooLarge {
                what: "factors in a term",
                limit: limits::DEGREE as usize,
            });
        }
        let mut out = SmallVec::with_capacity(self.0.len() + other.0.len());
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let next = match order {
                Ordering::Less => a.next().map(|(x, e)| x.power(*e)),
                Ordering::Greater => b.next().map(|(x, e)| x.power(*e)),
                Ordering::Equal => a
                    .next()
                    .zip(b.next())
                    .map(|((x, e), (_, f))| x.power(e + f)),
            };
            out.extend(next.filter(|(_, e)| *e > 0));
        }
        Ok(Mono(out))
    }

    /// `self / other`, where `other` divides it atom by atom.
    pub(super) fn div(&self, other: &Mono) -> Option<Mono> {
        let mut out = SmallVec::new();
        let mut rest = other.0.iter().peekable();
        for (a, e) in &self.0 {
            match rest.next_if(|(b, _)| a == b) {
                Some((_, f)) if f > e => return None,
                Some((_, f)) if f == e => {}
                Some((_, f)) => out.push((a.clone(), e - f)),
                None => out.push((a.clone(), *e)),
            }
        }
        rest.peek().is_none().then_some(Mono(out))
    }

    /// The largest common divisor, atom by atom.
    pub(super) fn common(&self, other: &Mono) -> Mono {
        let shared = self
            .0
            .iter()
            .map(|(a, e)| (a.clone(), *e.min(&other.power(a))));
        Mono(shared.filter(|(_, e)| *e > 0).collect())
    }
}

impl Ord for Mono {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_degree = self.degree().cmp(&other.degree());
        if by_degree != Ordering::Equal {
            return by_degree;
        }
        for ((a, e), (b, f)) in self.0.iter().zip(&other.0) {
            // The smaller atom is the more significant one.
            match b.cmp(a).then(e.cmp(f)) {
                Ordering::Equal => {}
                order => return order,
            }
        }
        Ordering::Equal
    }
}

impl PartialOrd for Mono {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
