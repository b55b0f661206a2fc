//! The types that LLVM can take: what is asked before it is handed a kernel, since it does not ask itself.

use cute_ir::{
    Failure, diag,
    mlir::{
        Op, int_width, is_float, is_index, is_llvm_float, name_of, nested_ops, types_of,
        vector_extents,
    },
    types::CuteType,
};
use melior::ir::{Type, operation::OperationLike};

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
    if let Some(extents) = vector_extents(ty) {
        let extents = extents.into_iter().map(|extent| extent.max(0) as u64);
        let elements = extents.fold(1u64, u64::saturating_mul);
        return (elements > MOST_ELEMENTS).then(|| {
            format!(
                "expected a vector of at most {MOST_ELEMENTS} elements, which is more than a thread has registers for: \
                 spread the elements over threads, or go through them in a loop"
            )
        });
    }
    let wide = int_width(ty).is_some_and(|bits| bits > MOST_BITS);
    wide.then(|| {
        format!("expected an integer of at most {MOST_BITS} bits, the widest that PTX has")
    })
}

fn foreign(ty: Type) -> Option<String> {
    let ours = CuteType::get(ty).is_some();
    let known = !is_float(ty) || is_llvm_float(ty);
    (ours || !known || is_index(ty))
        .then(|| "expected a type that LLVM has: an integer, f16, bf16, f32, f64, a vector of them, or one of the llvm dialect".to_owned())
}
