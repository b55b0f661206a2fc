//! Operations of the regions of products and maps. What is wrong with one is said where it stands.

use super::super::{Checked, check_rounding};
use crate::diag::{self, Failure};
use crate::mlir::*;
use crate::ops::{arith, cute, scf};
use crate::types;
use cute_arith::{MAX_REGION_OPS, Predicate, ScalarOp};
use melior::ir::{ValueLike, operation::OperationLike};

/// Checks the regions of a product or a map of numbers, if the op is one: that all of their ops are operations on numbers, which a kernel and the host
/// compute alike.
///
/// # Errors
/// What is wrong with an op of a region, which has been said there.
pub(in super::super) fn check_regions(op: Op<'_>) -> Result<(), Failure> {
    let regions = match name_of(op) {
        cute::CONTRACT => cute::Contract::of(op).map_or_else(Vec::new, |contract| {
            vec![
                ("an epilogue", contract.epilogue()),
                ("a prologue", contract.prologue_a()),
                ("a prologue", contract.prologue_b()),
            ]
        }),
        cute::MAP => vec![("a map", cute::Map::of(op).and_then(|op| op.body()))],
        cute::BLOCK_MAP => vec![("a map", cute::BlockMap::of(op).and_then(|op| op.body()))],
        cute::BLOCK_FUSE => vec![("a map", cute::BlockFuse::of(op).and_then(|op| op.body()))],
        _ => return Ok(()),
    };
    let regions = regions
        .into_iter()
        .filter_map(|(what, block)| Some((what, block?)));
    diag::each(regions, |(what, block)| check_numbers(op, what, block))
}

/// Checks that all ops of a region are operations on numbers; a map has reductions, too.
fn check_numbers(around: Op, what: &str, block: Blk) -> Result<(), Failure> {
    let mut ops = ops_of(block);
    ops.pop();
    if ops.len() > MAX_REGION_OPS {
        return Err(diag::error(
            around.location(),
            format!(
                "'{}' op expected {what} of at most {MAX_REGION_OPS} operations, found {}; compute the rest by a cute.map of its own",
                name_of(around),
                ops.len()
            ),
        ));
    }
    // What is wrong with an op is often wrong with those that use it.
    ops.into_iter().try_for_each(|op| {
        check_known(what, op)
            .and_then(|()| check_integers(op))
            .and_then(|()| check_predicate(op))
            .and_then(|()| check_rounding(op))
            .map_err(|message| diag::error(op.location(), message))
    })
}

fn check_known(what: &str, op: Op) -> Checked {
    let name = name_of(op);
    let is_known = match name {
        arith::CONSTANT | arith::CMPF | arith::CMPI => true,
        cute::ALL_REDUCE => what == "a map",
        _ => ScalarOp::of_mlir(name).is_some() || ScalarOp::of_bits(name, true).is_some(),
    };
    if is_known {
        return Ok(());
    }
    Err(format!(
        "expected an operation on numbers in {what}, which a kernel and the host compute alike: constants, arithmetic, comparisons and \
         conversions of arith, bits of integers, and functions such as math.exp; found '{name}'; {}",
        in_place_of(name)
    ))
}

/// The op or the way by which a region has what it doesn't take.
fn in_place_of(name: &str) -> &'static str {
    match name {
        "math.powf" => "x^y is math.exp2 of y * math.log2(x)",
        "math.fpowi" | "math.ipowi" => "powers of known exponents are products",
        "math.log1p" => "it is math.log of x + 1",
        "math.log10" => "it is math.log2 times a constant",
        "math.expm1" => "it is math.exp of x, minus 1",
        "math.tan" => "it is math.sin of x divided by its math.cos",
        "math.sinh" | "math.cosh" => "it is made of math.exp of x and of -x",
        "math.erfc" => "it is 1 minus math.erf",
        "math.cbrt" => "it is math.exp2 of a third of math.log2",
        "math.round" => {
            "math.roundeven rounds halves to even numbers; math.floor of x + 0.5 rounds them up"
        }
        "math.clampf" => "it is arith.minimumf of arith.maximumf",
        "math.isnan" => "it is arith.cmpf une of x and x",
        "arith.remf" => "it is x - y * math.trunc of x / y",
        "arith.fptoui" => "arith.fptosi to a wider integer has the same numbers",
        "arith.maxui" | "arith.minui" | "arith.divui" | "arith.remui" | "arith.ceildivui" => {
            "numbers of tensors have signs: arith.extui to a wider integer, and the signed operation on that"
        }
        "arith.ceildivsi" | "arith.floordivsi" => {
            "arith.divsi rounds to zero, and arith.select corrects it"
        }
        "math.absi" => "it is arith.maxsi of x and 0 - x",
        "arith.bitcast" => {
            "the bits of a number are a tensor of integers at the same address, which the map is given as well"
        }
        "arith.index_cast" | "arith.index_castui" => {
            "a region has no indices: give it numbers of i32, by a tensor behind ins or by an argument of the function"
        }
        scf::IF => "arith.select chooses between values that are both computed",
        scf::FOR | "scf.while" => {
            "write the steps out, or reduce along a mode by cute.all_reduce in a cute.map"
        }
        cute::ALL_REDUCE => {
            "an output of a product is reduced by `reduce` behind it, `outs(%C, %R reduce add)`, or by a cute.map behind the product"
        }
        "func.call" => "write out what the function does",
        _ if name.starts_with("cute.") => {
            "tensors whose elements it takes stand behind ins, which hands them to its arguments; another product or map stands beside \
             this one"
        }
        _ => "compute it of these, or by a kernel of your own (docs/kernels.md)",
    }
}

/// Checks that integers of an op are as wide as those of tensors, or truth values, which have no sign.
fn check_integers(op: Op) -> Checked {
    let values = operands_of(op).into_iter().chain(results_of(op));
    let widths = values.filter_map(|value| types::int_width(value.r#type()));
    let widths: Vec<u32> = widths.collect();
    let name = name_of(op);
    if let Some(other) = widths.iter().find(|width| ![1, 8, 32, 64].contains(*width)) {
        return Err(format!(
            "expected integers of 8, 32 or 64 bits, or truth values, as the host computes them to verify a kernel, found i{other} in \
             '{name}'; use i32"
        ));
    }
    if counts(name) && widths.contains(&1) && name != arith::CMPI
        || name == arith::CMPI && taken_bits(op) == Some(1)
    {
        return Err(format!(
            "expected numbers, as truth values have no sum and no order (arith.andi, arith.ori, arith.xori, arith.select), found i1 in '{name}'"
        ));
    }
    if matches!(name, arith::SITOFP | arith::EXTSI) && widths.first() == Some(&1) {
        return Err(format!(
            "expected a number with a sign, found i1 in '{name}'; of a truth value, 1 or 0 is arith.uitofp or arith.extui, others \
             arith.select"
        ));
    }
    if matches!(name, arith::TRUNCI | arith::FPTOSI) && widths.last() == Some(&1) {
        return Err(format!(
            "expected a number as the result of '{name}', found i1; a truth value is a comparison"
        ));
    }
    Ok(())
}

/// Bits of the first operand of an op, if that is an integer.
fn taken_bits(op: Op) -> Option<u32> {
    let first = operands_of(op).into_iter().next()?;
    types::int_width(first.r#type())
}

/// Tells whether an op on integers takes numbers alone, and no truth values.
fn counts(name: &str) -> bool {
    let op = ScalarOp::of_mlir(name);
    op.is_some_and(ScalarOp::is_of_integers)
        || matches!(
            name,
            arith::ADDI | arith::SUBI | arith::MULI | arith::MAXSI | arith::MINSI | arith::CMPI
        )
}

/// Checks that a comparison is one that the host computes: of numbers with signs, that are no NaN.
fn check_predicate(op: Op) -> Checked {
    let (name, predicate) = (name_of(op), integer_of(op, "predicate"));
    let of_integers = predicate.and_then(Predicate::numbered);
    let (compares, known) = match name {
        arith::CMPI => (
            of_integers.and_then(ScalarOp::of_cmpi),
            "eq, ne, slt, sle, sgt or sge, as numbers of tensors have signs; of unsigned bytes, arith.extui to i32",
        ),
        arith::CMPF => (
            predicate.and_then(ScalarOp::of_cmpf),
            "one of oeq, ogt, oge, olt, ole, one and the unordered ones of these; a NaN is what is not equal to itself",
        ),
        _ => return Ok(()),
    };
    if compares.is_some() {
        return Ok(());
    }
    let found = match (name, predicate) {
        (arith::CMPI, _) => of_integers.map_or("none", Predicate::name),
        (_, Some(0)) => "false",
        (_, Some(7)) => "ord",
        (_, Some(14)) => "uno",
        _ => "true",
    };
    Err(format!(
        "expected a predicate of '{name}' that the host computes to verify a kernel, {known}; found {found}"
    ))
}
