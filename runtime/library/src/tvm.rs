//! TVM-FFI: its calling convention, and the few of its functions that are called. They are looked for when they are first needed, so that
//! programs without TVM-FFI have no need of them.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use cute_runtime::Element;
use cute_runtime::call::{DLDataType, DLDevice, DLTensor};

use crate::embedded;
use crate::entry::{guarded, list};
use crate::failure::Failure;
use crate::fork;
use crate::functions::Environment;
use crate::value::{HEADER, Value};

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
        unsafe { loaded.call(number, list(arguments, count)?, &Tvm) }
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

/// The environment of TVM-FFI: a stream of each GPU, and maybe somebody, such as PyTorch, who allocates tensors.
struct Tvm;

impl Environment for Tvm {
    type Memory = Tensor;

    /// The default stream without TVM-FFI.
    fn stream(&self, gpu: u32) -> *mut c_void {
        static FOUND: OnceLock<Option<GetStream>> = OnceLock::new();
        let get = fork::once(&FOUND, || {
            let address = find(c"TVMFFIEnvGetStream")?;
            // SAFETY: the function of that name has this type.
            Some(unsafe { std::mem::transmute::<*mut c_void, GetStream>(address) })
        });
        // SAFETY: it takes any numbers.
        get.map_or(std::ptr::null_mut(), |get| unsafe {
            get(CUDA, number_of(gpu))
        })
    }

    fn allocate(&self, gpu: u32, bytes: u64) -> Option<Tensor> {
        let functions = Allocation::found()?;
        // SAFETY: it takes nothing.
        if unsafe { (functions.allocator)() }.is_null() {
            return None;
        }
        let mut shape = [i64::try_from(bytes).ok()?];
        let prototype = DLTensor {
            data: std::ptr::null_mut(),
            device: DLDevice {
                device_type: CUDA,
                device_id: number_of(gpu),
            },
            ndim: 1,
            dtype: DLDataType::of(Element::U8),
            shape: shape.as_mut_ptr(),
            strides: std::ptr::null_mut(),
            byte_offset: 0,
        };
        let mut object = std::ptr::null_mut();
        // SAFETY: both pointers are to live variables, and the prototype's to its shape.
        let code = unsafe { (functions.allocate)(&prototype, &mut object) };
        if code == 0 && !object.is_null() {
            let release = functions.release;
            return Some(Tensor { object, release });
        }
        // The driver is asked instead, and says what is wrong.
        let mut error = std::ptr::null_mut();
        // SAFETY: the pointer is to a live variable; what was raised is owned then.
        unsafe {
            (functions.take_error)(&mut error);
            if !error.is_null() {
                (functions.release)(error);
            }
        }
        None
    }

    fn address(memory: &Tensor) -> u64 {
        // SAFETY: the object is a tensor, and lives; its struct is behind its header.
        let tensor = unsafe { &*memory.object.byte_add(HEADER).cast::<DLTensor>() };
        (tensor.data as u64).wrapping_add(tensor.byte_offset)
    }
}

/// A tensor that the environment has allocated.
struct Tensor {
    object: *mut c_void,
    release: Release,
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: the object is owned, and is released once.
        unsafe { (self.release)(self.object) };
    }
}

/// The functions by which the environment allocates.
#[derive(Clone, Copy)]
struct Allocation {
    allocator: unsafe extern "C" fn() -> *mut c_void,
    allocate: unsafe extern "C" fn(*const DLTensor, *mut *mut c_void) -> c_int,
    take_error: unsafe extern "C" fn(*mut *mut c_void),
    release: Release,
}

/// `int TVMFFIObjectDecRef(TVMFFIObjectHandle obj)`.
type Release = unsafe extern "C" fn(*mut c_void) -> c_int;

impl Allocation {
    fn found() -> Option<Allocation> {
        static FOUND: OnceLock<Option<Allocation>> = OnceLock::new();
        *fork::once(&FOUND, || {
            // SAFETY: the functions of these names have the types of the fields (`c_env_api.h`, `c_api.h`).
            unsafe {
                Some(Allocation {
                    allocator: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn() -> *mut c_void,
                    >(find(
                        c"TVMFFIEnvGetDLPackManagedTensorAllocator",
                    )?),
                    allocate: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(*const DLTensor, *mut *mut c_void) -> c_int,
                    >(find(c"TVMFFIEnvTensorAlloc")?),
                    take_error: std::mem::transmute::<
                        *mut c_void,
                        unsafe extern "C" fn(*mut *mut c_void),
                    >(find(c"TVMFFIErrorMoveFromRaised")?),
                    release: std::mem::transmute::<*mut c_void, Release>(find(
                        c"TVMFFIObjectDecRef",
                    )?),
                })
            }
        })
    }
}

/// The number of a GPU, which was read from an `i32`.
fn number_of(gpu: u32) -> i32 {
    i32::try_from(gpu).unwrap_or(i32::MAX)
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
