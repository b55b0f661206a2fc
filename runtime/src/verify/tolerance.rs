//! How far a right result may be from the exact one.
//!
//! `C(m,n) = sum over k of A(m,k) * B(n,k)`: the products are exact or rounded in the accumulator's
//! type, whose roundings add up, and the sum is rounded once to C's type. With *r* the exact value,
//! *u* the accumulator's unit roundoff, *v* that of C's type, *K* the length of the sum and *S* =
//! |A(m,:)| |B(n,:)| (Euclidean norms; *S* bounds the sum of all |a b|):
//!
//! - the last rounding errs by at most `v |r|`, or half of the smallest subnormal;
//! - **drift**: partial sums that grow evenly towards *r* lose `u |r| sqrt(K)` where roundings are
//!   to nearest, and `u |r| K / 2` where they are all towards zero;
//! - **walk**: partial sums that come and go lose, typically, `2 u S` for independent terms of mean
//!   zero rounded to nearest, and `u S sqrt(K)` in any other case (Higham and Mary, "A New Approach
//!   to Probabilistic Rounding Error Analysis", 2019, theorem 2.4). Eight times that is exceeded by
//!   one element in 10^13 (`2 exp(-8^2 / 2)`); `u S K` never is.
//!
//! Tensor cores cut additions off instead of rounding them (Fasi, Higham, Mikaitis, Pranesh,
//! "Numerical behavior of NVIDIA tensor cores", 2021), so *u* is doubled, and roundings are towards
//! zero, wherever the inputs are narrower than f32. Sums of f32 or f64 products are held to
//! rounding to nearest: tf32 in the place of f32 is found.

use super::Data;
use crate::element::Element;

/// An element that is further off than this many typical deviations of its walk is wrong.
const WALK_LIMIT: f64 = 8.0;

/// The bounds for one product of matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Relative to |r|: the last rounding and the drift.
    relative: f64,
    /// Relative to S.
    walk: f64,
    /// Relative to S: what even the worst order of roundings cannot exceed.
    worst_walk: f64,
    absolute: f64,
    largest: f64,
}

impl Tolerance {
    pub(super) fn new(
        input: Element,
        accumulate: Element,
        output: Element,
        k: usize,
        data: Data,
    ) -> Tolerance {
        let k = k as f64;
        // The f64 reference has roundings of its own.
        let reference = Element::F64.unit_roundoff();
        let truncates = input.size() < Element::F32.size() && accumulate.is_float();
        let unit = accumulate.unit_roundoff() * if truncates { 2.0 } else { 1.0 } + reference;
        let drift = unit * if truncates { k / 2.0 } else { k.sqrt() };
        let independent = data == Data::IndependentMeanZero && !truncates;
        let walk = unit
            * if independent {
                k.sqrt().min(2.0)
            } else {
                k.sqrt()
            };
        // Integers are exact, unless a float accumulator is rounded to them.
        let absolute = if accumulate.is_float() && !output.is_float() {
            0.5
        } else {
            output.underflow()
        };
        Tolerance {
            relative: output.unit_roundoff() + drift,
            walk,
            worst_walk: unit * k,
            absolute,
            largest: output.max_finite(),
        }
    }

    /// The largest deviation of a right element.
    pub(super) fn limit(&self, reference: f64, scale: f64) -> f64 {
        self.relative * reference.abs()
            + (WALK_LIMIT * self.walk).min(self.worst_walk) * scale
            + self.absolute
    }

    /// What the root mean square of right elements' deviations stays below.
    pub(super) fn typical(&self, reference: f64, scale: f64) -> f64 {
        self.relative * reference.abs() + self.walk * scale + self.absolute
    }

    /// Whether the exact value is so large that C's type may have no number for it.
    pub(super) fn may_overflow(&self, reference: f64, limit: f64) -> bool {
        reference.abs() + limit >= self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(t: Tolerance, k: f64) -> f64 {
        // Normal data: |r| is about sqrt(K), S about K.
        t.typical(k.sqrt(), k) / k.sqrt()
    }

    #[test]
    fn half_precision_output_dominates_its_bound() {
        let t = Tolerance::new(
            Element::F16,
            Element::F32,
            Element::F16,
            4096,
            Data::IndependentMeanZero,
        );
        let bound = relative(t, 4096.0);
        assert!((4.8e-4..2e-3).contains(&bound), "{bound}");
    }

    #[test]
    fn single_precision_is_not_tf32() {
        let t = Tolerance::new(
            Element::F32,
            Element::F32,
            Element::F32,
            4096,
            Data::IndependentMeanZero,
        );
        // Rounding the inputs to 11 bits costs 2.4e-4 or more.
        assert!(relative(t, 4096.0) < 3e-5, "{}", relative(t, 4096.0));
    }

    #[test]
    fn integers_are_exact() {
        let t = Tolerance::new(Element::I8, Element::I32, Element::I32, 1024, Data::Any);
        assert!(t.limit(1000.0, 60000.0) < 0.5);
    }

    #[test]
    fn short_sums_are_held_to_the_worst_case() {
        let t = Tolerance::new(Element::F16, Element::F32, Element::F32, 1, Data::Any);
        assert!(
            t.limit(1.0, 1.0) < 4.0 * f64::from(f32::EPSILON),
            "{}",
            t.limit(1.0, 1.0)
        );
    }
}
