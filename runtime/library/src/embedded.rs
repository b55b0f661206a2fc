//! The package that an export put into this library.

use std::sync::OnceLock;

use crate::contract;
use crate::failure::{Class, Failure};
use crate::fork;
use crate::functions::Loaded;

/// The place of the package; the export writes over it.
#[used]
#[unsafe(export_name = "cute_package")]
static PACKAGE: contract::Package = contract::Package::NONE;

/// The package, which is read at the first call.
///
/// # Errors
/// No package, or one that is damaged.
pub(crate) fn loaded() -> Result<&'static Loaded, Failure> {
    static LOADED: OnceLock<Result<Loaded, Failure>> = OnceLock::new();
    let loaded = fork::once(&LOADED, || {
        // SAFETY: a static may be read. The compiler does not know what the export wrote, so it must not take the value that is above.
        let package = unsafe { std::ptr::read_volatile(&raw const PACKAGE) };
        if package.length == 0 {
            return Err(Failure::new(
                Class::Runtime,
                "this library has no package: call one that `cute-run PACKAGE --export DIR` wrote",
            ));
        }
        let base = &raw const PACKAGE as *const u8;
        // SAFETY: the export put so many bytes there, into a segment that is mapped with this library and is not unmapped before it.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                base.wrapping_offset(package.offset as isize),
                package.length as usize,
            )
        };
        Loaded::from_bytes(bytes)
    });
    loaded.as_ref().map_err(Clone::clone)
}
