//! Types that a function leaves open, as its arguments' types say them.

use cute_ir::ops::scf;
use cute_ir::{Failure, diag, infer, mlir::*, names::dialect_of, types::CuteType};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Tells whether a type is one that each call gives.
pub(super) fn is_open(ty: Type<'_>) -> bool {
    matches!(CuteType::of(ty), Some(CuteType::Any))
}

/// Gives the results of an op, and the arguments of its regions, the types that follow from its operands, where they are open.
pub(super) fn close<'c>(op: Op<'c>) -> Result<(), Failure> {
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
pub(super) fn close_by_yielded<'c>(op: Op<'c>) -> Result<(), Failure> {
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

fn set_open<'c>(values: &[Val<'c>], types: &[Type<'c>]) {
    for (value, ty) in values.iter().zip(types) {
        if is_open(value.r#type()) {
            set_type(*value, *ty);
        }
    }
}
