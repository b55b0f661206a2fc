//! Maps with reductions along different modes, such as sums of products: what a region makes of elements is compared with what it makes of exact ones.
//!
//! A *line* is all elements whose indices of the outer modes are the same: those along which all outputs have elements of their own, but for the one along
//! which neighbours of the last output lie. For each line the region is evaluated value by value, each for all indices of those other modes along which it differs, by intervals
//! (`region`, `reduction`); a value that is the same for the next line is kept. A product that is only summed is never computed for each index.
//!
//! - A **sum of products** of numbers narrower than f32 loses what tensor cores lose (`tolerance`).
//! - What differs along a mode, and is computed of a reduction along it, may be **computed before all of the reduction is known**, and corrected by a power for
//!   each of *R* tiles of 16 indices: sums of it lose `R (2^-20 + 2^-22) + 2^-22 X` of the terms' magnitudes besides, with *X* the largest number of which a power was taken, and where it is rounded to
//!   a type of 16 bits, it is off by that type's unit roundoff on either side.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use super::check::{Tally, look};
use super::epilogue::{NANS, OPERATION, bands};
use super::lines::roundings;
use super::map::{Input, Prepared, prepare};
use super::places::{Places, Split};
use super::reduction::Partial;
use super::region::{Ball, Evaluator};
use super::report::{Method, Report};
use super::tolerance::unit_of_products;
use super::{Config, Run, VerifyError};
use crate::element::Element;
use crate::package::{Map, ReduceOp, Region, RegionValue, ValueType};
use crate::parallel::parallel_fold;
use crate::tensor::{HostTensor, Matrix, mix};
use cute_arith::ScalarOp;

/// Indices of a tile that a kernel may compute at once, at least.
const TILE: usize = 16;

/// Lines that one thread evaluates before it asks for more work.
const PIECE: usize = 16;

/// A value for all indices of the inner modes along which it differs.
#[derive(Debug)]
struct Array {
    /// These modes, by their places among the inner ones.
    modes: Vec<usize>,
    /// Colexicographic.
    balls: Vec<Ball>,
    /// The largest number of which a power was taken for it.
    reach: f64,
}

/// An output of the map.
struct Output<'a> {
    name: &'a str,
    tensor: &'a HostTensor,
    places: Places,
    /// The inner modes along which it has elements of its own, by their places.
    modes: Vec<usize>,
    value: usize,
}

/// A map on tensors.
struct Fused<'a> {
    region: &'a Region,
    evaluator: Evaluator<'a>,
    split: Split,
    rows: Places,
    columns: Places,
    inputs: Vec<Input<'a>>,
    outputs: Vec<Output<'a>>,
    /// The extents of the inner modes, and what a step along each adds to an index in a line.
    inner: Vec<(usize, usize)>,
    /// The inner modes along which each value differs, by their places, and the outer ones.
    varies: Vec<[Vec<usize>; 2]>,
    /// The inner modes along which it may be computed before a reduction is known.
    early: Vec<BTreeSet<usize>>,
    /// The values that are needed, in their order.
    needed: Vec<usize>,
    /// The extents of the outer modes, and what a step along each adds to the number of a line.
    outer: Vec<(usize, usize)>,
}

/// Tells whether a region is evaluated here: whether it reduces along different modes, or sums products that tensor cores may sum.
pub fn is_fused(region: &Region, arguments: usize) -> bool {
    let op = |value: usize| Some(&region.ops.get(value.checked_sub(arguments)?)?.value);
    let is_widened = |value: &usize| matches!(op(*value), Some(RegionValue::Op(ScalarOp::Convert, of)) if of.iter().all(|of| *of < arguments));
    let mut modes = BTreeSet::new();
    for reduce in &region.ops {
        let RegionValue::Reduce(kind, of, along) = &reduce.value else {
            continue;
        };
        modes.insert(along);
        if let (ReduceOp::Add, Some(RegionValue::Op(ScalarOp::Mul, factors))) = (kind, op(*of))
            && let [x, y] = factors[..]
            && x != y
            && factors.iter().all(is_widened)
        {
            return true;
        }
    }
    modes.len() > 1
}

/// A report for each output.
pub(super) fn verify<'a>(run: &Run<'a>, map: &'a Map) -> Result<Vec<Report>, VerifyError> {
    let Some(first) = map.outputs.first() else {
        return Ok(Vec::new());
    };
    let shape = run.tensors[*first].layout().shape();
    let rank = shape.len();
    let steps = |tensor: &HostTensor, mode: usize| {
        let mut leaves = tensor.layout().mode_leaves(mode).iter();
        leaves.any(|(_, stride)| *stride != 0)
    };
    let region = &map.region;
    let reduced: BTreeSet<usize> = region
        .ops
        .iter()
        .flat_map(|op| match &op.value {
            RegionValue::Reduce(_, _, along) => along.clone(),
            _ => Vec::new(),
        })
        .collect();
    let last = run.tensors[*map.outputs.last().unwrap_or(first)];
    let side_by_side = (0..rank).find(|mode| {
        let mut leaves = last.layout().mode_leaves(*mode).iter();
        leaves.any(|leaf| leaf.1 == 1)
    });
    let is_outer = |mode: &usize| {
        let own = |arg: &usize| steps(run.tensors[*arg], *mode) || shape[*mode] == 1;
        !reduced.contains(mode) && map.outputs.iter().all(own) && Some(*mode) != side_by_side
    };
    let (outer, inner): (Vec<usize>, Vec<usize>) = (0..rank).partition(is_outer);
    let Prepared {
        split,
        inputs,
        evaluator,
    } = prepare(run, map, Split::new(shape.clone(), &inner))?;
    let of_inputs = inputs
        .iter()
        .map(|input| (0..rank).map(|mode| steps(input.tensor, mode)).collect());
    let all = region.varying(of_inputs.collect(), rank);
    let among = |modes: &[usize], value: usize| -> Vec<usize> {
        let places = modes.iter().enumerate();
        let differs = places.filter(|(_, mode)| all[value][**mode]);
        differs.map(|(place, _)| place).collect()
    };
    let varies: Vec<[Vec<usize>; 2]> = (0..all.len())
        .map(|value| [among(&inner, value), among(&outer, value)])
        .collect();
    let weights = |modes: &[usize]| -> Vec<(usize, usize)> {
        let mut weight = 1;
        let extents = modes.iter().map(|mode| {
            let extent = usize::try_from(shape[*mode]).unwrap_or(0);
            let own = weight;
            weight *= extent;
            (extent, own)
        });
        extents.collect()
    };
    let outputs = map.outputs.iter().zip(&region.yields).map(|(arg, value)| {
        let tensor = run.tensors[*arg];
        let modes = inner.iter().enumerate();
        let own = modes.filter(|(_, mode)| steps(tensor, **mode));
        Output {
            name: run.name(*arg),
            tensor,
            places: split.offsets(tensor.layout()),
            modes: own.map(|(place, _)| place).collect(),
            value: *value,
        }
    });
    let fused = Fused {
        outputs: outputs.collect(),
        needed: needed(region, inputs.len()),
        early: early(region, &varies, &inner, inputs.len()),
        rows: split.rows(),
        columns: split.columns(),
        inner: weights(&inner),
        outer: weights(&outer),
        region,
        evaluator,
        split,
        inputs,
        varies,
    };
    fused.verify(run.config)
}

/// The values that what is yielded is computed from, but for products that are only summed.
fn needed(region: &Region, arguments: usize) -> Vec<usize> {
    let mut is_needed = vec![false; arguments + region.ops.len()];
    for value in &region.yields {
        is_needed[*value] = true;
    }
    for (at, op) in region.ops.iter().enumerate().rev() {
        if !is_needed[arguments + at] {
            continue;
        }
        for value in op.value.operands() {
            is_needed[*value] = true;
        }
    }
    (0..is_needed.len())
        .filter(|value| is_needed[*value])
        .collect()
}

/// The inner modes along which each value differs and is computed of a reduction along them.
fn early(
    region: &Region,
    varies: &[[Vec<usize>; 2]],
    inner: &[usize],
    arguments: usize,
) -> Vec<BTreeSet<usize>> {
    let mut since: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); arguments];
    for op in &region.ops {
        let of = op.value.operands().iter();
        let mut all: BTreeSet<usize> = of.flat_map(|value| since[*value].clone()).collect();
        if let RegionValue::Reduce(_, _, along) = &op.value {
            let places = along
                .iter()
                .filter_map(|mode| inner.iter().position(|own| own == mode));
            all.extend(places);
        }
        since.push(all);
    }
    let own = since.into_iter().zip(varies);
    own.map(|(since, [varies, _])| {
        varies
            .iter()
            .copied()
            .filter(|mode| since.contains(mode))
            .collect()
    })
    .collect()
}

/// The arrays of a line that others may use as well, by their values, each with the outer indices that it is of.
type Kept = BTreeMap<usize, (Vec<usize>, Rc<Array>)>;

impl Fused<'_> {
    fn verify(&self, config: &Config) -> Result<Vec<Report>, VerifyError> {
        let mut lines = BTreeSet::new();
        let mut failures = Vec::new();
        for output in &self.outputs {
            let layout = output.tensor.layout();
            let looked = look(&Matrix::places(output.tensor), NANS);
            let coordinate = |row, column| self.split.coordinate(layout, row, column);
            for (row, column) in &looked.nans {
                let [line, _] = self.split.split(&coordinate(*row, *column));
                lines.insert(line);
            }
            let looked = looked.moved(|row, column| {
                let [line, at] = self.split.split(&coordinate(row, column));
                self.row_and_column(line, at)
            });
            failures.push(looked.unwritten_failure(output.name));
        }
        // Where there is nothing along a mode, there are no elements.
        let is_empty = self.inner.iter().any(|(extent, _)| *extent == 0);
        let total = if is_empty { 0 } else { self.split.lines() };
        let each = self.cost();
        let (chosen, method) = match each.saturating_mul(total as u64) <= config.full_limit {
            true => ((0..total).collect(), Method::Full),
            false => {
                let count = usize::try_from(config.probe_budget / each.max(1)).unwrap_or(total);
                let count = count.clamp(1, total.max(1));
                lines.extend(bands(total, count, mix(config.seed, 1)));
                let of = total;
                (
                    lines.into_iter().collect(),
                    Method::Lines { lines: count, of },
                )
            }
        };
        let tallies = self.compare(chosen);
        let mut reports = Vec::new();
        for ((output, failure), tally) in self.outputs.iter().zip(failures).zip(tallies) {
            let shape = output.tensor.layout().shape();
            let shape = shape.into_iter().map(|size| size as usize).collect();
            let mut report = Report::unmeasured("map", output.name, shape);
            if let Some(failure) = failure {
                report.failures.push(failure);
                reports.push(report);
                continue;
            }
            if tally.compared == 0 && tally.undecided > 0 {
                return Err(VerifyError::Undecided(output.name.to_string()));
            }
            reports.push(tally.into_report(report, output.tensor.element(), method.clone())?);
        }
        Ok(reports)
    }

    fn row_and_column(&self, line: usize, at: usize) -> (usize, usize) {
        let of = |places: &Places| (places.of_line(line) + places.along(at)) as usize;
        (of(&self.rows), of(&self.columns))
    }

    fn size(&self, modes: &[usize]) -> usize {
        modes.iter().map(|mode| self.inner[*mode].0).product()
    }

    /// Multiply-adds that a line takes, about.
    fn cost(&self) -> u64 {
        let arguments = self.inputs.len();
        let of = |value: &usize| {
            let elements = self.size(&self.varies[*value][0]);
            match value
                .checked_sub(arguments)
                .map(|op| &self.region.ops[op].value)
            {
                Some(RegionValue::Reduce(..)) => match self.factors(*value) {
                    Some([x, y]) => {
                        let modes = union(&self.varies[x][0], &self.varies[y][0]);
                        4 * self.size(&modes)
                    }
                    None => OPERATION * elements,
                },
                // Products that are summed are not computed for each index.
                Some(_) if self.is_summed(*value) => 0,
                _ => OPERATION * elements,
            }
        };
        self.needed.iter().map(of).sum::<usize>() as u64
    }

    /// The factors of the product that a value is the sum of, along one mode of both; none of another value.
    fn factors(&self, value: usize) -> Option<[usize; 2]> {
        let arguments = self.inputs.len();
        let op = |value: usize| Some(&self.region.ops[value.checked_sub(arguments)?].value);
        let RegionValue::Reduce(ReduceOp::Add, of, _) = op(value)? else {
            return None;
        };
        let RegionValue::Op(ScalarOp::Mul, factors) = op(*of)? else {
            return None;
        };
        let [x, y] = factors[..] else { return None };
        // Of a product with what is the same for all indices nothing is gained.
        let [of_x, of_y] = [x, y].map(|value| &self.varies[value][0]);
        (!of_x.is_empty() && !of_y.is_empty() && x != y).then_some([x, y])
    }

    /// Tells whether a value is a product that is used in sums alone.
    fn is_summed(&self, value: usize) -> bool {
        let users = self.needed.iter().filter(|user| {
            let op = user.checked_sub(self.inputs.len());
            op.is_some_and(|op| self.region.ops[op].value.operands().contains(&value))
        });
        let mut users = users.peekable();
        users.peek().is_some()
            && users.all(|user| self.factors(*user).is_some())
            && !self.region.yields.contains(&value)
    }

    /// Compares all outputs of some lines.
    fn compare(&self, mut lines: Vec<usize>) -> Vec<Tally> {
        // Those whose inputs are the same follow one another.
        let count = |mode: usize| {
            let inputs = self.varies[..self.inputs.len()].iter();
            inputs.filter(|[_, outer]| outer.contains(&mode)).count()
        };
        let mut order: Vec<usize> = (0..self.outer.len()).collect();
        order.sort_by_key(|mode| std::cmp::Reverse(count(*mode)));
        lines.sort_by_key(|line| {
            let index = |mode: &usize| {
                let (extent, weight) = self.outer[*mode];
                line / weight % extent.max(1)
            };
            order.iter().map(index).collect::<Vec<_>>()
        });
        let pieces: Vec<(usize, Vec<usize>)> = lines
            .chunks(PIECE)
            .map(<[usize]>::to_vec)
            .enumerate()
            .collect();
        let parts = parallel_fold(pieces, Vec::new, |parts: &mut Vec<_>, (number, lines)| {
            let mut kept = Kept::new();
            let mut tallies = vec![Tally::default(); self.outputs.len()];
            for line in lines {
                self.compare_line(line, &mut kept, &mut tallies);
            }
            parts.push((number, tallies));
        });
        let parts: Vec<(usize, Vec<Tally>)> = parts.into_iter().flatten().collect();
        let of = |output: usize| {
            let of_each = parts.iter().map(|(at, all)| (*at, all[output].clone()));
            Tally::in_order(of_each.collect())
        };
        (0..self.outputs.len()).map(of).collect()
    }

    fn compare_line(&self, line: usize, kept: &mut Kept, tallies: &mut [Tally]) {
        let mut values = self.evaluator.constants();
        for value in &self.needed {
            if self.is_summed(*value) {
                continue;
            }
            let outer: Vec<usize> = self.varies[*value][1]
                .iter()
                .map(|mode| line / self.outer[*mode].1 % self.outer[*mode].0.max(1))
                .collect();
            if kept.get(value).is_some_and(|(of, _)| *of == outer) {
                continue;
            }
            let array = self.array(*value, line, kept, &mut values);
            kept.insert(*value, (outer, Rc::new(array)));
        }
        for (output, tally) in self.outputs.iter().zip(tallies) {
            let Some((_, array)) = kept.get(&output.value) else {
                continue;
            };
            let own = self.steps(&output.modes, &array.modes);
            for (at, of_array) in Odometer::new(self, &output.modes, own) {
                let index = self.index(&output.modes, at);
                let (row, column) = self.row_and_column(line, index);
                let offset = output.places.of_line(line) + output.places.along(index);
                let value = array.balls[of_array];
                let found = Ball::of_element(output.tensor, offset);
                let element = output.tensor.element();
                tally.meet([row, column], element, found, [value, value], false);
            }
        }
    }

    /// The index in a line of the index of some modes.
    fn index(&self, modes: &[usize], mut at: usize) -> usize {
        let mut index = 0;
        for mode in modes {
            let (extent, weight) = self.inner[*mode];
            index += at % extent.max(1) * weight;
            at /= extent.max(1);
        }
        index
    }

    /// The number that a step along each of some modes adds to the place in an array of others.
    fn steps(&self, modes: &[usize], of: &[usize]) -> Vec<usize> {
        let step = |mode: &usize| {
            let before = of.iter().take_while(|own| *own != mode);
            let place = before.map(|own| self.inner[*own].0).product();
            if of.contains(mode) { place } else { 0 }
        };
        modes.iter().map(step).collect()
    }

    /// A value for all of its indices in a line, given those that it is computed from.
    fn array(&self, value: usize, line: usize, kept: &Kept, values: &mut [Ball]) -> Array {
        let modes = self.varies[value][0].clone();
        let size = self.size(&modes);
        let Some(op) = value.checked_sub(self.inputs.len()) else {
            let input = &self.inputs[value];
            let base = input.places.of_line(line);
            let ball = |at| input.ball(base + input.places.along(self.index(&modes, at)));
            return Array {
                balls: (0..size).map(ball).collect(),
                modes,
                reach: 0.0,
            };
        };
        let array = |value: &usize| kept.get(value).map(|(_, array)| Rc::clone(array));
        match &self.region.ops[op].value {
            RegionValue::Constant(_) | RegionValue::Scalar(_) => Array {
                modes,
                balls: vec![values[value]; size],
                reach: 0.0,
            },
            RegionValue::Op(scalar, of) => {
                let operands: Vec<_> = of.iter().filter_map(|of| Some((*of, array(of)?))).collect();
                let reach = operands.iter().map(|(_, array)| array.reach);
                let mut reach = reach.fold(0.0, f64::max);
                let steps: Vec<Vec<usize>> = operands
                    .iter()
                    .map(|(_, array)| self.steps(&modes, &array.modes))
                    .collect();
                let is_early = !self.early[value].is_empty();
                let mut balls = Vec::with_capacity(size);
                for at in 0..size {
                    for ((of, array), steps) in operands.iter().zip(&steps) {
                        values[*of] = array.balls[self.place(&modes, steps, at)];
                    }
                    if is_early && matches!(scalar, ScalarOp::Exp | ScalarOp::Exp2) {
                        let power = operands
                            .first()
                            .map_or(0.0, |(of, _)| values[*of].largest());
                        reach = reach.max(if power.is_finite() { power } else { 0.0 });
                    }
                    self.evaluator.evaluate_ops(&[op], values);
                    let mut ball = values[value];
                    if is_early && *scalar == ScalarOp::Convert {
                        ball = self.loosened(value, ball);
                    }
                    balls.push(ball);
                }
                Array {
                    modes,
                    balls,
                    reach,
                }
            }
            RegionValue::Reduce(kind, of, along) => {
                let along = self.places_of(along);
                match self.factors(value) {
                    Some(factors) => {
                        let [x, y] = factors.map(|factor| array(&factor));
                        match (x, y) {
                            (Some(x), Some(y)) => self.sum(value, factors, [&x, &y], &along),
                            _ => unknown(modes, size),
                        }
                    }
                    None => match array(of) {
                        Some(array) => self.reduce(value, *kind, *of, &array, &along),
                        None => unknown(modes, size),
                    },
                }
            }
        }
    }

    /// The place in an array of the index of some modes, along which these are its steps.
    fn place(&self, modes: &[usize], steps: &[usize], mut at: usize) -> usize {
        let mut place = 0;
        for (mode, step) in modes.iter().zip(steps) {
            let extent = self.inner[*mode].0.max(1);
            place += at % extent * step;
            at /= extent;
        }
        place
    }

    /// The inner modes that a reduction is along, by their places.
    fn places_of(&self, along: &[usize]) -> Vec<usize> {
        along
            .iter()
            .filter_map(|mode| self.split.place_along(*mode))
            .collect()
    }

    /// A number that may be rounded before it is corrected.
    fn loosened(&self, value: usize, ball: Ball) -> Ball {
        let Some(ValueType::Number(element)) = self.evaluator.type_of(value) else {
            return ball;
        };
        if !ball.is_known() || !element.is_float() || element.size() >= Element::F32.size() {
            return ball;
        }
        let off = |end: f64| end.abs() * element.unit_roundoff() + element.underflow();
        let [low, high] = ball.ends();
        Ball::between(ball.value(), low - off(low), high + off(high))
    }

    /// The error that a sum of values that are corrected on the way has besides, relative to their magnitudes.
    fn corrected(&self, of: &[usize], along: &[usize], reach: f64) -> f64 {
        let early = |value: &usize| along.iter().any(|mode| self.early[*value].contains(mode));
        if !of.iter().any(early) {
            return 0.0;
        }
        let tiles = self.size(along).div_ceil(TILE) as f64;
        let power = |exponent: i32| 2f64.powi(exponent);
        tiles * (power(-20) + power(-22)) + power(-22) * reach
    }

    /// A sum of products.
    fn sum(
        &self,
        value: usize,
        factors: [usize; 2],
        [x, y]: [&Array; 2],
        along: &[usize],
    ) -> Array {
        let modes = self.varies[value][0].clone();
        let size = self.size(&modes);
        let count = self.size(along);
        let mut steps = Vec::new();
        for array in [x, y] {
            steps.push([
                self.steps(&modes, &array.modes),
                self.steps(along, &array.modes),
            ]);
        }
        let narrow = factors.iter().all(|factor| self.is_widened(*factor));
        let ty = self.evaluator.type_of(value);
        let reach = x.reach.max(y.reach);
        let corrected = self.corrected(&factors, along, reach);
        let inside: Vec<[usize; 2]> = (0..count)
            .map(|at| [0, 1].map(|side: usize| self.place(along, &steps[side][1], at)))
            .collect();
        let mut balls = Vec::with_capacity(size);
        for at in 0..size {
            let [of_x, of_y] = [0, 1].map(|side: usize| self.place(&modes, &steps[side][0], at));
            let mut partial = Partial::new(ReduceOp::Add);
            for [in_x, in_y] in &inside {
                partial.add(&x.balls[of_x + in_x].times(&y.balls[of_y + in_y]));
            }
            let Some(ValueType::Number(element)) = ty else {
                balls.push(Ball::UNKNOWN);
                continue;
            };
            let unit = match narrow {
                true => unit_of_products(Element::F16, false, element).unit,
                false => element.unit_roundoff() + Element::F64.unit_roundoff(),
            };
            // A product that is not exact is rounded.
            let rounded = if narrow { 0.0 } else { element.unit_roundoff() };
            balls.push(partial.sum_losing(unit * roundings(count) + rounded + corrected, element));
        }
        Array {
            modes,
            balls,
            reach,
        }
    }

    /// Tells whether a factor was widened from a type of at most 16 bits, so that products of two such are exact.
    fn is_widened(&self, value: usize) -> bool {
        let op = value.checked_sub(self.inputs.len());
        let Some(RegionValue::Op(ScalarOp::Convert, of)) = op.map(|op| &self.region.ops[op].value)
        else {
            return false;
        };
        let ty = of.first().and_then(|of| self.evaluator.type_of(*of));
        matches!(ty, Some(ValueType::Number(element)) if element.is_float() && element.size() <= 2)
    }

    /// A reduction of an array.
    fn reduce(
        &self,
        value: usize,
        kind: ReduceOp,
        of: usize,
        array: &Array,
        along: &[usize],
    ) -> Array {
        let modes = self.varies[value][0].clone();
        let (own, inside) = (
            self.steps(&modes, &array.modes),
            self.steps(along, &array.modes),
        );
        let count = self.size(along);
        let corrected = self.corrected(&[of], along, array.reach);
        let ty = self.evaluator.type_of(value);
        let ball = |at: usize| {
            let base = self.place(&modes, &own, at);
            let mut partial = Partial::new(kind);
            for at in 0..count {
                partial.add(&array.balls[base + self.place(along, &inside, at)]);
            }
            ty.map_or(Ball::UNKNOWN, |ty| {
                partial.finish_losing(count, ty, corrected)
            })
        };
        Array {
            balls: (0..self.size(&modes)).map(ball).collect(),
            modes,
            reach: array.reach,
        }
    }
}

fn unknown(modes: Vec<usize>, size: usize) -> Array {
    Array {
        modes,
        balls: vec![Ball::UNKNOWN; size],
        reach: 0.0,
    }
}

/// The modes of two lists, ascending.
fn union(one: &[usize], other: &[usize]) -> Vec<usize> {
    let all: BTreeSet<usize> = one.iter().chain(other).copied().collect();
    all.into_iter().collect()
}

/// All indices of some modes, each with its place in an array.
struct Odometer<'a, 'b> {
    fused: &'a Fused<'b>,
    modes: &'a [usize],
    steps: Vec<usize>,
    left: Range<usize>,
}

impl<'a, 'b> Odometer<'a, 'b> {
    fn new(fused: &'a Fused<'b>, modes: &'a [usize], steps: Vec<usize>) -> Self {
        let left = 0..fused.size(modes);
        Self {
            fused,
            modes,
            steps,
            left,
        }
    }
}

impl Iterator for Odometer<'_, '_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        let at = self.left.next()?;
        Some((at, self.fused.place(self.modes, &self.steps, at)))
    }
}
