//! `cute-expand-pipeline`: prologue, steady state and drain of a scheduled loop.
//!
//! Interval t runs the operations of stage s for iteration t - s. The first and last intervals,
//! where some stages have no iteration, are written out; those between are a loop. The loop goes on
//! while only what fills rings and loads ahead has run out of iterations, which costs less than the code of so many intervals
//! without it. Copies then get a predicate, loads the last iteration's address, and a tail waits for the last copies. A value
//! that is used in a later interval than it is made in is carried by that loop, once for each interval that it lives. Where a slow load
//! brings it and a turn is short, the loop has as many intervals a turn as the value lives. Pure operations without a stage are made again
//! wherever they are used.
//!
//! Where the number of iterations is not known, prologue and drain are written out for as many as they need, and a loop of fewer
//! runs as it stands.

use super::{
    bounds::{Bounds, Guard},
    graph::has_a_place,
    rings::is_ring,
};
use crate::{
    memory::root_of,
    synchronize,
    values::{UNSIGNED, unroll},
};
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{CYCLES, LATENCY, ORDER, STAGE, UNIT, UNROLL},
    mlir::*,
    types::MOST_STAGES,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-expand-pipeline",
    description: "Expand scheduled loops into prologue, steady state and drain",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
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
    Ok(())
}

/// Cycles until a result of a slow load may be used: more than what stands between the end of a turn and the next load.
const SLOW: i64 = 200;

/// The most intervals that one turn has so that each has registers of its own for what it loads.
const MOST_LIVES: i64 = 6;

/// The most operations of such a turn.
const MOST_WRITTEN: i64 = 240;

/// `op` as a loop of operations with stages.
fn scheduled(op: Op<'_>) -> Option<scf::For<'_>> {
    let op = scf::For::of(op)?;
    let ops = ops_of(op.region()?);
    let has_stages = ops.iter().any(|op| attribute_of(*op, STAGE).is_some());
    has_stages.then_some(op)
}

/// Attributes of a schedule, which what it is written out to has no more.
const SCHEDULED: [&str; 5] = [STAGE, ORDER, UNIT, CYCLES, LATENCY];

/// The way in which an operation may run for iterations that the loop has not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// As it stands: what it makes or stores, nobody reads.
    AsItIs,
    /// An asynchronous copy, with a predicate.
    Predicated,
    /// A load, for the last iteration once more.
    Last,
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
    bounds: Bounds<'c>,
    initial: Vec<Val<'c>>,
    yielded: Vec<Val<'c>>,
    /// The operations with a stage, in order, each with its stage.
    scheduled: Vec<(Op<'c>, i64)>,
    /// The way in which an operation may run beyond the last iteration, where it may.
    beyond: HashMap<OpKey, Beyond>,
    stage: HashMap<ValueKey, i64>,
    last: i64,
    /// The first stage of an operation that runs for iterations of the loop only.
    lead: i64,
    /// Values made in written-out intervals.
    made: HashMap<(ValueKey, Point), Val<'c>>,
}

/// An interval that is written out, counted from the first one, or from the first one behind the steady loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Point {
    At(i64),
    End(i64),
}

impl Point {
    fn before(self, intervals: i64) -> Point {
        match self {
            Point::At(t) => Point::At(t - intervals),
            Point::End(t) => Point::End(t - intervals),
        }
    }
}

/// The interval that code is being written for.
enum Interval<'a, 'c> {
    /// Written out.
    Out(Point),
    /// The steady loop: its counter, and what it carries, by value and age in intervals.
    Steady {
        counter: Val<'c>,
        carried: &'a HashMap<(ValueKey, i64), Val<'c>>,
    },
}

/// Pure operations made for one interval, by value, stage of the user, and whether it stops at the last iteration.
type Memo<'c> = HashMap<(ValueKey, i64, bool), Val<'c>>;

/// The place that a value is made for: the interval, the stage of its user, and whether the user stops at the last iteration.
#[derive(Clone, Copy)]
struct Use<'a, 'c> {
    interval: &'a Interval<'a, 'c>,
    stage: i64,
    stops: bool,
}

impl<'c> Expand<'c> {
    fn new(rewriter: &'c Rewriter<'c>, old: scf::For<'c>, body: Blk<'c>) -> Result<Self, Failure> {
        let op = old.op();
        let bounds = Bounds::of(old, body)?;
        let mut ops = ops_of(body);
        let end = ops.pop().expected(op, "an op that ends the block")?;
        let mut scheduled = Vec::new();
        let mut stage = HashMap::new();
        let places = has_a_place(body);
        for op in ops {
            let Some(at) = integer_of(op, STAGE) else {
                if !places[&op_key(op)] {
                    continue;
                }
                return Err(Builder::before(op).error(format!(
                    "expected {STAGE} on '{}', as on every operation of a scheduled loop that has effects, regions, or computes \
                     from what others make",
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
        let mut expand = Self {
            rewriter,
            op: old,
            body,
            bounds,
            initial: old.init_args(),
            yielded: operands_of(end),
            scheduled,
            beyond: HashMap::new(),
            stage,
            last,
            lead: 0,
            made: HashMap::new(),
        };
        expand.check()?;
        for (op, _) in &expand.scheduled {
            if let Some(beyond) = expand.beyond(*op) {
                expand.beyond.insert(op_key(*op), beyond);
            }
        }
        let needed = expand.scheduled.iter();
        let needed = needed.filter(|(op, _)| !expand.beyond.contains_key(&op_key(*op)));
        expand.lead = needed.map(|(_, at)| *at).min().unwrap_or(0);
        Ok(expand)
    }

    /// The way in which an operation may run for iterations that the loop has not, where it may.
    fn beyond(&self, op: Op<'c>) -> Option<Beyond> {
        if cute::PipelineProducerAcquire::of(op).is_some()
            || cute::PipelineProducerCommit::of(op).is_some()
        {
            return Some(Beyond::AsItIs);
        }
        if cute::AtomCopy::of(op).is_some() {
            return Some(Beyond::Predicated);
        }
        if op.region_count() > 0 {
            return None;
        }
        let effects = effects_of(op)?;
        let into_a_ring = |effect: &Effect<'c>| {
            effect.kind == EffectKind::Write
                && effect.value.is_some_and(|value| is_ring(root_of(value)))
        };
        // A place that was acquired and is not read.
        if effects.iter().all(into_a_ring) {
            return Some(Beyond::AsItIs);
        }
        let reads = effects.iter().all(|effect| effect.kind == EffectKind::Read);
        let alone = operands_of(op)
            .into_iter()
            .all(|v| self.sources(v).is_empty());
        (reads && alone).then_some(Beyond::Last)
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
        // Before the first turn it would be two values at once.
        for (i, value) in self.yielded.iter().enumerate() {
            for (j, other) in self.yielded.iter().enumerate().skip(i + 1) {
                let used = |at: usize| !users_of(argument(self.body, at + 1)).is_empty();
                if value == other && self.initial[i] != self.initial[j] && used(i) && used(j) {
                    return Err(Builder::before(self.op.op()).error(format!(
                        "expected a pipelined loop that hands on what it makes as one argument; found arguments {i} and {j}, which \
                         begin differently and go on alike"
                    )));
                }
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

    /// Tells whether an operation of a stage runs for more iterations in the steady loop than there are.
    fn overruns(&self, op: Op<'c>, stage: i64, how: Beyond) -> bool {
        stage < self.lead && self.beyond.get(&op_key(op)) == Some(&how)
    }

    fn run(mut self) -> Result<(), Failure> {
        let b = Builder::before(self.op.op());
        let results = match self.bounds.trips() {
            Some(trips) => self.counted(b, trips)?,
            None => self.uncounted(b)?,
        };
        for (old, new) in self.op.results().into_iter().zip(results) {
            if let Some(new) = new {
                replace_uses(old, new);
            }
        }
        self.rewriter.erase(self.op.op())?;
        Ok(())
    }

    /// The loop of so many iterations; what stands for its results, where they are used.
    fn counted(&mut self, b: Builder<'c>, trips: i64) -> Result<Vec<Option<Val<'c>>>, Failure> {
        // In interval `open` the first operation that runs for iterations of the loop only has run out.
        let open = trips + self.lead;
        let end = if trips == 0 { 0 } else { trips + self.last };
        let looped = open - self.last >= 2;
        if looped {
            for t in 0..self.last {
                self.interval(b, Point::At(t), trips, true)?;
            }
            self.steady(b, Point::At(open))?;
            for t in open..end {
                self.interval(b, Point::At(t), trips, false)?;
            }
            self.tail(b)?;
        } else {
            for t in 0..end {
                self.interval(b, Point::At(t), trips, false)?;
            }
        }
        if trips == 0 {
            return Ok(self.initial.iter().copied().map(Some).collect());
        }
        self.results(b, Point::At(end))
    }

    /// The loop of as many iterations as turn out.
    fn uncounted(&mut self, b: Builder<'c>) -> Result<Vec<Option<Val<'c>>>, Failure> {
        // Prologue and drain together run the operations of the stages from `lead` on for so many iterations.
        let written = self.last - self.lead;
        let loads = self.scheduled.iter();
        let mut loads = loads.filter(|(op, stage)| self.overruns(*op, *stage, Beyond::Last));
        let least = written.max(i64::from(loads.next().is_some()));
        self.bounds.measure(b)?;
        let old = self.op.op();
        let used = |value: &Val<'c>| !users_of(*value).is_empty();
        let used: Vec<bool> = self.op.results().iter().map(used).collect();
        let kept = |values: Vec<Val<'c>>| {
            let all = values.into_iter().zip(&used);
            all.filter_map(|(value, used)| used.then_some(value))
                .collect::<Vec<_>>()
        };
        let guard = Guard::new(&self.bounds, b, &kept(self.op.results()), least)?;
        let inner = guard.as_ref().map_or(b, |guard| guard.enough);
        for t in 0..self.last {
            self.interval(inner, Point::At(t), least, true)?;
        }
        self.steady(inner, Point::End(0))?;
        for t in 0..written {
            self.interval(inner, Point::End(t), 0, false)?;
        }
        self.tail(inner)?;
        let results = self.results(inner, Point::End(written))?;
        let Some(guard) = guard else {
            return Ok(results);
        };
        let results: Vec<_> = results.into_iter().flatten().collect();
        guard.enough.op(scf::YIELD, &results, &[], &[])?;
        // A loop of fewer iterations than `least` has none at all, or runs as it stands.
        let fewer = if least <= 1 {
            kept(self.initial.clone())
        } else {
            let plain = guard.fewer.clone_op(old, &mut Mapping::new());
            for op in nested_ops(plain) {
                SCHEDULED.iter().for_each(|name| remove_attribute(op, name));
            }
            kept(results_of(plain))
        };
        guard.fewer.op(scf::YIELD, &fewer, &[], &[])?;
        let mut results = guard.results().into_iter();
        Ok(used
            .iter()
            .map(|used| if *used { results.next() } else { None })
            .collect())
    }

    /// The values that stand for the results of the loop behind its last interval, where they are used.
    fn results(&self, b: Builder<'c>, end: Point) -> Result<Vec<Option<Val<'c>>>, Failure> {
        let at = Use {
            interval: &Interval::Out(end),
            stage: self.last + 1,
            stops: false,
        };
        let mut results = Vec::new();
        for (old, yielded) in self.op.results().into_iter().zip(&self.yielded) {
            let used = !users_of(old).is_empty();
            let value = used.then(|| self.value(b, at, *yielded, &mut Memo::new()));
            results.push(value.transpose()?);
        }
        Ok(results)
    }

    /// Waits for copies that nobody waits for, where the loop has made any.
    fn tail(&self, b: Builder<'c>) -> Result<(), Failure> {
        let copies = |op: &Op<'c>| cute::AtomCopy::of(*op).is_some();
        if !self.scheduled.iter().any(|(op, _)| copies(op)) {
            return Ok(());
        }
        let commit = self
            .scheduled
            .iter()
            .filter(|(_, stage)| self.lead > *stage)
            .find_map(|(op, _)| cute::PipelineProducerCommit::of(*op));
        if let Some(commit) = commit {
            let pipeline = commit.pipeline();
            b.step(synchronize::COPIES)
                .op(cute::PIPELINE_PRODUCER_TAIL, &[pipeline], &[], &[])?;
        }
        Ok(())
    }

    /// Writes out an interval of a loop of `trips` iterations, or of at least so many where it counts from the start and their
    /// number is not known; `open` where what may runs on when it has no iteration left, as it does in the loop that follows.
    fn interval(
        &mut self,
        b: Builder<'c>,
        at: Point,
        trips: i64,
        open: bool,
    ) -> Result<(), Failure> {
        let mut memo = Memo::new();
        for (op, stage) in self.scheduled.clone() {
            let (first, over) = match at {
                Point::At(t) => (t - stage >= 0, t - stage >= trips),
                // Behind the steady loop those of later stages than `lead` are left.
                Point::End(t) => (true, stage <= self.lead + t),
            };
            let mut beyond = self.beyond.get(&op_key(op)).copied();
            // Which copies have no iteration is known where the number of iterations is.
            if beyond == Some(Beyond::Predicated) && self.bounds.trips().is_some() {
                beyond = None;
            }
            let runs_on = open && beyond.is_some() && (stage < self.lead || !over);
            if !first || (over && !runs_on) {
                continue;
            }
            let stops = over && beyond == Some(Beyond::Last);
            let interval = Interval::Out(at);
            let made = self.emit(b, &interval, op, stage, stops, &mut memo)?;
            for (old, new) in results_of(op).into_iter().zip(results_of(made)) {
                self.made.insert((key(old), at), new);
            }
            if let (true, Some(Beyond::Predicated), Point::At(t)) = (over, beyond, at)
                && let Some(copy) = cute::AtomCopy::of(made)
            {
                let is_there = self.bounds.has(b.at_location(made.location()), t - stage)?;
                self.predicate(b, copy, is_there)?;
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
        stops: bool,
        memo: &mut Memo<'c>,
    ) -> Result<Op<'c>, Failure> {
        let mut mapping = Mapping::new();
        let at = Use {
            interval,
            stage,
            stops,
        };
        for operand in values_used_by(op) {
            let value = self.value(b, at, operand, memo)?;
            mapping.insert(key(operand), value);
        }
        let made = b.at_location(op.location()).clone_op(op, &mut mapping);
        SCHEDULED
            .iter()
            .for_each(|name| remove_attribute(made, name));
        Ok(made)
    }

    /// Returns what stands for a value of the body at a use.
    fn value(
        &self,
        b: Builder<'c>,
        at: Use<'_, 'c>,
        value: Val<'c>,
        memo: &mut Memo<'c>,
    ) -> Result<Val<'c>, Failure> {
        let entry = (key(value), at.stage, at.stops);
        if let Some(known) = memo.get(&entry) {
            return Ok(*known);
        }
        let new = match self.argument(value) {
            Some(0) => self.counter(b, at)?,
            // Handed on unchanged, it is what it was.
            Some(index) if self.yielded[index - 1] == value => self.initial[index - 1],
            Some(index) => match at.interval {
                // Iteration 0 takes the initial value.
                Interval::Out(Point::At(t)) if t - at.stage == 0 => self.initial[index - 1],
                // One iteration back is what a stage later would see.
                _ => {
                    let later = Use {
                        stage: at.stage + 1,
                        ..at
                    };
                    self.value(b, later, self.yielded[index - 1], memo)?
                }
            },
            None => {
                let Some(op) = defining_op(value).filter(|op| self.inside(*op)) else {
                    return Ok(value);
                };
                match self.stage.get(&key(value)) {
                    Some(made) => self.scheduled_value(b, at.interval, value, at.stage - made)?,
                    None => {
                        let mut mapping = Mapping::new();
                        for operand in operands_of(op) {
                            let new = self.value(b, at, operand, memo)?;
                            mapping.insert(key(operand), new);
                        }
                        b.at_location(op.location()).clone_op(op, &mut mapping);
                        mapping[&key(value)]
                    }
                }
            }
        };
        memo.insert(entry, new);
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
        let found = match interval {
            Interval::Out(at) => self.made.get(&(key(value), at.before(age))),
            Interval::Steady { carried, .. } => carried.get(&(key(value), age)),
        };
        found
            .copied()
            .ok_or_else(|| b.error("a pipelined value is used before it is made"))
    }

    /// The loop's counter at a use.
    fn counter(&self, b: Builder<'c>, at: Use<'_, 'c>) -> Result<Val<'c>, Failure> {
        match at.interval {
            Interval::Out(Point::At(t)) => self.bounds.counter_at(b, t - at.stage, at.stops),
            Interval::Out(Point::End(t)) => self.bounds.counter_behind(b, self.lead + t - at.stage),
            Interval::Steady { counter, .. } => self
                .bounds
                .in_the_loop(b, *counter, self.last, at.stage, at.stops),
        }
    }

    /// Returns the number of intervals that each scheduled value has to be carried.
    fn carried(&self) -> BTreeMap<ValueKey, i64> {
        let mut ages: BTreeMap<ValueKey, i64> = BTreeMap::new();
        let mut uses: Vec<(Val<'c>, i64)> = Vec::new();
        for (op, stage) in &self.scheduled {
            uses.extend(values_used_by(*op).into_iter().map(|v| (v, *stage)));
        }
        // What the loop yields is used behind the last interval, and that is so many behind the steady loop.
        let behind = self.last + 1 - (self.last - self.lead);
        let ends = self.op.results().into_iter().zip(&self.yielded);
        let ends = ends.filter(|(result, _)| !users_of(*result).is_empty());
        uses.extend(ends.map(|(_, value)| (*value, behind)));
        for (value, stage) in uses {
            for source in self.sources(value) {
                let age = stage + source.lag - self.stage[&source.value];
                let entry = ages.entry(source.value).or_insert(0);
                *entry = (*entry).max(age);
            }
        }
        ages.retain(|_, age| *age > 0);
        ages
    }

    /// The intervals from the first in which every stage has an iteration up to that at `open`.
    fn steady(&mut self, b: Builder<'c>, open: Point) -> Result<(), Failure> {
        let first = self.last;
        let carried = self.carried();
        let ty = argument(self.body, 0).r#type();

        // In program order, so that the text does not depend on where values lie in memory.
        let mut slots: Vec<(Val<'c>, i64)> = Vec::new();
        for (op, _) in &self.scheduled {
            for value in results_of(*op) {
                if let Some(age) = carried.get(&key(value)) {
                    slots.extend((1..=*age).map(|a| (value, a)));
                }
            }
        }
        let bounds = self.bounds.of_the_loop(b, self.last, self.lead)?;
        let mut initial = Vec::new();
        for (value, age) in &slots {
            let entry = match self.made.get(&(key(*value), Point::At(first - age))) {
                Some(made) => *made,
                None => {
                    let iteration = first - age - self.stage[&key(*value)];
                    self.before_the_first(*value, iteration).ok_or_else(|| {
                        b.error("a pipelined value is carried into the loop before it is made")
                    })?
                }
            };
            initial.push(entry);
        }
        let types: Vec<_> = initial.iter().map(|v| v.r#type()).collect();
        let operands = [&bounds[..], &initial].concat();
        let mut arguments = vec![(ty, b.location)];
        arguments.extend(types.iter().map(|ty| (*ty, b.location)));
        let (region, new) = Detached::with_block(&arguments);
        let unsigned = [(UNSIGNED, b.unit())];
        let attributes = match self.bounds.unsigned() {
            true => &unsigned[..],
            false => &[],
        };
        let built = b.with_regions(scf::FOR, &operands, &types, attributes, vec![region])?;

        let inner = Builder::at_end(b.context, new, b.location);
        let mut now: HashMap<(ValueKey, i64), Val<'c>> = HashMap::new();
        for (i, (value, age)) in slots.iter().enumerate() {
            now.insert((key(*value), *age), argument(new, i + 1));
        }
        let counter = argument(new, 0);
        let mut memo = Memo::new();
        for (op, stage) in self.scheduled.clone() {
            let interval = Interval::Steady {
                counter,
                carried: &now,
            };
            let stops = self.overruns(op, stage, Beyond::Last);
            let mut made = self.emit(inner, &interval, op, stage, stops, &mut memo)?;
            if let Some(copy) = cute::AtomCopy::of(made)
                && self.overruns(op, stage, Beyond::Predicated)
            {
                let at = inner.at_location(made.location());
                let is_there = self.bounds.has_in_the_loop(at, counter, self.last, stage)?;
                made = self.predicate(inner, copy, is_there)?;
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
        let results = self.renamed(built)?;
        for ((value, age), result) in slots.iter().zip(results) {
            self.made.insert((key(*value), open.before(*age)), result);
        }
        Ok(())
    }

    /// The steady loop with as many intervals a turn as what is loaded from global memory lives, so that each has registers of its own
    /// for it: what moves from one register to the next at the end of a turn waits for the load. Returns the loop's results.
    fn renamed(&self, steady: Op<'c>) -> Result<Vec<Val<'c>>, Failure> {
        let results = results_of(steady);
        let factor = self.lifetime();
        let is_small = factor * self.scheduled.len() as i64 <= MOST_WRITTEN;
        let Some(steady) = scf::For::of(steady).filter(|_| (2..=MOST_LIVES).contains(&factor))
        else {
            return Ok(results);
        };
        let is_long = self
            .bounds
            .trips()
            .is_none_or(|trips| trips >= 2 * factor + self.last);
        if !is_small || !is_long || constant_of(steady.step()).is_none() {
            return Ok(results);
        }
        let results = unroll::split(self.rewriter, steady, factor)?;
        // LLVM writes out what is left, where it is known.
        if let Some(rest) = results.first().and_then(|value| defining_op(*value)) {
            remove_attribute(rest, UNROLL);
        }
        Ok(results)
    }

    /// Intervals in which a value that a slow load brings is in registers, at most.
    fn lifetime(&self) -> i64 {
        let is_slow = |op: &Op<'c>| integer_of(*op, LATENCY).is_some_and(|cycles| cycles >= SLOW);
        let makers = self.scheduled.iter().enumerate();
        let makers = makers.filter(|(_, (op, _))| is_slow(op));
        let made: HashMap<ValueKey, (usize, i64)> = makers
            .flat_map(|(place, (op, stage))| {
                let results = results_of(*op).into_iter();
                results.map(move |value| (key(value), (place, *stage)))
            })
            .collect();
        let mut most = 0;
        for (place, (op, stage)) in self.scheduled.iter().enumerate() {
            let sources = values_used_by(*op).into_iter();
            for source in sources.flat_map(|value| self.sources(value)) {
                if let Some((maker, made)) = made.get(&source.value) {
                    let age = stage + source.lag - made;
                    most = most.max(age + i64::from(place > *maker));
                }
            }
        }
        most
    }

    /// A copy that is done only where `is_there` holds as well.
    fn predicate(
        &self,
        b: Builder<'c>,
        copy: cute::AtomCopy<'c>,
        is_there: Val<'c>,
    ) -> Result<Op<'c>, Failure> {
        let b = b.at_location(copy.op().location());
        let predicate = match copy.predicate() {
            // A number of elements.
            Some(own) if own.r#type() == b.i32_type() => {
                let none = b.i32(0)?;
                b.value(arith::SELECT, &[is_there, own, none], own.r#type(), &[])?
            }
            Some(own) => b.value(arith::ANDI, &[own, is_there], own.r#type(), &[])?,
            None => is_there,
        };
        let operands = [copy.copy(), copy.source(), copy.destination(), predicate];
        let attributes = attributes_of(copy.op());
        let predicated = b.op(cute::ATOM_COPY, &operands, &[], &attributes)?;
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
