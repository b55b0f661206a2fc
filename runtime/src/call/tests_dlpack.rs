//! Tensors of DLPack as views.

use std::ffi::c_void;
use std::mem::{offset_of, size_of};

use super::*;
use crate::element::Element;

fn tensor(shape: &mut [i64], strides: Option<&mut [i64]>, element: Element) -> DLTensor {
    DLTensor {
        data: 0x1000 as *mut c_void,
        device: DLDevice {
            device_type: DL_CUDA,
            device_id: 3,
        },
        ndim: shape.len() as i32,
        dtype: DLDataType::of(element),
        shape: shape.as_mut_ptr(),
        strides: strides.map_or(std::ptr::null_mut(), <[i64]>::as_mut_ptr),
        byte_offset: 16,
    }
}

/// On 64 bits, as `dlpack.h` has it.
#[test]
fn structs_lie_as_in_c() {
    assert_eq!((size_of::<DLDevice>(), size_of::<DLDataType>()), (8, 4));
    assert_eq!(size_of::<DLTensor>(), 48);
    assert_eq!(offset_of!(DLTensor, dtype), 20);
    assert_eq!(offset_of!(DLTensor, byte_offset), 40);
    assert_eq!(size_of::<DLManagedTensor>(), 64);
    assert_eq!(size_of::<DLManagedTensorVersioned>(), 80);
    assert_eq!(offset_of!(DLManagedTensorVersioned, flags), 24);
    assert_eq!(offset_of!(DLManagedTensorVersioned, dl_tensor), 32);
}

#[test]
fn tensors_become_views() {
    for element in Element::ALL {
        let (mut shape, mut strides) = ([4, 6], [8, 1]);
        let given = tensor(&mut shape, Some(&mut strides), element);
        // SAFETY: shape and strides are two numbers each; the memory is not touched.
        let view = unsafe { TensorView::from_dlpack(&given) }.unwrap();
        // What tensor cores read as tf32 is f32 to everybody else.
        let expected = match element {
            Element::Tf32 => Element::F32,
            other => other,
        };
        assert_eq!((view.element(), view.address()), (expected, 0x1010));
        assert_eq!((view.shape(), view.strides()), (&[4, 6][..], vec![8, 1]));
        assert_eq!(view.memory(), Memory::Cuda(3));
    }
    let mut shape = [4, 6, 2];
    let given = tensor(&mut shape, None, Element::F16);
    // SAFETY: as above.
    let view = unsafe { TensorView::from_dlpack(&given) }.unwrap();
    assert_eq!(view.strides(), [12, 2, 1]);
    let mut none = tensor(&mut [], None, Element::F16);
    (none.shape, none.data) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: there are no dimensions.
    let view = unsafe { TensorView::from_dlpack(&none) }.unwrap();
    assert_eq!((view.shape(), view.address()), (&[][..], 0));
}

#[test]
fn owners_say_what_may_be_written() {
    let mut shape = [4];
    let mut managed = DLManagedTensorVersioned {
        version: DLPackVersion { major: 1, minor: 3 },
        manager_ctx: std::ptr::null_mut(),
        deleter: None,
        flags: 0,
        dl_tensor: tensor(&mut shape, None, Element::F32),
    };
    let writable = |managed: &DLManagedTensorVersioned| {
        // SAFETY: the shape is one number; the memory is not touched.
        let view = unsafe { TensorView::from_versioned(managed) };
        view.unwrap().writable
    };
    assert!(writable(&managed));
    managed.flags = DLPACK_READ_ONLY;
    assert!(!writable(&managed));
    managed.version.major = 2;
    // SAFETY: as above.
    let error = unsafe { TensorView::from_versioned(&managed) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a tensor of DLPack 1, found one of DLPack 2.3"
    );
    let managed = DLManagedTensor {
        dl_tensor: tensor(&mut shape, None, Element::F32),
        manager_ctx: std::ptr::null_mut(),
        deleter: None,
    };
    // SAFETY: as above.
    assert!(unsafe { TensorView::from_managed(&managed) }.is_ok());
}

#[test]
fn what_is_no_tensor_is_refused() {
    let mut shape = [4];
    let good = tensor(&mut shape, None, Element::F32);
    let says = |change: &dyn Fn(&mut DLTensor)| {
        let mut changed = good;
        change(&mut changed);
        // SAFETY: the shape is one number, or is refused.
        let error = unsafe { TensorView::from_dlpack(&changed) };
        error.unwrap_err().to_string()
    };
    let types = "expected elements of type f8E4M3FN, f8E5M2, f16, bf16, f32, f64, i8, u8, i32 or i64, found a DLDataType of code";
    assert_eq!(
        says(&|t| t.dtype.lanes = 4),
        format!("{types} 2, 32 bits and 4 lanes")
    );
    assert_eq!(
        says(&|t| t.dtype.code = 5),
        format!("{types} 5, 32 bits and 1 lanes")
    );
    assert_eq!(
        says(&|t| t.dtype.bits = 4),
        format!("{types} 2, 4 bits and 1 lanes")
    );
    assert_eq!(
        says(&|t| t.device.device_type = 10),
        "expected a tensor of the CPU (1, 3) or of CUDA (2, 13), found one of device type 10"
    );
    assert_eq!(
        says(&|t| t.device.device_id = -1),
        "expected a number of a device from 0, found -1"
    );
    for ndim in [-1, 65] {
        assert_eq!(
            says(&|t| t.ndim = ndim),
            format!("expected 0 to 64 dimensions, found {ndim}")
        );
    }
    assert_eq!(
        says(&|t| t.shape = std::ptr::null_mut()),
        "expected a shape, found a null pointer"
    );
    assert_eq!(
        says(&|t| t.byte_offset = u64::MAX - 15),
        "expected a byte_offset with which the first element is in the address space, found 18446744073709551600 from the address 0x1000"
    );
}

/// Programs of TVM-FFI give its number of reals where DLPack's belongs.
#[test]
fn reals_by_the_number_of_tvm_ffi_are_taken() {
    let element = |code, bits| {
        DLDataType {
            code,
            bits,
            lanes: 1,
        }
        .element()
    };
    assert_eq!(element(3, 32), Ok(Element::F32));
    assert_eq!(element(3, 16), Ok(Element::F16));
    // A handle stays none.
    assert!(element(3, 64).is_err());
}
