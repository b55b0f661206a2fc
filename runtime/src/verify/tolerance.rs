//! The distance that a right result may have from the exact one.
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
//! rounding to nearest: tf32 in the place of f32 is found. Sums of products of eight-bit floats keep about 14 bits in the
//! tensor cores of sm_89 and sm_90 (DeepSeek-AI, "DeepSeek-V3 Technical Report", 2024, section 3.3.2): *u* is then at least
//! 2^-13.
//!
//! Factors that are **cut down** to a narrower type before they are multiplied (f32 to tf32) lose `t` = 2^(1-p) each, with
//! *p* its precision: `2 t |r|` where the losses are alike, and typically `2 t S / sqrt(K)` where they are not, never more
//! than `2 t S`.
//!
//! With `alpha` and `beta`, S is multiplied by |alpha|, and each of the two products and their sum is rounded once more: `3 u
//! (|alpha sum| + |beta C|)`.

use super::Data;
use crate::element::Element;

/// An element that is further off than this many typical deviations of its walk is wrong.
const WALK_LIMIT: f64 = 8.0;

/// The least *u* of sums of products of eight-bit floats.
const EIGHT_BIT_UNIT: f64 = 1.0 / 8192.0;

/// The loss of one addition in a sum of products.
pub(super) struct Unit {
    /// *u*.
    pub unit: f64,
    /// Tells whether it is towards zero.
    pub truncates: bool,
}

/// The loss of one addition of products of elements of that type, or of what they are cut down to.
pub(super) fn unit_of_products(input: Element, cut_down: bool, accumulate: Element) -> Unit {
    // The f64 reference has roundings of its own.
    let reference = Element::F64.unit_roundoff();
    let narrow = input.size() < Element::F32.size() || input == Element::Tf32 || cut_down;
    let truncates = narrow && accumulate.is_float();
    let mut unit = accumulate.unit_roundoff() * if truncates { 2.0 } else { 1.0 } + reference;
    if input.is_float() && input.size() == 1 && accumulate.is_float() {
        unit = unit.max(EIGHT_BIT_UNIT);
    }
    Unit { unit, truncates }
}

/// The types, the length and the data of a product of matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// The wider type of A's and B's elements.
    pub input: Element,
    /// The type that the elements are cut down to before they are multiplied.
    pub multiply: Option<Element>,
    pub accumulate: Element,
    pub output: Element,
    /// Length of the sums.
    pub k: usize,
    /// Tells whether the sums are scaled, or added to what was there.
    pub scaled: bool,
    pub data: Data,
}

/// The bounds for one product of matrices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Relative to |r|: the last rounding.
    last: f64,
    /// Relative to what is added up to |r|: the drift, and the roundings of a scaled sum.
    relative: f64,
    /// Relative to S.
    walk: f64,
    /// Relative to S: what even the worst order of roundings cannot exceed.
    worst_walk: f64,
    absolute: f64,
    largest: f64,
}

impl Tolerance {
    pub(super) fn new(kind: Kind) -> Tolerance {
        let Kind {
            input,
            accumulate,
            output,
            data,
            ..
        } = kind;
        let k = kind.k as f64;
        let Unit { unit, truncates } = unit_of_products(input, kind.multiply.is_some(), accumulate);
        let independent = data == Data::IndependentMeanZero;
        // What factors lose before they are multiplied.
        let cut = match kind.multiply.and_then(Element::precision) {
            Some(precision) => 2.0 * 2f64.powi(1 - precision),
            None => 0.0,
        };
        let drift = unit * if truncates { k / 2.0 } else { k.sqrt() } + cut;
        let walk =
            unit * if independent && !truncates {
                k.sqrt().min(2.0)
            } else {
                k.sqrt()
            } + cut
                * if independent {
                    (2.0 / k.sqrt()).min(1.0)
                } else {
                    1.0
                };
        // Integers are exact, unless a float accumulator is rounded to them.
        let absolute = if accumulate.is_float() && !output.is_float() {
            0.5
        } else {
            output.underflow()
        };
        Tolerance {
            last: output.unit_roundoff(),
            relative: drift + if kind.scaled { 3.0 * unit } else { 0.0 },
            walk,
            worst_walk: unit * k + cut,
            absolute,
            largest: output.max_finite(),
        }
    }

    /// The largest deviation of a right element, whose parts have that `magnitude` together.
    pub(super) fn limit(&self, reference: f64, magnitude: f64, scale: f64) -> f64 {
        self.last * reference.abs()
            + self.relative * magnitude
            + (WALK_LIMIT * self.walk).min(self.worst_walk) * scale
            + self.absolute
    }

    /// The largest deviation of a right element, relative to the element and absolute, of sums whose terms that scale bounds.
    pub(super) fn bounds(&self, scale: f64) -> [f64; 2] {
        let walk = (WALK_LIMIT * self.walk).min(self.worst_walk);
        [self.last + self.relative, walk * scale + self.absolute]
    }

    /// The bound on the root mean square of right elements' deviations.
    pub(super) fn typical(&self, reference: f64, magnitude: f64, scale: f64) -> f64 {
        self.last * reference.abs() + self.relative * magnitude + self.walk * scale + self.absolute
    }

    /// The largest, and the typical, deviation of a right sum of products that is not rounded to another type.
    pub(super) fn of_sum(&self, sum: f64, scale: f64) -> [f64; 2] {
        let drift = self.relative * sum.abs() + self.absolute;
        let walk = (WALK_LIMIT * self.walk).min(self.worst_walk);
        [walk, self.walk].map(|walk| drift + walk * scale)
    }

    /// Tells whether the exact value is so large that C's type may have no number for it.
    pub(super) fn may_overflow(&self, reference: f64, limit: f64) -> bool {
        reference.abs() + limit >= self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(t: Tolerance, k: f64) -> f64 {
        // Normal data: |r| is about sqrt(K), S about K.
        t.typical(k.sqrt(), k.sqrt(), k) / k.sqrt()
    }

    fn tolerance(types: [Element; 3], k: usize, data: Data) -> Tolerance {
        let [input, accumulate, output] = types;
        Tolerance::new(Kind {
            input,
            multiply: None,
            accumulate,
            output,
            k,
            scaled: false,
            data,
        })
    }

    #[test]
    fn half_precision_output_dominates_its_bound() {
        let t = tolerance(
            [Element::F16, Element::F32, Element::F16],
            4096,
            Data::IndependentMeanZero,
        );
        let bound = relative(t, 4096.0);
        assert!((4.8e-4..2e-3).contains(&bound), "{bound}");
    }

    #[test]
    fn single_precision_is_not_tf32() {
        let t = tolerance(
            [Element::F32, Element::F32, Element::F32],
            4096,
            Data::IndependentMeanZero,
        );
        // Rounding the inputs to 11 bits costs 2.4e-4 or more.
        assert!(relative(t, 4096.0) < 3e-5, "{}", relative(t, 4096.0));
    }

    #[test]
    fn factors_cut_down_to_tf32_are_allowed_what_they_lose() {
        let cut = |data| {
            let exact = tolerance([Element::F32; 3], 4096, data);
            let cut = Tolerance::new(Kind {
                input: Element::F32,
                multiply: Some(Element::Tf32),
                accumulate: Element::F32,
                output: Element::F32,
                k: 4096,
                scaled: false,
                data,
            });
            (relative(exact, 4096.0), relative(cut, 4096.0))
        };
        let (exact, cut_down) = cut(Data::IndependentMeanZero);
        // Two factors of 11 bits lose about 2^-10 together, and no bf16 (2^-7) hides in it.
        assert!(
            exact < 1e-4 && (1e-3..1.4e-2).contains(&cut_down),
            "{exact} {cut_down}"
        );
        assert!(cut(Data::Any).1 > cut_down);
    }

    #[test]
    fn integers_are_exact() {
        let t = tolerance([Element::I8, Element::I32, Element::I32], 1024, Data::Any);
        assert!(t.limit(1000.0, 1000.0, 60000.0) < 0.5);
    }

    #[test]
    fn short_sums_are_held_to_the_worst_case() {
        let t = tolerance([Element::F16, Element::F32, Element::F32], 1, Data::Any);
        assert!(
            t.limit(1.0, 1.0, 1.0) < 4.0 * f64::from(f32::EPSILON),
            "{}",
            t.limit(1.0, 1.0, 1.0)
        );
    }
}
