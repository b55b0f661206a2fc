//! The compiler as a library, and pages that are made of what it says: one program, so that LLVM is linked once.

mod algorithms;
mod cache;
mod compile;
mod in_process;
mod loops;
mod messages;
mod options;
