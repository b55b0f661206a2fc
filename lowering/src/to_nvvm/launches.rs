//! Launches: each passes what its kernel needs and takes.

use super::{CAST, aliasing};
use cute_ir::{
    Failure,
    attributes::{DEPENDENT, DYNAMIC_SMEM},
    diag::{self, each},
    mlir::*,
    ops::{cf, cute_nvgpu, gpu, nvvm, scf},
    types::{CuteType, Space, memref_of},
};
use cute_passes::launch::waits_for_kernels_before;
use melior::ir::{ValueLike, operation::OperationLike};

/// Lets launches of a kernel have the shared memory that it needs, and say which of its tensors must not overlap, and that it waits itself for what is
/// before it. Errors: no operand for the size, or one tensor passed as two that must not overlap; a launch that says that a kernel waits
/// which does not.
pub(super) fn complete<'c>(kernel: Op<'c>, launches: &[Op<'c>]) -> Result<(), Failure> {
    let bytes = integer_of(kernel, DYNAMIC_SMEM);
    let pairs = aliasing::pairs(kernel);
    let waits = waits_first(kernel);
    each(launches.iter().copied(), |launch| {
        if waits {
            set_attribute(launch, DEPENDENT, Builder::before(launch).unit());
        } else if attribute_of(launch, DEPENDENT).is_some() {
            return Err(diag::error_with_notes(
                launch.location(),
                format!(
                    "has {DEPENDENT}, by which its kernel may start before what is before it has ended; expected a kernel whose threads \
                     all wait, by nvvm.griddepcontrol, ahead of whatever they do to global memory, or no {DEPENDENT}: the compiler sets it"
                ),
                &[(kernel.location(), "the kernel is here")],
            ));
        }
        if let Some(bytes) = bytes {
            resize(launch, bytes)?;
        }
        aliasing::record(launch, &pairs)
    })
}

/// Tells whether all threads of a kernel wait for what is before it in the stream before they end, and ahead of whatever they do to global memory.
fn waits_first(kernel: Op<'_>) -> bool {
    body_of(kernel, 0).and_then(waits_within) == Some(true)
}

/// Tells whether whoever comes to the end of a block has waited there; none where something may be done to global memory before.
fn waits_within(block: Blk<'_>) -> Option<bool> {
    for op in ops_of(block) {
        if waits_for_kernels_before(op) {
            return Some(true);
        }
        if op.region_count() == 0 && !is_pure(op) && !is_of_block(op) {
            return None;
        }
        let ways: Vec<bool> = blocks_of(op)
            .into_iter()
            .map(waits_within)
            .collect::<Option<_>>()?;
        // Loops may have no turn, and branches no other side.
        if name_of(op) == scf::IF && ways == [true, true] {
            return Some(true);
        }
    }
    Some(false)
}

/// Tells whether an op that is not pure is known to do nothing to global memory.
fn is_of_block(op: Op<'_>) -> bool {
    // What TMA reads stands behind its map.
    let is_map =
        |value: &Val<'_>| matches!(CuteType::of(value.r#type()), Some(CuteType::Tma { .. }));
    let in_block = |effect: &Effect<'_>| {
        let tensor = effect.value.and_then(memref_of);
        tensor.is_some_and(|tensor| matches!(tensor.space, Space::Smem | Space::Rmem))
    };
    let touches_its_own = || effects_of(op).is_some_and(|effects| effects.iter().all(in_block));
    (!operands_of(op).iter().any(is_map) && touches_its_own())
        || matches!(
            name_of(op),
            cute_nvgpu::PREFETCH_TMA_DESC
                | gpu::BARRIER
                | nvvm::FENCE_MBARRIER_INIT
                | nvvm::FENCE_PROXY
                | nvvm::CLUSTER_ARRIVE
                | nvvm::CLUSTER_ARRIVE_RELAXED
                | nvvm::CLUSTER_WAIT
                | nvvm::ELECT_SYNC
                | nvvm::GRIDDEPCONTROL
                | nvvm::SETMAXREGISTER
                | cf::ASSERT
                | scf::YIELD
        )
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

/// The place among a launch's operands of its bytes of dynamic shared memory: before those that the kernel takes.
fn place_of_size(launch: Op<'_>) -> Option<usize> {
    let launch = gpu::LaunchFunc::of(launch)?;
    launch.dynamic_shared_memory_size()?;
    let object = launch.async_object().is_some();
    let behind = launch.kernel_operands().len() + usize::from(object);
    operands_of(launch.op()).len().checked_sub(behind + 1)
}

/// A launch passes the pointers of its tensors.
pub(super) fn pass_pointers<'c>(launch: Op<'c>) -> Result<(), Failure> {
    let b = Builder::before(launch);
    let pointer = b.ty("!llvm.ptr<1>")?;
    let map = b.ty("!llvm.ptr")?;
    for (i, operand) in operands_of(launch).into_iter().enumerate() {
        if let Some(CuteType::Tma { .. }) = CuteType::get(operand.r#type()) {
            let cast = b.value(CAST, &[operand], map, &[])?;
            set_operand(launch, i, cast);
            continue;
        }
        // The pointer of a tensor of dynamic layout is a cast of the tensor already.
        let tensor = match CuteType::of(operand.r#type()) {
            Some(CuteType::MemRef(_)) => Some(operand),
            Some(CuteType::Ptr(_)) => Some(
                defining_op(operand)
                    .filter(|op| name_of(*op) == CAST)
                    .and_then(|op| operands_of(op).first().copied())
                    .unwrap_or(operand),
            ),
            _ => None,
        };
        if let Some(tensor) = tensor {
            let cast = b.value(CAST, &[tensor], pointer, &[])?;
            set_operand(launch, i, cast);
        }
    }
    Ok(())
}
