//! The meaning of an operation: on values whose integers are known or symbolic, and what the dialect's op computes when it is
//! lowered.

use crate::term::Head;
use cute_arith::{Op, Predicate};
use cute_layout::{
    BinOp, ComposedLayout, Dyn, Expr, Inner, IntTuple, Layout, Leaf, Term, int,
    ops::{self, Value},
    record,
    symbolic::{Poly, Proof},
};
use std::{collections::HashMap, sync::Arc};

/// The result of an operation as the algebra gives it on these values, if it follows from what is known of them.
pub fn ideal(head: &Head, operands: &[Value]) -> Option<Value> {
    match (head.op, operands) {
        ("cat", [Value::Layout(a), Value::Layout(b)]) => {
            let both = Layout::from_modes(&[a.clone(), b.clone()]);
            both.ok().map(Value::Layout)
        }
        ("swizzle", [Value::Swizzle(s), Value::Layout(l)]) => {
            ComposedLayout::swizzled(*s, l.clone())
                .ok()
                .map(Value::ComposedLayout)
        }
        ("swizzle", [Value::Swizzle(s), Value::ComposedLayout(c)]) => {
            let Inner::Swizzle(t) = c.inner() else {
                return None;
            };
            let inner = Inner::Swizzle(s.compose(t).ok()?);
            let made = ComposedLayout::new(inner, c.offset().clone(), c.outer().clone()).ok()?;
            Some(if made.is_plain() {
                Value::Layout(made.outer().clone())
            } else {
                Value::ComposedLayout(made)
            })
        }
        ("swizzle_compose", [Value::Swizzle(s), Value::Swizzle(t)]) => {
            s.compose(t).ok().map(Value::Swizzle)
        }
        ("depth", [value]) => {
            let depth = match value {
                Value::Layout(l) => l.depth(),
                Value::ComposedLayout(c) => c.outer().depth(),
                Value::Shape(t) | Value::IntTuple(t) | Value::Stride(t) | Value::Coord(t) => {
                    t.depth()
                }
                _ => return None,
            };
            Some(Value::IntTuple(int(i64::try_from(depth).ok()?)))
        }
        _ => only(ops::apply(head.op, operands, &head.attrs()).ok()?),
    }
}

fn only(mut results: Vec<Value>) -> Option<Value> {
    (results.len() == 1).then(|| results.remove(0))
}

/// The value with a `?` for each symbol: what its type can say.
pub fn plain(value: &Value) -> Value {
    let plain = |d: &Dyn| Leaf::Dynamic(Dyn::new(32, d.div.max(1)));
    value
        .with_leaves(&mut |d| plain(d))
        .unwrap_or_else(|_| value.clone())
}

/// The result that the dialect's op computes, of operands whose types say of them what is static: as static operands would
/// give it, or in another form, such as `(?,?):(1,?)` for a coalesced layout whose type does not show that its modes join.
pub fn actual(head: &Head, operands: &[Value]) -> Option<Value> {
    if !head.is_op() {
        return None;
    }
    let (traced, inputs) = trace(operands)?;
    let result = only(ops::apply(head.op, &traced, &head.attrs()).ok()?)?;
    resolve(&result, &inputs)
}

/// The operands with their symbols as inputs of a trace, and these symbols.
pub(crate) fn trace(operands: &[Value]) -> Option<(Vec<Value>, Vec<Poly>)> {
    let mut inputs = Vec::new();
    let mut traced = Vec::with_capacity(operands.len());
    for operand in operands {
        traced.push(plain(operand).traced(inputs.len()));
        for d in operand.dynamic_leaves() {
            let Term::Symbolic(p) = &d.term else {
                return None;
            };
            inputs.push(p.clone());
        }
    }
    Some((traced, inputs))
}

/// A value that was traced, as polynomials of its inputs; nothing where one of its leaves is none.
pub fn resolve(traced: &Value, inputs: &[Poly]) -> Option<Value> {
    let mut done = HashMap::new();
    let mut whole = true;
    let resolved = traced.with_leaves(&mut |d| {
        let poly = match &d.term {
            Term::Traced(e) => poly_of(e, inputs, &mut done),
            Term::Symbolic(p) => Some(p.clone()),
            Term::Untracked => None,
        };
        match poly {
            Some(p) => Leaf::symbolic(p),
            None => {
                whole = false;
                Leaf::Dynamic(d.clone())
            }
        }
    });
    resolved.ok().filter(|_| whole)
}

type Done = HashMap<*const Expr, Option<Poly>>;

fn poly_of(e: &Arc<Expr>, inputs: &[Poly], done: &mut Done) -> Option<Poly> {
    if let Some(known) = done.get(&Arc::as_ptr(e)) {
        return known.clone();
    }
    let poly = match &**e {
        Expr::Input { index, .. } => inputs.get(*index).cloned(),
        Expr::Const(v) => Some(Poly::constant(*v)),
        Expr::Binary { op, lhs, rhs, .. } => {
            let (a, b) = (poly_of(lhs, inputs, done), poly_of(rhs, inputs, done));
            a.zip(b).and_then(|(a, b)| apply(*op, &a, &b))
        }
        Expr::Select { .. } => None,
    };
    done.insert(Arc::as_ptr(e), poly.clone());
    poly
}

/// A condition that an op asserts when it is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// The condition in polynomials, by which two of them are one.
    pub(crate) text: String,
    /// Tells whether it follows from what is known.
    pub(crate) holds: bool,
}

/// The conditions that the dialect's op asserts on operands of open types; nothing where one is not about polynomials.
pub(crate) fn conditions(head: &Head, operands: &[Value]) -> Option<Vec<Condition>> {
    let (traced, inputs) = trace(operands)?;
    let (results, checks) = record(|| ops::apply(head.op, &traced, &head.attrs()));
    results.ok()?;
    let mut done = HashMap::new();
    let mut out = Vec::new();
    for check in &checks {
        condition(&check.condition, &inputs, &mut done, &mut out)?;
    }
    Some(out)
}

/// Adds the parts of a condition that have to hold each.
fn condition(
    e: &Arc<Expr>,
    inputs: &[Poly],
    done: &mut Done,
    out: &mut Vec<Condition>,
) -> Option<()> {
    match &**e {
        Expr::Const(v) => out.push(Condition {
            text: v.to_string(),
            holds: *v != 0,
        }),
        Expr::Binary {
            op: BinOp::Arith(Op::And),
            lhs,
            rhs,
            ..
        } => {
            condition(lhs, inputs, done, out)?;
            condition(rhs, inputs, done, out)?;
        }
        Expr::Binary {
            op: BinOp::Arith(Op::Or),
            lhs,
            rhs,
            ..
        } => {
            let mut sides = [Vec::new(), Vec::new()];
            condition(lhs, inputs, done, &mut sides[0])?;
            condition(rhs, inputs, done, &mut sides[1])?;
            let holds = sides.iter().any(|side| side.iter().all(|c| c.holds));
            let text = |side: &Vec<Condition>| -> String {
                let parts: Vec<&str> = side.iter().map(|c| &*c.text).collect();
                parts.join(" and ")
            };
            out.push(Condition {
                text: format!("({}) or ({})", text(&sides[0]), text(&sides[1])),
                holds,
            });
        }
        Expr::Binary {
            op: BinOp::Compare(predicate),
            lhs,
            rhs,
            ..
        } => {
            let (a, b) = (poly_of(lhs, inputs, done)?, poly_of(rhs, inputs, done)?);
            let proof = match predicate {
                Predicate::Eq => a.prove_eq(&b),
                Predicate::Slt => a.prove_lt(&b),
                Predicate::Sle => a.prove_le(&b),
                _ => Proof::Unknown,
            };
            out.push(Condition {
                text: format!("{predicate:?} {a}, {b}"),
                holds: proof.holds(),
            });
        }
        _ => return None,
    }
    Some(())
}

fn apply(op: BinOp, a: &Poly, b: &Poly) -> Option<Poly> {
    let BinOp::Arith(op) = op else {
        return None;
    };
    let result = match op {
        Op::Add => a.add(b),
        Op::Sub => a.sub(b),
        Op::Mul => a.mul(b),
        Op::DivS => a.div_trunc(b),
        Op::RemS => a.rem(b),
        Op::CeilDivS => a.ceil_div(b),
        Op::MinS => a.min(b),
        Op::MaxS => a.max(b),
        _ => return None,
    };
    result.ok()
}

/// The layout of a value: a layout, or the outer one of a composed layout.
pub(crate) fn outer(value: &Value) -> Option<&Layout> {
    match value {
        Value::Layout(l) => Some(l),
        Value::ComposedLayout(c) => Some(c.outer()),
        _ => None,
    }
}

/// The tuple of a value.
pub(crate) fn tuple_of(value: &Value) -> Option<&IntTuple> {
    match value {
        Value::IntTuple(t) | Value::Shape(t) | Value::Stride(t) | Value::Coord(t) => Some(t),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_layout::{symbolic::Symbol, tuple};

    fn symbol(name: &str) -> IntTuple {
        IntTuple::Leaf(Leaf::symbolic(Poly::symbol(Symbol::new(name)).unwrap()))
    }

    #[test]
    fn what_is_computed_differs_from_what_static_operands_give() {
        let (a, b) = (symbol("a"), symbol("b"));
        let layout = Layout::new(tuple([a.clone(), b]), tuple([int(1), a])).unwrap();
        let operands = [Value::Layout(layout)];
        let coalesce = Head::new("coalesce");
        assert_eq!(ideal(&coalesce, &operands).unwrap().to_string(), "a*b:1");
        assert_eq!(
            actual(&coalesce, &operands).unwrap().to_string(),
            "(a,b):(1,a)"
        );
        let size = Head::new("size");
        assert_eq!(ideal(&size, &operands), actual(&size, &operands));
    }
}
