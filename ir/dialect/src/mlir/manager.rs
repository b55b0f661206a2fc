//! Pipelines, run on a module.

use super::{OwnedCopy, ffi};
use crate::library;
use melior::{StringRef, ir::Module};
use mlir_sys::*;

/// Runs a pipeline, such as `cute-tile,canonicalize`, on a module.
///
/// # Errors
/// Text that is no pipeline: what is wrong with it. A pass that fails: nothing, as diagnostics have said it.
pub fn run_pipeline(module: &mut Module, pipeline: &str) -> Result<(), Option<String>> {
    // SAFETY: the module is borrowed for this call alone, so that no handle of it is left when passes change it.
    unsafe { run_on(module.as_operation().to_raw(), pipeline) }
}

impl OwnedCopy<'_> {
    /// Runs a pipeline on the copy of a module, as [`run_pipeline`] does.
    ///
    /// # Errors
    /// Those of [`run_pipeline`], and a copy of another op.
    pub fn run_pipeline(&mut self, pipeline: &str) -> Result<(), Option<String>> {
        // SAFETY: the copy is borrowed for this call alone; nobody else has a handle of it.
        unsafe { run_on(self.raw(), pipeline) }
    }
}

/// Runs a pipeline on an operation that is in no other one.
///
/// # Safety
/// The operation lives, and nobody has a handle of it or of what is within it.
unsafe fn run_on(operation: MlirOperation, pipeline: &str) -> Result<(), Option<String>> {
    let mut said = String::new();
    // SAFETY: the operation is the caller's, who has no handle of it while passes change it.
    let (known, done) = unsafe {
        let anchor = StringRef::new("builtin.module");
        let context = mlirOperationGetContext(operation);
        let manager = mlirPassManagerCreateOnOperation(context, anchor.to_raw());
        let parsed = mlirOpPassManagerAddPipeline(
            mlirPassManagerGetAsOpPassManager(manager),
            StringRef::new(pipeline).to_raw(),
            Some(ffi::append),
            (&raw mut said).cast(),
        );
        let known = parsed.value != 0;
        let done = known && mlirPassManagerRunOnOp(manager, operation).value != 0;
        mlirPassManagerDestroy(manager);
        (known, done)
    };
    match (known, done) {
        (false, _) => Err(Some(said)),
        (true, false) => Err(None),
        (true, true) => Ok(()),
    }
}

/// Reads the text of a module, whose ops are from a file of this name; none where it is no module, which diagnostics have said.
pub fn parse_module<'c>(
    context: &'c melior::Context,
    name: &str,
    text: &str,
) -> Option<Module<'c>> {
    let text = &*library::respelled(text);
    // SAFETY: the context outlives the module, and the texts the call.
    let read = || unsafe {
        let module = ffi::cuteModuleParse(
            context.to_raw(),
            ffi::string_ref(text),
            ffi::string_ref(name),
        );
        Module::from_option_raw(module)
    };
    library::while_reading(name, text, read)
}
