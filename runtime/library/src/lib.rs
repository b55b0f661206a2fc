//! The C library that a kernel package is exported into, and what the Python module calls.
//!
//! Built as `libcute.so` it is a generic object: it has [`slots::SLOTS`] pairs of functions without names of their own, and no package.
//! `cute-run PACKAGE --export DIR` gives as many of them names as the package has functions, appends the package, and takes the rest of
//! the names away ([`contract`] is what both sides agree on). A call finds the package by [`contract::Package`], reads it once, and goes to
//! [`cute_runtime::call::Entry`]: tensors of the host to the emulator, those of a GPU to its driver, which is loaded then.
//!
//! - `value`: arguments as C and TVM-FFI pass them, which is the same.
//! - `functions`: the functions of a package on devices, made when they are first called.
//! - `slots`, `entry`, `tvm`: the functions that an export names, for C and for TVM-FFI.
//! - `handles`: packages by number, for programs that have their bytes.
//! - `xla`: the calls of XLA, by which JAX calls packages that were opened by number.
//! - `emulator`: launches of any PTX from C, without a package (`include/cute_emulator.h`).
//! - `emulated`: tensors of a GPU on the emulator (`CUTE_DEVICE=emulator`).
//!
//! *Architecture Invariant:* no panic crosses a function that C calls, and the library needs nothing but libc, libm and libgcc_s to be
//! loaded.
#![warn(missing_docs, unreachable_pub)]

pub mod contract;
pub mod slots;

mod embedded;
mod emulated;
pub mod emulator;
mod entry;
pub mod failure;
mod fork;
pub mod functions;
pub mod handles;
mod tvm;
pub mod value;
pub mod xla;
