//! Diagnostics, handed to MLIR.

use super::ffi;
use melior::ir::Location;
use mlir_sys::{MlirLocation, MlirStringRef};

fn raw_notes(notes: &[(Location, &str)]) -> (Vec<MlirLocation>, Vec<MlirStringRef>) {
    let locations = notes.iter().map(|(l, _)| l.to_raw());
    let texts = notes.iter().map(|(_, t)| ffi::string_ref(t));
    (locations.collect(), texts.collect())
}

/// Emits an error with notes, each at a location of its own.
pub(crate) fn emit_error(location: Location, message: &str, notes: &[(Location, &str)]) {
    let (locations, texts) = raw_notes(notes);
    // SAFETY: both lists have as many entries as is said, and outlive the call.
    unsafe {
        ffi::cuteEmitError(
            location.to_raw(),
            ffi::string_ref(message),
            notes.len() as isize,
            locations.as_ptr(),
            texts.as_ptr(),
        );
    }
}

/// Emits a warning with notes, each at a location of its own.
pub(crate) fn emit_warning(location: Location, message: &str, notes: &[(Location, &str)]) {
    let (locations, texts) = raw_notes(notes);
    // SAFETY: as above.
    unsafe {
        ffi::cuteEmitWarning(
            location.to_raw(),
            ffi::string_ref(message),
            notes.len() as isize,
            locations.as_ptr(),
            texts.as_ptr(),
        );
    }
}

/// Emits a remark.
pub(crate) fn emit_remark(location: Location, message: &str) {
    // SAFETY: the text outlives the call.
    unsafe { ffi::cuteEmitRemark(location.to_raw(), ffi::string_ref(message)) }
}
