//! The language of `cute-layout`: expressions on layouts, and pictures of what they are; the program, and functions for others that have an expression as text.
//!
//! The meaning of layouts is decided in the library `cute-layout`; here are the expression language ([`syntax`], [`eval`], [`functions`]), the pictures, and the
//! commands of the program ([`program`]).
#![warn(missing_docs)]

mod arith;
mod banks;
mod batch;
mod cli;
mod eval;
mod facts;
mod failure;
mod functions;
mod grid;
mod held;
mod hopper;
mod input;
mod ir;
mod latex;
mod program;
mod svg;
mod svg_tiled;
mod syntax;
mod table;
mod tiled;
mod tv;
mod value;

use cute_layout::symbolic::Scope;
use failure::{Outcome, whole};

pub use held::held;
pub use program::main;

/// The forms of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// SVG.
    Svg,
    /// A document of LaTeX, with TikZ, as CuTe's `print_latex` has it.
    Latex,
    /// Text, as CuTe's `print_layout` has it.
    Text,
}

/// Evaluates an expression, where `facts` say more of symbols than that they are positive integers, such as `M % 128 == 0`. Returns the object that `cute-layout eval
/// --json` prints: the value, or the error with the bytes of the expression that it is about.
///
/// Errors: facts that are none, with a caret.
pub fn evaluate(expression: &str, facts: Option<&str>) -> Result<String, String> {
    let outcome = evaluated(expression, &facts::option(facts)?);
    let object = match &outcome {
        Ok(evaluated) => evaluated.to_json(),
        Err(failure) => failure.to_json(),
    };
    Ok(object.to_string())
}

/// Draws the layout, the tiled copy or the tiled MMA that an expression is, as far as a page holds it.
///
/// Errors: an expression that is wrong, and what has no picture, with a caret.
pub fn picture(form: Form, expression: &str, facts: Option<&str>) -> Result<String, String> {
    let drawn = evaluated(expression, &facts::option(facts)?).and_then(|evaluated| {
        let value = &evaluated.value;
        let drawn = match form {
            Form::Svg => program::drawn(value, false, &program::SVG).map(|(text, _)| text),
            Form::Latex => program::drawn(value, false, &program::LATEX).map(|(text, _)| text),
            Form::Text => program::printed(value, false).map(|(text, windows)| {
                let cut = windows.iter().filter_map(|window| window.cut());
                cut.fold(text, |text, cut| format!("{text}{cut}\n"))
            }),
        };
        drawn.map_err(|fault| fault.locate(whole(expression)))
    });
    match drawn {
        Ok(text) => Ok(text),
        Err(failure) => Err(failure.render(expression)),
    }
}

/// The functions of the language as text: of each the signature, what it does, and an example.
pub fn function_list() -> String {
    program::functions()
}

fn evaluated(expression: &str, scope: &Scope) -> Outcome<eval::Evaluated> {
    batch::too_long(expression)?;
    eval::evaluate(expression, scope)
}
