//! The computation of a dynamic leaf's value, which the leaf may carry beside its type.
//!
//! In a type, `?` has no identity. When a dynamic layout is lowered, the algebra runs on leaves that carry *traced*
//! expressions over the operands' leaves, and takes the same decisions as on plain ones; each leaf of the result then
//! knows the arithmetic that gives it.
//!
//! A *symbolic* leaf is a polynomial of named symbols with facts. It is known as far as the facts go, and decisions follow
//! from proofs: what holds for all values that the facts allow is done, and what needs another fact is an error that names it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::symbolic::Poly;

/// A binary operation of traced arithmetic, at the width of its node.
///
/// Comparisons and the two connectives give 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, rounded towards zero.
    Div,
    /// Remainder of [`BinOp::Div`]; it has the sign of the dividend.
    Rem,
    /// Quotient of a dividend of at least 0 and a divisor of at least 1, rounded up.
    CeilDiv,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Bitwise exclusive or.
    Xor,
    /// Bitwise and.
    And,
    /// Shift to the left.
    Shl,
    /// Shift to the right, the sign kept.
    Shr,
    /// 1 where both are equal.
    Eq,
    /// 1 where the first is smaller.
    Lt,
    /// 1 where the first is smaller or equal.
    Le,
    /// 1 where both are 1.
    Both,
    /// 1 where one is 1.
    Either,
}

impl BinOp {
    /// Tells whether the result is 0 or 1 whatever the width of the operands.
    pub fn is_condition(self) -> bool {
        use BinOp::*;
        matches!(self, Eq | Lt | Le | Both | Either)
    }

    /// The exact result, or nothing on overflow, division by zero, or a shift out of range.
    pub fn eval(self, a: i64, b: i64) -> Option<i64> {
        use BinOp::*;
        Some(match self {
            Add => a.checked_add(b)?,
            Sub => a.checked_sub(b)?,
            Mul => a.checked_mul(b)?,
            Div => a.checked_div(b)?,
            Rem => a.checked_rem(b)?,
            CeilDiv => ceil_div(a, b)?,
            Min => a.min(b),
            Max => a.max(b),
            Xor => a ^ b,
            And => a & b,
            Shl => {
                i64::try_from(i128::from(a) << u32::try_from(b).ok().filter(|b| *b < 64)?).ok()?
            }
            Shr => a >> u32::try_from(b).ok().filter(|b| *b < 64)?,
            Eq => i64::from(a == b),
            Lt => i64::from(a < b),
            Le => i64::from(a <= b),
            Both => i64::from(a != 0 && b != 0),
            Either => i64::from(a != 0 || b != 0),
        })
    }
}

/// `a / b`, rounded up where it is positive and towards zero where it is negative; nothing for `b == 0` or overflow.
pub(crate) fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let q = a.checked_div(b)?;
    Some(if a % b != 0 && (a > 0) == (b > 0) {
        q + 1
    } else {
        q
    })
}

/// The arithmetic that computes a leaf from the inputs of a trace.
#[derive(Debug)]
pub enum Expr {
    /// Input `index`, of `width` bits.
    Input {
        /// The number of the input.
        index: usize,
        /// 32 or 64.
        width: u32,
    },
    /// A known integer.
    Const(i64),
    /// A binary operation on operands extended to `width` bits.
    Binary {
        /// The operation.
        op: BinOp,
        /// The width of the operation: 32 or 64.
        width: u32,
        /// Left operand.
        lhs: Arc<Expr>,
        /// Right operand.
        rhs: Arc<Expr>,
    },
    /// `if cond { then } else { other }`.
    Select {
        /// 32 or 64.
        width: u32,
        /// 0 or 1.
        cond: Arc<Expr>,
        /// The value where `cond` is 1.
        then: Arc<Expr>,
        /// The value where `cond` is 0.
        other: Arc<Expr>,
    },
}

impl Expr {
    /// The width of the value: 32 or 64, or 1 for a condition. A constant has the smaller of the first two that holds it.
    pub fn width(&self) -> u32 {
        match self {
            Expr::Input { width, .. } | Expr::Select { width, .. } => *width,
            Expr::Const(v) => width_of(*v),
            Expr::Binary { op, .. } if op.is_condition() => 1,
            Expr::Binary { width, .. } => *width,
        }
    }

    /// Tells whether it is at least 1 whatever the inputs are, as its outermost operations show.
    pub fn is_positive(&self) -> bool {
        match self {
            Expr::Const(v) => *v > 0,
            Expr::Binary {
                op: BinOp::Max,
                lhs,
                rhs,
                ..
            } => lhs.is_positive() || rhs.is_positive(),
            Expr::Binary {
                op: BinOp::Min,
                lhs,
                rhs,
                ..
            } => lhs.is_positive() && rhs.is_positive(),
            _ => false,
        }
    }

    /// Tells whether a value of it, within its width or on the way, can be beyond what its width holds although the inputs are not.
    pub fn can_overflow(&self) -> bool {
        fn visit(e: &Expr, seen: &mut HashSet<*const Expr>) -> bool {
            let mut below = |e: &Arc<Expr>| seen.insert(Arc::as_ptr(e)) && visit(e, seen);
            match e {
                Expr::Input { .. } | Expr::Const(_) => false,
                Expr::Binary { op, lhs, rhs, .. } => {
                    matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl)
                        || below(lhs)
                        || below(rhs)
                }
                Expr::Select {
                    cond, then, other, ..
                } => below(cond) || below(then) || below(other),
            }
        }
        visit(self, &mut HashSet::new())
    }

    /// The exact value over the integers, or nothing where an operation is not defined or does not fit 64 bits.
    ///
    /// A side of a selection that is not taken need not be defined.
    pub fn eval(&self, inputs: &[i64]) -> Option<i64> {
        self.eval_once(inputs, &mut HashMap::new())
    }

    // Nodes are shared: each is evaluated once.
    fn eval_once(
        &self,
        inputs: &[i64],
        done: &mut HashMap<*const Expr, Option<i64>>,
    ) -> Option<i64> {
        let mut at = |e: &Arc<Expr>| match &**e {
            Expr::Const(v) => Some(*v),
            Expr::Input { index, .. } => inputs.get(*index).copied(),
            _ => {
                if let Some(v) = done.get(&Arc::as_ptr(e)) {
                    return *v;
                }
                let v = e.eval_once(inputs, done);
                done.insert(Arc::as_ptr(e), v);
                v
            }
        };
        match self {
            Expr::Input { index, .. } => inputs.get(*index).copied(),
            Expr::Const(v) => Some(*v),
            Expr::Binary { op, lhs, rhs, .. } => {
                let lhs = at(lhs)?;
                op.eval(lhs, at(rhs)?)
            }
            Expr::Select {
                cond, then, other, ..
            } => {
                if at(cond)? != 0 {
                    at(then)
                } else {
                    at(other)
                }
            }
        }
    }
}

/// The width that a known integer takes part in arithmetic with, as C's literals do: 32 bits where they hold it.
pub(crate) fn width_of(v: i64) -> u32 {
    if i32::try_from(v).is_ok() { 32 } else { 64 }
}

/// The value of a dynamic leaf, where it is tracked.
#[derive(Debug, Clone, Default)]
pub enum Term {
    /// The value is not tracked: nothing is known of it.
    #[default]
    Untracked,
    /// It is computed like this. Decisions do not look at it.
    Traced(Arc<Expr>),
    /// It is this polynomial. Never a constant: that is [`Leaf::Static`](super::Leaf::Static).
    Symbolic(Poly),
}

impl Term {
    fn poly(&self) -> Option<&Poly> {
        match self {
            Term::Symbolic(p) => Some(p),
            _ => None,
        }
    }
}

/// A trace is no part of the value: what it says does not make two leaves differ. A polynomial is.
impl PartialEq for Term {
    fn eq(&self, other: &Term) -> bool {
        self.poly() == other.poly()
    }
}

impl Eq for Term {}

impl std::hash::Hash for Term {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.poly().hash(state);
    }
}
