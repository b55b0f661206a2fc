//! The part of a kernel that its loads need: what those who copy compute themselves.

use super::rings::Ring;
use crate::memory::{constants, root_of};
use cute_ir::{
    Failure,
    attributes::NOALIAS,
    diag,
    mlir::*,
    ops::{cute, scf},
};
use melior::ir::operation::OperationLike;
use std::{cell::LazyCell, collections::HashSet};

/// The ops that loads need, and the loops and branches around them.
///
/// Errors: an operand of a load that depends on what others write.
pub(super) fn of<'c>(kernel: Op<'c>, rings: &[Ring<'c>]) -> Result<HashSet<OpKey>, Failure> {
    let mut needed = HashSet::new();
    let mut left: Vec<(Val<'c>, Op<'c>)> = Vec::new();
    let mut around = HashSet::new();
    let all_of = |op: Op<'c>, of: Op<'c>, left: &mut Vec<(Val<'c>, Op<'c>)>| {
        left.extend(operands_of(op).into_iter().map(|value| (value, of)));
    };
    let enclose = |op: Op<'c>, of: Op<'c>, around: &mut HashSet<OpKey>, left: &mut Vec<_>| {
        let mut op = op;
        while let Some(parent) = parent_op(op).filter(|parent| *parent != kernel) {
            if !around.insert(op_key(parent)) {
                break;
            }
            all_of(parent, of, left);
            for end in blocks_of(parent)
                .into_iter()
                .filter_map(|block| ops_of(block).pop())
            {
                all_of(end, of, left);
            }
            op = parent;
        }
    };
    let tensors: HashSet<_> = rings.iter().flat_map(Ring::roots).collect();
    for (load, slice) in rings
        .iter()
        .flat_map(|ring| ring.loads.iter().zip(&ring.slices))
    {
        // A slice is made of a place of the ring: it needs its coordinates.
        let views: HashSet<_> = slice
            .iter()
            .flat_map(|view| results_of(*view))
            .map(key)
            .collect();
        let is_made =
            |value: &Val<'c>| tensors.contains(&key(*value)) || views.contains(&key(*value));
        for op in slice.iter().chain([load]) {
            let operands = operands_of(*op).into_iter();
            left.extend(
                operands
                    .filter(|value| !is_made(value))
                    .map(|value| (value, *load)),
            );
        }
        enclose(*load, *load, &mut around, &mut left);
    }
    // Most kernels' loads need no memory.
    let constants = LazyCell::new(|| constants(kernel));
    let is_constant = |op: Op<'c>| {
        let load = cute::MemrefLoad::of(op);
        load.is_some_and(|load| constants.contains(&root_of(load.tensor())))
    };
    let is_alike = |op: Op<'c>| is_pure(op) || is_constant(op);
    // Loops and branches do what is within them.
    let is_structure = |op: Op<'c>| [scf::FOR, scf::IF].contains(&name_of(op));
    let is_known = |op: Op<'c>| {
        is_alike(op)
            || is_structure(op)
                && nested_ops(op)
                    .into_iter()
                    .all(|inner| is_alike(inner) || is_structure(inner))
    };
    while let Some((value, load)) = left.pop() {
        let Some(op) = defining_op(value) else {
            continue;
        };
        if around.contains(&op_key(op)) || !needed.insert(op_key(op)) {
            continue;
        }
        if !is_known(op) {
            return Err(diag::error_with_notes(
                op.location(),
                format!(
                    "'{}' op decides what a load by TMA copies, and depends on memory that others may write; expected coordinates and bounds \
                     that are computed of arguments, indices and constants, or read from an argument with {NOALIAS} that the kernel does not write",
                    name_of(op)
                ),
                &[(load.location(), "the load is here")],
            ));
        }
        all_of(op, load, &mut left);
        for inner in nested_ops(op) {
            all_of(inner, load, &mut left);
        }
        enclose(op, load, &mut around, &mut left);
    }
    Ok(needed)
}
