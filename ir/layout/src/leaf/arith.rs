//! Arithmetic on leaves: exact where both sides are known, else dynamic, as the types of CuTe IR are inferred.
//!
//! A dynamic result is as wide as its widest operand, a known integer counting as 64 bits where 32 do not hold it. A
//! divisor is inferred only where a dynamic operand carries one. Where operands carry how they were computed, so does the
//! result ([`Term`](super::Term)).

use std::cell::Cell;
use std::sync::Arc;

use super::check::divides_by;
use super::term::{BinOp, Expr, Term, width_of};
use super::{Dyn, Leaf, Truth};
use crate::error::{LayoutError, Result};
use crate::symbolic::{Poly, Proof};
use cute_arith::{Op, Predicate, gcd};

/// A scalar operand.
#[derive(Clone, Copy)]
enum Side<'a> {
    Known(i64),
    Dynamic(&'a Dyn),
}

impl Side<'_> {
    fn width(self) -> u32 {
        match self {
            Side::Known(v) => width_of(v),
            Side::Dynamic(d) => d.width,
        }
    }

    // What divides it; 0 is divided by everything.
    fn div(self) -> i64 {
        match self {
            Side::Known(v) => v.checked_abs().unwrap_or(1),
            Side::Dynamic(d) => d.div,
        }
    }

    fn poly(self) -> Option<Poly> {
        match self {
            Side::Known(v) => Some(Poly::constant(v)),
            Side::Dynamic(Dyn {
                term: Term::Symbolic(p),
                ..
            }) => Some(p.clone()),
            Side::Dynamic(_) => None,
        }
    }

    fn is_symbolic(self) -> bool {
        matches!(
            self,
            Side::Dynamic(Dyn {
                term: Term::Symbolic(_),
                ..
            })
        )
    }

    fn expr(self) -> Option<Arc<Expr>> {
        match self {
            Side::Known(v) => Some(Arc::new(Expr::Const(v))),
            Side::Dynamic(Dyn {
                term: Term::Traced(e),
                ..
            }) => Some(e.clone()),
            Side::Dynamic(_) => None,
        }
    }
}

fn overflow(op: &'static str) -> LayoutError {
    LayoutError::Overflow { op }
}

fn term(op: impl Into<BinOp>, width: u32, a: Side<'_>, b: Side<'_>) -> Term {
    match (a.expr(), b.expr()) {
        (Some(lhs), Some(rhs)) => Term::Traced(Arc::new(Expr::Binary {
            op: op.into(),
            width,
            lhs,
            rhs,
        })),
        _ => Term::Untracked,
    }
}

// Both sides as polynomials, where one is symbolic and the other known or symbolic.
fn polys(a: Side<'_>, b: Side<'_>) -> Option<(Poly, Poly)> {
    if !a.is_symbolic() && !b.is_symbolic() {
        return None;
    }
    Some((a.poly()?, b.poly()?))
}

type PolyOp = fn(&Poly, &Poly) -> std::result::Result<Poly, crate::symbolic::SymError>;

thread_local! {
    /// Tells whether divisors are worked out of known numbers too.
    static TRACKS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` with what divides a result worked out of every operand: 8 times `?` is `?{div=8}`.
///
/// Elsewhere only an operand that is `?{div=N}` itself gives a result a divisor, as types of the published CuTe IR have none.
/// CuTe DSL works them out for tensors.
pub fn with_divisors<T>(f: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            TRACKS.set(self.0);
        }
    }
    let _restore = Restore(TRACKS.replace(true));
    f()
}

// `div`: what divides the result, given what divides the operands; asked only where a dynamic operand says something.
fn dynamic(op: Op, a: Side<'_>, b: Side<'_>, div: impl FnOnce(i64, i64) -> i64) -> Result<Leaf> {
    if let Some((p, q)) = polys(a, b) {
        let apply: PolyOp = match op {
            Op::Add => Poly::add,
            Op::Sub => Poly::sub,
            Op::Mul => Poly::mul,
            Op::DivS => Poly::div_trunc,
            Op::RemS => Poly::rem,
            Op::CeilDivS => Poly::ceil_div,
            Op::MinS => Poly::min,
            Op::MaxS => Poly::max,
            _ => {
                return Err(LayoutError::Dynamic {
                    op: "swizzle",
                    found: p.to_string(),
                });
            }
        };
        return Ok(Leaf::symbolic(apply(&p, &q)?));
    }
    let says = |s: Side<'_>| matches!(s, Side::Dynamic(d) if d.div != 1);
    let width = a.width().max(b.width());
    Ok(Leaf::Dynamic(Dyn {
        width,
        div: if says(a) || says(b) || TRACKS.get() {
            div(a.div(), b.div()).max(1)
        } else {
            1
        },
        term: term(op, width, a, b),
    }))
}

// A quotient keeps a divisor only where the division of what divides it is exact.
fn quotient(a: i64, b: i64) -> i64 {
    if b != 0 && a % b == 0 { a / b } else { 1 }
}

impl Leaf {
    fn side(&self, op: &'static str) -> Result<Side<'_>> {
        match self {
            Leaf::Static(v) => Ok(Side::Known(*v)),
            Leaf::Dynamic(d) => Ok(Side::Dynamic(d)),
            x => Err(LayoutError::Basis {
                op,
                found: x.to_string(),
            }),
        }
    }

    /// The sum. Errors: overflow; `_` and basis elements.
    pub fn add(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "add";
        match (self.side(OP)?, other.side(OP)?) {
            (Side::Known(a), Side::Known(b)) => a
                .checked_add(b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (a, b) => dynamic(Op::Add, a, b, gcd),
        }
    }

    /// The difference. Errors: overflow; `_` and basis elements.
    pub fn sub(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "subtract";
        match (self.side(OP)?, other.side(OP)?) {
            (Side::Known(a), Side::Known(b)) => a
                .checked_sub(b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (a, b) => dynamic(Op::Sub, a, b, gcd),
        }
    }

    /// The product, where at most one side is a basis element. Errors: overflow; `_`; two basis elements.
    pub fn mul(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "multiply";
        match (self, other) {
            (Leaf::Static(0), Leaf::Basis { .. }) | (Leaf::Basis { .. }, Leaf::Static(0)) => {
                return Ok(Leaf::Static(0));
            }
            (Leaf::Basis { value, path }, x @ (Leaf::Static(_) | Leaf::Dynamic(_)))
            | (x @ (Leaf::Static(_) | Leaf::Dynamic(_)), Leaf::Basis { value, path }) => {
                return Ok(Leaf::Basis {
                    value: Box::new(value.mul(x)?),
                    path: path.clone(),
                });
            }
            _ => {}
        }
        match (self.side(OP)?, other.side(OP)?) {
            (Side::Known(a), Side::Known(b)) => a
                .checked_mul(b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (Side::Known(0), _) | (_, Side::Known(0)) => Ok(Leaf::Static(0)),
            (Side::Known(1), _) => Ok(other.clone()),
            (_, Side::Known(1)) => Ok(self.clone()),
            (a, b) => {
                let both = a.div().checked_mul(b.div());
                dynamic(Op::Mul, a, b, |a, b| both.unwrap_or_else(|| a.max(b)))
            }
        }
    }

    /// The quotient, rounded towards zero. Errors: a known zero as divisor; overflow; `_` and basis elements.
    pub fn div(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "divide";
        match (self.side(OP)?, other.side(OP)?) {
            (_, Side::Known(0)) => Err(LayoutError::DivisionByZero {
                op: OP,
                found: self.to_string(),
            }),
            (Side::Known(a), Side::Known(b)) => a
                .checked_div(b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (Side::Known(0), _) => Ok(Leaf::Static(0)),
            (_, Side::Known(1)) => Ok(self.clone()),
            (a, b @ Side::Known(_)) => dynamic(Op::DivS, a, b, quotient),
            (a, Side::Dynamic(b)) => {
                divides_by(b, OP);
                dynamic(Op::DivS, a, Side::Dynamic(b), |_, _| 1)
            }
        }
    }

    /// The remainder, with the sign of `self`. Errors as [`Leaf::div`].
    pub fn rem(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "remainder";
        match (self.side(OP)?, other.side(OP)?) {
            (_, Side::Known(0)) => Err(LayoutError::DivisionByZero {
                op: OP,
                found: self.to_string(),
            }),
            (Side::Known(a), Side::Known(b)) => a
                .checked_rem(b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (Side::Known(0), _) | (_, Side::Known(1)) => Ok(Leaf::Static(0)),
            (a, b) => {
                if let Side::Dynamic(b) = b {
                    divides_by(b, OP);
                }
                dynamic(Op::RemS, a, b, gcd)
            }
        }
    }

    /// The quotient rounded up, for a dividend of at least 0 and a divisor of at least 1.
    ///
    /// Errors: a known divisor below 1; `_` and basis elements.
    pub fn ceil_div(&self, other: &Leaf) -> Result<Leaf> {
        const OP: &str = "ceil_div";
        match (self.side(OP)?, other.side(OP)?) {
            (_, Side::Known(..1)) => Err(LayoutError::Shape {
                found: other.to_string(),
            }),
            (Side::Known(a), Side::Known(b)) => Op::CeilDivS
                .exact(a, b)
                .map(Leaf::Static)
                .ok_or_else(|| overflow(OP)),
            (Side::Known(0), _) => Ok(Leaf::Static(0)),
            (_, Side::Known(1)) => Ok(self.clone()),
            (a, b @ Side::Known(_)) => dynamic(Op::CeilDivS, a, b, quotient),
            (a, Side::Dynamic(b)) => {
                divides_by(b, OP);
                dynamic(Op::CeilDivS, a, Side::Dynamic(b), |_, _| 1)
            }
        }
    }

    /// The smaller one. Errors: `_` and basis elements.
    pub fn min(&self, other: &Leaf) -> Result<Leaf> {
        match (self.side("min")?, other.side("min")?) {
            (Side::Known(a), Side::Known(b)) => Ok(Leaf::Static(a.min(b))),
            (a, b) => dynamic(Op::MinS, a, b, gcd),
        }
    }

    /// The larger one. Errors: `_` and basis elements.
    pub fn max(&self, other: &Leaf) -> Result<Leaf> {
        match (self.side("max")?, other.side("max")?) {
            (Side::Known(a), Side::Known(b)) => Ok(Leaf::Static(a.max(b))),
            (a, b) => dynamic(Op::MaxS, a, b, gcd),
        }
    }

    /// The magnitude. Errors: overflow; `_` and basis elements.
    pub fn abs(&self) -> Result<Leaf> {
        match self.side("abs")? {
            Side::Known(v) => v
                .checked_abs()
                .map(Leaf::Static)
                .ok_or_else(|| overflow("abs")),
            Side::Dynamic(Dyn {
                term: Term::Symbolic(p),
                ..
            }) => Ok(Leaf::symbolic(p.abs()?)),
            Side::Dynamic(_) => self.max(&Leaf::Static(0).sub(self)?),
        }
    }

    /// -1, 0 or 1. Errors: `_` and basis elements.
    pub fn signum(&self) -> Result<Leaf> {
        match self.side("signum")? {
            Side::Known(v) => Ok(Leaf::Static(v.signum())),
            Side::Dynamic(Dyn {
                term: Term::Symbolic(p),
                ..
            }) => Ok(Leaf::symbolic(p.signum()?)),
            // max(min(x, 1), -1), with nothing said of divisors.
            Side::Dynamic(_) => self.min(&Leaf::Static(1))?.max(&Leaf::Static(-1)),
        }
    }

    /// Bitwise exclusive or. Errors: `_` and basis elements.
    pub fn xor(&self, other: &Leaf) -> Result<Leaf> {
        match (self.side("xor")?, other.side("xor")?) {
            (Side::Known(a), Side::Known(b)) => Ok(Leaf::Static(a ^ b)),
            (_, Side::Known(0)) => Ok(self.clone()),
            (Side::Known(0), _) => Ok(other.clone()),
            (a, b) => dynamic(Op::Xor, a, b, |_, _| 1),
        }
    }

    /// Bitwise and with a known mask. Errors: `_` and basis elements.
    pub fn and(&self, mask: i64) -> Result<Leaf> {
        match self.side("and")? {
            Side::Known(v) => Ok(Leaf::Static(v & mask)),
            _ if mask == 0 => Ok(Leaf::Static(0)),
            a => dynamic(Op::And, a, Side::Known(mask), |_, _| 1),
        }
    }

    /// Shifted to the left by `bits`. Errors: a shift beyond the width; overflow; `_` and basis elements.
    pub fn shl(&self, bits: u32) -> Result<Leaf> {
        self.shift(Op::Shl, "shift", bits)
    }

    /// Shifted to the right by `bits`, the sign kept. Errors: a shift beyond the width; `_` and basis elements.
    pub fn shr(&self, bits: u32) -> Result<Leaf> {
        self.shift(Op::ShrS, "shift", bits)
    }

    fn shift(&self, op: Op, name: &'static str, bits: u32) -> Result<Leaf> {
        match self.side(name)? {
            Side::Known(v) => op
                .exact(v, i64::from(bits))
                .map(Leaf::Static)
                .ok_or_else(|| overflow(name)),
            _ if bits == 0 => Ok(self.clone()),
            Side::Dynamic(d) if bits >= d.width => Err(overflow(name)),
            a => dynamic(op, a, Side::Known(i64::from(bits)), |_, _| 1),
        }
    }

    fn compare(&self, other: &Leaf, op: Predicate) -> Result<Truth> {
        match (self.side("compare")?, other.side("compare")?) {
            (Side::Known(a), Side::Known(b)) => Ok(Truth::Known(op.exact(a, b) == Some(true))),
            (Side::Known(v), Side::Dynamic(d)) | (Side::Dynamic(d), Side::Known(v))
                if op == Predicate::Eq && d.width < width_of(v) =>
            {
                Ok(Truth::Known(false))
            }
            (a, b) => {
                if let Some((p, q)) = polys(a, b) {
                    return Ok(proved(op, &p, &q));
                }
                let width = a.width().max(b.width());
                Ok(Truth::Unknown(term(op, width, a, b)))
            }
        }
    }

    /// Tells whether both are the same number, as far as that is known now: `?` equals nothing.
    pub fn known_equal(&self, other: &Leaf) -> bool {
        self.is_identified() && other.is_identified() && {
            self == other || self.equals(other).is_ok_and(|t| t.is_true())
        }
    }

    /// Tells whether both are the same number. Errors: `_` and basis elements.
    pub fn equals(&self, other: &Leaf) -> Result<Truth> {
        self.compare(other, Predicate::Eq)
    }

    /// Tells whether `self < other`. Errors: `_` and basis elements.
    pub fn less(&self, other: &Leaf) -> Result<Truth> {
        self.compare(other, Predicate::Slt)
    }

    /// Tells whether `self <= other`. Errors: `_` and basis elements.
    pub fn at_most(&self, other: &Leaf) -> Result<Truth> {
        self.compare(other, Predicate::Sle)
    }

    /// Tells whether `other`, at least 1, divides `self`. Errors: a known zero as divisor; `_` and basis elements.
    pub fn divisible_by(&self, other: &Leaf) -> Result<Truth> {
        if let (Leaf::Dynamic(d), Leaf::Static(c)) = (self, other)
            && *c != 0
            && d.div % c == 0
        {
            return Ok(Truth::Known(true));
        }
        if let Some((p, q)) = polys(self.side("remainder")?, other.side("remainder")?) {
            return Ok(match q.divides(&p) {
                Proof::Proved => Truth::Known(true),
                Proof::Refuted => Truth::Known(false),
                Proof::Unknown => Truth::Unproved(divisibility(&p, &q).into()),
            });
        }
        self.rem(other)?.equals(&Leaf::Static(0))
    }

    /// `then` where `cond` holds, else `other`; dynamic where `cond` is. Errors: `_` and basis elements.
    pub fn select(cond: &Truth, then: &Leaf, other: &Leaf) -> Result<Leaf> {
        let unknown = match cond {
            Truth::Known(true) => return Ok(then.clone()),
            Truth::Known(false) => return Ok(other.clone()),
            Truth::Unknown(term) => term,
            Truth::Unproved(fact) => {
                return Err(LayoutError::NeedsFact {
                    fact: fact.to_string(),
                    otherwise: format!("expected to know which of {then} and {other} it is"),
                });
            }
        };
        let (a, b) = (then.side("select")?, other.side("select")?);
        let width = a.width().max(b.width());
        let Leaf::Dynamic(mut out) = dynamic(Op::MaxS, a, b, gcd)? else {
            return Ok(then.clone());
        };
        out.term = match (unknown, a.expr(), b.expr()) {
            (Term::Traced(cond), Some(then), Some(other)) => Term::Traced(Arc::new(Expr::Select {
                width,
                cond: cond.clone(),
                then,
                other,
            })),
            _ => Term::Untracked,
        };
        Ok(Leaf::Dynamic(out))
    }
}

fn proved(op: Predicate, p: &Poly, q: &Poly) -> Truth {
    let (proof, sign) = match op {
        Predicate::Eq => (p.prove_eq(q), "=="),
        Predicate::Slt => (p.prove_lt(q), "<"),
        _ => (p.prove_le(q), "<="),
    };
    match proof {
        Proof::Proved => Truth::Known(true),
        Proof::Refuted => Truth::Known(false),
        Proof::Unknown => Truth::Unproved(format!("`{p} {sign} {q}`").into()),
    }
}

fn divisibility(p: &Poly, q: &Poly) -> String {
    let part = |p: &Poly| {
        let text = p.to_string();
        if text.contains(['+', '-', '*', '/', '%', ' ']) {
            format!("({text})")
        } else {
            text
        }
    };
    format!("`{} % {} == 0`", part(p), part(q))
}
