//! Calls of packages, and the algebra of layouts, from Python: the module `cute_opt._native`, on which `cute_opt` stands.
//!
//! It has no words of its own in Python but these classes; what users see is written in Python (`python/cute_opt`).
//!
//! - `package`: packages, by their bytes.
//! - `function`: a call of a function with anything that speaks DLPack.
//! - `kernel`: a call with PyTorch's tensors in which it is known what goes where, which `torch.compile` makes.
//! - `emulator`: launches of any PTX.
//! - `exchange`: the C functions by which a library such as PyTorch hands a tensor over (DLPack 1.3), and `__dlpack__` of the others.
//! - `layouts`: expressions on layouts, and pictures of them.
//! - `raised`: failures as the exceptions of `cute_opt`.
//!
//! *Architecture Invariant:* a call gives Python's lock back while it is in the library, so that other threads run beside the emulator.
#![warn(missing_docs, unreachable_pub)]

mod emulator;
mod exchange;
mod function;
mod kernel;
mod layouts;
mod package;
mod raised;

use pyo3::prelude::*;

/// Calls of packages, for `cute_opt`.
#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<emulator::Emulator>()?;
    module.add_class::<package::Package>()?;
    module.add_class::<function::Function>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_function(wrap_pyfunction!(layouts::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::picture, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::functions, module)?)?;
    module.add_function(wrap_pyfunction!(package::xla_handlers, module)?)
}
