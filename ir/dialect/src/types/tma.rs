//! The atoms of TMA: which box a tensor map has, and what is written where.

use super::{CuteType, kind::Kind, make::parts, text::parse_layout};
use crate::{
    diag::Failure,
    mlir::{Parts, element_bits, type_of},
};
use cute_layout::tma::TmaBox;
use melior::ir::{Location, Type};
use std::sync::Arc;

/// The atom of these parts. Errors: a box that no tensor map has, or of other bits than it says.
pub(super) fn from_parts<'c>(parts: &Parts<'c, '_>) -> Result<CuteType<'c>, String> {
    let value = parts.types[0];
    let width = bits_of(value)?;
    let map = TmaBox::from_basis(&parse_layout(parts.texts[0])?, parts.ints[1])
        .map_err(|e| e.to_string())?;
    let bits = map.size() * width;
    if parts.ints[0] != bits {
        return Err(format!(
            "expected copy_bits = {bits}, those of {} elements of {value}, found {}",
            map.size(),
            parts.ints[0]
        ));
    }
    Ok(CuteType::Tma {
        value,
        map: Arc::new(map),
        stores: parts.kind == Kind::TmaStore,
    })
}

/// Bits of an element that TMA moves.
fn bits_of(element: Type<'_>) -> Result<i64, String> {
    element_bits(element)
        .filter(|bits| matches!(bits, 8 | 16 | 32 | 64))
        .ok_or_else(|| format!("expected elements of 8, 16, 32 or 64 bits, found {element}"))
}

/// The type of a TMA atom of that box.
pub fn tma_type<'c>(
    location: Location<'c>,
    value: Type<'c>,
    map: &TmaBox,
    stores: bool,
) -> Result<Type<'c>, Failure> {
    let wrong = |e: String| crate::diag::error(location, e);
    let bits = bits_of(value).map_err(wrong)? * map.size();
    let basis = map.basis().map_err(|e| wrong(e.to_string()))?.to_string();
    let kind = if stores {
        Kind::TmaStore
    } else {
        Kind::TmaLoad
    };
    type_of(
        location,
        &parts(kind, &[value], &[&basis], &[bits, map.swizzle]),
    )
}
