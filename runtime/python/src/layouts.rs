//! Expressions on layouts, and pictures of them.

use cute_layout_language::{self as language, Form};
use pyo3::prelude::*;

use crate::raised::named;

/// The text of an error without what programs put before it.
fn plain(text: &str) -> String {
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// Evaluates an expression. Returns the object that says what it is, or what is wrong with it, as JSON.
#[pyfunction]
#[pyo3(signature = (expression, facts=None))]
pub(crate) fn evaluate(py: Python<'_>, expression: &str, facts: Option<&str>) -> PyResult<String> {
    let found = py.detach(|| language::evaluate(expression, facts));
    found.map_err(|text| named(py, "CuteError", plain(&text)))
}

/// Draws what an expression is: as SVG, or as LaTeX.
#[pyfunction]
#[pyo3(signature = (as_svg, expression, facts=None))]
pub(crate) fn picture(
    py: Python<'_>,
    as_svg: bool,
    expression: &str,
    facts: Option<&str>,
) -> PyResult<String> {
    let form = if as_svg { Form::Svg } else { Form::Latex };
    let drawn = py.detach(|| language::picture(form, expression, facts));
    drawn.map_err(|text| named(py, "CuteError", plain(&text)))
}

/// Returns the functions of the language, as text.
#[pyfunction]
pub(crate) fn functions() -> String {
    language::function_list()
}
