//! The costs of operations on a GPU, in units of 1/16 of a simple 32-bit instruction.

use crate::node::{Node, Op};
use cute_arith::mask;
use std::collections::HashSet;

/// One simple instruction (IADD3, LOP3, SHF).
const UNIT: u64 = 16;

/// A cost that is too little to count but settles ties: no operation is free, so no extraction can go in circles.
pub(crate) const EPSILON: u64 = 1;

/// The cost of an operation, given its right operand if that is a constant.
pub(crate) fn op_cost(op: Op, right: Option<u64>, width: u32) -> u64 {
    let pow2 = right.is_some_and(|c| c.is_power_of_two());
    let small = match op {
        Op::Add
        | Op::Sub
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Shl
        | Op::ShrU
        | Op::MinU
        | Op::MaxU => UNIT,
        Op::Mul | Op::DivU | Op::RemU if pow2 => UNIT,
        // IMAD: one issue slot, but half the rate of an addition on some parts.
        Op::Mul => 2 * UNIT,
        // By a constant: a high product and shifts; the remainder takes a product and a difference more.
        Op::DivU if right.is_some() => 5 * UNIT,
        Op::RemU if right.is_some() => 8 * UNIT,
        Op::DivU => 30 * UNIT,
        Op::RemU => 32 * UNIT,
    };
    // Wide arithmetic is done in halves.
    if width > 32 { 2 * small } else { small }
}

/// The cost of a DAG: each node that the roots need once; a constant added at a root next to nothing, because it folds
/// into the instruction that uses the address.
pub fn dag_cost(nodes: &[Node], roots: &[usize], width: u32) -> u64 {
    let constant = |i: usize| match nodes.get(i) {
        Some(Node::Const(value)) => Some(value & mask(width)),
        _ => None,
    };
    let mut total = 0;
    let mut paid = HashSet::new();
    let mut todo = Vec::new();
    let mut folded = HashSet::new();
    for &root in roots {
        match nodes.get(root) {
            Some(&Node::Add(base, offset)) if constant(offset).is_some() => {
                if folded.insert(root) {
                    total += EPSILON;
                }
                todo.push(base);
            }
            _ => todo.push(root),
        }
    }
    while let Some(index) = todo.pop() {
        if !paid.insert(index) {
            continue;
        }
        if let Some((op, a, b)) = nodes.get(index).and_then(|n| n.parts()) {
            total += op_cost(op, constant(b), width);
            todo.extend([a, b]);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_paid_once_and_constants_at_roots_are_not() {
        use Node::*;
        let nodes = [
            Leaf(0),
            Const(3),
            Mul(0, 1),
            Add(2, 1),
            Xor(2, 0),
            Add(3, 0),
        ];
        assert_eq!(dag_cost(&nodes, &[2], 32), 2 * UNIT);
        assert_eq!(dag_cost(&nodes, &[2, 2, 3], 32), 2 * UNIT + EPSILON);
        assert_eq!(dag_cost(&nodes, &[2, 4], 32), 3 * UNIT);
        // Under another node, the added constant is an instruction.
        assert_eq!(dag_cost(&nodes, &[5], 32), 4 * UNIT);
        assert_eq!(dag_cost(&nodes, &[4], 64), 6 * UNIT);
    }

    #[test]
    fn divisions_are_dear_unless_they_are_shifts() {
        let cost = |op, right| op_cost(op, right, 32) / UNIT;
        assert_eq!(
            [
                cost(Op::DivU, None),
                cost(Op::DivU, Some(3)),
                cost(Op::DivU, Some(8))
            ],
            [30, 5, 1]
        );
        assert!(
            cost(Op::RemU, Some(3))
                >= cost(Op::DivU, Some(3)) + cost(Op::Mul, Some(3)) + cost(Op::Sub, None)
        );
    }
}
