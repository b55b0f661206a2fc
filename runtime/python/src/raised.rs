//! Failures as the exceptions of `cute_opt`.

use cute::failure::{Class, Failure};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Makes the exception of a failure.
pub(crate) fn raised(py: Python<'_>, failure: Failure) -> PyErr {
    let name = match failure.class {
        Class::Type => "ArgumentTypeError",
        Class::Value => "ArgumentValueError",
        Class::Runtime => "DeviceError",
        Class::Findings => "FindingsError",
    };
    named(py, name, failure.text)
}

/// Makes an exception of `cute_opt` by its name.
pub(crate) fn named(py: Python<'_>, name: &str, text: String) -> PyErr {
    let class = || -> PyResult<Bound<'_, PyType>> {
        let class = py.import("cute_opt._errors")?.getattr(name)?;
        Ok(class.cast_into::<PyType>()?)
    };
    match class() {
        Ok(class) => PyErr::from_type(class, text),
        Err(error) => error,
    }
}
