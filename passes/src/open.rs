//! Types that are open until a function is called or parameters have values, as operands' types say them then.

use crate::branches::Taken;
use cute_ir::ops::{cute, scf};
use cute_ir::{Expected, Failure, diag, infer, mlir::*, names::dialect_of, types::CuteType};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Tells whether a type is one that each call gives.
pub(crate) fn is_open(ty: Type<'_>) -> bool {
    matches!(CuteType::of(ty), Some(CuteType::Any))
}

/// Gives the results of an op, and the arguments of its regions, the types that follow from its operands, where they are open.
pub(crate) fn close<'c>(op: Op<'c>) -> Result<(), Failure> {
    let inner: Vec<Val<'c>> = blocks_of(op).into_iter().flat_map(arguments_of).collect();
    if name_of(op) == scf::FOR {
        // Lower and upper bound and step, then what the loop carries; the region has the index before that.
        let carried: Vec<_> = operands_of(op).into_iter().skip(3).collect();
        let types: Vec<_> = carried.iter().map(ValueLike::r#type).collect();
        set_open(&results_of(op), &types);
        set_open(inner.get(1..).unwrap_or_default(), &types);
        return Ok(());
    }
    if !matches!(dialect_of(op), "cute" | "cute_nvgpu") {
        return Ok(());
    }
    let wrong =
        |message: String| diag::error(op.location(), format!("'{}' op {message}", name_of(op)));
    if results_of(op).iter().any(|value| is_open(value.r#type())) {
        let types = infer::result_types(op).map_err(wrong)?;
        set_open(&results_of(op), &types);
    }
    if inner.iter().any(|value| is_open(value.r#type())) {
        let types = infer::argument_types(op).map_err(wrong)?;
        set_open(&inner, &types);
    }
    Ok(())
}

/// Gives the results of an op, where they are still open, the types of what its first region yields; by then nothing is open.
pub(crate) fn close_by_yielded<'c>(op: Op<'c>) -> Result<(), Failure> {
    let end = body_of(op, 0).and_then(|body| ops_of(body).pop());
    if let Some(end) = end.filter(|end| name_of(*end) == scf::YIELD) {
        let types: Vec<_> = operands_of(end).iter().map(ValueLike::r#type).collect();
        set_open(&results_of(op), &types);
    }
    match results_of(op).iter().any(|value| is_open(value.r#type())) {
        true => Err(diag::error(
            op.location(),
            format!(
                "'{}' op has a result of type !cute.any, which does not follow from its operands; write its type",
                name_of(op)
            ),
        )),
        false => Ok(()),
    }
}

/// Gives all ops within an op the types that follow, outermost first.
pub(crate) fn close_within<'c>(rewriter: &'c Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let mut all = blocks_of(op).into_iter().flat_map(ops_of);
    all.try_for_each(|inner| close_one(rewriter, inner))
}

fn close_one<'c>(rewriter: &'c Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    if name_of(op) == cute::DEFERRED {
        return make(rewriter, op);
    }
    if let Some(mut taken) = Taken::of(op) {
        let mut ops = std::mem::take(&mut taken.ops).into_iter();
        ops.try_for_each(|op| close_one(rewriter, op))?;
        return taken.close(rewriter);
    }
    close(op)?;
    close_within(rewriter, op)?;
    close_by_yielded(op)
}

/// Makes the op that a `cute.deferred` stands for, of operands whose types are known by now.
pub(crate) fn make<'c>(rewriter: &'c Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let deferred = cute::Deferred::of(op).expected(op, "a cute.deferred")?;
    let name = deferred
        .stands_for()
        .and_then(string_value)
        .unwrap_or_default();
    if !is_op(context_of(op), name) {
        return Err(diag::error(
            op.location(),
            format!(
                "'cute.deferred' op expected the name of an op with its dialect's, such as \"arith.addf\", found \"{name}\"{}",
                meant_op(context_of(op), name)
            ),
        ));
    }
    let operands = operands_of(op);
    if let Some(open) = operands
        .iter()
        .position(|operand| is_open(operand.r#type()))
    {
        return Err(diag::error(
            op.location(),
            format!(
                "'cute.deferred' op expected operands of known types for {name}, found operand {open} of type !cute.any; write the \
                     type of what gives it"
            ),
        ));
    }
    let attributes = attribute_of(op, "with")
        .and_then(entries_of)
        .unwrap_or_default();
    let before = Builder::before(op);
    let types: Vec<_> = results_of(op).iter().map(ValueLike::r#type).collect();
    let made = match types.iter().any(|ty| is_open(*ty)) {
        true => before.infer_all(name, &operands, &attributes)?,
        false => results_of(before.op(name, &operands, &types, &attributes)?),
    };
    if made.len() != types.len() {
        return Err(diag::error(
            op.location(),
            format!(
                "'cute.deferred' op expected as many results as {name} has, {}, found {}",
                made.len(),
                types.len()
            ),
        ));
    }
    for (result, made) in results_of(op).into_iter().zip(made) {
        replace_uses(result, made);
    }
    rewriter.erase(op)
}

fn set_open<'c>(values: &[Val<'c>], types: &[Type<'c>]) {
    for (value, ty) in values.iter().zip(types) {
        if is_open(value.r#type()) {
            set_type(*value, *ty);
        }
    }
}
