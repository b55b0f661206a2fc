//! Fat binaries, kernels and variables, which a program registers before its `main`.
//!
//! Compilers write calls of these functions into a program (`host_runtime.h` of CUDA's headers declares them). Modules are read at their
//! first use.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use cute_runtime::emulator::{Module, Pointer};

use crate::Error;
use crate::abi::{Dim3, Stream};
use crate::fatbin::{self, Image, Wrapper};
use crate::launches::Launch;
use crate::program::{Program, call, register};

/// A fat binary of the program.
pub(crate) struct Binary {
    /// PTX, or why there is none.
    images: Result<Vec<Image>, String>,
    module: Option<Module>,
}

/// A kernel that the program has.
pub(crate) struct Function {
    pub binary: usize,
    pub name: String,
    /// Bytes of dynamic shared memory that the program has asked to be allowed.
    pub dynamic_shared: u32,
}

/// A variable that the program has.
#[derive(Clone)]
pub(crate) struct Variable {
    pub binary: usize,
    pub name: String,
    pub size: usize,
}

impl Program {
    /// The module of a binary, which is read the first time.
    pub fn module(&mut self, call: &str, binary: usize) -> Result<Module, Error> {
        if let Some(module) = self.binaries[binary].module {
            return Ok(module);
        }
        let wanted = self.settings.config.arch.as_deref();
        let limit = wanted.map_or(u32::MAX, |arch| {
            let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
            digits.parse().unwrap_or(u32::MAX)
        });
        let text = match &self.binaries[binary].images {
            Err(why) => Err(why.clone()),
            Ok(images) => {
                let fitting = images.iter().filter(|image| image.arch <= limit);
                let best = fitting.max_by_key(|image| image.arch);
                best.map(|image| image.ptx.clone()).ok_or_else(|| {
                    let found: Vec<String> = images.iter().map(|i| format!("sm_{}", i.arch)).collect();
                    format!(
                        "expected PTX for {} in the program, found {}; compile it with -gencode arch=compute_80,code=compute_80 (nvcc) or --cuda-include-ptx=all (clang), and without -rdc=true",
                        wanted.unwrap_or("any architecture"),
                        match found.is_empty() {
                            true => "none".into(),
                            false => format!("PTX for {}", found.join(", ")),
                        }
                    )
                })
            }
        };
        let text = text.map_err(|why| self.refuse(call, &why, Error::NoKernelImage))?;
        let module = self.session.add_module(&text);
        let module = module.map_err(|error| self.failed(call, &error, Error::InvalidPtx))?;
        self.binaries[binary].module = Some(module);
        if let Err(error) = self.place_managed(call, binary, Some(module)) {
            // Kernels would have other memory than the host.
            let why = "expected memory for all __managed__ variables, found none for some, as was told before";
            self.binaries[binary] = Binary {
                images: Err(why.into()),
                module: None,
            };
            return Err(error);
        }
        Ok(module)
    }

    /// The memory of a variable that stands for one of the device.
    pub fn symbol(&mut self, call: &str, host: *const c_void) -> Result<(Pointer, u64), Error> {
        let Some(variable) = self.variables.get(&(host as usize)) else {
            let text = "expected a variable that the program declares __device__ or __constant__, found another address; pass the variable itself";
            return Err(self.refuse(call, text, Error::InvalidSymbol));
        };
        let (binary, name, size) = (variable.binary, variable.name.clone(), variable.size);
        let module = self.module(call, binary)?;
        // A variable that no kernel uses may be missing from the PTX.
        self.session.variable(module, &name).ok_or_else(|| {
            let text = format!("the variable {name} of {size} bytes is not in the program's PTX");
            self.refuse(call, &text, Error::InvalidSymbol)
        })
    }
}

/// # Safety
/// The text is null or ends at a zero.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    match pointer.is_null() {
        true => String::new(),
        // SAFETY: the caller says so.
        false => unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    }
}

/// The binary that a handle stands for.
///
/// # Safety
/// The handle is one that [`__cudaRegisterFatBinary`] gave.
pub(crate) unsafe fn binary(handle: *mut *mut c_void) -> usize {
    // SAFETY: the caller says so.
    unsafe { *handle as usize }
}

/// Registers a fat binary, and returns a handle for it.
///
/// # Safety
/// The wrapper is one that a compiler made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    // SAFETY: the caller says so.
    let images = unsafe { fatbin::registered(wrapper.cast::<Wrapper>()) };
    let index = register(|program| {
        program.binaries.push(Binary {
            images,
            module: None,
        });
        program.binaries.len() - 1
    });
    // It lives as long as the program.
    Box::leak(Box::new(index as *mut c_void))
}

/// Ends the registration of a binary.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_: *mut *mut c_void) {}

/// Ends the use of a binary, at the program's end: what was found is of use until then.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaUnregisterFatBinary(_: *mut *mut c_void) {}

/// Registers a kernel.
///
/// # Safety
/// The arguments are those that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_void,
    _: *mut c_char,
    name: *const c_char,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut Dim3,
    _: *mut Dim3,
    _: *mut c_int,
) {
    // SAFETY: the caller says so.
    let (binary, name) = unsafe { (binary(handle), text(name)) };
    let function = Function {
        binary,
        name,
        dynamic_shared: 0,
    };
    register(|program| {
        program.functions.insert(host as usize, function);
    });
}

/// Registers a variable in global or constant memory.
///
/// # Safety
/// The arguments are those that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *mut c_void,
    _: *mut c_char,
    name: *const c_char,
    _: c_int,
    size: usize,
    _: c_int,
    _: c_int,
) {
    // SAFETY: the caller says so.
    let (binary, name) = unsafe { (binary(handle), text(name)) };
    register(|program| {
        let variable = Variable { binary, name, size };
        program.variables.insert(host as usize, variable);
    });
}

/// Registers a variable of the host for kernels, which these do not have.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterHostVar(
    _: *mut *mut c_void,
    _: *const c_char,
    _: *mut c_void,
    _: usize,
) {
}

thread_local! {
    /// Launches `<<<...>>>` whose arguments are being gathered.
    static PENDING: RefCell<Vec<(Dim3, Dim3, usize, Stream)>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the sizes of a launch `<<<...>>>` for the function that stands for the kernel.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Stream,
) -> c_uint {
    PENDING.with_borrow_mut(|pending| pending.push((grid, block, shared, stream)));
    0
}

/// Hands out the sizes that [`__cudaPushCallConfiguration`] kept.
///
/// # Safety
/// The pointers are those that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaPopCallConfiguration(
    grid: *mut Dim3,
    block: *mut Dim3,
    shared: *mut usize,
    stream: *mut Stream,
) -> c_int {
    let last = PENDING.with_borrow_mut(Vec::pop);
    call("a launch", |program| {
        let Some(last) = last else {
            let text = "expected sizes between <<< and >>>, found none; launch kernels by <<<...>>> or cudaLaunchKernel";
            return Err(program.refuse("a launch", text, Error::InvalidConfiguration));
        };
        // SAFETY: the caller says so.
        unsafe { (*grid, *block, *shared, *stream) = last };
        Ok(())
    })
}

/// Finds the kernel that a function of the host stands for.
///
/// # Safety
/// The first pointer is one to a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaGetKernel(kernel: *mut *const c_void, host: *const c_void) -> c_int {
    // SAFETY: the caller says so. The function itself is a handle as good as any.
    unsafe { *kernel = host };
    0
}

/// Launches a kernel that [`__cudaGetKernel`] has found.
///
/// # Safety
/// The arguments are those that a compiler passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaLaunchKernel(
    kernel: *const c_void,
    grid: Dim3,
    block: Dim3,
    arguments: *mut *mut c_void,
    shared: usize,
    stream: Stream,
) -> c_int {
    let launch = Launch::new(kernel, grid, block, shared);
    // SAFETY: the caller says so.
    call("a launch", |program| unsafe {
        program.launch(&launch, arguments, stream)
    })
}

impl Program {
    /// Tells whether a binary has PTX.
    pub fn has_code(&self, binary: usize) -> bool {
        matches!(&self.binaries[binary].images, Ok(images) if !images.is_empty())
    }
}
