//! Computes whose elements follow from a few others, or from a line of them: all are computed and compared.
//!
//! With *r* the exact value, *u* the unit roundoff of the type that is computed in (f32 where the package does not say, f64
//! for tensors of f64), *v* that of the output's type, and *N* the length of a line:
//!
//! - a **copy** between equal types, and a **transpose**, is exact, byte for byte; a conversion errs by `v |r|`;
//! - **add** errs by `(u + v) |r|`; **axpby** by `v |r| + 4 u (|alpha x| + |beta y|)`: a factor, each product and their sum are
//!   rounded;
//! - **rms_norm** by `(v + u (min(N, 8 sqrt(N)) / 2 + 8) + a) |r|`: the sum of squares, of which the root halves what was lost,
//!   then a quotient, a sum, a root and two products;
//! - **softmax** by `(v + u (min(N, 8 sqrt(N)) + 8 + 5 D) + 2 a) |r|`, where *D* is the largest |x| + |maximum| of the line: what the
//!   exponent loses is what the result loses. The largest of a line's terms is 1, so an absolute error of the smallest normal
//!   number covers those that are flushed to zero;
//! - **attention** has a file of its own (`attention`).
//!
//! *a* is 2^-20 where *u* is not that of f64, as GPUs approximate exponentials, roots and quotients (PTX ISA: `ex2.approx` and
//! `rsqrt.approx` err by less than 2^-22, `div.full` by 2 units in the last place). Integers are exact.

use super::attention::{Attention, Heads};
use super::check::{Compared, Tally, row_norms, scan};
use super::report::{Method, Report};
use super::{Run, VerifyError};
use crate::element::Element;
use crate::package::Compute;
use crate::parallel::parallel_fold;
use crate::tensor::Matrix;

/// The relative error of approximations of functions.
const APPROXIMATION: f64 = 1.0 / (1 << 20) as f64;

/// The value that an element should have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    value: f64,
    allowed: f64,
    /// Tells whether the element is known to be wrong, whatever its value.
    differs: bool,
}

/// The roundings of a sum of `count` terms, in any order, as multiples of the unit roundoff of what the terms' magnitudes add up to:
/// never more than there are terms, and more than eight times the root of that for one sum in 10^13 (`2 exp(-8^2 / 2)`).
pub(super) fn roundings(count: usize) -> f64 {
    let count = count as f64;
    count.min(8.0 * count.sqrt())
}

/// Compares the output of a compute that is no product of matrices.
pub(super) fn verify(run: &Run<'_>, compute: &Compute) -> Result<Report, VerifyError> {
    let roles = compute.roles();
    let output = &roles[roles.len() - 1];
    let tensor = run.tensors[output.arg];
    let matrix = match compute {
        Compute::Attention { .. } => Matrix::stacked,
        _ => Matrix::lines,
    };
    let out = matrix(tensor);
    let mut inputs = Vec::new();
    for role in &roles {
        // The output as it was is an input where it is read.
        if role.access.reads() {
            let input = matrix(run.before(role.arg)?);
            row_norms(run.name(role.arg), &input)?;
            inputs.push(input);
        }
    }
    let mut factors = Vec::new();
    for (name, factor) in compute.factors() {
        let value = run.factor(name, factor)?;
        if name == "epsilon" && value < 0.0 {
            let expected = "numbers that are not negative";
            return Err(VerifyError::Factor {
                name,
                value,
                expected,
            });
        }
        factors.push(value);
    }
    let shape = tensor.layout().shape();
    let shape = shape.into_iter().map(|size| size as usize).collect();
    let mut report = Report::unmeasured(compute.kind(), run.name(output.arg), shape);
    if let Some(failure) = scan(run.name(output.arg), &out) {
        report.failures.push(failure);
        return Ok(report);
    }
    let all: Vec<Element> = inputs
        .iter()
        .map(Matrix::element)
        .chain([out.element()])
        .collect();
    let within = match compute.accumulate() {
        Some(text) => text.parse()?,
        None if all.contains(&Element::F64) => Element::F64,
        None => Element::F32,
    };
    let line = Line::new(within, out.element());
    let tally = match (compute, inputs.as_slice()) {
        (Compute::Copy { .. }, [src]) => compare(&out, |row, expected| {
            copy(src, &out, row, expected, |column| (row, column));
        }),
        (Compute::Transpose { .. }, [src]) => compare(&out, |row, expected| {
            copy(src, &out, row, expected, |column| (column, row));
        }),
        (Compute::Add { .. }, [a, b]) => compare(&out, |row, expected| {
            for (column, expected) in expected.iter_mut().enumerate() {
                let value = a.get(row, column) + b.get(row, column);
                *expected = line.expected(value, line.unit * value.abs());
            }
        }),
        (Compute::Axpby { .. }, [x, rest @ ..]) => {
            let (alpha, beta) = (factors[0], factors[1]);
            compare(&out, |row, expected| {
                for (column, expected) in expected.iter_mut().enumerate() {
                    let scaled = alpha * x.get(row, column);
                    let added = rest.first().map_or(0.0, |y| beta * y.get(row, column));
                    let magnitude = scaled.abs() + added.abs();
                    *expected = line.expected(scaled + added, 4.0 * line.unit * magnitude);
                }
            })
        }
        (Compute::Softmax { .. }, [x]) => {
            compare(&out, |row, expected| line.softmax(x, row, expected))
        }
        (Compute::RmsNorm { .. }, [x, weight]) => compare(&out, |row, expected| {
            line.rms_norm(x, weight, factors[0], row, expected)
        }),
        (
            Compute::Attention {
                q: of,
                k: by,
                causal,
                ..
            },
            [q, k, v],
        ) => {
            let heads = Heads::new([of, by].map(|arg| run.tensors[*arg].layout()), *causal);
            let attention = Attention::new([q, k, v], heads, factors[0], within, line);
            compare(&out, |row, expected| attention.row(row, expected))
        }
        // A package that was loaded has the tensors that its computes need.
        _ => Tally::default(),
    };
    tally.into_report(report, out.element(), Method::Full)
}

/// The expected elements of a line of a copy; `source` is where the element of that column comes from. Equal types are
/// compared byte by byte.
fn copy(
    src: &Matrix,
    out: &Matrix,
    row: usize,
    expected: &mut [Expected],
    source: impl Fn(usize) -> (usize, usize),
) {
    let same = src.element() == out.element();
    for (column, expected) in expected.iter_mut().enumerate() {
        let (i, j) = source(column);
        let value = src.get(i, j);
        let to = out.element();
        *expected = Expected {
            value,
            allowed: if same || !src.element().is_float() && !to.is_float() {
                0.0
            } else if to.is_float() {
                to.unit_roundoff() * value.abs() + to.underflow()
            } else {
                // Rounded to an integer in one way or another.
                1.0
            },
            // Equal numbers of other bytes are no copy, such as -0 of 0.
            differs: same && src.bytes(i, j) != out.bytes(row, column),
        };
    }
}

/// Compares all elements with what `expect` says of those of a row.
fn compare(out: &Matrix, expect: impl Fn(usize, &mut [Expected]) + Sync) -> Tally {
    let rows: Vec<usize> = (0..out.rows()).collect();
    let parts = parallel_fold(
        rows.chunks(16).enumerate().collect(),
        || (Vec::new(), vec![Expected::default(); out.columns()]),
        |(tallies, expected), (at, rows): (usize, &[usize])| {
            let mut tally = Tally::default();
            for &row in rows {
                expect(row, expected);
                for (column, expected) in expected.iter().enumerate() {
                    let Expected {
                        value,
                        allowed,
                        differs,
                    } = *expected;
                    tally.compare(Compared {
                        row,
                        column,
                        found: out.get(row, column),
                        expected: value,
                        allowed,
                        differs,
                        integers: None,
                        typical: allowed,
                        may_overflow: value.abs() + allowed >= out.element().max_finite(),
                    });
                }
            }
            tallies.push((at, tally));
        },
    );
    Tally::in_order(parts.into_iter().flat_map(|(tallies, _)| tallies).collect())
}

/// The exactness of computed elements.
#[derive(Clone, Copy)]
pub(super) struct Line {
    /// Unit roundoff of the type that is computed in.
    pub(super) unit: f64,
    pub(super) approximation: f64,
    /// The smallest normal number of the type that is computed in: below it, results may be flushed to zero.
    flushed: f64,
    output: Element,
}

impl Line {
    fn new(within: Element, output: Element) -> Line {
        let exact = within == Element::F64 || !within.is_float();
        Line {
            unit: within.unit_roundoff() + Element::F64.unit_roundoff(),
            approximation: if exact { 0.0 } else { APPROXIMATION },
            flushed: match within.precision() {
                Some(precision) if !exact => 2.0 * within.underflow() * 2f64.powi(precision - 1),
                _ => 0.0,
            },
            output,
        }
    }

    /// An element that errs by `error` before it is rounded to the output's type.
    pub(super) fn expected(&self, value: f64, error: f64) -> Expected {
        let rounded = self.output.unit_roundoff() * value.abs() + self.output.underflow();
        // A sum of integers that is computed in integers is exact.
        let integers = !self.output.is_float();
        let allowed = match (integers, value.fract() == 0.0) {
            (true, true) => 0.0,
            (true, false) => 1.0,
            _ => error + rounded + self.flushed,
        };
        Expected {
            value,
            allowed,
            differs: false,
        }
    }

    /// The loss of a sum of `count` terms of one sign, relative to it.
    fn sum(&self, count: usize) -> f64 {
        self.unit * roundings(count)
    }

    fn softmax(&self, x: &Matrix, row: usize, expected: &mut [Expected]) {
        let mut line = vec![0.0; x.columns()];
        x.read_row(row, 0, &mut line);
        let largest = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let reach = line.iter().fold(0.0f64, |reach, x| reach.max(x.abs())) + largest.abs();
        let sum: f64 = line.iter().map(|x| (x - largest).exp()).sum();
        let relative =
            self.sum(line.len()) + self.unit * (8.0 + 5.0 * reach) + 2.0 * self.approximation;
        for (x, expected) in line.iter().zip(expected) {
            let value = (x - largest).exp() / sum;
            *expected = self.expected(value, relative * value);
        }
    }

    fn rms_norm(
        &self,
        x: &Matrix,
        weight: &Matrix,
        epsilon: f64,
        row: usize,
        expected: &mut [Expected],
    ) {
        let mut line = vec![0.0; x.columns()];
        x.read_row(row, 0, &mut line);
        let squares: f64 = line.iter().map(|x| x * x).sum();
        let root = (squares / line.len() as f64 + epsilon).sqrt();
        let relative = self.sum(line.len()) / 2.0 + 8.0 * self.unit + self.approximation;
        for (column, (x, expected)) in line.iter().zip(expected).enumerate() {
            // Where all are 0 and epsilon is 0, nothing finite is right.
            let value = x * weight.get(0, column) / root;
            *expected = self.expected(value, relative * value.abs());
        }
    }
}
