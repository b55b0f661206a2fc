//! The types that LLVM can take: what is asked before it is handed a kernel, since it does not ask itself.

use cute_ir::{
    Failure,
    build::*,
    diag,
    types::{CuteType, is_float},
};
use melior::ir::{Type, TypeLike, operation::OperationLike};
use mlir_sys::*;

/// Elements of the longest vector: far more than a thread has registers for, as vectors are written out by element.
const MOST_ELEMENTS: u64 = 1 << 12;
/// Bits of the widest integer that PTX has instructions for, in pairs of registers (PTX ISA, 128-bit types).
const MOST_BITS: u32 = 128;

/// Checks the types of everything in a kernel or a module of kernels. Errors: a vector or an integer that is too large, and a type
/// in an operation of LLVM's that LLVM has not, such as one of ours as the element of an address computation.
pub(crate) fn check(within: Op<'_>) -> Result<(), Failure> {
    for op in std::iter::once(within).chain(nested_ops(within)) {
        let llvm = name_of(op).starts_with("llvm.") || name_of(op).starts_with("nvvm.");
        for ty in types_of(op) {
            let wrong = too_large(ty).or_else(|| if llvm { foreign(ty) } else { None });
            if let Some(expected) = wrong {
                return Err(diag::error(
                    op.location(),
                    format!("'{}' op has the type {ty}; {expected}", name_of(op)),
                ));
            }
        }
    }
    Ok(())
}

fn too_large(ty: Type) -> Option<String> {
    let raw = ty.to_raw();
    unsafe {
        if mlirTypeIsAVector(raw) {
            let dims = 0..mlirShapedTypeGetRank(raw) as isize;
            let elements = dims
                .map(|i| mlirShapedTypeGetDimSize(raw, i).max(0) as u64)
                .fold(1u64, u64::saturating_mul);
            return (elements > MOST_ELEMENTS).then(|| {
                format!(
                    "expected a vector of at most {MOST_ELEMENTS} elements, which is more than a thread has registers for: \
                     spread the elements over threads, or go through them in a loop"
                )
            });
        }
        (mlirTypeIsAInteger(raw) && mlirIntegerTypeGetWidth(raw) > MOST_BITS).then(|| {
            format!("expected an integer of at most {MOST_BITS} bits, the widest that PTX has")
        })
    }
}

fn foreign(ty: Type) -> Option<String> {
    let raw = ty.to_raw();
    let ours = CuteType::of(ty).is_some();
    let known = unsafe {
        let wide = [
            mlirTypeIsAF16(raw),
            mlirTypeIsABF16(raw),
            mlirTypeIsAF32(raw),
            mlirTypeIsAF64(raw),
        ];
        !is_float(ty) || wide.contains(&true)
    };
    let index = unsafe { mlirTypeIsAIndex(raw) };
    (ours || !known || index)
        .then(|| "expected a type that LLVM has: an integer, f16, bf16, f32, f64, a vector of them, or one of the llvm dialect".to_owned())
}
