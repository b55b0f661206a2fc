//! The way in which conversions round: instructions and the host know one.

use super::Checked;
use crate::mlir::*;

/// The rounding modes of `arith` by their numbers, the one that conversions have first.
const MODES: [&str; 5] = [
    "to_nearest_even",
    "downward",
    "upward",
    "toward_zero",
    "to_nearest_away",
];

/// Checks that an op rounds as conversions do that name no rounding mode: LLVM's back end drops others in silence.
///
/// # Errors
/// Another rounding mode.
pub fn check_rounding(op: Op) -> Checked {
    let mode = integer_of(op, "roundingmode").unwrap_or(0);
    if mode == 0 {
        return Ok(());
    }
    let found = usize::try_from(mode)
        .ok()
        .and_then(|mode| MODES.get(mode))
        .unwrap_or(&"another one");
    Err(format!(
        "expected '{}' with the rounding mode {}, or with none, which is the same, as that is how conversions round; found {found}; take it away",
        name_of(op),
        MODES[0]
    ))
}
