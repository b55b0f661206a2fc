//! The compiler as a library: a module in, a package out.

use crate::{CompileOptions, package};
use cute_ir::build::Op;
use cute_runtime::package::Package;
use melior::{
    Context, StringRef,
    diagnostic::DiagnosticSeverity,
    ir::{Module, OperationRef},
};
use std::{
    ffi::c_void,
    sync::{Arc, Mutex, PoisonError},
};

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
    let pipeline = options.pipeline().map_err(CompileError::Options)?;
    let said = Arc::new(Mutex::new(Vec::new()));
    let operation = module.as_operation();
    let context = cute_ir::build::context_of(unsafe { Op::from_raw(operation.to_raw()) });
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
    let result = run(context, operation, &pipeline);
    context.detach_diagnostic_handler(handler);
    result.map_err(|more| {
        let mut said = std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner));
        said.extend(more);
        CompileError::Diagnostics(said)
    })
}

/// Runs the pipeline; where it fails, what was not said as a diagnostic.
fn run(
    context: &Context,
    operation: OperationRef,
    pipeline: &str,
) -> Result<Package, Option<String>> {
    use mlir_sys::*;
    unsafe extern "C" fn append(text: MlirStringRef, user: *mut c_void) {
        let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
        let said = unsafe { &mut *user.cast::<String>() };
        said.push_str(&String::from_utf8_lossy(bytes));
    }
    unsafe {
        let anchor = StringRef::new("builtin.module");
        let manager = mlirPassManagerCreateOnOperation(context.to_raw(), anchor.to_raw());
        let mut said = String::new();
        // Added inside the anchor, so without it.
        let inner = &pipeline["builtin.module(".len()..pipeline.len() - 1];
        let parsed = mlirOpPassManagerAddPipeline(
            mlirPassManagerGetAsOpPassManager(manager),
            StringRef::new(inner).to_raw(),
            Some(append),
            (&raw mut said).cast(),
        );
        let known = parsed.value != 0;
        let done = known && mlirPassManagerRunOnOp(manager, operation.to_raw()).value != 0;
        mlirPassManagerDestroy(manager);
        if !done {
            return Err((!known).then_some(said));
        }
        package::from_module(Op::from_raw(operation.to_raw())).map_err(|_| None)
    }
}
