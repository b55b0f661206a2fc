//! `cute-fence-proxies`: what threads do to shared memory is ordered before what TMA, bulk copies and products of warpgroups do to it.
//!
//! Those come to memory by another way, the async proxy, which a barrier does not order (PTX ISA, "Async proxy"). Who wrote has to fence, and then meet with whoever starts the copy or
//! the product; so has who read what a copy is to overwrite. In kernels that order everything themselves this pass puts the fence where it is missing, ahead of the first barrier
//! behind the access. A fence that stands behind that barrier is in the wrong place: the thread that starts a copy fences there, and not those that wrote.
//!
//! The order is that of the text: a branch is gone through or not, and a loop twice. Roles of warps are branches, which pipelines order and not the text: those fence when
//! they are lowered.

use crate::{
    kernel::body_of_kernel,
    mbarriers::fence_proxy,
    memory::{root_of, touched},
    shared::in_shared,
    specialize::asynchronous_product,
};
use cute_ir::ops::{cute, cute_nvgpu, gpu, nvvm};
use cute_ir::{
    Anchor, Failure, PassSpec,
    attributes::{PLAN, ROLES, SYNCHRONIZE},
    diag,
    mlir::*,
    names::{dialect, dialect_of},
};
use melior::ir::operation::OperationLike;
use std::collections::HashSet;

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-fence-proxies",
    description: "Order accesses of threads to shared memory before those of the async proxy",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    // Elsewhere passes order it.
    let is_ordered = |name: &&str| attribute_of(kernel, name).is_some();
    if [ROLES, SYNCHRONIZE, PLAN].iter().any(is_ordered) {
        return Ok(());
    }
    let mut order = Order::default();
    order.block(body_of_kernel(kernel)?, &mut Vec::new())?;
    for op in order.ahead_of {
        fence_proxy(Builder::before(op))?;
    }
    Ok(())
}

/// An access of threads to a tensor in shared memory that nothing has fenced since.
#[derive(Clone, Copy, PartialEq)]
struct Open<'c> {
    tensor: ValueKey,
    op: Op<'c>,
    writes: bool,
    /// The first barrier behind it.
    barrier: Option<Op<'c>>,
    /// The first fence behind that.
    late: Option<Op<'c>>,
}

/// The ops of a kernel ahead of which a fence has to stand.
#[derive(Default)]
struct Order<'c> {
    ahead_of: Vec<Op<'c>>,
    known: HashSet<OpKey>,
}

impl<'c> Order<'c> {
    fn block(&mut self, block: Blk<'c>, open: &mut Vec<Open<'c>>) -> Result<(), Failure> {
        for op in ops_of(block) {
            self.op(op, open)?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, open: &mut Vec<Open<'c>>) -> Result<(), Failure> {
        if op.region_count() > 0 && dialect_of(op) == dialect::SCF {
            return self.branches(op, open);
        }
        if is_fence(op) {
            for access in open.iter_mut().filter(|access| access.writes) {
                if access.barrier.is_some() {
                    access.late.get_or_insert(op);
                }
            }
            open.retain(|access| access.writes && access.barrier.is_some());
            return Ok(());
        }
        if is_barrier(op) {
            // Those that fenced late, and all together, meet once more.
            open.retain(|access| access.late.is_none());
            for access in open {
                access.barrier.get_or_insert(op);
            }
            return Ok(());
        }
        let (reads, writes) = asynchronous(op);
        for (tensors, overwrites) in [(&reads, false), (&writes, true)] {
            for tensor in tensors {
                self.access(op, *tensor, overwrites, open)?;
            }
        }
        if !reads.is_empty() || !writes.is_empty() || takes_mbarriers(op) {
            return Ok(());
        }
        for (kind, writes) in [(EffectKind::Read, false), (EffectKind::Write, true)] {
            for value in touched(op, kind)
                .into_iter()
                .filter(|value| in_shared(*value))
            {
                let tensor = key(root_of(value));
                let access = Open {
                    tensor,
                    op,
                    writes,
                    barrier: None,
                    late: None,
                };
                add(open, access);
            }
        }
        Ok(())
    }

    /// Goes through a branch or a loop: what is open behind it is what any way through it leaves open.
    fn branches(&mut self, op: Op<'c>, open: &mut Vec<Open<'c>>) -> Result<(), Failure> {
        // A loop is gone through again, from its own end.
        let repeats = may_repeat(op);
        for _ in 0..if repeats { 2 } else { 1 } {
            let before = open.clone();
            let blocks = blocks_of(op);
            if !repeats && blocks.len() == op.region_count() {
                // One of the ways is taken.
                open.clear();
            }
            for block in blocks {
                let mut within = before.clone();
                self.block(block, &mut within)?;
                for access in within {
                    add(open, access);
                }
            }
        }
        Ok(())
    }

    /// Fences what is open of a tensor that the async proxy reads, or overwrites. Errors: a fence that stands too late for it.
    fn access(
        &mut self,
        op: Op<'c>,
        tensor: ValueKey,
        overwrites: bool,
        open: &mut Vec<Open<'c>>,
    ) -> Result<(), Failure> {
        let is_due = |access: &Open<'c>| access.tensor == tensor && (overwrites || access.writes);
        let due: Vec<_> = open.iter().copied().filter(is_due).collect();
        for access in &due {
            let ahead = access.barrier.unwrap_or(op);
            if self.known.contains(&op_key(ahead)) {
                continue;
            }
            let (Some(barrier), Some(late)) = (access.barrier, access.late) else {
                self.known.insert(op_key(ahead));
                self.ahead_of.push(ahead);
                continue;
            };
            return Err(diag::error_with_notes(
                late.location(),
                format!(
                    "'{}' op stands behind the barrier at which the threads meet that wrote what '{}' takes, so that not all of them fence; expected it ahead of that barrier, or none: \
                     it is put in",
                    name_of(late),
                    name_of(op)
                ),
                &[
                    (access.op.location(), "written here"),
                    (barrier.location(), "the barrier"),
                    (op.location(), "taken here"),
                ],
            ));
        }
        open.retain(|access| !due.contains(access));
        Ok(())
    }
}

/// Adds an access, once for each tensor, kind and barrier.
fn add<'c>(open: &mut Vec<Open<'c>>, access: Open<'c>) {
    let is_like = |other: &Open<'c>| {
        (other.tensor, other.writes, other.barrier, other.late)
            == (access.tensor, access.writes, access.barrier, access.late)
    };
    if !open.iter().any(is_like) {
        open.push(access);
    }
}

/// Tells whether an op orders what its thread did to shared memory before what the async proxy does to it.
fn is_fence(op: Op<'_>) -> bool {
    let kind = || attribute_of(op, "kind").map(|kind| kind.to_string());
    name_of(op) == nvvm::FENCE_PROXY
        && kind().is_some_and(|kind| kind.contains("async") && !kind.contains("global"))
}

/// Tells whether threads meet at an op, or say that they have come by.
fn is_barrier(op: Op<'_>) -> bool {
    matches!(
        name_of(op),
        gpu::BARRIER
            | nvvm::BARRIER
            | nvvm::BARRIER_ARRIVE
            | nvvm::BAR_WARP_SYNC
            | nvvm::CLUSTER_ARRIVE
            | nvvm::CLUSTER_ARRIVE_RELAXED
            | cute_nvgpu::MBARRIER_ARRIVE
            | cute_nvgpu::MBARRIER_ARRIVE_AT
    )
}

/// Tells whether an op is about mbarriers, to which all come by the one way.
fn takes_mbarriers(op: Op<'_>) -> bool {
    name_of(op).starts_with("cute_nvgpu.mbarrier")
        || matches!(
            name_of(op),
            cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE | cute_nvgpu::ST_ASYNC
        )
}

/// The tensors in shared memory that an op reads, and those that it writes, by the async proxy.
fn asynchronous(op: Op<'_>) -> (Vec<ValueKey>, Vec<ValueKey>) {
    let shared = |values: Vec<Val<'_>>| -> Vec<ValueKey> {
        let values = values.into_iter().filter(|value| in_shared(*value));
        values.map(|value| key(root_of(value))).collect()
    };
    let reads = |op| shared(touched(op, EffectKind::Read));
    match name_of(op) {
        cute_nvgpu::TMA_STORE | cute_nvgpu::BULK_STORE => (reads(op), Vec::new()),
        cute_nvgpu::TMA_LOAD | cute_nvgpu::BULK_LOAD => {
            let (source, destination) =
                match (cute_nvgpu::TmaLoad::of(op), cute_nvgpu::BulkLoad::of(op)) {
                    (Some(load), _) => (Vec::new(), vec![load.destination()]),
                    (None, Some(load)) => (vec![load.source()], vec![load.destination()]),
                    (None, None) => Default::default(),
                };
            (shared(source), shared(destination))
        }
        cute::GEMM if asynchronous_product(op).is_some() => (reads(op), Vec::new()),
        _ => Default::default(),
    }
}
