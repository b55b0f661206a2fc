//! Types that name parameters, and what they are once those are known.

use super::{kind::Kind, text};
use crate::{
    diag::{self, Failure},
    mlir::{Parts, element_bits, parts_of_type, type_of, vector_of},
};
use cute_layout::parameter::{self, Parameters};
use melior::ir::{Location, Type};

/// The values of parameters, as types ask for them.
pub(crate) struct Values<'c, 'p> {
    /// Integers, layouts and tiles.
    pub texts: &'p Parameters<'p>,
    /// Types.
    pub types: &'p dyn Fn(&str) -> Result<Type<'c>, String>,
    /// All of them, for messages.
    pub said: &'p dyn std::fmt::Display,
}

/// The kinds of the texts of a type that may name parameters, in their order.
fn text_kinds(kind: Kind) -> &'static [Option<Kind>] {
    use Kind::{
        ArithTupleIter, ComposedLayout, Coord, CoordTensor, IntTuple, Layout, MemRef, Ptr, Shape,
        Stride, Swizzle, Tile, TiledCopy, TiledMma,
    };
    match kind {
        IntTuple | ArithTupleIter => &[Some(IntTuple)],
        Shape => &[Some(Shape)],
        Stride => &[Some(Stride)],
        Coord => &[Some(Coord)],
        Layout => &[Some(Layout)],
        Tile => &[Some(Tile)],
        Swizzle => &[Some(Swizzle)],
        ComposedLayout => &[Some(ComposedLayout)],
        Ptr => &[None, None],
        MemRef => &[None, None, Some(MemRef)],
        CoordTensor => &[Some(IntTuple), Some(Layout)],
        TiledCopy | TiledMma => &[Some(Layout), Some(Tile)],
        _ => &[],
    }
}

/// Tells whether a type of these parts is not known before parameters are. Errors: a parameter in a text where none is read.
pub(super) fn is_open(parts: &Parts<'_, '_>) -> Result<bool, String> {
    if matches!(parts.kind, Kind::Any | Kind::Param | Kind::Counted) {
        return Ok(true);
    }
    let mut open = parts.types.iter().any(|ty| names_parameters(*ty));
    for (i, written) in parts.texts.iter().enumerate() {
        if !text::is_generic(written) {
            continue;
        }
        let Some(Some(kind)) = text_kinds(parts.kind).get(i) else {
            return Err(format!(
                "expected a text without parameters, found \"{written}\""
            ));
        };
        text::canonicalize(*kind, written)?;
        open = true;
    }
    Ok(open)
}

/// Tells whether it is a type that names parameters, or that each call gives.
fn names_parameters(ty: Type<'_>) -> bool {
    if let Some((_, element)) = vector_of(ty) {
        return names_parameters(element);
    }
    matches!(super::CuteType::get(ty), Some(super::CuteType::Any))
}

/// The type with the values of its parameters in their places; nothing where it names none. Errors, at `location`: a text that is none with these
/// values, a parameter that is not there, and parts that no such type has.
pub(crate) fn with_values<'c>(
    ty: Type<'c>,
    values: &Values<'c, '_>,
    location: Location<'c>,
) -> Result<Option<Type<'c>>, Failure> {
    let wrong = |message: String| {
        let said = values.said;
        diag::error(location, format!("in the type {ty} with {said}: {message}"))
    };
    if let Some((length, element)) = vector_of(ty) {
        let Some(given) = with_values(element, values, location)? else {
            return Ok(None);
        };
        return vector(length, given).map(Some).map_err(wrong);
    }
    let Some(parts) = parts_of_type(ty) else {
        return Ok(None);
    };
    let mut parts = parts.map_err(wrong)?;
    match parts.kind {
        Kind::Any => return Ok(None),
        Kind::Param => {
            let given = (values.types)(parts.texts[0]);
            return given.map(Some).map_err(wrong);
        }
        Kind::Counted => {
            let element = with_values(parts.types[0], values, location)?;
            let length = parameter::evaluate(parts.texts[0], values.texts);
            let length = length.map_err(|e| wrong(e.to_string()))?;
            let element = element.unwrap_or(parts.types[0]);
            return vector(length.unwrap_or_default(), element)
                .map(Some)
                .map_err(wrong);
        }
        _ => {}
    }
    let mut changed = false;
    for (i, part) in parts.types.iter_mut().enumerate() {
        let Some(given) = with_values(*part, values, location)? else {
            continue;
        };
        // An alignment that is not written is the element's own.
        if i == 0 && matches!(parts.kind, Kind::Ptr | Kind::MemRef) && parts.ints[0] == 1 {
            parts.ints[0] = element_bits(given).map_or(1, |bits| (bits / 8).max(1));
        }
        *part = given;
        changed = true;
    }
    let mut texts: Vec<String> = parts.texts.iter().map(|text| (*text).to_owned()).collect();
    for (written, kind) in texts.iter_mut().zip(text_kinds(parts.kind)) {
        if let Some(kind) = kind.filter(|_| text::is_generic(written)) {
            *written = text::evaluate(kind, written, values.texts).map_err(wrong)?;
            changed = true;
        }
    }
    if !changed {
        return Ok(None);
    }
    let given = Parts {
        kind: parts.kind,
        types: parts.types,
        texts: texts.iter().map(String::as_str).collect(),
        ints: parts.ints,
        arrays: parts.arrays,
    };
    type_of(location, &given).map(Some)
}

/// The vector of so many elements. Errors: none, and a type that no element has.
fn vector(length: i64, element: Type<'_>) -> Result<Type<'_>, String> {
    if element_bits(element).is_none() {
        return Err(format!(
            "expected an integer or floating-point type as element, found {element}"
        ));
    }
    match u64::try_from(length) {
        Ok(length @ 1..) => Ok(Type::vector(&[length], element)),
        _ => Err(format!("expected at least one element, found {length}")),
    }
}

/// The names of the parameters that a type names.
pub(crate) fn names_in_type(ty: Type<'_>) -> Vec<String> {
    if let Some((_, element)) = vector_of(ty) {
        return names_in_type(element);
    }
    let Some(Ok(parts)) = parts_of_type(ty) else {
        return Vec::new();
    };
    if parts.kind == Kind::Param {
        return vec![parts.texts[0].to_owned()];
    }
    let types = parts.types.iter().flat_map(|ty| names_in_type(*ty));
    let texts = parts
        .texts
        .iter()
        .flat_map(|text| text::names_in(text, false));
    types.chain(texts).collect()
}
