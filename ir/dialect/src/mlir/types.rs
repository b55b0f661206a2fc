//! Builtin types, asked what they are.

use super::{Op, attribute_of, ffi, type_value};
use melior::{
    Context,
    ir::{Type, TypeLike},
};
use mlir_sys::*;
use std::ffi::c_void;

/// The width of an integer or floating-point type in bits.
pub fn element_bits(ty: Type) -> Option<i64> {
    let raw = ty.to_raw();
    // SAFETY: a type lives as long as its context; widths are asked of types that have one.
    unsafe {
        if mlirTypeIsAInteger(raw) {
            Some(mlirIntegerTypeGetWidth(raw).into())
        } else if mlirTypeIsATF32(raw) {
            // MLIR counts the 19 bits that matter.
            Some(32)
        } else if mlirTypeIsAFloat(raw) {
            Some(mlirFloatTypeGetWidth(raw).into())
        } else {
            None
        }
    }
}

/// The type that registers hold values of this type in, which is one that LLVM has: of 8-bit floats and of integers with a
/// sign, signless integers of their width; of tf32, f32.
pub fn register_type(ty: Type<'_>) -> Type<'_> {
    let raw = ty.to_raw();
    // SAFETY: as above; the new types are of the same context.
    unsafe {
        let context = mlirTypeGetContext(raw);
        let small = mlirTypeIsAFloat(raw) && mlirFloatTypeGetWidth(raw) <= 8;
        if mlirTypeIsATF32(raw) {
            Type::from_raw(mlirF32TypeGet(context))
        } else if small {
            Type::from_raw(mlirIntegerTypeGet(context, mlirFloatTypeGetWidth(raw)))
        } else if mlirTypeIsAInteger(raw) && !mlirIntegerTypeIsSignless(raw) {
            Type::from_raw(mlirIntegerTypeGet(context, mlirIntegerTypeGetWidth(raw)))
        } else {
            ty
        }
    }
}

/// Tells whether elements of the one type are moved to those of the other as they are: the types are one, or one is what registers
/// hold the other in (f32 for tf32, i8 for 8-bit floats and unsigned integers).
pub fn same_bits(a: Type, b: Type) -> bool {
    a == b || register_type(a) == b || register_type(b) == a
}

/// The width of an integer type.
pub fn int_width(ty: Type) -> Option<u32> {
    let raw = ty.to_raw();
    // SAFETY: the width is asked of an integer.
    unsafe { mlirTypeIsAInteger(raw).then(|| mlirIntegerTypeGetWidth(raw)) }
}

/// Tells whether it is a floating-point type.
pub fn is_float(ty: Type) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAFloat(ty.to_raw()) }
}

/// Tells whether it is a floating-point type that LLVM has: f16, bf16, f32 or f64.
pub fn is_llvm_float(ty: Type) -> bool {
    let raw = ty.to_raw();
    // SAFETY: any type may be asked.
    unsafe {
        mlirTypeIsAF16(raw) || mlirTypeIsABF16(raw) || mlirTypeIsAF32(raw) || mlirTypeIsAF64(raw)
    }
}

/// Tells whether it is `index`.
pub fn is_index(ty: Type) -> bool {
    // SAFETY: any type may be asked.
    unsafe { mlirTypeIsAIndex(ty.to_raw()) }
}

/// The extents of a vector type; a scalable one counts as its least.
pub fn vector_extents(ty: Type) -> Option<Vec<i64>> {
    let raw = ty.to_raw();
    // SAFETY: extents are asked of a vector, below its rank.
    unsafe {
        mlirTypeIsAVector(raw).then(|| {
            (0..mlirShapedTypeGetRank(raw) as isize)
                .map(|i| mlirShapedTypeGetDimSize(raw, i))
                .collect()
        })
    }
}

/// The number of elements and the element type of a one-dimensional vector type.
pub fn vector_of(ty: Type<'_>) -> Option<(i64, Type<'_>)> {
    let [extent] = vector_extents(ty)?[..] else {
        return None;
    };
    // SAFETY: the element type is asked of a vector.
    let element = unsafe { Type::from_raw(mlirShapedTypeGetElementType(ty.to_raw())) };
    Some((extent, element))
}

/// The inputs and the results of a function type.
pub fn function_types(ty: Type<'_>) -> Option<(Vec<Type<'_>>, Vec<Type<'_>>)> {
    let raw = ty.to_raw();
    // SAFETY: inputs and results are asked of a function type, below their numbers.
    unsafe {
        mlirTypeIsAFunction(raw).then(|| {
            let inputs = 0..mlirFunctionTypeGetNumInputs(raw);
            let results = 0..mlirFunctionTypeGetNumResults(raw);
            (
                inputs
                    .map(|i| Type::from_raw(mlirFunctionTypeGetInput(raw, i)))
                    .collect(),
                results
                    .map(|i| Type::from_raw(mlirFunctionTypeGetResult(raw, i)))
                    .collect(),
            )
        })
    }
}

/// The inputs and the results of a function; nothing of ops that are none.
pub fn signature_of(op: Op<'_>) -> Option<(Vec<Type<'_>>, Vec<Type<'_>>)> {
    attribute_of(op, "function_type")
        .and_then(type_value)
        .and_then(function_types)
}

/// The function type of these inputs and results.
pub fn function_type<'c>(
    context: &'c Context,
    inputs: &[Type<'c>],
    results: &[Type<'c>],
) -> Type<'c> {
    melior::ir::r#type::FunctionType::new(context, inputs, results).into()
}

/// The types of an op's results, of its regions' arguments and in its attributes, and the types that those are made of.
pub fn types_of<'c>(op: Op<'c>) -> Vec<Type<'c>> {
    unsafe extern "C" fn sink(ty: MlirType, user: *mut c_void) {
        // SAFETY: `user` is the list below, which nobody else has meanwhile.
        let types = unsafe { &mut *user.cast::<Vec<MlirType>>() };
        types.push(ty);
    }
    let mut types: Vec<MlirType> = Vec::new();
    // SAFETY: the list outlives the walk, and the types are of the op's context.
    unsafe {
        ffi::cuteWalkTypes(op.to_raw(), sink, std::ptr::from_mut(&mut types).cast());
        types.into_iter().map(|ty| Type::from_raw(ty)).collect()
    }
}
