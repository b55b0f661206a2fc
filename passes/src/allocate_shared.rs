//! `cute-allocate-shared`: places shared-memory tensors in the kernel's dynamic shared memory.
//!
//! Tensors that are not used at the same time share bytes (`lives.rs`), but in kernels with barriers in shared memory, TMA or products of
//! warpgroups, where operations do not tell when. Where one takes over bytes of another, `cute-synchronize`
//! puts a barrier between unless there is one already; a kernel whose author orders its accesses gets one only where there is
//! no room for both tensors, or fewer blocks would run at once. The size reaches the launch, and must be within what the
//! architecture has.

use crate::{
    kernel::body_of_kernel,
    lives::Lives,
    plan,
    shared::{self, Buffer, pack},
};
use cute_ir::{
    Anchor, Failure, PassSpec,
    attributes::{DYNAMIC_SMEM, PLAN, SYNCHRONIZE},
    block::block_size_of,
    diag,
    mlir::*,
    ops::cute_nvgpu,
    plan::Plan,
};
use cute_target::Arch;
use melior::ir::operation::OperationLike;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-allocate-shared",
    description: "Place shared-memory tensors, reusing bytes, and size the launches",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::error(kernel.location(), e);
    let arch = crate::arch::of_kernel(kernel).map_err(wrong)?;
    let plan = attribute_of(kernel, PLAN).and_then(Plan::of);
    let size = place(kernel, plan.as_ref(), arch)?;
    let bytes = Builder::before(kernel).i64_attribute(size);
    set_attribute(kernel, DYNAMIC_SMEM, bytes);
    Ok(())
}

fn place<'c>(kernel: Op<'c>, plan: Option<&Plan<'c>>, arch: Arch) -> Result<i64, Failure> {
    body_of_kernel(kernel)?;
    let lives = Lives::of(kernel)?;
    let buffers = &lives.buffers;
    // What is in flight when its operation has passed is in use for longer than operations tell.
    let in_flight = nested_ops(kernel).into_iter().any(outlives);
    let mut offsets = if in_flight {
        pack(buffers, |_, _| true)
    } else {
        pack(buffers, Buffer::meets)
    };
    let mut size = shared::size(buffers, &offsets);
    if attribute_of(kernel, SYNCHRONIZE).is_none() && !in_flight {
        // As if tensors that no barrier orders were used at the same time.
        let apart = pack(buffers, |a, b| {
            let (earlier, later) = if a.first <= b.first { (a, b) } else { (b, a) };
            a.meets(b) || !lives.is_ordered(earlier, later)
        });
        let whole = shared::size(buffers, &apart);
        if blocks_at_once(kernel, arch, whole) >= blocks_at_once(kernel, arch, size).max(1) {
            (offsets, size) = (apart, whole);
        }
    }
    if size > i64::from(arch.max_smem()) {
        let cure = plan.map_or(
            "; use smaller or fewer tensors, or fewer stages".to_owned(),
            |plan| {
                plan::smaller(plan, arch).map_or(String::new(), |fits| {
                    format!("; {} fits", plan::options_of(&fits))
                })
            },
        );
        return Err(diag::error(
            kernel.location(),
            format!(
                "the kernel needs {size} bytes of shared memory, {arch} has {}{cure}",
                arch.max_smem()
            ),
        ));
    }
    for (op, offset) in lives.allocations.iter().zip(&offsets) {
        set_attribute(*op, "offset", Builder::before(*op).i64_attribute(*offset));
    }
    Ok(size)
}

/// Tells whether `op` is about accesses to shared memory that go on when it has passed, and that barriers in shared memory or groups of
/// their own end.
fn outlives(op: Op<'_>) -> bool {
    matches!(
        name_of(op),
        cute_nvgpu::TMA_LOAD
            | cute_nvgpu::TMA_STORE
            | cute_nvgpu::BULK_LOAD
            | cute_nvgpu::BULK_STORE
            | cute_nvgpu::ATOM_WGMMA
            | cute_nvgpu::MBARRIER_INIT
            | cute_nvgpu::ARCH_MAP_DSMEM
    )
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
