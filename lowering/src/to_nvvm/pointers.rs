//! Pointers as integers: `cute.ptrtoint` and `cute.inttoptr`.

use super::address::Address;
use cute_ir::{
    Failure,
    args::leaves_of,
    mlir::{Builder, defining_op, replace_uses},
    ops::{cute, llvm},
    types::{MemRef, Space},
};
use melior::ir::ValueLike;

/// The address, without its swizzle, which acts on the address of each access.
pub(super) fn to_integer<'c>(
    op: cute::Ptrtoint<'c>,
    address: &Address<'c>,
    b: Builder<'c>,
) -> Result<(), Failure> {
    let pointer = address.pointer(b, None)?;
    let result = op.address();
    let integer = b.value(llvm::PTRTOINT, &[pointer], result.r#type(), &[])?;
    replace_uses(result, integer);
    Ok(())
}

/// The pointer of type `memref` to the address that an integer is.
pub(super) fn from_integer<'c>(
    op: cute::Inttoptr<'c>,
    memref: &MemRef<'c>,
    b: Builder<'c>,
) -> Result<Address<'c>, Failure> {
    if let Some(swizzle) = memref.swizzle
        && memref.align % swizzle.period() != 0
    {
        return Err(b.error(format!(
            "'cute.inttoptr' makes a pointer swizzled by {swizzle} of an address that is a multiple of {}; expected one of {}: \
             write align<{}>",
            memref.align,
            swizzle.period(),
            swizzle.period()
        )));
    }
    let leaves = defining_op(op.address()).and_then(leaves_of);
    let integer = leaves.and_then(|leaves| leaves.first().copied());
    let integer = integer.unwrap_or(op.address());
    let space = match memref.space {
        Space::Smem => "!llvm.ptr<3>",
        _ => "!llvm.ptr<1>",
    };
    let pointer = b.value(llvm::INTTOPTR, &[integer], b.ty(space)?, &[])?;
    Ok(match memref.space {
        Space::Smem => Address::shared(pointer, 0),
        _ => Address::pointer_to(pointer),
    })
}
