//! `cute-expand-pipeline`: prologue, steady state and drain of a scheduled loop.
//!
//! Interval t runs the operations of stage s for iteration t - s. The first and last intervals,
//! where some stages have no iteration, are written out; those between are a loop. The loop goes on
//! while only producers have run out of iterations: their copies get a predicate, which costs less
//! than the code of so many intervals without them, and a tail waits for the last ones. A value that is
//! used in a later interval than it is made in is carried by that loop, once for each interval that
//! it lives. Pure operations without a stage are made again wherever they are used.

use super::graph::is_pure;
use crate::{partition::kernels, sync};
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Expected, Failure, PassSpec,
    attributes::{ORDER, STAGE},
    mlir::*,
    names::builtin,
    types::{MOST_STAGES, int_width},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-expand-pipeline",
    description: "Expand scheduled loops into prologue, steady state and drain",
    anchor: builtin::MODULE,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        // A loop that is expanded is gone, and so are those within: what is written in its place is looked through anew.
        while let Some(op) = nested_ops(kernel).into_iter().find_map(scheduled) {
            let body = op.region().expected(op.op(), "a body")?;
            Expand::new(rewriter, op, body)?.run()?;
        }
        if let Some(op) = nested_ops(kernel)
            .into_iter()
            .find(|op| attribute_of(*op, STAGE).is_some())
        {
            return Err(Builder::before(op).error(format!(
                "'{}' has a {STAGE} outside of a loop; expected it directly in an scf.for, whose turns overlap by it",
                name_of(op)
            )));
        }
    }
    Ok(())
}

/// `op` as a loop of operations with stages.
fn scheduled(op: Op<'_>) -> Option<scf::For<'_>> {
    let op = scf::For::of(op)?;
    let ops = ops_of(op.region()?);
    let has_stages = ops.iter().any(|op| attribute_of(*op, STAGE).is_some());
    has_stages.then_some(op)
}

const COPY: &str = cute::ATOM_COPY;
const COMMIT: &str = cute::PIPELINE_PRODUCER_COMMIT;

/// Operations that may run for iterations that the loop has not, with a predicate on copies.
fn is_producer(op: Op) -> bool {
    matches!(name_of(op), COPY | COMMIT | cute::PIPELINE_PRODUCER_ACQUIRE)
}

/// The source of a value: a value of the body that an operation makes, `lag` iterations back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Source {
    value: ValueKey,
    lag: i64,
}

struct Expand<'c> {
    rewriter: &'c Rewriter<'c>,
    op: scf::For<'c>,
    body: Blk<'c>,
    /// The lower bound of the loop.
    lower: i64,
    step: i64,
    trips: i64,
    initial: Vec<Val<'c>>,
    yielded: Vec<Val<'c>>,
    /// The operations with a stage, in order, each with its stage.
    scheduled: Vec<(Op<'c>, i64)>,
    stage: HashMap<ValueKey, i64>,
    last: i64,
    /// The first stage of an operation that is not a producer.
    lead: i64,
    /// Values made in written-out intervals, by value and iteration.
    made: HashMap<(ValueKey, i64), Val<'c>>,
}

/// The interval that code is being written for.
enum Interval<'a, 'c> {
    /// Written out.
    At(i64),
    /// The steady loop: its counter, and what it carries, by value and age in intervals.
    Steady {
        counter: Val<'c>,
        carried: &'a HashMap<(ValueKey, i64), Val<'c>>,
    },
}

/// Pure operations made for one interval, by value and stage of the user.
type Memo<'c> = HashMap<(ValueKey, i64), Val<'c>>;

impl<'c> Expand<'c> {
    fn new(rewriter: &'c Rewriter<'c>, old: scf::For<'c>, body: Blk<'c>) -> Result<Self, Failure> {
        let op = old.op();
        let b = Builder::before(op);
        let bound = |value| {
            defining_op(value).and_then(|op| integer_of(op, "value")).ok_or_else(|| {
                b.error("expected a pipelined loop with constant bounds; dynamic trip counts are not supported yet")
            })
        };
        let (lower, upper) = (bound(old.lower_bound())?, bound(old.upper_bound())?);
        let step = bound(old.step())?;
        if step < 1 {
            return Err(b.error("expected a loop that counts up"));
        }
        if old.unsigned_cmp().is_some() && (lower < 0 || upper < 0) {
            return Err(b.error(
                "expected a pipelined loop with bounds that are the same numbers with a sign and without",
            ));
        }
        let trips = (i128::from(upper) - i128::from(lower) + i128::from(step) - 1).max(0)
            / i128::from(step);
        // The counter runs past the end by no more iterations than there are stages.
        let most = i128::from(lower) + (trips + i128::from(MOST_STAGES)) * i128::from(step);
        let ty = argument(body, 0).r#type();
        let limit = match int_width(ty) {
            Some(width @ 2..64) => (1i128 << (width - 1)) - 1,
            _ => i64::MAX.into(),
        };
        if most > limit {
            return Err(b.error(format!(
                "expected a pipelined loop whose counter, up to {MOST_STAGES} iterations after the last, stays below the \
                 largest {ty}, {limit}; found bounds {lower} to {upper} in steps of {step}"
            )));
        }
        let trips = trips as i64;
        let mut ops = ops_of(body);
        let end = ops.pop().expected(op, "an op that ends the block")?;
        let mut scheduled = Vec::new();
        let mut stage = HashMap::new();
        for op in ops {
            let Some(at) = integer_of(op, STAGE) else {
                if is_pure(op) {
                    continue;
                }
                return Err(Builder::before(op).error(format!(
                    "expected {STAGE} on '{}', as on every operation of a scheduled loop that has effects",
                    name_of(op)
                )));
            };
            let order = integer_of(op, ORDER).ok_or_else(|| {
                Builder::before(op).error(format!("expected {ORDER} beside {STAGE}"))
            })?;
            if !(0..MOST_STAGES).contains(&at) {
                return Err(Builder::before(op).error(format!(
                    "expected a {STAGE} from 0 to {}, found {at}",
                    MOST_STAGES - 1
                )));
            }
            stage.extend(results_of(op).into_iter().map(|value| (key(value), at)));
            scheduled.push((order, op, at));
        }
        scheduled.sort_by_key(|(order, _, _)| *order);
        let scheduled: Vec<_> = scheduled.into_iter().map(|(_, op, at)| (op, at)).collect();
        let last = scheduled.iter().map(|(_, at)| *at).max().unwrap_or(0);
        let lead = scheduled
            .iter()
            .filter(|(op, _)| !is_producer(*op))
            .map(|(_, at)| *at)
            .min();
        let expand = Self {
            rewriter,
            op: old,
            body,
            lower,
            step,
            trips,
            initial: old.init_args(),
            yielded: operands_of(end),
            scheduled,
            stage,
            last,
            lead: lead.unwrap_or(0),
            made: HashMap::new(),
        };
        expand.check()?;
        Ok(expand)
    }

    /// Whatever is used was made before: in an earlier interval, or earlier in the same one. Arguments that the loop hands
    /// on come from operations, or stay what they were.
    fn check(&self) -> Result<(), Failure> {
        for index in 1..=self.yielded.len() {
            let mut next = index;
            for _ in 0..self.yielded.len() {
                match self.argument(self.yielded[next - 1]) {
                    Some(at) if at > 0 && at != next => next = at,
                    _ => break,
                }
            }
            if self
                .argument(self.yielded[next - 1])
                .is_some_and(|at| at > 0 && at != next)
            {
                return Err(Builder::before(self.op.op()).error(
                    "expected a pipelined loop that hands on what its operations make; found arguments that only change \
                     places from turn to turn",
                ));
            }
        }
        let place: HashMap<ValueKey, usize> = self
            .scheduled
            .iter()
            .enumerate()
            .flat_map(|(i, (op, _))| {
                let results = results_of(*op).into_iter();
                results.map(move |value| (key(value), i))
            })
            .collect();
        for (at, (op, stage)) in self.scheduled.iter().enumerate() {
            for operand in values_used_by(*op) {
                for source in self.sources(operand) {
                    let age = stage + source.lag - self.stage[&source.value];
                    if age < 0 || (age == 0 && place[&source.value] >= at) {
                        return Err(Builder::before(*op).error(format!(
                            "'{}' is scheduled before a value that it uses is made; give it a \
                             later {STAGE} or {ORDER}",
                            name_of(*op)
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    fn inside(&self, op: Op<'c>) -> bool {
        op.block().is_some_and(|block| block == self.body)
    }

    /// The argument of the loop that a value is, counted behind the counter.
    fn argument(&self, value: Val<'c>) -> Option<usize> {
        block_argument(value)
            .filter(|(b, _)| *b == self.body)
            .map(|(_, i)| i)
    }

    /// The scheduled values behind a value, through pure operations and around the loop.
    fn sources(&self, value: Val<'c>) -> Vec<Source> {
        let mut sources = Vec::new();
        self.collect(value, 0, &mut sources);
        sources
    }

    fn collect(&self, value: Val<'c>, lag: i64, sources: &mut Vec<Source>) {
        match self.argument(value) {
            Some(0) => {}
            // Longer than that around, it is the initial value for good.
            Some(_) if lag > self.initial.len() as i64 => {}
            Some(index) => self.collect(self.yielded[index - 1], lag + 1, sources),
            None => {
                let Some(op) = defining_op(value).filter(|op| self.inside(*op)) else {
                    return;
                };
                if self.stage.contains_key(&key(value)) {
                    sources.push(Source {
                        value: key(value),
                        lag,
                    });
                } else {
                    for operand in operands_of(op) {
                        self.collect(operand, lag, sources);
                    }
                }
            }
        }
    }

    fn run(mut self) -> Result<(), Failure> {
        let b = Builder::before(self.op.op());
        // In interval `open` the first operation that is not a producer has run out.
        let open = self.trips + self.lead;
        let end = if self.trips == 0 {
            0
        } else {
            self.trips + self.last
        };
        let looped = open - self.last >= 2;
        if looped {
            for t in 0..self.last {
                self.interval(b, t, true)?;
            }
            self.steady(b, open)?;
            for t in open..end {
                self.interval(b, t, false)?;
            }
            self.tail(b)?;
        } else {
            for t in 0..end {
                self.interval(b, t, false)?;
            }
        }
        let ends = self.initial.iter().zip(&self.yielded);
        for (old, (initial, yielded)) in self.op.results().into_iter().zip(ends) {
            if users_of(old).is_empty() {
                continue;
            }
            let result = if self.trips == 0 {
                *initial
            } else {
                self.value(
                    b,
                    &Interval::At(end),
                    *yielded,
                    self.last + 1,
                    &mut Memo::new(),
                )?
            };
            replace_uses(old, result);
        }
        self.rewriter.erase(self.op.op())?;
        Ok(())
    }

    /// Waits for copies that nobody waits for, where the loop has made any.
    fn tail(&self, b: Builder<'c>) -> Result<(), Failure> {
        let commit = self
            .scheduled
            .iter()
            .find_map(|(op, stage)| Some((cute::PipelineProducerCommit::of(*op)?, *stage)));
        match commit {
            Some((commit, stage)) if self.lead > stage => {
                let pipeline = commit.pipeline();
                b.step(sync::COPIES)
                    .op(cute::PIPELINE_PRODUCER_TAIL, &[pipeline], &[], &[])?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes out interval `t`; `open` where producers run on when they have no iteration left,
    /// but for their copies, as they do in the loop that follows.
    fn interval(&mut self, b: Builder<'c>, t: i64, open: bool) -> Result<(), Failure> {
        let mut memo = Memo::new();
        for (op, stage) in self.scheduled.clone() {
            let iteration = t - stage;
            let over = iteration >= self.trips;
            let runs_on = open && is_producer(op) && name_of(op) != COPY;
            if iteration >= 0 && (!over || runs_on) {
                let made = self.emit(b, &Interval::At(t), op, stage, &mut memo)?;
                for (old, new) in results_of(op).into_iter().zip(results_of(made)) {
                    self.made.insert((key(old), iteration), new);
                }
            }
        }
        Ok(())
    }

    /// A copy of a scheduled operation.
    fn emit(
        &self,
        b: Builder<'c>,
        interval: &Interval<'_, 'c>,
        op: Op<'c>,
        stage: i64,
        memo: &mut Memo<'c>,
    ) -> Result<Op<'c>, Failure> {
        let mut mapping = Mapping::new();
        for operand in values_used_by(op) {
            let value = self.value(b, interval, operand, stage, memo)?;
            mapping.insert(key(operand), value);
        }
        let made = b.at_location(op.location()).clone_op(op, &mut mapping);
        remove_attribute(made, STAGE);
        remove_attribute(made, ORDER);
        Ok(made)
    }

    /// Returns what stands for a value of the body in an operation of `stage` in this interval.
    fn value(
        &self,
        b: Builder<'c>,
        interval: &Interval<'_, 'c>,
        value: Val<'c>,
        stage: i64,
        memo: &mut Memo<'c>,
    ) -> Result<Val<'c>, Failure> {
        if let Some(known) = memo.get(&(key(value), stage)) {
            return Ok(*known);
        }
        let new = match self.argument(value) {
            Some(0) => self.counter(b, interval, value, stage)?,
            // Handed on unchanged, it is what it was.
            Some(index) if self.yielded[index - 1] == value => self.initial[index - 1],
            Some(index) => match interval {
                // Iteration 0 takes the initial value.
                Interval::At(t) if t - stage == 0 => self.initial[index - 1],
                // One iteration back is what a stage later would see.
                _ => self.value(b, interval, self.yielded[index - 1], stage + 1, memo)?,
            },
            None => {
                let Some(op) = defining_op(value).filter(|op| self.inside(*op)) else {
                    return Ok(value);
                };
                match self.stage.get(&key(value)) {
                    Some(made) => self.scheduled_value(b, interval, value, stage - made)?,
                    None => {
                        let mut mapping = Mapping::new();
                        for operand in operands_of(op) {
                            let new = self.value(b, interval, operand, stage, memo)?;
                            mapping.insert(key(operand), new);
                        }
                        b.at_location(op.location()).clone_op(op, &mut mapping);
                        mapping[&key(value)]
                    }
                }
            }
        };
        memo.insert((key(value), stage), new);
        Ok(new)
    }

    /// The value of a scheduled operation that was made `age` intervals ago.
    fn scheduled_value(
        &self,
        b: Builder<'c>,
        interval: &Interval<'_, 'c>,
        value: Val<'c>,
        age: i64,
    ) -> Result<Val<'c>, Failure> {
        let missing = || b.error("a pipelined value is used before it is made");
        match interval {
            Interval::At(t) => {
                let iteration = t - age - self.stage[&key(value)];
                self.made
                    .get(&(key(value), iteration))
                    .copied()
                    .ok_or_else(missing)
            }
            Interval::Steady { carried, .. } => {
                carried.get(&(key(value), age)).copied().ok_or_else(missing)
            }
        }
    }

    /// The loop's counter for an operation of `stage`.
    fn counter(
        &self,
        b: Builder<'c>,
        interval: &Interval<'_, 'c>,
        counter: Val<'c>,
        stage: i64,
    ) -> Result<Val<'c>, Failure> {
        let ty = counter.r#type();
        match interval {
            Interval::At(t) => b.constant(ty, self.lower + (t - stage) * self.step),
            Interval::Steady { counter, .. } if stage == 0 => Ok(*counter),
            Interval::Steady { counter, .. } => {
                let behind = b.constant(ty, stage * self.step)?;
                b.value(arith::SUBI, &[*counter, behind], ty, &[])
            }
        }
    }

    /// Returns the number of intervals that each scheduled value has to be carried, and around which of the loop's
    /// arguments it came, the last one first.
    fn carried(&self) -> BTreeMap<ValueKey, (Val<'c>, i64)> {
        let mut ages: BTreeMap<ValueKey, (Val<'c>, i64)> = BTreeMap::new();
        let values: HashMap<ValueKey, Val<'c>> = self
            .scheduled
            .iter()
            .flat_map(|(op, _)| results_of(*op))
            .map(|v| (key(v), v))
            .collect();
        let mut uses: Vec<(Val<'c>, i64)> = Vec::new();
        for (op, stage) in &self.scheduled {
            uses.extend(values_used_by(*op).into_iter().map(|v| (v, *stage)));
        }
        // What the loop yields is used behind the last interval.
        uses.extend(self.yielded.iter().map(|v| (*v, self.last + 1)));
        for (value, stage) in uses {
            for source in self.sources(value) {
                let age = stage + source.lag - self.stage[&source.value];
                let entry = ages
                    .entry(source.value)
                    .or_insert((values[&source.value], 0));
                entry.1 = entry.1.max(age);
            }
        }
        ages.retain(|_, (_, age)| *age > 0);
        ages
    }

    /// The intervals from the first in which every stage has an iteration up to `open`.
    fn steady(&mut self, b: Builder<'c>, open: i64) -> Result<(), Failure> {
        let first = self.last;
        let carried = self.carried();
        let ty = argument(self.body, 0).r#type();

        // In program order, so that the text does not depend on where values lie in memory.
        let mut slots: Vec<(Val<'c>, i64)> = Vec::new();
        for (op, _) in &self.scheduled {
            for value in results_of(*op) {
                if let Some((_, age)) = carried.get(&key(value)) {
                    slots.extend((1..=*age).map(|a| (value, a)));
                }
            }
        }
        let bounds = [
            b.constant(ty, self.lower + first * self.step)?,
            b.constant(ty, self.lower + open * self.step)?,
            b.constant(ty, self.step)?,
        ];
        let mut initial = Vec::new();
        for (value, age) in &slots {
            let iteration = first - age - self.stage[&key(*value)];
            let entry = match self.made.get(&(key(*value), iteration)) {
                Some(made) => *made,
                None => self.before_the_first(*value, iteration).ok_or_else(|| {
                    b.error("a pipelined value is carried into the loop before it is made")
                })?,
            };
            initial.push(entry);
        }
        let types: Vec<_> = initial.iter().map(|v| v.r#type()).collect();
        let operands = [&bounds[..], &initial].concat();
        let mut arguments = vec![(ty, b.location)];
        arguments.extend(types.iter().map(|ty| (*ty, b.location)));
        let (region, new) = Detached::with_block(&arguments);
        let built = b.with_regions(scf::FOR, &operands, &types, &[], vec![region])?;

        let inner = Builder::at_end(b.context, new, b.location);
        let mut now: HashMap<(ValueKey, i64), Val<'c>> = HashMap::new();
        for (i, (value, age)) in slots.iter().enumerate() {
            now.insert((key(*value), *age), argument(new, i + 1));
        }
        let mut memo = Memo::new();
        for (op, stage) in self.scheduled.clone() {
            let interval = Interval::Steady {
                counter: argument(new, 0),
                carried: &now,
            };
            let mut made = self.emit(inner, &interval, op, stage, &mut memo)?;
            if let Some(copy) = cute::AtomCopy::of(made)
                && open > self.trips + stage
            {
                made = self.predicate(inner, copy, argument(new, 0), stage)?;
            }
            for (old, new) in results_of(op).into_iter().zip(results_of(made)) {
                now.insert((key(old), 0), new);
            }
        }
        let yielded: Vec<_> = slots
            .iter()
            .map(|(value, age)| now[&(key(*value), age - 1)])
            .collect();
        inner.op(scf::YIELD, &yielded, &[], &[])?;

        // Afterwards, what was made `age` intervals before the first one that follows.
        for ((value, age), result) in slots.iter().zip(results_of(built)) {
            let iteration = open - age - self.stage[&key(*value)];
            self.made.insert((key(*value), iteration), result);
        }
        Ok(())
    }

    /// A copy that is done only while its iteration is one of the loop's.
    fn predicate(
        &self,
        b: Builder<'c>,
        copy: cute::AtomCopy<'c>,
        counter: Val<'c>,
        stage: i64,
    ) -> Result<Op<'c>, Failure> {
        let b = b.at_location(copy.op().location());
        let end = b.constant(
            counter.r#type(),
            self.lower + (self.trips + stage) * self.step,
        )?;
        let predicate = b.compare(cute_arith::Predicate::Slt, counter, end)?;
        if copy.predicate().is_some() {
            return Err(b.error("expected a copy without a predicate in a pipelined loop"));
        }
        let operands = [copy.copy(), copy.source(), copy.destination(), predicate];
        let at = copy.at().expected(copy.op(), "the attribute 'at'")?;
        let predicated = b.op(COPY, &operands, &[], &[("at", at)])?;
        self.rewriter.erase(copy.op())?;
        Ok(predicated)
    }

    /// Returns what stands for a value of an iteration before the first: the initial value of the loop's
    /// argument through which it is used then.
    fn before_the_first(&self, value: Val<'c>, iteration: i64) -> Option<Val<'c>> {
        // The argument that the value becomes, one iteration later each; at iteration 0 it counts.
        let mut value = value;
        for _ in iteration..0 {
            let index = self.yielded.iter().position(|v| *v == value)?;
            value = argument(self.body, index + 1);
        }
        let index = self.argument(value)?;
        Some(self.initial[index - 1])
    }
}
