//! The parts of the library that need no device: packages, PTX, tensor maps, and what results are compared with.
//!
//! They are asked as any program asks them, so that the library is not compiled once more for their tests.

mod package;
mod ptx;
mod tensor_map;
mod verify;
