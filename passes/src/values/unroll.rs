//! Loops that are written out in part: `{cute.unroll = 4}` makes four turns one.

use super::known::known;
use crate::loops::{self, turns};
use cute_arith::Predicate;
use cute_ir::ops::{arith, scf};
use cute_ir::{Expected, Failure, attributes::UNROLL, mlir::*};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// The attribute of a loop whose bounds are compared without a sign.
pub(crate) const UNSIGNED: &str = "unsignedCmp";

/// The way in which a loop is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unroll {
    Whole,
    /// The number of turns that become one.
    By(i64),
}

impl Unroll {
    /// Returns the way in which a loop asks to be written out, if any. The verifier has seen to the attribute's form.
    pub(super) fn of(op: Op<'_>) -> Option<Self> {
        attribute_of(op, UNROLL)?;
        Some(integer_of(op, UNROLL).map_or(Self::Whole, Self::By))
    }
}

/// Writes out what the loops within `op` ask for in part: a loop of whole rounds, and what is left of the turns behind it.
pub(super) fn by_factors<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>) -> Result<(), Failure> {
    // Loops within a loop first: they are then copied with it.
    for op in nested_ops(kernel).into_iter().rev() {
        if let Some(Unroll::By(factor)) = Unroll::of(op)
            && let Some(old) = scf::For::of(op)
        {
            split(rewriter, old, factor)?;
        }
    }
    Ok(())
}

/// The bounds of a loop as far as they are constants.
fn bounds(op: scf::For<'_>) -> [Option<i64>; 3] {
    [op.lower_bound(), op.upper_bound(), op.step()].map(known)
}

/// Makes `factor` turns of a loop one, and puts what is left of them behind it: where their number is known, as a loop that asks to be
/// written out. Returns the values that take the place of the loop's results; the loop is gone then.
///
/// # Errors
/// A step that is not known, or so large that the loop's counter overflows.
pub(crate) fn split<'c>(
    rewriter: &'c Rewriter<'c>,
    old: scf::For<'c>,
    factor: i64,
) -> Result<Vec<Val<'c>>, Failure> {
    let op = old.op();
    let b = Builder::before(op);
    remove_attribute(op, UNROLL);
    if factor == 1 {
        return Ok(old.results());
    }
    let unsigned = old.unsigned_cmp().is_some();
    let [from, to, step] = bounds(old);
    loops::counts_up(b, step)?;
    let Some(step) = step else {
        return Err(b.error(format!(
            "expected a loop of a constant step of at least 1 with {UNROLL} = {factor}; make the step a constant, or take the \
             attribute away"
        )));
    };
    let ty = old.lower_bound().r#type();
    let known = from
        .zip(to)
        .map(|(from, to)| (from, to, turns(from, to, step, unsigned, ty)));
    if known.is_some_and(|(.., turns)| turns <= i128::from(factor)) {
        set_attribute(op, UNROLL, b.unit());
        return Ok(old.results());
    }
    let overflows = || {
        b.error(format!(
            "{UNROLL} = {factor} overflows a loop of step {step}"
        ))
    };
    let round = step.checked_mul(factor).ok_or_else(overflows)?;
    if i128::from(round) > loops::largest(ty, false) {
        return Err(overflows());
    }
    let round_value = b.constant(ty, round)?;
    // A round fits below `to` less what is from its first turn to its last.
    let last = round - step;
    let end = match known {
        Some((_, to, _)) => b.constant(ty, to.wrapping_sub(last))?,
        None => end_of_rounds(b, old, last, unsigned)?,
    };
    let left = known.is_none_or(|(.., turns)| turns % i128::from(factor) > 0);

    // The rounds: each carries where the next turn starts, for what is left behind the last one.
    let (next, carried) = rounds(b, old, end, round_value, factor)?;
    let results = if left {
        let start = match known {
            Some((from, _, turns)) => {
                // Bounds that are constants, so that they can be written out.
                let rounds = (turns / i128::from(factor)) as i64;
                b.constant(ty, from.wrapping_add(rounds.wrapping_mul(round)))?
            }
            None => next,
        };
        let rest = b.clone_op(op, &mut Mapping::new());
        if known.is_some() {
            set_attribute(rest, UNROLL, b.unit());
        }
        let bounds = [start, old.upper_bound(), old.step()];
        for (i, value) in bounds.into_iter().chain(carried).enumerate() {
            set_operand(rest, i, value);
        }
        results_of(rest)
    } else {
        carried
    };
    for (result, value) in old.results().into_iter().zip(&results) {
        replace_uses(result, *value);
    }
    rewriter.erase(op)?;
    Ok(results)
}

/// The bound below which a whole round fits: `to - last`, where `last` is from a round's first turn to its last; `from` where
/// that would be below the integers.
fn end_of_rounds<'c>(
    b: Builder<'c>,
    op: scf::For<'c>,
    last: i64,
    unsigned: bool,
) -> Result<Val<'c>, Failure> {
    let (from, to) = (op.lower_bound(), op.upper_bound());
    let ty = to.r#type();
    let last = b.constant(ty, last)?;
    let end = b.value(arith::SUBI, &[to, last], ty, &[])?;
    let below = if unsigned {
        Predicate::Ult
    } else {
        Predicate::Slt
    };
    let fits = b.compare(below, end, to)?;
    b.value(arith::SELECT, &[fits, end, from], ty, &[])
}

/// A loop from where `op` starts up to `to` by `step`, whose turns are `factor` of `op`'s each. It carries the index of the next
/// turn and what `op` carries, which are what comes of it.
fn rounds<'c>(
    b: Builder<'c>,
    op: scf::For<'c>,
    to: Val<'c>,
    step: Val<'c>,
    factor: i64,
) -> Result<(Val<'c>, Vec<Val<'c>>), Failure> {
    let old = op.region().expected(op.op(), "a body")?;
    let from = op.lower_bound();
    let ty = from.r#type();
    let initial = [vec![from], op.init_args()].concat();
    let types: Vec<Type<'c>> = initial.iter().map(|v| v.r#type()).collect();
    let mut arguments = vec![(ty, b.location)];
    arguments.extend(types.iter().map(|ty| (*ty, b.location)));
    let (region, new) = Detached::with_block(&arguments);
    let operands = [vec![from, to, step], initial].concat();
    let built = b.with_regions(scf::FOR, &operands, &types, &[], vec![region])?;
    if let Some(unsigned) = op.unsigned_cmp() {
        set_attribute(built, UNSIGNED, unsigned);
    }
    let inner = Builder::at_end(b.context, new, b.location);
    // Its own counter, the index of the next turn, and what `op` carries.
    let (mut index, mut carried) = match arguments_of(new)[..] {
        [index, _, ref carried @ ..] => (index, carried.to_vec()),
        _ => return Err(b.error("expected a loop that carries an index")),
    };
    for _ in 0..factor {
        let mut mapping = Mapping::new();
        let turn = std::iter::once(index).chain(carried);
        for (old, new) in arguments_of(old).into_iter().zip(turn) {
            mapping.insert(key(old), new);
        }
        let mut ops = ops_of(old);
        let end = ops.pop().expected(op.op(), "an op that ends the block")?;
        for op in ops {
            inner.at_location(op.location()).clone_op(op, &mut mapping);
        }
        let yielded = operands_of(end).into_iter();
        carried = yielded
            .map(|v| mapping.get(&key(v)).copied().unwrap_or(v))
            .collect();
        index = inner.value(arith::ADDI, &[index, op.step()], ty, &[])?;
    }
    let all: Vec<Val<'c>> = std::iter::once(index).chain(carried).collect();
    inner.op(scf::YIELD, &all, &[], &[])?;
    let (next, carried) = match results_of(built)[..] {
        [next, ref carried @ ..] => (next, carried.to_vec()),
        [] => return Err(b.error("expected a loop that carries an index")),
    };
    Ok((next, carried))
}
