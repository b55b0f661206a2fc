//! Comparisons and divisibility, with proof.

use super::SymResult;
use super::poly::Poly;
use cute_arith::gcd;

/// The state of knowledge about a statement on symbolic integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Proof {
    /// It holds for all values that the facts allow.
    Proved,
    /// It holds for none of them.
    Refuted,
    /// Neither is known.
    Unknown,
}

impl Proof {
    /// Tells whether it is known to hold.
    pub fn holds(self) -> bool {
        self == Proof::Proved
    }

    fn of(proved: bool, refuted: bool) -> Proof {
        match (proved, refuted) {
            (true, _) => Proof::Proved,
            (_, true) => Proof::Refuted,
            _ => Proof::Unknown,
        }
    }
}

impl std::ops::Not for Proof {
    type Output = Proof;

    fn not(self) -> Proof {
        match self {
            Proof::Proved => Proof::Refuted,
            Proof::Refuted => Proof::Proved,
            Proof::Unknown => Proof::Unknown,
        }
    }
}

impl Poly {
    /// The least and the greatest value that are known to bound it.
    pub fn range(&self) -> (Option<i128>, Option<i128>) {
        let r = self.bounds();
        (r.lo, r.hi)
    }

    pub(super) fn is_nonzero(&self) -> bool {
        if let Some(v) = self.as_constant() {
            return v != 0;
        }
        if !self.bounds().holds(0) {
            return true;
        }
        // All else is a multiple of the slope.
        let c = i128::from(self.constant_term());
        if c % self.slope() != 0 {
            return true;
        }
        // A product of factors that are not 0.
        let mono = self.monomial();
        if mono.is_one() || mono.0.iter().any(|(a, _)| a.range().holds(0)) {
            return false;
        }
        self.reduced(&mono, 1).is_ok_and(|rest| rest.is_nonzero())
    }

    /// Tells whether the two are equal.
    pub fn prove_eq(&self, other: &Poly) -> Proof {
        if self == other {
            return Proof::Proved;
        }
        let Ok(d) = self.sub(other) else {
            return Proof::Unknown;
        };
        let range = d.bounds();
        let zero = range.lo == Some(0) && range.hi == Some(0);
        Proof::of(zero || d.is(0), d.is_nonzero())
    }

    /// Tells whether the two differ.
    pub fn prove_ne(&self, other: &Poly) -> Proof {
        !self.prove_eq(other)
    }

    /// Tells whether this is below the other.
    pub fn prove_lt(&self, other: &Poly) -> Proof {
        !other.prove_le(self)
    }

    /// Tells whether this is at most the other.
    pub fn prove_le(&self, other: &Poly) -> Proof {
        let Ok(d) = other.sub(self) else {
            return Proof::Unknown;
        };
        let range = d.bounds();
        Proof::of(
            range.lo.is_some_and(|lo| lo >= 0),
            range.hi.is_some_and(|hi| hi < 0),
        )
    }

    /// Tells whether this divides the other without a remainder. 0 divides 0 alone.
    pub fn divides(&self, other: &Poly) -> Proof {
        if other.is(0) {
            return Proof::Proved;
        }
        if self.is(0) {
            return Proof::of(false, other.is_nonzero());
        }
        if other.div_exact(self).is_some() {
            return Proof::Proved;
        }
        // A common divisor of this and all but the constant of the other must divide the constant.
        let g = gcd(self.divisor().into(), other.slope());
        let odd = g != 0 && i128::from(other.constant_term()) % g != 0;
        let refuted = odd || remainder(self, other).is_ok_and(|r| r.is_nonzero());
        Proof::of(false, refuted)
    }
}

fn remainder(by: &Poly, p: &Poly) -> SymResult<Poly> {
    p.rem_floor(by)
}
