//! The shape that functions of the interface have, and how results are handed out.

use crate::Error;
use crate::program::Program;

/// Defines functions that do something with the program and return an error's number. All have the same contract.
macro_rules! calls {
    ($($(#[doc = $doc:literal])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $action:expr;)*) => {$(
        $(#[doc = $doc])*
        ///
        /// # Safety
        /// Pointers to results can be written to, and memory of the host has the bytes that are asked for.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> c_int {
            let action: fn(&mut crate::program::Program, &str, $($ty),*) -> Result<(), Error> = $action;
            let name = crate::calls::documented(stringify!($name));
            call(name, |program| action(program, name, $($argument),*))
        }
    )*};
}
pub(crate) use calls;

/// The name that a program calls a function by: headers add the version to it.
pub(crate) fn documented(name: &'static str) -> &'static str {
    let versions = ["_v2", "_v3"];
    versions
        .iter()
        .find_map(|version| name.strip_suffix(version))
        .unwrap_or(name)
}

/// The words for what a program has passed as a handle that is none. They tell no number, so that it is told once for all of them.
pub(crate) fn no_handle(handle: usize) -> &'static str {
    match handle {
        0 => "a null pointer",
        _ => "another handle",
    }
}

/// Writes a result where a program wants it.
///
/// # Safety
/// The place is null or can be written to.
pub(crate) unsafe fn put<T>(
    program: &mut Program,
    call: &str,
    place: *mut T,
    value: T,
) -> Result<(), Error> {
    if place.is_null() {
        let text = "expected a place for the result, found a null pointer";
        return Err(program.refuse(call, text, Error::InvalidValue));
    }
    // SAFETY: the caller says so.
    unsafe { place.write(value) };
    Ok(())
}

/// Writes a result, where a program wants it.
///
/// # Safety
/// The place is null or can be written to.
pub(crate) unsafe fn put_if_wanted<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller says so.
        unsafe { place.write(value) };
    }
}

/// The elements that a program passes; none where there is no pointer.
///
/// # Safety
/// The pointer is null, or there are as many elements.
pub(crate) unsafe fn elements<T: Copy>(pointer: *const T, count: usize) -> Option<Vec<T>> {
    match (pointer.is_null(), count) {
        (_, 0) => Some(Vec::new()),
        (true, _) => None,
        // SAFETY: the caller says so.
        (false, _) => Some(unsafe { std::slice::from_raw_parts(pointer, count) }.to_vec()),
    }
}

/// Writes a list, or its length where a program passes no place for it. What of the place is left over is filled with zeros.
///
/// # Safety
/// The place is null or has as many elements as the count says.
pub(crate) unsafe fn put_list(
    program: &mut Program,
    call: &str,
    list: &[usize],
    place: *mut *mut std::ffi::c_void,
    count: *mut usize,
) -> Result<(), Error> {
    // SAFETY: the caller says so.
    let room = unsafe { count.as_ref() }.copied();
    if let Some(room) = room.filter(|_| !place.is_null()) {
        for index in 0..room {
            let value = list.get(index).copied().unwrap_or(0);
            // SAFETY: the caller says so.
            unsafe { place.add(index).write(value as *mut _) };
        }
        // SAFETY: the caller says so.
        return unsafe { put(program, call, count, room.min(list.len())) };
    }
    // SAFETY: the caller says so.
    unsafe { put(program, call, count, list.len()) }
}
