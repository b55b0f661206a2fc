//! Processes that were forked: a context of CUDA does not go along.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Set when a GPU is used.
static USED: AtomicBool = AtomicBool::new(false);
/// Set in the child of a process that had used one.
static LOST: AtomicBool = AtomicBool::new(false);
/// Held while something is made that the threads share, and while the process forks, so that no child finds it half made.
static MAKING: Mutex<()> = Mutex::new(());

thread_local! {
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Waits until nothing is being made by another thread, and keeps others waiting.
pub(crate) fn making() -> MutexGuard<'static, ()> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions stay where they are, as this library is never unloaded. Without memory for the list of handlers a fork goes
        // unnoticed, and the driver refuses the child's calls.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
    });
    MAKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a GPU is used.
pub(crate) fn use_gpu() {
    USED.store(true, Ordering::Relaxed);
}

/// Tells whether this process was forked from one that used a GPU.
#[inline]
pub(crate) fn lost_gpu() -> bool {
    LOST.load(Ordering::Relaxed)
}

extern "C" fn before() {
    let guard = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    // A thread that is ending has no such place any more; then the guard is dropped at once.
    let _ = HELD.try_with(|held| held.replace(Some(guard)));
}

extern "C" fn after() {
    let _ = HELD.try_with(|held| held.replace(None));
}

extern "C" fn in_child() {
    after();
    LOST.store(USED.load(Ordering::Relaxed), Ordering::Relaxed);
}
