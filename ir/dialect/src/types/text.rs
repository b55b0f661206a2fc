//! The texts of the layout algebra.

use super::kind::Kind;
use cute_layout::{ComposedLayout, Inner, IntTuple, Kind as TupleKind, Layout, Swizzle, Tile};

pub(super) fn tuple(text: &str, kind: TupleKind) -> Result<IntTuple, String> {
    IntTuple::parse(text, kind).map_err(|e| e.to_string())
}

/// The canonical text of a value of the layout algebra, as a type or an attribute carries it.
pub(crate) fn canonicalize(kind: Kind, text: &str) -> Result<String, String> {
    Ok(match kind {
        Kind::IntTuple => tuple(text, TupleKind::IntTuple)?.to_string(),
        Kind::Shape => tuple(text, TupleKind::Shape)?.to_string(),
        Kind::Stride => tuple(text, TupleKind::Stride)?.to_string(),
        Kind::Coord => tuple(text, TupleKind::Coord)?.to_string(),
        Kind::Layout => parse_layout(text)?.to_string(),
        Kind::Tile => parse_tile(text)?.to_string(),
        Kind::Swizzle => parse_swizzle(text)?.to_string(),
        Kind::ComposedLayout => parse_composed(text)?.to_string(),
        Kind::MemRef => match parse_memref_layout(text)? {
            (Some((swizzle, offset)), layout) => format!("{swizzle} o {offset} o {layout}"),
            (None, layout) => layout.to_string(),
        },
        _ => return Err("this type has no canonical text".to_owned()),
    })
}

pub(super) fn parse_layout(text: &str) -> Result<Layout, String> {
    Layout::parse(text).map_err(|e| e.to_string())
}
/// A tensor's layout: a swizzle of the offset and what is added before it, if any, and the layout behind them.
pub(super) fn parse_memref_layout(
    text: &str,
) -> Result<(Option<(Swizzle, IntTuple)>, Layout), String> {
    if !text.contains('o') {
        return Ok((None, parse_layout(text)?));
    }
    let composed = ComposedLayout::parse(text).map_err(|e| e.to_string())?;
    let outer = composed.outer().clone();
    match composed.inner() {
        Inner::Swizzle(swizzle) if swizzle.b() == 0 && composed.offset().as_static() == Some(0) => {
            Ok((None, outer))
        }
        Inner::Swizzle(swizzle) => Ok((Some((*swizzle, composed.offset().clone())), outer)),
        Inner::Layout(_) => Err(format!(
            "expected a tensor whose layout is swizzled, found {composed}; give the composition of the two layouts"
        )),
    }
}
pub(super) fn parse_tile(text: &str) -> Result<Tile, String> {
    Tile::parse(text).map_err(|e| e.to_string())
}
pub(super) fn parse_swizzle(text: &str) -> Result<Swizzle, String> {
    Swizzle::parse(text).map_err(|e| e.to_string())
}

/// A composed layout; one that is its outer layout has the type of that.
pub(super) fn parse_composed(text: &str) -> Result<ComposedLayout, String> {
    let composed = ComposedLayout::parse(text).map_err(|e| e.to_string())?;
    if matches!(composed.inner(), Inner::Swizzle(swizzle) if swizzle.b() == 0)
        && composed.offset().as_static() == Some(0)
    {
        return Err(format!(
            "expected a composed layout with swizzle bits or an offset, found {composed}; write \
             !cute.layout<\"{}\">",
            composed.outer()
        ));
    }
    Ok(composed)
}
