//! Tensors as other programs hand them over: the structs of DLPack, which C programs and Python have in common.
//!
//! (DLPack 1.1, `dlpack.h`.)

use std::ffi::c_void;

use super::view::{Memory, TensorView};
use crate::element::Element;
use crate::tensor::ViewError;

/// A device: the kind of memory, and its number.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// 1 is the CPU, 2 a GPU of CUDA, 3 pinned memory of the host, 13 managed memory of CUDA.
    pub device_type: i32,
    /// The number of the GPU.
    pub device_id: i32,
}

/// The type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// The kind of number: 0 an integer, 1 one without sign, 2 floating point, 4 bfloat, 10 `f8E4M3FN`, 12 `f8E5M2`.
    pub code: u8,
    /// Bits of a number.
    pub bits: u8,
    /// Numbers of an element: 1.
    pub lanes: u16,
}

/// A tensor that is borrowed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DLTensor {
    /// The memory.
    pub data: *mut c_void,
    /// The device whose memory it is.
    pub device: DLDevice,
    /// Dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The elements of each dimension.
    pub shape: *mut i64,
    /// The stride of each dimension in elements; null: compact, the last dimension the fastest.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor with its owner, as versions of DLPack before 1.0 have it.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's own.
    pub manager_ctx: *mut c_void,
    /// The function that gives the tensor back to its owner; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A version of DLPack.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Another one has another layout of the structs.
    pub major: u32,
    /// Another one has other values.
    pub minor: u32,
}

/// A tensor with its owner, as DLPack 1 has it.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// The version that the owner speaks.
    pub version: DLPackVersion,
    /// The owner's own.
    pub manager_ctx: *mut c_void,
    /// The function that gives the tensor back to its owner; may be null.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: the tensor may only be read.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// The major version whose layouts these are.
pub const DLPACK_MAJOR: u32 = 1;
/// The flag of a tensor that may only be read.
pub const DLPACK_READ_ONLY: u64 = 1;

/// The CPU.
pub const DL_CPU: i32 = 1;
/// A GPU of CUDA.
pub const DL_CUDA: i32 = 2;
/// Pinned memory of the host.
pub const DL_CUDA_HOST: i32 = 3;
/// Managed memory of CUDA.
pub const DL_CUDA_MANAGED: i32 = 13;

/// Dimensions of a tensor, at most; one with more is taken to be no tensor at all.
const MOST_DIMENSIONS: i32 = 64;

/// Element types by kind and bits.
const TYPES: [(u8, u8, Element); 10] = [
    (0, 8, Element::I8),
    (0, 32, Element::I32),
    (0, 64, Element::I64),
    (1, 8, Element::U8),
    (2, 16, Element::F16),
    (2, 32, Element::F32),
    (2, 64, Element::F64),
    (4, 16, Element::Bf16),
    (10, 8, Element::F8E4M3FN),
    (12, 8, Element::F8E5M2),
];

impl DLDataType {
    /// The type of the elements of one of ours; `tf32` is `f32` in memory.
    pub fn of(element: Element) -> DLDataType {
        let of = |found: Element| {
            let row = TYPES.iter().find(|(_, _, element)| *element == found);
            row.map(|(code, bits, _)| DLDataType {
                code: *code,
                bits: *bits,
                lanes: 1,
            })
        };
        // All but `tf32` have a row.
        of(element).unwrap_or(DLDataType {
            code: 2,
            bits: 32,
            lanes: 1,
        })
    }

    /// The element type.
    ///
    /// # Errors
    /// A type that no function takes.
    pub fn element(self) -> Result<Element, ViewError> {
        // Programs of TVM-FFI, its own `examples/stable_c_abi` among them, say `kTVMFFIFloat` for DLPack's `kDLFloat`. DLPack's 3 is a
        // handle, which has 64 bits.
        let code = match (self.code, self.bits) {
            (3, 16 | 32) => 2,
            (code, _) => code,
        };
        let row = TYPES
            .iter()
            .find(|(found, bits, _)| (*found, *bits, 1) == (code, self.bits, self.lanes));
        row.map(|(_, _, element)| *element).ok_or_else(|| {
            ViewError::new(
                "elements of type f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i8, u8, i32 or i64",
                format!(
                    "a DLDataType of code {}, {} bits and {} lanes",
                    self.code, self.bits, self.lanes
                ),
            )
        })
    }
}

impl<'a> TensorView<'a> {
    /// A view of a tensor of DLPack.
    ///
    /// # Safety
    /// `shape` points to `ndim` numbers, and so does `strides` where it is not null; for the memory, the same as of
    /// [`TensorView::from_raw`].
    ///
    /// # Errors
    /// A type, a device, a number of dimensions or a place that no function takes.
    pub unsafe fn from_dlpack(tensor: &'a DLTensor) -> Result<TensorView<'a>, ViewError> {
        let element = tensor.dtype.element()?;
        let number = || {
            u32::try_from(tensor.device.device_id).map_err(|_| {
                let found = tensor.device.device_id.to_string();
                ViewError::new("a number of a device from 0", found)
            })
        };
        let memory = match tensor.device.device_type {
            DL_CPU | DL_CUDA_HOST => Memory::Host,
            DL_CUDA | DL_CUDA_MANAGED => Memory::Cuda(number()?),
            other => {
                let expected = "a tensor of the CPU (1, 3) or of CUDA (2, 13)";
                let found = format!("one of device type {other}");
                return Err(ViewError::new(expected, found));
            }
        };
        if !(0..=MOST_DIMENSIONS).contains(&tensor.ndim) {
            let expected = format!("0 to {MOST_DIMENSIONS} dimensions");
            return Err(ViewError::new(expected, tensor.ndim.to_string()));
        }
        let count = tensor.ndim as usize;
        if count > 0 && tensor.shape.is_null() {
            return Err(ViewError::new("a shape", "a null pointer"));
        }
        let list = |pointer: *mut i64| -> &'a [i64] {
            if count == 0 {
                return &[];
            }
            // SAFETY: the caller says so; it is not null.
            unsafe { std::slice::from_raw_parts(pointer, count) }
        };
        let strides = (!tensor.strides.is_null()).then(|| list(tensor.strides));
        let shape = list(tensor.shape);
        let data = tensor.data as u64;
        // An empty tensor may have no memory, wherever it would begin.
        let address = match data {
            0 => 0,
            data => data.checked_add(tensor.byte_offset).ok_or_else(|| {
                let expected = "a byte_offset with which the first element is in the address space";
                let found = format!("{} from the address {data:#x}", tensor.byte_offset);
                ViewError::new(expected, found)
            })?,
        };
        // SAFETY: the caller says so.
        unsafe { TensorView::from_raw(address, element, shape, strides, memory) }
    }

    /// A view of a tensor of DLPack with its owner, which stays the owner's.
    ///
    /// # Safety
    /// As of [`TensorView::from_dlpack`].
    ///
    /// # Errors
    /// As of [`TensorView::from_dlpack`].
    pub unsafe fn from_managed(tensor: &'a DLManagedTensor) -> Result<TensorView<'a>, ViewError> {
        // SAFETY: the caller says so.
        unsafe { TensorView::from_dlpack(&tensor.dl_tensor) }
    }

    /// A view of a tensor of DLPack 1 with its owner, which stays the owner's; one that may only be read stays so.
    ///
    /// # Safety
    /// As of [`TensorView::from_dlpack`].
    ///
    /// # Errors
    /// As of [`TensorView::from_dlpack`], and another major version.
    pub unsafe fn from_versioned(
        tensor: &'a DLManagedTensorVersioned,
    ) -> Result<TensorView<'a>, ViewError> {
        if tensor.version.major != DLPACK_MAJOR {
            let DLPackVersion { major, minor } = tensor.version;
            let expected = format!("a tensor of DLPack {DLPACK_MAJOR}");
            return Err(ViewError::new(
                expected,
                format!("one of DLPack {major}.{minor}"),
            ));
        }
        // SAFETY: the caller says so.
        let view = unsafe { TensorView::from_dlpack(&tensor.dl_tensor)? };
        if tensor.flags & DLPACK_READ_ONLY != 0 {
            return Ok(view.read_only());
        }
        Ok(view)
    }
}
