//! Launches of kernels: `gpu.launch_func`, which kernel one is of, and which of its operands is what.

use cute_ir::mlir::*;
use cute_ir::ops::gpu;

/// A group of a launch's operands, by its place in `operandSegmentSizes` of MLIR 22.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Bytes of dynamic shared memory, at most one operand.
    SharedMemory = 10,
    /// The operands that the kernel takes.
    Arguments = 11,
}

/// The launches of a kernel within a module.
pub fn launches_of<'c>(module: Op<'c>, kernel: Op<'c>) -> Vec<Op<'c>> {
    let name = |op| string_of(op, "sym_name").unwrap_or_default();
    let home = parent_of(kernel, gpu::MODULE).map(name).unwrap_or_default();
    let path = [home, name(kernel)];
    nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == gpu::LAUNCH_FUNC && kernel_of(*op) == Some(path))
        .collect()
}

/// The names of the module and of the kernel in it that is launched.
pub fn kernel_of<'c>(launch: Op<'c>) -> Option<[&'c str; 2]> {
    symbol_of(attribute_of(launch, "kernel")?)?.try_into().ok()
}

/// The operands of a launch that belong to a group: the first one's index, and how many there are.
pub fn operands_in(launch: Op<'_>, part: Part) -> Option<(usize, usize)> {
    let segments = segments(launch)?;
    let at = part as usize;
    Some((segments[..at].iter().sum(), segments[at]))
}

/// How many operands a launch has of each kind: tokens, grid x, y, z, block x, y, z, cluster x, y, z, dynamic shared memory,
/// arguments, and an object.
pub fn segments(launch: Op<'_>) -> Option<Vec<usize>> {
    let sizes = i32s_of(attribute_of(launch, "operandSegmentSizes")?)?;
    let sizes: Option<Vec<usize>> = sizes
        .into_iter()
        .map(|size| usize::try_from(size).ok())
        .collect();
    sizes.filter(|sizes| sizes.len() > Part::Arguments as usize)
}
