//! TVM-FFI: its calling convention, and the few of its functions that are called. They are looked for when they are first needed, so that
//! programs without TVM-FFI have no need of them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use crate::embedded;
use crate::entry::{guarded, list};
use crate::failure::Failure;
use crate::value::Value;

/// DLPack's number of CUDA.
const CUDA: i32 = 2;

/// `void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message)`.
type SetError = unsafe extern "C" fn(*const c_char, *const c_char);
/// `void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id)`.
type GetStream = unsafe extern "C" fn(i32, i32) -> *mut c_void;

/// Calls the function with that number of the package of this library, as TVM-FFI does (`TVMFFISafeCallType`): on the stream of the
/// environment, with errors in the environment's place.
///
/// # Safety
/// `arguments` are `count` values, as [`Value::argument`] asks for; `result` is null or a value.
pub(crate) unsafe fn call(
    number: usize,
    (arguments, count): (*const Value, i32),
    result: *mut Value,
) -> c_int {
    let done = guarded(|| {
        let loaded = embedded::loaded()?;
        // SAFETY: the caller's.
        unsafe { loaded.call(number, list(arguments, count)?, stream) }
    });
    match done {
        Ok(()) => {
            if !result.is_null() {
                // SAFETY: it is a value, of which nobody else knows yet.
                unsafe { result.write(Value::NOTHING) };
            }
            0
        }
        Err(failure) => {
            raise(&failure);
            -1
        }
    }
}

/// The environment's stream of a GPU; the default one without TVM-FFI.
fn stream(gpu: u32) -> *mut c_void {
    static FOUND: OnceLock<Option<GetStream>> = OnceLock::new();
    let get = FOUND.get_or_init(|| {
        let address = find(c"TVMFFIEnvGetStream")?;
        // SAFETY: the function of that name has this type.
        Some(unsafe { std::mem::transmute::<*mut c_void, GetStream>(address) })
    });
    // A number of a GPU that was read from an i32.
    let number = i32::try_from(gpu).unwrap_or(i32::MAX);
    // SAFETY: it takes any numbers.
    get.map_or(std::ptr::null_mut(), |get| unsafe { get(CUDA, number) })
}

/// Hands a failure to the environment.
fn raise(failure: &Failure) {
    // A failure may come before TVM-FFI is loaded, so that what is not found is looked for again.
    let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
    match find(c"TVMFFIErrorSetRaisedFromCStr") {
        Some(address) => {
            // SAFETY: the function of that name has this type; both texts end with a zero, and are copied.
            unsafe {
                let set = std::mem::transmute::<*mut c_void, SetError>(address);
                set(failure.class.kind().as_ptr(), text.as_ptr());
            }
        }
        None => eprintln!(
            "cute: {} (libtvm_ffi is not loaded, so that the caller cannot be told)",
            failure.text
        ),
    }
}

/// The address of a function of TVM-FFI: in what the process has loaded for all, else in its library, if it is loaded for some.
fn find(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the names end with a zero; the library is only looked for, not loaded.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if !found.is_null() {
            return Some(found);
        }
        let library = libc::dlopen(
            c"libtvm_ffi.so".as_ptr(),
            libc::RTLD_LAZY | libc::RTLD_NOLOAD,
        );
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        (!found.is_null()).then_some(found)
    }
}
