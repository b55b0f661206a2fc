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
use cute_arith::{Op, Predicate};

/// A binary operation of traced arithmetic, at the width of its node: a row of the table of operations, or of that of comparisons,
/// which give 0 or 1. Conditions are joined by [`Op::And`] and [`Op::Or`] at a width of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// An operation.
    Arith(Op),
    /// A comparison.
    Compare(Predicate),
}

impl From<Op> for BinOp {
    fn from(op: Op) -> BinOp {
        BinOp::Arith(op)
    }
}

impl From<Predicate> for BinOp {
    fn from(predicate: Predicate) -> BinOp {
        BinOp::Compare(predicate)
    }
}

impl BinOp {
    /// The exact result, or nothing on overflow, division by zero, or a shift out of range.
    pub fn eval(self, a: i64, b: i64) -> Option<i64> {
        match self {
            BinOp::Arith(op) => op.exact(a, b),
            BinOp::Compare(predicate) => predicate.exact(a, b).map(i64::from),
        }
    }
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
        /// The width of the operation: 32 or 64, or 1 where it joins conditions.
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
            Expr::Binary {
                op: BinOp::Compare(_),
                ..
            } => 1,
            Expr::Binary { width, .. } => *width,
        }
    }

    /// Tells whether it is at least 1 whatever the inputs are, as its outermost operations show.
    pub fn is_positive(&self) -> bool {
        match self {
            Expr::Const(v) => *v > 0,
            Expr::Binary {
                op: BinOp::Arith(Op::MaxS),
                lhs,
                rhs,
                ..
            } => lhs.is_positive() || rhs.is_positive(),
            Expr::Binary {
                op: BinOp::Arith(Op::MinS),
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
                    matches!(op, BinOp::Arith(Op::Add | Op::Sub | Op::Mul | Op::Shl))
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
