//! Packages by number, for programs that have their bytes: the functions of `libcute.so` itself, which exported libraries do not have.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::entry::{finish, guarded, list};
use crate::failure::{Class, Failure};
use crate::functions::{Given, Loaded};
use crate::value::Value;

type Open = RwLock<HashMap<u64, Arc<Loaded>>>;

fn open() -> &'static Open {
    static OPEN: OnceLock<Open> = OnceLock::new();
    OPEN.get_or_init(Open::default)
}

/// The package of a handle.
pub(crate) fn find(handle: u64) -> Result<Arc<Loaded>, Failure> {
    let open = open().read().unwrap_or_else(PoisonError::into_inner);
    open.get(&handle).cloned().ok_or_else(|| {
        let text =
            format!("expected a package that is open, found handle {handle}, which was closed");
        Failure::new(Class::Value, text)
    })
}

/// Opens a package of so many bytes, which are copied. Returns its handle, or 0 and the reason in `error`.
///
/// # Safety
/// `bytes` is null or points to `length` bytes; `error` is null or a buffer of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cute_open(
    bytes: *const u8,
    length: usize,
    error: *mut c_char,
    size: usize,
) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut handle = 0;
    let result = guarded(|| {
        if bytes.is_null() {
            let text = "expected the bytes of a package, found a null pointer";
            return Err(Failure::new(Class::Value, text));
        }
        // SAFETY: the caller says so.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length) };
        let loaded = Arc::new(Loaded::from_bytes(bytes)?);
        handle = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut open = open().write().unwrap_or_else(PoisonError::into_inner);
        open.insert(handle, loaded);
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) };
    handle
}

/// Closes a package; calls that are under way go on. Returns 0, or a number and the reason in `error`.
///
/// # Safety
/// `error` is null or a buffer of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cute_close(handle: u64, error: *mut c_char, size: usize) -> c_int {
    let result = guarded(|| {
        find(handle)?;
        let mut open = open().write().unwrap_or_else(PoisonError::into_inner);
        let closed = open.remove(&handle);
        // The driver unloads what nobody calls any more, which takes a while.
        drop(open);
        drop(closed);
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) }
}

/// Writes the manifest of a package as JSON, with a zero behind it. Returns the bytes that it needs with the zero, of which no more than
/// `size` are written; 0 if there is no such package.
///
/// # Safety
/// `text` is null or a buffer of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cute_describe(handle: u64, text: *mut c_char, size: usize) -> usize {
    let mut needed = 0;
    let result = guarded(|| {
        let loaded = find(handle)?;
        let manifest = serde_json::to_string(loaded.package().manifest())
            .map_err(|error| Failure::new(Class::Runtime, error.to_string()))?;
        needed = manifest.len() + 1;
        Err(Failure::new(Class::Runtime, manifest))
    });
    // A text of a failure and one of a manifest are written alike.
    if needed > 0 {
        // SAFETY: the caller's.
        unsafe { finish(result, text, size) };
    }
    needed
}

/// Calls a function of a package on a stream. Returns 0, or a number (1 another type, 2 an argument that the function does not take, 3
/// the device, 4 findings of the emulator) and the reason in `error`.
///
/// # Safety
/// `arguments` are `count` values; tensors in them are there until the work is done; `error` is null or a buffer of `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cute_call(
    handle: u64,
    function: usize,
    arguments: *const Value,
    count: i32,
    stream: *mut c_void,
    error: *mut c_char,
    size: usize,
) -> c_int {
    let result = guarded(|| {
        let loaded = find(handle)?;
        // SAFETY: the caller's.
        unsafe { loaded.call(function, list(arguments, count)?, &Given(stream)) }
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) }
}
