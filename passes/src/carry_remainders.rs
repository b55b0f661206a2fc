//! `cute-carry-remainders`: remainders of a loop's counter become values that the loop carries.
//!
//! The place of a ring is the number of a turn modulo the number of places. Divided anew, it is there some ten instructions after the
//! turn has begun, and copies wait for it; carried from turn to turn, it is there at once (CuTe's `smem_pipe_read` and
//! `smem_pipe_write`). The counter may have a constant added to it. Remainders of one loop by one number that are a step apart hand
//! each other on: the next turn's is what another is now. Where there is no other, it is one addition, a comparison and a selection.
//! Powers of two stay: their remainder is one instruction.
//!
//! The number of a turn is how far the counter is from its start, divided by the step. Where the step is no constant, as the blocks of a launch
//! that take turns, it is carried as well: one addition for a division of unknown numbers.

use crate::loops;
use cute_arith::Predicate;
use cute_ir::ops::{arith, scf};
use cute_ir::{Anchor, Failure, PassSpec, mlir::*};
use melior::ir::{BlockLike, ValueLike, operation::OperationLike};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-carry-remainders",
    description: "Carry remainders of loop counters from turn to turn",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

/// The largest distance from a counter, and the largest divisor: sums of a counter and both stay within 32 bits without a sign.
const MOST: i64 = 1 << 20;

/// A remainder: `(counter + offset) mod divisor`.
struct Remainder<'c> {
    op: Op<'c>,
    offset: i64,
    divisor: i64,
}

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let is_loop = |op: &Op<'c>| name_of(*op) == scf::FOR;
    let loops: Vec<_> = nested_ops(kernel).into_iter().filter(is_loop).collect();
    for op in loops {
        if let Some(turns) = Turns::of(op) {
            turns.rewrite(rewriter)?;
        } else if let Some(turns) = scf::For::of(op) {
            carry_number(rewriter, turns)?;
        }
    }
    Ok(())
}

/// Lets a loop whose step is no constant carry the number of the turn, if anything in it divides by the step to find out.
fn carry_number<'c>(rewriter: &'c Rewriter<'c>, turns: scf::For<'c>) -> Result<(), Failure> {
    let Some(body) = body_of(turns.op(), 0).filter(|_| constant_of(turns.step()).is_none()) else {
        return Ok(());
    };
    let counter = argument(body, 0);
    // A counter is not below its start, whatever signs it is compared with: without signs the difference is how far it is.
    let is_distance = |value: Val<'c>| {
        if value == counter {
            return constant_of(turns.lower_bound()) == Some(0);
        }
        let op = defining_op(value).filter(|op| name_of(*op) == arith::SUBI);
        op.is_some_and(|op| operands_of(op) == [counter, turns.lower_bound()])
    };
    let is_number = |op: &Op<'c>| {
        name_of(*op) == arith::DIVUI
            && matches!(operands_of(*op)[..], [distance, by] if by == turns.step() && is_distance(distance))
    };
    let all: Vec<_> = nested_ops_of(body).into_iter().filter(is_number).collect();
    let Some(first) = all.first() else {
        return Ok(());
    };
    let (before, ty) = (Builder::before(turns.op()), counter.r#type());
    let number = insert_argument(body, body.argument_count(), ty, first.location());
    for op in &all {
        replace_uses(result_of(*op, 0), number);
        rewriter.erase(*op)?;
    }
    let end = ops_of(body).pop().unwrap_or(turns.op());
    let b = Builder::before(end).at_location(location_of(number));
    let next = b.value(arith::ADDI, &[number, b.constant(ty, 1)?], ty, &[])?;
    loops::carry(rewriter, turns, &[before.constant(ty, 0)?], &[next])
}

/// A loop whose counter takes known steps from a known start.
struct Turns<'c> {
    op: scf::For<'c>,
    body: Blk<'c>,
    start: i64,
    step: i64,
}

impl<'c> Turns<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let op = scf::For::of(op)?;
        let body = body_of(op.op(), 0)?;
        let is_word = int_width(argument(body, 0).r#type()) == Some(32);
        // With a sign, the counter is below 2^31.
        let start = constant_of(op.lower_bound()).filter(|start| *start >= 0)?;
        let step = constant_of(op.step()).filter(|step| *step >= 1)?;
        (is_word && op.unsigned_cmp().is_none()).then_some(Self {
            op,
            body,
            start,
            step,
        })
    }

    /// The constant that is added to the counter in a value.
    fn offset_of(&self, mut value: Val<'c>) -> Option<i64> {
        let counter = argument(self.body, 0);
        let mut offset = 0_i64;
        while value != counter {
            let op = defining_op(value)?;
            let sign = match name_of(op) {
                arith::ADDI => 1,
                arith::SUBI => -1,
                _ => return None,
            };
            let [a, b] = operands_of(op)[..] else {
                return None;
            };
            let (rest, added) = match (constant_of(a), constant_of(b)) {
                (_, Some(added)) => (a, sign * added),
                (Some(added), _) if sign == 1 => (b, added),
                _ => return None,
            };
            offset = offset.checked_add(added)?;
            value = rest;
        }
        Some(offset)
    }

    fn remainders(&self) -> Vec<Remainder<'c>> {
        let all = nested_ops_of(self.body).into_iter();
        let remainders = all.filter(|op| name_of(*op) == arith::REMUI);
        let found = remainders.filter_map(|op| {
            let [value, divisor] = operands_of(op)[..] else {
                return None;
            };
            let divisor = constant_of(divisor).filter(|n| (3..=MOST).contains(n))?;
            let offset = self.offset_of(value)?;
            // Below 0 it would be a large number without a sign.
            let fits = self.start + offset >= 0 && offset <= MOST;
            (fits && divisor.count_ones() > 1).then_some(Remainder {
                op,
                offset,
                divisor,
            })
        });
        found.collect()
    }

    fn rewrite(&self, rewriter: &'c Rewriter<'c>) -> Result<(), Failure> {
        // By divisor and by what it is in the first turn.
        let mut carried: BTreeMap<(i64, i64), Vec<Op<'c>>> = BTreeMap::new();
        for remainder in self.remainders() {
            let first = (self.start + remainder.offset) % remainder.divisor;
            let all = carried.entry((remainder.divisor, first)).or_default();
            all.push(remainder.op);
        }
        if carried.is_empty() {
            return Ok(());
        }
        let op = self.op.op();
        let before = Builder::before(op);
        let mut now: BTreeMap<(i64, i64), Val<'c>> = BTreeMap::new();
        let mut initial = Vec::new();
        for ((divisor, first), same) in &carried {
            let ty = before.i32_type();
            let at = self.body.argument_count();
            let value = insert_argument(self.body, at, ty, same[0].location());
            now.insert((*divisor, *first), value);
            initial.push(before.i32(*first)?);
        }
        for (class, same) in &carried {
            for op in same {
                replace_uses(result_of(*op, 0), now[class]);
                rewriter.erase(*op)?;
            }
        }
        let mut yielded = Vec::new();
        for ((divisor, first), value) in &now {
            let next = (*divisor, (first + self.step) % divisor);
            yielded.push(match now.get(&next) {
                Some(other) => *other,
                None => self.next(*value, *divisor)?,
            });
        }
        loops::carry(rewriter, self.op, &initial, &yielded)
    }

    /// A remainder in the turn that follows.
    fn next(&self, value: Val<'c>, divisor: i64) -> Result<Val<'c>, Failure> {
        let end = ops_of(self.body).pop();
        let b = Builder::before(end.unwrap_or(self.op.op())).at_location(location_of(value));
        let step = b.i32(self.step % divisor)?;
        let ty = b.i32_type();
        let more = b.value(arith::ADDI, &[value, step], ty, &[])?;
        let limit = b.i32(divisor)?;
        if self.step % divisor == 1 {
            let wraps = b.compare(Predicate::Eq, more, limit)?;
            let first = b.i32(0)?;
            return b.value(arith::SELECT, &[wraps, first, more], ty, &[]);
        }
        let wraps = b.compare(Predicate::Uge, more, limit)?;
        let less = b.value(arith::SUBI, &[more, limit], ty, &[])?;
        b.value(arith::SELECT, &[wraps, less, more], ty, &[])
    }
}
