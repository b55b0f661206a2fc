//! Packages, by their bytes.

use std::sync::{Arc, PoisonError, RwLock};

use cute::functions::Loaded;
use cute::{handles, xla};
use pyo3::prelude::*;

use crate::function::Function;
use crate::kernel::{Kernel, Operand};
use crate::raised::named;

/// A package that Python holds: none once it is closed.
#[derive(Default)]
pub(crate) struct Open(RwLock<Option<Arc<Loaded>>>);

impl Open {
    /// The package, for a call of a function.
    pub(crate) fn get(&self, py: Python<'_>, function: &str) -> PyResult<Arc<Loaded>> {
        let open = self.0.read().unwrap_or_else(PoisonError::into_inner);
        open.clone().ok_or_else(|| {
            let text =
                format!("{function}: expected a package that is open, found one that was closed");
            named(py, "CuteError", text)
        })
    }
}

/// A package.
#[pyclass(frozen, module = "cute_opt._native")]
pub(crate) struct Package {
    open: Arc<Open>,
    /// The number by which XLA's calls name it, once there is one.
    number: std::sync::OnceLock<u64>,
}

#[pymethods]
impl Package {
    /// Reads and checks a package.
    #[new]
    fn new(py: Python<'_>, bytes: &[u8]) -> PyResult<Package> {
        let loaded =
            Loaded::from_bytes(bytes).map_err(|failure| named(py, "CuteError", failure.text))?;
        Ok(Package {
            open: Arc::new(Open(RwLock::new(Some(Arc::new(loaded))))),
            number: std::sync::OnceLock::new(),
        })
    }

    /// Returns the manifest as JSON.
    fn manifest(&self, py: Python<'_>) -> PyResult<String> {
        let loaded = self.open.get(py, "manifest")?;
        serde_json::to_string(loaded.package().manifest())
            .map_err(|error| named(py, "CuteError", error.to_string()))
    }

    /// Returns the function with that number.
    fn function(&self, py: Python<'_>, number: usize) -> PyResult<Function> {
        let loaded = self.open.get(py, "function")?;
        let functions = &loaded.package().manifest().functions;
        match functions.get(number) {
            Some(function) => Ok(Function::new(self.open.clone(), number, function)),
            None => {
                let text = format!(
                    "expected one of the package's {} functions, found function {number}",
                    functions.len()
                );
                Err(named(py, "CuteError", text))
            }
        }
    }

    /// Returns a function with what is known of its arguments: see `Kernel`.
    #[expect(clippy::too_many_arguments, reason = "Python's signature")]
    fn kernel(
        &self,
        number: usize,
        name: String,
        device: (i32, i32),
        tensors: usize,
        extents: usize,
        operands: Vec<Operand>,
        copy: Py<PyAny>,
    ) -> PyResult<Kernel> {
        let open = self.open.clone();
        Kernel::new(
            open,
            number,
            name,
            device,
            (tensors, extents),
            operands,
            copy,
        )
    }

    /// Returns the number by which XLA's calls name the package, as long as it is open, for a call of a function.
    fn handle(&self, py: Python<'_>, function: &str) -> PyResult<u64> {
        let loaded = self.open.get(py, function)?;
        Ok(*self.number.get_or_init(|| handles::insert(loaded)))
    }

    /// Gives back what calls have loaded, once those that are under way are done.
    fn close(&self, py: Python<'_>) {
        if let Some(number) = self.number.get() {
            handles::remove(*number);
        }
        let mut open = self.open.0.write().unwrap_or_else(PoisonError::into_inner);
        let closed = open.take();
        drop(open);
        // The driver unloads it, which takes a while.
        py.detach(|| drop(closed));
    }
}

/// Returns the addresses of the functions that XLA calls, for tensors of the host and of a GPU.
#[pyfunction]
pub(crate) fn xla_handlers() -> (usize, usize) {
    (
        xla::host as *const () as usize,
        xla::cuda as *const () as usize,
    )
}
