//! XLA's foreign functions (`xla/ffi/api/c_api.h`), by which JAX calls packages: `jax.ffi.ffi_call` hands over buffers, a stream, and
//! attributes that say which function of which package is called, and what each of its arguments is.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use cute_runtime::call::{DLDataType, DLDevice, DLTensor};
use smallvec::SmallVec;

use crate::entry::guarded;
use crate::failure::{Class, Failure};
use crate::functions::Given;
use crate::handles::find;
use crate::value::{INTEGER, NONE, REAL, TENSOR, Value};

/// The stage in which work is done; the others prepare it.
const EXECUTE: c_int = 3;
/// The extension by which XLA asks which version of the interface a function is for.
const METADATA: c_int = 1;
/// The function does the same each time, so that XLA may make a CUDA graph of it.
const CAPTURED: u32 = 1;
/// The types of attributes.
const ARRAY: c_int = 1;
const SCALAR: c_int = 3;
const STRING: c_int = 4;
/// The type of 64-bit integers.
const S64: c_int = 5;
/// An argument that is one of XLA's results; its number follows.
const RESULT: i64 = 8;

/// DLPack's numbers of devices.
const CPU: i32 = 1;
const CUDA: i32 = 2;

/// A struct as all of the interface begin: its size, and extensions.
#[repr(C)]
struct Head {
    size: usize,
    extension: *mut Extension,
}

#[repr(C)]
struct Extension {
    size: usize,
    kind: c_int,
    next: *mut Extension,
}

#[repr(C)]
struct Version {
    head: Head,
    major: c_int,
    minor: c_int,
}

#[repr(C)]
struct Metadata {
    size: usize,
    version: Version,
    traits: u32,
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct Api {
    head: Head,
    version: Version,
    internal: *const c_void,
    error_create: unsafe extern "C" fn(*mut ErrorCreate) -> *mut c_void,
    error_get_message: *const c_void,
    error_destroy: unsafe extern "C" fn(*mut ErrorDestroy),
    handler_register: *const c_void,
    stream_get: unsafe extern "C" fn(*mut StreamGet) -> *mut c_void,
    between: [*const c_void; 12],
    ordinal_get: Option<unsafe extern "C" fn(*mut OrdinalGet) -> *mut c_void>,
}

#[repr(C)]
struct ErrorCreate {
    head: Head,
    message: *const c_char,
    code: c_int,
}

#[repr(C)]
struct ErrorDestroy {
    head: Head,
    error: *mut c_void,
}

#[repr(C)]
struct StreamGet {
    head: Head,
    context: *mut c_void,
    stream: *mut c_void,
}

#[repr(C)]
struct OrdinalGet {
    head: Head,
    context: *mut c_void,
    ordinal: i32,
}

/// Arguments or results: so many, of these types, there.
#[repr(C)]
struct Buffers {
    head: Head,
    count: i64,
    types: *const c_int,
    all: *const *const Buffer,
}

#[repr(C)]
struct Buffer {
    head: Head,
    element: c_int,
    data: *mut c_void,
    rank: i64,
    extents: *mut i64,
}

#[repr(C)]
struct Attributes {
    head: Head,
    count: i64,
    types: *const c_int,
    names: *const *const Text,
    all: *const *const c_void,
}

#[repr(C)]
struct Text {
    bytes: *const u8,
    length: usize,
}

#[repr(C)]
struct Scalar {
    element: c_int,
    value: *const i64,
}

#[repr(C)]
struct Array {
    element: c_int,
    count: usize,
    data: *const i64,
}

/// A call, as XLA hands it over.
#[repr(C)]
pub struct Frame {
    head: Head,
    api: *const Api,
    context: *mut c_void,
    stage: c_int,
    arguments: Buffers,
    results: Buffers,
    attributes: Attributes,
}

/// Calls a function on tensors of the host: on the emulator.
///
/// # Safety
/// XLA's: the frame and all that it leads to is there, and its attributes are those of [`Frame::numbers`].
pub unsafe extern "C" fn host(frame: *mut Frame) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { answer(frame, CPU) }
}

/// Calls a function on tensors of a GPU, on the stream that XLA gives.
///
/// # Safety
/// As of [`host`].
pub unsafe extern "C" fn cuda(frame: *mut Frame) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { answer(frame, CUDA) }
}

/// The answer to XLA: null, or an error of its own.
///
/// # Safety
/// As of [`host`].
unsafe fn answer(frame: *mut Frame, device: i32) -> *mut c_void {
    // SAFETY: XLA's.
    let frame = unsafe { &*frame };
    // SAFETY: the list of extensions is XLA's.
    if unsafe { frame.tell_version() } || frame.stage != EXECUTE {
        return ptr::null_mut();
    }
    // SAFETY: the caller's.
    match guarded(|| unsafe { frame.call(device) }) {
        Ok(()) => ptr::null_mut(),
        // SAFETY: the interface is XLA's.
        Err(failure) => unsafe { frame.error(&failure) },
    }
}

fn head<T>() -> Head {
    Head {
        size: size_of::<T>(),
        extension: ptr::null_mut(),
    }
}

impl Frame {
    /// Says which version of the interface this is for, if XLA asks for it; tells whether it does.
    ///
    /// # Safety
    /// The extensions are XLA's.
    unsafe fn tell_version(&self) -> bool {
        let mut extension = self.head.extension;
        while !extension.is_null() {
            // SAFETY: the list is XLA's, and each kind is a struct of its own.
            unsafe {
                if (*extension).kind == METADATA {
                    let metadata = &mut *(*extension.cast::<MetadataExtension>()).metadata;
                    // All that is used here is as it was in the first version.
                    let (major, minor) = match self.api.as_ref() {
                        Some(api) => (api.version.major, api.version.minor),
                        None => (0, 3),
                    };
                    (metadata.version.major, metadata.version.minor) = (major, minor);
                    metadata.traits = CAPTURED;
                    return true;
                }
                extension = (*extension).next;
            }
        }
        false
    }

    /// Calls the function.
    ///
    /// # Safety
    /// As of [`host`].
    unsafe fn call(&self, device: i32) -> Result<(), Failure> {
        // SAFETY: the attributes are those that the caller promises.
        let (handle, function, kinds, values) = unsafe {
            let one = |name| self.numbers(name).and_then(|all| single(name, all));
            let (handle, function) = (one("handle")?, one("function")?);
            (
                handle,
                function,
                self.numbers("kinds")?,
                self.numbers("values")?,
            )
        };
        let (stream, ordinal) = match device {
            // SAFETY: the interface is XLA's.
            CUDA => unsafe { self.stream()? },
            _ => (ptr::null_mut(), 0),
        };
        let place = DLDevice {
            device_type: device,
            device_id: ordinal,
        };
        let mut tensors: SmallVec<[DLTensor; 16]> = SmallVec::new();
        for (kind, value) in kinds.iter().zip(values) {
            let buffers = match *kind {
                RESULT => &self.results,
                kind if kind == i64::from(TENSOR) => &self.arguments,
                _ => continue,
            };
            // SAFETY: the buffers are XLA's.
            tensors.push(unsafe { buffers.tensor(*value, place)? });
        }
        let mut left = tensors.iter();
        let mut given: SmallVec<[Value; 16]> = SmallVec::new();
        for (kind, value) in kinds.iter().zip(values) {
            let kind = if *kind == RESULT {
                i64::from(TENSOR)
            } else {
                *kind
            };
            given.push(match i32::try_from(kind) {
                Ok(TENSOR) => {
                    let tensor = left.next().map_or(ptr::null(), ptr::from_ref);
                    Value::new(TENSOR, tensor as u64)
                }
                Ok(kind @ (INTEGER | REAL | NONE)) => Value::new(kind, *value as u64),
                _ => {
                    return Err(wrong(format!(
                        "expected a kind of an argument, found {kind}"
                    )));
                }
            });
        }
        let function = usize::try_from(function).map_err(|_| {
            wrong(format!(
                "expected the number of a function, found {function}"
            ))
        })?;
        // SAFETY: the tensors are XLA's buffers, which are there until the stream has done what it is given.
        unsafe {
            let named = || {
                let name = self.text("name");
                name.map_or_else(|| format!("function {function}"), str::to_owned)
            };
            find(handle as u64, named)?.call(function, &given, &Given(stream))
        }
    }

    /// The stream and the number of the GPU.
    ///
    /// # Safety
    /// The interface is XLA's.
    unsafe fn stream(&self) -> Result<(*mut c_void, i32), Failure> {
        // SAFETY: XLA's.
        let api = unsafe { &*self.api };
        let mut get = StreamGet {
            head: head::<StreamGet>(),
            context: self.context,
            stream: ptr::null_mut(),
        };
        // SAFETY: the struct is as the function asks.
        let error = unsafe { (api.stream_get)(&mut get) };
        if !error.is_null() {
            // SAFETY: the error is ours to destroy.
            unsafe { self.destroy(error) };
            return Err(Failure::new(Class::Runtime, "XLA gave no stream"));
        }
        let mut ordinal = OrdinalGet {
            head: head::<OrdinalGet>(),
            context: self.context,
            ordinal: 0,
        };
        // Older versions have a shorter interface, and no number.
        if api.head.size >= size_of::<Api>()
            && let Some(function) = api.ordinal_get
        {
            // SAFETY: the struct is as the function asks.
            let error = unsafe { function(&mut ordinal) };
            if !error.is_null() {
                // SAFETY: the error is ours to destroy.
                unsafe { self.destroy(error) };
            }
        }
        Ok((get.stream, ordinal.ordinal))
    }

    /// # Safety
    /// The error is XLA's, and ours.
    unsafe fn destroy(&self, error: *mut c_void) {
        let mut destroyed = ErrorDestroy {
            head: head::<ErrorDestroy>(),
            error,
        };
        // SAFETY: the caller's.
        unsafe { ((*self.api).error_destroy)(&mut destroyed) };
    }

    /// An error of XLA's.
    ///
    /// # Safety
    /// The interface is XLA's.
    unsafe fn error(&self, failure: &Failure) -> *mut c_void {
        const INVALID_ARGUMENT: c_int = 3;
        const INTERNAL: c_int = 13;
        let text = CString::new(failure.text.replace('\0', " ")).unwrap_or_default();
        let mut create = ErrorCreate {
            head: head::<ErrorCreate>(),
            message: text.as_ptr(),
            code: match failure.class {
                Class::Type | Class::Value => INVALID_ARGUMENT,
                _ => INTERNAL,
            },
        };
        // SAFETY: the struct is as the function asks; the text is copied.
        unsafe { ((*self.api).error_create)(&mut create) }
    }

    /// The attribute of that name, of 64-bit integers: `handle` and `function` are one; `kinds` and `values` have one for each argument.
    ///
    /// # Safety
    /// The attributes are XLA's.
    unsafe fn numbers(&self, name: &str) -> Result<&[i64], Failure> {
        let expected = || format!("expected an attribute `{name}` of 64-bit integers");
        // SAFETY: the caller's.
        let Some((kind, value)) = (unsafe { self.attribute(name) }) else {
            return Err(wrong(format!(
                "{}, found none; call by cute_opt.jax",
                expected()
            )));
        };
        // SAFETY: each is of its type.
        unsafe {
            match kind {
                ARRAY => {
                    let array = &*value.cast::<Array>();
                    if array.count == 0 {
                        return Ok(&[]);
                    }
                    if array.element == S64 {
                        return Ok(std::slice::from_raw_parts(array.data, array.count));
                    }
                }
                SCALAR => {
                    let scalar = &*value.cast::<Scalar>();
                    if scalar.element == S64 {
                        return Ok(std::slice::from_raw_parts(scalar.value, 1));
                    }
                }
                _ => {}
            }
        }
        Err(wrong(format!("{}, found another type", expected())))
    }

    /// The attribute of that name, if it is a text.
    ///
    /// # Safety
    /// The attributes are XLA's.
    unsafe fn text(&self, name: &str) -> Option<&str> {
        // SAFETY: the caller's; each is of its type.
        unsafe {
            let (STRING, value) = self.attribute(name)? else {
                return None;
            };
            let text = &*value.cast::<Text>();
            std::str::from_utf8(std::slice::from_raw_parts(text.bytes, text.length)).ok()
        }
    }

    /// The attribute of that name: its type, and where it is.
    ///
    /// # Safety
    /// The attributes are XLA's.
    unsafe fn attribute(&self, name: &str) -> Option<(c_int, *const c_void)> {
        let all = &self.attributes;
        let mut places = 0..usize::try_from(all.count).unwrap_or(0);
        // SAFETY: there are as many.
        unsafe {
            let at = places.find(|at| {
                let text = &**all.names.add(*at);
                std::slice::from_raw_parts(text.bytes, text.length) == name.as_bytes()
            })?;
            Some((*all.types.add(at), *all.all.add(at)))
        }
    }
}

impl Buffers {
    /// The buffer of that number as a tensor, compact and in the order of rows.
    ///
    /// # Safety
    /// The buffers are XLA's.
    unsafe fn tensor(&self, number: i64, device: DLDevice) -> Result<DLTensor, Failure> {
        if !(0..self.count).contains(&number) {
            let text = format!(
                "expected one of {} buffers, found number {number}",
                self.count
            );
            return Err(wrong(text));
        }
        // SAFETY: there are as many, all of which are buffers, the only type there is.
        let buffer = unsafe { &**self.all.add(number as usize) };
        let dtype = element(buffer.element).ok_or_else(|| {
            wrong(format!(
                "buffer {number}: expected elements of 8 to 64 bits, found XLA's type {}",
                buffer.element
            ))
        })?;
        Ok(DLTensor {
            data: buffer.data,
            device,
            ndim: i32::try_from(buffer.rank).unwrap_or(i32::MAX),
            dtype,
            shape: buffer.extents,
            strides: ptr::null_mut(),
            byte_offset: 0,
        })
    }
}

fn single(name: &str, all: &[i64]) -> Result<i64, Failure> {
    match all {
        [one] => Ok(*one),
        _ => Err(wrong(format!(
            "expected one number as `{name}`, found {}",
            all.len()
        ))),
    }
}

fn wrong(text: String) -> Failure {
    Failure::new(Class::Value, text)
}

/// DLPack's type for XLA's.
fn element(number: c_int) -> Option<DLDataType> {
    const SIGNED: u8 = 0;
    const UNSIGNED: u8 = 1;
    const FLOAT: u8 = 2;
    const BFLOAT: u8 = 4;
    const BOOL: u8 = 6;
    const F8E4M3FN: u8 = 10;
    const F8E5M2: u8 = 12;
    let (code, bits) = match number {
        1 => (BOOL, 8),
        2 => (SIGNED, 8),
        3 => (SIGNED, 16),
        4 => (SIGNED, 32),
        5 => (SIGNED, 64),
        6 => (UNSIGNED, 8),
        7 => (UNSIGNED, 16),
        8 => (UNSIGNED, 32),
        9 => (UNSIGNED, 64),
        10 => (FLOAT, 16),
        11 => (FLOAT, 32),
        12 => (FLOAT, 64),
        16 => (BFLOAT, 16),
        19 => (F8E5M2, 8),
        20 => (F8E4M3FN, 8),
        _ => return None,
    };
    Some(DLDataType {
        code,
        bits,
        lanes: 1,
    })
}
