//! The version of the CUDA runtime that the program was linked with: some functions have other arguments in 13 than in 12, under one name.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// Tells whether the program's calls are those of CUDA 13: other than where its runtime is that of 12 alone.
pub(crate) fn thirteen() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut found = [false; 2];
        // SAFETY: the function takes the flags that it is given here.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found != [true, false]
    })
}

/// Notes whether a library of the process is a CUDA runtime of 12 or of 13.
///
/// # Safety
/// The last argument is the address of two flags.
unsafe extern "C" fn look(library: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
    // SAFETY: the loader passes a library, whose name is null or a text.
    let name = unsafe {
        match (*library).dlpi_name.is_null() {
            true => return 0,
            false => CStr::from_ptr((*library).dlpi_name).to_bytes(),
        }
    };
    // SAFETY: the caller says so.
    let found = unsafe { &mut *found.cast::<[bool; 2]>() };
    let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    for (found, version) in found.iter_mut().zip([&b"12"[..], b"13"]) {
        let rest = file.strip_prefix(b"libcudart.so.");
        let rest = rest.and_then(|rest| rest.strip_prefix(version));
        *found |= rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"."));
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_calls_are_those_of_the_newest() {
        assert!(thirteen());
    }

    #[test]
    fn a_runtime_is_known_by_its_file() {
        for (name, expected) in [
            (c"/usr/lib/libcudart.so.12", [true, false]),
            (c"libcudart.so.12.4.127", [true, false]),
            (c"/opt/libcudart.so.13", [false, true]),
            (c"/opt/libcudart.so.123", [false, false]),
            (c"/libcudart.so.12/libm.so", [false, false]),
            (c"", [false, false]),
        ] {
            let mut found = [false; 2];
            // SAFETY: an absent header is all zeros, and the function looks at the name alone.
            unsafe {
                let mut library: libc::dl_phdr_info = std::mem::zeroed();
                library.dlpi_name = name.as_ptr();
                look(&raw mut library, 0, (&raw mut found).cast());
            }
            assert_eq!(found, expected, "{name:?}");
        }
    }
}
