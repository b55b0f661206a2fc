//! A function of numbers as a region of a package: what the host computes to verify a kernel.

use super::element_of;
use cute_arith::ScalarOp;
use cute_ir::{
    Expected, Failure, diag, maps,
    mlir::{
        Op, Val, arguments_of, attribute_of, body_of, float_value, integer_of, integer_value, key,
        name_of, next_block, operands_of, ops_of, results_of,
    },
    ops::{arith, cute, func},
};
use cute_runtime::package::{Region, RegionOp};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The region of a function whose first `elements` arguments are those of the region, and whose others are the scalars of these
/// indices. Errors: what is no operation on numbers.
pub(super) fn of_function(
    function: Op<'_>,
    elements: usize,
    scalars: &[usize],
) -> Result<Region, Failure> {
    let wrong = |message: String| diag::error(function.location(), message);
    let body = body_of(function, 0);
    let body = body.ok_or_else(|| wrong("expected a function with a body".to_owned()))?;
    if next_block(body).is_some() {
        return Err(wrong(
            "expected a function of one block; write branches as arith.select".to_owned(),
        ));
    }
    let arguments = arguments_of(body);
    if arguments.len() != elements + scalars.len() {
        return Err(wrong(format!(
            "expected {} arguments: {elements} elements, of which the first of an epilogue is the sum, and {} numbers; found {}",
            elements + scalars.len(),
            scalars.len(),
            arguments.len()
        )));
    }
    let mut region = Region::default();
    let mut places = HashMap::new();
    for (at, argument) in arguments.iter().enumerate() {
        if at >= elements {
            let element = element_of(argument.r#type());
            region
                .ops
                .push(RegionOp::scalar(scalars[at - elements], element));
        }
        places.insert(key(*argument), at);
    }
    let mut ops = ops_of(body);
    let end = ops.pop().expected(function, "an op that ends the block")?;
    for op in ops {
        let place = |value: Val<'_>| places.get(&key(value)).copied();
        let operands: Option<Vec<usize>> = operands_of(op).into_iter().map(place).collect();
        let operands = operands.expected(op, "values of the function")?;
        let [result] = results_of(op)[..] else {
            return Err(unknown(op));
        };
        let element = element_of(result.r#type());
        if let (Some(reduce), [value]) = (cute::AllReduce::of(op), &operands[..]) {
            // The verifier has seen that it is known, and which modes there are.
            let kind = maps::kind_of(&reduce).expected(op, "a known kind")?;
            let along = maps::modes_of(&reduce).into_iter();
            let along: Vec<usize> = along
                .filter_map(|mode| usize::try_from(mode).ok())
                .collect();
            region
                .ops
                .push(RegionOp::reduce(kind, *value, along, element));
            places.insert(key(result), elements + region.ops.len() - 1);
            continue;
        }
        region.ops.push(match name_of(op) {
            arith::CONSTANT => {
                RegionOp::constant(constant(op).ok_or_else(|| unknown(op))?, element)
            }
            _ => RegionOp::apply(operation(op)?, operands, element),
        });
        places.insert(key(result), elements + region.ops.len() - 1);
    }
    if name_of(end) != func::RETURN {
        return Err(unknown(end));
    }
    for value in operands_of(end) {
        let place = places.get(&key(value)).copied();
        region
            .yields
            .push(place.expected(end, "a value of the function")?);
    }
    Ok(region)
}

fn constant(op: Op<'_>) -> Option<f64> {
    let value = attribute_of(op, "value")?;
    let integer = || {
        let integer = integer_value(value)?;
        let truth = results_of(op).first()?.r#type().to_string() == "i1";
        Some(if truth { integer & 1 } else { integer } as f64)
    };
    float_value(value).or_else(integer)
}

/// The operation that an op is.
fn operation(op: Op<'_>) -> Result<ScalarOp, Failure> {
    use ScalarOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let predicate = || integer_of(op, "predicate");
    let found = match name_of(op) {
        // Numbers that are no NaN compare alike, ordered or not.
        arith::CMPF => match predicate() {
            Some(1 | 8) => Some(Eq),
            Some(2 | 9) => Some(Gt),
            Some(3 | 10) => Some(Ge),
            Some(4 | 11) => Some(Lt),
            Some(5 | 12) => Some(Le),
            Some(6 | 13) => Some(Ne),
            _ => None,
        },
        arith::CMPI => match predicate() {
            Some(0) => Some(Eq),
            Some(1) => Some(Ne),
            Some(2) => Some(Lt),
            Some(3) => Some(Le),
            Some(4) => Some(Gt),
            Some(5) => Some(Ge),
            _ => None,
        },
        name => ScalarOp::of_mlir(name),
    };
    found.ok_or_else(|| unknown(op))
}

fn unknown(op: Op<'_>) -> Failure {
    diag::error(
        op.location(),
        format!(
            "'{}' is no operation on numbers that the host can compute to verify a kernel; expected {}, comparisons and constants",
            name_of(op),
            ScalarOp::mlir_names().collect::<Vec<_>>().join(", ")
        ),
    )
}
