//! `cute-allocate-shared`: places shared-memory tensors in the kernel's dynamic shared memory.
//!
//! Tensors that are not used at the same time share bytes: a tensor lives from the first to the
//! last operation of the kernel's body that uses it, loops counting as one. Where a tensor takes
//! over bytes of an earlier one, a barrier stands between the two unless there is one already; a
//! kernel that somebody wrote by hand gets a barrier only where there is no room for both tensors,
//! or fewer blocks would run at once. The size reaches the launch, and must be within what the
//! architecture has.

use crate::{
    launch::{launches_of, place_of_size},
    partition::{body_of_kernel, is_memory, kernels, root_of},
    plan,
    shared::{self, Buffer, overlap, pack},
    sync,
};
use cute_ir::ops::{cute, gpu};
use cute_ir::{
    Expected, Failure, PassSpec,
    attributes::{DYNAMIC_SMEM, PLAN},
    block::block_size_of,
    diag,
    infer::memref_of,
    mlir::*,
    names::{builtin, is_cute},
    plan::Plan,
    types::{CuteType, Space},
};
use cute_target::Arch;
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-allocate-shared",
    description: "Place shared-memory tensors, reusing bytes, and size the launches",
    anchor: builtin::MODULE,
    options: &[],
    run,
};

/// Tells whether a tensor or a pointer is into shared memory.
fn in_shared(value: Val<'_>) -> bool {
    matches!(
        CuteType::of(value.r#type()),
        Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) if memref.space == Space::Smem
    )
}

fn run<'c>(_: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        let wrong = |e| diag::error(kernel.location(), e);
        let arch = crate::arch::of_kernel(kernel).map_err(wrong)?;
        let plan = attribute_of(kernel, PLAN).and_then(Plan::of);
        let size = place(kernel, plan.as_ref(), arch)?;
        let bytes = Builder::before(kernel).i64_attribute(size);
        set_attribute(kernel, DYNAMIC_SMEM, bytes);
        for launch in launches_of(module, kernel) {
            resize(launch, size)?;
        }
    }
    Ok(())
}

fn place<'c>(kernel: Op<'c>, plan: Option<&Plan<'c>>, arch: Arch) -> Result<i64, Failure> {
    let body = body_of_kernel(kernel)?;
    let ops = ops_of(body);
    let mut index: HashMap<ValueKey, usize> = HashMap::new();
    let mut allocations = Vec::new();
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut anything = Vec::new();
    for (position, op) in ops.iter().enumerate() {
        for inner in std::iter::once(*op).chain(nested_ops(*op)) {
            if let Some(allocation) = cute::MemrefAlloca::of(inner) {
                let tensor = allocation.result();
                let memref = memref_of(tensor).expected(inner, "a tensor as its result")?;
                if memref.space == Space::Smem {
                    let bytes = memref
                        .bytes()
                        .map_err(|e| diag::error(inner.location(), e))?;
                    index.insert(key(tensor), buffers.len());
                    allocations.push(inner);
                    buffers.push(Buffer::unused(bytes, memref.align));
                }
                continue;
            }
            // Views are used where they are accessed.
            let is_view =
                is_cute(inner) && matches!(results_of(inner)[..], [view] if is_memory(view));
            if is_view {
                continue;
            }
            for operand in operands_of(inner).into_iter().filter(|v| is_memory(*v)) {
                match index.get(&key(root_of(operand))) {
                    Some(buffer) => buffers[*buffer].used(position),
                    None if in_shared(operand) => anything.push(position),
                    None => {}
                }
            }
        }
    }
    // Through a loop, a branch or a choice any of them may be meant.
    for position in anything {
        buffers.iter_mut().for_each(|buffer| buffer.used(position));
    }
    // What nothing uses takes no place.
    for buffer in buffers
        .iter_mut()
        .filter(|buffer| buffer.first == usize::MAX)
    {
        *buffer = Buffer {
            bytes: 0,
            first: 0,
            last: 0,
            ..*buffer
        };
    }
    let is_ordered = |earlier: &Buffer, later: &Buffer| {
        ops[earlier.last + 1..later.first]
            .iter()
            .any(|op| name_of(*op) == gpu::BARRIER)
    };
    let mut offsets = pack(&buffers, Buffer::meets);
    let mut size = shared::size(&buffers, &offsets);
    if plan.is_none() {
        // As if tensors that no barrier orders were used at the same time.
        let apart = pack(&buffers, |a, b| {
            let (earlier, later) = if a.first <= b.first { (a, b) } else { (b, a) };
            a.meets(b) || !is_ordered(earlier, later)
        });
        let whole = shared::size(&buffers, &apart);
        if blocks_at_once(kernel, arch, whole) >= blocks_at_once(kernel, arch, size).max(1) {
            (offsets, size) = (apart, whole);
        }
    }
    if size > i64::from(arch.max_smem()) {
        let cure = plan.map_or("; use smaller or fewer tensors".to_owned(), |plan| {
            plan::smaller(plan, arch).map_or(String::new(), |fits| {
                format!("; {} fits", plan::options_of(&fits))
            })
        });
        return Err(diag::error(
            kernel.location(),
            format!(
                "the kernel needs {size} bytes of shared memory, {arch} has {}{cure}",
                arch.max_smem()
            ),
        ));
    }
    for ((op, buffer), offset) in allocations.iter().zip(&buffers).zip(&offsets) {
        set_attribute(*op, "offset", Builder::before(*op).i64_attribute(*offset));
        let reuses = buffers.iter().zip(&offsets).any(|(other, at)| {
            other.last < buffer.first
                && overlap(*offset, buffer.bytes, *at, other.bytes)
                && !is_ordered(other, buffer)
        });
        if reuses {
            Builder::before(ops[buffer.first]).step(sync::THREADS).op(
                gpu::BARRIER,
                &[],
                &[],
                &[],
            )?;
        }
    }
    Ok(size)
}

/// Blocks of the kernel that a multiprocessor runs at once, as far as threads and shared memory limit them; of 1024 threads
/// where it does not say how many it has.
fn blocks_at_once(kernel: Op<'_>, arch: Arch, bytes: i64) -> u32 {
    let threads =
        block_size_of(kernel).map_or(1024, |size| size.into_iter().fold(1, i64::saturating_mul));
    let threads = u32::try_from(threads).unwrap_or(u32::MAX);
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    arch.multiprocessor().occupancy(threads, 0, bytes).blocks
}

/// Sets the launch's dynamic shared memory.
fn resize<'c>(launch: Op<'c>, bytes: i64) -> Result<(), Failure> {
    let b = Builder::before(launch);
    match place_of_size(launch) {
        Some(place) => {
            let size = b.i32(bytes)?;
            set_operand(launch, place, size);
            Ok(())
        }
        None if bytes == 0 => Ok(()),
        None => Err(b.error(format!(
            "expected a launch with dynamic_shared_memory_size, for the kernel needs {bytes} bytes; write \
             `dynamic_shared_memory_size %c0`: the compiler sets it"
        ))),
    }
}
