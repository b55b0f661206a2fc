//! The cost of what is computed when the program runs, in simple integer instructions.

use crate::term::Head;
use crate::value::plain;
use cute_arith::Op;
use cute_layout::{
    BinOp, Expr, Leaf, Term,
    ops::{self, Value},
    record,
    symbolic::{Poly, Symbol},
};
use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

/// The cost of a product, and of a quotient or remainder by a number that is not known, as the simplifier of indices has them.
const PRODUCT: u64 = 2;
const QUOTIENT: u64 = 30;

/// The instructions that the dialect's op becomes on operands of these types' values: the arithmetic of its results and of the
/// conditions that they depend on. Nothing where the op refuses them.
pub fn arithmetic(head: &Head, operands: &[Value]) -> Option<u64> {
    let plain: Vec<Value> = operands.iter().map(plain).collect();
    let traced = inputs(&plain);
    let (results, checks) = record(|| ops::apply(head.op, &traced, &head.attrs()));
    let results = results.ok()?;
    let mut seen = HashSet::new();
    let mut cost = 0;
    for d in results.iter().flat_map(Value::dynamic_leaves) {
        if let Term::Traced(e) = &d.term {
            cost += expression(e, &mut seen);
        }
    }
    for check in &checks {
        // The comparison is in the expression; the trap is one more.
        cost += expression(&check.condition, &mut seen) + 1;
    }
    Some(cost)
}

/// Values with plain `?` as inputs of a trace.
fn inputs(operands: &[Value]) -> Vec<Value> {
    let mut inputs = 0;
    let mut traced = Vec::with_capacity(operands.len());
    for operand in operands {
        traced.push(operand.traced(inputs));
        inputs += operand.dynamic_leaves().len();
    }
    traced
}

fn expression(e: &Arc<Expr>, seen: &mut HashSet<*const Expr>) -> u64 {
    if !seen.insert(Arc::as_ptr(e)) {
        return 0;
    }
    match &**e {
        Expr::Input { .. } | Expr::Const(_) => 0,
        Expr::Binary { op, lhs, rhs, .. } => {
            let known = |e: &Expr| matches!(e, Expr::Const(_));
            let own = match op {
                BinOp::Arith(Op::Mul) => PRODUCT,
                BinOp::Arith(Op::DivS | Op::RemS | Op::CeilDivS) if known(rhs) => 4,
                BinOp::Arith(Op::DivS | Op::RemS | Op::CeilDivS) => QUOTIENT,
                _ => 1,
            };
            own + expression(lhs, seen) + expression(rhs, seen)
        }
        Expr::Select {
            cond, then, other, ..
        } => 1 + expression(cond, seen) + expression(then, seen) + expression(other, seen),
    }
}

/// The polynomials that are computed where a value is made of its leaves, with what each costs: nothing for a number or a symbol.
/// Nothing where one is no sum of products of these symbols.
pub(crate) fn leaves(value: &Value, there: &BTreeSet<Arc<Symbol>>) -> Option<Vec<(Poly, u64)>> {
    let mut out = Vec::new();
    for leaf in value.leaves() {
        if let Some(p) = poly(leaf) {
            if !p.symbols().is_subset(there) {
                return None;
            }
            let cost = polynomial(p)?;
            if cost > 0 {
                out.push((p.clone(), cost));
            }
        }
    }
    Some(out)
}

fn poly(leaf: &Leaf) -> Option<&Poly> {
    match leaf {
        Leaf::Basis { value, .. } => value.as_symbolic(),
        leaf => leaf.as_symbolic(),
    }
}

fn polynomial(p: &Poly) -> Option<u64> {
    let terms = p.products()?;
    let mut cost = terms.len().saturating_sub(1) as u64;
    for (coefficient, factors) in &terms {
        let powers: u64 = factors.iter().map(|(_, power)| u64::from(*power)).sum();
        let scaled = u64::from(*coefficient != 1 && powers > 0);
        // Each is checked to fit.
        cost += (powers + scaled).saturating_sub(1) * (PRODUCT + 2);
    }
    Some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::trace;
    use cute_layout::{Dyn, IntTuple, Layout, int, tuple};

    #[test]
    fn arithmetic_is_counted_once() {
        let open = || IntTuple::Leaf(Leaf::Dynamic(Dyn::I32));
        let layout = Layout::new(tuple([open(), open()]), tuple([int(1), open()])).unwrap();
        let layout = Value::Layout(layout);
        let size = arithmetic(&Head::new("size"), std::slice::from_ref(&layout));
        assert_eq!(size, Some(PRODUCT));
        let get = arithmetic(&Head::at("get", &[1]), std::slice::from_ref(&layout));
        assert_eq!(get, Some(0));
        let eight = Value::Layout(Layout::leaf(8, 1).unwrap());
        let composed = arithmetic(&Head::new("composition"), &[layout.clone(), eight]);
        assert!(composed > Some(2 * QUOTIENT), "{composed:?}");
        assert_eq!(
            arithmetic(&Head::new("left_inverse"), std::slice::from_ref(&layout)),
            None
        );
        assert!(trace(&[layout]).is_none(), "a `?` is no symbol");
    }
}
