//! A function of numbers as a region of a package: what the host computes to verify a kernel.

use super::element_of;
use cute_arith::{Predicate, ScalarOp};
use cute_ir::{
    Expected, Failure, diag, maps,
    mlir::{
        Op, Val, arguments_of, attribute_of, body_of, float_value, int_width, integer_of,
        integer_value, key, name_of, next_block, operands_of, ops_of, results_of,
    },
    ops::{arith, cute, func},
};
use cute_runtime::package::{Region, RegionOp};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The region of a function whose first arguments are those of the region, of these element types, and whose others are the scalars of these
/// indices; `first` is what the first argument is. Errors: what is no operation on numbers.
pub(super) fn of_function(
    function: Op<'_>,
    first: &str,
    elements: &[String],
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
    if arguments.len() != elements.len() + scalars.len() {
        return Err(wrong(format!(
            "expected {} arguments: {first}, the elements of {} tensors, and {} numbers; found {}",
            elements.len() + scalars.len(),
            elements.len().saturating_sub(1),
            scalars.len(),
            arguments.len()
        )));
    }
    let mut made = Made {
        first: elements.len(),
        region: Region::default(),
        unsigned: HashMap::new(),
    };
    let mut places = HashMap::new();
    for (at, argument) in arguments.iter().enumerate() {
        let element = element_of(argument.r#type());
        let place = match elements.get(at) {
            None => made.push(RegionOp::scalar(scalars[at - elements.len()], element)),
            // Registers may hold it in another type: what has no sign as what has one.
            Some(stored) if HELD_AS.contains(&(stored.as_str(), element.as_str())) => {
                let held = made.push(RegionOp::apply(ScalarOp::Convert, [at], element));
                if stored == UNSIGNED {
                    made.unsigned.insert(held, at);
                }
                held
            }
            Some(_) => at,
        };
        places.insert(key(*argument), place);
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
        let place = match name_of(op) {
            arith::CONSTANT => {
                let constant = constant(op).ok_or_else(|| unknown(op))?;
                made.push(RegionOp::constant(constant, element))
            }
            arith::UITOFP | arith::EXTUI => made.unsigned(op, operands, element)?,
            cute::ALL_REDUCE => {
                // The verifier has seen that its kind is known, and which modes there are.
                let reduce = cute::AllReduce::of(op).expected(op, "a reduction")?;
                let kind = maps::kind_of(&reduce).expected(op, "a known kind")?;
                let along = maps::modes_of(&reduce).into_iter();
                let along = along.filter_map(|mode| usize::try_from(mode).ok());
                let value = *operands.first().expected(op, "an operand")?;
                made.push(RegionOp::reduce(kind, value, along, element))
            }
            _ => made.push(RegionOp::apply(operation(op)?, operands, element)),
        };
        places.insert(key(result), place);
    }
    let mut region = made.region;
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

/// The element type of bytes without a sign.
const UNSIGNED: &str = "u8";

/// Types of elements, and the types of registers that hold them.
const HELD_AS: &[(&str, &str)] = &[(UNSIGNED, "i8"), ("tf32", "f32")];

/// A region in the making.
struct Made {
    /// The number of its arguments.
    first: usize,
    region: Region,
    /// Values with a sign, each with the same bits without one.
    unsigned: HashMap<usize, usize>,
}

impl Made {
    /// Adds an operation; the number of its value.
    fn push(&mut self, op: RegionOp) -> usize {
        self.region.ops.push(op);
        self.first + self.region.ops.len() - 1
    }

    /// The conversion of an integer that is read without a sign.
    fn unsigned(
        &mut self,
        op: Op<'_>,
        operands: Vec<usize>,
        element: String,
    ) -> Result<usize, Failure> {
        let ty = operands_of(op).first().map(|value| value.r#type());
        let width = ty.and_then(int_width).expected(op, "an integer")?;
        let value = *operands.first().expected(op, "an operand")?;
        match width {
            // A truth value is 1 or 0.
            1 => {
                let one = self.push(RegionOp::constant(1.0, &element));
                let zero = self.push(RegionOp::constant(0.0, &element));
                let of = [value, one, zero];
                Ok(self.push(RegionOp::apply(ScalarOp::Select, of, element)))
            }
            8 => {
                let bits = match self.unsigned.get(&value) {
                    Some(bits) => *bits,
                    None => {
                        let bits = self.push(RegionOp::apply(ScalarOp::Convert, [value], UNSIGNED));
                        self.unsigned.insert(value, bits);
                        bits
                    }
                };
                Ok(self.push(RegionOp::apply(ScalarOp::Convert, [bits], element)))
            }
            width => Err(diag::error(
                op.location(),
                format!(
                    "'{}' of {width} bits has no form for verification; expected an integer of 8 bits or a truth value: \
                     widen it by arith.extui, and convert it by arith.sitofp",
                    name_of(op)
                ),
            )),
        }
    }
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
    let predicate = integer_of(op, "predicate");
    let found = match name_of(op) {
        arith::CMPF => predicate.and_then(ScalarOp::of_cmpf),
        arith::CMPI => predicate
            .and_then(Predicate::numbered)
            .and_then(ScalarOp::of_cmpi),
        name => {
            let width = results_of(op).first().and_then(|of| int_width(of.r#type()));
            ScalarOp::of_bits(name, width == Some(1)).or_else(|| ScalarOp::of_mlir(name))
        }
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
