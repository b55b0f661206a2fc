//! Memory of a GPU that is somebody else's, copied to the host and back.

use std::marker::PhantomData;

use cudarc::driver::sys;

use super::driver::check;
use super::target::Current;
use super::{Context, find_new_enough};
use crate::call::Stream;
use crate::device::DeviceError;

/// Copies between the host and memory in the primary context of a GPU.
pub struct Copies {
    context: sys::CUcontext,
    _retained: Context,
    _not_send: PhantomData<*mut ()>,
}

impl Copies {
    /// Opens the GPU with that number.
    ///
    /// # Errors
    /// [`DeviceError`]: no driver, or no such GPU.
    pub fn open(ordinal: u32) -> Result<Copies, DeviceError> {
        let (device, _) = find_new_enough(ordinal)?;
        let (retained, context) = Context::retain(device)?;
        Ok(Copies {
            context,
            _retained: retained,
            _not_send: PhantomData,
        })
    }

    /// Waits for all that was queued on a stream of the GPU.
    ///
    /// # Errors
    /// The driver's, of that work, too.
    pub fn wait(&self, stream: Stream) -> Result<(), DeviceError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the context is current; the stream is there as whoever made `Stream` has promised.
        check("cuStreamSynchronize", unsafe {
            sys::cuStreamSynchronize(stream.handle().cast())
        })
    }

    /// Fills a slice from memory of the GPU.
    ///
    /// # Safety
    /// At the address are as many bytes of this GPU, which nothing writes meanwhile.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn read(&self, address: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: the slice has room for as many bytes as are copied; of the address, the caller's.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(to.as_mut_ptr().cast(), address, to.len())
        })
    }

    /// Copies a slice to memory of the GPU.
    ///
    /// # Safety
    /// At the address are as many bytes of this GPU, which nothing else uses meanwhile.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn write(&self, address: u64, from: &[u8]) -> Result<(), DeviceError> {
        let _current = Current::enter(self.context)?;
        // SAFETY: as many bytes are copied as the slice has; of the address, the caller's.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(address, from.as_ptr().cast(), from.len())
        })
    }
}
