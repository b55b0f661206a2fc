//! Packages, PTX, tensor maps, and what results are compared with; launches of packages on the emulator, and what it counts beside hardware. One program, so
//! that it is linked once.
//!
//! They are asked as any program asks them, so that the library is not compiled once more for their tests.

#[path = "../compilers.rs"]
mod compilers;
#[path = "../counters.rs"]
mod counters;
#[path = "../kernels.rs"]
mod kernels;
#[path = "../launches.rs"]
mod launches;
mod package;
mod ptx;
mod tensor_map;
mod verify;
#[path = "../workspaces.rs"]
mod workspaces;
