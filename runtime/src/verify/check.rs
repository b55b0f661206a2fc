//! Element by element: what needs no reference, and the comparison with one.

use super::reference::{BLOCK, Workspace};
use super::region::Ball;
use super::report::{Deviation, Failure, Method, Report};
use super::{Product, VerifyError};
use crate::element::Element;
use crate::parallel::parallel_fold;
use crate::tensor::Matrix;

/// Euclidean norms of the rows.
///
/// # Errors
/// [`VerifyError::NotFinite`] with the first element that is not.
pub(super) fn row_norms(name: &str, matrix: &Matrix) -> Result<Vec<f64>, VerifyError> {
    let rows: Vec<usize> = (0..matrix.rows()).collect();
    let chunks: Vec<&[usize]> = rows.chunks(64).collect();
    let parts = parallel_fold(chunks, Vec::new, |norms, rows| {
        let mut line = vec![0.0; matrix.columns()];
        for &row in rows {
            matrix.read_row(row, 0, &mut line);
            norms.push((
                row,
                line.iter().map(|v| v * v).sum::<f64>().sqrt(),
                line.iter().position(|v| !v.is_finite()),
            ));
        }
    });
    let mut norms: Vec<_> = parts.concat();
    norms.sort_unstable_by_key(|&(row, ..)| row);
    if let Some(&(row, _, Some(column))) = norms.iter().find(|(.., bad)| bad.is_some()) {
        let value = matrix.get(row, column);
        return Err(VerifyError::NotFinite {
            name: name.to_string(),
            value,
            row,
            column,
        });
    }
    Ok(norms.into_iter().map(|(_, norm, _)| norm).collect())
}

/// Elements of one kind: how many, and the first in the order of rows.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) count: u64,
    pub(super) first: Option<(usize, usize)>,
}

impl Found {
    pub(super) fn add(&mut self, row: usize, column: usize) {
        self.count += 1;
        self.join(Found {
            count: 0,
            first: Some((row, column)),
        });
    }

    pub(super) fn join(&mut self, other: Found) {
        self.count += other.count;
        self.first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

/// The elements that no right result of finite numbers holds.
#[derive(Default)]
pub(super) struct Looked {
    unwritten: Found,
    nan: Found,
    /// The first NaNs, as many as were to be kept.
    pub(super) nans: Vec<(usize, usize)>,
}

impl Looked {
    /// Looks at an element, of which it keeps the place if it is a NaN and fewer than `keep` are kept.
    fn take(&mut self, c: &Matrix, [row, column]: [usize; 2], value: f64, keep: usize) {
        if !value.is_nan() {
            return;
        }
        if c.is_poison(row, column) {
            self.unwritten.add(row, column);
            return;
        }
        self.nan.add(row, column);
        if self.nans.len() < keep {
            self.nans.push((row, column));
        }
    }

    /// The same elements under other numbers, which are in the same order.
    pub(super) fn moved(mut self, place: impl Fn(usize, usize) -> (usize, usize)) -> Looked {
        let elements = [&mut self.unwritten.first, &mut self.nan.first];
        let elements = elements.into_iter().flatten().chain(&mut self.nans);
        for element in elements {
            *element = place(element.0, element.1);
        }
        self
    }

    /// The elements that were never written, if there are any.
    pub(super) fn unwritten_failure(&self, name: &str) -> Option<Failure> {
        let (row, column) = self.unwritten.first?;
        Some(Failure::Unwritten {
            name: name.to_string(),
            count: self.unwritten.count,
            row,
            column,
        })
    }
}

/// Looks at every element for what is never written, or NaN, and keeps the places of the first NaNs. Integers are not looked at.
pub(super) fn look(c: &Matrix, keep: usize) -> Looked {
    let mut all = Looked::default();
    if !c.element().is_float() {
        return all;
    }
    let rows: Vec<usize> = (0..c.rows()).collect();
    let parts = parallel_fold(
        rows.chunks(64).collect(),
        || (Looked::default(), vec![0.0; c.columns()]),
        |(looked, line), rows: &[usize]| {
            for &row in rows {
                c.read_row(row, 0, line);
                for (column, value) in line.iter().enumerate() {
                    looked.take(c, [row, column], *value, keep);
                }
            }
        },
    );
    for (part, _) in parts {
        all.unwritten.join(part.unwritten);
        all.nan.join(part.nan);
        all.nans.extend(part.nans);
    }
    all.nans.sort_unstable();
    all.nans.truncate(keep);
    all
}

/// Does as [`look`], at those rows and columns alone.
pub(super) fn look_at(c: &Matrix, [rows, columns]: [usize; 2], keep: usize) -> Looked {
    let mut looked = Looked::default();
    if !c.element().is_float() {
        return looked;
    }
    for row in 0..rows {
        for column in 0..columns {
            looked.take(c, [row, column], c.get(row, column), keep);
        }
    }
    looked
}

/// Looks at every element for what no right result holds: nothing written, or NaN.
pub(super) fn scan(name: &str, c: &Matrix) -> Option<Failure> {
    let looked = look(c, 0);
    if let Some(failure) = looked.unwritten_failure(name) {
        return Some(failure);
    }
    let (row, column) = looked.nan.first?;
    Some(Failure::NotANumber {
        name: name.to_string(),
        count: looked.nan.count,
        row,
        column,
    })
}

/// The sums that a comparison gathers.
#[derive(Clone, Default)]
pub(super) struct Tally {
    pub(super) compared: u64,
    pub(super) wrong: u64,
    pub(super) squared_deviation: f64,
    pub(super) squared_reference: f64,
    pub(super) squared_typical: f64,
    pub(super) max_abs: f64,
    pub(super) worst: Option<Deviation>,
    /// An element whose exact value C's type has no number for.
    pub(super) overflow: Option<(usize, usize, f64)>,
    /// Elements of which the reference says nothing, which are not compared.
    pub(super) undecided: u64,
}

/// An element beside what it should be.
pub(super) struct Compared {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) found: f64,
    pub(super) expected: f64,
    pub(super) allowed: f64,
    /// Tells whether it is known to be wrong, whatever its value.
    pub(super) differs: bool,
    /// What was found and what is expected, where f64 does not hold one of them.
    pub(super) integers: Option<[i64; 2]>,
    /// The bound on the root mean square of right elements' deviations.
    pub(super) typical: f64,
    /// Tells whether the output's type may have no number for what is expected.
    pub(super) may_overflow: bool,
}

impl Tally {
    /// Compares an element with the exact sum of products that it is made of.
    pub(super) fn add(&mut self, product: &Product, row: usize, column: usize, sum: f64) {
        let scale = product.scale(row, column);
        let [expected, magnitude] = product.combine(sum, row, column);
        let slack = product.slack(row, column);
        // What is rounded at last may be off by as much.
        let largest = expected.abs() + slack;
        let allowed = product.tolerance.limit(largest, magnitude, scale) + slack;
        self.compare(Compared {
            row,
            column,
            found: product.c.get(row, column),
            expected,
            allowed,
            differs: false,
            integers: None,
            typical: product.tolerance.typical(largest, magnitude, scale) + slack,
            may_overflow: product.tolerance.may_overflow(expected, allowed),
        });
    }

    /// Compares an element of that type with what a region makes of the sums that are right, and of those that are to be expected;
    /// `differs` where it is known to be wrong, whatever its value.
    pub(super) fn meet(
        &mut self,
        [row, column]: [usize; 2],
        element: Element,
        found: Ball,
        [limit, typical]: [Ball; 2],
        differs: bool,
    ) {
        if !limit.tells_right(element) || !typical.tells_right(element) {
            self.undecided += 1;
            return;
        }
        let is_beyond = limit.is_beyond_f64() || found.is_beyond_f64();
        let integers = || {
            let [found, expected] = [found.whole()?, limit.whole()?].map(i64::try_from);
            Some([found.ok()?, expected.ok()?])
        };
        let integers = if is_beyond { integers() } else { None };
        let radius = |ball: &Ball| {
            if integers.is_some() {
                0.0
            } else {
                ball.radius()
            }
        };
        self.compare(Compared {
            row,
            column,
            found: found.value(),
            expected: limit.value(),
            allowed: radius(&limit),
            differs,
            integers,
            typical: radius(&typical),
            may_overflow: false,
        });
    }

    pub(super) fn compare(&mut self, compared: Compared) {
        let Compared {
            row,
            column,
            found,
            expected,
            allowed,
            differs,
            integers,
            typical,
            may_overflow,
        } = compared;
        if may_overflow && found.is_infinite() {
            self.overflow = self.overflow.or(Some((row, column, expected)));
            return;
        }
        let deviation = Deviation {
            row,
            column,
            found,
            expected,
            allowed,
            integers,
        };
        self.compared += 1;
        self.wrong += u64::from(differs || deviation.ratio() > 1.0);
        self.squared_deviation += deviation.size() * deviation.size();
        self.squared_reference += expected * expected;
        self.squared_typical += typical * typical;
        self.keep_worse(deviation);
    }

    fn keep_worse(&mut self, deviation: Deviation) {
        self.max_abs = self.max_abs.max(deviation.size());
        // Ties go to the first in the order of rows, so that the report does not depend on the
        // threads.
        let key = |d: &Deviation| (d.ratio(), std::cmp::Reverse((d.row, d.column)));
        if self
            .worst
            .as_ref()
            .is_none_or(|worst| key(&deviation) > key(worst))
        {
            self.worst = Some(deviation);
        }
    }

    /// The tallies of numbered parts as one. Their order decides the last bits of the sums, so it is that of the numbers and not
    /// that in which threads came to an end.
    pub(super) fn in_order(mut parts: Vec<(usize, Tally)>) -> Tally {
        parts.sort_unstable_by_key(|(at, _)| *at);
        let mut all = Tally::default();
        for (_, part) in parts {
            all.join(part);
        }
        all
    }

    pub(super) fn join(&mut self, other: Tally) {
        self.compared += other.compared;
        self.wrong += other.wrong;
        self.undecided += other.undecided;
        self.squared_deviation += other.squared_deviation;
        self.squared_reference += other.squared_reference;
        self.squared_typical += other.squared_typical;
        self.overflow = self.overflow.or(other.overflow);
        self.max_abs = self.max_abs.max(other.max_abs);
        if let Some(worst) = other.worst {
            self.keep_worse(worst);
        }
    }

    /// The report of the comparison, added to what is known of an output of that type; the norms are those of the compared
    /// elements.
    pub(super) fn into_report(
        self,
        mut report: Report,
        element: Element,
        method: Method,
    ) -> Result<Report, VerifyError> {
        if let Some((row, column, value)) = self.overflow {
            return Err(VerifyError::Overflow {
                value,
                row,
                column,
                element,
            });
        }
        if let (true, Some(worst)) = (self.wrong > 0, &self.worst) {
            report.failures.push(Failure::Elements {
                name: report.name.clone(),
                count: self.wrong,
                worst: worst.clone(),
            });
        }
        report.method = method;
        report.compared = self.compared;
        report.undecided = self.undecided;
        report.relative_error = Some(relative(self.squared_deviation, self.squared_reference));
        report.relative_limit = relative(self.squared_typical, self.squared_reference);
        report.max_abs_error = Some(self.max_abs);
        report.worst = self.worst;
        Ok(report)
    }
}

/// The ratio of two norms, given their squares. Zero over zero is zero: a zero matrix was expected
/// and found.
pub(super) fn relative(squared: f64, squared_reference: f64) -> f64 {
    if squared == 0.0 {
        0.0
    } else {
        (squared / squared_reference).sqrt()
    }
}

/// Computes and compares every element.
pub(super) fn compare_all(product: &Product) -> Result<Report, VerifyError> {
    let all = |count: usize| (0..count).collect::<Vec<_>>();
    let tally = compare_lines(product, &all(product.m), &all(product.n));
    tally.into_report(
        Report::of_product(product),
        product.c.element(),
        Method::Full,
    )
}

/// Computes and compares the elements of those rows and columns.
pub(super) fn compare_lines(product: &Product, rows: &[usize], columns: &[usize]) -> Tally {
    let all = tally_lines(
        product,
        [rows, columns],
        1,
        || (),
        |(), tallies, at, sum| {
            for tally in tallies {
                tally.add(product, at[0], at[1], sum);
            }
        },
    );
    all.into_iter().next().unwrap_or_default()
}

/// Computes the sums of those rows and columns, and hands each with its row and column to `each`, which adds it to as many
/// tallies as there are outputs; `scratch` makes what it works with, for each thread.
pub(super) fn tally_lines<S: Send>(
    product: &Product,
    lines: [&[usize]; 2],
    outputs: usize,
    scratch: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, &mut [Tally], [usize; 2], f64) + Sync,
) -> Vec<Tally> {
    let start = |_: [&[usize]; 2]| vec![Tally::default(); outputs];
    let parts = fold_blocks(
        product,
        lines,
        scratch,
        start,
        |scratch, tallies, at, sum| {
            each(scratch, tallies, at, sum);
        },
    );
    let parts: Vec<_> = parts.into_iter().enumerate().collect();
    let of = |output: usize| {
        let of_each = parts.iter().map(|(at, all)| (*at, all[output].clone()));
        Tally::in_order(of_each.collect())
    };
    (0..outputs).map(of).collect()
}

/// Computes the sums of those rows and columns block by block, and hands each with its row and column to `each`, with what `start` made
/// for its block, of the block's rows and columns; `scratch` makes what it works with, for each thread. Returns what it made of all blocks, in
/// their order.
pub(super) fn fold_blocks<S: Send, T: Send>(
    product: &Product,
    [rows, columns]: [&[usize]; 2],
    scratch: impl Fn() -> S + Sync,
    start: impl Fn([&[usize]; 2]) -> T + Sync,
    each: impl Fn(&mut S, &mut T, [usize; 2], f64) + Sync,
) -> Vec<T> {
    let blocks: Vec<(&[usize], &[usize])> = rows
        .chunks(BLOCK)
        .flat_map(|rows| columns.chunks(BLOCK).map(move |columns| (rows, columns)))
        .collect();
    let parts = parallel_fold(
        blocks.into_iter().enumerate().collect(),
        || (Vec::new(), Workspace::default(), scratch()),
        |(parts, workspace, scratch), (at, (rows, columns)): (usize, (&[usize], &[usize]))| {
            let mut made = start([rows, columns]);
            let sums = workspace.multiply(&product.a, rows, &product.b, columns, product.k);
            for (i, &row) in rows.iter().enumerate() {
                for (j, &column) in columns.iter().enumerate() {
                    let sum = sums[i * columns.len() + j];
                    each(scratch, &mut made, [row, column], sum);
                }
            }
            parts.push((at, made));
        },
    );
    let mut parts: Vec<(usize, T)> = parts.into_iter().flat_map(|(parts, ..)| parts).collect();
    parts.sort_unstable_by_key(|(at, _)| *at);
    parts.into_iter().map(|(_, made)| made).collect()
}
