//! Outputs of a map with one column whose value is computed for each column, and that have elements for columns of products along columns.
//!
//! A thread holds such a value for its tile of columns, and none of its registers are of the others. Along one column every
//! reduction gives the value itself, for rows, and that is stored for all of the others.

use super::roles::Roles;
use crate::{
    fused::{COLUMNS, OUTER},
    tile::leaves::known_extent,
};
use cute_ir::{
    Expected, Failure, diag,
    fused::{Dependences, steps_along},
    mlir::*,
    ops::{arith, cute},
    types::MemRef,
};
use melior::ir::{ValueLike, operation::OperationLike};

/// Puts a reduction along the one column between such outputs and their values. Errors: values of types that are not reduced beside products.
pub(super) fn reduce<'c>(
    map: Op<'c>,
    body: Blk<'c>,
    (inputs, outputs): (&[MemRef<'c>], &[MemRef<'c>]),
    roles: &Roles,
) -> Result<(), Failure> {
    let (Some(columns), Some(outer)) = (roles.block[COLUMNS], roles.block[OUTER]) else {
        return Ok(());
    };
    let layouts = inputs.iter().chain(outputs).map(|memref| &memref.layout);
    if known_extent(layouts, columns) != Some(1) {
        return Ok(());
    }
    let dependences = Dependences::of(body, inputs);
    let yields = ops_of(body).pop().expected(map, "a terminator")?;
    let b = Builder::before(yields);
    for (at, value) in operands_of(yields).into_iter().enumerate() {
        let spreads = steps_along(&outputs[at].layout, outer);
        if !spreads || !dependences.modes(value).contains(&columns) {
            continue;
        }
        let (ty, f32) = (value.r#type(), b.ty("f32")?);
        let along = columns as i64;
        let attributes = [
            ("kind", b.string("maximum")),
            ("along", b.i64_array(&[along])),
        ];
        let reduced = |value| b.value(cute::ALL_REDUCE, &[value], f32, &attributes);
        let one = match ty.to_string().as_str() {
            "f32" => reduced(value)?,
            "f16" | "bf16" => {
                let wide = b.value(arith::EXTF, &[value], f32, &[])?;
                b.value(arith::TRUNCF, &[reduced(wide)?], ty, &[])?
            }
            // Each of these integers is a number of f32.
            "i8" | "i16" => {
                let wide = b.value(arith::SITOFP, &[value], f32, &[])?;
                b.value(arith::FPTOSI, &[reduced(wide)?], ty, &[])?
            }
            other => {
                return Err(diag::error(
                    map.location(),
                    format!(
                        "'{}' op expected output {at}, of {other}, to have one element along mode {outer}, of columns of products along \
                         columns, as its value is computed for each column; write it as a map of its own",
                        name_of(map)
                    ),
                ));
            }
        };
        set_operand(yields, at, one);
    }
    Ok(())
}
