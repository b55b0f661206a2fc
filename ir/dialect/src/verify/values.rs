//! Values of the layout algebra: what [`cute_layout::ops::apply`] refuses of their types.

use super::{Checked, result_type};
use crate::mlir::*;
use crate::{
    algebra,
    ops::cute,
    types::{self, CuteType},
};
use cute_layout::ops::{Attrs, Value};
use melior::ir::ValueLike;

pub(super) fn verify_static(op: cute::Static<'_>) -> Checked {
    let ty = op.result().r#type();
    let decoded = CuteType::of(ty);
    match decoded.as_ref().and_then(CuteType::value) {
        Some(value) if value.is_static() => Ok(()),
        Some(_) => Err(format!(
            "expected a type that says its whole value, found {ty}; make a value with dynamic leaves \
             by the cute.make_ op of its type"
        )),
        None => match decoded {
            Some(
                CuteType::TiledCopy { .. }
                | CuteType::TiledMma { .. }
                | CuteType::CopyAtom { .. }
                | CuteType::MmaAtom { .. },
            ) => Ok(()),
            _ => Err(format!(
                "expected a type that says its whole value, found {ty}"
            )),
        },
    }
}

/// A value that is computed of parameters.
pub(super) fn verify_param(op: cute::Param<'_>) -> Checked {
    let text = op.value().and_then(string_value).unwrap_or_default();
    types::check_param(text)
        .map_err(|wrong| format!("expected an integer that is computed of parameters: {wrong}"))?;
    let ty = op.result().r#type();
    match (types::comparison(text).is_some(), int_width(ty) == Some(1)) {
        (true, false) => Err(format!(
            "expected a result of type i1 of a comparison, found {ty}"
        )),
        (false, true) => Err(format!(
            "expected a comparison for a result of type i1, such as \"{text} == 1\", found \"{text}\""
        )),
        _ => Ok(()),
    }
}

/// The values that the operands' types hold.
fn values(op: Op<'_>) -> Result<Vec<Value>, String> {
    operands_of(op)
        .iter()
        .enumerate()
        .map(|(i, operand)| {
            algebra::value_of(operand.r#type()).ok_or_else(|| {
                format!(
                    "expected i32, i64 or a value of the layout algebra as operand {i}, found {}",
                    operand.r#type()
                )
            })
        })
        .collect()
}

/// A value made from its dynamic leaves.
pub(super) fn verify_make(op: Op<'_>, name: &str) -> Checked {
    let ty = result_type(op);
    let result = CuteType::of(ty)
        .and_then(|ty| ty.value())
        .ok_or_else(|| format!("expected a value of the layout algebra, found {ty}"))?;
    let attrs = Attrs {
        result: Some(result),
        ..Attrs::default()
    };
    algebra::apply(name, &values(op)?, &attrs).map(|_| ())
}

/// `equal` and `elem_less`.
pub(super) fn verify_comparison(op: Op<'_>, name: &str) -> Checked {
    algebra::apply(name, &values(op)?, &Attrs::default()).map(|_| ())
}

/// One value, or as many as the text has places for.
pub(super) fn verify_print(op: cute::Print<'_>) -> Checked {
    let values = op.values();
    let Some(fmt) = op.fmt() else {
        let is_layout =
            |value: &Val| CuteType::of(value.r#type()).is_some_and(|ty| ty.value().is_some());
        return match &values[..] {
            [value] if is_layout(value) => Ok(()),
            _ => Err(
                "expected one value of the layout algebra, or a text with {} for each value"
                    .to_owned(),
            ),
        };
    };
    let count = values.len();
    let places = string_value(fmt).unwrap_or_default().matches("{}").count();
    if places != count {
        return Err(format!(
            "expected a value for each {{}} in the text, {places}, found {count}"
        ));
    }
    Ok(())
}
