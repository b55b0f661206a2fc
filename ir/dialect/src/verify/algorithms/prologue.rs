//! Prologues of products: what is multiplied in place of the elements of A and B as they are stored.

use super::super::{Checked, tensor as operand};
use super::copy::verify_within;
use super::elementwise::{check_body, one_block};
use super::gemm::{check_numbers, check_shape, check_space};
use super::located::Located;
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    algorithm,
    types::{self, MemRef, Space, memref_of},
};
use melior::ir::{Type, ValueLike};

/// Checks the prologues of a product of these factors.
pub(super) fn verify_prologues(op: cute::Contract<'_>, [a, b]: [&MemRef; 2]) -> Checked {
    let all = [
        ("A", a, op.inputs_a(), op.prologue_a()),
        ("B", b, op.inputs_b(), op.prologue_b()),
    ];
    for (factor, tensor, inputs, region) in all {
        let Some(block) = region else {
            if inputs.is_empty() {
                continue;
            }
            return Err(format!(
                "expected a prologue of {factor}, a region that says what is multiplied, found none for its inputs"
            ));
        };
        let name = format!("an input of the prologue of {factor}");
        let mut arguments = vec![algorithm::argument_type(tensor.element)];
        for input in inputs {
            let input = memref_of(input).ok_or("expected tensors")?;
            check_space(&name, &input, Space::Gmem)?;
            check_shape(&name, &input, (factor, tensor))?;
            arguments.push(algorithm::argument_type(input.element));
        }
        one_block(block)?;
        let yielded = yielded_type(block)?;
        check_body(block, &arguments, &[yielded])?;
        check_numbers("a prologue", block, &[])?;
        if types::element_bits(yielded).is_none_or(|bits| bits < 8) {
            return Err(format!(
                "expected a prologue of {factor} that yields a number to be multiplied, found {yielded}"
            ));
        }
    }
    Ok(())
}

/// The type of the only value that a region yields.
fn yielded_type(block: Blk<'_>) -> Result<Type<'_>, String> {
    let end = ops_of(block).pop().filter(|op| name_of(*op) == cute::YIELD);
    let yielded = end.map(operands_of).unwrap_or_default();
    match yielded[..] {
        [value] => Ok(value.r#type()),
        _ => Err(format!(
            "expected a prologue that ends in cute.yield of one number, found {} of them",
            yielded.len()
        )),
    }
}

/// Verifies the computation of A's or B's tile in shared memory.
pub(super) fn verify_factor_transform(op: cute::BlockTransform<'_>, factor: &str) -> Checked {
    let (inputs, outputs) = (op.inputs(), op.outputs());
    let ([first, others @ ..], [output]) = (&inputs[..], &outputs[..]) else {
        return Err(format!(
            "expected a tile of {factor} in global memory, perhaps others of its shape, and one tile in shared memory that is \
             written, found {} and {}",
            inputs.len(),
            outputs.len()
        ));
    };
    let located = Located::of(op.op(), inputs.len() + 1)?;
    let (stored, shared) = (operand(0, *first)?, operand(inputs.len(), *output)?);
    check_space("the first input", &stored, Space::Gmem)?;
    check_space("the output", &shared, Space::Smem)?;
    let expected = algorithm::extents("a tile", &shared.layout)?;
    located.check_factor(&stored, &shared)?;
    let stored = located.tile(stored, 0)?;
    let mut arguments = vec![algorithm::argument_type(stored.element)];
    let mut tiles = vec![stored.clone()];
    for (at, value) in others.iter().enumerate() {
        let tensor = operand(at + 1, *value)?;
        if tensor.space == Space::Smem {
            return Err(
                "expected an input behind the first in gmem or rmem, found smem".to_owned(),
            );
        }
        arguments.push(algorithm::argument_type(tensor.element));
        tiles.push(located.tile(tensor, at + 1)?);
    }
    for tile in tiles {
        if algorithm::extents("a tile", &tile.layout)? != expected {
            return Err(format!(
                "expected tiles of one shape, found {} beside {expected:?}",
                tile.layout
            ));
        }
    }
    match (op.coords(), op.end()) {
        (None, None) => {}
        (Some(coords), Some(end)) => verify_within(&stored, &shared, coords, end)?,
        _ => return Err("expected both coordinates and an end, or neither".to_owned()),
    }
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    one_block(block)?;
    check_body(block, &arguments, &[shared.element])
}
