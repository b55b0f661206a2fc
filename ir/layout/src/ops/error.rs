//! The reason why an op was refused.

use crate::error::LayoutError;

/// The reason why an op was refused: what was expected, what was found, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// No op has this name.
    #[error("expected the name of an op of the cute dialect, found `{op}`; see the list of ops")]
    Unknown {
        /// The name.
        op: String,
    },
    /// Too few or too many operands.
    #[error("`{op}` expected {expected} operand(s), found {found}; give as many as the op takes")]
    Count {
        /// The op.
        op: &'static str,
        /// The number of operands that it takes, in words.
        expected: String,
        /// The number of operands that were given.
        found: usize,
    },
    /// An operand of a kind that the op does not take.
    #[error(
        "`{op}` expected {operand} to be {expected}, found {found}; convert it or take another op"
    )]
    Kind {
        /// The op.
        op: &'static str,
        /// The operand's name in the dialect.
        operand: &'static str,
        /// The kinds that it may have.
        expected: &'static str,
        /// Its kind.
        found: String,
    },
    /// An attribute that is missing.
    #[error("`{op}` expected the attribute `{name}`, found none; add it")]
    MissingAttr {
        /// The op.
        op: &'static str,
        /// The attribute.
        name: &'static str,
    },
    /// A precondition of the op that does not hold.
    #[error("`{op}` expected {expected}, found {found}; {cure}")]
    Precondition {
        /// The op.
        op: &'static str,
        /// The condition that should have held.
        expected: String,
        /// The operand that was given.
        found: String,
        /// The advice on what to do.
        cure: String,
    },
    /// The algebra refused.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}
