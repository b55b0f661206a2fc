//! Result types of the ops on values of the layout algebra: what [`cute_layout::ops::apply`] says of
//! the values that the operands' types hold.

use crate::mlir::*;
use crate::{
    mlir::{Op, attribute_of, entry_of, name_of, result_of},
    names,
    ops::cute,
    types::{self, CuteType},
};
use cute_layout::{
    Dyn, IntTuple, Leaf,
    ops::{self, Attrs, Value},
};
use melior::{
    Context,
    ir::{Attribute, Type, ValueLike, operation::OperationLike},
};

/// The result types of op `name`.
pub(crate) fn infer<'c>(
    name: &str,
    context: &'c Context,
    operands: &[Value],
    attributes: Attribute<'c>,
) -> Result<Vec<Type<'c>>, String> {
    if let (
        cute::CRD2IDX,
        [
            Value::Coord(coord),
            Value::Layout(_) | Value::ComposedLayout(_),
        ],
    ) = (name, operands)
        && coord.has_underscore()
    {
        return Err(format!(
            "expected a coordinate without `_`, found {coord}; take the part at `_` by cute.slice"
        ));
    }
    let given = with_coordinate(name, operands, entry_of(attributes, "coord"))?;
    let results = apply(
        renamed(name, operands),
        &given,
        &attrs_of(|name| entry_of(attributes, name)),
    )?;
    Ok(results
        .iter()
        .map(|value| types::value_type(context, value))
        .collect())
}

/// [`ops::apply`] of an op by its whole name, with an error that follows on "'cute.name' op".
pub(crate) fn apply(name: &str, operands: &[Value], attrs: &Attrs) -> Result<Vec<Value>, String> {
    let name = names::mnemonic(name).unwrap_or(name);
    ops::apply(name, operands, attrs).map_err(|error| {
        let text = error.to_string();
        match text.strip_prefix(&format!("`{name}` ")) {
            Some(rest) => rest.to_owned(),
            None => text,
        }
    })
}

/// Tells whether the layout algebra has an op, by its name.
pub(crate) fn has(name: &str) -> bool {
    names::mnemonic(name).is_some_and(|name| ops::OPS.contains(&name))
}

/// Tells whether the layout algebra has `op`.
pub fn is_algebra(op: Op<'_>) -> bool {
    has(name_of(op))
}

/// Returns the results of `op`, of the algebra, on these operands instead of its own; for a constructor, in the form of its
/// result type.
///
/// Dynamic leaves that carry how they are computed give results that do.
pub fn evaluate(op: Op<'_>, operands: &[Value]) -> Result<Vec<Value>, String> {
    let name = name_of(op);
    let mut attrs = attrs_of(|name| attribute_of(op, name));
    if op.result_count() == 1 {
        attrs.result = value_of(result_of(op, 0).r#type());
    }
    let given = with_coordinate(name, operands, attribute_of(op, "coord"))?;
    apply(renamed(name, operands), &given, &attrs)
}

/// The operands, with the coordinate of `dice` behind them where it is an attribute.
fn with_coordinate(
    name: &str,
    operands: &[Value],
    coord: Option<Attribute>,
) -> Result<Vec<Value>, String> {
    let mut all = operands.to_vec();
    if name == cute::DICE
        && let Some(coord) = coord
    {
        let coord = types::coord_of_attribute(coord).ok_or("expected coord = #cute.coord<...>")?;
        if all.len() > 1 {
            return Err(
                "expected a coordinate as an operand or as an attribute, found both".to_owned(),
            );
        }
        all.push(Value::Coord(coord));
    }
    Ok(all)
}

/// The offset that a layout gives a coordinate has two names here.
fn renamed<'a>(name: &'a str, operands: &[Value]) -> &'a str {
    match (name, operands) {
        (cute::CRD2IDX, [_, Value::Layout(_) | Value::ComposedLayout(_)]) => cute::LAYOUT_EVAL,
        _ => name,
    }
}

/// The value of the algebra that a value of type `ty` holds: of an integer, one of that width.
pub fn value_of(ty: Type) -> Option<Value> {
    match types::int_width(ty) {
        Some(32) => Some(Value::Scalar(Leaf::Dynamic(Dyn::I32))),
        Some(64) => Some(Value::Scalar(Leaf::Dynamic(Dyn::I64))),
        Some(_) => None,
        None => CuteType::of(ty)?.value(),
    }
}

/// The attributes of an op of the algebra.
pub fn attributes(op: Op<'_>) -> Attrs {
    attrs_of(|name| attribute_of(op, name))
}

/// Tells whether `cute.derefine` takes a value of the first type to one of the second: it says the same, or less.
pub fn derefines(from: Type, to: Type) -> bool {
    match (value_of(from), value_of(to)) {
        (Some(from), Some(to)) => crate::verify::is_weaker(&from, &to),
        _ => false,
    }
}

/// The attributes of an op on values of the algebra.
pub(crate) fn attrs_of<'c>(find: impl Fn(&str) -> Option<Attribute<'c>>) -> Attrs {
    let integer = |name| find(name).and_then(integer_value);
    let mode = find("mode")
        .and_then(i32s_of)
        .map(|mode| mode.into_iter().map(i64::from).collect());
    Attrs {
        mode,
        begin: integer("begin"),
        end: integer("end"),
        new_type_bits: integer("new_type_bits"),
        old_type_bits: integer("old_type_bits"),
        rank: integer("rank"),
        only_dynamic: find("only_dynamic").is_some(),
        result: None,
    }
}

/// Tells whether op `name` on these operands divides by nothing that may be 0: a divisor that is a tuple, all
/// of it known and none of it 0.
pub(crate) fn divides_by_nonzero(name: &str, operands: &[Value]) -> bool {
    let divisor: &IntTuple = match (name, operands) {
        (
            cute::TUPLE_DIV | cute::TUPLE_MOD,
            [_, Value::IntTuple(divisor) | Value::Shape(divisor)],
        )
        | (cute::SHAPE_DIV, [_, Value::Shape(divisor)])
        | (cute::CEIL_DIV, [_, Value::Shape(divisor) | Value::IntTuple(divisor)]) => divisor,
        _ => return false,
    };
    divisor
        .leaves()
        .iter()
        .all(|leaf| leaf.as_static().is_some_and(|value| value != 0))
}
