//! Pointers as integers: `cute.ptrtoint` and `cute.inttoptr`.

use super::{address::Address, in_bytes};
use cute_ir::{
    Failure,
    mlir::{Builder, Val, replace_uses},
    ops::{cute, llvm},
    types::{CuteType, Space},
};
use melior::ir::ValueLike;

/// The address, without its swizzle, which acts on the address of each access.
pub(super) fn to_integer<'c>(
    op: cute::Ptrtoint<'c>,
    address: &Address<'c>,
    b: Builder<'c>,
) -> Result<(), Failure> {
    let mut address = address.clone();
    address.memref.swizzle = None;
    let pointer = address.pointer(b, 0)?;
    let result = op.address();
    let integer = b.value(llvm::PTRTOINT, &[pointer], result.r#type(), &[])?;
    replace_uses(result, integer);
    Ok(())
}

/// The pointer to the address `integer`.
pub(super) fn from_integer<'c>(
    op: cute::Inttoptr<'c>,
    integer: Val<'c>,
    b: Builder<'c>,
) -> Result<Address<'c>, Failure> {
    let Some(CuteType::Ptr(memref)) = CuteType::of(op.pointer().r#type()) else {
        return Err(b.error("expected a pointer"));
    };
    let memref = in_bytes(op.op(), memref)?;
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
    let space = match memref.space {
        Space::Smem => "!llvm.ptr<3>",
        _ => "!llvm.ptr<1>",
    };
    let pointer = b.value(llvm::INTTOPTR, &[integer], b.ty(space)?, &[])?;
    Ok(match memref.space {
        Space::Smem => Address::shared(pointer, &memref, 0),
        _ => Address::pointer_to(pointer, &memref),
    })
}
