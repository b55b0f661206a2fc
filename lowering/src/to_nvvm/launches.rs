//! Launches: each passes what its kernel needs and takes.

use super::{CAST, aliasing};
use cute_ir::{Failure, attributes::DYNAMIC_SMEM, diag::each, mlir::*, ops::gpu, types::CuteType};
use melior::ir::ValueLike;

/// Lets launches of a kernel have the shared memory that it needs, and say which of its tensors must not overlap. Errors: no
/// operand for the size, or one tensor passed as two that must not overlap.
pub(super) fn complete<'c>(kernel: Op<'c>, launches: &[Op<'c>]) -> Result<(), Failure> {
    let bytes = integer_of(kernel, DYNAMIC_SMEM);
    let pairs = aliasing::pairs(kernel);
    each(launches.iter().copied(), |launch| {
        if let Some(bytes) = bytes {
            resize(launch, bytes)?;
        }
        aliasing::record(launch, &pairs)
    })
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
