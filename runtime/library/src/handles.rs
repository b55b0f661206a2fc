//! Packages by number: XLA's calls name a package so.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::failure::{Class, Failure};
use crate::fork;
use crate::functions::Loaded;

type Open = RwLock<HashMap<u64, Arc<Loaded>>>;

fn open() -> &'static Open {
    static OPEN: OnceLock<Open> = OnceLock::new();
    fork::once(&OPEN, Open::default)
}

/// The package of a number, for a call of a function; `function` words which.
pub(crate) fn find(handle: u64, function: impl Fn() -> String) -> Result<Arc<Loaded>, Failure> {
    let open = open().read().unwrap_or_else(PoisonError::into_inner);
    open.get(&handle).cloned().ok_or_else(|| {
        let function = function();
        let text = format!(
            "{function}: expected a package that is open, found one that was closed; close it after the last call"
        );
        Failure::new(Class::Value, text)
    })
}

/// Gives a package a number, by which it is found until it is [removed](remove).
pub fn insert(loaded: Arc<Loaded>) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    let open = open();
    let _making = fork::making();
    let mut open = open.write().unwrap_or_else(PoisonError::into_inner);
    open.insert(handle, loaded);
    handle
}

/// Takes the number of a package away; calls that are under way go on. Tells whether there was one.
pub fn remove(handle: u64) -> bool {
    let open = open();
    let making = fork::making();
    let mut open = open.write().unwrap_or_else(PoisonError::into_inner);
    let removed = open.remove(&handle);
    drop(open);
    drop(making);
    // The driver unloads what nobody calls any more, which takes a while: after the locks.
    removed.is_some()
}
