//! From pipelined atoms to NVVM, PTX, cubin and kernel package; and the whole way as one call.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

mod apart;
mod binary;
pub mod cache;
mod check_atoms;
mod compile;
mod diagnostics;
mod fallback;
mod left_out;
mod lineinfo;
mod negated;
mod package;
mod pipeline;
mod places;
mod ptxas;
mod remarks;
mod to_nvvm;

pub use binary::AssembleOptions;
pub use cache::Cache;
pub use compile::{CompileError, Compiled, Compiler};
pub use cute_ir::mlir::exit_on_fatal_errors;
pub use cute_ir::options::Options;
pub use cute_passes::plan::{Request, SwizzleChoice};
pub use diagnostics::{Diagnostic, Severity};
pub use package::from_module;
pub use pipeline::{CompileOptions, TargetArch};
pub use to_nvvm::lowers;

/// Makes the dialects' passes and pipelines known to MLIR. Cheap to call again.
pub fn initialize() {
    let mut passes = cute_passes::passes();
    passes.extend([
        check_atoms::PASS,
        to_nvvm::PASS,
        binary::EMIT_PTX,
        binary::ASSEMBLE,
        package::PASS,
    ]);
    cute_ir::register(&passes, &[fallback::PASS], &[pipeline::PIPELINE]);
}
