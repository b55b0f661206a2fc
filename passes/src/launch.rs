//! Launches of kernels: `gpu.launch_func`, and which kernel one is of.

use cute_ir::ops::{gpu, nvvm};
use cute_ir::{Failure, mlir::*};
use cute_target::{Archs, Requirement};

/// The architectures whose kernels can wait for what is before them in the stream (PTX ISA, `griddepcontrol`).
pub(crate) const GRID_DEPENDENCIES: Requirement = Requirement::Since(9, 0);

/// The launches of a kernel within a module. Each kernel asks for its own, so that the bodies of kernels, which launch nothing, are left out.
pub fn launches_of<'c>(module: Op<'c>, kernel: Op<'c>) -> Vec<Op<'c>> {
    fn visit<'c>(op: Op<'c>, path: [&str; 2], launches: &mut Vec<Op<'c>>) {
        for inner in blocks_of(op).into_iter().flat_map(ops_of) {
            match name_of(inner) {
                gpu::MODULE => {}
                gpu::LAUNCH_FUNC if kernel_of(inner) == Some(path) => launches.push(inner),
                _ => visit(inner, path, launches),
            }
        }
    }
    let name = |op| string_of(op, "sym_name").unwrap_or_default();
    let home = parent_of(kernel, gpu::MODULE).map(name).unwrap_or_default();
    let mut launches = Vec::new();
    visit(module, [home, name(kernel)], &mut launches);
    launches
}

/// The names of the module and of the kernel in it that is launched.
pub fn kernel_of<'c>(launch: Op<'c>) -> Option<[&'c str; 2]> {
    let kernel = gpu::LaunchFunc::of(launch)?.kernel()?;
    symbol_of(kernel)?.try_into().ok()
}

/// Tells whether an op of a kernel waits for what is before the kernel in the stream.
pub fn waits_for_kernels_before(op: Op<'_>) -> bool {
    depends(op, "wait")
}

/// Tells whether an op of a kernel lets what is behind the kernel in the stream start.
pub(crate) fn lets_kernels_behind_start(op: Op<'_>) -> bool {
    depends(op, "launch_dependents")
}

fn depends(op: Op<'_>, action: &str) -> bool {
    let kind = || attribute_of(op, "kind").map(|kind| kind.to_string());
    name_of(op) == nvvm::GRIDDEPCONTROL && kind().is_some_and(|kind| kind.contains(action))
}

/// Waits for what is before the kernel in the stream and lets what is behind it start, where all architectures that it is for can: blocks come to the
/// multiprocessors while what is before still runs.
pub(crate) fn follow(b: Builder<'_>, archs: &Archs) -> Result<(), Failure> {
    if archs.lacking(GRID_DEPENDENCIES).is_some() {
        return Ok(());
    }
    depend(b, "wait")?;
    depend(b, "launch_dependents")
}

/// Waits for what is before the kernel in the stream, or lets what is behind it start.
pub(crate) fn depend(b: Builder<'_>, action: &str) -> Result<(), Failure> {
    let kind = b.attribute(&format!("#nvvm<grid_dep_action {action}>"))?;
    b.op(nvvm::GRIDDEPCONTROL, &[], &[], &[("kind", kind)])?;
    Ok(())
}
