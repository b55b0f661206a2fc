//! Arithmetic on integers: known ones, symbolic ones, and those that are known when the program runs.

use std::ops::Range;

use cute_layout::symbolic::Poly;
use cute_layout::{IntTuple, LayoutError, Leaf};

use crate::eval::{Notes, eval};
use crate::failure::{Fault, Outcome};
use crate::syntax::Node;
use crate::value::Value;

/// The sum of terms, each added or subtracted.
pub fn sum(terms: &[(bool, Node<'_>)], notes: &mut Notes<'_>) -> Outcome<Value> {
    let start = terms.first().map_or(0, |t| t.1.span.start);
    let mut all = Leaf::Static(0);
    for (i, (minus, node)) in terms.iter().enumerate() {
        let leaf = operand(node, notes)?;
        let next = match (i, minus) {
            (0, _) => Ok(leaf),
            (_, false) => all.add(&leaf),
            (_, true) => all.sub(&leaf),
        };
        all = next.map_err(|e| Fault::from(e).locate(start..node.span.end))?;
    }
    Ok(integer(all))
}

/// The product of factors; `/` is exact, `%` has the sign of the dividend.
pub fn product(
    first: &Node<'_>,
    factors: &[(u8, Node<'_>)],
    notes: &mut Notes<'_>,
) -> Outcome<Value> {
    let mut all = operand(first, notes)?;
    for (op, node) in factors {
        let leaf = operand(node, notes)?;
        let next = match op {
            b'*' => all.mul(&leaf).map_err(Fault::from),
            b'/' => exact(&all, &leaf),
            _ => all.rem(&leaf).map_err(Fault::from),
        };
        all = next.map_err(|e| e.locate(first.span.start..node.span.end))?;
    }
    Ok(integer(all))
}

/// The negative.
pub fn negative(of: &Node<'_>, span: Range<usize>, notes: &mut Notes<'_>) -> Outcome<Value> {
    let minus = Leaf::Static(-1).mul(&operand(of, notes)?);
    minus.map(integer).map_err(|e| Fault::from(e).locate(span))
}

/// A power.
pub fn power(of: &Node<'_>, e: u32, span: Range<usize>, notes: &mut Notes<'_>) -> Outcome<Value> {
    let base = operand(of, notes)?;
    let mut all = Leaf::Static(1);
    for _ in 0..e {
        all = all
            .mul(&base)
            .map_err(|e| Fault::from(e).locate(span.clone()))?;
    }
    Ok(integer(all))
}

fn integer(leaf: Leaf) -> Value {
    Value::Tuple(IntTuple::Leaf(leaf))
}

fn operand(node: &Node<'_>, notes: &mut Notes<'_>) -> Outcome<Leaf> {
    match eval(node, notes)? {
        Value::Tuple(IntTuple::Leaf(l)) if l != Leaf::Underscore => Ok(l),
        other => {
            let fault = other.unlike("an integer beside an operator");
            Err(fault.locate(node.span.clone()))
        }
    }
}

/// A known or symbolic integer as a polynomial.
pub fn poly(leaf: &Leaf) -> Option<Poly> {
    match leaf {
        Leaf::Static(v) => Some(Poly::constant(*v)),
        l => l.as_symbolic().cloned(),
    }
}

// `a / b`, where it is known that there is no remainder.
fn exact(a: &Leaf, b: &Leaf) -> Result<Leaf, Fault> {
    let refuse = |cure: &str| Fault::Call(format!("expected {b} to divide {a}; {cure}"));
    match (a, b) {
        (Leaf::Static(_), Leaf::Static(0)) => Err(Fault::Call(format!(
            "expected a divisor other than 0, found {a}/0"
        ))),
        (Leaf::Static(x), Leaf::Static(y)) if x.checked_rem(*y) != Some(0) && *y != -1 => {
            Err(refuse("round with floor_div or ceil_div"))
        }
        _ => match (poly(a), poly(b)) {
            (Some(p), Some(q)) => {
                let quotient = p.exact(&q).map_err(LayoutError::from)?;
                Ok(Leaf::symbolic(quotient))
            }
            _ if a.divisible_by(b)?.is_true() => Ok(a.div(b)?),
            _ => Err(refuse(
                "round with ceil_div, or give the divisor as in ?{div=8}",
            )),
        },
    }
}
