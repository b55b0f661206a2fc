//! Checked calls and owned handles of the driver. Nothing here is used before
//! [`super::CudaDevice::open`] found the library.

use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::ptr;

use cudarc::driver::sys::{self, CUfunction_attribute as FunctionAttribute, CUresult};

use crate::device::DeviceError;
use crate::package::Sizes;

/// An error of the driver with its name, its text, and what it usually means.
pub(super) fn check(what: &str, result: CUresult) -> Result<(), DeviceError> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let text = |get: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = ptr::null();
        // SAFETY: the driver writes a pointer to a static string, or leaves it null.
        unsafe {
            get(result, &mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    let hint = match result {
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
            "; the kernel accesses memory wrongly: compute-sanitizer finds the instruction"
        }
        CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "; the block needs more registers or threads than there are"
        }
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "; update the driver, or put a cubin into the package"
        }
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => "; compile for this GPU's architecture",
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
            "; the driver was updated: restart the machine"
        }
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "; free memory on the GPU",
        _ => "",
    };
    Err(DeviceError::Driver {
        what: what.to_string(),
        code: text(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", result as u32)),
        message: text(sys::cuGetErrorString).unwrap_or_else(|| "unknown".into()),
        hint: hint.to_string(),
        fault: is_fault(result),
    })
}

/// Tells whether the driver documents of an error that the process must be ended to go on.
fn is_fault(result: CUresult) -> bool {
    matches!(
        result,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
            | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | CUresult::CUDA_ERROR_INVALID_PC
            | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
            | CUresult::CUDA_ERROR_LAUNCH_FAILED
            | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
            | CUresult::CUDA_ERROR_ASSERT
    )
}

/// A count that the driver gives as a signed number.
pub(super) fn fits(value: i32) -> Result<u32, DeviceError> {
    u32::try_from(value).map_err(|_| DeviceError::Driver {
        what: "reading a property of the GPU".into(),
        code: value.to_string(),
        message: "a negative count".into(),
        hint: String::new(),
        fault: false,
    })
}

/// A stream of its own, as the default stream waits for others.
pub(super) struct Stream(sys::CUstream);

impl Stream {
    /// # Safety
    /// A context is current, and outlives the stream.
    pub(super) unsafe fn new() -> Result<Stream, DeviceError> {
        let mut stream = ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the pointer is to a live variable.
        check("cuStreamCreate", unsafe {
            sys::cuStreamCreate(&mut stream, flags)
        })?;
        Ok(Stream(stream))
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0
    }

    /// Waits for all that was queued; `what` names it in the error.
    pub(super) fn wait(&self, what: &str) -> Result<(), DeviceError> {
        // SAFETY: the stream lives.
        check(what, unsafe { sys::cuStreamSynchronize(self.0) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the handle is owned. An error here is one of an earlier launch.
        unsafe { sys::cuStreamDestroy_v2(self.0) };
    }
}

/// A point in a stream's time.
pub(super) struct Event(sys::CUevent);

impl Event {
    /// A device must be open.
    pub(super) fn new(_stream: &Stream) -> Result<Event, DeviceError> {
        let mut event = ptr::null_mut();
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: a stream lives, hence a context; the pointer is to a live variable.
        check("cuEventCreate", unsafe {
            sys::cuEventCreate(&mut event, flags)
        })?;
        Ok(Event(event))
    }

    pub(super) fn record(&self, stream: &Stream) -> Result<(), DeviceError> {
        // SAFETY: both handles live.
        check("cuEventRecord", unsafe {
            sys::cuEventRecord(self.0, stream.0)
        })
    }

    /// Seconds since another event; both must have happened.
    pub(super) fn since(&self, start: &Event) -> Result<f64, DeviceError> {
        let mut milliseconds = 0.0f32;
        // SAFETY: both handles live; the pointer is to a live variable.
        check("cuEventElapsedTime", unsafe {
            sys::cuEventElapsedTime_v2(&mut milliseconds, start.0, self.0)
        })?;
        Ok(f64::from(milliseconds) * 1e-3)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the handle is owned. An error here is one of an earlier launch.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

/// Loaded code.
pub(super) struct Module<'d> {
    handle: sys::CUmodule,
    _device: PhantomData<&'d ()>,
}

// SAFETY: a module is of its context and of no thread; the driver's calls on it may come from any thread in which the context is
// current.
unsafe impl Send for Module<'_> {}
// SAFETY: the same.
unsafe impl Sync for Module<'_> {}

impl<'d> Module<'d> {
    /// Loads a cubin, or PTX with a terminating zero, into the context that is current, which is kept by `_context` or by whoever
    /// keeps the module. An error tells what the driver's compiler said.
    pub(super) fn load<C>(
        what: &str,
        code: &[u8],
        _context: &'d C,
    ) -> Result<Module<'d>, DeviceError> {
        use sys::CUjit_option::{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        const LOG: usize = 4096;
        let mut log = vec![0u8; LOG];
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The driver takes numbers in the place of pointers here.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), LOG as *mut c_void];
        let mut handle = ptr::null_mut();
        // SAFETY: the code is whole (an ELF file, or text that ends with a zero); the log lives
        // through the call.
        let result = unsafe {
            sys::cuModuleLoadDataEx(
                &mut handle,
                code.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match check(&format!("loading {what}"), result) {
            Ok(()) => Ok(Module {
                handle,
                _device: PhantomData,
            }),
            Err(DeviceError::Driver {
                what,
                code,
                mut message,
                hint,
                fault,
            }) => {
                let log = log.split(|&byte| byte == 0).next().unwrap_or_default();
                let log = String::from_utf8_lossy(log);
                if !log.trim().is_empty() {
                    message = format!("{message}: {}", log.trim());
                }
                Err(DeviceError::Driver {
                    what,
                    code,
                    message,
                    hint,
                    fault,
                })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn kernel(&self, name: &str) -> Result<Kernel, DeviceError> {
        let c_name = CString::new(name).map_err(|_| DeviceError::Unsupported {
            place: "a kernel's name".into(),
            expected: "no zero byte".into(),
            found: name.escape_debug().to_string(),
            cure: "compile the package again",
        })?;
        let mut handle = ptr::null_mut();
        // SAFETY: the module and the name live.
        let result = unsafe { sys::cuModuleGetFunction(&mut handle, self.handle, c_name.as_ptr()) };
        check(&format!("finding kernel {name}"), result)?;
        Ok(Kernel { handle })
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned. An error here is one of an earlier launch.
        unsafe { sys::cuModuleUnload(self.handle) };
    }
}

/// A kernel; valid while its module lives.
#[derive(Clone, Copy)]
pub(super) struct Kernel {
    pub(super) handle: sys::CUfunction,
}

// SAFETY: as of modules.
unsafe impl Send for Kernel {}
// SAFETY: the same.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Queues a launch; `params` point to the kernel's parameters, all of them.
    ///
    /// # Safety
    /// The kernel's module lives and its context is current; each of `params` points to as many bytes as the parameter has, and what is
    /// pointed to on the device is there when the kernel runs.
    #[inline]
    pub(super) unsafe fn launch(
        &self,
        name: &str,
        sizes: &Sizes,
        params: *mut *mut c_void,
        stream: sys::CUstream,
    ) -> Result<(), DeviceError> {
        let ([gx, gy, gz], [bx, by, bz]) = (sizes.grid, sizes.block);
        let [x, y, z] = sizes.cluster;
        let mut config = sys::CUlaunchConfig {
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: sizes.dynamic_smem,
            hStream: stream,
            attrs: ptr::null_mut(),
            numAttrs: 0,
        };
        // SAFETY: zero bytes are a valid value of this C struct and of its union.
        let mut attributes: [sys::CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let mut count = 0;
        if [x, y, z] != [1, 1, 1] {
            let attribute = &mut attributes[count];
            attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attribute.value.clusterDim.x = x;
            attribute.value.clusterDim.y = y;
            attribute.value.clusterDim.z = z;
            count += 1;
        }
        if sizes.dependent {
            let attribute = &mut attributes[count];
            attribute.id =
                sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            attribute.value.programmaticStreamSerializationAllowed = 1;
            count += 1;
        }
        if count > 0 {
            config.attrs = attributes.as_mut_ptr();
            config.numAttrs = count as u32;
        }
        // SAFETY: the caller's; the attributes live through the call.
        let result =
            unsafe { sys::cuLaunchKernelEx(&config, self.handle, params, ptr::null_mut()) };
        if result == CUresult::CUDA_SUCCESS {
            return Ok(());
        }
        check(&format!("launching {name}"), result)
    }

    pub(super) fn attribute(&self, attribute: FunctionAttribute) -> Result<u32, DeviceError> {
        let mut value = 0;
        // SAFETY: the kernel's module lives; the pointer is to a live variable.
        let result = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, self.handle) };
        check("cuFuncGetAttribute", result)?;
        fits(value)
    }

    pub(super) fn set_attribute(
        &self,
        attribute: FunctionAttribute,
        value: u32,
    ) -> Result<(), DeviceError> {
        // SAFETY: the kernel's module lives. The values are below 2^31: bytes of shared memory, or
        // 1.
        check("cuFuncSetAttribute", unsafe {
            sys::cuFuncSetAttribute(self.handle, attribute, value as i32)
        })
    }
}
