//! Diagnostics, and the boundary that no panic crosses.

use crate::mlir::{self, Builder, Op};
use melior::ir::{Location, Module, operation::OperationLike};
use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, Location as Caller, catch_unwind},
    sync::Once,
};

/// A failure of which a diagnostic has been emitted. It is had from what emits one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed; the diagnostic was emitted")]
pub struct Failure(());

/// The [`Failure`] of what MLIR has said something about itself, such as a builder that infers types.
pub(crate) fn said() -> Failure {
    Failure(())
}

/// Emits an error at `location` and gives the [`Failure`] to return.
pub fn error(location: Location, message: impl AsRef<str>) -> Failure {
    error_with_notes(location, message, &[])
}

/// Emits an error of an option, which no text has a place of: at the module that is compiled where it stands in a text, else without a place.
pub fn of_option(module: Op, message: impl AsRef<str>) -> Failure {
    let location = match mlir::place_of(module.location()) {
        Some(_) => module.location(),
        None => Location::unknown(mlir::context_of(module)),
    };
    error(location, message)
}

/// Emits an error with notes, each at a location of its own.
pub fn error_with_notes(
    location: Location,
    message: impl AsRef<str>,
    notes: &[(Location, &str)],
) -> Failure {
    mlir::emit_error(location, message.as_ref(), notes);
    Failure(())
}

/// Reads the text of a module that is a part of what is compiled, whose ops are from a file of this name. To what is said of it, notes are added,
/// each at a location of its own: they lead from there to `at`, which names the file.
///
/// # Errors
/// Text that is no module, which has been said.
pub fn parse<'c>(
    at: Location<'c>,
    name: &str,
    text: &str,
    notes: &[(Location<'c>, &str)],
) -> Result<Module<'c>, Failure> {
    let context = mlir::context_of_location(at);
    let (module, heard) = mlir::heard(context, || mlir::parse_module(context, name, text));
    heard.iter().for_each(|heard| heard.say(notes));
    match module {
        Some(module) => Ok(module),
        None if heard.is_empty() => Err(error(at, format!("{name} is no module"))),
        None => Err(said()),
    }
}

/// Verifies an op and what it holds, for passes that put ops where more is known of them: what is wrong there is the user's mistake, of which
/// the verifier has said where it is.
///
/// # Errors
/// If it is not valid, which has been said.
pub fn verify(op: Op) -> Result<(), Failure> {
    match op.verify() {
        true => Ok(()),
        false => Err(said()),
    }
}

/// Emits an error of the compiler's own, which names the line of its source: what should not have come about.
pub fn bug(location: Location, caller: &Caller<'_>, message: &str) -> Failure {
    error(
        location,
        format!(
            "internal error at {}:{}: {message}; this is a bug in cute-opt, please report it with the input",
            caller.file(),
            caller.line()
        ),
    )
}

/// The place of a diagnostic: a location, an operation's, or that of what a builder makes.
pub trait Located<'c> {
    /// The location.
    fn at(&self) -> Location<'c>;
}

impl<'c> Located<'c> for Location<'c> {
    fn at(&self) -> Location<'c> {
        *self
    }
}

impl<'c> Located<'c> for Op<'c> {
    fn at(&self) -> Location<'c> {
        self.location()
    }
}

impl<'c> Located<'c> for Builder<'c> {
    fn at(&self) -> Location<'c> {
        self.location
    }
}

impl<'c, T: Located<'c>> Located<'c> for &T {
    fn at(&self) -> Location<'c> {
        (**self).at()
    }
}

/// A value that checks before have seen to: its absence is an error of the compiler.
pub trait Expected<T> {
    /// The value.
    ///
    /// # Errors
    /// There is none: said at `at`, with the line of the source that expected it, and with `what` it is.
    #[track_caller]
    fn expected<'c>(self, at: impl Located<'c>, what: &str) -> Result<T, Failure>;
}

impl<T> Expected<T> for Option<T> {
    #[track_caller]
    fn expected<'c>(self, at: impl Located<'c>, what: &str) -> Result<T, Failure> {
        let caller = Caller::caller();
        self.ok_or_else(|| bug(at.at(), caller, &format!("expected {what}, found none")))
    }
}

/// Does something with each item, also where it fails with one before, so that one run says all that is wrong.
///
/// # Errors
/// The first failure, when all items are through.
pub fn each<T>(
    items: impl IntoIterator<Item = T>,
    then: impl FnMut(T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let results = items.into_iter().map(then);
    results.fold(Ok(()), Result::and)
}

/// Emits a warning with notes, each at a location of its own.
pub fn warning(location: Location, message: impl AsRef<str>, notes: &[(Location, &str)]) {
    mlir::emit_warning(location, message.as_ref(), notes);
}

/// Emits a remark at `location`.
pub fn remark(location: Location, message: impl AsRef<str>) {
    mlir::emit_remark(location, message.as_ref());
}

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The number of calls of [`catch_panics`] that this thread is in.
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
