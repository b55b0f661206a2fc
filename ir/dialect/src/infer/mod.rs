//! Result types from operand types.
//!
//! The same answers verify what was declared: MLIR compares the two.

mod calls;
mod omitted;
mod tensors;
mod written;

pub(crate) use omitted::identity_tensor;
pub use tensors::{Viewed, dynamic_leaves, traced_view};
pub(crate) use written::{compatible, operand_types};

use crate::{
    algebra::{self, value_of},
    mlir::{Op, attributes_of, context_of, dictionary, entry_of, is_index, name_of, operands_of},
    ops::{self, cute},
    types::{CuteType, int_width},
};
use cute_layout::ops::Value as LayoutValue;
use melior::{
    Context,
    ir::{Attribute, Type, ValueLike},
};

/// The result types of op `name`.
pub(crate) fn infer<'c>(
    name: &str,
    context: &'c Context,
    operands: &[Type<'c>],
    attributes: Attribute<'c>,
) -> Result<Vec<Type<'c>>, String> {
    if is_read(name, attributes)
        && let Some(types) = calls::results(context, attributes)
    {
        return Ok(types);
    }
    if let Some(types) = omitted::open(name, context, operands, attributes) {
        return Ok(types);
    }
    if let Some(result) = omitted::infer(name, context, operands, attributes) {
        return result;
    }
    let mut decoded: Vec<CuteType<'c>> = Vec::new();
    for (index, ty) in operands.iter().enumerate() {
        decoded.push(CuteType::of(*ty).ok_or_else(|| {
            let cure = match int_width(*ty).is_some() || is_index(*ty) {
                true => "; cute.make_coord makes a coordinate of numbers, cute.make_shape a shape",
                false => "",
            };
            format!("expected a type of the dialect as operand {index}, found {ty}{cure}")
        })?);
    }
    if let Some(result) = tensors::infer(name, context, &decoded, attributes) {
        return result;
    }
    let values: Option<Vec<LayoutValue>> = decoded.iter().map(CuteType::value).collect();
    match values {
        Some(values) if algebra::has(name) => algebra::infer(name, context, &values, attributes),
        _ if operands.is_empty() => Err(omitted::written()),
        _ => Err(format!(
            "expected the operands {}, found ({})",
            ops::taken(name).unwrap_or("that its entry in the reference has"),
            operands
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        )),
    }
}

/// Tells whether an op is a call that is being read, whose result types depend on more than operands and attributes: on the text around it, and on files.
pub(crate) fn is_read(name: &str, attributes: Attribute<'_>) -> bool {
    name == cute::CALL && entry_of(attributes, "text").is_some()
}

/// The result types of `op` as they follow from its operands.
///
/// # Errors
/// Operands that it does not take, and results that do not follow.
pub fn result_types<'c>(op: Op<'c>) -> Result<Vec<Type<'c>>, String> {
    of_op(op, &[])
}

/// The types of the arguments of an op's region as they follow from its operands.
///
/// # Errors
/// Operands from which none follow.
pub fn argument_types<'c>(op: Op<'c>) -> Result<Vec<Type<'c>>, String> {
    of_op(op, &["arguments"])
}

fn of_op<'c>(op: Op<'c>, more: &[&str]) -> Result<Vec<Type<'c>>, String> {
    let context = context_of(op);
    let operands: Vec<Type<'c>> = operands_of(op).iter().map(ValueLike::r#type).collect();
    let mut attributes = attributes_of(op);
    attributes.extend(more.iter().map(|name| (*name, Attribute::unit(context))));
    let attributes = dictionary(context, &attributes);
    infer(name_of(op), context, &operands, attributes)
}

/// Tells whether `op` may run where it would not have run.
pub(crate) fn speculatable(op: Op) -> bool {
    let operands: Option<Vec<LayoutValue>> = operands_of(op)
        .iter()
        .map(|operand| value_of(operand.r#type()))
        .collect();
    operands.is_some_and(|operands| algebra::divides_by_nonzero(name_of(op), &operands))
}
