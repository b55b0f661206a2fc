//! Launches of any PTX from C: `include/cute_emulator.h`.
//!
//! An exported library has none of these: the export takes their names away.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use cute_runtime::emulator::{Argument, Config, Finding, Grid, Memory, Pointer, Session};

use crate::entry::{finish, guarded};
use crate::failure::{Class, Failure};

/// A session, and the texts of its findings.
pub struct Emulator {
    session: Session,
    texts: Vec<CString>,
    json: CString,
}

/// The sizes of a launch, as the header has them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sizes {
    blocks: [u32; 3],
    threads: [u32; 3],
    cluster: [u32; 3],
    shared: u32,
}

/// A text without zeros, which C would take for its end.
fn text(text: String) -> CString {
    let bytes = text.into_bytes().into_iter();
    CString::new(bytes.filter(|byte| *byte != 0).collect::<Vec<u8>>()).unwrap_or_default()
}

fn wrong(text: impl Into<String>) -> Failure {
    Failure::new(Class::Value, text)
}

impl Emulator {
    fn new(ptx: &str, seed: u64) -> Result<Emulator, Failure> {
        let config = Config {
            seed,
            ..Config::default()
        };
        // What is wrong is the text.
        let session = Session::new(ptx, config).map_err(|error| wrong(error.to_string()))?;
        Ok(Emulator {
            session,
            texts: Vec::new(),
            json: text("[]".into()),
        })
    }

    fn launch(
        &mut self,
        kernel: &str,
        sizes: Sizes,
        arguments: &[Argument],
    ) -> Result<(), Failure> {
        let sizes_of = |sizes: [u32; 3]| sizes.map(|size| size.max(1));
        let grid = Grid {
            blocks: sizes_of(sizes.blocks),
            threads: sizes_of(sizes.threads),
            cluster: sizes_of(sizes.cluster),
            shared: sizes.shared,
        };
        let done = self.session.launch(kernel, grid, arguments);
        done.map_err(|error| wrong(error.to_string()))?;
        let findings = self.session.findings();
        self.texts = findings.iter().map(Finding::to_string).map(text).collect();
        self.json = text(serde_json::to_string(&findings).unwrap_or_default());
        Ok(())
    }

    /// Bytes of each parameter of a kernel.
    fn params(&self, kernel: &str) -> Result<Vec<usize>, Failure> {
        let mut kernels = self.session.kernels();
        let found = kernels.find(|signature| signature.name == kernel);
        let Some(found) = found else {
            let names = self.session.kernels().map(|signature| &*signature.name);
            let names = names.collect::<Vec<_>>().join(", ");
            return Err(wrong(format!(
                "expected a kernel of the module ({names}), found {kernel}"
            )));
        };
        Ok(found
            .params
            .iter()
            .map(|(_, bytes)| *bytes as usize)
            .collect())
    }
}

/// The text of a pointer of C.
///
/// # Safety
/// It is null, or ends with a 0.
unsafe fn read<'a>(what: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    if pointer.is_null() {
        return Err(wrong(format!("expected {what}, found a null pointer")));
    }
    // SAFETY: the caller's.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    let text = bytes.to_str();
    text.map_err(|_| wrong(format!("expected {what} in UTF-8, found other bytes")))
}

/// The emulator of a pointer of C.
///
/// # Safety
/// It is null, or from [`open`] and not closed, and nobody else uses it.
unsafe fn given<'a>(emulator: *mut Emulator) -> Result<&'a mut Emulator, Failure> {
    // SAFETY: the caller's.
    let emulator = unsafe { emulator.as_mut() };
    emulator.ok_or_else(|| wrong("expected an emulator, found a null pointer"))
}

/// Reads a module.
///
/// # Safety
/// `ptx` is null or ends with a 0; `error` is null or a buffer of `size` bytes.
#[unsafe(export_name = "cute_emulator_open")]
pub unsafe extern "C" fn open(
    ptx: *const c_char,
    seed: u64,
    error: *mut c_char,
    size: usize,
) -> *mut Emulator {
    let mut made = std::ptr::null_mut();
    let result = guarded(|| {
        // SAFETY: the caller's.
        let ptx = unsafe { read("a text of PTX", ptx) }?;
        made = Box::into_raw(Box::new(Emulator::new(ptx, seed)?));
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) };
    made
}

/// Allocates memory. Returns its address, or 0.
///
/// # Safety
/// The emulator is as [`given`] asks for; `data` is null or `bytes` bytes; `error` is null or a buffer of `size` bytes.
#[unsafe(export_name = "cute_emulator_memory")]
pub unsafe extern "C" fn memory(
    emulator: *mut Emulator,
    data: *const c_void,
    bytes: usize,
    read_only: c_int,
    error: *mut c_char,
    size: usize,
) -> u64 {
    let mut address = 0;
    let result = guarded(|| {
        // SAFETY: the caller's.
        let emulator = unsafe { given(emulator) }?;
        let memory = if data.is_null() {
            Memory::uninitialized(bytes)
        } else {
            // SAFETY: the caller's: so many bytes.
            Memory::holding(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) })
        };
        let memory = match read_only {
            0 => memory,
            _ => memory.read_only(),
        };
        let made = emulator.session.allocate("memory", memory);
        address = made.map_err(|error| wrong(error.to_string()))?.address();
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) };
    address
}

/// Runs a kernel.
///
/// # Safety
/// The emulator is as [`given`] asks for; `kernel` is null or ends with a 0; `params` are `count` pointers to as many bytes as the kernel's
/// parameters have; `error` is null or a buffer of `size` bytes.
#[unsafe(export_name = "cute_emulator_launch")]
pub unsafe extern "C" fn launch(
    emulator: *mut Emulator,
    kernel: *const c_char,
    sizes: Sizes,
    params: *const *const c_void,
    count: usize,
    error: *mut c_char,
    size: usize,
) -> c_int {
    let result = guarded(|| {
        // SAFETY: the caller's.
        let emulator = unsafe { given(emulator) }?;
        // SAFETY: the caller's.
        let kernel = unsafe { read("the name of a kernel", kernel) }?;
        let expected = emulator.params(kernel)?;
        if expected.len() != count || count > 0 && params.is_null() {
            let found = if params.is_null() { 0 } else { count };
            return Err(wrong(format!(
                "{kernel}: expected pointers to {} parameters, found {found}",
                expected.len()
            )));
        }
        let mut arguments = Vec::with_capacity(count);
        for (number, bytes) in expected.into_iter().enumerate() {
            // SAFETY: the caller's: `count` pointers.
            let value = unsafe { *params.add(number) };
            if value.is_null() {
                return Err(wrong(format!(
                    "{kernel}: parameter {number}: expected a pointer to its value, found a null pointer"
                )));
            }
            // SAFETY: the caller's: as many bytes as the parameter has.
            let value = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), bytes) };
            arguments.push(Argument::bytes(value));
        }
        emulator.launch(kernel, sizes, &arguments)?;
        match emulator.texts.as_slice() {
            [] => Ok(()),
            [first, rest @ ..] => {
                let rest = match rest.len() {
                    0 => String::new(),
                    more => format!("\nand {more} more"),
                };
                let text = format!("{}{rest}", first.to_string_lossy());
                Err(Failure::new(Class::Findings, text))
            }
        }
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) }
}

/// Copies memory to the host.
///
/// # Safety
/// The emulator is as [`given`] asks for; `to` is null or has room for `bytes` bytes; `error` is null or a buffer of `size` bytes.
#[unsafe(export_name = "cute_emulator_read")]
pub unsafe extern "C" fn read_memory(
    emulator: *mut Emulator,
    address: u64,
    to: *mut c_void,
    bytes: usize,
    error: *mut c_char,
    size: usize,
) -> c_int {
    let result = guarded(|| {
        // SAFETY: the caller's.
        let emulator = unsafe { given(emulator) }?;
        if to.is_null() && bytes > 0 {
            return Err(wrong("expected room for the bytes, found a null pointer"));
        }
        let from = Pointer::of_address(address);
        let there = emulator
            .session
            .check_range("a copy from", from, bytes as u64);
        there.map_err(|error| wrong(error.to_string()))?;
        let mut read = vec![0; bytes];
        let done = emulator.session.read_to(from, &mut read);
        done.map_err(|error| wrong(error.to_string()))?;
        // SAFETY: the caller's: room for so many bytes, none of which is in a vector of our own.
        unsafe { std::ptr::copy_nonoverlapping(read.as_ptr(), to.cast::<u8>(), bytes) };
        Ok(())
    });
    // SAFETY: the caller's.
    unsafe { finish(result, error, size) }
}

/// The number of findings.
///
/// # Safety
/// The emulator is as [`given`] asks for.
#[unsafe(export_name = "cute_emulator_findings")]
pub unsafe extern "C" fn findings(emulator: *mut Emulator) -> usize {
    // SAFETY: the caller's.
    unsafe { given(emulator) }.map_or(0, |emulator| emulator.texts.len())
}

/// The text of a finding; null beyond the last.
///
/// # Safety
/// The emulator is as [`given`] asks for.
#[unsafe(export_name = "cute_emulator_finding")]
pub unsafe extern "C" fn finding(emulator: *mut Emulator, number: usize) -> *const c_char {
    // SAFETY: the caller's.
    let text = unsafe { given(emulator) }.ok();
    let text = text.and_then(|emulator| emulator.texts.get(number));
    text.map_or(std::ptr::null(), |text| text.as_ptr())
}

/// All findings as JSON.
///
/// # Safety
/// The emulator is as [`given`] asks for.
#[unsafe(export_name = "cute_emulator_json")]
pub unsafe extern "C" fn json(emulator: *mut Emulator) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { given(emulator) }.map_or(c"[]".as_ptr(), |emulator| emulator.json.as_ptr())
}

/// Gives an emulator back.
///
/// # Safety
/// It is null, or from [`open`], and nobody uses it any more.
#[unsafe(export_name = "cute_emulator_close")]
pub unsafe extern "C" fn close(emulator: *mut Emulator) {
    if !emulator.is_null() {
        // SAFETY: the caller's.
        drop(unsafe { Box::from_raw(emulator) });
    }
}
