//! Conditions that a result depends on.
//!
//! A condition on known numbers is decided at once. One on dynamic numbers is CuTe's to assume where types are inferred, and
//! is recorded where the algebra is traced, so that whoever lowers the result can check it when the program runs.

use std::cell::RefCell;
use std::sync::Arc;

use super::Dyn;
use super::term::{BinOp, Expr, Term};
use super::truth::Truth;
use crate::error::{LayoutError, Result};
use cute_arith::Predicate;

/// A condition that a traced result depends on.
#[derive(Debug, Clone)]
pub struct Check {
    /// 0 or 1.
    pub condition: Arc<Expr>,
    /// The text of the error where it does not hold: expected, found, cure.
    pub message: String,
}

impl Check {
    /// Returns the number that the condition asks to be at least 1, if that is all: an extent that something is divided by.
    pub fn positive(&self) -> Option<&Arc<Expr>> {
        match &*self.condition {
            Expr::Binary {
                op: BinOp::Compare(Predicate::Sle),
                lhs,
                rhs,
                ..
            } if matches!(**lhs, Expr::Const(1)) => Some(rhs),
            _ => None,
        }
    }
}

thread_local! {
    static CHECKS: RefCell<Option<Vec<Check>>> = const { RefCell::new(None) };
}

/// Restores what was recorded before, also when `f` panics.
struct Outer(Option<Vec<Check>>);

impl Drop for Outer {
    fn drop(&mut self) {
        CHECKS.with(|c| *c.borrow_mut() = self.0.take());
    }
}

/// Runs `f`, and returns with its result the conditions on traced leaves that the result depends on.
pub fn record<T>(f: impl FnOnce() -> T) -> (T, Vec<Check>) {
    let _outer = Outer(CHECKS.with(|c| c.borrow_mut().replace(Vec::new())));
    let result = f();
    let checks = CHECKS.with(|c| c.borrow_mut().take()).unwrap_or_default();
    (result, checks)
}

/// Records that a traced divisor is at least 1, as extents and tiles are; once for each divisor, and not where its own form
/// shows it. A known divisor is the caller's to check.
pub(super) fn divides_by(divisor: &Dyn, op: &'static str) {
    let Term::Traced(e) = &divisor.term else {
        return;
    };
    if e.is_positive() {
        return;
    }
    CHECKS.with(|c| {
        let mut checks = c.borrow_mut();
        let Some(checks) = checks.as_mut() else {
            return;
        };
        let seen = checks
            .iter()
            .any(|check| check.positive().is_some_and(|d| Arc::ptr_eq(d, e)));
        if !seen {
            checks.push(Check {
                condition: Arc::new(Expr::Binary {
                    op: BinOp::Compare(Predicate::Sle),
                    width: divisor.width,
                    lhs: Arc::new(Expr::Const(1)),
                    rhs: e.clone(),
                }),
                message: format!(
                    "`{op}` expected a divisor of at least 1, found another; make every extent at least 1"
                ),
            });
        }
    });
}

/// Errors with `otherwise` where the condition is known not to hold, and with the missing fact where it is about symbols and
/// not proved; records it where it is traced.
pub(crate) fn require(cond: &Truth, otherwise: impl FnOnce() -> LayoutError) -> Result<()> {
    match cond {
        Truth::Known(true) => Ok(()),
        Truth::Known(false) => Err(otherwise()),
        Truth::Unknown(Term::Traced(condition)) => {
            CHECKS.with(|c| {
                if let Some(checks) = c.borrow_mut().as_mut() {
                    checks.push(Check {
                        condition: condition.clone(),
                        message: otherwise().to_string(),
                    });
                }
            });
            Ok(())
        }
        Truth::Unknown(_) => Ok(()),
        Truth::Unproved(fact) => Err(LayoutError::NeedsFact {
            fact: fact.to_string(),
            otherwise: otherwise().to_string(),
        }),
    }
}
