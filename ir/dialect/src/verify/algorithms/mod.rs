//! Tensors and what is done with them: copies (`copy.rs`), products (`gemm.rs`), regions of what is multiplied (`prologue.rs`),
//! copies of tiles within bounds (`tile.rs`), elementwise ops (`elementwise.rs`), maps of whole tensors (`map.rs`), candidates for products (`candidates.rs`), outputs that are reduced
//! (`reduced.rs`), what regions are made of (`regions.rs`).

mod candidates;
mod copy;
mod elementwise;
mod gemm;
mod located;
mod map;
mod prologue;
mod reduced;
mod regions;
mod tile;

pub(super) use candidates::*;
pub(super) use copy::*;
pub(super) use elementwise::*;
pub(super) use gemm::*;
pub(super) use map::*;
pub(super) use regions::check_regions;
pub(super) use tile::*;

use super::{Checked, facts::is_on_device, tensor};
use crate::mlir::*;
use crate::ops::cute;
use crate::types::{self, CuteType, Space};
use melior::ir::{Type, ValueLike};

pub(super) fn verify_alloca(op: cute::MemrefAlloca<'_>) -> Checked {
    let Some(CuteType::MemRef(memref)) = CuteType::of(op.result().r#type()) else {
        return Err("expected a tensor".to_owned());
    };
    if memref.space == Space::Gmem {
        return Err("allocates in gmem; expected smem or rmem: pass it as an argument".to_owned());
    }
    memref.check_allocation()?;
    if let Some(given) = op.layout()
        && let expected = types::composed_type(
            context_of_type(given.r#type()),
            memref.inner.as_ref(),
            &memref.layout,
        )
        && expected != given.r#type()
    {
        return Err(format!(
            "expected a layout of type {expected}, as the tensor has, found {}",
            given.r#type()
        ));
    }
    memref.check_addressable()?;
    if let Some(offset) = op.offset() {
        let offset = integer_value(offset).unwrap_or(-1);
        if offset < 0 || offset % memref.align != 0 {
            return Err(format!(
                "expected an offset that is a multiple of the alignment {}, found {offset}",
                memref.align
            ));
        }
    }
    Ok(())
}

/// The alignment in bytes of the first byte of a workspace, which packages promise.
const WORKSPACE_ALIGN: i64 = 256;

pub(super) fn verify_workspace(op: cute::Workspace<'_>) -> Checked {
    let Some(CuteType::Ptr(pointer)) = CuteType::of(op.pointer().r#type()) else {
        return Err("expected a pointer".to_owned());
    };
    if is_on_device(op.op()) {
        return Err(
            "is for the host function that launches; expected it outside of kernels, and its pointer passed on as an argument"
                .to_owned(),
        );
    }
    if pointer.space != Space::Gmem {
        return Err(format!(
            "expected a pointer into gmem, found {}",
            op.pointer().r#type()
        ));
    }
    if WORKSPACE_ALIGN % pointer.align != 0 {
        return Err(format!(
            "expected an alignment of at most {WORKSPACE_ALIGN} bytes, which packages promise of a workspace, found {}",
            pointer.align
        ));
    }
    Ok(())
}

/// Checks that numbers of the one type may become numbers of the other.
fn check_conversion(from: Type, to: Type) -> Checked {
    if from == to {
        return Err(format!(
            "expected two types, found {from} and {to}; elements that are of the type already need no conversion"
        ));
    }
    for ty in [from, to] {
        let bits = types::element_bits(ty).unwrap_or(0);
        let known = match types::is_float(ty) {
            true => matches!(
                ty.to_string().as_str(),
                "f16" | "bf16" | "f32" | "f64" | "f8E4M3FN" | "f8E5M2"
            ),
            false => matches!(bits, 8 | 16 | 32 | 64),
        };
        if !known {
            return Err(format!(
                "converts {from} to {to}, and {ty} has no conversion; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64, or integers of 8, 16, 32 or 64 bits"
            ));
        }
    }
    let is_wide = types::is_float(from) && types::element_bits(from) == Some(64);
    if is_wide && types::is_float(to) && types::element_bits(to) == Some(8) {
        return Err(format!(
            "converts {from} to {to}, which no GPU does at once; convert to f32 first"
        ));
    }
    Ok(())
}

pub(super) fn verify_convert(op: cute::Convert<'_>) -> Checked {
    let source = tensor(0, op.tensor())?;
    let Some(CuteType::MemRef(result)) = CuteType::of(op.result().r#type()) else {
        return Err("expected a tensor".to_owned());
    };
    if source.space != Space::Rmem || result.space != Space::Rmem {
        return Err("expected tensors in rmem".to_owned());
    }
    let (from, to) = (source.element, result.element);
    check_conversion(from, to)?;
    if let Some(element) = op.element().and_then(type_value)
        && element != to
    {
        return Err(format!(
            "expected a result of {element}, as it says behind 'to', found one of {to}"
        ));
    }
    if source.layout != result.layout {
        return Err(format!(
            "expected the same layout, found {} and {}",
            source.layout, result.layout
        ));
    }
    Ok(())
}
