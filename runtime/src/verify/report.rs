//! The findings of a verification.

use std::fmt;

use serde::Serialize;

use super::Product;

/// The way in which the elements were checked.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Method {
    /// Every element was computed and compared.
    Full,
    /// Every element entered every probe; some rows and columns were computed and compared in full.
    Probed {
        /// Probes that every element entered.
        probes: usize,
        /// Elements of a segment of a row, at most.
        segment: usize,
        /// Rows that were computed and compared in full.
        rows: usize,
        /// Columns that were computed and compared in full.
        columns: usize,
    },
    /// Some rows and columns, one at a random place of each of as many equal bands, were computed and compared in full; every
    /// element was looked at.
    Sampled {
        /// Rows that were compared.
        rows: usize,
        /// Columns that were compared.
        columns: usize,
    },
    /// Some lines of reductions, one at a random place of each of as many equal bands, were computed and compared in full; every
    /// element was looked at.
    Lines {
        /// Lines that were compared.
        lines: usize,
        /// Lines that there are.
        of: usize,
    },
    /// The result was refused before any comparison.
    ScanOnly,
}

/// One element and how far it is off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Deviation {
    /// The row of the element, from 0.
    pub row: usize,
    /// The column of the element, from 0.
    pub column: usize,
    /// The value that the output holds.
    pub found: f64,
    /// The value that the reference has there.
    pub expected: f64,
    /// The largest |found - expected| of a right element.
    pub allowed: f64,
    /// What was found and what is expected, of integers of which f64 does not hold one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integers: Option<[i64; 2]>,
}

impl Deviation {
    pub(super) fn size(&self) -> f64 {
        match self.integers {
            Some([found, expected]) => found.abs_diff(expected) as f64,
            None => (self.found - self.expected).abs(),
        }
    }

    /// What was found and what is expected, as texts.
    fn texts(&self) -> [String; 2] {
        match self.integers {
            Some(both) => both.map(|integer| integer.to_string()),
            None => [self.found, self.expected].map(|number| number.to_string()),
        }
    }

    /// Above 1: wrong. A NaN counts as infinitely wrong.
    pub(super) fn ratio(&self) -> f64 {
        let is_equal = match self.integers {
            Some([found, expected]) => found == expected,
            None => self.found == self.expected,
        };
        if is_equal {
            return 0.0;
        }
        let ratio = self.size() / self.allowed;
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }
}

/// The reason why a result is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// Elements still hold the bytes from before the launch.
    Unwritten {
        /// The name of the output.
        name: String,
        /// Elements that were not written.
        count: u64,
        /// The row of the first of them, from 0.
        row: usize,
        /// The column of the first of them, from 0.
        column: usize,
    },
    /// Elements are NaN, although all inputs are finite.
    NotANumber {
        /// The name of the output.
        name: String,
        /// Elements that are NaN.
        count: u64,
        /// The row of the first of them, from 0.
        row: usize,
        /// The column of the first of them, from 0.
        column: usize,
    },
    /// A byte between the elements of an output was written.
    Padding {
        /// The name of the output.
        name: String,
        /// The first such byte, from 0 at the start of the tensor.
        byte: usize,
    },
    /// A byte of an argument was written that no output has, of which some are views of the argument.
    Outside {
        /// The name of the argument.
        name: String,
        /// The first such byte, from 0 at the start of the tensor.
        byte: usize,
    },
    /// An element of a row behind the last group of rows was written.
    BehindGroups {
        /// The name of the output.
        name: String,
        /// The row of the first such element, from 0.
        row: usize,
        /// The column of it, from 0.
        column: usize,
    },
    /// Elements are further off than rounding explains.
    Elements {
        /// The name of the output.
        name: String,
        /// Compared elements that are wrong.
        count: u64,
        /// The element that is furthest off, in units of what it may be.
        worst: Deviation,
    },
    /// Sums of segments are further off than rounding explains.
    Segments {
        /// The name of the output.
        name: String,
        /// Segments with a wrong sum.
        count: u64,
        /// The row of the worst of them, from 0.
        row: usize,
        /// The first column of the worst of them, from 0.
        first_column: usize,
        /// Columns of the worst of them.
        columns: usize,
        /// The largest |found - expected| of its sums; infinite where an element is NaN.
        off_by: f64,
        /// The largest |found - expected| of a right segment's sum.
        allowed: f64,
    },
    /// One product of a batch is wrong.
    Product {
        /// The index of the product.
        index: usize,
        /// The reason.
        failure: Box<Failure>,
    },
    /// All deviations together are larger than rounding explains.
    Norm {
        /// `|out - ref| / |ref|`, Frobenius norms over all elements.
        relative_error: f64,
        /// The largest relative error that rounding explains, or that the package promises.
        limit: f64,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unwritten {
                name,
                count,
                row,
                column,
            } => {
                write!(
                    f,
                    "{count} elements of {name} were never written, the first at ({row},{column})"
                )
            }
            Failure::NotANumber {
                name,
                count,
                row,
                column,
            } => {
                write!(
                    f,
                    "{count} elements of {name} are NaN, the first at ({row},{column}); all inputs are finite"
                )
            }
            Failure::BehindGroups { name, row, column } => {
                write!(
                    f,
                    "{name}({row},{column}) was written, a row behind the last group of rows"
                )
            }
            Failure::Outside { name, byte } => {
                write!(
                    f,
                    "byte {byte} of {name}, which no output has, was overwritten"
                )
            }
            Failure::Padding { name, byte } => {
                write!(
                    f,
                    "byte {byte} of {name}, between two of its elements, was overwritten"
                )
            }
            Failure::Elements { name, count, worst } => {
                let [found, expected] = worst.texts();
                write!(
                    f,
                    "{count} of the compared elements of {name} are wrong, the worst at ({},{}): expected {expected} within {:.3e}, found {found}",
                    worst.row, worst.column, worst.allowed
                )
            }
            Failure::Segments {
                name,
                count,
                row,
                first_column,
                columns,
                off_by,
                allowed,
            } => write!(
                f,
                "{count} sums over rows of {name} are wrong, the worst in row {row}, columns {first_column} to {}: \
                 off by {off_by:.3e}, rounding explains {allowed:.3e}",
                first_column + columns - 1
            ),
            Failure::Product { index, failure } => write!(f, "product {index}: {failure}"),
            Failure::Norm {
                relative_error,
                limit,
            } => write!(
                f,
                "|out - ref| / |ref| is {relative_error:.3e}, rounding explains {limit:.3e}; \
                 was less precision accumulated in than the function says?"
            ),
        }
    }
}

/// The findings of the verification of one compute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The kind of compute: `gemm`, `copy`, ...
    pub kind: &'static str,
    /// The output.
    pub name: String,
    /// M, N and K of a `gemm`, with a batch its products behind them; else the output's modes.
    pub shape: Vec<usize>,
    /// The way in which the elements were checked.
    pub method: Method,
    /// Elements compared with a computed reference.
    pub compared: u64,
    /// Elements that were computed and of which nothing can be said: their region is undefined, or overflows, for some of the values
    /// that a right kernel may have.
    pub undecided: u64,
    /// `|out - ref| / |ref|`, Frobenius norms over all elements: exact if all were compared, else
    /// estimated by the probes. None if the result was refused before.
    pub relative_error: Option<f64>,
    /// The largest relative error that is allowed.
    pub relative_limit: f64,
    /// Largest |out - ref| of the compared elements.
    pub max_abs_error: Option<f64>,
    /// The compared element that is furthest off, in units of what it may be.
    pub worst: Option<Deviation>,
    /// Empty if the result is right.
    pub failures: Vec<Failure>,
    /// Time that the verification took.
    pub seconds: f64,
}

impl Report {
    /// Tells whether the result is right.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    pub(super) fn of_product(product: &Product) -> Report {
        let shape = vec![product.m, product.n, product.k];
        Report::unmeasured("gemm", product.names[2], shape)
    }

    pub(super) fn unmeasured(kind: &'static str, name: &str, shape: Vec<usize>) -> Report {
        Report {
            kind,
            name: name.to_string(),
            shape,
            method: Method::ScanOnly,
            compared: 0,
            undecided: 0,
            relative_error: None,
            relative_limit: 0.0,
            max_abs_error: None,
            worst: None,
            failures: Vec::new(),
            seconds: 0.0,
        }
    }

    /// The report of the first of `products` products.
    pub(super) fn with_batch(mut self, products: usize) -> Report {
        self.shape.push(products);
        self.in_product(0)
    }

    /// Makes the report of the first of groups of rows one of all rows, of which there are so many.
    pub(super) fn with_groups(mut self, rows: usize) -> Report {
        if let Some(first) = self.shape.first_mut() {
            *first = rows;
        }
        self.in_product(0)
    }

    fn in_product(mut self, index: usize) -> Report {
        let failures = self.failures.into_iter().map(|failure| {
            let failure = Box::new(failure);
            Failure::Product { index, failure }
        });
        self.failures = failures.collect();
        self
    }

    /// Adds the report of another product of the batch: what is worst of either counts.
    pub(super) fn with_product(mut self, other: Report, index: usize) -> Report {
        let worse = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(if b.is_nan() || b > a { b } else { a }),
            (a, b) => a.or(b),
        };
        let mut other = other.in_product(index);
        if other.failures.len() > self.failures.len() {
            self.method = other.method;
        }
        self.compared += other.compared;
        self.undecided += other.undecided;
        self.relative_error = worse(self.relative_error, other.relative_error);
        self.relative_limit = self.relative_limit.max(other.relative_limit);
        self.max_abs_error = worse(self.max_abs_error, other.max_abs_error);
        let ratio = |worst: &Option<Deviation>| worst.as_ref().map_or(-1.0, Deviation::ratio);
        if ratio(&other.worst) > ratio(&self.worst) {
            self.worst = other.worst;
        }
        self.failures.append(&mut other.failures);
        self
    }

    /// A promise of the package can tighten the limit, never loosen it.
    pub(super) fn apply_norm_limit(&mut self, promised: Option<f64>) {
        let Some(relative_error) = self.relative_error else {
            return;
        };
        let limit = promised.map_or(self.relative_limit, |promised| {
            promised.min(self.relative_limit)
        });
        self.relative_limit = limit;
        if relative_error.is_nan() || relative_error > limit {
            self.failures.push(Failure::Norm {
                relative_error,
                limit,
            });
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed() { "right" } else { "WRONG" };
        match (self.kind, self.shape.as_slice()) {
            ("gemm", [m, n, k]) => write!(f, "{} ({m},{n}), sums of {k}: {verdict}", self.name)?,
            ("gemm", [m, n, k, products]) => {
                write!(
                    f,
                    "{} ({m},{n},{products}), sums of {k}: {verdict}",
                    self.name
                )?;
            }
            (kind, shape) => {
                let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
                write!(f, "{} ({}), {kind}: {verdict}", self.name, shape.join(","))?;
            }
        }
        match &self.method {
            Method::Full => write!(f, "; every element compared with an f64 reference")?,
            Method::Probed {
                probes,
                segment,
                rows,
                columns,
            } => write!(
                f,
                "; every element in {probes} random probes (segments of {segment}), \
                 {rows} rows and {columns} columns compared with an f64 reference"
            )?,
            Method::Sampled { rows, columns } => write!(
                f,
                "; {rows} rows and {columns} columns, one of each of as many bands, compared with an f64 reference; \
                 every element looked at"
            )?,
            Method::Lines { lines, of } => write!(
                f,
                "; {lines} of {of} lines, one of each of as many bands, compared with an f64 reference; \
                 every element looked at"
            )?,
            Method::ScanOnly => write!(f, "; refused before any comparison")?,
        }
        if self.undecided > 0 {
            write!(
                f,
                "\n  {} elements not compared: undefined or too large for some right values",
                self.undecided
            )?;
        }
        if let Some(error) = self.relative_error {
            write!(
                f,
                "\n  |out - ref| / |ref| {error:.3e}, at most {:.3e}",
                self.relative_limit
            )?;
        }
        if let (Some(error), Some(worst)) = (self.max_abs_error, &self.worst) {
            let [found, expected] = worst.texts();
            write!(
                f,
                "\n  max |out - ref| {error:.3e}; furthest off ({},{}): {found} for {expected}, {:.3e} allowed",
                worst.row, worst.column, worst.allowed
            )?;
        }
        for failure in &self.failures {
            write!(f, "\n  {failure}")?;
        }
        Ok(())
    }
}
