//! Waits and barriers between the threads of a block that share memory.
//!
//! Works on whole allocations: a read after an asynchronous copy waits for it; what one thread
//! wrote and another may read, or read and another may overwrite, has a barrier between. Whatever takes a tensor in
//! shared memory and is neither a copy nor a view of it is taken to read and to write it.

use crate::{
    partition::{is_memory, root_of, space_of},
    pipeline::graph::is_pure,
};
use cute_ir::ops::{gpu, nvvm};
use cute_ir::{
    Failure,
    args::ThreadCopy,
    mlir::*,
    names::is_cute,
    types::{self, Space},
};
use cute_layout::atoms::Completion;
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// Steps, as [`Builder::step`] names them.
pub(crate) const COPIES: &str = "wait for copies";
pub(crate) const THREADS: &str = "wait for other threads";

/// The accesses to shared memory since the last barrier, by allocation.
#[derive(Default)]
struct State {
    /// Written by copies that may be in flight.
    pending: HashSet<ValueKey>,
    written: HashSet<ValueKey>,
    read: HashSet<ValueKey>,
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
        if let Some(args) = ThreadCopy::of(op).filter(|copy| copy.predicate.is_none()) {
            copy(op, args, state)?;
        } else if op.region_count() == 0 {
            let views = is_cute(op) && results_of(op).into_iter().any(is_memory);
            if !views && !is_pure(op) {
                let touched: Vec<ValueKey> =
                    operands_of(op).into_iter().filter_map(shared).collect();
                access(op, state, &touched, &touched, false)?;
            }
        } else {
            // A region follows what came before, itself, and any other of the operation; or does not run.
            if !state.is_clear() {
                barrier(Builder::before(op), state)?;
            }
            for inner in blocks_of(op) {
                visit(inner, state)?;
                if let (false, Some(last)) = (state.is_clear(), ops_of(inner).pop()) {
                    // An end that nobody wrote has no place of its own.
                    barrier(Builder::before(last).at_location(op.location()), state)?;
                }
            }
        }
    }
    Ok(())
}

/// The allocation in shared memory that a tensor is of.
fn shared(value: Val<'_>) -> Option<ValueKey> {
    (space_of(value) == Some(Space::Smem)).then(|| key(root_of(value)))
}

/// A copy by an atom from a tensor to another.
fn copy<'c>(op: Op<'c>, args: ThreadCopy<'c>, state: &mut State) -> Result<(), Failure> {
    let asynchronous = types::copy_row(args.copy.r#type())
        .is_some_and(|atom| atom.completion == Completion::Group);
    let (reads, writes) = (shared(args.source), shared(args.destination));
    access(op, state, reads.as_slice(), writes.as_slice(), asynchronous)
}

/// An access of allocations, with a barrier before it where others have touched them.
fn access(
    op: Op<'_>,
    state: &mut State,
    reads: &[ValueKey],
    writes: &[ValueKey],
    asynchronous: bool,
) -> Result<(), Failure> {
    let meets =
        |set: &HashSet<ValueKey>, those: &[ValueKey]| those.iter().any(|it| set.contains(it));
    let hazard = meets(&state.pending, reads)
        || meets(&state.pending, writes)
        || meets(&state.written, reads)
        || meets(&state.written, writes)
        || meets(&state.read, writes);
    if hazard {
        barrier(Builder::before(op), state)?;
    }
    state.read.extend(reads);
    if asynchronous {
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
        b.op(nvvm::CP_ASYNC_COMMIT_GROUP, &[], &[], &[])?;
        b.op(
            nvvm::CP_ASYNC_WAIT_GROUP,
            &[],
            &[],
            &[("n", b.integer(b.i32_type(), 0))],
        )?;
    }
    b.op(gpu::BARRIER, &[], &[], &[])?;
    *state = State::default();
    Ok(())
}
