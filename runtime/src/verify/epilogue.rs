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
//!
//! The lines of a reduced output that are computed as a whole are compared (`reduction`); one that is reduced along rows and
//! columns needs all of the product.

use std::collections::{BTreeMap, btree_map::Entry};

use super::check::{Found, Tally, fold_blocks, look, look_at, row_norms};
use super::reduction::Partial;
use super::region::{Ball, Evaluator};
use super::report::{Failure, Method, Report};
use super::{Config, Product, Run, VerifyError};
use crate::element::Element;
use crate::package::{Epilogue, Gemm, ReduceOp, ValueType};
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
    /// The reduction of each output; none of one that is not reduced.
    reduced: Vec<Option<Reduced>>,
    yields: &'a [usize],
    evaluator: Evaluator<'a>,
    /// Tells whether the norm is that of the largest deviations.
    jumps: bool,
}

/// The reduction of an output.
#[derive(Clone, Copy)]
struct Reduced {
    op: ReduceOp,
    /// Tells whether it is along rows (0) and columns (1).
    along: [bool; 2],
}

impl Reduced {
    /// The line of an element: its row, its column, or 0.
    fn line(&self, at: [usize; 2]) -> usize {
        let of = |mode: usize| if self.along[mode] { 0 } else { at[mode] };
        of(0).max(of(1))
    }

    /// The row and the column by which a line is called.
    fn place(&self, line: usize) -> [usize; 2] {
        [0, 1].map(|mode| if self.along[mode] { 0 } else { line })
    }
}

/// The deviations that the lines of a reduced output may have: by the largest deviations, and by typical ones.
type Lines = BTreeMap<usize, [Partial; 2]>;

/// The findings about each output in some rows and columns.
struct Part {
    tallies: Vec<Tally>,
    lines: Vec<Lines>,
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
        let matrix = run.own(gemm, 2, (*input, run.before(*input)?), index)?;
        row_norms(run.name(*input), &matrix)?;
        inputs.push(matrix);
    }
    let (mut outputs, mut names) = (vec![product.c.clone()], vec![run.name(gemm.c)]);
    let mut reduced = vec![None];
    for (at, output) in epilogue.outputs.iter().enumerate() {
        let tensor = run.tensors[*output];
        outputs.push(run.own(gemm, 2, (*output, tensor), index)?);
        names.push(run.name(*output));
        let is_one = |mode| {
            tensor
                .layout()
                .mode_leaves(mode)
                .iter()
                .all(|(n, s)| *n == 1 || *s == 0)
        };
        reduced.push(epilogue.reduction(at).map(|op| Reduced {
            op,
            along: [is_one(0), is_one(1)],
        }));
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
        reduced,
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
        // What is reduced along rows and columns is computed as a whole, within what all probes may take.
        let needs_all = self.reduced.iter().flatten().any(|r| r.along == [true; 2]);
        let limit = match needs_all {
            true => config.full_limit.max(config.probe_budget),
            false => config.full_limit,
        };
        let (rows, columns) = if of(m).saturating_mul(n as u64) <= limit {
            (m, n)
        } else {
            let half = config.probe_budget / 2;
            let lines = |budget: u64, total: usize| (budget.max(1) as usize).min(total);
            (lines(half / of(n), m), lines(half / of(m), n))
        };
        let full = rows == m || columns == n;
        let looked = self.outputs.iter().zip(&self.reduced);
        let looked = looked.map(|(c, reduced)| match reduced {
            Some(Reduced { along, .. }) => {
                let count = |mode: usize, all: usize| if along[mode] { all.min(1) } else { all };
                look_at(c, [count(0, m), count(1, n)], NANS)
            }
            None => look(c, NANS),
        });
        let looked: Vec<_> = looked.collect();
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
            // Without rows or columns there is nothing to reduce, nor an element to compare.
            let is_reduced = self.reduced[at].is_some() && m > 0 && n > 0;
            if is_reduced && tally.compared + tally.undecided == 0 {
                return Err(VerifyError::TooLarge(name.to_string()));
            }
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
        let Product { m, n, .. } = self.product;
        for &(row, column) in nans {
            let all = |mode: usize, at: usize, count: usize| match self.reduced[output] {
                Some(Reduced { along, .. }) if along[mode] => (0..count).collect(),
                _ => vec![at],
            };
            let (rows, columns) = (all(0, row, m), all(1, column, n));
            if self.compare(&rows, &columns)[output].compared > 0 {
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

    /// Compares the elements of those rows and columns, of each output; of one that is reduced, the lines that they have as a whole.
    fn compare(&self, rows: &[usize], columns: &[usize]) -> Vec<Tally> {
        let values = || [Vec::new(), Vec::new()];
        let outputs = self.outputs.len();
        let start = |_: [&[usize]; 2]| Part {
            tallies: vec![Tally::default(); outputs],
            lines: vec![Lines::new(); outputs],
        };
        let parts = fold_blocks(
            &self.product,
            [rows, columns],
            values,
            start,
            |values, part, at, sum| self.compare_element(at, sum, values, part),
        );
        let mut tallies = vec![Tally::default(); outputs];
        let mut lines = vec![Lines::new(); outputs];
        // In their order, which decides the last bits of sums.
        for part in parts {
            for (tally, of) in tallies.iter_mut().zip(part.tallies) {
                tally.join(of);
            }
            for (lines, of) in lines.iter_mut().zip(part.lines) {
                for (line, partials) in of {
                    match lines.entry(line) {
                        Entry::Vacant(entry) => {
                            entry.insert(partials);
                        }
                        Entry::Occupied(mut entry) => {
                            let both = entry.get_mut().iter_mut().zip(&partials);
                            both.for_each(|(all, part)| all.join(part));
                        }
                    }
                }
            }
        }
        let Product { m, n, .. } = self.product;
        let counts = [(rows.len(), m), (columns.len(), n)];
        for (at, lines) in lines.into_iter().enumerate() {
            let Some(reduced) = self.reduced[at] else {
                continue;
            };
            let along = (0..2)
                .filter(|mode| reduced.along[*mode])
                .map(|mode| counts[mode]);
            let along: Vec<_> = along.collect();
            // A part of a line says nothing.
            if along.iter().all(|(some, all)| some == all) {
                let count = along.iter().map(|(_, all)| all).product();
                for (line, partials) in lines {
                    self.compare_line(at, reduced, line, (partials, count), &mut tallies[at]);
                }
            }
        }
        tallies
    }

    /// Compares an element of a reduced output with what its line of so many elements comes to.
    fn compare_line(
        &self,
        at: usize,
        reduced: Reduced,
        line: usize,
        ([limit, typical], count): ([Partial; 2], usize),
        tally: &mut Tally,
    ) {
        let output = &self.outputs[at];
        let ty = ValueType::Number(output.element());
        let [limit, typical] = [limit, typical].map(|partial| partial.finish(count, ty));
        let [row, column] = reduced.place(line);
        let found = Ball::in_matrix(output, row, column);
        tally.meet(
            [row, column],
            output.element(),
            found,
            [limit, typical],
            false,
        );
    }

    fn compare_element(
        &self,
        [row, column]: [usize; 2],
        sum: f64,
        [limits, typical]: &mut [Vec<Ball>; 2],
        part: &mut Part,
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
            values.extend(inputs.map(|input| Ball::in_matrix(input, row, column)));
            self.evaluator.evaluate(values);
        };
        evaluate(limits, limit);
        let same = self.jumps || usual == limit;
        if !same {
            evaluate(typical, usual);
        }
        let typical = if same { &*limits } else { &*typical };
        for (at, (output, value)) in self.outputs.iter().zip(self.yields).enumerate() {
            // Packages are valid: there is such a value.
            let (Some(limit), Some(typical)) = (limits.get(*value), typical.get(*value)) else {
                continue;
            };
            if let Some(reduced) = self.reduced[at] {
                let none = [Partial::new(reduced.op); 2];
                let line = reduced.line([row, column]);
                let [of_limit, of_typical] = part.lines[at].entry(line).or_insert(none);
                of_limit.add(limit);
                of_typical.add(typical);
                continue;
            }
            let found = Ball::in_matrix(output, row, column);
            part.tallies[at].meet(
                [row, column],
                output.element(),
                found,
                [*limit, *typical],
                false,
            );
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
