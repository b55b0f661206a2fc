//! Prologues of products: what is multiplied in place of the elements of A and B as they are stored.

use super::super::{Checked, tensor as operand};
use super::copy::verify_within;
use super::elementwise::{check_body, one_block};
use super::gemm::{check_shape, check_space};
use super::located::Located;
use crate::mlir::*;
use crate::ops::cute;
use crate::{
    algorithm, contract,
    maps::is_same_along,
    region,
    types::{self, MemRef, Space, memref_of},
};
use cute_layout::atoms::Elem;
use melior::ir::{Attribute, ValueLike};

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
        for input in &inputs {
            let input = memref_of(*input).ok_or("expected tensors")?;
            check_space(&name, &input, Space::Gmem)?;
            check_shape(&name, &input, (factor, tensor))?;
            arguments.push(algorithm::argument_type(input.element));
        }
        one_block(block)?;
        let yields = yielded(block)?;
        let types: Vec<_> = yields.iter().map(|value| value.r#type()).collect();
        check_body(block, &arguments, &types)?;
        let multiplied = types[0];
        if types::element_bits(multiplied).is_none_or(|bits| bits < 8) {
            return Err(format!(
                "expected a prologue of {factor} that yields a number to be multiplied, found {multiplied}"
            ));
        }
        if let [_, scale] = yields[..] {
            check_scale(factor, block, scale, &inputs, op.accumulate())?;
        }
    }
    Ok(())
}

/// The values that a region yields: what is multiplied, and a scale where there is one.
fn yielded(block: Blk<'_>) -> Result<Vec<Val<'_>>, String> {
    let end = ops_of(block).pop().filter(|op| name_of(*op) == cute::YIELD);
    let yielded = end.map(operands_of).unwrap_or_default();
    match yielded.len() {
        1 | 2 => Ok(yielded),
        found => Err(format!(
            "expected a prologue that ends in cute.yield of one number, or of one and a scale, found {found} of them"
        )),
    }
}

/// Checks the scale that a prologue yields beside what is multiplied: it is no function of the element, and of tensors that are the same along K, or for groups along it.
fn check_scale(
    factor: &str,
    block: Blk<'_>,
    scale: Val<'_>,
    inputs: &[Val<'_>],
    accumulate: Option<Attribute<'_>>,
) -> Checked {
    let sums = accumulate.and_then(type_value);
    let is_single = types::elem(scale.r#type()) == Ok(Elem::F32);
    if !is_single || sums != Some(scale.r#type()) {
        return Err(format!(
            "expected a prologue of {factor} that yields a scale of f32 behind what is multiplied, and sums of f32, which it multiplies; found {} and sums of {}",
            scale.r#type(),
            sums.map_or("no type".to_owned(), |ty| ty.to_string())
        ));
    }
    let used = region::arguments_used(block, scale);
    for (at, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        let Some(input) = at.checked_sub(1) else {
            return Err(format!(
                "expected a scale that is the same for a group of elements, found one that the prologue of {factor} computes of each element; \
                 multiply the element by it, and yield one number"
            ));
        };
        let input = inputs.get(input).and_then(|input| memref_of(*input));
        let layout = input.ok_or("expected tensors")?.layout;
        let along = layout.mode(1).and_then(|mode| mode.coalesce());
        let along = along.map_err(|e| e.to_string())?;
        if !is_same_along(&layout, 1) && contract::group_of(&along).is_none() {
            return Err(format!(
                "expected input {} of the prologue of {factor}, of which it computes a scale, to be the same for groups of elements along K, such as \
                 (128,56):(0,1), found {layout}; multiply the element by it, and yield one number",
                at - 1
            ));
        }
    }
    Ok(())
}

/// Verifies the computation of A's or B's tile in shared memory from one in global memory, or in registers from one in shared memory.
pub(super) fn verify_factor_transform(op: cute::BlockTransform<'_>, factor: &str) -> Checked {
    let (inputs, outputs) = (op.inputs(), op.outputs());
    let ([first, others @ ..], [output]) = (&inputs[..], &outputs[..]) else {
        return Err(format!(
            "expected a tile of {factor} in global or shared memory, perhaps others of its shape, and one tile in shared memory or in registers \
             that is written, found {} and {}",
            inputs.len(),
            outputs.len()
        ));
    };
    let located = Located::of(op.op(), inputs.len() + 1)?;
    let (stored, made) = (operand(0, *first)?, operand(inputs.len(), *output)?);
    let is_in_registers = made.space == Space::Rmem;
    if is_in_registers {
        check_space(
            "the first input of what is computed in registers",
            &stored,
            Space::Smem,
        )?;
        if located.is_of_factor() || op.coords().is_some() || op.end().is_some() {
            return Err(
                "computes a factor in registers of a whole tile in shared memory; expected no coordinates, whole matrices or rows, which its copy into shared \
                 memory has"
                    .to_owned(),
            );
        }
    } else {
        check_space("the first input", &stored, Space::Gmem)?;
        check_space("the output", &made, Space::Smem)?;
        located.check_factor(&stored, &made)?;
    }
    let expected = algorithm::extents("a tile", &made.layout)?;
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
        (Some(coords), Some(end)) => verify_within(&stored, &made, coords, end)?,
        _ => return Err("expected both coordinates and an end, or neither".to_owned()),
    }
    let block = op
        .body()
        .ok_or("expected a region that computes elements")?;
    one_block(block)?;
    check_body(block, &arguments, &[made.element])
}
