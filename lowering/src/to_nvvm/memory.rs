//! Loads and stores of single elements.

use cute_ir::{
    Failure,
    mlir::{Builder, Val, element_bits},
    ops::llvm,
};
use melior::ir::{Type, ValueLike};

/// Loads one element.
pub(super) fn load_element<'c>(
    b: Builder<'c>,
    pointer: Val<'c>,
    ty: Type<'c>,
) -> Result<Val<'c>, Failure> {
    let alignment = [("alignment", b.i64_attribute(element_bytes(b, ty)?))];
    b.value(llvm::LOAD, &[pointer], ty, &alignment)
}

/// Stores one element.
pub(super) fn store_element<'c>(
    b: Builder<'c>,
    value: Val<'c>,
    pointer: Val<'c>,
) -> Result<(), Failure> {
    let bytes = element_bytes(b, value.r#type())?;
    let alignment = [("alignment", b.i64_attribute(bytes))];
    b.op(llvm::STORE, &[value, pointer], &[], &alignment)?;
    Ok(())
}

fn element_bytes<'c>(b: Builder<'c>, ty: Type<'c>) -> Result<i64, Failure> {
    element_bits(ty)
        .filter(|bits| bits % 8 == 0)
        .map(|bits| bits / 8)
        .ok_or_else(|| b.error(format!("expected elements of whole bytes, found {ty}")))
}
