//! `explain=LINE`: by which rules the index arithmetic of a line of the source became what it is, as remarks.

use super::{Indices, LIMITS, emit::leaf_sets};
use cute_ir::{Failure, diag, mlir::*};
use cute_simplify::{Simplified, Step, explain};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Says it of every root that stands at a line, or is used there.
pub(super) fn say(indices: &Indices<'_>, simple: &Simplified, line: i64) -> Result<(), Failure> {
    let kernel = indices.kernel;
    let mut others = BTreeSet::new();
    let mut found = false;
    let leaves = leaf_sets(&indices.region.nodes);
    for (root, (value, users)) in indices.roots.iter().enumerate() {
        let ops = defining_op(*value).into_iter().chain(users.iter().copied());
        let lines: Vec<Vec<i64>> = ops.map(lines_of).collect();
        if !lines.iter().flatten().any(|known| *known == line) {
            others.extend(lines.iter().filter_map(|all| all.last()).copied());
            continue;
        }
        found = true;
        let names = |leaf| format!("x{leaf}");
        let steps = explain(&indices.region, simple, root, &LIMITS, &names)
            .map_err(|e| diag::error(kernel.location(), format!("cute-simplify-indices: {e}")))?;
        let place = defining_op(*value).unwrap_or(kernel).location();
        diag::remark(
            place,
            told(
                indices,
                &leaves[indices.region.roots[root]],
                steps.as_deref(),
            ),
        );
    }
    if !found {
        let others: Vec<String> = others.iter().map(i64::to_string).collect();
        diag::remark(
            kernel.location(),
            format!(
                "explain={line}: nothing of that line is index arithmetic whose result something else uses; lines of this kernel with some: {}",
                others.join(", ")
            ),
        );
    }
    Ok(())
}

/// The lines that an op is from: its own, and those of the calls that led there, outermost last.
fn lines_of(op: Op<'_>) -> Vec<i64> {
    let own = op.location();
    let all = std::iter::once(own).chain(callers_of(own));
    all.filter_map(|location| Some(place_of(location)?.line.into()))
        .collect()
}

/// An explanation in words, of an index that is computed from some leaves.
fn told(indices: &Indices<'_>, leaves: &BTreeSet<u32>, steps: Option<&[Step]>) -> String {
    let steps = match steps {
        None => {
            return "index arithmetic that is not explained: it is longer than some hundred operations written out, or the rules lead to its \
                    result only together with what others compute"
                .to_owned();
        }
        Some([]) => return "index arithmetic that stays as it is".to_owned(),
        Some(steps) => steps,
    };
    let mut text = match steps.len() {
        1 => "index arithmetic, in one step:".to_owned(),
        many => format!("index arithmetic, in {many} steps:"),
    };
    for Step {
        rule,
        before,
        after,
    } in steps
    {
        let _ = write!(text, "\n  {before}\n    = {after}   by {rule}");
    }
    for &leaf in leaves {
        let value = indices.leaves[leaf as usize];
        let from = match (defining_op(value), block_argument(value)) {
            (Some(op), _) => format!("'{}'", name_of(op)),
            (_, Some((_, number))) => format!("argument {number} of its block"),
            _ => "a value".to_owned(),
        };
        let facts = indices.region.leaves[leaf as usize].facts;
        let place = defining_op(value).and_then(|op| place_of(op.location()));
        let at = place.map_or(String::new(), |place| format!(" of line {}", place.line));
        let _ = write!(
            text,
            "\n  x{leaf} is {from}{at}, from {} to {}",
            facts.lo, facts.hi
        );
    }
    text
}
