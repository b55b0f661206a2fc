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
    memory::root_of,
    plan,
    report::counted,
    shared::{self, Buffer, pack},
};
use cute_ir::{
    Anchor, Failure, PassSpec,
    attributes::{DYNAMIC_SMEM, PLAN, SYNCHRONIZE},
    block::block_size_of,
    diag,
    hopper::BARRIER_BYTES,
    mlir::*,
    ops::cute_nvgpu,
    plan::Plan,
};
use cute_target::Arch;
use melior::ir::{Location, ValueLike, operation::OperationLike};
use std::collections::BTreeSet;

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
        return Err(too_large(kernel, (&lives, &offsets), (size, arch), &cure));
    }
    for (op, offset) in lives.allocations.iter().zip(&offsets) {
        set_attribute(*op, "offset", Builder::before(*op).i64_attribute(*offset));
    }
    Ok(size)
}

/// Tensors that the error for too much shared memory names one by one, at most; it sums up the others.
const MOST_NAMED: usize = 8;

/// The error for `size` bytes, more than `arch` has: what takes them, the largest tensor first, with a note at each.
fn too_large(
    kernel: Op<'_>,
    (lives, offsets): (&Lives<'_>, &[i64]),
    (size, arch): (i64, Arch),
    cure: &str,
) -> Failure {
    let barriers = barrier_tensors(kernel);
    let mut order: Vec<usize> = (0..offsets.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(lives.buffers[*i].bytes), offsets[*i]));
    let (mut taken, mut others) = (Vec::new(), 0);
    let (mut of_tensors, mut of_barriers, mut count) = (0, 0, 0);
    let mut notes = Vec::new();
    let mut rest = (0i64, 0i64);
    for i in order {
        let (op, buffer, start) = (lives.allocations[i], &lives.buffers[i], offsets[i]);
        let own = not_taken(&mut taken, (start, start + buffer.bytes));
        if barriers.contains(&op_key(op)) {
            of_barriers += own;
            count += buffer.bytes / BARRIER_BYTES;
            continue;
        }
        if buffer.bytes == 0 {
            continue;
        }
        of_tensors += own;
        others += 1;
        if notes.len() == MOST_NAMED {
            rest = (rest.0 + 1, rest.1 + own);
            continue;
        }
        let shares = if own < buffer.bytes {
            format!(
                ", {} of which tensors above have at another time",
                buffer.bytes - own
            )
        } else {
            String::new()
        };
        let ty = result_of(op, 0).r#type();
        notes.push((
            op.location(),
            format!("{} bytes from byte {start} on{shares}: {ty}", buffer.bytes),
        ));
    }
    if rest.0 > 0 {
        let more = format!("{} smaller tensors take {} bytes more", rest.0, rest.1);
        notes.push((kernel.location(), more));
    }
    let mut parts = vec![format!("{of_tensors} by {}", counted(others, "tensor"))];
    if count > 0 {
        parts.push(format!("{of_barriers} by {}", counted(count, "mbarrier")));
    }
    let gaps = size - of_tensors - of_barriers;
    if gaps > 0 {
        parts.push(format!("{gaps} between them, where they are aligned"));
    }
    let notes: Vec<(Location<'_>, &str)> = notes.iter().map(|(at, text)| (*at, &**text)).collect();
    let most = i64::from(arch.max_smem());
    diag::error_with_notes(
        kernel.location(),
        format!(
            "the kernel needs {size} bytes of shared memory, {arch} has {most}, {} fewer: {}{cure}",
            size - most,
            parts.join(", ")
        ),
        &notes,
    )
}

/// The ops that make tensors of mbarriers in a kernel.
fn barrier_tensors(kernel: Op<'_>) -> BTreeSet<OpKey> {
    let inits = nested_ops(kernel).into_iter();
    inits
        .filter_map(cute_nvgpu::MbarrierInit::of)
        .filter_map(|init| defining_op(root_of(init.barriers())))
        .map(op_key)
        .collect()
}

/// The bytes from one place to another that no range of `taken` has yet; they are taken then.
fn not_taken(taken: &mut Vec<(i64, i64)>, (from, to): (i64, i64)) -> i64 {
    taken.sort_unstable();
    let (mut at, mut free) = (from, 0);
    for (start, end) in taken.iter().filter(|range| range.0 < to && range.1 > from) {
        free += (start - at).max(0);
        at = at.max(*end);
    }
    free += (to - at).max(0);
    taken.push((from, to));
    free
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_once() {
        let mut taken = Vec::new();
        assert_eq!(not_taken(&mut taken, (100, 200)), 100);
        assert_eq!(not_taken(&mut taken, (0, 50)), 50);
        assert_eq!(not_taken(&mut taken, (40, 120)), 50);
        assert_eq!(not_taken(&mut taken, (150, 260)), 60);
        assert_eq!(not_taken(&mut taken, (0, 260)), 0);
        assert_eq!(not_taken(&mut taken, (300, 300)), 0);
    }
}
