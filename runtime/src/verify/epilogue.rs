//! Products of matrices with an epilogue: what a region makes of each sum is compared with what it makes of the exact one.
//!
//! The sum is off by what `tolerance` says of it before it is rounded, and what the region makes of that follows from `region`. A
//! norm is checked as that of a plain product is: the typical deviation of an element is what the region makes of the typical
//! deviation of its sum; where a small difference may make a large one (whole numbers, comparisons), what it makes of the largest,
//! so that the norm finds nothing then that the comparison of elements does not.
//!
//! No probe goes through a region that is not linear. Of a product that is too large to be compared as a whole, rows and columns are,
//! one at a random place of each of as many equal bands as the budget allows: every tile that is as high as a band and begins with
//! one is met, every other one if it is twice as high, and with columns it is the same. All elements are looked at for what was never
//! written, and those that are NaN are compared.

use super::check::{Compared, Found, Tally, look, row_norms, tally_lines};
use super::region::{Ball, Evaluator};
use super::report::{Failure, Method, Report};
use super::{Config, Product, Run, VerifyError};
use crate::element::Element;
use crate::package::{Epilogue, Gemm};
use crate::tensor::{Matrix, SplitMix, mix};

/// Multiply-adds that take as long as one operation of a region, about.
pub(super) const OPERATION: usize = 64;

/// NaNs of which each is compared.
pub(super) const NANS: usize = 1024;

/// A product of matrices and its epilogue.
struct Elements<'a> {
    product: Product<'a>,
    accumulate: Element,
    inputs: Vec<Matrix<'a>>,
    names: Vec<&'a str>,
    outputs: Vec<Matrix<'a>>,
    yields: &'a [usize],
    evaluator: Evaluator<'a>,
    /// Tells whether the norm is that of the largest deviations.
    jumps: bool,
}

/// One product of a batch, or the only one: a report for each output.
pub(super) fn verify<'a>(
    run: &Run<'a>,
    gemm: &'a Gemm,
    epilogue: &'a Epilogue,
    index: usize,
    config: &Config,
) -> Result<Vec<Report>, VerifyError> {
    let accumulate: Element = gemm.accumulate.parse()?;
    let product = run.product(gemm, index, config, Some(accumulate))?;
    let mut inputs = Vec::new();
    for input in &epilogue.inputs {
        let matrix = run.matrix(*input, run.before(*input)?, index)?;
        row_norms(run.name(*input), &matrix)?;
        inputs.push(matrix);
    }
    let (mut outputs, mut names) = (vec![product.c.clone()], vec![run.name(gemm.c)]);
    for output in &epilogue.outputs {
        outputs.push(run.matrix(*output, &run.tensors[*output], index)?);
        names.push(run.name(*output));
    }
    let region = &epilogue.region;
    let evaluator = run.evaluator(
        "a scalar of the epilogue",
        region,
        &inputs,
        Some(accumulate),
    )?;
    let elements = Elements {
        jumps: evaluator.jumps(),
        accumulate,
        inputs,
        names,
        outputs,
        yields: &epilogue.region.yields,
        evaluator,
        product,
    };
    elements.verify(config)
}

impl Elements<'_> {
    fn verify(&self, config: &Config) -> Result<Vec<Report>, VerifyError> {
        let Product { m, n, k, .. } = self.product;
        let each = k.saturating_add(OPERATION * self.evaluator.operations());
        let each = each.max(1) as u64;
        let of = |elements: usize| (elements as u64).saturating_mul(each).max(1);
        let all = |count: usize| (0..count).collect::<Vec<_>>();
        let (rows, columns) = if of(m).saturating_mul(n as u64) <= config.full_limit {
            (m, n)
        } else {
            let half = config.probe_budget / 2;
            let lines = |budget: u64, total: usize| (budget.max(1) as usize).min(total);
            (lines(half / of(n), m), lines(half / of(m), n))
        };
        let full = rows == m || columns == n;
        let looked: Vec<_> = self.outputs.iter().map(|c| look(c, NANS)).collect();
        let mut tallies = if full {
            self.compare(&all(m), &all(n))
        } else {
            let chosen = bands(m, rows, mix(config.seed, 1));
            let mut tallies = self.compare(&chosen, &all(n));
            let chosen = bands(n, columns, mix(config.seed, 2));
            for (tally, of) in tallies.iter_mut().zip(self.compare(&all(m), &chosen)) {
                tally.join(of);
            }
            tallies
        };
        let method = match full {
            true => Method::Full,
            false => Method::Sampled { rows, columns },
        };
        let mut reports = Vec::new();
        for (at, (looked, name)) in looked.into_iter().zip(&self.names).enumerate() {
            let shape = vec![m, n, k];
            let mut report = Report::unmeasured("gemm", name, shape);
            if let Some(failure) = looked.unwritten_failure(name) {
                report.failures.push(failure);
                reports.push(report);
                continue;
            }
            report
                .failures
                .extend(self.unexpected_nan(at, &looked.nans));
            let tally = std::mem::take(&mut tallies[at]);
            if tally.compared == 0 && tally.undecided > 0 {
                return Err(VerifyError::Undecided(name.to_string()));
            }
            reports.push(tally.into_report(report, self.outputs[at].element(), method.clone())?);
        }
        Ok(reports)
    }

    /// The NaNs of an output that the region gives for no right sum.
    fn unexpected_nan(&self, output: usize, nans: &[(usize, usize)]) -> Option<Failure> {
        let mut found = Found::default();
        for &(row, column) in nans {
            if self.compare(&[row], &[column])[output].compared > 0 {
                found.add(row, column);
            }
        }
        let (row, column) = found.first?;
        Some(Failure::NotANumber {
            name: self.names[output].to_string(),
            count: found.count,
            row,
            column,
        })
    }

    /// Compares the elements of those rows and columns, of each output.
    fn compare(&self, rows: &[usize], columns: &[usize]) -> Vec<Tally> {
        let values = || [Vec::new(), Vec::new()];
        let outputs = self.outputs.len();
        tally_lines(
            &self.product,
            [rows, columns],
            outputs,
            values,
            |values, tallies, at, sum| {
                self.compare_element(at[0], at[1], sum, values, tallies);
            },
        )
    }

    fn compare_element(
        &self,
        row: usize,
        column: usize,
        sum: f64,
        [limits, typical]: &mut [Vec<Ball>; 2],
        tallies: &mut [Tally],
    ) {
        let scale = self.product.scale(row, column);
        let [limit, usual] = match self.accumulate.is_float() {
            true => {
                let slack = self.product.slack(row, column);
                let of_sum = self.product.tolerance.of_sum(sum, scale);
                of_sum.map(|radius| radius + slack)
            }
            false => [0.0; 2],
        };
        let evaluate = |values: &mut Vec<Ball>, radius: f64| {
            values.clear();
            values.push(Ball::around(sum, radius).held_by(self.accumulate));
            let inputs = self.inputs.iter();
            values.extend(inputs.map(|input| Ball::exact(input.get(row, column))));
            self.evaluator.evaluate(values);
        };
        evaluate(limits, limit);
        let same = self.jumps || usual == limit;
        if !same {
            evaluate(typical, usual);
        }
        let typical = if same { &*limits } else { &*typical };
        for ((tally, output), value) in tallies.iter_mut().zip(&self.outputs).zip(self.yields) {
            // Packages are valid: there is such a value.
            let (Some(limit), Some(typical)) = (limits.get(*value), typical.get(*value)) else {
                continue;
            };
            if !limit.is_known() || !typical.is_known() {
                tally.undecided += 1;
                continue;
            }
            tally.compare(Compared {
                row,
                column,
                found: output.get(row, column),
                expected: limit.value(),
                allowed: limit.radius(),
                differs: false,
                typical: typical.radius(),
                may_overflow: false,
            });
        }
    }
}

/// A place in each of `count` equal bands of `total` lines, at random.
pub(super) fn bands(total: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut rng = SplitMix(seed);
    let start = |band: usize| (band as u128 * total as u128 / count as u128) as usize;
    let place = |band: usize| {
        let (from, to) = (start(band), start(band + 1));
        from + rng.below((to - from) as u64) as usize
    };
    (0..count).map(place).collect()
}
