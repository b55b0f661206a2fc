//! The tests that have IR: one program, which asks the library as any program does, so that the verifiers and the inference that a context
//! needs are not compiled once more.

mod calls;
mod interpret;
mod mlir;
