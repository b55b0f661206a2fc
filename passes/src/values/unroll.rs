//! Loops that are written out in part: `{cute.unroll = 4}` makes four turns one.

use super::Values;
use cute_ir::ops::{arith, scf};
use cute_ir::{Expected, Failure, mlir::*, types};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// A loop with this attribute is written out: all of it, so that its index is known to what it indexes, or as many turns at
/// a time as the attribute says.
pub(super) const UNROLL: &str = "cute.unroll";
/// Tells whether the bounds of a loop are compared without a sign.
pub(super) const UNSIGNED: &str = "unsignedCmp";

/// How a loop is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unroll {
    Whole,
    /// As many turns as one.
    By(i64),
}

impl Unroll {
    /// Returns the way in which a loop asks to be written out, if any. The verifier has seen to the attribute's form.
    pub fn of(op: Op<'_>) -> Option<Self> {
        attribute_of(op, UNROLL)?;
        Some(integer_of(op, UNROLL).map_or(Self::Whole, Self::By))
    }
}

/// Writes out what the loops within `op` ask for in part: a loop of whole rounds, and what is left of the turns behind it.
pub(super) fn by_factors<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>) -> Result<(), Failure> {
    // Loops within a loop first: they are then copied with it.
    for op in nested_ops(kernel).into_iter().rev() {
        if let Some(Unroll::By(factor)) = Unroll::of(op) {
            split(rewriter, op, factor)?;
        }
    }
    Ok(())
}

/// The bounds of a loop as far as they are constants.
fn bounds(op: Op<'_>) -> [Option<i64>; 3] {
    let operands = operands_of(op);
    let values = Values::default();
    [0, 1, 2].map(|i| operands.get(i).and_then(|v| values.known(*v)))
}

/// The turns of a loop of integers of type `ty` from `from` to `to`.
pub(super) fn turns(from: i64, to: i64, step: i64, unsigned: bool, ty: Type<'_>) -> i128 {
    let bits = types::element_bits(ty).unwrap_or(64);
    let wide = |v: i64| match unsigned {
        true => i128::from(v) & ((1 << bits) - 1),
        false => v.into(),
    };
    let distance = (wide(to) - wide(from)).max(0);
    (distance + i128::from(step) - 1) / i128::from(step)
}

fn split<'c>(rewriter: &'c Rewriter<'c>, op: Op<'c>, factor: i64) -> Result<(), Failure> {
    let b = Builder::before(op);
    remove_attribute(op, UNROLL);
    if factor == 1 {
        return Ok(());
    }
    let unsigned = attribute_of(op, UNSIGNED).is_some();
    let [from, to, Some(step @ 1..)] = bounds(op) else {
        return Err(b.error(format!(
            "expected a loop of a constant step of at least 1 with {UNROLL} = {factor}; make the step a constant, or take the \
             attribute away"
        )));
    };
    let operands = operands_of(op);
    let ty = operands[0].r#type();
    let known = from
        .zip(to)
        .map(|(from, to)| (from, to, turns(from, to, step, unsigned, ty)));
    if known.is_some_and(|(.., turns)| turns <= i128::from(factor)) {
        set_attribute(op, UNROLL, b.attribute("unit")?);
        return Ok(());
    }
    let overflows = || {
        b.error(format!(
            "{UNROLL} = {factor} overflows a loop of step {step}"
        ))
    };
    let round = step.checked_mul(factor).ok_or_else(overflows)?;
    if types::element_bits(ty).is_some_and(|bits| bits < 64 && round >= 1 << (bits - 1)) {
        return Err(overflows());
    }
    let round_value = b.constant(ty, round)?;
    // A round fits below `to` less what is from its first turn to its last.
    let last = round - step;
    let end = match known {
        Some((_, to, _)) => b.constant(ty, to.wrapping_sub(last))?,
        None => end_of_rounds(b, op, last, unsigned)?,
    };
    let left = known.is_none_or(|(.., turns)| turns % i128::from(factor) > 0);

    // The rounds: each carries where the next turn starts, for what is left behind the last one.
    let initial = [&operands[..1], &operands[3..]].concat();
    let carried = rounds(b, op, [operands[0], end, round_value], &initial, factor)?;
    let results = if left {
        let mut all = vec![carried[0], operands[1], operands[2]];
        all.extend_from_slice(&carried[1..]);
        let rest = b.clone_op(op, &mut Mapping::new());
        for (i, value) in all.into_iter().enumerate() {
            set_operand(rest, i, value);
        }
        if let Some((from, _, turns)) = known {
            // Bounds that are constants, so that they can be written out.
            let rounds = (turns / i128::from(factor)) as i64;
            let start = b.constant(ty, from.wrapping_add(rounds.wrapping_mul(round)))?;
            set_operand(rest, 0, start);
            set_attribute(rest, UNROLL, b.attribute("unit")?);
        }
        (0..rest.result_count())
            .map(|i| result_of(rest, i))
            .collect()
    } else {
        carried[1..].to_vec()
    };
    for (i, value) in results.into_iter().enumerate() {
        replace_uses(result_of(op, i), value);
    }
    rewriter.erase(op)?;
    Ok(())
}

/// The bound below which a whole round fits: `to - last`, where `last` is from a round's first turn to its last; `from` where
/// that would be below the integers.
fn end_of_rounds<'c>(
    b: Builder<'c>,
    op: Op<'c>,
    last: i64,
    unsigned: bool,
) -> Result<Val<'c>, Failure> {
    let operands = operands_of(op);
    let (from, to) = (operands[0], operands[1]);
    let ty = to.r#type();
    let last = b.constant(ty, last)?;
    let end = b.value(arith::SUBI, &[to, last], ty, &[])?;
    // `slt` and `ult`, as arith.cmpi numbers them.
    let below = [("predicate", b.i64_attribute(if unsigned { 6 } else { 2 }))];
    let fits = b.value(arith::CMPI, &[end, to], b.ty("i1")?, &below)?;
    b.value(arith::SELECT, &[fits, end, from], ty, &[])
}

/// A loop whose turns are `factor` of `op`'s each. It carries the index of the next turn and what `op` carries.
fn rounds<'c>(
    b: Builder<'c>,
    op: Op<'c>,
    [from, to, step]: [Val<'c>; 3],
    initial: &[Val<'c>],
    factor: i64,
) -> Result<Vec<Val<'c>>, Failure> {
    let old = body_of(op, 0).expected(op, "a body")?;
    let ty = from.r#type();
    let types: Vec<Type<'c>> = initial.iter().map(|v| v.r#type()).collect();
    let mut arguments = vec![(ty, b.location)];
    arguments.extend(types.iter().map(|ty| (*ty, b.location)));
    let (region, new) = Detached::with_block(&arguments);
    let operands = [&[from, to, step], initial].concat();
    let built = b.with_regions(scf::FOR, &operands, &types, &[], vec![region])?;
    if let Some(unsigned) = attribute_of(op, UNSIGNED) {
        set_attribute(built, UNSIGNED, unsigned);
    }
    let inner = Builder::at_end(b.context, new, b.location);
    let own_step = operands_of(op)[2];
    let mut index = argument(new, 0);
    let mut carried: Vec<Val<'c>> = (1..initial.len()).map(|i| argument(new, i + 1)).collect();
    for _ in 0..factor {
        let mut mapping = Mapping::new();
        mapping.insert(key(argument(old, 0)), index);
        for (i, value) in carried.iter().enumerate() {
            mapping.insert(key(argument(old, i + 1)), *value);
        }
        let mut ops = ops_of(old);
        let end = ops.pop().expected(op, "an op that ends the block")?;
        for op in ops {
            inner.at_location(op.location()).clone_op(op, &mut mapping);
        }
        let yielded = operands_of(end).into_iter();
        carried = yielded
            .map(|v| mapping.get(&key(v)).copied().unwrap_or(v))
            .collect();
        index = inner.value(arith::ADDI, &[index, own_step], ty, &[])?;
    }
    let all: Vec<Val<'c>> = std::iter::once(index).chain(carried).collect();
    inner.op(scf::YIELD, &all, &[], &[])?;
    Ok((0..all.len()).map(|i| result_of(built, i)).collect())
}
