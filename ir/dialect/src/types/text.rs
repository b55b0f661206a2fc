//! The texts of the layout algebra.

use super::kind::Kind;
use cute_layout::{
    ComposedLayout, Inner, IntTuple, Kind as TupleKind, Layout, Swizzle, Tile,
    parameter::{self, Parameter, Parameters},
};
use std::cell::RefCell;

pub(super) fn tuple(text: &str, kind: TupleKind) -> Result<IntTuple, String> {
    IntTuple::parse(text, kind).map_err(|e| e.to_string())
}

/// The canonical text of a value of the layout algebra, as a type or an attribute carries it. One that names parameters is checked as far as it
/// is known, and kept as it is written, without blanks.
pub(crate) fn canonicalize(kind: Kind, text: &str) -> Result<String, String> {
    if kind == Kind::Param {
        return match parameter::name_of(text) {
            Some(name) => Ok(name.to_owned()),
            None => Err(format!(
                "expected the name of a parameter, which begins with a letter or `_`, found \"{text}\""
            )),
        };
    }
    if is_generic(text) {
        evaluate(kind, text, &|_| Ok(Parameter::Unknown))?;
        return Ok(without_blanks(text));
    }
    Ok(match kind {
        Kind::IntTuple => tuple(text, TupleKind::IntTuple)?.to_string(),
        Kind::Shape => tuple(text, TupleKind::Shape)?.to_string(),
        Kind::Stride => tuple(text, TupleKind::Stride)?.to_string(),
        Kind::Coord => tuple(text, TupleKind::Coord)?.to_string(),
        Kind::Layout => parse_layout(text)?.to_string(),
        Kind::Tile => parse_tile(text)?.to_string(),
        Kind::Swizzle => parse_swizzle(text)?.to_string(),
        Kind::ComposedLayout => parse_composed(text)?.to_string(),
        Kind::MemRef => memref_text(parse_memref_layout(text)?),
        _ => return Err("this type has no canonical text".to_owned()),
    })
}

/// The canonical text of a value that is written with parameters, with what they stand for. Errors: of parameters that are unknown, a text that
/// is none for whatever they are.
pub(crate) fn evaluate(
    kind: Kind,
    text: &str,
    parameters: &Parameters<'_>,
) -> Result<String, String> {
    let tuple = |kind| IntTuple::parse_with(text, kind, parameters).map(|t| t.to_string());
    let layout = || Layout::parse_with(text, parameters);
    let of_tensor = || Layout::parse_of_tensor(text, Some(parameters));
    let composed = || {
        let composed = ComposedLayout::parse_with(text, parameters).map_err(|e| e.to_string())?;
        // A text whose parameters are unknown may mean more than it says.
        match canonicalize(Kind::ComposedLayout, &composed.to_string()) {
            Err(_) if is_unknown(parameters, text) => Ok(composed.to_string()),
            checked => checked,
        }
    };
    let text = match kind {
        Kind::IntTuple => tuple(TupleKind::IntTuple),
        Kind::Shape => tuple(TupleKind::Shape),
        Kind::Stride => tuple(TupleKind::Stride),
        Kind::Coord => tuple(TupleKind::Coord),
        Kind::Layout => layout().map(|l| l.to_string()),
        Kind::Tile => Tile::parse_with(text, parameters).map(|t| t.to_string()),
        Kind::Swizzle => Swizzle::parse_with(text, parameters).map(|s| s.to_string()),
        Kind::ComposedLayout => return composed(),
        Kind::MemRef => match of_tensor() {
            Err(_) if has_word(text, "o") => {
                let composed = ComposedLayout::parse_with(text, parameters);
                let composed = composed.map_err(|e| e.to_string())?;
                return of_composed(&composed).map(memref_text);
            }
            layout => layout.map(|l| l.text_of_tensor()),
        },
        _ => return Err("expected a type whose text may name parameters".to_owned()),
    };
    text.map_err(|e| e.to_string())
}

/// The text of an integer that is computed of parameters, or of a parameter's name, without blanks.
pub(crate) fn canonical_expression(text: &str) -> Result<String, String> {
    parameter::evaluate(text, &|_| Ok(Parameter::Unknown)).map_err(|e| e.to_string())?;
    Ok(without_blanks(text))
}

/// A comparison in the text of a `cute.param`, taken apart: a side, the comparison, and the other side.
pub(crate) fn comparison(text: &str) -> Option<(&str, &'static str, &str)> {
    let first = |all: &[&'static str]| {
        let found = all.iter().filter_map(|by| Some((text.find(by)?, *by)));
        found.min_by_key(|(at, _)| *at)
    };
    // Types have angle brackets, which are compared by equality alone.
    let (at, by) = match first(&["==", "!="]) {
        None if text.contains('!') => None,
        None => first(&["<=", ">="]).or_else(|| first(&["<", ">"])),
        found => found,
    }?;
    let (left, right) = (text.get(..at)?, text.get(at + by.len()..)?);
    Some((left.trim(), by, right.trim()))
}

/// Tells whether a side of a comparison is a type, and no parameter.
pub(crate) fn is_type(side: &str) -> bool {
    let is_number = |word: &str| {
        let rest = side.strip_prefix(word);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    side.starts_with('!')
        || side == "index"
        || side.starts_with("vector<")
        || ["f", "bf", "tf", "i", "si", "ui"]
            .into_iter()
            .any(is_number)
}

/// Checks the text of a `cute.param`. Errors: no expression, and no comparison of two.
pub(crate) fn check_param(text: &str) -> Result<(), String> {
    let check = |text: &str| canonical_expression(text).map(|_| ());
    match comparison(text) {
        Some((left, _, right)) => {
            [left, right]
                .into_iter()
                .try_for_each(|side| match is_type(side) {
                    true => Ok(()),
                    false => check(side),
                })
        }
        None => check(text),
    }
}

/// Tells whether a text names parameters.
pub(crate) fn is_generic(text: &str) -> bool {
    text.contains('$')
}

/// Tells whether a parameter that a text names has no value yet.
fn is_unknown(parameters: &Parameters<'_>, text: &str) -> bool {
    let unknown = |name: &&str| parameters(name) == Ok(Parameter::Unknown);
    words(text).any(|name| unknown(&name))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

fn has_word(text: &str, word: &str) -> bool {
    words(text).any(|other| other == word)
}

/// The names of the parameters that a text names; of an expression, `text` is what stands behind its `$`.
pub(crate) fn names_in(text: &str, is_expression: bool) -> Vec<String> {
    let names = RefCell::new(Vec::new());
    let note = |name: &str| {
        names.borrow_mut().push(name.to_owned());
        Ok(Parameter::Unknown)
    };
    match is_expression {
        true => match comparison(text) {
            None => drop(parameter::evaluate(text, &note)),
            Some((left, _, right)) => {
                for side in [left, right].into_iter().filter(|side| !is_type(side)) {
                    drop(parameter::evaluate(side, &note));
                }
            }
        },
        // Any kind reads what stands behind a `$` alike.
        false => {
            for (at, _) in text.match_indices('$') {
                drop(parameter::read(text, at + 1, &note));
            }
        }
    }
    names.into_inner()
}

/// The text without the blanks that part nothing.
fn without_blanks(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut result = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        if c.is_ascii_whitespace() {
            blank = true;
            continue;
        }
        if blank && is_word(c) && result.ends_with(is_word) {
            result.push(' ');
        }
        blank = false;
        result.push(c);
    }
    result
}

fn memref_text(parts: (Option<(Swizzle, IntTuple)>, Layout)) -> String {
    match parts {
        (Some((swizzle, offset)), layout) => format!("{swizzle} o {offset} o {layout}"),
        (None, layout) => layout.text_of_tensor(),
    }
}

pub(super) fn parse_layout(text: &str) -> Result<Layout, String> {
    Layout::parse(text).map_err(|e| e.to_string())
}
/// A tensor's layout: a swizzle of the offset and what is added before it, if any, and the layout behind them.
pub(super) fn parse_memref_layout(
    text: &str,
) -> Result<(Option<(Swizzle, IntTuple)>, Layout), String> {
    if !text.contains('o') {
        let layout = Layout::parse_of_tensor(text, None);
        return Ok((None, layout.map_err(|e| e.to_string())?));
    }
    of_composed(&ComposedLayout::parse(text).map_err(|e| e.to_string())?)
}

fn of_composed(composed: &ComposedLayout) -> Result<(Option<(Swizzle, IntTuple)>, Layout), String> {
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
