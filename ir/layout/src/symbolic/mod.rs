//! Symbolic integers: polynomials of named symbols, in a normal form, and a prover that knows facts about the symbols.
//!
//! A [`Symbol`] is a name with facts: bounds and divisors. A [`Poly`] is a polynomial with 64-bit coefficients over
//! symbols and over *opaque* terms, where no polynomial exists: the floor of a quotient, the least of several values, a
//! sign. All else is made of these: `p % q = p - q*floor(p/q)`, `max(p,q) = -min(-p,-q)`, `|p| = -min(p,-p)`.
//!
//! *Invariant:* values that are equal as polynomials over their opaque terms are equal values (`Eq`, `Hash`, [`Poly::canonical_cmp`]). A
//! symbol of which `d` is known to be a divisor stands for `d` times an unnamed integer, so `(M/32)*32 - M` is 0.
//!
//! *Invariant:* sound above all. [`Proof::Proved`] holds for every value of the symbols that the facts allow, and
//! [`Proof::Refuted`] for none; what is not decided is [`Proof::Unknown`]. Tests try all values in small ranges.
//!
//! Facts that are decided:
//! - equalities that follow from the ring of polynomials, exact division, and the identities above;
//! - signs and comparisons that follow from bounds of single symbols, from `M <= N` between symbols, and from what a
//!   floor, a remainder or a minimum is bounded by;
//! - divisibility by division of polynomials, and by the divisors of single symbols.
//!
//! Facts that are not: those about sums and products of several symbols (`M*N % 128 == 0`), bounds that need a factorisation or
//! calculus, and parity arguments (`M*(M+1)` is even).
//!
//! Everything is bounded (see [`limits`]): too large is an error, never a hang.

mod atom;
mod divide;
mod facts;
mod order;
mod parse;
mod poly;
mod prove;
mod range;
mod symbol;
mod text;

pub use facts::Scope;
pub use parse::SymParseError;
pub use poly::{Poly, Product};
pub use prove::Proof;
pub use symbol::Symbol;

/// The bounds that keep every operation short.
pub mod limits {
    /// Terms of a polynomial.
    pub const TERMS: usize = 256;
    /// Degree of a polynomial.
    pub const DEGREE: u32 = 64;
    /// Opaque terms within one another.
    pub const DEPTH: u32 = 16;
    /// Terms of a polynomial, all those within its opaque terms counted.
    pub const WEIGHT: u32 = 1024;
    /// Values that one minimum compares.
    pub const CASES: usize = 8;
    /// Facts of a scope.
    pub const FACTS: usize = 256;
    /// Bytes of a name.
    pub const NAME: usize = 64;
    /// Steps of one division.
    pub const STEPS: usize = 2048;
    /// Bytes of a text that is parsed.
    pub const TEXT: usize = 1 << 16;
    /// Levels of nesting of a text that is parsed.
    pub const NESTING: usize = 64;
    /// Operations in a text that is parsed.
    pub const OPERATIONS: usize = 4096;
}

/// The reason why there is no polynomial.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SymError {
    /// A coefficient does not fit 64 bits.
    #[error("`{op}` expected coefficients that fit a signed 64-bit integer, found an overflow")]
    Overflow {
        /// The operation.
        op: &'static str,
    },
    /// The result is too large.
    #[error("expected at most {limit} {what} in a symbolic integer, found more; use fewer symbols")]
    TooLarge {
        /// The thing that is bounded.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// Division by zero.
    #[error("`{op}` expected a divisor other than 0, found 0 under {dividend}")]
    DivisionByZero {
        /// The operation.
        op: &'static str,
        /// The dividend, as text.
        dividend: String,
    },
    /// The divisor's sign does not follow from the facts, so that it might be 0.
    #[error("`{op}` expected a divisor of known sign, found {divisor}; it needs `{divisor} >= 1`")]
    UnknownSign {
        /// The operation.
        op: &'static str,
        /// The divisor, as text.
        divisor: String,
    },
    /// An exact quotient was asked for, and does not follow from the facts.
    #[error("expected {divisor} to divide {dividend}; {}", .need.as_ref().map_or("no fact about one symbol is enough".to_string(), |n| format!("it needs `{n}`")))]
    NotExact {
        /// The dividend, as text.
        dividend: String,
        /// The divisor, as text.
        divisor: String,
        /// Facts that are enough, if there are such that can be said.
        need: Option<String>,
    },
    /// The facts about a symbol are not of a kind that is supported, or no value satisfies them.
    #[error("expected facts that some integer satisfies, found {found}; {cure}")]
    Facts {
        /// The symbol and its facts, as text.
        found: String,
        /// The advice on what to do.
        cure: &'static str,
    },
}

impl SymError {
    /// The fact that would have been enough, in the text that [`Scope::assume`] takes.
    pub fn need(&self) -> Option<String> {
        match self {
            SymError::UnknownSign { divisor, .. } => Some(format!("{divisor} >= 1")),
            SymError::NotExact { need, .. } => need.clone(),
            _ => None,
        }
    }
}

pub(crate) type SymResult<T> = std::result::Result<T, SymError>;
