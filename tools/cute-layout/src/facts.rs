//! Facts about symbols, from `--where` and from `where` behind an expression.

use std::ops::Range;

use cute_layout::LayoutError;
use cute_layout::symbolic::Scope;

use crate::failure::{Failure, Outcome};

/// The facts of `--where`. Errors: with a caret in its text.
pub fn option(text: Option<&str>) -> Result<Scope, String> {
    let Some(text) = text else {
        return Ok(Scope::new());
    };
    assume(&Scope::new(), text, 0..text.len()).map_err(|f| f.render(text))
}

/// The facts of a scope, and those of a part of a text. Errors: located in the text.
pub fn assume(scope: &Scope, text: &str, at: Range<usize>) -> Outcome<Scope> {
    let part = text.get(at.clone()).unwrap_or_default();
    scope.assume(part).map_err(|e| {
        let span = at.start + e.span.start..at.start + e.span.end;
        Failure::new(e.message, span)
    })
}

/// The statement of an error on facts that are missing: none where it is about something else.
pub fn wanted(e: &LayoutError) -> Option<String> {
    match e {
        LayoutError::NeedsFact { fact, .. } => Some(fact.clone()),
        LayoutError::Symbolic(e) => e.need().map(|f| format!("`{f}`")),
        LayoutError::Dynamic { .. } => Some(String::new()),
        _ => None,
    }
}

// The most suggestions that are tried.
const MAX_TRIALS: usize = 64;

/// Facts with which `works` holds: those that `wanted` names in backticks, else a divisor of one symbol by a number of
/// `wanted` or of the expression. What is named but not enough comes last.
pub fn suggest(
    wanted: &str,
    text: &str,
    scope: &Scope,
    works: impl Fn(&Scope) -> bool,
) -> Option<String> {
    let named = wanted.split('`').skip(1).step_by(2);
    let named: Vec<&str> = named.filter(|f| scope.assume(f).is_ok()).collect();
    let both = [wanted, text];
    let words = || {
        let parts = both
            .iter()
            .flat_map(|t| t.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        parts.filter(|w| w.len() <= 32)
    };
    let first = |w: &str| w.as_bytes().first().copied().unwrap_or(b' ');
    let mut names: Vec<&str> = words()
        .filter(|w| first(w).is_ascii_alphabetic() && crate::functions::find(w).is_none())
        .collect();
    names.sort_unstable();
    names.dedup();
    let mut numbers: Vec<i64> = words()
        .filter_map(|w| w.parse().ok().filter(|n| *n > 1))
        .collect();
    // Modes that follow one another multiply.
    let pairs: Vec<i64> = numbers
        .iter()
        .flat_map(|a| numbers.iter().filter_map(|b| a.checked_mul(*b)))
        .take(MAX_TRIALS)
        .collect();
    numbers.extend(pairs);
    numbers.sort_unstable();
    numbers.dedup();
    let divisors = names
        .iter()
        .flat_map(|n| numbers.iter().map(move |d| format!("{n} % {d} == 0")));
    let each = named.iter().map(|f| f.to_string());
    let all = (named.len() > 1).then(|| named.join(", "));
    let mut tried = each.chain(all).chain(divisors).take(MAX_TRIALS);
    let found = tried.find(|f| scope.assume(f).is_ok_and(|s| works(&s)));
    found.or_else(|| named.first().map(|f| f.to_string()))
}
