//! `cute-number-barriers`: named barriers get numbers that nothing else in the kernel uses.
//!
//! A block has 16 barriers, which all of its threads share by number. What is written as a number stays, and so do those that passes have made; `gpu.barrier` is
//! number 0. Where a barrier's number comes from elsewhere, it may be any, so that none can be told to be free.

use crate::kernel::body_of_kernel;
use cute_ir::ops::{cute_nvgpu, nvvm};
use cute_ir::{Anchor, Expected, Failure, PassSpec, diag, mlir::*};
use melior::ir::operation::OperationLike;
use std::collections::{BTreeSet, HashSet};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-number-barriers",
    description: "Give named barriers numbers",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

/// The barriers of a block (PTX ISA, `barrier`).
const BARRIERS: i64 = 16;

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let body = body_of_kernel(kernel)?;
    let ops = nested_ops_of(body);
    let named = ops.iter().copied();
    let named: Vec<_> = named.filter_map(cute_nvgpu::NamedBarriers::of).collect();
    let Some(first) = named.first() else {
        return Ok(());
    };
    if let Some(op) = { &named }.iter().find(|op| block_of(op.op()) != Some(body)) {
        return Err(diag::error(
            op.op().location(),
            "makes barriers within a loop or a branch; expected it in the kernel's own block, where all threads have the same ones",
        ));
    }
    let own: HashSet<_> = named.iter().map(|op| op_key(op.op())).collect();
    let mut used = BTreeSet::from([0]);
    for op in ops {
        let Some(number) = number_of(op) else {
            continue;
        };
        match constant_of(number) {
            Some(number) => {
                used.insert(number);
            }
            None if comes_from(number, &own) => {}
            None => {
                return Err(diag::error_with_notes(
                    op.location(),
                    "is a barrier whose number only the kernel knows, in one with named barriers; expected a constant, or a number that \
                     cute_nvgpu.named_barriers gives",
                    &[(first.op().location(), "the named barriers")],
                ));
            }
        }
    }
    for op in named {
        let b = Builder::before(op.op());
        let count = integer_of(op.op(), "count").expected(b, "the number of barriers")?;
        let is_free = |start: &i64| (*start..start + count).all(|number| !used.contains(&number));
        let Some(start) = (1..=BARRIERS - count).find(is_free) else {
            let others: Vec<_> = used.iter().map(ToString::to_string).collect();
            return Err(b.error(format!(
                "needs {count} barrier{} side by side, but a block has {BARRIERS}, of which the kernel uses {}; expected fewer",
                if count == 1 { "" } else { "s" },
                others.join(", ")
            )));
        };
        used.extend(start..start + count);
        replace_uses(op.first(), b.i32(start)?);
        rewriter.erase(op.op())?;
    }
    Ok(())
}

/// The number of the barrier that an op waits or arrives at, where it says one.
pub(crate) fn number_of(op: Op<'_>) -> Option<Val<'_>> {
    let has_number = match name_of(op) {
        // It may have a number, how many threads it is for, and a predicate.
        nvvm::BARRIER => {
            let segments = attribute_of(op, "operandSegmentSizes").and_then(i32s_of);
            segments.is_some_and(|segments| segments.first() == Some(&1))
        }
        // It always has how many threads it is for.
        nvvm::BARRIER_ARRIVE => operands_of(op).len() == 2,
        _ => false,
    };
    operands_of(op).first().copied().filter(|_| has_number)
}

/// Tells whether a value is computed of what one of some ops gives.
fn comes_from(value: Val<'_>, from: &HashSet<OpKey>) -> bool {
    let (mut open, mut seen) = (vec![value], HashSet::new());
    while let Some(value) = open.pop() {
        let Some(op) = defining_op(value).filter(|op| seen.insert(op_key(*op))) else {
            continue;
        };
        if from.contains(&op_key(op)) {
            return true;
        }
        open.extend(operands_of(op));
    }
    false
}
