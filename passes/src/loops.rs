//! What several passes ask of loops and do to them: how far they count, and that they carry more than they did.

use cute_ir::ops::scf;
use cute_ir::{
    Expected, Failure,
    attributes::UNROLL,
    diag::{self, Located},
    mlir::*,
    types::int_width,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Bits of a number of a kernel: an index has 32.
pub(crate) fn bits_of(ty: Type<'_>) -> u32 {
    int_width(ty).unwrap_or(32)
}

/// The largest number that a loop's counter of a type can be.
pub(crate) fn largest(ty: Type<'_>, unsigned: bool) -> i128 {
    let bits = bits_of(ty).clamp(1, 64);
    (1 << if unsigned { bits } else { bits - 1 }) - 1
}

/// A number that a loop's counter of a type is compared as.
fn compared(value: i64, ty: Type<'_>, unsigned: bool) -> i128 {
    match unsigned {
        true => i128::from(value) & largest(ty, true),
        false => value.into(),
    }
}

/// The turns of a loop of integers of type `ty` from `from` to `to`.
pub(crate) fn turns(from: i64, to: i64, step: i64, unsigned: bool, ty: Type<'_>) -> i128 {
    let [from, to] = [from, to].map(|bound| compared(bound, ty, unsigned));
    ((to - from).max(0) + i128::from(step) - 1) / i128::from(step)
}

/// Checks that a step, where it is known, is one of a loop that counts up.
///
/// # Errors
/// A step below 1.
pub(crate) fn counts_up<'c>(at: impl Located<'c>, step: Option<i64>) -> Result<(), Failure> {
    match step {
        Some(step @ ..1) => Err(diag::error(
            at.at(),
            format!(
                "expected a loop that counts up, by a step of at least 1, found one by {step}; count up, and compute of the counter what is to \
                 go down"
            ),
        )),
        _ => Ok(()),
    }
}

/// Checks that a loop ends by what is known of its bounds and its step.
///
/// # Errors
/// A step below 1. A counter that runs over before it reaches the upper bound: such a loop never ends.
pub(crate) fn check(turning: scf::For<'_>) -> Result<(), Failure> {
    let op = turning.op();
    let bounds = [turning.lower_bound(), turning.upper_bound(), turning.step()];
    let [from, to, step] = bounds.map(constant_of);
    counts_up(op, step)?;
    let (Some(from), Some(to), Some(step)) = (from, to, step) else {
        return Ok(());
    };
    // Of a loop that is written out there is no counter.
    if attribute_of(op, UNROLL).is_some() && integer_of(op, UNROLL).is_none() {
        return Ok(());
    }
    let (ty, unsigned) = (turning.step().r#type(), turning.unsigned_cmp().is_some());
    let turns = turns(from, to, step, unsigned, ty);
    let behind = compared(from, ty, unsigned) + turns * i128::from(step);
    let most = largest(ty, unsigned);
    match turns == 0 || behind <= most {
        true => Ok(()),
        false => Err(diag::error(
            op.location(),
            format!(
                "expected a loop whose counter, behind the last turn, is at most the largest {ty}, {most}; found bounds {from} to {to} in \
                 steps of {step}, by which it becomes {behind}; count in a wider type, or from 0 on"
            ),
        )),
    }
}

/// Lets a loop carry more values: `initial` into its first turn, and from each turn into the next what `yielded` has for them. Its body
/// has an argument for each already, behind the others. The loop is built anew around the same body.
///
/// # Errors
/// None: a loop without a body has been ruled out.
pub(crate) fn carry<'c>(
    rewriter: &'c Rewriter<'c>,
    turns: scf::For<'c>,
    initial: &[Val<'c>],
    yielded: &[Val<'c>],
) -> Result<(), Failure> {
    let op = turns.op();
    let body = body_of(op, 0).expected(op, "a body")?;
    let end = *ops_of(body)
        .last()
        .expected(op, "an op that ends the block")?;
    let all = [&operands_of(end)[..], yielded].concat();
    Builder::before(end).op(scf::YIELD, &all, &[], &attributes_of(end))?;
    rewriter.erase(end)?;
    let operands = [&operands_of(op)[..], initial].concat();
    let types = turns.results().into_iter().chain(initial.iter().copied());
    let types: Vec<_> = types.map(|value| value.r#type()).collect();
    let new = rewriter.recreate(op, &operands, &types, &attributes_of(op))?;
    for (old, new) in turns.results().into_iter().zip(results_of(new)) {
        replace_uses(old, new);
    }
    rewriter.erase(op)
}
