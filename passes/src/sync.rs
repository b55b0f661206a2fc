//! Waits and barriers between the threads of a block that share memory.
//!
//! Works on whole allocations: a read after an asynchronous copy waits for it; what one thread
//! wrote and another may read, or read and another may overwrite, has a barrier between. Only
//! `cute.copy` on partitions touches shared memory at this level.

use crate::partition::{root_of, space_of};
use cute_ir::{
    Failure,
    build::*,
    types::{CopyOp, Space},
    verify::copy_op,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// Steps, as [`Builder::step`] names them.
pub(crate) const COPIES: &str = "wait for copies";
pub(crate) const THREADS: &str = "wait for other threads";

/// What has happened to shared memory since the last barrier, by allocation.
#[derive(Default)]
struct State {
    /// Written by copies that may be in flight.
    pending: HashSet<usize>,
    written: HashSet<usize>,
    read: HashSet<usize>,
}

impl State {
    fn is_clear(&self) -> bool {
        self.pending.is_empty() && self.written.is_empty() && self.read.is_empty()
    }
}

/// Guards the accesses of a kernel's body.
pub(crate) fn guard(body: Blk<'_>) -> Result<(), Failure> {
    visit(body, &mut State::default())
}

fn visit(block: Blk<'_>, state: &mut State) -> Result<(), Failure> {
    for op in ops_of(block) {
        if name_of(op) == "cute.copy" {
            access(op, state)?;
        } else if let Some(inner) = body_of(op, 0) {
            // The body follows what came before, and itself.
            if !state.is_clear() {
                barrier(Builder::before(op), state)?;
            }
            visit(inner, state)?;
            if !state.is_clear() {
                let last = ops_of(inner).pop().ok_or(Failure)?;
                // An end that nobody wrote has no place of its own.
                barrier(Builder::before(last).at_location(op.location()), state)?;
            }
        }
    }
    Ok(())
}

fn access(op: Op<'_>, state: &mut State) -> Result<(), Failure> {
    let operands = operands_of(op);
    let [copy, source, destination] = operands[..] else {
        return Ok(());
    };
    let shared = |value| (space_of(value) == Some(Space::Smem)).then(|| key(root_of(value)));
    let (reads, writes) = (shared(source), shared(destination));
    let meets = |set: &HashSet<usize>, it: Option<usize>| it.is_some_and(|it| set.contains(&it));
    let hazard = meets(&state.pending, reads)
        || meets(&state.pending, writes)
        || meets(&state.written, reads)
        || meets(&state.written, writes)
        || meets(&state.read, writes);
    if hazard {
        barrier(Builder::before(op), state)?;
    }
    state.read.extend(reads);
    if matches!(copy_op(copy.r#type()), Some(CopyOp::SimtAsync { .. })) {
        state.pending.extend(writes);
    } else {
        state.written.extend(writes);
    }
    Ok(())
}

fn barrier(b: Builder<'_>, state: &mut State) -> Result<(), Failure> {
    let pending = !state.pending.is_empty();
    let b = b.step(if pending { COPIES } else { THREADS });
    if pending {
        b.op("nvvm.cp.async.commit.group", &[], &[], &[])?;
        b.op(
            "nvvm.cp.async.wait.group",
            &[],
            &[],
            &[("n", b.integer(b.i32_type(), 0))],
        )?;
    }
    b.op("gpu.barrier", &[], &[], &[])?;
    *state = State::default();
    Ok(())
}
