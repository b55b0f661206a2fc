//! Candidates: the ways to compute a product that a package holds for somebody who measures which is the fastest.

use serde::{Deserialize, Serialize};

use super::expr::Expr;
use super::manifest::Function;
use super::validate::{Checked, invalid};

/// A choice among candidates for one product of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateChoice {
    /// The value of the function that says which candidate is launched, by its number: an index into [`Function::values`]. It is an expression for the first
    /// candidate that suits the arguments, until somebody [chooses](Function::choose).
    pub value: usize,
    /// The generation of the kernels: times of another one say nothing of them.
    pub generation: u32,
    /// M, N, K and the number of products.
    pub extents: [Expr; 4],
    /// The candidates, the best by its estimate first.
    pub candidates: Vec<Candidate>,
}

/// One way to compute a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The number that chooses it.
    pub number: usize,
    /// The options that ask the compiler for its plan.
    pub plan: String,
    /// The kind of product that it is a plan for.
    pub problem: String,
    /// The estimated time in picoseconds; negative where it does not suit the arguments.
    pub time: Expr,
}

impl Function {
    /// The function with a candidate chosen, the one of that place of that choice; the same where there is none.
    #[must_use]
    pub fn choose(mut self, choice: usize, candidate: usize) -> Function {
        let found = self.choices.get(choice);
        let number =
            found.and_then(|found| Some((found.value, found.candidates.get(candidate)?.number)));
        if let Some((value, number)) = number
            && let Some(value) = self.values.get_mut(value)
        {
            *value = Expr::Constant(number as i64);
        }
        self
    }

    /// Tells whether all launches are those of candidates of the one choice that there is.
    pub fn is_choice_alone(&self) -> bool {
        let [choice] = &self.choices[..] else {
            return false;
        };
        let depends = |launch: &super::Launch| {
            let mut found = false;
            if let Some(when) = &launch.when {
                when.walk(&mut |part| found |= *part == Expr::Value(choice.value));
            }
            found
        };
        self.launches.iter().all(depends)
    }
}

/// Checks a choice of a function; `expression` checks that expressions are within the function.
pub(super) fn validate(
    place: &str,
    choice: &CandidateChoice,
    function: &Function,
    expression: &dyn Fn(&str, &Expr) -> Checked,
) -> Checked {
    if choice.value >= function.values.len() {
        let expected = format!("a value below {}", function.values.len());
        return invalid(place, expected, choice.value.to_string(), "");
    }
    if choice.candidates.is_empty() {
        return invalid(place, "a candidate at least", "none", "");
    }
    for extent in &choice.extents {
        expression("extents", extent)?;
    }
    for (at, candidate) in choice.candidates.iter().enumerate() {
        expression("time", &candidate.time)?;
        let before = &choice.candidates[..at];
        if before.iter().any(|other| other.number == candidate.number) {
            let found = format!("{} twice", candidate.number);
            return invalid(place, "each number of a candidate once", found, "");
        }
    }
    Ok(())
}
