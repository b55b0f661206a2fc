//! Outputs that are reduced along rows, columns or both.

use super::super::Checked;
use crate::{
    maps::is_same_along,
    mlir::*,
    reduced,
    types::{self, MemRef, memref_of},
};
use cute_arith::ReduceOp;
use cute_layout::Leaf;
use melior::ir::{Attribute, Type};

/// Checks that numbers of a type can be reduced.
pub(super) fn check_reducible(kind: ReduceOp, ty: Type<'_>) -> Checked {
    let bits = types::element_bits(ty).unwrap_or(0);
    let float = types::is_float(ty);
    let fits = match kind {
        ReduceOp::Add => bits >= 32,
        ReduceOp::Mean => float && bits >= 32,
        ReduceOp::Maximum | ReduceOp::Minimum => bits >= if float { 16 } else { 8 },
    };
    if fits && bits <= 64 && (bits < 64 || float) {
        return Ok(());
    }
    Err(format!(
        "expected {}, found {ty}",
        match kind {
            ReduceOp::Add =>
                "numbers of f32, f64 or i32 to add; widen them before, by arith.extf or arith.extsi",
            ReduceOp::Mean =>
                "numbers of f32 or f64 to take the mean of; widen them before, by arith.extf or arith.sitofp",
            _ if float && bits == 8 =>
                "numbers of f16, bf16, f32 or f64, or integers of 8 to 32 bits, to compare; widen them before, by arith.extf",
            _ => "numbers of 8 to 32 bits, or of f64, to compare",
        }
    ))
}

/// Names the kinds of reductions.
pub(super) fn known_kinds() -> String {
    let known: Vec<_> = ReduceOp::ALL.iter().map(|kind| kind.name()).collect();
    known.join(", ")
}

/// Checks the outputs of a product, the first of which is C, and the attribute that says how they are reduced; `inputs` are the
/// tensors that are read for each element beside.
pub(super) fn check_outputs<'c>(
    outputs: &[Val<'c>],
    reduce: Option<Attribute<'c>>,
    inputs: &[Val<'c>],
) -> Checked {
    let named = reduce.and_then(array_of).unwrap_or_default();
    if reduce.is_some() && named.len() != outputs.len() {
        return Err(format!(
            "expected reduce to have a kind, or an empty text, for each of {} outputs, found {}",
            outputs.len(),
            named.len()
        ));
    }
    let kinds = reduced::kinds(reduce, outputs.len());
    for (at, (output, kind)) in outputs.iter().zip(&kinds).enumerate() {
        let name = named.get(at).copied().and_then(string_value).unwrap_or("");
        if kind.is_none() && !name.is_empty() {
            return Err(format!(
                "expected the kind {} behind reduce, found {name}",
                known_kinds()
            ));
        }
        let tensor = memref_of(*output).ok_or("expected tensors")?;
        match kind {
            Some(_) if at == 0 => {
                return Err(
                    "reduces C, which holds an element for each row and column; expected an output behind it to be reduced"
                        .to_owned(),
                );
            }
            Some(kind) => {
                check_along(at, &tensor)?;
                check_reducible(*kind, tensor.element).map_err(|e| format!("output {at}: {e}"))?;
                if inputs.contains(output) {
                    return Err(format!(
                        "reads output {at}, which is reduced, for elements that others still compute; expected an output of its own"
                    ));
                }
            }
            None if at > 0 => check_apart(at, &tensor)?,
            None => {}
        }
    }
    Ok(())
}

/// Checks that a reduced output is one along whole modes of rows and columns, and has elements of its own for each product of a batch.
fn check_along(at: usize, tensor: &MemRef<'_>) -> Checked {
    for mode in 0..2 {
        if !is_same_along(&tensor.layout, mode) && has_repeats(tensor, mode) {
            return Err(format!(
                "expected output {at} to have one element along mode {mode}, or all of them, found {}, which repeats some; give \
                 the whole mode the stride 0, or reduce the rest in a cute.map behind",
                tensor.layout
            ));
        }
    }
    if reduced::along(tensor) == [false; 2] {
        return Err(format!(
            "expected output {at}, which is reduced, to have the stride 0 along what it is reduced along, found {}",
            tensor.layout
        ));
    }
    if tensor.layout.rank() > 2 && has_repeats(tensor, 2) {
        return Err(format!(
            "expected output {at} to have elements of its own for each product of the batch, found {}; reduce along the batch in \
             a cute.map behind",
            tensor.layout
        ));
    }
    Ok(())
}

/// Checks that an output that is not reduced has an element for each row and column.
fn check_apart(at: usize, tensor: &MemRef<'_>) -> Checked {
    match (0..2).find(|mode| has_repeats(tensor, *mode)) {
        None => Ok(()),
        Some(mode) => Err(format!(
            "expected output {at} to be reduced along mode {mode}, where {} has the stride 0, by one of {}; write reduce and the \
             kind behind its name, or give it a stride there",
            tensor.layout,
            known_kinds()
        )),
    }
}

/// Tells whether some elements along a mode are known to be one.
fn has_repeats(tensor: &MemRef<'_>, mode: usize) -> bool {
    let Ok(mode) = tensor.layout.mode(mode) else {
        return false;
    };
    let (shape, stride) = (mode.shape().leaves(), mode.stride().leaves());
    let mut both = shape.iter().zip(&stride);
    both.any(|(extent, stride)| **extent != Leaf::Static(1) && **stride == Leaf::Static(0))
}
