//! Tensor maps as the driver encodes them.

use std::ffi::c_void;

use cudarc::driver::sys;
use sys::CUtensorMapDataType as DataType;
use sys::CUtensorMapFloatOOBfill as Fill;
use sys::CUtensorMapInterleave as Interleaved;
use sys::CUtensorMapL2promotion as Promotion;
use sys::CUtensorMapSwizzle as Swizzle;

use super::driver::check;
use crate::device::DeviceError;
use crate::tensor_map::{Interleave, L2Promotion, MapElement, MapSwizzle, OobFill, TensorMap};

/// The version of the driver's interface that has tensor maps.
const SINCE: i32 = 12000;

fn element(element: MapElement) -> DataType {
    match element {
        MapElement::U8 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        MapElement::U16 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        MapElement::U32 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        MapElement::S32 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        MapElement::U64 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        MapElement::S64 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        MapElement::F16 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        MapElement::F32 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        MapElement::F64 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        MapElement::Bf16 => DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        MapElement::F32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        MapElement::Tf32 => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        MapElement::Tf32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    }
}

fn interleave(interleave: Interleave) -> Interleaved {
    match interleave {
        Interleave::None => Interleaved::CU_TENSOR_MAP_INTERLEAVE_NONE,
        Interleave::B16 => Interleaved::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::B32 => Interleaved::CU_TENSOR_MAP_INTERLEAVE_32B,
    }
}

fn swizzle(swizzle: MapSwizzle) -> Swizzle {
    match swizzle {
        MapSwizzle::None => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        MapSwizzle::B32 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        MapSwizzle::B64 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        MapSwizzle::B128 => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

fn promotion(promotion: L2Promotion) -> Promotion {
    match promotion {
        L2Promotion::None => Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::B64 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn fill(fill: OobFill) -> Fill {
    match fill {
        OobFill::Zero => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OobFill::Nan => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    }
}

fn unsupported(expected: &str, found: String, cure: &'static str) -> DeviceError {
    DeviceError::Unsupported {
        place: "a tensor map of the launch".to_owned(),
        expected: expected.to_owned(),
        found,
        cure,
    }
}

/// The bytes of a map of a tensor at that address, or at the one that the map itself says where it has none.
///
/// # Errors
/// A map that breaks a rule, a driver that has no tensor maps, and what the driver says.
pub(super) fn encode(map: &TensorMap, address: u64) -> Result<sys::CUtensorMap, DeviceError> {
    let allowed = TensorMap::check_address(address).and_then(|()| map.check());
    allowed.map_err(|error| {
        unsupported(
            "a tensor that a map can have",
            error.to_string(),
            "pass a tensor that is laid out so",
        )
    })?;
    let mut version = 0;
    // SAFETY: the pointer is to a live variable.
    check("cuDriverGetVersion", unsafe {
        sys::cuDriverGetVersion(&mut version)
    })?;
    if version < SINCE {
        return Err(unsupported(
            "a driver of CUDA 12 or later, which encodes tensor maps",
            format!("one of CUDA {}.{}", version / 1000, version % 1000 / 10),
            "update the driver",
        ));
    }
    let mut encoded = sys::CUtensorMap { opaque: [0; 16] };
    // A tensor without elements may be nowhere; nothing of it is copied.
    let address = address.max(map.address) as *mut c_void;
    let (name, result) = match &map.im2col {
        // SAFETY: the lists have as many entries as the map has modes, that of strides one less, which was checked; they and the result live
        // during the call, and the address is of memory that the driver only notes.
        None => ("cuTensorMapEncodeTiled", unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut encoded,
                element(map.element),
                map.rank() as u32,
                address,
                map.sizes.as_ptr(),
                map.strides.as_ptr(),
                map.box_sizes.as_ptr(),
                map.element_strides.as_ptr(),
                interleave(map.interleave),
                swizzle(map.swizzle),
                promotion(map.l2_promotion),
                fill(map.oob_fill),
            )
        }),
        // SAFETY: as above; the corners have two entries less than the map has modes, and there are two extents of a column.
        Some(pixels) => ("cuTensorMapEncodeIm2col", unsafe {
            sys::cuTensorMapEncodeIm2col(
                &mut encoded,
                element(map.element),
                map.rank() as u32,
                address,
                map.sizes.as_ptr(),
                map.strides.as_ptr(),
                pixels.lower.as_ptr(),
                pixels.upper.as_ptr(),
                map.box_sizes[0],
                map.box_sizes[1],
                map.element_strides.as_ptr(),
                interleave(map.interleave),
                swizzle(map.swizzle),
                promotion(map.l2_promotion),
                fill(map.oob_fill),
            )
        }),
    };
    check(name, result)?;
    Ok(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_driver() {
        for one in MapElement::ALL {
            assert_eq!(element(one) as u32, one.driver());
        }
        for one in MapSwizzle::ALL {
            assert_eq!(swizzle(one) as u32, one.driver());
        }
        for one in L2Promotion::ALL {
            assert_eq!(promotion(one) as u32, one.driver());
        }
        for one in [Interleave::None, Interleave::B16, Interleave::B32] {
            assert_eq!(interleave(one) as u32, one.driver());
        }
        for one in [OobFill::Zero, OobFill::Nan] {
            assert_eq!(fill(one) as u32, one.driver());
        }
    }
}
