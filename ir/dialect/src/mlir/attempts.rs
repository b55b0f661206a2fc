//! Passes that run a pipeline on their module, and another one on what the module was where the first one fails.

use super::{Op, OwnedCopy, Rewriter, ffi, register::OptionSpec};
use crate::diag::{self, Failure};
use melior::ir::{OperationRef, operation::OperationLike};
use mlir_sys::{MlirOperation, mlirOperationGetContext};

/// The verdict on an attempt that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The failure is the input's: what was said of it stands.
    Failed,
    /// Another attempt is made on the module as it was, by a pipeline of this state; nothing stands of what was said.
    Again(String),
}

/// A pass that runs pipelines on a module until one does not fail, known to MLIR by name.
#[derive(Clone, Copy, Debug)]
pub struct AttemptsSpec {
    /// The name, as it is written in a pipeline.
    pub name: &'static str,
    /// The purpose in a sentence, for `--help`.
    pub description: &'static str,
    /// The options, in the order in which their values are passed.
    pub options: &'static [OptionSpec],
    /// The text of the pipeline by the options' values and the state, which is empty at first.
    pub pipeline: fn(&[&str], &str) -> Result<String, String>,
    /// Judges a module whose pipeline of that state failed, beside what it was before; it may say something of another attempt.
    pub judge: for<'c> fn(Op<'c>, Op<'c>, &str) -> Outcome,
}

/// Runs the pipelines of a pass on its module.
///
/// # Safety
/// The module is that of the pass that this thread runs, and nobody has a handle of it or of what is within it.
pub(super) unsafe fn run(spec: &AttemptsSpec, module: MlirOperation, options: &[&str]) -> bool {
    // SAFETY: the module lives; the handle is of this statement alone.
    let mut before = OwnedCopy::of(unsafe { OperationRef::from_raw(module) });
    let mut state = String::new();
    loop {
        let text = match (spec.pipeline)(options, &state) {
            Ok(text) => text,
            Err(message) => {
                // SAFETY: as above.
                let op: Op<'_> = unsafe { OperationRef::from_raw(module) };
                let _: Failure = diag::error(op.location(), format!("{}: {message}", spec.name));
                return false;
            }
        };
        let mut said = std::ptr::null_mut();
        // SAFETY: nobody has a handle of the module, and the text outlives the call.
        let done = unsafe { ffi::cuteRunWithin(module, ffi::string_ref(&text), &raw mut said) };
        let outcome = match done {
            true => None,
            // SAFETY: the handles are of this call alone, as their lifetimes say.
            false => Some(unsafe {
                Rewriter::scope(module, |_, failed| {
                    before.with(|_, before| (spec.judge)(failed, before, &state))
                })
            }),
        };
        let again = matches!(outcome, Some(Outcome::Again(_)));
        // SAFETY: `said` is what the call above left, and is released once.
        unsafe { ffi::cuteRelease(mlirOperationGetContext(module), said, !again) };
        match outcome {
            None => return true,
            Some(Outcome::Failed) => return false,
            Some(Outcome::Again(next)) => {
                state = next;
                // SAFETY: nobody has a handle of either module; the copy of the copy is of this statement alone.
                unsafe {
                    let mut copy = before.again();
                    ffi::cuteTakeContents(module, copy.raw());
                }
            }
        }
    }
}
