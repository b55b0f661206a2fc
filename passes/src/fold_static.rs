//! `cute-fold-static`: layout values that their types say whole become `cute.static`.
//!
//! A comparison of such values becomes a constant. What then has no use is erased.

use cute_ir::ops::cute;
use cute_ir::{Anchor, Failure, PassSpec, algebra, diag, mlir::*};
use cute_layout::{Truth, ops::Value};
use melior::ir::{ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-fold-static",
    description: "Replace layout values that are known by cute.static, and erase what is not used",
    anchor: Anchor::Any,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, root: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    // Users come before what they use, so that one walk erases whole chains.
    for op in nested_ops(root).into_iter().rev() {
        if name_of(op) == cute::STATIC {
            rewriter.erase_if_unused(op);
        } else if is_pure(op) {
            fold(rewriter, op)?;
        }
    }
    Ok(())
}

/// Ops of the algebra; those that divide count, for a fold only ever takes them away.
fn is_pure(op: Op<'_>) -> bool {
    algebra::is_algebra(op) && !matches!(name_of(op), cute::STATIC | cute::PRINT)
}

fn fold<'c>(rewriter: &'c Rewriter<'c>, op: Op<'c>) -> Result<(), Failure> {
    let builder = Builder::before(op);
    for i in 0..op.result_count() {
        let result = result_of(op, i);
        if users_of(result).is_empty() {
            continue;
        }
        if let Some(truth) = comparison(op)? {
            let ty = result.r#type();
            replace_uses(result, builder.constant(ty, i64::from(truth))?);
        } else if algebra::value_of(result.r#type()).is_some_and(|v| v.is_static()) {
            replace_uses(result, builder.static_value(result.r#type())?);
        }
    }
    rewriter.erase_if_unused(op);
    Ok(())
}

/// Returns the result of `cute.equal` or `cute.elem_less` on operands that are known.
fn comparison(op: Op<'_>) -> Result<Option<bool>, Failure> {
    if !matches!(name_of(op), cute::EQUAL | cute::ELEM_LESS) {
        return Ok(None);
    }
    let operands: Option<Vec<Value>> = operands_of(op)
        .into_iter()
        .map(|operand| algebra::value_of(operand.r#type()).filter(Value::is_static))
        .collect();
    let Some(operands) = operands else {
        return Ok(None);
    };
    let results = algebra::evaluate(op, &operands)
        .map_err(|e| diag::error(op.location(), format!("'{}' op {e}", name_of(op))))?;
    Ok(match results[..] {
        [Value::Bool(Truth::Known(v))] => Some(v),
        _ => None,
    })
}
