//! Outputs of a map with one column whose value is computed for each column, and that have elements for columns of products along columns.
//!
//! A thread holds such a value for its tile of columns, and none of its registers are of the others. Along one column every
//! reduction gives the value itself, for rows, and that is stored for all of the others.

use super::roles::Roles;
use crate::{
    fused::{COLUMNS, OUTER},
    tile::{all_reduce, leaves::known_extent},
};
use cute_arith::ReduceOp;
use cute_ir::{
    Expected, Failure, diag,
    fused::{Dependences, steps_along},
    mlir::*,
    ops::arith,
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
        let casts = match ty.to_string().as_str() {
            "f32" => None,
            "f16" | "bf16" => Some([arith::EXTF, arith::TRUNCF]),
            // Each of these integers is a number of f32.
            "i8" | "i16" => Some([arith::SITOFP, arith::FPTOSI]),
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
        let mut one = value;
        if let Some([widen, _]) = casts {
            one = b.value(widen, &[one], f32, &[])?;
        }
        one = all_reduce(b, ReduceOp::Maximum, one, columns as i64)?;
        if let Some([_, narrow]) = casts {
            one = b.value(narrow, &[one], ty, &[])?;
        }
        set_operand(yields, at, one);
    }
    Ok(())
}
