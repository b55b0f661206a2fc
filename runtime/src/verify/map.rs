//! Maps: what a region makes of elements and of reductions along modes is compared with what it makes of exact ones.
//!
//! A *line* is all elements whose indices of the modes that are not reduced are the same. The region's operations are evaluated for
//! each element as those of an epilogue are (`region`), its reductions over the elements of a line (`reduction`): first those that are
//! of no others, then those that use them, and at last what is yielded. So nothing but the reductions of a line is kept, however long
//! it is. Without reductions each element stands alone, and a line is only what is evaluated together.
//!
//! An element that is yielded as it was read is compared byte by byte. Elements of an output that lie at one place are compared once.
//!
//! A map that is too large to be compared as a whole is compared by lines, one at a random place of each of as many equal bands as the
//! budget allows: of consecutive lines that are as many as a band and begin with one, one is met, and of twice as many wherever they
//! begin. Without reductions, it is compared by rows and by columns in that way. All elements are looked at for what was never
//! written, and those that are NaN are compared.

use std::collections::BTreeMap;
use std::ops::Range;

use super::check::{Found, Looked, Tally, look, row_norms};
use super::epilogue::{NANS, OPERATION, bands};
use super::fused;
use super::places::{Places, Split};
use super::reduction::Partial;
use super::region::{Ball, Evaluator};
use super::report::{Failure, Method, Report};
use super::{Config, Run, VerifyError};
use crate::element::Element;
use crate::package::{Factor, Map, ReduceOp, Region, RegionValue, varies};
use crate::parallel::parallel_fold;
use crate::tensor::{HostTensor, Matrix, mix};

/// Elements that are evaluated before the reductions of their lines are, about.
const BATCH: usize = 1 << 20;

/// Elements that one thread evaluates before it asks for more work.
const PIECE: usize = 1 << 13;

/// Elements of a last mode that are worth a line.
const LINE: i64 = 16;

/// A reduction of a region.
#[derive(Clone, Copy)]
struct Reduction {
    op: ReduceOp,
    /// The number of the operation.
    at: usize,
    /// The value that is reduced.
    of: usize,
}

/// The values that are computed of each element of a line before what comes next is.
#[derive(Default)]
struct Pass {
    /// The inputs that are read.
    inputs: Vec<usize>,
    /// The operations, in their order, but for reductions.
    ops: Vec<usize>,
    /// The reductions that it is for; none of what is yielded.
    reductions: Vec<Reduction>,
}

pub(super) struct Input<'a> {
    pub(super) tensor: &'a HostTensor,
    pub(super) places: Places,
}

impl Input<'_> {
    pub(super) fn ball(&self, offset: i64) -> Ball {
        Ball::of_element(self.tensor, offset)
    }
}

struct Output<'a> {
    name: &'a str,
    tensor: &'a HostTensor,
    places: Places,
    /// Numbers that are 0 of the first of the elements that lie at one place; none where each is compared.
    repeats: Option<Places>,
    value: usize,
    /// The input that it is a copy of.
    source: Option<usize>,
}

/// A map on tensors.
struct Elements<'a> {
    split: Split,
    rows: Places,
    columns: Places,
    inputs: Vec<Input<'a>>,
    outputs: Vec<Output<'a>>,
    evaluator: Evaluator<'a>,
    /// The passes that reduce, in their order.
    passes: Vec<Pass>,
    /// The pass of what is yielded.
    last: Pass,
    /// The reductions of all passes, in the order in which a line's results are kept.
    reductions: Vec<Reduction>,
}

/// Indices: some, or all below a number.
struct Chosen {
    count: usize,
    list: Option<Vec<usize>>,
}

impl Chosen {
    fn all(count: usize) -> Chosen {
        Chosen { count, list: None }
    }

    fn some(list: Vec<usize>) -> Chosen {
        let count = list.len();
        let list = Some(list);
        Chosen { count, list }
    }

    fn at(&self, at: usize) -> usize {
        self.list.as_ref().map_or(at, |list| list[at])
    }
}

/// The memory of a thread.
struct Scratch {
    /// All values of the region, for one element.
    values: Vec<Ball>,
    bases: Vec<i64>,
}

/// A report for each output.
pub(super) fn verify<'a>(run: &Run<'a>, map: &'a Map) -> Result<Vec<Report>, VerifyError> {
    let region = &map.region;
    if fused::is_fused(region, map.inputs.len()) {
        return fused::verify(run, map);
    }
    let Some(first) = map.outputs.first() else {
        return Ok(Vec::new());
    };
    let shape = run.tensors[*first].layout().shape();
    let along = match region.reduced() {
        Some(along) => along,
        None => line_of(&shape).into_iter().collect(),
    };
    let Prepared {
        split,
        inputs,
        evaluator,
    } = prepare(run, map, Split::new(shape, &along))?;
    let outputs = outputs(run, map, &split, &inputs);
    let (passes, last) = passes(region, inputs.len());
    let reductions = passes.iter().flat_map(|pass| pass.reductions.clone());
    let elements = Elements {
        rows: split.rows(),
        columns: split.columns(),
        reductions: reductions.collect(),
        split,
        inputs,
        outputs,
        evaluator,
        passes,
        last,
    };
    elements.verify(run.config)
}

/// The inputs of a map, each with its places, and the evaluator of its region.
pub(super) struct Prepared<'a> {
    pub(super) split: Split,
    pub(super) inputs: Vec<Input<'a>>,
    pub(super) evaluator: Evaluator<'a>,
}

/// Prepares the evaluation of a map by lines. Errors: inputs that are not finite, scalars that are not given.
pub(super) fn prepare<'a>(
    run: &Run<'a>,
    map: &'a Map,
    split: Split,
) -> Result<Prepared<'a>, VerifyError> {
    let region = &map.region;
    let mut inputs = Vec::new();
    for arg in &map.inputs {
        let tensor = run.before(*arg)?;
        check_finite(run.name(*arg), tensor, &split)?;
        let places = split.offsets(tensor.layout());
        inputs.push(Input { tensor, places });
    }
    for op in &region.ops {
        if let RegionValue::Scalar(scalar) = op.value {
            run.factor("a scalar of the map", Factor::Argument { scalar })?;
        }
    }
    let arguments: Vec<Element> = inputs.iter().map(|input| input.tensor.element()).collect();
    // Packages are valid: the operations suit the types.
    let types = region.types(&arguments, |arg| Ok(run.tensors[arg].element()));
    let scalar = |arg: usize| Ball::of_element(run.tensors[arg], 0);
    let evaluator = Evaluator::new(region, types.unwrap_or_default(), scalar);
    Ok(Prepared {
        split,
        inputs,
        evaluator,
    })
}

/// The mode along which elements that stand alone are evaluated together.
fn line_of(shape: &[i64]) -> Option<usize> {
    let last = shape.len().checked_sub(1)?;
    if shape[last] >= LINE {
        return Some(last);
    }
    (0..shape.len()).max_by_key(|mode| shape[*mode])
}

fn outputs<'a>(run: &Run<'a>, map: &Map, split: &Split, inputs: &[Input<'a>]) -> Vec<Output<'a>> {
    let modes = |tensor: &HostTensor| 0..tensor.layout().rank();
    let leaves = |tensor: &HostTensor, mode| {
        let leaves = tensor.layout().mode_leaves(mode).to_vec();
        leaves
            .into_iter()
            .map(|(shape, stride)| (Some(shape), Some(stride)))
    };
    let vary = |input: &Input| {
        let modes = modes(input.tensor).map(|mode| varies(leaves(input.tensor, mode)));
        modes.collect::<Vec<bool>>()
    };
    let rank = map
        .outputs
        .first()
        .map_or(0, |output| modes(run.tensors[*output]).len());
    let values = map.region.varying(inputs.iter().map(vary).collect(), rank);
    let output = |(arg, value): (&usize, &usize)| {
        let tensor = run.tensors[*arg];
        let is_one = |mode: usize| {
            let repeats = crate::package::repeats(leaves(tensor, mode));
            !repeats || !values.get(*value).is_some_and(|varies| varies[mode])
        };
        // What varies where there is one place for it is never right everywhere.
        let repeats = modes(tensor)
            .all(is_one)
            .then(|| split.repeats(tensor.layout()));
        let source = inputs.get(*value);
        let source = source.filter(|source| source.tensor.element() == tensor.element());
        Output {
            name: run.name(*arg),
            tensor,
            places: split.offsets(tensor.layout()),
            repeats,
            value: *value,
            source: source.map(|_| *value),
        }
    };
    map.outputs
        .iter()
        .zip(&map.region.yields)
        .map(output)
        .collect()
}

/// Checks that all elements are finite.
fn check_finite(name: &str, tensor: &HostTensor, split: &Split) -> Result<(), VerifyError> {
    row_norms(name, &Matrix::places(tensor))
        .map(drop)
        .map_err(|error| match error {
            VerifyError::NotFinite {
                name,
                value,
                row,
                column,
            } => {
                let coordinate = split.coordinate(tensor.layout(), row, column);
                let [line, at] = split.split(&coordinate);
                let of = |places: Places| (places.of_line(line) + places.along(at)) as usize;
                let (row, column) = (of(split.rows()), of(split.columns()));
                VerifyError::NotFinite {
                    name,
                    value,
                    row,
                    column,
                }
            }
            other => other,
        })
}

/// The passes that reduce, and that of what is yielded; each computes what it needs and no reduction gives.
fn passes(region: &Region, arguments: usize) -> (Vec<Pass>, Pass) {
    let count = arguments + region.ops.len();
    // How many reductions are one of another, at most, to get to a value.
    let mut depths = vec![0usize; count];
    for (at, op) in region.ops.iter().enumerate() {
        let of = op
            .value
            .operands()
            .iter()
            .filter_map(|value| depths.get(*value));
        let depth = of.copied().max().unwrap_or(0);
        let reduces = matches!(op.value, RegionValue::Reduce(..));
        depths[arguments + at] = depth + usize::from(reduces);
    }
    let needed = |targets: &[usize], through_reductions: bool| {
        let mut needed = vec![false; count];
        for target in targets {
            if let Some(needed) = needed.get_mut(*target) {
                *needed = true;
            }
        }
        for (at, op) in region.ops.iter().enumerate().rev() {
            let reduces = matches!(op.value, RegionValue::Reduce(..));
            if !needed[arguments + at] || reduces && !through_reductions {
                continue;
            }
            for value in op.value.operands() {
                if let Some(needed) = needed.get_mut(*value) {
                    *needed = true;
                }
            }
        }
        needed
    };
    let used = needed(&region.yields, true);
    let pass = |targets: &[usize], reductions: Vec<Reduction>| {
        let needed = needed(targets, false);
        let is_op = |op: &usize| matches!(region.ops[*op].value, RegionValue::Op(..));
        let ops = (0..region.ops.len()).filter(|op| needed[arguments + op]);
        Pass {
            inputs: (0..arguments).filter(|input| needed[*input]).collect(),
            ops: ops.filter(is_op).collect(),
            reductions,
        }
    };
    let deepest = (0..count)
        .filter(|value| used[*value])
        .map(|value| depths[value]);
    let reducing = (1..=deepest.max().unwrap_or(0)).map(|depth| {
        let reductions = region.ops.iter().enumerate().filter_map(|(at, op)| {
            let RegionValue::Reduce(op, of, _) = op.value else {
                return None;
            };
            let value = arguments + at;
            (used[value] && depths[value] == depth).then_some(Reduction { op, at, of })
        });
        let reductions: Vec<Reduction> = reductions.collect();
        let targets: Vec<usize> = reductions.iter().map(|reduction| reduction.of).collect();
        pass(&targets, reductions)
    });
    (reducing.collect(), pass(&region.yields, Vec::new()))
}

impl Elements<'_> {
    fn verify(&self, config: &Config) -> Result<Vec<Report>, VerifyError> {
        let layouts = self.outputs.iter().map(|output| output.tensor.layout());
        let looked: Vec<Looked> = self
            .outputs
            .iter()
            .zip(layouts)
            .map(|(output, layout)| {
                look(&Matrix::places(output.tensor), NANS).moved(|row, column| {
                    let [line, at] = self
                        .split
                        .split(&self.split.coordinate(layout, row, column));
                    self.row_and_column(line, at)
                })
            })
            .collect();
        let (samples, method) = self.samples(config);
        let mut tallies = vec![Tally::default(); self.outputs.len()];
        for (lines, indices) in &samples {
            for (tally, of) in tallies.iter_mut().zip(self.compare(lines, indices)) {
                tally.join(of);
            }
        }
        let mut reports = Vec::new();
        for (at, ((output, looked), tally)) in
            self.outputs.iter().zip(looked).zip(tallies).enumerate()
        {
            let shape = output.tensor.layout().shape();
            let shape = shape.into_iter().map(|size| size as usize).collect();
            let mut report = Report::unmeasured("map", output.name, shape);
            if let Some(failure) = looked.unwritten_failure(output.name) {
                report.failures.push(failure);
                reports.push(report);
                continue;
            }
            report
                .failures
                .extend(self.unexpected_nan(at, &looked.nans));
            if tally.compared == 0 && tally.undecided > 0 {
                return Err(VerifyError::Undecided(output.name.to_string()));
            }
            reports.push(tally.into_report(report, output.tensor.element(), method.clone())?);
        }
        Ok(reports)
    }

    /// The lines that are compared, with the indices in them, and what that is called.
    fn samples(&self, config: &Config) -> (Vec<(Chosen, Chosen)>, Method) {
        let (lines, width) = (self.split.lines(), self.width());
        let all = || (vec![(Chosen::all(lines), Chosen::all(width))], Method::Full);
        let of = |ops: usize, elements: usize| {
            let each = OPERATION.saturating_mul(ops).max(1) as u64;
            each.saturating_mul(elements as u64).max(1)
        };
        let reducing = self.passes.iter();
        let reducing = reducing
            .map(|pass| pass.ops.len() + pass.reductions.len())
            .sum();
        let yielding = self.last.ops.len();
        let line = match self.passes.is_empty() {
            true => of(yielding, width),
            false => of(reducing, self.split.length()).saturating_add(of(yielding, width)),
        };
        if line.saturating_mul(lines as u64) <= config.full_limit {
            return all();
        }
        let count = |budget: u64, each: u64, total: usize| {
            let count = usize::try_from(budget / each).unwrap_or(usize::MAX);
            count.clamp(1, total.max(1))
        };
        let chosen = |total: usize, count: usize, stream: u64| match count == total {
            true => Chosen::all(total),
            false => Chosen::some(bands(total, count, mix(config.seed, stream))),
        };
        if !self.passes.is_empty() {
            let some = count(config.probe_budget, line, lines);
            let method = match some == lines {
                true => Method::Full,
                false => Method::Lines {
                    lines: some,
                    of: lines,
                },
            };
            return (vec![(chosen(lines, some, 1), Chosen::all(width))], method);
        }
        let half = config.probe_budget / 2;
        // One line is no sample of what is one line, nor is one index where each line has one.
        let rows = match lines {
            1 => 0,
            _ => count(half, line, lines),
        };
        let columns = match width {
            1 => 0,
            _ => count(half, of(yielding, lines), width),
        };
        if rows == lines || columns == width || rows == 0 && columns == 0 {
            return all();
        }
        let mut samples = Vec::new();
        if rows > 0 {
            samples.push((chosen(lines, rows, 1), Chosen::all(width)));
        }
        if columns > 0 {
            samples.push((Chosen::all(lines), chosen(width, columns, 2)));
        }
        (samples, Method::Sampled { rows, columns })
    }

    /// The elements of a line that are compared: one, where all outputs are the same along it.
    fn width(&self) -> usize {
        let is_one = |output: &Output| output.repeats.is_some() && output.places.is_one_along();
        match self.outputs.iter().all(is_one) {
            true => self.split.length().min(1),
            false => self.split.length(),
        }
    }

    fn row_and_column(&self, line: usize, at: usize) -> (usize, usize) {
        let of = |places: &Places| (places.of_line(line) + places.along(at)) as usize;
        (of(&self.rows), of(&self.columns))
    }

    /// The NaNs of an output that the region gives for no right values.
    fn unexpected_nan(&self, output: usize, nans: &[(usize, usize)]) -> Option<Failure> {
        let shape = self.outputs[output].tensor.layout().shape();
        let mut lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, column) in nans {
            let mut rest = *row;
            let mut coordinate: Vec<usize> = Vec::new();
            for size in &shape[..shape.len().saturating_sub(1)] {
                let size = usize::try_from(*size).unwrap_or(0).max(1);
                coordinate.push(rest % size);
                rest /= size;
            }
            coordinate.push(*column);
            let [line, at] = self.split.split(&coordinate);
            lines.entry(line).or_default().push(at);
        }
        let mut found = Found::default();
        for (line, indices) in lines {
            let all = self.compare(&Chosen::some(vec![line]), &Chosen::some(indices));
            let tally = &all[output];
            // Each is infinitely wrong, so the worst one is the first.
            let first = tally.worst.as_ref().map(|worst| (worst.row, worst.column));
            found.join(Found {
                count: tally.compared,
                first,
            });
        }
        let (row, column) = found.first?;
        Some(Failure::NotANumber {
            name: self.outputs[output].name.to_string(),
            count: found.count,
            row,
            column,
        })
    }

    /// Compares the elements of those indices in those lines, of each output.
    fn compare(&self, lines: &Chosen, indices: &Chosen) -> Vec<Tally> {
        let longest = match self.passes.is_empty() {
            true => indices.count,
            false => self.split.length().max(indices.count),
        };
        let batch = (BATCH / longest.max(1)).max(1);
        let mut tallies = vec![Tally::default(); self.outputs.len()];
        for from in (0..lines.count).step_by(batch) {
            let lines: Vec<usize> = (from..lines.count.min(from + batch))
                .map(|line| lines.at(line))
                .collect();
            let reduced = self.reduce(&lines);
            let parts = self.compare_lines(&lines, &reduced, indices);
            for (tally, of) in tallies.iter_mut().zip(parts) {
                tally.join(of);
            }
        }
        tallies
    }

    /// The reductions of those lines, those of a line together.
    fn reduce(&self, lines: &[usize]) -> Vec<Ball> {
        let length = self.split.length();
        let kept = self.reductions.len();
        let mut reduced = vec![Ball::UNKNOWN; lines.len() * kept];
        let mut done = 0;
        for pass in &self.passes {
            let of_pass = pass.reductions.len();
            let none: Vec<Partial> = pass.reductions.iter().map(|r| Partial::new(r.op)).collect();
            let parts = parallel_fold(
                pieces(lines.len(), length),
                || (Vec::new(), self.scratch()),
                |(parts, scratch), (number, piece): (usize, Range<usize>)| {
                    let first = piece.start / length;
                    let mut partials: Vec<Partial> = Vec::new();
                    for (line, indices) in segments(piece, length) {
                        let from = partials.len();
                        partials.extend(&none);
                        let of_line = &reduced[line * kept..(line + 1) * kept];
                        self.evaluate(pass, lines[line], of_line, indices, scratch, |_, values| {
                            for (partial, r) in partials[from..].iter_mut().zip(&pass.reductions) {
                                partial.add(values.get(r.of).unwrap_or(&Ball::UNKNOWN));
                            }
                        });
                    }
                    parts.push((number, first, partials));
                },
            );
            // Their order decides the last bits of the sums, so it is that of the pieces.
            let mut parts: Vec<_> = parts.into_iter().flat_map(|(parts, _)| parts).collect();
            parts.sort_unstable_by_key(|(number, ..)| *number);
            let mut whole = none.repeat(lines.len());
            for (_, first, partials) in parts {
                for (whole, part) in whole[first * of_pass..].iter_mut().zip(&partials) {
                    whole.join(part);
                }
            }
            for (line, whole) in whole.chunks(of_pass.max(1)).enumerate() {
                for (at, (partial, r)) in whole.iter().zip(&pass.reductions).enumerate() {
                    let ty = self.evaluator.type_of(self.evaluator.arguments() + r.at);
                    let result = ty.map(|ty| partial.finish(length, ty));
                    reduced[line * kept + done + at] = result.unwrap_or(Ball::UNKNOWN);
                }
            }
            done += of_pass;
        }
        reduced
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            values: self.evaluator.constants(),
            bases: Vec::new(),
        }
    }

    /// Computes the values of a pass for each of those indices of a line whose reductions are `reduced`, as far as they are known,
    /// and hands them to `each`.
    fn evaluate(
        &self,
        pass: &Pass,
        line: usize,
        reduced: &[Ball],
        indices: impl Iterator<Item = usize>,
        Scratch { values, bases }: &mut Scratch,
        mut each: impl FnMut(usize, &[Ball]),
    ) {
        for (reduction, result) in self.reductions.iter().zip(reduced) {
            if let Some(value) = values.get_mut(self.evaluator.arguments() + reduction.at) {
                *value = *result;
            }
        }
        bases.clear();
        bases.extend(
            pass.inputs
                .iter()
                .map(|input| self.inputs[*input].places.of_line(line)),
        );
        for index in indices {
            for (at, base) in pass.inputs.iter().zip(bases.iter()) {
                let input = &self.inputs[*at];
                if let Some(value) = values.get_mut(*at) {
                    *value = input.ball(base + input.places.along(index));
                }
            }
            self.evaluator.evaluate_ops(&pass.ops, values);
            each(index, values);
        }
    }

    /// Compares the elements of those indices in those lines, of which the reductions are known.
    fn compare_lines(&self, lines: &[usize], reduced: &[Ball], indices: &Chosen) -> Vec<Tally> {
        let kept = self.reductions.len();
        let parts = parallel_fold(
            pieces(lines.len(), indices.count),
            || (Vec::new(), self.scratch()),
            |(parts, scratch), (number, piece): (usize, Range<usize>)| {
                let mut tallies = vec![Tally::default(); self.outputs.len()];
                for (at, segment) in segments(piece, indices.count) {
                    let line = lines[at];
                    let of_line = &reduced[at * kept..(at + 1) * kept];
                    let segment = segment.map(|at| indices.at(at));
                    self.evaluate(
                        &self.last,
                        line,
                        of_line,
                        segment,
                        scratch,
                        |index, values| {
                            self.compare_element(line, index, values, &mut tallies);
                        },
                    );
                }
                parts.push((number, tallies));
            },
        );
        let parts: Vec<(usize, Vec<Tally>)> =
            parts.into_iter().flat_map(|(parts, _)| parts).collect();
        let of = |output: usize| {
            let of_each = parts.iter().map(|(at, all)| (*at, all[output].clone()));
            Tally::in_order(of_each.collect())
        };
        (0..self.outputs.len()).map(of).collect()
    }

    fn compare_element(&self, line: usize, at: usize, values: &[Ball], tallies: &mut [Tally]) {
        let place = |places: &Places| places.of_line(line) + places.along(at);
        let (row, column) = self.row_and_column(line, at);
        for (tally, output) in tallies.iter_mut().zip(&self.outputs) {
            if output
                .repeats
                .as_ref()
                .is_some_and(|repeats| place(repeats) != 0)
            {
                continue;
            }
            let value = values.get(output.value).unwrap_or(&Ball::UNKNOWN);
            let offset = place(&output.places);
            let is_other = |source: &Input| {
                let bytes = source.tensor.element_bytes(place(&source.places));
                bytes != output.tensor.element_bytes(offset)
            };
            // Equal numbers of other bytes are no copy, such as -0 of 0.
            let differs = output
                .source
                .is_some_and(|source| is_other(&self.inputs[source]));
            let found = Ball::of_element(output.tensor, offset);
            let element = output.tensor.element();
            tally.meet([row, column], element, found, [*value, *value], differs);
        }
    }
}

/// Ranges of all indices of so many lines of that length, numbered.
fn pieces(lines: usize, length: usize) -> Vec<(usize, Range<usize>)> {
    let all = lines * length;
    let starts = (0..all).step_by(PIECE).enumerate();
    starts
        .map(|(number, from)| (number, from..all.min(from + PIECE)))
        .collect()
}

/// The lines that a range is of, each with the indices in it.
fn segments(piece: Range<usize>, length: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut from = piece.start;
    std::iter::from_fn(move || {
        if from >= piece.end {
            return None;
        }
        let (line, first) = (from / length, from % length);
        let last = length.min(first + piece.end - from);
        from += last - first;
        Some((line, first..last))
    })
}
