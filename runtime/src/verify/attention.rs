//! Attention: each row of the output is an average of the values, weighted by the softmax of the row's scores.
//!
//! `O(m,:) = sum over n of w(n) V(n,:)`, where `w` is the softmax of `s(n) = scale * sum over d of Q(m,d) * K(n,d)`, for each head and batch,
//! over the keys that the row has. All elements are computed and compared. With *r* the exact value, *u* the unit roundoff of the type that is computed in, *t* that of its sums
//! of products (`tolerance`: twice as much where tensor cores cut off), *v* that of the output's type, *D* the length of the
//! scores' sums and *N* the number of keys:
//!
//! - **each weight on its own** errs by a factor of `p + t min(D, 8 sqrt(D)) |scale| |Q(m,:)| |K(n,:)|`, and by half of the smallest
//!   number of V's type besides: *p* is the unit roundoff of that type, to which the terms of the softmax may be rounded before
//!   they are multiplied with V, and what a score loses is what the exponential loses (see `lines`). These errors are
//!   independent, so that they add up to no more than eight times the root of the sum of their squares (one element in 10^13 is
//!   further off: `2 exp(-8^2 / 2)`, Hoeffding), and never to more than the sum of them;
//! - **all weights together** err by a factor of `u (8 + 5 S) + 2 a + (a + 4 u + u S) R`, where *S* is the largest |s| + |maximum|.
//!   Whoever takes the keys block by block multiplies what he has by a power of the difference where the maximum grows: *R*
//!   times, at most as often as it does key by key, in the order of the keys or against it;
//! - the **sums** over n lose `t min(N, 8 sqrt(N)) (sum of w |V|) + u min(N, 8 sqrt(N)) |r|`; the quotient `(a + 2 u) |r|`; the last
//!   rounding `v |r|`.
//!
//! An error of a weight moves an element by it times `|V| + |r|`, since it enters the sum that is divided by as well. *a* is the
//! error of approximate functions, as in `lines`.

use super::lines::{Expected, Line};
use super::tolerance::unit_of_products;
use crate::element::Element;
use crate::layout::Parsed;
use crate::tensor::Matrix;
use std::ops::Range;

/// The matrices that an attention has one below the other: how many rows each has, and which keys belong to which queries.
pub(super) struct Heads {
    /// Rows of a matrix of Q, and of one of K.
    rows: [usize; 2],
    /// Elements along each mode beyond the second, of Q and of K.
    further: Vec<[usize; 2]>,
    causal: bool,
}

impl Heads {
    /// Those of tensors of these layouts, Q's and K's, whose shapes were checked.
    pub(super) fn new(layouts: [&Parsed; 2], causal: bool) -> Heads {
        let [q, k] = layouts.map(|layout| layout.shape());
        let size = |size: Option<&i64>| size.map_or(1, |size| *size as usize);
        let further = q.iter().zip(&k).skip(2);
        Heads {
            rows: [size(q.first()), size(k.first())],
            further: further.map(|(q, k)| [*q, *k].map(|n| n as usize)).collect(),
            causal,
        }
    }

    /// The rows of all keys together that a row of all queries together has.
    fn keys(&self, row: usize) -> Range<usize> {
        let [queries, keys] = self.rows;
        let (m, mut head) = (row % queries, row / queries);
        let (mut at, mut step) = (0, 1);
        for [q, k] in &self.further {
            at += step * ((head % q) * k / q);
            (head, step) = (head / q, step * k);
        }
        let count = match self.causal {
            true => (m + 1 + keys).saturating_sub(queries).min(keys),
            false => keys,
        };
        at * keys..at * keys + count
    }
}

/// The tensors of an attention, and how exact it must be.
pub(super) struct Attention<'a> {
    query: &'a Matrix<'a>,
    heads: Heads,
    keys: Vec<Vec<f64>>,
    key_norms: Vec<f64>,
    values: Vec<Vec<f64>>,
    scale: f64,
    line: Line,
    /// The relative error of an addition of products.
    product: f64,
    /// The type to which weights may be rounded.
    weight: Element,
}

/// The sums over the keys for one element.
#[derive(Clone, Copy, Default)]
struct Sums {
    value: f64,
    magnitude: f64,
    own: f64,
    own_squared: f64,
    shared: f64,
}

impl<'a> Attention<'a> {
    pub(super) fn new(
        [query, key, value]: [&'a Matrix<'a>; 3],
        heads: Heads,
        scale: f64,
        within: Element,
        line: Line,
    ) -> Attention<'a> {
        let rows = |matrix: &Matrix| -> Vec<Vec<f64>> {
            let row = |row| {
                let mut line = vec![0.0; matrix.columns()];
                matrix.read_row(row, 0, &mut line);
                line
            };
            (0..matrix.rows()).map(row).collect()
        };
        let keys = rows(key);
        let unit = |matrix: &Matrix| unit_of_products(matrix.element(), false, within).unit;
        Attention {
            query,
            heads,
            key_norms: keys.iter().map(|key| norm(key)).collect(),
            keys,
            values: rows(value),
            scale,
            line,
            product: unit(query).max(unit(key)).max(unit(value)),
            weight: value.element(),
        }
    }

    /// The elements of a row, and how far off each may be.
    pub(super) fn row(&self, row: usize, expected: &mut [Expected]) {
        let mut query = vec![0.0; self.query.columns()];
        self.query.read_row(row, 0, &mut query);
        let all = self.heads.keys(row);
        if all.is_empty() {
            expected.fill(self.line.expected(0.0, 0.0));
            return;
        }
        let [keys, values] = [&self.keys, &self.values].map(|rows| &rows[all.clone()]);
        let key_norms = &self.key_norms[all];
        let score = |key: &Vec<f64>| {
            let dot: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum();
            self.scale * dot
        };
        let scores: Vec<f64> = keys.iter().map(score).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let reach = scores.iter().fold(0.0f64, |reach, s| reach.max(s.abs())) + largest.abs();
        let terms: Vec<f64> = scores.iter().map(|s| (s - largest).exp()).collect();
        let sum: f64 = terms.iter().sum();

        let Line {
            unit,
            approximation,
            ..
        } = self.line;
        let rescales = rises(scores.iter()).max(rises(scores.iter().rev())) as f64;
        let shared = unit * (8.0 + 5.0 * reach)
            + 2.0 * approximation
            + rescales * (approximation + unit * (4.0 + reach));
        let longest = |count: usize| (count as f64).min(8.0 * (count as f64).sqrt());
        let dot = self.product * longest(query.len()) * self.scale.abs() * norm(&query);

        let mut sums = vec![Sums::default(); expected.len()];
        for (term, values) in terms.iter().zip(values) {
            for (sums, value) in sums.iter_mut().zip(values) {
                sums.value += term / sum * value;
            }
        }
        for ((term, values), key) in terms.iter().zip(values).zip(key_norms) {
            let weight = term / sum;
            let own =
                weight * (self.weight.unit_roundoff() + dot * key) + self.weight.underflow() / sum;
            for (sums, value) in sums.iter_mut().zip(values) {
                let moved = value.abs() + sums.value.abs();
                sums.magnitude += weight * value.abs();
                sums.own += own * moved;
                sums.own_squared += own * own * moved * moved;
                sums.shared += weight * moved;
            }
        }
        for (expected, sums) in expected.iter_mut().zip(sums) {
            let keys = longest(keys.len());
            let error = sums.own.min(8.0 * sums.own_squared.sqrt())
                + shared * sums.shared
                + self.product * keys * sums.magnitude
                + (unit * (keys + 2.0) + approximation) * sums.value.abs();
            *expected = self.line.expected(sums.value, error);
        }
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The number of times that the maximum grows, the first time included.
fn rises<'a>(scores: impl Iterator<Item = &'a f64>) -> usize {
    let mut largest = f64::NEG_INFINITY;
    let grows = scores.filter(|score| {
        let grows = **score > largest;
        largest = largest.max(**score);
        grows
    });
    grows.count()
}
