//! Facts about symbols, from `--where` and from `where` behind an expression.

use std::ops::Range;

use anyhow::anyhow;
use cute_layout::LayoutError;
use cute_layout::symbolic::Scope;

use crate::failure::{Failure, Outcome};

/// The facts of `--where`. Errors: with a caret in its text.
pub fn option(text: Option<&str>) -> anyhow::Result<Scope> {
    let Some(text) = text else {
        return Ok(Scope::new());
    };
    assume(&Scope::new(), text, 0..text.len()).map_err(|f| anyhow!(f.render(text)))
}

/// The facts of a scope, and those of a part of a text. Errors: located in the text.
pub fn assume(scope: &Scope, text: &str, at: Range<usize>) -> Outcome<Scope> {
    let part = text.get(at.clone()).unwrap_or_default();
    scope.assume(part).map_err(|e| {
        let span = at.start + e.span.start..at.start + e.span.end;
        Failure::new(e.message, span)
    })
}

/// The fact that an error asks for, if it is one that can be said.
pub fn needed(e: &LayoutError) -> Option<String> {
    let known = |fact: &str| Scope::new().assume(fact).is_ok();
    match e {
        // A fact, or several in words, each in backticks.
        LayoutError::NeedsFact { fact, .. } => {
            let each = fact.split('`').skip(1).step_by(2);
            each.map(str::to_string).find(|f| known(f))
        }
        LayoutError::Symbolic(e) => e.need().filter(|f| known(f)),
        _ => None,
    }
}
