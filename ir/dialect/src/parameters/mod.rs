//! Parameters of modules and functions: integers, types, layouts and tiles that types and attributes name.
//!
//! `cute.parameters` on a `builtin.module`, a `gpu.module` or a `func.func` declares them. Within it, `$D` and `$(D/4)` stand for integers,
//! layouts and tiles in the texts of types and attributes, `!cute.param<"T">` for types, `#cute.param<"D">` for attributes, and
//! `cute.param "D"` gives an integer as a value. What names a parameter is open ([`CuteType::Any`](crate::types::CuteType::Any)) until
//! passes have put values in the places of names ([`instantiate`]): by structure, op for op.

mod bindings;
mod values;

pub use bindings::Bindings;
pub use values::{instantiate, type_with};

use crate::{
    attributes,
    diag::{self, Failure},
    mlir::*,
    names::{builtin, did_you_mean},
    ops::{cute, gpu},
    types,
};
use cute_layout::{Layout, Tile, parameter};
use melior::{
    Context,
    ir::{
        Attribute, Type,
        attribute::{IntegerAttribute, TypeAttribute},
        operation::OperationLike,
        r#type::IntegerType,
    },
};
use std::{collections::BTreeSet, fmt};

/// The kind of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of 64 bits.
    Integer,
    /// A type: of elements, or of an atom.
    Type,
    /// A layout.
    Layout,
    /// A tile.
    Tile,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Integer, Kind::Type, Kind::Layout, Kind::Tile];

    /// The word for it, by which a parameter without a default is declared.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Type => "type",
            Kind::Layout => "layout",
            Kind::Tile => "tile",
        }
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<'c> {
    /// An integer.
    Integer(i64),
    /// A type.
    Type(Type<'c>),
    /// A layout.
    Layout(Layout),
    /// A tile.
    Tile(Tile),
}

impl<'c> Bound<'c> {
    /// Reads the value that an attribute says: an integer, a type, `#cute.layout` or `#cute.tile`.
    ///
    /// # Errors
    /// Another attribute, and one that names parameters itself.
    pub fn of(attribute: Attribute<'c>) -> Result<Self, String> {
        let wrong = || {
            format!(
                "expected an integer, a type, #cute.layout<\"...\"> or #cute.tile<\"...\">, found {attribute}"
            )
        };
        if let Some(integer) = integer_value(attribute) {
            return Ok(Bound::Integer(integer));
        }
        if let Some(ty) = type_value(attribute) {
            return Ok(Bound::Type(ty));
        }
        let text = attribute.to_string();
        let of = |name: &str| {
            let rest = text.strip_prefix("#cute.")?.strip_prefix(name)?;
            rest.strip_prefix("<\"")?.strip_suffix("\">")
        };
        if let Some(layout) = of("layout") {
            return Layout::parse(layout)
                .map(Bound::Layout)
                .map_err(|_| wrong());
        }
        if let Some(tile) = of("tile") {
            return Tile::parse(tile).map(Bound::Tile).map_err(|_| wrong());
        }
        Err(wrong())
    }

    /// Reads a value of a kind from text, as an option of a pipeline has it: as it stands in types, `128`, `f16`, `(4,8):(8,1)` or `[64:1;32:1]`, or as
    /// `cute.parameters` has it, `#cute.layout<"(4,8):(8,1)">`.
    ///
    /// # Errors
    /// Text that is none of that kind, with what it is instead where that is known.
    pub fn read(context: &'c Context, kind: Kind, text: &str) -> Result<Self, String> {
        let expected = match kind {
            Kind::Integer => "expected an integer of 64 bits",
            Kind::Type => {
                "expected a type, such as f16 or !cute_nvgpu.atom.universal_copy<f16, 64 b>"
            }
            Kind::Layout => "expected a layout, such as (4,8):(8,1)",
            Kind::Tile => "expected a tile, such as [64:1;32:1]",
        };
        let wrong = |found: &str, why: &str| format!("{expected}, found {found}{why}");
        if text.starts_with('#') {
            let (read, why) = quietly(context, || Attribute::parse(context, text));
            let bound = match read {
                Some(attribute) => Self::of(attribute)?,
                None => return Err(wrong(&format!("'{text}'"), &why)),
            };
            return match bound.kind() == kind {
                true => Ok(bound),
                false => Err(wrong(&format!("the {} {bound}", bound.kind().name()), "")),
            };
        }
        let found = |why: &str| match Self::guessed(context, kind, text) {
            Some(other) => wrong(&format!("the {} {text}", other.name()), ""),
            None => wrong(&format!("'{text}'"), why),
        };
        match kind {
            Kind::Integer => text.parse().map(Bound::Integer).map_err(|_| found("")),
            Kind::Type => {
                let (ty, why) = quietly(context, || Type::parse(context, text));
                let ty = ty.ok_or_else(|| found(&why))?;
                match types::names_in_type(ty).first() {
                    None => Ok(Bound::Type(ty)),
                    Some(name) => Err(wrong(
                        &format!("{ty}"),
                        &format!(", which depends on the parameter {name} itself"),
                    )),
                }
            }
            Kind::Layout => Layout::parse(text)
                .map(Bound::Layout)
                .map_err(|e| found(&format!(" ({e})"))),
            Kind::Tile => Tile::parse(text)
                .map(Bound::Tile)
                .map_err(|e| found(&format!(" ({e})"))),
        }
    }

    /// The kind that a text is of which is none of `but`, for messages.
    fn guessed(context: &'c Context, but: Kind, text: &str) -> Option<Kind> {
        let is = |kind: Kind| match kind {
            Kind::Integer => text.parse::<i64>().is_ok(),
            Kind::Type => quietly(context, || Type::parse(context, text)).0.is_some(),
            Kind::Layout => Layout::parse(text).is_ok(),
            Kind::Tile => text.starts_with('[') && Tile::parse(text).is_ok(),
        };
        let mut others = Kind::ALL.into_iter().filter(|kind| *kind != but);
        others.find(|kind| is(*kind))
    }

    /// The kind of the value.
    pub fn kind(&self) -> Kind {
        match self {
            Bound::Integer(_) => Kind::Integer,
            Bound::Type(_) => Kind::Type,
            Bound::Layout(_) => Kind::Layout,
            Bound::Tile(_) => Kind::Tile,
        }
    }

    /// The attribute that [`Bound::of`] reads. Errors: a layout or tile that no attribute says.
    fn attribute(&self, context: &'c Context) -> Result<Attribute<'c>, String> {
        Ok(match self {
            Bound::Integer(value) => {
                IntegerAttribute::new(IntegerType::new(context, 64).into(), *value).into()
            }
            Bound::Type(ty) => TypeAttribute::new(*ty).into(),
            Bound::Layout(layout) => parsed(context, &format!("#cute.layout<\"{layout}\">"))?,
            Bound::Tile(tile) => parsed(context, &format!("#cute.tile<\"{tile}\">"))?,
        })
    }
}

impl fmt::Display for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Integer(value) => value.fmt(f),
            Bound::Type(ty) => ty.fmt(f),
            Bound::Layout(layout) => layout.fmt(f),
            Bound::Tile(tile) => tile.fmt(f),
        }
    }
}

/// The result of `parse`, and in parentheses what MLIR says of the text.
fn quietly<T>(context: &Context, parse: impl FnOnce() -> T) -> (T, String) {
    let (parsed, said) = heard(context, parse);
    let why = said.first().map(|said| format!(" ({})", said.message));
    (parsed, why.unwrap_or_default())
}

fn parsed<'c>(context: &'c Context, text: &str) -> Result<Attribute<'c>, String> {
    Attribute::parse(context, text).ok_or_else(|| format!("expected an attribute, found {text}"))
}

/// A parameter that a module or function declares.
#[derive(Clone, Debug)]
pub struct Declared<'c> {
    /// The name.
    pub name: &'c str,
    /// The kind.
    pub kind: Kind,
    /// The value where none is given.
    pub default: Option<Bound<'c>>,
}

/// The parameters that an op declares, by name.
///
/// # Errors
/// A name that is none, and a value that none of them has.
pub fn declared(op: Op<'_>) -> Result<Vec<Declared<'_>>, String> {
    match attribute_of(op, attributes::PARAMETERS) {
        Some(all) => declarations(all),
        None => Ok(Vec::new()),
    }
}

/// Refuses an op within or around which parameters are declared, as a pass needs them to have values. Ops beside it are not looked at: other
/// threads may be changing them.
pub(crate) fn have_values(pass: &str, op: Op<'_>) -> Result<(), Failure> {
    let mut all: Vec<Op> =
        std::iter::successors(parent_op(op), |inner| parent_op(*inner)).collect();
    let mut within = vec![op];
    while let Some(op) = within.pop() {
        if matches!(name_of(op), builtin::MODULE | gpu::MODULE) {
            within.extend(blocks_of(op).into_iter().flat_map(ops_of));
        }
        all.push(op);
    }
    let declares = |op: &Op| attribute_of(*op, attributes::PARAMETERS).is_some();
    let Some(op) = all.iter().copied().find(declares) else {
        return all.into_iter().try_for_each(|op| takes_values(pass, op));
    };
    let names = declared(op).map_err(|wrong| diag::error(op.location(), wrong))?;
    let names: Vec<&str> = names.iter().map(|declared| declared.name).collect();
    Err(diag::error(
        op.location(),
        format!(
            "{pass} expects values in the places of parameters, found {} declared here; run cute-instantiate and cute-inline before it",
            names.join(", ")
        ),
    ))
}

/// Refuses a function whose arguments' types name parameters that nothing declares, so that no value will come in their places.
fn takes_values(pass: &str, op: Op<'_>) -> Result<(), Failure> {
    let (inputs, _) = signature_of(op).unwrap_or_default();
    let names = inputs.into_iter().find_map(|ty| {
        let names = types::names_in_type(ty);
        (!names.is_empty()).then_some((ty, names))
    });
    match names {
        None => Ok(()),
        Some((ty, names)) => Err(diag::error(
            op.location(),
            format!(
                "{pass} expects values in the places of parameters, found {} in an argument of type {ty}, which nothing around it declares; declare it in \
                 cute.parameters, and run cute-instantiate before",
                names.join(", ")
            ),
        )),
    }
}

pub(crate) fn declarations(all: Attribute<'_>) -> Result<Vec<Declared<'_>>, String> {
    let entries = entries_of(all).ok_or_else(|| format!("expected a dictionary, found {all}"))?;
    let declare = |(name, value)| {
        if parameter::name_of(name).is_none() {
            return Err(format!(
                "expected names of letters, digits and `_`, the first no digit, found '{name}'"
            ));
        }
        if let Some(word) = string_value(value) {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == word);
            let Some(kind) = kind else {
                let words = Kind::ALL.map(Kind::name);
                return Err(format!(
                    "expected one of \"{}\" for {name}, which says its kind where it has no default, found \"{word}\"{}",
                    words.join("\", \""),
                    did_you_mean(word, words)
                ));
            };
            let default = None;
            return Ok(Declared {
                name,
                kind,
                default,
            });
        }
        let bound = Bound::of(value).map_err(|wrong| format!("for {name} {wrong}"))?;
        Ok(Declared {
            name,
            kind: bound.kind(),
            default: Some(bound),
        })
    };
    entries.into_iter().map(declare).collect()
}

/// Verifies that something around an op declares parameters, where the op's types name some. The declaring op checks which: see [`check_names`].
pub(crate) fn verify_declared(op: Op<'_>) -> Result<(), Failure> {
    let mut names = types_of(op).into_iter().flat_map(types::names_in_type);
    let Some(name) = names.next() else {
        return Ok(());
    };
    let mut around = std::iter::successors(Some(op), |inner| parent_op(*inner));
    if around.any(|op| attribute_of(op, attributes::PARAMETERS).is_some()) {
        return Ok(());
    }
    Err(diag::error(
        op.location(),
        format!(
            "'{}' op expected types without parameters, as nothing around it declares any, found {name}; declare it in cute.parameters of \
             the function or module",
            name_of(op)
        ),
    ))
}

/// Checks the names of parameters in what is within an op that declares some: each is declared by it or by an op around it. What is within another op that
/// declares some, that one checks.
pub(crate) fn check_names(op: Op<'_>) -> Result<(), String> {
    let mut known = BTreeSet::new();
    let mut around = Some(op);
    while let Some(outer) = around {
        known.extend(declared(outer)?.into_iter().map(|declared| declared.name));
        around = parent_op(outer);
    }
    let mut stack: Vec<Op> = blocks_of(op).into_iter().flat_map(ops_of).collect();
    let mut types = types_of(op);
    let mut names = Vec::new();
    while let Some(inner) = stack.pop() {
        if attribute_of(inner, attributes::PARAMETERS).is_some() {
            continue;
        }
        types.extend(types_of(inner));
        if let Some(param) = cute::Param::of(inner) {
            names.extend(types::names_in(
                param.value().and_then(string_value).unwrap_or_default(),
                true,
            ));
        }
        stack.extend(blocks_of(inner).into_iter().flat_map(ops_of));
    }
    let open = types
        .into_iter()
        .filter(|ty| types::CuteType::get(*ty).is_some());
    names.extend(open.flat_map(types::names_in_type));
    match names.iter().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = known.into_iter().collect();
            Err(format!(
                "expected the parameters {}, found '{name}', which is not declared{}",
                known.join(", "),
                did_you_mean(name, known.iter().copied())
            ))
        }
    }
}

/// The text of a `#cute.param`; nothing of other attributes.
pub(crate) fn expression_of(attribute: Attribute<'_>) -> Option<String> {
    let text = attribute.to_string();
    let text = text.strip_prefix("#cute.param<\"")?.strip_suffix("\">")?;
    Some(text.to_owned())
}
