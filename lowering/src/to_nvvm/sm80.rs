//! The instructions of SM80: cp.async. PTX ISA, "Non-bulk copy".

use super::registers::assembly;
use cute_ir::{
    Failure,
    mlir::{Builder, Val},
    ops::{arith, nvvm},
};

/// The part of a copy's source that is there.
pub(super) enum Guard<'c> {
    /// All of it where this holds, else nothing.
    If(Val<'c>),
    /// So many elements of so many bits.
    Count(Val<'c>, i64),
}

impl<'c> Guard<'c> {
    /// The bytes that are read of `bytes`.
    fn bytes(self, b: Builder<'c>, bytes: i64) -> Result<Val<'c>, Failure> {
        let none = b.i32(0)?;
        let i32 = |name, operands: &[Val<'c>]| b.value(name, operands, b.i32_type(), &[]);
        match self {
            Guard::If(holds) => i32(arith::SELECT, &[holds, b.i32(bytes)?, none]),
            Guard::Count(count, bits) => {
                let all = b.i32(bytes * 8 / bits)?;
                let count = i32(arith::MINSI, &[i32(arith::MAXSI, &[count, none])?, all])?;
                match bits {
                    8 => Ok(count),
                    _ => i32(arith::MULI, &[count, b.i32(bits / 8)?]),
                }
            }
        }
    }
}

/// cp.async of one atom; zeros in place of what is not there.
pub(super) fn copy_async<'c>(
    b: Builder<'c>,
    (global, bits): (bool, i64),
    policy: Option<Val<'c>>,
    [from, to]: [Val<'c>; 2],
    guard: Option<Guard<'c>>,
) -> Result<(), Failure> {
    let modifier = if global { "cg" } else { "ca" };
    let bytes = bits / 8;
    let mut operands = vec![to, from];
    let guarded = guard.is_some();
    if let Some(guard) = guard {
        // Bytes that are read; the rest of the size is zeros (PTX ISA, cp.async, src-size).
        operands.push(guard.bytes(b, bytes)?);
    }
    if let Some(policy) = policy {
        operands.push(policy);
        let (source, constraints) = match guarded {
            true => ("$2, $3", "l,l,r,l,~{memory}"),
            false => ("$2", "l,l,l,~{memory}"),
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
