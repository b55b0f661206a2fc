//! The reason why there is no plan for what was asked for, and what to ask for in its place.

/// A refusal of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The reason, without a cure.
    pub(super) reason: String,
    pub(super) cure: Cure,
}

/// The options that take the place of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cure {
    /// Nobody has looked for some yet.
    Open,
    /// These fit.
    Options(String),
    /// The reason says what to do.
    Said,
}

impl Refusal {
    /// The same with a cure that is open, where options were named: by whoever does not know all that a plan must be.
    pub(super) fn without_options(self) -> Self {
        let cure = match self.cure {
            Cure::Options(_) => Cure::Open,
            cure => cure,
        };
        Self { cure, ..self }
    }

    /// The text of both; `open` looks for options where nobody has.
    pub(super) fn text(self, open: impl FnOnce() -> Option<String>) -> String {
        let options = match self.cure {
            Cure::Open => open(),
            Cure::Options(options) => Some(options),
            Cure::Said => None,
        };
        match options {
            Some(options) => format!("{}; {options} fits", self.reason),
            None => self.reason,
        }
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        let cure = Cure::Open;
        Self { reason, cure }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Self {
        reason.to_owned().into()
    }
}
