//! Diagnostics, and the boundary that no panic crosses.

use crate::ffi;
use melior::ir::Location;
use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Once,
};

/// A failure whose diagnostic has been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed; the diagnostic was emitted")]
pub struct Failure;

/// Emits an error at `location` and gives the [`Failure`] to return.
pub fn error(location: Location, message: impl AsRef<str>) -> Failure {
    error_with_notes(location, message, &[])
}

/// Emits an error with notes, each at a location of its own.
pub fn error_with_notes(
    location: Location,
    message: impl AsRef<str>,
    notes: &[(Location, &str)],
) -> Failure {
    let locations: Vec<_> = notes.iter().map(|(l, _)| l.to_raw()).collect();
    let texts: Vec<_> = notes.iter().map(|(_, t)| ffi::string_ref(t)).collect();
    unsafe {
        ffi::cuteEmitError(
            location.to_raw(),
            ffi::string_ref(message.as_ref()),
            notes.len() as isize,
            locations.as_ptr(),
            texts.as_ptr(),
        );
    }
    Failure
}

/// Emits a warning with notes, each at a location of its own.
pub fn warning(location: Location, message: impl AsRef<str>, notes: &[(Location, &str)]) {
    let locations: Vec<_> = notes.iter().map(|(l, _)| l.to_raw()).collect();
    let texts: Vec<_> = notes.iter().map(|(_, t)| ffi::string_ref(t)).collect();
    unsafe {
        ffi::cuteEmitWarning(
            location.to_raw(),
            ffi::string_ref(message.as_ref()),
            notes.len() as isize,
            locations.as_ptr(),
            texts.as_ptr(),
        );
    }
}

/// Emits a remark at `location`.
pub fn remark(location: Location, message: impl AsRef<str>) {
    unsafe { ffi::cuteEmitRemark(location.to_raw(), ffi::string_ref(message.as_ref())) }
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    /// How many [`catch_panics`] this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

struct Entered;

impl Entered {
    fn new() -> Self {
        DEPTH.with(|d| d.set(d.get() + 1));
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        DEPTH.with(|d| d.set(d.get() - 1));
    }
}

/// Runs `body`; a panic in it becomes an error at `location` that asks for a report.
pub fn catch_panics<T>(
    location: Location,
    what: &str,
    body: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // The message and its place reach the diagnostic, not the terminal. Panics elsewhere are the
        // embedding program's.
        let outer = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.with(Cell::get) == 0 {
                outer(info);
            } else {
                PANIC.with(|slot| *slot.borrow_mut() = Some(info.to_string()));
            }
        }));
    });
    let _entered = Entered::new();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => result,
        Err(_) => {
            let text = PANIC
                .with(|slot| slot.borrow_mut().take())
                .unwrap_or_default();
            Err(error(
                location,
                format!(
                    "internal error in {what}: {}; this is a bug in cute-opt, please report it \
                     with the input",
                    text.replace('\n', " ")
                ),
            ))
        }
    }
}
