//! The NVIDIA driver as a [`Device`].
//!
//! The driver library is looked for when a device is opened, never at start-up: everything else
//! works without one.

mod copies;
mod driver;
mod graph;
mod launches;
mod maps;
mod memory;
mod pool;
mod program;
mod stopwatch;
mod target;

use std::ptr;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};

use crate::device::{Device, DeviceError, DeviceInfo, DeviceKind, Program};
use crate::package::{Function, Package};
pub use copies::Copies;
use driver::{check, fits};
pub use launches::LaunchTimes;
pub(crate) use target::CudaTarget;

/// The oldest driver that has every function used here (`cuEventElapsedTime_v2`): cudarc panics on
/// one that is missing.
const OLDEST_DRIVER: u32 = 12080;

/// A GPU, its primary context and one stream. The context is current on the thread that opened the
/// device.
pub struct CudaDevice {
    info: DeviceInfo,
    /// Declared first, as it must go before the context.
    stream: driver::Stream,
    _context: Context,
}

/// The primary context, retained; not `Send`, as it is current on one thread.
struct Context {
    device: sys::CUdevice,
    _not_send: std::marker::PhantomData<*mut ()>,
}

impl Context {
    fn retain(device: sys::CUdevice) -> Result<(Context, sys::CUcontext), DeviceError> {
        let mut context = ptr::null_mut();
        // SAFETY: the pointer is to a live variable; the device came from the driver.
        check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut context, device)
        })?;
        let retained = Context {
            device,
            _not_send: std::marker::PhantomData,
        };
        Ok((retained, context))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `device` was retained once. An error here is one of an earlier launch, which was
        // reported there.
        unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

impl CudaDevice {
    /// Opens the GPU with that number.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`] without a driver library, [`DeviceError::NoGpu`] without a GPU.
    pub fn open(ordinal: u32) -> Result<CudaDevice, DeviceError> {
        let (device, info) = find_new_enough(ordinal)?;
        let (retained, context) = Context::retain(device)?;
        // SAFETY: the context was retained.
        unsafe {
            check("cuCtxSetCurrent", sys::cuCtxSetCurrent(context))?;
            Ok(CudaDevice {
                info,
                stream: driver::Stream::new()?,
                _context: retained,
            })
        }
    }

    /// The driver's answers about the GPU with that number. Nothing is opened, and a driver that is too old to run packages will
    /// do.
    ///
    /// # Errors
    /// [`DeviceError::NoDriver`] without a driver library, [`DeviceError::NoGpu`] without a GPU.
    pub fn describe(ordinal: u32) -> Result<DeviceInfo, DeviceError> {
        find(ordinal).map(|(_, info)| info)
    }
}

/// The GPU with that number, whose driver has every function used here.
fn find_new_enough(ordinal: u32) -> Result<(sys::CUdevice, DeviceInfo), DeviceError> {
    let (device, info) = find(ordinal)?;
    if info.driver < OLDEST_DRIVER {
        return Err(DeviceError::OldDriver {
            found: info.driver,
            needed: OLDEST_DRIVER,
        });
    }
    Ok((device, info))
}

/// The GPU with that number.
fn find(ordinal: u32) -> Result<(sys::CUdevice, DeviceInfo), DeviceError> {
    // cudarc panics at the first call without the library.
    // SAFETY: loads the driver library, whose initialisers may be run.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::NoDriver);
    }
    // SAFETY: every pointer below is to a live variable of the type that the driver writes.
    unsafe {
        check("cuInit", sys::cuInit(0)).map_err(no_gpu)?;
        let mut version = 0;
        check("cuDriverGetVersion", sys::cuDriverGetVersion(&mut version))?;
        let mut count = 0;
        check("cuDeviceGetCount", sys::cuDeviceGetCount(&mut count)).map_err(no_gpu)?;
        if i64::from(ordinal) >= i64::from(count) {
            return Err(DeviceError::NoGpu(format!(
                "GPU {ordinal} was asked for, there are {count}"
            )));
        }
        let mut device = 0;
        check("cuDeviceGet", sys::cuDeviceGet(&mut device, ordinal as i32))?;
        Ok((device, describe(device, fits(version)?)?))
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load<'d>(
        &'d self,
        package: &Package,
        function: &Function,
    ) -> Result<Box<dyn Program + 'd>, DeviceError> {
        Ok(Box::new(program::CudaProgram::load(
            self, package, function,
        )?))
    }
}

fn no_gpu(error: DeviceError) -> DeviceError {
    DeviceError::NoGpu(error.to_string())
}

/// # Safety
/// The driver is initialised and `device` came from it.
unsafe fn describe(device: sys::CUdevice, driver: u32) -> Result<DeviceInfo, DeviceError> {
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: the caller's.
        check("cuDeviceGetAttribute", unsafe {
            sys::cuDeviceGetAttribute(&mut value, attribute, device)
        })?;
        fits(value)
    };
    let mut name = [0u8; 256];
    let mut memory = 0;
    // SAFETY: the buffer is as long as is said; the other pointers are to live variables.
    unsafe {
        check(
            "cuDeviceGetName",
            sys::cuDeviceGetName(name.as_mut_ptr().cast(), 256, device),
        )?;
        check(
            "cuDeviceTotalMem",
            sys::cuDeviceTotalMem_v2(&mut memory, device),
        )?;
    }
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    Ok(DeviceInfo {
        kind: DeviceKind::Cuda,
        name: String::from_utf8_lossy(name).into_owned(),
        compute_capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        memory: memory as u64,
        l2: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.into(),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        max_smem: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        driver,
    })
}
