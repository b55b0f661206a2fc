//! Reductions of intervals ([`Ball`]) along lines, in parts.
//!
//! With *u* the unit roundoff of the reduction's type and *n* the number of terms:
//!
//! - **maximum** and **minimum** are those of the ends, and exact;
//! - **add**: the ends are summed, and then lie further apart by `u min(n, 8 sqrt(n))` times the sum of the terms' magnitudes, which is
//!   what sums in any order lose (`lines`), and are rounded. Integers are exact. Nothing is said where the magnitudes add up to more than
//!   the type holds, as a part of the sum may be too large in one order and not in another;
//! - **mean** is that, divided by *n* as a kernel divides (`region`).
//!
//! The sums of f64 here lose as much as those of a kernel in f64 do, which is added to *u*.

use super::lines::roundings;
use super::region::{Ball, apply};
use crate::element::Element;
use crate::package::{ReduceOp, ScalarOp, ValueType};

/// The numbers that a part of a line is reduced to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partial {
    op: ReduceOp,
    value: f64,
    low: f64,
    high: f64,
    /// The sum of the magnitudes.
    magnitude: f64,
    /// Tells whether something is said of all terms.
    known: bool,
}

impl Partial {
    /// The reduction of no terms.
    pub(super) fn new(op: ReduceOp) -> Partial {
        let start = op.exact(&[]);
        let start = if start.is_nan() { 0.0 } else { start };
        Partial {
            op,
            value: start,
            low: start,
            high: start,
            magnitude: 0.0,
            known: true,
        }
    }

    /// Takes another term.
    pub(super) fn add(&mut self, term: &Ball) {
        let [low, high] = term.ends();
        self.take(term.value(), [low, high], term.largest(), term.is_known());
    }

    /// Takes the terms of another part, which come after its own.
    pub(super) fn join(&mut self, other: &Partial) {
        let ends = [other.low, other.high];
        self.take(other.value, ends, other.magnitude, other.known);
    }

    fn take(&mut self, value: f64, [low, high]: [f64; 2], magnitude: f64, known: bool) {
        let both = |a: f64, b: f64| match self.op {
            ReduceOp::Add | ReduceOp::Mean => a + b,
            ReduceOp::Maximum => a.max(b),
            ReduceOp::Minimum => a.min(b),
        };
        self.value = both(self.value, value);
        self.low = both(self.low, low);
        self.high = both(self.high, high);
        self.magnitude += magnitude;
        self.known &= known;
    }

    /// The reduction of all `count` terms, in that type.
    pub(super) fn finish(&self, count: usize, ty: ValueType) -> Ball {
        let ValueType::Number(element) = ty else {
            return Ball::UNKNOWN;
        };
        if !self.known {
            return Ball::UNKNOWN;
        }
        match self.op {
            ReduceOp::Maximum | ReduceOp::Minimum => Ball::between(self.value, self.low, self.high),
            ReduceOp::Add => self.sum(count, element),
            ReduceOp::Mean => {
                let count_of_terms = Ball::exact(count as f64);
                let sum = self.sum(count, element);
                apply(ScalarOp::Div, &[sum, count_of_terms], ty)
            }
        }
    }

    fn sum(&self, count: usize, element: Element) -> Ball {
        if !element.is_float() {
            // Integers of f64 are exact below 2^53.
            return match self.magnitude < 2f64.powi(53) {
                true => Ball::between(self.value, self.low, self.high).held_by(element),
                false => Ball::UNKNOWN,
            };
        }
        let unit = element.unit_roundoff() + Element::F64.unit_roundoff();
        let loss = unit * roundings(count) * self.magnitude;
        if self.magnitude + loss > element.max_finite() {
            return Ball::UNKNOWN;
        }
        Ball::between(self.value, self.low - loss, self.high + loss)
            .rounded(ValueType::Number(element))
    }
}
