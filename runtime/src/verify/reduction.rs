//! Reductions of intervals ([`Ball`]) along lines, in parts.
//!
//! With *u* the unit roundoff of the reduction's type and *n* the number of terms:
//!
//! - **maximum** and **minimum** are those of the ends, and exact;
//! - **add**: the ends are summed, and then lie further apart by `u min(n, 8 sqrt(n))` times the sum of the terms' magnitudes, which is
//!   what sums in any order lose (`lines`), and are rounded. Integers that are known are exact, whatever their size. Nothing is said where the magnitudes add up to more than
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
    /// The reduction of integers, as long as all are known exactly.
    whole: Option<i128>,
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
            whole: match op {
                ReduceOp::Add => Some(0),
                ReduceOp::Maximum => Some(i128::MIN),
                ReduceOp::Minimum => Some(i128::MAX),
                ReduceOp::Mean => None,
            },
            known: true,
        }
    }

    /// Takes another term.
    pub(super) fn add(&mut self, term: &Ball) {
        // Most terms are no integers: the first that is none ends it.
        let whole = self.whole.and_then(|_| term.whole());
        self.take(
            term.value(),
            term.ends(),
            term.largest(),
            whole,
            term.is_known(),
        );
    }

    /// Takes the terms of another part, which come after its own.
    pub(super) fn join(&mut self, other: &Partial) {
        let ends = [other.low, other.high];
        self.take(other.value, ends, other.magnitude, other.whole, other.known);
    }

    fn take(
        &mut self,
        value: f64,
        [low, high]: [f64; 2],
        magnitude: f64,
        whole: Option<i128>,
        known: bool,
    ) {
        let both = |a: f64, b: f64| match self.op {
            ReduceOp::Add | ReduceOp::Mean => a + b,
            ReduceOp::Maximum => a.max(b),
            ReduceOp::Minimum => a.min(b),
        };
        self.value = both(self.value, value);
        self.low = both(self.low, low);
        self.high = both(self.high, high);
        self.magnitude += magnitude;
        self.whole = self.whole.zip(whole).and_then(|(a, b)| match self.op {
            ReduceOp::Add => a.checked_add(b),
            ReduceOp::Maximum => Some(a.max(b)),
            ReduceOp::Minimum => Some(a.min(b)),
            ReduceOp::Mean => None,
        });
        self.known &= known;
    }

    /// The reduction of all `count` terms, in that type.
    pub(super) fn finish(&self, count: usize, ty: ValueType) -> Ball {
        self.finish_losing(count, ty, 0.0)
    }

    /// The reduction of all `count` terms, in that type, of which a sum loses a part of the terms' magnitudes besides.
    pub(super) fn finish_losing(&self, count: usize, ty: ValueType, besides: f64) -> Ball {
        let ValueType::Number(element) = ty else {
            return Ball::UNKNOWN;
        };
        if !self.known {
            return Ball::UNKNOWN;
        }
        if let Some(whole) = self.whole
            && !element.is_float()
            && count > 0
        {
            return Ball::integer_of(whole, element);
        }
        match self.op {
            ReduceOp::Maximum | ReduceOp::Minimum => Ball::between(self.value, self.low, self.high),
            ReduceOp::Add => self.sum(count, element, besides),
            ReduceOp::Mean => {
                let count_of_terms = Ball::exact(count as f64);
                let sum = self.sum(count, element, besides);
                apply(ScalarOp::Div, &[sum, count_of_terms], ty)
            }
        }
    }

    fn sum(&self, count: usize, element: Element, besides: f64) -> Ball {
        if !element.is_float() {
            // Integers of f64 are exact below 2^53.
            return match self.magnitude < 2f64.powi(53) {
                true => Ball::between(self.value, self.low, self.high).held_by(element),
                false => Ball::UNKNOWN,
            };
        }
        let unit = element.unit_roundoff() + Element::F64.unit_roundoff();
        self.sum_losing(unit * roundings(count) + besides, element)
    }

    /// The sum, of which that part of the terms' magnitudes may be lost, in a type of floating-point numbers.
    pub(super) fn sum_losing(&self, part: f64, element: Element) -> Ball {
        let loss = part * self.magnitude;
        if !self.known {
            return Ball::UNKNOWN;
        }
        if self.magnitude + loss > element.max_finite() {
            return Ball::UNKNOWN;
        }
        Ball::between(self.value, self.low - loss, self.high + loss)
            .rounded(ValueType::Number(element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::round_to;

    /// Numbers that look random, from -1 to 1.
    fn numbers(seed: u64, count: usize) -> Vec<f64> {
        let mut state = seed;
        let next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    fn reduced(op: ReduceOp, terms: &[Ball], element: Element) -> Ball {
        // In parts of any length.
        let mut whole = Partial::new(op);
        for part in terms.chunks(7) {
            let mut partial = Partial::new(op);
            part.iter().for_each(|term| partial.add(term));
            whole.join(&partial);
        }
        whole.finish(terms.len(), ValueType::Number(element))
    }

    fn holds(ball: &Ball, value: f64) -> bool {
        let [low, high] = ball.ends();
        low <= value && value <= high
    }

    #[test]
    fn sums_in_every_order_are_held() {
        for element in [Element::F32, Element::F64] {
            for count in [1, 2, 5, 64, 1000] {
                for offset in [0.0, 1000.0, 1e-30] {
                    let terms = numbers(count as u64, count);
                    let terms: Vec<f64> = terms
                        .iter()
                        .map(|x| round_to(element, x + offset))
                        .collect();
                    let balls: Vec<Ball> = terms.iter().copied().map(Ball::exact).collect();
                    let sum = reduced(ReduceOp::Add, &balls, element);
                    let mean = reduced(ReduceOp::Mean, &balls, element);
                    let add = |sum: f64, x: &f64| round_to(element, sum + x);
                    let mut sorted = terms.clone();
                    for order in 0..5 {
                        match order {
                            0 => {}
                            1 => sorted.reverse(),
                            2 => sorted.sort_by(f64::total_cmp),
                            3 => sorted.sort_by(|a, b| b.total_cmp(a)),
                            _ => sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs())),
                        }
                        let found = sorted.iter().fold(0.0, add);
                        assert!(
                            holds(&sum, found),
                            "{element} {count} {offset}: {sum:?} {found}"
                        );
                        let found = round_to(element, found / count as f64);
                        assert!(holds(&mean, found), "{element} {count} {offset}: {mean:?}");
                        let factor = round_to(element, 1.0 / count as f64);
                        let found = round_to(element, sorted.iter().fold(0.0, add) * factor);
                        assert!(holds(&mean, found), "{element} {count} {offset}: {mean:?}");
                    }
                    // No wider than what is documented, and one rounding.
                    let magnitude: f64 = terms.iter().map(|x| x.abs()).sum();
                    let unit = element.unit_roundoff() + Element::F64.unit_roundoff();
                    let bound = unit * (roundings(count) + 2.0) * magnitude;
                    assert!(
                        sum.radius() <= bound + element.underflow(),
                        "{sum:?} {bound}"
                    );
                    let bound = bound / count as f64 + 2f64.powi(-19) * mean.value().abs();
                    assert!(mean.radius() <= bound + 1e-37, "{mean:?} {bound}");
                }
            }
        }
    }

    #[test]
    fn what_terms_may_be_is_what_the_result_may_be() {
        let terms = [
            Ball::around(1.0, 0.25),
            Ball::around(-2.0, 0.5),
            Ball::around(0.75, 1.0),
        ];
        let f64 = Element::F64;
        let sum = reduced(ReduceOp::Add, &terms, f64);
        assert!(
            holds(&sum, 1.5) && holds(&sum, -2.0) && sum.radius() < 1.75 + 1e-14,
            "{sum:?}"
        );
        let largest = reduced(ReduceOp::Maximum, &terms, f64);
        assert_eq!((largest.value(), largest.ends()), (1.0, [0.75, 1.75]));
        let least = reduced(ReduceOp::Minimum, &terms, f64);
        assert_eq!((least.value(), least.ends()), (-2.0, [-2.5, -1.5]));
        let unknown = [terms[0], Ball::UNKNOWN];
        for op in ReduceOp::ALL {
            assert!(!reduced(*op, &unknown, f64).is_known(), "{op:?}");
        }
    }

    #[test]
    fn integers_are_exact_as_far_as_they_fit() {
        let exact = |terms: &[f64]| {
            let terms: Vec<Ball> = terms.iter().copied().map(Ball::exact).collect();
            reduced(ReduceOp::Add, &terms, Element::I32)
        };
        assert_eq!(exact(&[2e9, 2e9, -3e9]), Ball::exact(1e9));
        assert!(!exact(&[2e9, 2e9]).is_known());
        assert_eq!(exact(&[2f64.powi(53), -2f64.powi(53)]), Ball::exact(0.0));
        let wide = |op: ReduceOp, terms: &[i64]| {
            let terms: Vec<Ball> = terms.iter().copied().map(Ball::integer).collect();
            reduced(op, &terms, Element::I64)
        };
        let (most, beyond) = (i64::MAX, (1 << 53) + 1);
        assert_eq!(
            wide(ReduceOp::Add, &[most, beyond, -most]).whole(),
            Some(beyond.into())
        );
        assert_eq!(
            wide(ReduceOp::Maximum, &[most - 1, most, 3]).whole(),
            Some(most.into())
        );
        assert!(!wide(ReduceOp::Add, &[most, 1]).is_known());
    }

    #[test]
    fn a_sum_that_may_overflow_on_its_way_is_not_known() {
        let terms = [3e38, 3e38, -3e38].map(Ball::exact);
        assert!(!reduced(ReduceOp::Add, &terms, Element::F32).is_known());
        assert!(!reduced(ReduceOp::Mean, &terms, Element::F32).is_known());
        assert!(reduced(ReduceOp::Add, &terms, Element::F64).is_known());
        assert_eq!(
            reduced(ReduceOp::Maximum, &terms, Element::F32).value(),
            3e38
        );
    }
}
