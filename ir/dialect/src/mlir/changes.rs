//! The count of changes, by which it is known whether a pass has changed anything. All that changes IR is in this room, and each counts here: MLIR verifies IR behind a pass only where it has
//! changed, which takes longer than most passes.

use std::cell::Cell;

thread_local! {
    static CHANGES: Cell<u64> = const { Cell::new(0) };
}

/// Counts a change that this thread makes.
pub(super) fn count() {
    CHANGES.set(CHANGES.get().wrapping_add(1));
}

/// The changes that this thread has made so far.
pub(super) fn so_far() -> u64 {
    CHANGES.get()
}
