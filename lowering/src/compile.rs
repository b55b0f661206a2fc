//! The compiler as a library: a module in, a package out.

use crate::{CompileOptions, package};
use cute_ir::mlir::{context_of, run_pipeline};
use cute_runtime::package::Package;
use melior::{diagnostic::DiagnosticSeverity, ir::Module};
use std::sync::{Arc, Mutex, PoisonError};

/// Why a module was not compiled: everything that was said, located.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("{0}")]
    Options(String),
    #[error("{}", .0.join("\n"))]
    Diagnostics(Vec<String>),
}

/// Compiles the functions of `module` to a package. The module is changed: what is left of it is
/// the launch plan and the `gpu.binary`.
///
/// The context needs the dialects of [`cute_ir::registry`]; one from [`cute_ir::context`] has them.
///
/// # Errors
/// Wrong options, or the diagnostics of the pass that failed.
pub fn compile(module: &mut Module, options: &CompileOptions) -> Result<Package, CompileError> {
    crate::initialize();
    let passes = options.passes().map_err(CompileError::Options)?;
    let said = Arc::new(Mutex::new(Vec::new()));
    let context = context_of(module.as_operation());
    let sink = Arc::clone(&said);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            let text = format!("{}: error: {diagnostic}", diagnostic.location());
            sink.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(text);
        }
        true
    });
    let result = run(module, &passes);
    context.detach_diagnostic_handler(handler);
    result.map_err(|more| {
        let mut said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
        said.extend(more);
        CompileError::Diagnostics(said)
    })
}

/// Runs the passes; where they fail, what was not said as a diagnostic.
fn run(module: &mut Module, passes: &str) -> Result<Package, Option<String>> {
    run_pipeline(module, passes)?;
    package::from_module(module.as_operation()).map_err(|_| None)
}
