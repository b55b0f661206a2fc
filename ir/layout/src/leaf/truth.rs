//! Conditions on leaves.

use std::sync::Arc;

use super::term::{BinOp, Expr, Term};
use cute_arith::{Op, Predicate};

/// The truth of a condition on leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    /// Decided by what is known.
    Known(bool),
    /// Decided when the program runs; a traced condition is 0 or 1.
    Unknown(Term),
    /// It does not follow from the facts about symbols; the text names facts that would decide it.
    Unproved(Arc<str>),
}

impl Truth {
    /// Tells whether it is known to hold.
    pub fn is_true(&self) -> bool {
        *self == Truth::Known(true)
    }

    /// Tells whether it is known not to hold.
    pub fn is_false(&self) -> bool {
        *self == Truth::Known(false)
    }

    /// Both hold.
    #[must_use]
    pub fn and(&self, other: &Truth) -> Truth {
        self.join(other, false, Op::And)
    }

    /// One holds.
    #[must_use]
    pub fn or(&self, other: &Truth) -> Truth {
        self.join(other, true, Op::Or)
    }

    // `decides` alone decides; the other value is neutral.
    fn join(&self, other: &Truth, decides: bool, op: Op) -> Truth {
        match (self, other) {
            (Truth::Known(v), x) | (x, Truth::Known(v)) => {
                if *v == decides {
                    Truth::Known(decides)
                } else {
                    x.clone()
                }
            }
            (Truth::Unknown(a), Truth::Unknown(b)) => match (a, b) {
                (Term::Traced(a), Term::Traced(b)) => {
                    Truth::Unknown(Term::Traced(Arc::new(Expr::Binary {
                        op: BinOp::Arith(op),
                        width: 1,
                        lhs: a.clone(),
                        rhs: b.clone(),
                    })))
                }
                _ => Truth::Unknown(Term::Untracked),
            },
            (Truth::Unproved(a), Truth::Unproved(b)) if a == b => self.clone(),
            (Truth::Unproved(a), Truth::Unproved(b)) => {
                let word = if decides { "or" } else { "and" };
                Truth::Unproved(format!("{a} {word} {b}").into())
            }
            (Truth::Unproved(_), Truth::Unknown(_)) => self.clone(),
            (Truth::Unknown(_), Truth::Unproved(_)) => other.clone(),
        }
    }

    /// It does not hold.
    #[must_use]
    pub fn negate(&self) -> Truth {
        match self {
            Truth::Known(v) => Truth::Known(!v),
            Truth::Unknown(Term::Traced(c)) => {
                Truth::Unknown(Term::Traced(Arc::new(Expr::Binary {
                    op: BinOp::Compare(Predicate::Eq),
                    width: 32,
                    lhs: c.clone(),
                    rhs: Arc::new(Expr::Const(0)),
                })))
            }
            Truth::Unknown(_) => Truth::Unknown(Term::Untracked),
            Truth::Unproved(fact) => Truth::Unproved(format!("that not {fact}").into()),
        }
    }
}
