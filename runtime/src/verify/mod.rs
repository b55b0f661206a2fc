//! The verification of results.
//!
//! The reference is computed in f64. Of a product of matrices, every element is computed and compared up to
//! [`Config::full_limit`] multiply-adds. Beyond that, three checks stand together:
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
//! `tolerance` states the bounds and their reasons. What is no product of matrices is computed and compared in full
//! (`lines`, `attention`). What prologues make of factors is computed first (`prologue`). A product with an epilogue is compared as a
//! whole, or by rows and columns (`epilogue`, `region`); a map as a whole, or by some of the lines that it reduces (`map`,
//! `reduction`). Padding between the elements of an output, which nothing may write, is compared byte by byte. Of several ops each is compared
//! by what it read, what others left in the workspace too (`memory`).

mod attention;
mod check;
mod epilogue;
mod expected;
mod fused;
mod lines;
mod map;
mod memory;
mod places;
mod probe;
mod prologue;
mod reduction;
mod reference;
mod region;
mod report;
mod tolerance;

use std::time::Instant;

pub use expected::{Closeness, closeness};
// For tests, which stand outside so that the library is compiled once.
#[doc(hidden)]
pub use fused::is_fused;
pub use memory::Memory;
pub use report::{Deviation, Failure, Method, Report};

use crate::element::{Element, UnknownElement};
use crate::package::{Compute, Factor, Function, Gemm, Prologue, RegionValue};
use crate::tensor::{ArgError, HostTensor, Matrix, POISON, changed_gap, check_args};
use memory::{Shared, Views};
use tolerance::{Kind, Tolerance};

/// The facts that are known of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Data as [`crate::tensor::generate`] makes them: rounding errors then cancel better than in
    /// general.
    IndependentMeanZero,
    /// Any finite data, of which nothing else is known.
    Any,
}

/// The work that a verification may take.
#[derive(Clone, Debug)]
pub struct Config {
    /// Seed of the probes' signs and of the sampled rows and columns.
    pub seed: u64,
    /// The facts that are known of the inputs.
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

/// The reason why nothing can be said about a result.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The function of that name does not say what it computes.
    #[error(
        "function {0} does not say what it computes, so its result cannot be verified; compare it with a result of your own"
    )]
    NoMeaning(String),
    /// The arguments do not suit the function.
    #[error(transparent)]
    Args(#[from] ArgError),
    /// The package names an element type that there is not.
    #[error(transparent)]
    Element(#[from] UnknownElement),
    /// An output of that name is read too, and its values from before the launch were not given.
    #[error(
        "argument {0} is read and written, so that its values from before the launch are needed to verify it; \
         pass them to verify_from"
    )]
    NoBefore(String),
    /// A value that an op of the function left, and another one needs, was written over.
    #[error(
        "{0} is written by an op of the function that reads it after another one wrote it, so that nothing is left to verify it by; \
         give the ops tensors of their own, or compare it with a result of your own"
    )]
    Lost(String),
    /// An output was written over in part by a later op.
    #[error(
        "{0} is written by an op of the function, and some of its elements again by a later one, so that what the first one wrote cannot be compared; \
         give the ops tensors of their own, or compare it with a result of your own"
    )]
    LostInPart(String),
    /// A tensor in the workspace is needed, and what is there was not given.
    #[error(
        "{0} is in the workspace, which is needed as the launches left it to verify what they computed; pass it to verify_memory"
    )]
    NoWorkspace(String),
    /// An op reads a tensor in the workspace that no op before it writes.
    #[error(
        "{0} is in the workspace and is read by an op of the function, and no op before it writes it; write it first"
    )]
    Unwritten(String),
    /// A factor has a value that the result cannot be verified for.
    #[error("{name} is {value}; the result can be verified for {expected} only: change it")]
    Factor {
        /// The name of the factor in the formula: `alpha`, `beta`, `epsilon` or `scale`.
        name: &'static str,
        /// The value of the factor.
        value: f64,
        /// The values that the result can be verified for.
        expected: &'static str,
    },
    /// Nothing can be said of any element of the output of that name.
    #[error(
        "nothing can be said of any element of {0}: what it is computed by is undefined, or overflows, for values that are right; \
         scale the inputs down"
    )]
    Undecided(String),
    /// The output of that name is reduced over more than can be computed again.
    #[error(
        "{0} is reduced over a product that is too large to be computed again; verify a smaller one"
    )]
    TooLarge(String),
    /// A prologue may make of an element no number that can be multiplied.
    #[error(
        "what the prologue makes of {name} at ({row},{column}) may be no finite number of {element}; \
         scale the inputs down"
    )]
    Prologue {
        /// The name of the factor.
        name: String,
        /// The type in which elements are multiplied.
        element: Element,
        /// The row of the first such element, from 0.
        row: usize,
        /// The column of that element, from 0.
        column: usize,
    },
    /// An input holds an infinity or a NaN.
    #[error(
        "argument {name} is {value} at ({row},{column}); the result can be verified for finite inputs only: \
         change the input"
    )]
    NotFinite {
        /// The name of the argument.
        name: String,
        /// The value of the first such element.
        value: f64,
        /// The row of that element, from 0.
        row: usize,
        /// The column of that element, from 0.
        column: usize,
    },
    /// The exact result is beyond the largest number of the output's type.
    #[error(
        "the exact result at ({row},{column}) is {value}, which {element} cannot hold; \
         scale the inputs down"
    )]
    Overflow {
        /// The exact result.
        value: f64,
        /// The row of that element, from 0.
        row: usize,
        /// The column of that element, from 0.
        column: usize,
        /// The type of the output's elements.
        element: Element,
    },
}

/// Compares what a function wrote with what it means: a report for each output of each of its computes, in their order.
/// `tensors` are its arguments after the launch; those that it only reads must still hold the
/// inputs.
///
/// # Errors
/// As [`verify_from`]; [`VerifyError::NoBefore`] if an output is read, too.
pub fn verify(
    function: &Function,
    tensors: &[HostTensor],
    config: &Config,
) -> Result<Vec<Report>, VerifyError> {
    verify_from(function, None, tensors, config)
}

/// Does as [`verify`], with the arguments from before the launch, which outputs that are read as well are computed from. Of what several ops write, the last one's result is left, and
/// compared.
///
/// # Errors
/// [`VerifyError`] if nothing can be said. A wrong result is no error: see [`Report::passed`].
pub fn verify_from(
    function: &Function,
    before: Option<&[HostTensor]>,
    tensors: &[HostTensor],
    config: &Config,
) -> Result<Vec<Report>, VerifyError> {
    let memory = Memory {
        before,
        after: tensors,
        workspace: None,
        sm_count: None,
    };
    verify_memory(function, &memory, config)
}

/// Does as [`verify_from`], with all that a run had and left: ops that read what others wrote in the workspace are compared by what is there, and
/// branches are followed by the conditions of the launches.
///
/// # Errors
/// As [`verify_from`].
pub fn verify_memory(
    function: &Function,
    memory: &Memory<'_>,
    config: &Config,
) -> Result<Vec<Report>, VerifyError> {
    if function.computes.is_empty() {
        check_args(function, memory.after)?;
        return Err(VerifyError::NoMeaning(function.name.clone()));
    }
    let views = Views::of(function, memory)?;
    let after: Vec<&HostTensor> = memory.after.iter().chain(&views.after).collect();
    let before = memory.before;
    let before: Option<Vec<&HostTensor>> =
        before.map(|before| before.iter().chain(&views.before).collect());
    let computes = &views.function.computes;
    let mut reports = Vec::new();
    for (i, compute) in computes.iter().enumerate() {
        let run = Run {
            function: &views.function,
            views: &views,
            earlier: &computes[..i],
            rest: &computes[i..],
            before: before.as_deref(),
            tensors: &after,
            config,
        };
        reports.append(&mut run.verify(compute)?);
    }
    Ok(reports)
}

/// The arguments of a function before and after its launches, for one of the things that it computes.
struct Run<'a> {
    /// The function, with its views among its arguments.
    function: &'a Function,
    views: &'a Views<'a>,
    /// The computes before that one.
    earlier: &'a [Compute],
    /// The computes from that one on.
    rest: &'a [Compute],
    before: Option<&'a [&'a HostTensor]>,
    tensors: &'a [&'a HostTensor],
    config: &'a Config,
}

/// The matrices of one product, checked to fit together, and how exact it must be.
struct Product<'a> {
    names: [&'a str; 3],
    a: prologue::Factor<'a>,
    b: prologue::Factor<'a>,
    c: Matrix<'a>,
    m: usize,
    n: usize,
    k: usize,
    alpha: f64,
    /// Beta, and C from before the launch.
    addend: Option<(f64, Matrix<'a>)>,
    tolerance: Tolerance,
    /// Euclidean norms of A's and of B's rows.
    a_norms: Vec<f64>,
    b_norms: Vec<f64>,
}

impl Product<'_> {
    /// *S*: what the sum of all |alpha a b| of an element does not exceed.
    fn scale(&self, row: usize, column: usize) -> f64 {
        self.alpha.abs() * self.a_norms[row] * self.b_norms[column]
    }

    /// The bound on what the sum of an element differs by, where prologues may be rounded in several ways.
    fn slack(&self, row: usize, column: usize) -> f64 {
        let [p, q] = [self.a.radius(row), self.b.radius(column)];
        let [a, b] = [self.a_norms[row], self.b_norms[column]];
        self.alpha.abs() * (a * q + p * b + p * q)
    }

    /// The term that is added to an element's sum.
    fn added(&self, row: usize, column: usize) -> f64 {
        let added = |(beta, before): &(f64, Matrix)| beta * before.get(row, column);
        self.addend.as_ref().map_or(0.0, added)
    }

    /// The element whose sum of products that is, and the magnitudes of its parts together.
    fn combine(&self, sum: f64, row: usize, column: usize) -> [f64; 2] {
        let (product, added) = (self.alpha * sum, self.added(row, column));
        [product + added, product.abs() + added.abs()]
    }
}

/// Euclidean norms of a factor's rows. Errors: as of [`check::row_norms`].
fn norms(name: &str, factor: &prologue::Factor) -> Result<Vec<f64>, VerifyError> {
    match factor {
        prologue::Factor::Stored(matrix) => check::row_norms(name, matrix),
        computed => Ok(computed.norms().unwrap_or_default()),
    }
}

impl<'a> Run<'a> {
    /// A report for each output that no later op writes over.
    fn verify(&self, compute: &'a Compute) -> Result<Vec<Report>, VerifyError> {
        let start = Instant::now();
        let outputs = compute.outputs();
        let left = outputs
            .iter()
            .map(|output| self.is_left(compute, output.arg));
        let left = left.collect::<Result<Vec<_>, _>>()?;
        if !left.contains(&true) {
            return Ok(Vec::new());
        }
        let reports = match compute {
            Compute::Gemm(gemm) => self.verify_gemm(gemm)?,
            Compute::Map(map) => map::verify(self, map)?,
            other => vec![lines::verify(self, other)?],
        };
        let seconds = start.elapsed().as_secs_f64() / reports.len().max(1) as f64;
        let mut of_left = Vec::new();
        for ((output, mut report), _) in outputs
            .iter()
            .zip(reports)
            .zip(left)
            .filter(|(_, left)| *left)
        {
            // Of a view the gaps are those of its argument.
            if let Some(argument) = self.views.argument_of(output.arg)
                && let Some(byte) =
                    changed_gap(&self.function.args[argument], self.tensors[argument])
            {
                let name = self.name(argument).to_string();
                report.failures.insert(0, Failure::Padding { name, byte });
            }
            if let Some(argument) = self.views.argument_of(output.arg)
                && argument != output.arg
                && let Some(byte) = self.views.changed_outside(
                    argument,
                    self.earlier.iter().chain(self.rest),
                    (self.before, self.tensors),
                )
            {
                let name = self.name(argument).to_string();
                report.failures.insert(0, Failure::Outside { name, byte });
            }
            if let Compute::Gemm(gemm) = compute {
                if let Some(failure) = self.behind_groups(gemm, output.arg)? {
                    report.failures.insert(0, failure);
                }
                report.apply_norm_limit(gemm.tolerance);
            }
            report.seconds = seconds;
            of_left.push(report);
        }
        Ok(of_left)
    }

    /// Tells whether what a compute left in an output is there still: no later one wrote over it. Errors: one did in part.
    fn is_left(&self, compute: &Compute, output: usize) -> Result<bool, VerifyError> {
        let is_whole = |compute: &Compute| match compute {
            Compute::Gemm(gemm) => gemm.at_c.is_none(),
            _ => true,
        };
        for later in self.rest.iter().skip(1) {
            for other in later.outputs() {
                match (self.views.shared(output, other.arg), is_whole(later)) {
                    (Shared::None, _) => {}
                    (Shared::All, true) => return Ok(false),
                    // Each at coordinates of its own.
                    (_, false) if !is_whole(compute) => {}
                    _ => return Err(VerifyError::LostInPart(self.name(output).to_string())),
                }
            }
        }
        Ok(true)
    }

    /// Tells whether one of these writes elements of a tensor.
    fn writes(&self, computes: &[Compute], index: usize) -> bool {
        let mut outputs = computes.iter().flat_map(Compute::outputs);
        let shares = |of: usize| self.views.shared(index, of) != Shared::None;
        outputs.any(|output| shares(output.arg))
    }

    fn name(&self, index: usize) -> &'a str {
        self.function.args[index].name()
    }

    /// The tensor as it was when this was computed: before the launch, unless something computed it earlier. One that is
    /// only read is as it was.
    fn before(&self, index: usize) -> Result<&'a HostTensor, VerifyError> {
        if self.writes(self.earlier, index) {
            // What stands in it now is that, or what came later.
            return match self.writes(self.rest, index) {
                true => Err(VerifyError::Lost(self.name(index).to_string())),
                false => Ok(self.tensors[index]),
            };
        }
        let Some(argument) = self.views.argument_of(index) else {
            return Err(VerifyError::Unwritten(self.name(index).to_string()));
        };
        match self.before {
            Some(before) => Ok(before[index]),
            None if self.function.args[argument].access().writes() => {
                Err(VerifyError::NoBefore(self.name(index).to_string()))
            }
            None => Ok(self.tensors[index]),
        }
    }

    /// The value of a factor, which is finite.
    fn factor(&self, name: &'static str, factor: Factor) -> Result<f64, VerifyError> {
        let value = match factor {
            Factor::Constant(value) => value,
            // Packages are valid: it is a scalar.
            Factor::Argument { scalar } => self.tensors[scalar].get(0).unwrap_or(f64::NAN),
        };
        if value.is_finite() {
            return Ok(value);
        }
        let expected = "finite numbers";
        Err(VerifyError::Factor {
            name,
            value,
            expected,
        })
    }

    /// One product of a batch of an argument.
    fn matrix(
        &self,
        index: usize,
        tensor: &'a HostTensor,
        product: usize,
    ) -> Result<Matrix<'a>, VerifyError> {
        let bad = || ArgError::BadLayout {
            name: self.name(index).to_string(),
            error: crate::layout::LayoutError {
                text: tensor.layout().text().to_string(),
                reason: "expected two modes, or three".into(),
            },
        };
        Ok(Matrix::of_batch(tensor, product).ok_or_else(bad)?)
    }

    /// The part of a matrix of C's shape (operand 2), A's (0) or B's (1) that one product of a batch has, or of groups of rows.
    fn own(
        &self,
        gemm: &Gemm,
        operand: usize,
        (index, tensor): (usize, &'a HostTensor),
        product: usize,
    ) -> Result<Matrix<'a>, VerifyError> {
        match gemm.groups.filter(|_| operand != 1) {
            Some(ends) => {
                let of_group = self.rows_of_group(ends, product)?;
                Ok(self.matrix(index, tensor, 0)?.rows_between(of_group))
            }
            None => self.matrix(index, tensor, product),
        }
    }

    /// An end of groups of rows, which ascend from 0 to M ([`Run::check_groups`]).
    fn end(&self, ends: usize, group: usize) -> Result<usize, VerifyError> {
        let group = i64::try_from(group).unwrap_or(i64::MAX);
        Ok(self.before(ends)?.get(group).unwrap_or(0.0) as usize)
    }

    /// The rows of a group, from the first to the one behind the last.
    fn rows_of_group(&self, ends: usize, group: usize) -> Result<[usize; 2], VerifyError> {
        let from = match group.checked_sub(1) {
            Some(before) => self.end(ends, before)?,
            None => 0,
        };
        Ok([from, self.end(ends, group)?])
    }

    /// Refuses ends of groups of rows that do not ascend from 0 to M.
    fn check_groups(&self, gemm: &Gemm) -> Result<(), VerifyError> {
        let Some(index) = gemm.groups else {
            return Ok(());
        };
        let (ends, name) = (self.before(index)?, self.name(index));
        let rows = self.matrix(gemm.c, self.tensors[gemm.c], 0)?.rows() as f64;
        let refuse = |reason: String| {
            let function = self.function.name.clone();
            Err(ArgError::Call { function, reason }.into())
        };
        let mut least = 0.0;
        for group in 0..ends.layout().size() {
            let end = ends.get(group).unwrap_or(f64::NAN);
            if end.is_nan() || end < least {
                return refuse(format!(
                    "expected {name}, the ends of groups of rows, to ascend from 0, found {end} behind {least} at {group}"
                ));
            }
            if end > rows {
                return refuse(format!(
                    "expected {name}, the ends of groups of rows, up to {rows}, found {end}"
                ));
            }
            least = end;
        }
        Ok(())
    }

    /// Elements of outputs behind the last group of rows that were written, as a failure of their output.
    fn behind_groups(&self, gemm: &Gemm, output: usize) -> Result<Option<Failure>, VerifyError> {
        let Some(ends) = gemm.groups else {
            return Ok(None);
        };
        let groups = self.tensors[ends].layout().size();
        let last = self.end(ends, usize::try_from(groups - 1).unwrap_or(0))?;
        let tensor = self.tensors[output];
        let matrix = self.matrix(output, tensor, 0)?;
        let (rows, columns) = (matrix.rows(), matrix.columns());
        let behind = matrix.rows_between([last, rows]);
        // The element at an offset is what it was: poison, where nothing else is known of what is only written. Of what something reads as well nothing may be known.
        let before = self.before(output).ok();
        if before.is_none() && self.function.args[output].access().reads() {
            return Ok(None);
        }
        let is_kept = |offset: i64| match before {
            Some(before) => before.element_bytes(offset) == tensor.element_bytes(offset),
            None => tensor.element_bytes(offset).iter().all(|b| *b == POISON),
        };
        let place = behind.offsets().position(|offset| !is_kept(offset));
        Ok(place.map(|place| Failure::BehindGroups {
            name: self.name(output).to_string(),
            row: last + place / columns.max(1),
            column: place % columns.max(1),
        }))
    }

    /// One product of a batch of a factor as it is stored, or of C: of a tensor at coordinates or of rows by index too.
    fn placed(
        &self,
        gemm: &Gemm,
        operand: usize,
        tensor: &'a HostTensor,
        product: usize,
    ) -> Result<Matrix<'a>, VerifyError> {
        let index = [gemm.a, gemm.b, gemm.c][operand];
        let call = |reason: String| ArgError::Call {
            function: self.function.name.clone(),
            reason,
        };
        if let Some(at) = gemm.places()[operand] {
            let known = at
                .known(&self.views.known, tensor.layout().rank().max(1))
                .map_err(call)?;
            let matrix = Matrix::at_coordinates(tensor, &known, product);
            let matrix =
                matrix.ok_or_else(|| call("expected rows and columns at coordinates".into()))?;
            if operand == 2 && !matrix.is_complete() {
                return Err(call(format!(
                    "expected coordinates inside of {}",
                    self.name(index)
                ))
                .into());
            }
            return Ok(matrix);
        }
        let Some(rows) = gemm.rows().get(operand).and_then(|(_, rows)| *rows) else {
            return self.own(gemm, operand, (index, tensor), product);
        };
        // Indices are of rows of the whole tensor: a product of a batch has its own, and a group some of them.
        let indices = self.before(rows)?;
        let shape = indices.layout().shape();
        let count = usize::try_from(shape.first().copied().unwrap_or(0)).unwrap_or(0);
        let (of, [from, to]) = match gemm.groups {
            Some(ends) => (0, self.rows_of_group(ends, product)?),
            None => (product, [product * count, (product + 1) * count]),
        };
        let indices: Option<Vec<i64>> = (from..to)
            .map(|at| Some(indices.get(i64::try_from(at).ok()?)? as i64))
            .collect();
        let indices = indices.ok_or_else(|| call("expected an index for each row".into()))?;
        Ok(self.matrix(index, tensor, of)?.by_rows(&indices))
    }

    fn verify_gemm(&self, gemm: &'a Gemm) -> Result<Vec<Report>, VerifyError> {
        self.check_groups(gemm)?;
        let shape = match &gemm.at_c {
            Some(at) => {
                let sizes = at.sizes(&self.views.known);
                sizes.into_iter().flatten().collect()
            }
            None => self.tensors[gemm.c].layout().shape(),
        };
        let of_groups = gemm.groups.map(|ends| self.tensors[ends].layout().size());
        let products = of_groups.or(shape.get(2).copied());
        let Some(products) = products.and_then(|count| usize::try_from(count).ok()) else {
            return self.verify_product(gemm, 0, self.config);
        };
        // What may be computed is shared.
        let each = Config {
            full_limit: self.config.full_limit / products.max(1) as u64,
            probe_budget: self.config.probe_budget / products.max(1) as u64,
            ..self.config.clone()
        };
        let mut whole: Option<Vec<Report>> = None;
        for product in 0..products {
            let reports = self.verify_product(gemm, product, &each)?;
            whole = Some(match whole {
                Some(before) => {
                    let both = before.into_iter().zip(reports);
                    both.map(|(before, report)| before.with_product(report, product))
                        .collect()
                }
                None => {
                    let first = reports.into_iter();
                    let of_all = |report: Report| match (gemm.groups, shape.first()) {
                        (Some(_), Some(rows)) => {
                            report.with_groups(usize::try_from(*rows).unwrap_or(0))
                        }
                        _ => report.with_batch(products),
                    };
                    first.map(of_all).collect()
                }
            });
        }
        whole.map_or_else(|| self.verify_product(gemm, 0, self.config), Ok)
    }

    /// One product of a batch, or the only one: a report for each output.
    fn verify_product(
        &self,
        gemm: &'a Gemm,
        index: usize,
        config: &Config,
    ) -> Result<Vec<Report>, VerifyError> {
        if let Some(epilogue) = &gemm.epilogue {
            return epilogue::verify(self, gemm, epilogue, index, config);
        }
        let mut product = self.product(gemm, index, config, None)?;
        let Product { m, n, k, .. } = product;
        let multiply_adds = (m as u64).saturating_mul(n as u64).saturating_mul(k as u64);
        let report = match check::scan(product.names[2], &product.c) {
            Some(failure) => {
                let mut report = Report::of_product(&product);
                report.failures.push(failure);
                report
            }
            None if multiply_adds <= config.full_limit => check::compare_all(&product)?,
            None => probe::compare_probed(&mut product, config)?,
        };
        Ok(vec![report])
    }

    /// A factor of one product of a batch, or of the only one, as it is multiplied.
    fn product_factor(
        &self,
        gemm: &Gemm,
        operand: usize,
        prologue: Option<&Prologue>,
        product: usize,
    ) -> Result<prologue::Factor<'a>, VerifyError> {
        let index = [gemm.a, gemm.b][operand];
        let Some(prologue) = prologue else {
            let matrix = self.placed(gemm, operand, self.before(index)?, product)?;
            return Ok(prologue::Factor::Stored(matrix));
        };
        let (mut names, mut matrices) = (Vec::new(), Vec::new());
        for (at, tensor) in std::iter::once(&index).chain(&prologue.inputs).enumerate() {
            let before = self.before(*tensor)?;
            let matrix = match at {
                0 => self.placed(gemm, operand, before, product)?,
                _ => self.own(gemm, operand, (*tensor, before), product)?,
            };
            check::row_norms(self.name(*tensor), &matrix)?;
            names.push(self.name(*tensor));
            matrices.push(matrix);
        }
        let evaluator =
            self.evaluator("a scalar of a prologue", &prologue.region, &matrices, None)?;
        let source = prologue::Source {
            names,
            yielded: prologue.region.yields.first().copied().unwrap_or(0),
            element: prologue.multiplied(matrices[0].element()),
            scale: prologue.region.yields.get(1).copied(),
            matrices,
            evaluator,
        };
        Ok(prologue::Factor::Computed(source.compute()?))
    }

    /// The region with the values of its scalars, whose arguments are a sum of that type, if any, and elements of those matrices.
    fn evaluator<'r>(
        &self,
        what: &'static str,
        region: &'r crate::package::Region,
        matrices: &[Matrix],
        sum: Option<Element>,
    ) -> Result<region::Evaluator<'r>, VerifyError> {
        for op in &region.ops {
            if let RegionValue::Scalar(scalar) = op.value {
                self.factor(what, Factor::Argument { scalar })?;
            }
        }
        let scalar = |arg: usize| region::Ball::of_element(self.tensors[arg], 0);
        let elements = matrices.iter().map(Matrix::element);
        let arguments: Vec<Element> = sum.into_iter().chain(elements).collect();
        // Packages are valid: the operations suit the types.
        let types = region.types(&arguments, |arg| Ok(self.tensors[arg].element()));
        Ok(region::Evaluator::new(
            region,
            types.unwrap_or_default(),
            scalar,
        ))
    }

    /// The matrices of one product of a batch, or of the only one, whose sums are rounded to elements of type `output`, or of C's.
    fn product(
        &self,
        gemm: &Gemm,
        product: usize,
        config: &Config,
        output: Option<Element>,
    ) -> Result<Product<'a>, VerifyError> {
        let indices = [gemm.a, gemm.b, gemm.c];
        let factors = [gemm.a, gemm.b];
        let is_computed = factors
            .iter()
            .any(|index| self.writes(self.earlier, *index));
        let a = self.product_factor(gemm, 0, gemm.prologue_a.as_deref(), product)?;
        let b = self.product_factor(gemm, 1, gemm.prologue_b.as_deref(), product)?;
        let c = self.placed(gemm, 2, self.tensors[gemm.c], product)?;
        let (m, n, k) = (c.rows(), c.columns(), a.columns());
        let accumulate: Element = gemm.accumulate.parse()?;
        let multiply = gemm.multiply.as_deref().map(str::parse).transpose()?;
        let alpha = gemm.alpha.map_or(Ok(1.0), |f| self.factor("alpha", f))?;
        let beta = gemm.beta.map_or(Ok(0.0), |f| self.factor("beta", f))?;
        if !accumulate.is_float() {
            for (name, value) in [("alpha", alpha), ("beta", beta)] {
                if value.fract() != 0.0 {
                    let expected = "integers, as sums are";
                    return Err(VerifyError::Factor {
                        name,
                        value,
                        expected,
                    });
                }
            }
        }
        let names = indices.map(|index| self.name(index));
        let addend = if beta == 0.0 {
            None
        } else {
            let before = self.placed(gemm, 2, self.before(gemm.c)?, product)?;
            check::row_norms(names[2], &before)?;
            Some((beta, before))
        };
        let wider = if a.element().size() >= b.element().size() {
            a.element()
        } else {
            b.element()
        };
        Ok(Product {
            names,
            m,
            n,
            k,
            alpha,
            addend,
            tolerance: Tolerance::new(Kind {
                input: wider,
                multiply,
                accumulate,
                output: output.unwrap_or(c.element()),
                k,
                scaled: gemm.alpha.is_some() || gemm.beta.is_some(),
                // What a prologue, or another op, makes of numbers of mean zero may have any.
                data: match a.is_stored() && b.is_stored() && !is_computed {
                    true => config.data,
                    false => Data::Any,
                },
            }),
            a_norms: norms(names[0], &a)?,
            b_norms: norms(names[1], &b)?,
            a,
            b,
            c,
        })
    }
}
