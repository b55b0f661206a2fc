//! Elementwise ops and reductions.

use super::super::{Checked, same, tensor};
use super::copy::check_element_predicate;
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    algorithm,
    args::AxpbyArgs,
    types::memref_of,
    types::{self, CuteType},
};
use cute_layout::Layout;
use melior::ir::{Type, ValueLike, operation::OperationLike};

pub(in super::super) fn verify_clear(op: cute::Clear<'_>) -> Checked {
    let memref = tensor(0, op.tensor())?;
    algorithm::extents("a tensor", &memref.layout).map(|_| ())
}

pub(in super::super) fn verify_fill(op: cute::Fill<'_>) -> Checked {
    let memref = tensor(0, op.tensor())?;
    algorithm::extents("a tensor", &memref.layout)?;
    same("a value", op.value().r#type(), memref.element)
}

pub(in super::super) fn verify_axpby(op: Op<'_>) -> Checked {
    let args = AxpbyArgs::of(op).ok_or_else(|| {
        format!(
            "expected (alpha, x, beta, y), perhaps with a predicate behind them, found {} operands",
            op.operand_count()
        )
    })?;
    let (x, y) = (tensor(1, args.x)?, tensor(3, args.y)?);
    if x.element != y.element {
        return Err(format!(
            "expected x and y of one element type, found {} and {}; use cute.convert",
            x.element, y.element
        ));
    }
    if types::element_bits(x.element).is_none_or(|bits| bits < 8) {
        return Err(format!(
            "expected elements to calculate with, found {}",
            x.element
        ));
    }
    same("alpha", args.alpha.r#type(), x.element)?;
    same("beta", args.beta.r#type(), y.element)?;
    let size = algorithm::common_size(&x, &y)?;
    check_distinct("y", &y)?;
    match args.predicate {
        Some(predicate) => check_element_predicate(&tensor(4, predicate)?, size),
        None => Ok(()),
    }
}

/// A tensor in which every element has a place of its own: others would be written several times.
fn check_distinct(what: &str, memref: &types::MemRef) -> Checked {
    let repeats = memref.layout.nullspace().and_then(|null| null.size());
    match repeats {
        Ok(repeats @ 2..) => Err(format!(
            "writes each place of {what} {repeats} times, as {} has modes of stride 0; use a slice without them",
            memref.layout
        )),
        _ => Ok(()),
    }
}

/// Checks that the block has these arguments and yields these types.
pub(super) fn check_body(block: Blk, arguments: &[Type], yields: &[Type]) -> Checked {
    let list = |types: &[Type]| {
        let texts: Vec<String> = types.iter().map(ToString::to_string).collect();
        texts.join(", ")
    };
    let found: Vec<Type> = arguments_of(block)
        .into_iter()
        .map(|value| value.r#type())
        .collect();
    if found != arguments {
        return Err(format!(
            "expected a region of the arguments ({}), found ({})",
            list(arguments),
            list(&found)
        ));
    }
    let end = ops_of(block)
        .pop()
        .ok_or("expected a region that ends in cute.yield")?;
    if name_of(end) != cute::YIELD {
        return Err(format!(
            "expected a region that ends in cute.yield, found '{}'",
            name_of(end)
        ));
    }
    // It has not been verified yet.
    let yielded: Vec<Type> = operands_of(end)
        .iter()
        .map(|value| value.r#type())
        .collect();
    match (&yielded[..], yields) {
        ([found], [expected]) => same("a yielded value", *found, *expected),
        (found, expected) if found == expected => Ok(()),
        (_, [_]) => Err("expected a region that yields one value".to_owned()),
        (found, expected) => Err(format!(
            "expected a region that yields ({}), found ({})",
            list(expected),
            list(found)
        )),
    }
}

pub(super) fn one_block(block: Blk) -> Checked {
    if next_block(block).is_some() {
        return Err(
            "expected a region of one block; write branches as arith.select or scf.if".to_owned(),
        );
    }
    Ok(())
}

fn size_of(layout: &Layout) -> Result<i64, String> {
    Ok(algorithm::extents("a tensor", layout)?.iter().product())
}

pub(in super::super) fn verify_transform(op: cute::Transform<'_>) -> Checked {
    let tensors = op.tensors();
    let Some((last, inputs)) = tensors.split_last() else {
        return Err("expected at least one tensor".to_owned());
    };
    let output = memref_of(*last).ok_or_else(|| {
        format!(
            "expected a tensor in memory or registers as the last one, which is written, found {}",
            last.r#type()
        )
    })?;
    let expected = size_of(&output.layout)?;
    check_distinct("the result", &output)?;
    let context = context_of_type(last.r#type());
    let mut arguments = Vec::new();
    for input in inputs {
        let (layout, element) = match CuteType::of(input.r#type()) {
            Some(CuteType::MemRef(memref)) => (memref.layout, memref.element),
            Some(CuteType::CoordTensor { start, layout }) => {
                let element = algorithm::coordinate(&start, &layout)?;
                (layout, types::coord_type(context, &element))
            }
            _ => return Err(format!("expected a tensor, found {}", input.r#type())),
        };
        let found = size_of(&layout)?;
        if found != expected {
            return Err(format!(
                "expected as many elements in every tensor, found {found} in {layout} and {expected} in {}",
                output.layout
            ));
        }
        arguments.push(element);
    }
    if inputs.is_empty() {
        arguments.push(output.element);
    }
    let block = op
        .body()
        .ok_or("expected a region that computes an element")?;
    one_block(block)?;
    check_body(block, &arguments, &[output.element])
}

pub(in super::super) fn verify_reduce(op: cute::Reduce<'_>) -> Checked {
    let memref = tensor(0, op.tensor())?;
    let init = op.init().r#type();
    same("a result", op.result().r#type(), init)?;
    algorithm::extents("a tensor", &memref.layout)?;
    let kind = op.kind().and_then(string_value);
    match (kind, op.body()) {
        (Some(_), Some(_)) => Err("expected a kind or a region, found both".to_owned()),
        (None, None) => Err(
            "expected a kind, such as {kind = \"add\"}, or a region of two arguments".to_owned(),
        ),
        (Some("add" | "mul" | "min" | "max"), None) => {
            same("an initial value", init, memref.element)?;
            match types::element_bits(init) {
                Some(8..) => Ok(()),
                _ => Err(format!("expected elements to calculate with, found {init}")),
            }
        }
        (Some(kind), None) => Err(format!(
            "expected the kind add, mul, min or max, found \"{kind}\"; write others as a region"
        )),
        (None, Some(block)) => {
            one_block(block)?;
            check_body(block, &[init, memref.element], &[init])
        }
    }
}
