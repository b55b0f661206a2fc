//! `explain=LINE`: by which rules the index arithmetic of a line of the source became what it is, as remarks.

use super::{Indices, LIMITS, leaves::LeafSets};
use crate::explain::{is_from, nothing, origin, told};
use cute_ir::{Failure, diag, mlir::*};
use cute_simplify::{Simplified, Step, explain, text};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Says it of every root that stands at a line, or is used there.
pub(super) fn say(indices: &Indices<'_>, simple: &Simplified, line: i64) -> Result<(), Failure> {
    let kernel = indices.kernel;
    let mut others = BTreeSet::new();
    let mut found = false;
    let leaves = LeafSets::of(&indices.region.nodes, indices.leaves.len());
    for (root, (value, users)) in indices.roots.iter().enumerate() {
        let ops = defining_op(*value).into_iter().chain(users.iter().copied());
        if !is_from(ops, line, &mut others) {
            continue;
        }
        found = true;
        let names = |leaf| format!("x{leaf}");
        let guards = &indices.guards;
        let steps = explain(&indices.region, guards, simple, root, &LIMITS, &names)
            .map_err(|e| diag::error(kernel.location(), format!("cute-simplify-indices: {e}")))?;
        let place = defining_op(*value).unwrap_or(kernel).location();
        let under = guards.iter().find(|guard| guard.roots.contains(&root));
        let conditions = under.map_or(&[][..], |guard| &guard.conditions);
        let asked = conditions.iter().map(|(node, _)| *node);
        let asked = asked.chain([indices.region.roots[root]]);
        let used: BTreeSet<u32> = asked.flat_map(|node| leaves.leaves(node)).collect();
        let is_told = steps.as_ref().is_some_and(|steps| !steps.is_empty());
        let mut told = of_leaves(indices, &used, steps.as_deref());
        for (condition, holds) in conditions.iter().filter(|_| is_told) {
            let Some(condition) = text(&indices.region.nodes, *condition, &names) else {
                continue;
            };
            let _ = match holds {
                true => write!(told, "\n  it is used where {condition} holds"),
                false => write!(told, "\n  it is used where {condition} does not hold"),
            };
        }
        diag::remark(place, told);
    }
    if !found {
        let text = nothing(line, "index arithmetic", "kernel", &others);
        diag::remark(kernel.location(), text);
    }
    Ok(())
}

/// An explanation in words, of an index that is computed from some leaves.
fn of_leaves(indices: &Indices<'_>, leaves: &BTreeSet<u32>, steps: Option<&[Step]>) -> String {
    let mut text = told("index arithmetic", steps);
    if steps.is_none_or(<[Step]>::is_empty) {
        return text;
    }
    for &leaf in leaves {
        let from = origin(indices.leaves[leaf as usize]);
        let facts = indices.region.leaves[leaf as usize].facts;
        let _ = write!(
            text,
            "\n  x{leaf} is {from}, from {} to {}",
            facts.lo, facts.hi
        );
    }
    text
}
