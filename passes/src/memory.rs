//! Tensors and pointers as values: which memory they are of.

use cute_ir::{
    attributes::{LLVM_NOALIAS, NOALIAS},
    mlir::*,
    types::{CuteType, Space, memref_of},
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::BTreeSet;

/// The allocation or argument that a tensor or a pointer is of; where a loop, a branch or a choice gives it, that.
pub(crate) fn root_of(value: Val<'_>) -> Val<'_> {
    let mut value = value;
    while let Some(op) = defining_op(value) {
        // A view only computes, and is of one tensor: what makes memory of its own has that as an effect.
        let mut of = operands_of(op).into_iter().filter(|v| is_memory(*v));
        let (Some(source), None) = (of.next(), of.next()) else {
            break;
        };
        if !is_pure(op) {
            break;
        }
        value = source;
    }
    value
}

/// Tells whether a value is a tensor or a pointer.
pub fn is_memory(value: Val<'_>) -> bool {
    matches!(
        CuteType::of(value.r#type()),
        Some(CuteType::MemRef(_) | CuteType::Ptr(_))
    )
}

/// The space of a tensor's elements.
pub(crate) fn space_of(value: Val<'_>) -> Option<Space> {
    memref_of(value).map(|memref| memref.space)
}

/// Tells whether an argument of a kernel has memory of its own: what is written through it is reached through no other one, and what is reached through it is written
/// through no other.
pub fn is_apart(kernel: Op<'_>, index: usize) -> bool {
    [NOALIAS, LLVM_NOALIAS]
        .iter()
        .any(|name| argument_attribute(kernel, index, name).is_some())
}

/// The values on which an op has an effect of a kind: all of its operands where it does not say which, or does not say what it does.
pub(crate) fn touched<'c>(op: Op<'c>, kind: EffectKind) -> Vec<Val<'c>> {
    let all = || operands_of(op);
    let Some(effects) = effects_of(op) else {
        return all();
    };
    let of_kind = effects.iter().filter(|effect| effect.kind == kind);
    of_kind
        .flat_map(|effect| effect.value.map_or_else(all, |value| vec![value]))
        .collect()
}

/// The arguments that a kernel may write: an op that does not say what it does may write all that it is given.
pub fn written(kernel: Op<'_>, arguments: &[Val<'_>]) -> BTreeSet<usize> {
    let mut written = BTreeSet::new();
    for op in nested_ops(kernel)
        .into_iter()
        .filter(|op| op.region_count() == 0)
    {
        let targets = touched(op, EffectKind::Write).into_iter();
        for target in targets.filter(|value| is_memory(*value)) {
            let root = root_of(target);
            match arguments.iter().position(|argument| *argument == root) {
                Some(index) => {
                    written.insert(index);
                }
                // What an op makes has memory of its own; through a loop, a branch or a choice any of them may be meant.
                None if defining_op(root)
                    .is_some_and(|op| !is_pure(op) && op.region_count() == 0) => {}
                None => written.extend(0..arguments.len()),
            }
        }
    }
    written
}

/// The arguments of a kernel in global memory that are the same all through it: with memory of their own, through which nothing is written.
pub(crate) fn constants<'c>(kernel: Op<'c>) -> Vec<Val<'c>> {
    let arguments = body_of(kernel, 0).map(arguments_of).unwrap_or_default();
    let written = written(kernel, &arguments);
    let all = arguments.into_iter().enumerate();
    let constant = all.filter(|(place, argument)| {
        space_of(*argument) == Some(Space::Gmem)
            && is_apart(kernel, *place)
            && !written.contains(place)
    });
    constant.map(|(_, argument)| argument).collect()
}
