//! From pipelined atoms to NVVM, PTX, cubin and kernel package.

mod to_nvvm;

/// Makes the dialects' passes and pipelines known to MLIR. Cheap to call again.
pub fn initialize() {
    let mut passes = cute_passes::passes();
    passes.push(to_nvvm::PASS);
    cute_ir::initialize(passes, Vec::new());
}
