//! The atoms of TMA: which box a tensor map has, and what is written where.

use super::{CuteType, kind::Kind, make::parts, text::parse_layout};
use crate::{
    diag::Failure,
    mlir::{Parts, element_bits, type_of},
};
use cute_layout::tma::{PixelBox, TmaBox};
use melior::ir::{Location, Type};
use std::sync::Arc;

/// The atom of these parts. Errors: a box that no tensor map has, or of other bits than it says.
pub(super) fn from_parts<'c>(parts: &Parts<'c, '_>) -> Result<CuteType<'c>, String> {
    let value = parts.types[0];
    let width = bits_of(value)?;
    // A tensor map of CuTe DSL, or an atom of one, does not say the swizzle.
    let is_map = matches!(parts.kind, Kind::NonExecTmaLoad | Kind::NonExecTmaStore)
        || parts.ints.get(1) == Some(&-1);
    let basis = match parts.kind {
        Kind::NonExecTmaLoad if parts.texts[0] != "sm_90" => {
            return Err(format!(
                "expected sm_90, loads of one block, found {}; there are no loads of SM100's pairs of blocks here",
                parts.texts[0]
            ));
        }
        Kind::NonExecTmaLoad => parts.texts[1],
        _ => parts.texts[0],
    };
    let swizzle = if is_map { 0 } else { parts.ints[1] };
    let im2col = match parts.kind {
        Kind::Im2colTmaLoad => Some(pixels(&parts.texts[1..4])?),
        _ => None,
    };
    let map =
        TmaBox::from_basis(&parse_layout(basis)?, swizzle, im2col).map_err(|e| e.to_string())?;
    let bits = map.size() * width;
    if parts.ints[0] != bits {
        return Err(format!(
            "expected copy_bits = {bits}, those of {} elements of {value}, found {}",
            map.size(),
            parts.ints[0]
        ));
    }
    let stores = matches!(parts.kind, Kind::TmaStore | Kind::NonExecTmaStore);
    let map = Arc::new(map);
    Ok(match is_map {
        true => CuteType::TensorMap { value, map, stores },
        false => CuteType::Tma { value, map, stores },
    })
}

/// The corners and strides of these texts. Errors: what no tensor map has.
fn pixels(texts: &[&str]) -> Result<PixelBox, String> {
    let list = |text: &str| -> Result<Vec<i64>, String> {
        let found = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let found = found.map(|text| text.split(',').map(str::parse).collect());
        let found: Option<Vec<i64>> = found.and_then(Result::ok);
        // One text for one type.
        found.filter(|found| written(found) == text).ok_or_else(|| {
            format!("expected a number along W, and perhaps H and D, such as (-1,-1), found {text}")
        })
    };
    let [lower, upper, strides] = texts else {
        return Err("expected corners and strides".to_owned());
    };
    let pixels = PixelBox {
        lower: list(lower)?,
        upper: list(upper)?,
        strides: list(strides)?,
    };
    pixels.check().map_err(|e| e.to_string())?;
    Ok(pixels)
}

/// Numbers as a text of a type.
fn written(numbers: &[i64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
    format!("({})", numbers.join(","))
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
    let kind = match (stores, &map.im2col) {
        (true, _) => Kind::TmaStore,
        (false, None) => Kind::TmaLoad,
        (false, Some(_)) => Kind::Im2colTmaLoad,
    };
    let mut texts = vec![basis];
    if let Some(pixels) = &map.im2col {
        texts.extend([&pixels.lower, &pixels.upper, &pixels.strides].map(|all| written(all)));
    }
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    type_of(
        location,
        &parts(kind, &[value], &texts, &[bits, map.swizzle]),
    )
}
