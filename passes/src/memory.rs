//! Tensors and pointers as values: which memory they are of.

use cute_ir::{
    mlir::*,
    types::{CuteType, Space, memref_of},
};
use melior::ir::ValueLike;

/// The allocation or argument that a tensor or a pointer is of; where a loop, a branch or a choice gives it, that.
pub fn root_of(value: Val<'_>) -> Val<'_> {
    let mut value = value;
    while let Some(op) = defining_op(value) {
        // A view only computes, and is of one tensor: what makes memory of its own has that as an effect.
        let mut of = operands_of(op).into_iter().filter(|v| is_memory(*v));
        let (Some(source), None) = (of.next(), of.next()) else {
            break;
        };
        if !is_pure(op) {
            break;
        }
        value = source;
    }
    value
}

/// Tells whether a value is a tensor or a pointer.
pub fn is_memory(value: Val<'_>) -> bool {
    matches!(
        CuteType::of(value.r#type()),
        Some(CuteType::MemRef(_) | CuteType::Ptr(_))
    )
}

/// The space of a tensor's elements.
pub(crate) fn space_of(value: Val<'_>) -> Option<Space> {
    memref_of(value).map(|memref| memref.space)
}
