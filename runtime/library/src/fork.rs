//! Processes that were forked: a context of CUDA does not go along.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Set when a GPU is used.
static USED: AtomicBool = AtomicBool::new(false);
/// Set in the child of a process that had used one.
static LOST: AtomicBool = AtomicBool::new(false);
/// Held while something is made that the threads share, and while the process forks, so that no child finds it half made.
static MAKING: Mutex<()> = Mutex::new(());

thread_local! {
    /// Held by this thread while it forks.
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
    /// Tells whether this thread is making something. The driver forks at its start, to load its module into the kernel.
    static MINE: Cell<bool> = const { Cell::new(false) };
}

/// Registers the handlers of forks while this library is loaded, before any call: a process that forks while another thread registers
/// them, or behind a fork that began without them, would leave its child waiting for what that thread was making.
#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = register;

extern "C" fn register() {
    // SAFETY: the functions stay where they are, as this library is never unloaded. Without memory for the list of handlers a fork goes
    // unnoticed, and the driver refuses the child's calls.
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(in_child)) };
}

/// The time in which a thread makes something.
pub(crate) struct Making {
    _guard: MutexGuard<'static, ()>,
}

impl Drop for Making {
    fn drop(&mut self) {
        // Before the guard is dropped.
        let _ = MINE.try_with(|mine| mine.set(false));
    }
}

/// Waits until nothing is being made by another thread, and keeps others waiting.
pub(crate) fn making() -> Making {
    let guard = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = MINE.try_with(|mine| mine.set(true));
    Making { _guard: guard }
}

/// The contents of a place that all threads share, made by the first that asks. `make` asks for no other place.
#[inline]
pub(crate) fn once<T>(place: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    let Ok(found) = try_once(place, || Ok::<_, Infallible>(make()));
    found
}

/// The same, where it may fail. What cannot be made is tried again by the next that asks.
#[inline]
pub(crate) fn try_once<T, E>(
    place: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, E>,
) -> Result<&T, E> {
    if let Some(found) = place.get() {
        return Ok(found);
    }
    let _making = making();
    match place.get() {
        Some(found) => Ok(found),
        None => {
            let made = make()?;
            Ok(place.get_or_init(|| made))
        }
    }
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
    if MINE.try_with(Cell::get).unwrap_or(false) {
        return;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Forks, and gives the status of a child that does something.
    fn forked(work: impl FnOnce() -> bool) -> i32 {
        // SAFETY: the child calls what is safe after a fork (a lock that the handlers keep free), and ends.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            let code = i32::from(!work());
            // SAFETY: it ends the process.
            unsafe { libc::_exit(code) };
        }
        let mut status = 0;
        // SAFETY: the pointer is to a live variable.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        status
    }

    /// Does as the driver does while it is loaded.
    #[test]
    fn what_is_made_may_fork() {
        let making = making();
        assert_eq!(forked(|| true), 0);
        drop(making);
        assert!(!MINE.get());
    }

    #[test]
    fn a_child_finds_nothing_half_made() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let maker = std::thread::spawn(move || {
            let _making = making();
            sender.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        });
        receiver.recv().unwrap();
        // The fork waits for the maker; the child could make something itself.
        let status = forked(|| {
            drop(making());
            !lost_gpu()
        });
        assert_eq!(status, 0);
        maker.join().unwrap();
    }
}
