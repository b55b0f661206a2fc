//! Device memory between guard bands.

use std::marker::PhantomData;

use cudarc::driver::sys;

use super::driver::{Stream, check};
use crate::device::DeviceError;
use crate::tensor::POISON;

/// Bytes before and after a tensor; a multiple of the largest alignment that a package can ask for.
const GUARD: usize = 4096;

/// Memory of one tensor, with poisoned bytes on both sides.
pub(super) struct Buffer<'d> {
    base: sys::CUdeviceptr,
    length: usize,
    _device: PhantomData<&'d Stream>,
}

impl<'d> Buffer<'d> {
    /// Memory that `length` bytes take, all poison.
    pub(super) fn poisoned(length: usize, _stream: &'d Stream) -> Result<Buffer<'d>, DeviceError> {
        let total = length + 2 * GUARD;
        let mut base = 0;
        // SAFETY: a stream lives, hence a context; the range that is set was just allocated.
        unsafe {
            let result = sys::cuMemAlloc_v2(&mut base, total);
            if result == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY {
                return Err(DeviceError::Memory {
                    needed: total as u64,
                    free: free()?,
                });
            }
            check("cuMemAlloc", result)?;
            let buffer = Buffer {
                base,
                length,
                _device: PhantomData,
            };
            check("cuMemsetD8", sys::cuMemsetD8_v2(base, POISON, total))?;
            Ok(buffer)
        }
    }

    /// A copy of host bytes.
    pub(super) fn upload(bytes: &[u8], stream: &'d Stream) -> Result<Buffer<'d>, DeviceError> {
        let buffer = Buffer::poisoned(bytes.len(), stream)?;
        // SAFETY: both ranges are `bytes.len()` long.
        let result =
            unsafe { sys::cuMemcpyHtoD_v2(buffer.pointer(), bytes.as_ptr().cast(), bytes.len()) };
        check("cuMemcpyHtoD", result)?;
        Ok(buffer)
    }

    /// A copy on the device.
    pub(super) fn duplicate(&self, stream: &'d Stream) -> Result<Buffer<'d>, DeviceError> {
        let copy = Buffer::poisoned(self.length, stream)?;
        // SAFETY: both ranges are `length` long.
        let result = unsafe { sys::cuMemcpyDtoD_v2(copy.pointer(), self.pointer(), self.length) };
        check("cuMemcpyDtoD", result)?;
        Ok(copy)
    }

    /// The address of the tensor's first byte: aligned as `cuMemAlloc` aligns, which is to 256
    /// bytes at least.
    pub(super) fn pointer(&self) -> sys::CUdeviceptr {
        self.base + GUARD as u64
    }

    pub(super) fn download(&self, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let length = bytes.len().min(self.length);
        self.read(GUARD, &mut bytes[..length])
    }

    fn read(&self, from: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: callers read within the allocation: `from + bytes.len() <= length + 2 * GUARD`.
        let result = unsafe {
            sys::cuMemcpyDtoH_v2(
                bytes.as_mut_ptr().cast(),
                self.base + from as u64,
                bytes.len(),
            )
        };
        check("cuMemcpyDtoH", result)
    }

    /// Checks that the bytes on both sides are as they were.
    pub(super) fn check_guards(&self, name: &str) -> Result<(), DeviceError> {
        for (side, from) in [("before", 0), ("after", GUARD + self.length)] {
            let mut band = vec![0; GUARD];
            self.read(from, &mut band)?;
            if let Some(error) = overwritten(name, side, &band) {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// The error for what was written into a band beside a tensor. The first byte is the one nearest to the tensor.
fn overwritten(name: &str, side: &'static str, band: &[u8]) -> Option<DeviceError> {
    let changed = |&(_, &byte): &(usize, &u8)| byte != POISON;
    let count = band.iter().enumerate().filter(changed).count();
    let nearest = if side == "before" {
        band.iter().rev().enumerate().find(changed)
    } else {
        band.iter().enumerate().find(changed)
    };
    let (distance, _) = nearest?;
    // The byte next to the tensor is one byte before it, or right after it.
    let distance = distance + 1;
    Some(DeviceError::OutOfBounds {
        name: name.to_string(),
        count,
        distance,
        side,
    })
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the allocation is owned. An error here is one of an earlier launch.
        unsafe { sys::cuMemFree_v2(self.base) };
    }
}

/// Free bytes on the device.
pub(super) fn free() -> Result<u64, DeviceError> {
    let (mut free, mut total) = (0, 0);
    // SAFETY: both pointers are to live variables.
    check("cuMemGetInfo", unsafe {
        sys::cuMemGetInfo_v2(&mut free, &mut total)
    })?;
    Ok(free as u64)
}

/// The memory that a tensor of so many bytes takes here.
pub(super) fn footprint(length: usize) -> u64 {
    length as u64 + 2 * GUARD as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_beside_a_tensor_are_measured_from_it() {
        let mut band = [POISON; GUARD];
        assert!(overwritten("C", "after", &band).is_none());
        band[7] = 0;
        band[9] = 0;
        let says = |side| overwritten("C", side, &band).unwrap().to_string();
        assert!(says("after").contains(
            "2 bytes outside of the tensor were overwritten, the first 8 bytes after it"
        ));
        assert!(
            says("before").contains("the first 4087 bytes before it"),
            "{}",
            says("before")
        );
    }
}
