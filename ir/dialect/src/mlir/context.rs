//! Contexts, as melior's functions take them.

use melior::{
    Context, ContextRef,
    ir::{Location, OperationRef, Type, TypeLike},
};
use mlir_sys::*;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// The context that `op` lives in.
pub fn context_of<'c>(op: OperationRef<'c, '_>) -> &'c Context {
    // SAFETY: the context outlives every operation in it.
    unsafe { context_from_raw(mlirOperationGetContext(op.to_raw())) }
}

/// The context that `ty` lives in.
pub fn context_of_type<'c>(ty: Type<'c>) -> &'c Context {
    // SAFETY: the context outlives every type in it.
    unsafe { context_from_raw(mlirTypeGetContext(ty.to_raw())) }
}

/// The context that a location is of.
pub fn context_of_location<'c>(location: Location<'c>) -> &'c Context {
    // SAFETY: the context outlives every location of it.
    unsafe { context_from_raw(mlirLocationGetContext(location.to_raw())) }
}

/// The number of threads that work on what is in a context: 1 where it is to be a single one.
pub fn threads_of(context: &Context) -> usize {
    // SAFETY: the context lives.
    let threads = unsafe { mlirContextGetNumThreads(context.to_raw()) };
    usize::try_from(threads).unwrap_or(1).max(1)
}

/// melior's functions take references to a [`Context`], of which somebody else may own the only
/// one. Handles that own nothing are kept here, one for each context that a process has had.
///
/// # Safety
/// The context must outlive `'c`.
pub(super) unsafe fn context_from_raw<'c>(raw: MlirContext) -> &'c Context {
    static HANDLES: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = *handles.entry(raw.ptr as usize).or_insert_with(|| {
        // SAFETY: the handle owns nothing, and is only read while the context lives.
        let handle: &ContextRef = Box::leak(Box::new(unsafe { ContextRef::from_raw(raw) }));
        std::ptr::from_ref(handle) as usize
    });
    // SAFETY: the handle is leaked. A `ContextRef` is taken for a `Context` where it lies, so it must lie still.
    unsafe { (*(handle as *const ContextRef<'c>)).to_ref() }
}
