//! The C functions of an exported package.

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::embedded;
use crate::failure::{Class, Failure};
use crate::functions::Given;
use crate::value::Value;

/// Calls the function with that number of the package of this library, on a stream, and says in a buffer why it did not.
///
/// # Safety
/// `arguments` are `count` values, as [`Value::argument`] asks for; `error` is null or a buffer of `size` bytes; the stream is one of the
/// device of the tensors.
pub(crate) unsafe fn call(
    number: usize,
    (arguments, count): (*const Value, i32),
    stream: *mut c_void,
    (error, size): (*mut c_char, usize),
) -> c_int {
    let result = guarded(|| {
        let loaded = embedded::loaded()?;
        // SAFETY: the caller's.
        unsafe { loaded.call(number, list(arguments, count)?, &Given(stream)) }
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) }
}

/// Runs what may panic; a panic is a failure.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Failure::new(
            Class::Runtime,
            format!(
                "a mistake of the cute library itself: {}; please report it",
                said.unwrap_or("a panic")
            ),
        ))
    })
}

/// The arguments as a slice.
///
/// # Safety
/// They are null or as many.
pub(crate) unsafe fn list<'a>(arguments: *const Value, count: i32) -> Result<&'a [Value], Failure> {
    let refused = |found: String| {
        let text = format!("expected a list of arguments, found {found}");
        Err(Failure::new(Class::Value, text))
    };
    match usize::try_from(count) {
        Err(_) => refused(format!("{count} of them")),
        Ok(0) => Ok(&[]),
        Ok(_) if arguments.is_null() => refused("a null pointer".into()),
        // SAFETY: the caller says so.
        Ok(count) => Ok(unsafe { std::slice::from_raw_parts(arguments, count) }),
    }
}

/// Writes the text of a failure, and returns its number, or 0.
///
/// # Safety
/// `error` is null or a buffer of `size` bytes.
pub(crate) unsafe fn finish(result: Result<(), Failure>, error: *mut c_char, size: usize) -> c_int {
    let (code, text) = match &result {
        Ok(()) => (0, ""),
        Err(failure) => (failure.class.code(), failure.text.as_str()),
    };
    if !error.is_null() && size > 0 {
        // A text that is cut ends at a character.
        let mut end = text.len().min(size - 1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // SAFETY: the buffer has room for as many bytes and the zero.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), error.cast(), end);
            error.add(end).write(0);
        }
    }
    code
}
