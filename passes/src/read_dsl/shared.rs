//! Dynamic shared memory as a tensor, and fences and waits of warpgroups with the accumulators that they are about.

use crate::{launch::launches_of, memory::root_of};
use cute_ir::{
    Expected, Failure,
    args::GemmArgs,
    diag, hopper,
    mlir::*,
    ops::{cute, cute_nvgpu, gpu, nvvm},
    types::{self, CuteType, MemRef, Space, memref_of},
};
use cute_layout::Layout;
use melior::ir::{ValueLike, operation::OperationLike};

/// Makes a tensor of the dynamic shared memory that launches give a kernel.
pub(super) fn dynamic<'c>(
    rewriter: &Rewriter<'c>,
    module: Op<'c>,
    kernel: Op<'c>,
) -> Result<(), Failure> {
    let starts = nested_ops(kernel);
    let starts: Vec<_> = starts
        .into_iter()
        .filter_map(cute_nvgpu::ArchGetDynSmem::of)
        .collect();
    let Some(first) = starts.first() else {
        return Ok(());
    };
    let bytes = bytes_of(module, kernel, first.op())?;
    let mut aligned = 16;
    for start in &starts {
        if let Some(CuteType::Ptr(pointer)) = CuteType::of(start.pointer().r#type()) {
            aligned = aligned.max(pointer.align);
        }
    }
    // In front of everything else, so that all uses see it.
    let body = body_of(kernel, 0).expected(kernel, "a body")?;
    let top = ops_of(body).into_iter().next();
    let b = Builder::before(top.expected(kernel, "an op in the body")?)
        .at_location(first.op().location());
    let memory = MemRef {
        element: types::int_type(b.context, 8),
        space: Space::Smem,
        align: aligned,
        swizzle: None,
        inner: None,
        layout: Layout::leaf(bytes, 1).map_err(|e| b.error(e.to_string()))?,
    };
    let memory = b.value(cute::MEMREF_ALLOCA, &[], memory.to_type(b.location)?, &[])?;
    for start in starts {
        let b = Builder::before(start.op());
        let mut pointer = b.infer(cute::GET_ITER, &[memory], &[])?;
        let ty = start.pointer().r#type();
        if pointer.r#type() != ty {
            pointer = b.value(cute::RECAST_ITER, &[pointer], ty, &[])?;
        }
        replace_uses(start.pointer(), pointer);
        rewriter.erase(start.op())?;
    }
    Ok(())
}

/// The bytes of dynamic shared memory that all launches of a kernel give it.
fn bytes_of<'c>(module: Op<'c>, kernel: Op<'c>, asks: Op<'c>) -> Result<i64, Failure> {
    let sizes: Vec<_> = launches_of(module, kernel)
        .into_iter()
        .filter_map(|launch| {
            let size = gpu::LaunchFunc::of(launch)?.dynamic_shared_memory_size()?;
            Some((launch, constant_of(size)))
        })
        .collect();
    let known = sizes
        .first()
        .and_then(|(_, size)| *size)
        .filter(|size| *size > 0);
    match known {
        Some(size) if sizes.iter().all(|(_, other)| *other == Some(size)) => Ok(size),
        _ => Err(diag::error(
            asks.location(),
            "expected launches of the kernel in the module that say how many bytes of shared memory there are, by dynamic_shared_memory_size %bytes, one arith.constant \
             for all; or allocate tensors by cute.memref.alloca, which need no size",
        )),
    }
}

/// Gives fences and waits of warpgroups the accumulators, and fences the operands in registers, of the products of a kernel.
pub(super) fn fences<'c>(rewriter: &Rewriter<'c>, kernel: Op<'c>) -> Result<(), Failure> {
    let ops = nested_ops(kernel);
    let (mut sums, mut factors) = (Vec::new(), Vec::new());
    let add = |all: &mut Vec<Val<'c>>, value: Val<'c>| {
        let is_register = memref_of(value).is_some_and(|memref| memref.space == Space::Rmem);
        let root = root_of(value);
        if is_register && !all.contains(&root) {
            all.push(root);
        }
    };
    for op in &ops {
        let (mma, d, a) = match GemmArgs::of(*op) {
            Some(GemmArgs::Mma { mma, d, a, .. }) => (mma, d, a),
            Some(GemmArgs::MmaInPlace { mma, a, c, .. }) => (mma, c, a),
            _ => continue,
        };
        if types::mma_row(mma.r#type()).is_some_and(|atom| hopper::is_asynchronous(&atom)) {
            add(&mut sums, d);
            add(&mut factors, a);
        }
    }
    for op in ops {
        let b = Builder::before(op);
        let seen = |all: &[Val<'c>]| -> Vec<Val<'c>> {
            all.iter()
                .copied()
                .filter(|value| is_seen(*value, op))
                .collect()
        };
        match name_of(op) {
            nvvm::WGMMA_COMMIT_GROUP_SYNC_ALIGNED => {
                b.op(cute_nvgpu::WGMMA_COMMIT_GROUP, &[], &[], &[])?;
            }
            nvvm::WGMMA_FENCE_ALIGNED => {
                let operands = [seen(&sums), seen(&factors)].concat();
                check_some(b, &operands)?;
                b.op(cute_nvgpu::WGMMA_FENCE, &operands, &[], &[])?;
            }
            nvvm::WGMMA_WAIT_GROUP_SYNC_ALIGNED => {
                let pending = integer_of(op, "group").expected(op, "a number of groups")?;
                hopper::check_pending(pending).map_err(|e| b.error(e))?;
                let operands = seen(&sums);
                check_some(b, &operands)?;
                let pending = [("pending", b.integer(b.i32_type(), pending))];
                b.op(cute_nvgpu::WGMMA_WAIT_GROUP, &operands, &[], &pending)?;
            }
            _ => continue,
        }
        rewriter.erase(op)?;
    }
    Ok(())
}

fn check_some(b: Builder<'_>, accumulators: &[Val<'_>]) -> Result<(), Failure> {
    match accumulators {
        [] => Err(b.error(
            "expected products of a warpgroup, by !cute_nvgpu.sm90.mma, whose accumulators are made before this op, found none; or write cute_nvgpu.wgmma_fence(%acc) and \
             wgmma_wait_group 0 (%acc), which are given them",
        )),
        _ => Ok(()),
    }
}

/// Tells whether a value is made before an op, in a block of operations around it.
fn is_seen<'c>(value: Val<'c>, op: Op<'c>) -> bool {
    let Some(made) = defining_op(value) else {
        return true;
    };
    let mut around = Some(op);
    while let Some(here) = around {
        if let Some(block) = block_of(here)
            && block_of(made) == Some(block)
        {
            let ops = ops_of(block);
            let place = |op: Op<'c>| ops.iter().position(|other| *other == op);
            return place(made) < place(here);
        }
        around = parent_op(here);
    }
    false
}
