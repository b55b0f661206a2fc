//! The instructions of SM80: cp.async. PTX ISA, "Non-bulk copy".

use super::registers::assembly;
use cute_ir::{
    Failure,
    mlir::{Builder, Val},
    ops::{arith, nvvm},
};

/// cp.async of one atom; zeros where `predicate` is false.
pub(super) fn copy_async<'c>(
    b: Builder<'c>,
    (global, bits): (bool, i64),
    policy: Option<Val<'c>>,
    [from, to]: [Val<'c>; 2],
    predicate: Option<Val<'c>>,
) -> Result<(), Failure> {
    let modifier = if global { "cg" } else { "ca" };
    let bytes = bits / 8;
    let mut operands = vec![to, from];
    if let Some(predicate) = predicate {
        // Bytes that are read; the rest of the size is zeros (PTX ISA, cp.async, src-size).
        let (all, none) = (b.i32(bytes)?, b.i32(0)?);
        operands.push(b.value(arith::SELECT, &[predicate, all, none], b.i32_type(), &[])?);
    }
    if let Some(policy) = policy {
        operands.push(policy);
        let (source, constraints) = match predicate {
            Some(_) => ("$2, $3", "l,l,r,l,~{memory}"),
            None => ("$2", "l,l,l,~{memory}"),
        };
        let text = format!(
            "cp.async.{modifier}.shared.global.L2::cache_hint [$0], [$1], {bytes}, {source};"
        );
        assembly(b, &text, constraints, &operands, &[])?;
        return Ok(());
    }
    let attributes = [
        ("size", b.integer(b.i32_type(), bytes)),
        (
            "modifier",
            b.attribute(&format!("#nvvm<load_cache_modifier {modifier}>"))?,
        ),
    ];
    b.op(nvvm::CP_ASYNC_SHARED_GLOBAL, &operands, &[], &attributes)?;
    Ok(())
}
