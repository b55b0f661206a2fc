//! Values in the places of the names of parameters.

use super::{Bindings, parsed};
use crate::{
    attributes,
    diag::{self, Failure},
    mlir::*,
    types::{self, Values},
};
use melior::{
    Context,
    ir::{
        Attribute, Location, Type,
        attribute::{DenseI32ArrayAttribute, DenseI64ArrayAttribute},
    },
};
use std::cell::Cell;

/// Puts the values of parameters in place of their names in the types of an op's results and its regions' arguments, and in its attributes; what is
/// within its regions stays. A `cute.given` becomes the attributes that it says.
///
/// # Errors
/// Those of [`Bindings::integer`], and a text or a type that is none with these values: all that are found, at `at`.
pub fn instantiate<'c>(
    op: Op<'c>,
    bindings: &Bindings<'c>,
    at: Location<'c>,
) -> Result<(), Failure> {
    let context = context_of(op);
    let failed = Cell::new(None);
    let texts = |name: &str| bindings.lookup(name);
    let of_types = |name: &str| bindings.lookup_type(name);
    let values = Values {
        texts: &texts,
        types: &of_types,
        said: bindings,
    };
    replace_parameters(
        op,
        &mut |ty| {
            let given = match bindings.failure_of(ty) {
                Some(failure) => Err(failure),
                None => types::with_values(ty, &values, at)
                    .inspect_err(|failure| bindings.note_failure(ty, *failure)),
            };
            given
                .map_err(|failure| failed.set(Some(failure)))
                .ok()
                .flatten()
        },
        &mut |kind, text| {
            let given = match kind {
                Text::Expression => bindings.value(context, text),
                Text::Value(kind) => types::evaluate(kind, text, &texts).and_then(|text| {
                    let name = kind_name(kind);
                    parsed(context, &format!("#cute.{name}<\"{text}\">"))
                }),
            };
            given
                .map_err(|message| {
                    let message = format!("in the attribute \"{text}\" with {bindings}: {message}");
                    failed.set(Some(diag::error(at, message)));
                })
                .ok()
        },
    );
    if let Some(failure) = failed.get() {
        return Err(failure);
    }
    give(op, at)
}

/// The type with the values of parameters in the places of their names.
///
/// # Errors
/// Those of [`instantiate`], at `at`.
pub fn type_with<'c>(
    ty: Type<'c>,
    bindings: &Bindings<'c>,
    at: Location<'c>,
) -> Result<Type<'c>, Failure> {
    let values = Values {
        texts: &|name: &str| bindings.lookup(name),
        types: &|name: &str| bindings.lookup_type(name),
        said: bindings,
    };
    Ok(types::with_values(ty, &values, at)?.unwrap_or(ty))
}

/// The name of an attribute whose text is a value of the layout algebra.
fn kind_name(kind: crate::mlir::Kind) -> &'static str {
    use crate::mlir::Kind;
    match kind {
        Kind::IntTuple => "int_tuple",
        Kind::Shape => "shape",
        Kind::Stride => "stride",
        Kind::Coord => "coord",
        Kind::Layout => "layout",
        Kind::Tile => "tile",
        Kind::Swizzle => "swizzle",
        _ => "composed_layout",
    }
}

/// Gives an op the attributes that its `cute.given` says. Arrays of integers are dense ones, of 32 bits where the first of them says so.
fn give<'c>(op: Op<'c>, at: Location<'c>) -> Result<(), Failure> {
    let Some(given) = attribute_of(op, attributes::GIVEN) else {
        return Ok(());
    };
    let context = context_of(op);
    for (name, value) in entries_of(given).unwrap_or_default() {
        if attribute_of(op, name).is_some() {
            return Err(diag::error(
                at,
                format!(
                    "expected '{name}' either as an attribute or in cute.given, found both; leave one out"
                ),
            ));
        }
        set_attribute(
            op,
            name,
            dense(context, value).map_err(|wrong| diag::error(at, wrong))?,
        );
    }
    remove_attribute(op, attributes::GIVEN);
    Ok(())
}

/// The attribute that an array stands for in `cute.given`.
fn dense<'c>(context: &'c Context, value: Attribute<'c>) -> Result<Attribute<'c>, String> {
    let Some(elements) = array_of(value).filter(|elements| !elements.is_empty()) else {
        return Ok(value);
    };
    let Some(integers) = elements
        .iter()
        .map(|e| integer_value(*e))
        .collect::<Option<Vec<i64>>>()
    else {
        return Ok(value);
    };
    let narrow = |e: &Attribute<'c>| int_width(type_of_attribute(*e)) == Some(32);
    if !elements.iter().any(narrow) {
        return Ok(DenseI64ArrayAttribute::new(context, &integers).into());
    }
    let integers = integers.iter().map(|n| {
        i32::try_from(*n)
            .map_err(|_| format!("expected an integer of 32 bits, found {n} in {value}"))
    });
    let integers = integers.collect::<Result<Vec<i32>, _>>()?;
    Ok(DenseI32ArrayAttribute::new(context, &integers).into())
}
