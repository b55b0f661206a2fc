//! Warnings on what is valid and hardly meant: how a kernel uses its tiled copies and tiled MMAs.
//!
//! A partition is by a tiled operation and of a thread. Types say neither, so the chain of definitions is asked.

use cute_ir::ops::{cute, scf};
use cute_ir::{
    args::{CopyArgs, PartitionArgs, ThreadCopy},
    block::{block_size, thread_dimension},
    diag,
    mlir::*,
    names::is_cute,
    types::CuteType,
    types::tiled_threads,
    view,
};
use cute_layout::{IntTuple, ops::Attrs};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashSet;

/// Warns of what a kernel does.
pub(crate) fn check(kernel: Op<'_>) {
    let mut warned = HashSet::new();
    for op in nested_ops(kernel) {
        if let Some(partition) = PartitionArgs::of(op) {
            idle_threads(op, partition, &mut warned);
        } else if let Some(args) = ThreadCopy::of(op) {
            other_copy(op, args.copy, "source", args.source);
            other_copy(op, args.copy, "destination", args.destination);
        }
    }
}

/// Threads of a block that the tiled operation does not have reach beyond what it divides, unless something keeps them out.
fn idle_threads<'c>(partition: Op<'c>, args: PartitionArgs<'c>, warned: &mut HashSet<OpKey>) {
    let (Some(threads), Some(dimension), Some(block)) = (
        tiled_threads(args.tiled.r#type()),
        thread_dimension(args.thread),
        block_size(partition),
    ) else {
        return;
    };
    if block[dimension] <= threads || is_guarded(partition) {
        return;
    }
    for user in uses_of_views(args.part) {
        if is_guarded(user) || is_predicated(user) || !warned.insert(op_key(user)) {
            continue;
        }
        diag::warning(
            user.location(),
            format!(
                "'{}' is done by all {} threads of a block along {}, on a part of {threads}: the others have no part, and \
                 reach beyond it; put it into an scf.if on the thread, or use a tiled operation of {} threads",
                name_of(user),
                block[dimension],
                ["x", "y", "z"][dimension],
                block[dimension]
            ),
            &[(partition.location(), "the part is taken here")],
        );
    }
}

/// Tells whether a branch or another loop than `scf.for` stands around `op`: who comes there is not known.
fn is_guarded(op: Op<'_>) -> bool {
    [scf::IF, scf::WHILE, scf::INDEX_SWITCH]
        .iter()
        .any(|name| parent_of(op, name).is_some())
}

fn is_predicated(op: Op<'_>) -> bool {
    match CopyArgs::of(op) {
        Some(CopyArgs::Thread(copy)) => copy.predicate.is_some(),
        Some(CopyArgs::Elements { .. }) => true,
        None => false,
    }
}

/// The operations that use the memory of a tensor, through all views of it.
fn uses_of_views<'c>(tensor: Val<'c>) -> Vec<Op<'c>> {
    let mut uses = Vec::new();
    let mut stack = vec![tensor];
    while let Some(value) = stack.pop() {
        for user in users_of(value) {
            match name_of(user) {
                // Registers of their own, of which each thread has some.
                cute::MMA_MAKE_FRAGMENT
                | cute::MAKE_FRAGMENT_LIKE
                | cute::GET_LAYOUT
                | cute::GET_SHAPE
                | cute::SIZE => {}
                _ if is_cute(user)
                    && user.result_count() == 1
                    && crate::memory::is_memory(result_of(user, 0)) =>
                {
                    stack.push(result_of(user, 0));
                }
                _ => uses.push(user),
            }
        }
    }
    uses
}

/// The division of a tensor by a tiled copy: a partition, or a fragment that is retiled.
struct Division<'c> {
    op: Op<'c>,
    copy: Val<'c>,
    /// The tensor that is divided.
    whole: Val<'c>,
}

impl<'c> Division<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let partition = PartitionArgs::by_copy(op).map(|args| (args.tiled, args.tensor));
        let (copy, whole) = partition.or_else(|| {
            let retile = cute::TiledCopyRetile::of(op)?;
            Some((retile.copy(), retile.fragment()))
        })?;
        Some(Self { op, copy, whole })
    }
}

/// The division that a tensor is a view of.
fn division_of<'c>(tensor: Val<'c>) -> Option<Division<'c>> {
    let mut op = defining_op(tensor)?;
    loop {
        if let Some(division) = Division::of(op) {
            return Some(division);
        }
        match name_of(op) {
            cute::SLICE | cute::GROUP_MODES | cute::COALESCE | cute::FLATTEN | cute::SELECT => {
                let [tensor, ..] = operands_of(op)[..] else {
                    return None;
                };
                op = defining_op(tensor)?;
            }
            _ => return None,
        }
    }
}

/// Warns where another tiled copy than the one that copies has divided a tensor in another way.
fn other_copy<'c>(op: Op<'c>, copy: Val<'c>, what: &str, tensor: Val<'c>) {
    let Some(division) = division_of(tensor) else {
        return;
    };
    let by = division.copy;
    if by.r#type() == copy.r#type() {
        return;
    }
    let (Some(used), Some(divided)) = (CuteType::of(copy.r#type()), CuteType::of(by.r#type()))
    else {
        return;
    };
    // An atom alone has no threads to divide between.
    if !matches!(used, CuteType::TiledCopy { .. }) || same_parts(&division, &used, &divided) {
        return;
    }
    diag::warning(
        op.location(),
        format!(
            "'{}' copies by one tiled copy a {what} that another one has divided, and to other parts: what a thread holds is \
             not what this copy takes it to be; divide both sides by the tiled copy that copies",
            name_of(op)
        ),
        &[(division.op.location(), "the part is taken here")],
    );
}

/// Tells whether two tiled copies give each thread the same of a tensor, in the same order.
fn same_parts<'c>(division: &Division<'c>, a: &CuteType<'c>, b: &CuteType<'c>) -> bool {
    let Some(tensor) = CuteType::of(division.whole.r#type()) else {
        return true;
    };
    let name = name_of(division.op);
    if name == cute::TILED_COPY_RETILE {
        let CuteType::MemRef(fragment) = &tensor else {
            return true;
        };
        let retiled = |copy| cute_ir::tensor::retile(copy, fragment).map(|m| m.layout);
        return matches!((retiled(a), retiled(b)), (Ok(a), Ok(b)) if a == b);
    }
    let Some(layout) = tensor.tensor_layout() else {
        return true;
    };
    let thread = CuteType::Coord(IntTuple::dynamic());
    let view = |copy: &CuteType<'c>| {
        let operands = [copy.clone(), thread.clone()];
        view::apply(name, layout, &operands, &Attrs::default(), None, None)?.ok()
    };
    match (view(a), view(b)) {
        (Some(a), Some(b)) => {
            a.layout == b.layout
                && a.terms.len() == b.terms.len()
                && a.terms.iter().zip(&b.terms).all(|(a, b)| {
                    a.index == b.index
                        && matches!((a.layout.coalesce(), b.layout.coalesce()), (Ok(a), Ok(b)) if a == b)
                })
        }
        _ => false,
    }
}
