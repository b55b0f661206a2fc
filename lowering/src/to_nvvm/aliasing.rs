//! The arguments of a kernel that have memory of their own: the fact `cute.noalias`, and what follows from it for launches.
//!
//! As `restrict` of C and `noalias` of LLVM: what is written through an argument that has the fact is reached through no other
//! one, and what is reached through it is written through no other. Arguments that are only read may be one tensor.

use cute_ir::{
    Failure,
    attributes::{DISJOINT, NOALIAS},
    diag,
    mlir::*,
    ops::gpu,
};
use cute_passes::memory::{is_apart, is_memory, written};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;

/// The pairs of a kernel's arguments that must not overlap: one of them has the fact, and the kernel may write one of them.
pub(super) fn pairs(kernel: Op<'_>) -> Vec<[usize; 2]> {
    let arguments = body_of(kernel, 0).map(arguments_of).unwrap_or_default();
    let memory: Vec<usize> = (0..arguments.len())
        .filter(|i| is_memory(arguments[*i]))
        .collect();
    if !memory.iter().any(|i| is_apart(kernel, *i)) {
        return Vec::new();
    }
    let written = written(kernel, &arguments);
    let mut pairs = BTreeSet::new();
    for (at, a) in memory.iter().enumerate() {
        for b in &memory[at + 1..] {
            let apart = is_apart(kernel, *a) || is_apart(kernel, *b);
            if apart && (written.contains(a) || written.contains(b)) {
                pairs.insert([*a, *b]);
            }
        }
    }
    pairs.into_iter().collect()
}

/// Leaves the pairs of its kernel on a launch. Errors: one tensor passed as two
/// arguments that must not overlap.
pub(super) fn record(launch: Op<'_>, pairs: &[[usize; 2]]) -> Result<(), Failure> {
    let launched = gpu::LaunchFunc::of(launch);
    let operands = launched.map(gpu::LaunchFunc::kernel_operands);
    let operands = operands.unwrap_or_default();
    for [a, b] in pairs {
        if operands.get(*a) == operands.get(*b) {
            return Err(diag::error(
                launch.location(),
                format!(
                    "passes one tensor as the arguments {a} and {b} of a kernel that was promised, by {NOALIAS}, that what it \
                     writes is reached through one argument only; expected two tensors, or a kernel without the promise"
                ),
            ));
        }
    }
    if !pairs.is_empty() {
        let flat: Vec<i64> = pairs.iter().flatten().map(|i| *i as i64).collect();
        set_attribute(launch, DISJOINT, Builder::before(launch).i64_array(&flat));
    }
    Ok(())
}

/// The pairs of a launch's kernel operands that must not overlap.
pub(crate) fn pairs_of(launch: Op<'_>) -> Vec<[usize; 2]> {
    let flat = attribute_of(launch, DISJOINT).and_then(i64s_of);
    let flat: Vec<usize> = flat
        .unwrap_or_default()
        .into_iter()
        .filter_map(|i| usize::try_from(i).ok())
        .collect();
    flat.chunks_exact(2)
        .map(|pair| [pair[0], pair[1]])
        .collect()
}
