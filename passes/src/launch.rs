//! Launches of kernels: `gpu.launch_func`, which kernel one is of, and which of its operands is what.

use cute_ir::build::*;
use mlir_sys::*;

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
    let home = parent_of(kernel, "gpu.module")
        .map(name)
        .unwrap_or_default();
    let path = [home, name(kernel)];
    nested_ops(module)
        .into_iter()
        .filter(|op| name_of(*op) == "gpu.launch_func" && kernel_of(*op) == Some(path))
        .collect()
}

/// The names of the module and of the kernel in it that is launched.
pub fn kernel_of<'c>(launch: Op<'c>) -> Option<[&'c str; 2]> {
    use melior::ir::AttributeLike;
    let raw = attribute_of(launch, "kernel")?.to_raw();
    unsafe {
        if !mlirAttributeIsASymbolRef(raw) || mlirSymbolRefAttrGetNumNestedReferences(raw) != 1 {
            return None;
        }
        Some([
            text(mlirSymbolRefAttrGetRootReference(raw)),
            text(mlirSymbolRefAttrGetLeafReference(raw)),
        ])
    }
}

unsafe fn text<'c>(text: MlirStringRef) -> &'c str {
    if text.length == 0 {
        return "";
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) };
    std::str::from_utf8(bytes).unwrap_or_default()
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
    use melior::ir::AttributeLike;
    let raw = attribute_of(launch, "operandSegmentSizes")?.to_raw();
    unsafe {
        if !mlirAttributeIsADenseI32Array(raw) {
            return None;
        }
        let count = mlirDenseArrayGetNumElements(raw);
        let sizes: Option<Vec<usize>> = (0..count)
            .map(|i| usize::try_from(mlirDenseI32ArrayGetElement(raw, i)).ok())
            .collect();
        sizes.filter(|sizes| sizes.len() > Part::Arguments as usize)
    }
}
