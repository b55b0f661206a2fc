//! Whether a result is right.
//!
//! The reference is computed in f64. Up to [`Config::full_limit`] multiply-adds every element is
//! computed and compared. Beyond that, three checks stand together:
//!
//! 1. **Every element** is looked at for poison and NaN, and enters eight *probes* (after
//!    Freivalds, 1977). Rows of C are cut into segments of G elements. For random signs x, `sum of
//!    x(n) C(m,n)` over a segment must equal `sum over k of A(m,k) * (sum of x(n) B(n,k))` up to a
//!    threshold T, which is seven times the typical deviation of G right elements (a false alarm in
//!    one of 10^10 sums: `2 exp(-7^2 / 2)`, Hoeffding). It follows that
//!    - a segment with one wrong element is found if that is off by more than 2 T (but for the one
//!      in 10^10);
//!    - a segment with any number of wrong elements, of which one is off by more than T, is missed
//!      by one probe with probability at most 1/2 (of two opposite signs of that element at most
//!      one hides it), by all eight with 0.4 %. Rows share the signs, so errors that are alike in
//!      several rows may be missed together: that is what the second check is for.
//!
//!    G is chosen so that the probes take at most [`Config::probe_budget`] multiply-adds.
//! 2. **Sampled rows and columns** (64 of each; at borders of tiles, and random ones) are computed
//!    and compared in full: an error that repeats in all rows, or in all columns, is found with
//!    certainty.
//! 3. The **norm** of all deviations, which the probes estimate without bias, must stay below that
//!    of typical deviations: it finds an accumulator that is less precise than the function says.
//!
//! `tolerance` states the bounds and their reasons. Padding between the elements of an output,
//! which nothing may write, is compared byte by byte.

mod check;
mod probe;
mod reference;
mod report;
mod tolerance;

#[cfg(test)]
mod tests;

use std::time::Instant;

pub use report::{Deviation, Failure, Method, Report};

use crate::element::{Element, UnknownElement};
use crate::package::{Compute, Function};
use crate::tensor::{ArgError, HostTensor, Matrix, changed_gap, check_args};
use tolerance::Tolerance;

/// What is known of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// As [`crate::tensor::generate`] makes them: rounding errors then cancel better than in
    /// general.
    IndependentMeanZero,
    Any,
}

/// How much work a verification may be.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of the probes' signs and of the sampled rows and columns.
    pub seed: u64,
    pub data: Data,
    /// Multiply-adds up to which every element is computed.
    pub full_limit: u64,
    /// Multiply-adds that the probes take together, about.
    pub probe_budget: u64,
    /// Rows, and as many columns, that are computed in full beyond `full_limit`.
    pub lines: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            seed: 0,
            data: Data::Any,
            full_limit: 1 << 31,
            probe_budget: 1 << 33,
            lines: 64,
        }
    }
}

/// Why nothing can be said about a result.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(
        "function {0} does not say what it computes, so its result cannot be verified; pass --no-verify"
    )]
    NoMeaning(String),
    #[error(transparent)]
    Args(#[from] ArgError),
    #[error(transparent)]
    Element(#[from] UnknownElement),
    #[error(transparent)]
    Package(#[from] crate::package::PackageError),
    #[error(
        "argument {name} is {value} at ({row},{column}); the result can be verified for finite inputs only: \
         change the input, or pass --no-verify"
    )]
    NotFinite {
        name: String,
        value: f64,
        row: usize,
        column: usize,
    },
    #[error(
        "the exact result at ({row},{column}) is {value}, which {element} cannot hold; \
         scale the inputs down, or pass --no-verify"
    )]
    Overflow {
        value: f64,
        row: usize,
        column: usize,
        element: Element,
    },
}

/// Compares what a function wrote with what it means: one report for each of its computes.
/// `tensors` are its arguments after the launch; those that it only reads must still hold the
/// inputs.
///
/// # Errors
/// [`VerifyError`] if nothing can be said. A wrong result is no error: see [`Report::passed`].
pub fn verify(
    function: &Function,
    tensors: &[HostTensor],
    config: &Config,
) -> Result<Vec<Report>, VerifyError> {
    check_args(function, tensors)?;
    if function.computes.is_empty() {
        return Err(VerifyError::NoMeaning(function.name.clone()));
    }
    function
        .computes
        .iter()
        .map(|compute| verify_compute(function, compute, tensors, config))
        .collect()
}

/// The matrices of one product, checked to fit together, and how exact it must be.
struct Product<'a> {
    names: [&'a str; 3],
    a: Matrix<'a>,
    b: Matrix<'a>,
    c: Matrix<'a>,
    m: usize,
    n: usize,
    k: usize,
    tolerance: Tolerance,
    /// Euclidean norms of A's and of B's rows.
    a_norms: Vec<f64>,
    b_norms: Vec<f64>,
}

fn verify_compute(
    function: &Function,
    compute: &Compute,
    tensors: &[HostTensor],
    config: &Config,
) -> Result<Report, VerifyError> {
    let start = Instant::now();
    let Compute::Gemm {
        a,
        b,
        c,
        accumulate,
        tolerance,
    } = compute;
    let indices = [*a, *b, *c];
    crate::package::gemm_shape(&format!("function {}", function.name), function, indices)?;
    let matrix = |index: usize| {
        let name = function.args[index].name();
        let error = || crate::layout::LayoutError {
            text: tensors[index].layout().text().to_string(),
            reason: "expected two modes".into(),
        };
        let matrix = Matrix::new(&tensors[index]);
        matrix.ok_or_else(|| ArgError::BadLayout {
            name: name.to_string(),
            error: error(),
        })
    };
    let [a, b, c] = [matrix(*a)?, matrix(*b)?, matrix(*c)?];
    let (m, n, k) = (c.rows(), c.columns(), a.columns());
    let accumulate: Element = accumulate.parse()?;
    let wider = if a.element().size() >= b.element().size() {
        a.element()
    } else {
        b.element()
    };
    let names = indices.map(|index| function.args[index].name());
    let mut product = Product {
        names,
        m,
        n,
        k,
        tolerance: Tolerance::new(wider, accumulate, c.element(), k, config.data),
        a_norms: check::row_norms(names[0], &a)?,
        b_norms: check::row_norms(names[1], &b)?,
        a,
        b,
        c,
    };

    let mut failures = Vec::new();
    if let Some(byte) = changed_gap(&function.args[indices[2]], &tensors[indices[2]]) {
        failures.push(Failure::Padding {
            name: names[2].to_string(),
            byte,
        });
    }
    let mut report = match check::scan(&product) {
        Some(failure) => {
            failures.push(failure);
            Report::unmeasured(&product)
        }
        None if (m as u64).saturating_mul(n as u64).saturating_mul(k as u64)
            <= config.full_limit =>
        {
            check::compare_all(&product)?
        }
        None => probe::compare_probed(&mut product, config)?,
    };
    failures.append(&mut report.failures);
    report.failures = failures;
    report.apply_norm_limit(*tolerance);
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}
