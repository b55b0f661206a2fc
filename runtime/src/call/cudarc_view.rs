//! Memory of cudarc, whose safe types say by which stream it was last used.

use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, SyncOnDrop};

use super::Stream;
use super::view::{Memory, TensorView};
use crate::tensor::{Native, ViewError};

/// A tensor in a slice of cudarc. It lives until the calls with it are queued: when it is dropped, cudarc notes what the stream did.
pub struct CudarcTensor<'a> {
    view: TensorView<'a>,
    _order: SyncOnDrop<'a>,
}

impl<'a> CudarcTensor<'a> {
    /// A tensor that functions read.
    ///
    /// # Safety
    /// Calls with it are on `stream`, and it is dropped after they were queued.
    ///
    /// # Errors
    /// Shape and strides that reach beyond the slice, or are none.
    pub unsafe fn read<T: Native, S: DevicePtr<T>>(
        slice: &'a S,
        stream: &'a CudaStream,
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
    ) -> Result<CudarcTensor<'a>, ViewError> {
        let (count, number) = (slice.len(), number(slice.stream())?);
        let (address, order) = slice.device_ptr(stream);
        let view = within::<T>(address, count, number, (shape, strides))?;
        Ok(CudarcTensor {
            view: view.read_only(),
            _order: order,
        })
    }

    /// A tensor that functions may write, too.
    ///
    /// # Safety
    /// As of [`CudarcTensor::read`].
    ///
    /// # Errors
    /// As of [`CudarcTensor::read`].
    pub unsafe fn write<T: Native, S: DevicePtrMut<T>>(
        slice: &'a mut S,
        stream: &'a CudaStream,
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
    ) -> Result<CudarcTensor<'a>, ViewError> {
        let (count, number) = (slice.len(), number(slice.stream())?);
        let (address, order) = slice.device_ptr_mut(stream);
        Ok(CudarcTensor {
            view: within::<T>(address, count, number, (shape, strides))?,
            _order: order,
        })
    }

    /// The tensor as an argument.
    pub fn view(&self) -> TensorView<'_> {
        self.view
    }
}

impl<'a> From<&'a CudaStream> for Stream<'a> {
    fn from(stream: &'a CudaStream) -> Stream<'a> {
        // SAFETY: the stream is borrowed for as long. One of another device is an error of the driver's.
        unsafe { Stream::from_raw(stream.cu_stream().cast()) }
    }
}

fn number(stream: &CudaStream) -> Result<u32, ViewError> {
    let ordinal = stream.context().ordinal();
    u32::try_from(ordinal).map_err(|_| ViewError::new("a number of a GPU", ordinal.to_string()))
}

fn within<'a, T: Native>(
    address: u64,
    count: usize,
    number: u32,
    (shape, strides): (&'a [i64], Option<&'a [i64]>),
) -> Result<TensorView<'a>, ViewError> {
    // SAFETY: the slice is borrowed for as long, and what lies beyond it is refused. That the memory is used in the order of the stream is
    // cudarc's doing, and the promise of who made the tensor.
    let view =
        unsafe { TensorView::from_raw(address, T::ELEMENT, shape, strides, Memory::Cuda(number))? };
    view.within(count as u64)
}
