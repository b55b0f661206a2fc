//! `explain=LINE`, the option of passes by equality saturation: the lines that an op is from, and steps in words.

use cute_ir::mlir::*;
use cute_simplify::Step;
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The lines that an op is from: its own, and those of the calls that led there, outermost last.
pub(crate) fn lines_of(op: Op<'_>) -> Vec<i64> {
    let own = op.location();
    let all = std::iter::once(own).chain(callers_of(own));
    all.filter_map(|location| Some(place_of(location)?.line.into()))
        .collect()
}

/// Tells whether one of the ops is from a line, and notes the last lines of those that are not.
pub(crate) fn is_from<'c>(
    ops: impl Iterator<Item = Op<'c>>,
    line: i64,
    others: &mut BTreeSet<i64>,
) -> bool {
    let lines: Vec<Vec<i64>> = ops.map(lines_of).collect();
    let found = lines.iter().flatten().any(|known| *known == line);
    if !found {
        others.extend(lines.iter().filter_map(|all| all.last()));
    }
    found
}

/// The message of a line that nothing of a kind (`what`) is from, in a place that `whose` names.
pub(crate) fn nothing(line: i64, what: &str, whose: &str, others: &BTreeSet<i64>) -> String {
    let others: Vec<String> = others.iter().map(i64::to_string).collect();
    format!(
        "explain={line}: nothing of that line is {what} whose result something else uses; lines of this {whose} with some: {}",
        others.join(", ")
    )
}

/// The steps of something (`what`) in words; none are those of what is too long or does not follow alone.
pub(crate) fn told(what: &str, steps: Option<&[Step]>) -> String {
    let steps = match steps {
        None => {
            return format!(
                "{what} that is not explained: it is longer than some hundred operations written out, or the rules lead to its \
                 result only together with what others compute"
            );
        }
        Some([]) => return format!("{what} that stays as it is"),
        Some(steps) => steps,
    };
    let mut text = match steps.len() {
        1 => format!("{what}, in one step:"),
        many => format!("{what}, in {many} steps:"),
    };
    for Step {
        rule,
        before,
        after,
    } in steps
    {
        let _ = write!(text, "\n  {before}\n    = {after}   by {rule}");
    }
    text
}

/// The origin of a value in words, with its line if it has one.
pub(crate) fn origin(value: Val<'_>) -> String {
    let op = defining_op(value);
    let from = match (op, block_argument(value)) {
        (Some(op), _) => format!("'{}'", name_of(op)),
        (_, Some((_, number))) => format!("argument {number} of its block"),
        _ => "a value".to_owned(),
    };
    let place = op.and_then(|op| place_of(op.location()));
    let at = place.map_or(String::new(), |place| format!(" of line {}", place.line));
    from + &at
}
