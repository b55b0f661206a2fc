//! The bounds of a loop that is written out: its counter in each interval, and which iterations there are.

use crate::loops;
use cute_arith::Predicate;
use cute_ir::ops::{arith, scf};
use cute_ir::{Failure, mlir::*, types::MOST_STAGES};
use melior::ir::{Type, ValueLike};

/// The bounds of a loop. Iterations count from 0; the loop's counter is `lower + iteration * step`.
pub(super) struct Bounds<'c> {
    ty: Type<'c>,
    lower: Val<'c>,
    upper: Val<'c>,
    step: Val<'c>,
    /// The lower bound, where it is known.
    first: Option<i64>,
    /// The step, where it is known.
    stride: Option<i64>,
    /// The number of iterations, where all is known.
    trips: Option<i64>,
    /// The counter is a number without a sign.
    unsigned: bool,
    /// The number of iterations and the counter behind the last one, once they have been computed.
    measured: Option<(Val<'c>, Val<'c>)>,
}

impl<'c> Bounds<'c> {
    /// The bounds of a loop. Errors: one that does not count up, or whose counter could run over.
    pub(super) fn of(op: scf::For<'c>, body: Blk<'c>) -> Result<Self, Failure> {
        let b = Builder::before(op.op());
        let lower = constant_of(op.lower_bound());
        let upper = constant_of(op.upper_bound());
        let step = constant_of(op.step());
        loops::counts_up(b, step)?;
        let ty = argument(body, 0).r#type();
        let unsigned = op.unsigned_cmp().is_some();
        // Bounds that are not negative are the same numbers with a sign and without. Others are computed with as if they were not
        // known, and so is a step by which the counter soon has no sign to spare.
        let alike = |value: Option<i64>| value.filter(|value| !unsigned || *value >= 0);
        let all = alike(lower).is_some() && alike(upper).is_some() && step.is_some();
        let limit = loops::largest(ty, false);
        let (lower, step) = match unsigned && !all {
            true => (
                lower.filter(|lower| *lower == 0),
                step.filter(|step| i128::from(*step) * i128::from(MOST_STAGES + 1) <= limit),
            ),
            false => (lower, step),
        };
        let mut trips = None;
        if let (true, Some(lower), Some(upper), Some(step)) = (all, lower, upper, step) {
            let count = (i128::from(upper) - i128::from(lower) + i128::from(step) - 1).max(0)
                / i128::from(step);
            // The counter runs past the end by no more iterations than there are stages.
            let most = i128::from(lower) + (count + i128::from(MOST_STAGES)) * i128::from(step);
            if most > limit {
                return Err(b.error(format!(
                    "expected a pipelined loop whose counter, up to {MOST_STAGES} iterations after the last, stays below the \
                     largest {ty}, {limit}; found bounds {lower} to {upper} in steps of {step}"
                )));
            }
            trips = i64::try_from(count).ok();
        }
        Ok(Self {
            ty,
            lower: op.lower_bound(),
            upper: op.upper_bound(),
            step: op.step(),
            first: lower,
            stride: step,
            trips,
            unsigned,
            measured: None,
        })
    }

    /// The number of iterations, where it is known.
    pub(super) fn trips(&self) -> Option<i64> {
        self.trips
    }

    /// The number of iterations, the lower bound and the step, where all is known.
    fn known(&self) -> Option<(i64, i64, i64)> {
        Some((self.trips?, self.first?, self.stride?))
    }

    /// Tells whether the counter is a number without a sign, of which not all bounds are known.
    pub(super) fn unsigned(&self) -> bool {
        self.unsigned && self.trips.is_none()
    }

    /// The comparison of counters.
    fn less(&self) -> Predicate {
        match self.unsigned() {
            true => Predicate::Ult,
            false => Predicate::Slt,
        }
    }

    /// Computes the number of iterations, which is not known.
    pub(super) fn measure(&mut self, b: Builder<'c>) -> Result<(), Failure> {
        let any = b.compare(self.less(), self.lower, self.upper)?;
        let zero = b.constant(self.ty, 0)?;
        let span = match self.first {
            Some(0) => self.upper,
            _ => self.binary(b, arith::SUBI, self.upper, self.lower)?,
        };
        let span = b.value(arith::SELECT, &[any, span, zero], self.ty, &[])?;
        let trips = match self.stride {
            Some(1) => span,
            _ => {
                // Rounded up; as unsigned numbers the sum does not run over.
                let one = b.constant(self.ty, 1)?;
                let rest = self.binary(b, arith::SUBI, self.step, one)?;
                let sum = self.binary(b, arith::ADDI, span, rest)?;
                self.binary(b, arith::DIVUI, sum, self.step)?
            }
        };
        let length = match self.stride {
            Some(1) => trips,
            _ => self.binary(b, arith::MULI, trips, self.step)?,
        };
        let end = match self.first {
            Some(0) => length,
            _ => self.binary(b, arith::ADDI, self.lower, length)?,
        };
        self.measured = Some((trips, end));
        Ok(())
    }

    fn measured(&self, b: Builder<'c>) -> Result<(Val<'c>, Val<'c>), Failure> {
        self.measured.ok_or_else(|| {
            b.error("the iterations of a loop are asked for before they are counted")
        })
    }

    fn binary(
        &self,
        b: Builder<'c>,
        name: &str,
        one: Val<'c>,
        other: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        b.value(name, &[one, other], self.ty, &[])
    }

    /// `value + iterations * step`
    fn ahead(&self, b: Builder<'c>, value: Val<'c>, iterations: i64) -> Result<Val<'c>, Failure> {
        if iterations == 0 {
            return Ok(value);
        }
        let (name, count) = match iterations < 0 {
            true => (arith::SUBI, -iterations),
            false => (arith::ADDI, iterations),
        };
        let length = match self.stride {
            Some(step) => b.constant(self.ty, count * step)?,
            None => {
                let count = b.constant(self.ty, count)?;
                self.binary(b, arith::MULI, count, self.step)?
            }
        };
        self.binary(b, name, value, length)
    }

    /// The counter of an iteration; where it `stops`, of the last one if there are fewer.
    pub(super) fn counter_at(
        &self,
        b: Builder<'c>,
        iteration: i64,
        stops: bool,
    ) -> Result<Val<'c>, Failure> {
        if let Some((trips, first, step)) = self.known() {
            let iteration = if stops {
                iteration.min(trips - 1)
            } else {
                iteration
            };
            return b.constant(self.ty, first + iteration * step);
        }
        if !stops {
            return match (self.first, self.stride) {
                (Some(first), Some(step)) => b.constant(self.ty, first + iteration * step),
                _ => self.ahead(b, self.lower, iteration),
            };
        }
        let (trips, _) = self.measured(b)?;
        let one = b.constant(self.ty, 1)?;
        let last = self.binary(b, arith::SUBI, trips, one)?;
        let iteration = b.constant(self.ty, iteration)?;
        let iteration = self.binary(b, arith::MINUI, iteration, last)?;
        let length = self.binary(b, arith::MULI, iteration, self.step)?;
        self.binary(b, arith::ADDI, self.lower, length)
    }

    /// The counter of an iteration, counted from behind the last one.
    pub(super) fn counter_behind(
        &self,
        b: Builder<'c>,
        iterations: i64,
    ) -> Result<Val<'c>, Failure> {
        let (_, end) = self.measured(b)?;
        self.ahead(b, end, iterations)
    }

    /// The bounds of the loop of the intervals from `last` on, up to that in which stage `lead` runs out, and its step. It counts
    /// intervals as the old loop counts iterations; where these are not known, from the old lower bound on.
    pub(super) fn of_the_loop(
        &self,
        b: Builder<'c>,
        last: i64,
        lead: i64,
    ) -> Result<[Val<'c>; 3], Failure> {
        if let Some((trips, first, step)) = self.known() {
            return Ok([
                b.constant(self.ty, first + last * step)?,
                b.constant(self.ty, first + (trips + lead) * step)?,
                b.constant(self.ty, step)?,
            ]);
        }
        Ok([self.lower, self.counter_behind(b, lead - last)?, self.step])
    }

    /// The counter of an operation of `stage` in that loop; where it `stops`, of the last iteration if there are fewer.
    pub(super) fn in_the_loop(
        &self,
        b: Builder<'c>,
        counter: Val<'c>,
        last: i64,
        stage: i64,
        stops: bool,
    ) -> Result<Val<'c>, Failure> {
        if let Some((trips, first, step)) = self.known() {
            let counter = self.ahead(b, counter, -stage)?;
            if !stops {
                return Ok(counter);
            }
            let most = b.constant(self.ty, first + (trips - 1) * step)?;
            return self.binary(b, arith::MINSI, counter, most);
        }
        if stops && self.unsigned() {
            // Numbers below the lower bound may not be any.
            let counter = self.ahead(b, counter, last - stage)?;
            let most = self.counter_behind(b, -1)?;
            return self.binary(b, arith::MINUI, counter, most);
        }
        let counter = if stops {
            let most = self.counter_behind(b, stage - last - 1)?;
            self.binary(b, arith::MINSI, counter, most)?
        } else {
            counter
        };
        self.ahead(b, counter, last - stage)
    }

    /// Tells whether there is an iteration of an operation of `stage` in that loop.
    pub(super) fn has_in_the_loop(
        &self,
        b: Builder<'c>,
        counter: Val<'c>,
        last: i64,
        stage: i64,
    ) -> Result<Val<'c>, Failure> {
        if self.unsigned() {
            let counter = self.ahead(b, counter, last - stage)?;
            let end = self.counter_behind(b, 0)?;
            return b.compare(Predicate::Ult, counter, end);
        }
        let end = match self.known() {
            Some((trips, first, step)) => b.constant(self.ty, first + (trips + stage) * step)?,
            None => self.counter_behind(b, stage - last)?,
        };
        b.compare(Predicate::Slt, counter, end)
    }

    /// Tells whether there is an iteration, of a number of iterations that is not known.
    pub(super) fn has(&self, b: Builder<'c>, iteration: i64) -> Result<Val<'c>, Failure> {
        let (trips, _) = self.measured(b)?;
        let iteration = b.constant(self.ty, iteration)?;
        b.compare(Predicate::Ugt, trips, iteration)
    }
}

/// A branch on whether a loop has so many iterations that it can be written out.
pub(super) struct Guard<'c> {
    op: Op<'c>,
    /// The place for what runs if it has.
    pub(super) enough: Builder<'c>,
    /// The place for what runs if it has not.
    pub(super) fewer: Builder<'c>,
}

impl<'c> Guard<'c> {
    /// A branch with results of the types of these, at `b`; none where any number of iterations will do.
    pub(super) fn new(
        bounds: &Bounds<'c>,
        b: Builder<'c>,
        results: &[Val<'c>],
        least: i64,
    ) -> Result<Option<Self>, Failure> {
        if least == 0 {
            return Ok(None);
        }
        let (trips, _) = bounds.measured(b)?;
        let least = b.constant(bounds.ty, least)?;
        let condition = b.compare(Predicate::Uge, trips, least)?;
        let types: Vec<_> = results.iter().map(|v| v.r#type()).collect();
        let (then, enough) = Detached::with_block(&[]);
        let (or_else, fewer) = Detached::with_block(&[]);
        let op = b.with_regions(scf::IF, &[condition], &types, &[], vec![then, or_else])?;
        let place = |block| Builder::at_end(b.context, block, b.location);
        Ok(Some(Self {
            op,
            enough: place(enough),
            fewer: place(fewer),
        }))
    }

    /// The branch's results.
    pub(super) fn results(&self) -> Vec<Val<'c>> {
        results_of(self.op)
    }
}
