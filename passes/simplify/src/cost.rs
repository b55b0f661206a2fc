//! The costs of operations on a GPU, in units of 1/16 of a simple 32-bit instruction.
//!
//! Most are the instructions that ptxas makes of an operation; divisions take as long as so many. `tools/costs.py` measures both, and
//! docs/egg.md has its table for an H100.

use crate::node::{Leaf, Node, levels, widths};
use cute_arith::{Cast, Op, Predicate, Sign};

/// One simple instruction (IADD3, LOP3, SHF, ISETP, SEL).
const UNIT: u64 = 16;

/// A cost that is too little to count but settles ties: no operation is free, so no extraction can go in circles.
pub(crate) const EPSILON: u64 = 1;

/// The number of times that something within so many loops is taken to be computed.
pub(crate) fn turns(level: u32) -> u64 {
    8_u64.pow(level.min(4))
}

/// The cost of an operation at a width, given its right operand if that is a constant.
pub(crate) fn op_cost(op: Op, right: Option<u64>, width: u32) -> u64 {
    let pow2 = right.is_some_and(|c| c.is_power_of_two());
    let known = right.is_some();
    let small = match op {
        Op::Add | Op::Sub | Op::And | Op::Or | Op::Xor | Op::Shl | Op::ShrU => UNIT,
        Op::ShrS => UNIT + EPSILON,
        // Of wide numbers a comparison and two selections.
        Op::MinU | Op::MaxU => UNIT + UNIT * u64::from(width > 32),
        // As dear; without signs, others see more.
        Op::MinS | Op::MaxS => UNIT + UNIT * u64::from(width > 32) + EPSILON,
        Op::Mul | Op::DivU | Op::RemU if pow2 => UNIT,
        // IMAD is one instruction at the rate of an addition; of equals a sum or a shift stays, of which others see more. Of wide numbers
        // it is four.
        Op::Mul => UNIT + UNIT * u64::from(width > 32) + 2 * EPSILON,
        // The sign is added before the shift.
        Op::DivS | Op::FloorDivS | Op::CeilDivU | Op::CeilDivS if pow2 => 3 * UNIT,
        Op::RemS if pow2 => 4 * UNIT,
        // By a constant: a high product and shifts; the remainder takes a product and a difference more, and no less than these are written
        // out, which a quotient of the same numbers shares.
        Op::DivU if known => 5 * UNIT,
        Op::DivS | Op::FloorDivS | Op::CeilDivU | Op::CeilDivS if known => 6 * UNIT,
        Op::RemU if known => 8 * UNIT,
        Op::RemS if known => 9 * UNIT,
        // Of wide numbers a routine.
        Op::DivU if width > 32 => 60 * UNIT,
        Op::RemU if width > 32 => 62 * UNIT,
        Op::DivS | Op::FloorDivS | Op::CeilDivU | Op::CeilDivS if width > 32 => 70 * UNIT,
        Op::RemS if width > 32 => 72 * UNIT,
        Op::DivU => 25 * UNIT,
        Op::RemU => 26 * UNIT,
        Op::DivS | Op::FloorDivS | Op::CeilDivU | Op::CeilDivS => 33 * UNIT,
        Op::RemS => 34 * UNIT,
    };
    // Wide arithmetic is done in halves.
    if width > 32 { 2 * small } else { small }
}

/// The cost of a comparison of numbers of a width.
pub(crate) fn compare_cost(predicate: Predicate, width: u32) -> u64 {
    let signs = EPSILON * u64::from(predicate.sign() == Sign::Signed);
    signs + if width > 32 { 2 * UNIT } else { UNIT }
}

/// The cost of a conversion to a width: the upper half of what is extended by zeros is a register that is always zero, and what
/// is truncated is the lower one.
pub(crate) fn cast_cost(cast: Cast, from: u32) -> u64 {
    match cast {
        Cast::SignExtend => UNIT,
        // A predicate becomes a number by a selection.
        Cast::ZeroExtend if from == 1 => UNIT,
        Cast::ZeroExtend if from < 32 => UNIT,
        Cast::ZeroExtend | Cast::Truncate => 2 * EPSILON,
    }
}

/// The cost of a selection between numbers of a width.
pub(crate) fn select_cost(width: u32) -> u64 {
    if width > 32 { 2 * UNIT } else { UNIT }
}

/// The cost of a DAG: each node that the roots need once, and as often as loops around it turn; a constant added at a root next to nothing, because it folds
/// into the instruction that uses the address.
pub fn dag_cost(leaves: &[Leaf], nodes: &[Node], roots: &[usize]) -> u64 {
    let (widths, levels) = (widths(leaves, nodes), levels(leaves, nodes));
    let constant = |i: usize| match nodes.get(i) {
        Some(Node::Const(value, _)) => Some(*value),
        _ => None,
    };
    let mut total = 0;
    let mut paid = vec![false; nodes.len()];
    let mut todo = Vec::new();
    let mut folded = vec![false; nodes.len()];
    for &root in roots {
        match nodes.get(root) {
            Some(&Node::Op(Op::Add, base, offset)) if constant(offset).is_some() => {
                if !std::mem::replace(&mut folded[root], true) {
                    total += EPSILON;
                }
                todo.push(base);
            }
            _ => todo.push(root),
        }
    }
    while let Some(index) = todo.pop() {
        let Some(&node) = nodes.get(index) else {
            continue;
        };
        if std::mem::replace(&mut paid[index], true) {
            continue;
        }
        let width_of = |i: usize| widths.get(i).copied().unwrap_or(64);
        let level = levels.get(index).copied().unwrap_or(0);
        let cost = match node {
            Node::Const(..) | Node::Leaf(_) => 0,
            Node::Op(op, a, b) => op_cost(op, constant(b), width_of(a)),
            Node::Compare(predicate, a, _) => compare_cost(predicate, width_of(a)),
            Node::Cast(cast, a, _) => cast_cost(cast, width_of(a)),
            Node::Select(_, yes, _) => select_cost(width_of(yes)),
        };
        total += cost * turns(level);
        todo.extend(node.operands().iter());
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_paid_once_and_constants_at_roots_are_not() {
        let nodes = |width| {
            [
                Node::Leaf(0),
                Node::Const(3, width),
                Node::Op(Op::Mul, 0, 1),
                Node::Op(Op::Add, 2, 1),
                Node::Op(Op::Xor, 2, 0),
                Node::Op(Op::Add, 3, 0),
            ]
        };
        let cost = |width, roots: &[usize]| dag_cost(&[Leaf::any(width)], &nodes(width), roots);
        let product = UNIT + 2 * EPSILON;
        assert_eq!(cost(32, &[2]), product);
        assert_eq!(cost(32, &[2, 2, 3]), product + EPSILON);
        assert_eq!(cost(32, &[2, 4]), product + UNIT);
        // Inside, an added constant is an instruction.
        assert_eq!(cost(32, &[5]), product + 2 * UNIT);
        assert_eq!(cost(64, &[4]), 6 * UNIT + 4 * EPSILON);
    }

    #[test]
    fn divisions_are_dear_unless_they_are_shifts() {
        let cost = |op, right| op_cost(op, right, 32) / UNIT;
        assert_eq!(
            [
                cost(Op::DivU, None),
                cost(Op::DivU, Some(3)),
                cost(Op::DivU, Some(8)),
                cost(Op::DivS, Some(8)),
            ],
            [25, 5, 1, 3]
        );
        assert!(
            cost(Op::RemU, Some(3))
                >= cost(Op::DivU, Some(3)) + cost(Op::Mul, Some(3)) + cost(Op::Sub, None)
        );
    }

    #[test]
    fn what_changes_in_a_loop_is_dearer() {
        let leaves = [Leaf::any(32), Leaf::any(32).within(1)];
        let nodes = [
            Node::Leaf(0),
            Node::Leaf(1),
            Node::Op(Op::Xor, 0, 0),
            Node::Op(Op::Xor, 2, 1),
        ];
        assert_eq!(dag_cost(&leaves, &nodes, &[2]), UNIT);
        assert_eq!(dag_cost(&leaves, &nodes, &[3]), UNIT + 8 * UNIT);
    }

    #[test]
    fn zeros_above_cost_next_to_nothing() {
        assert!(cast_cost(Cast::ZeroExtend, 32) + cast_cost(Cast::Truncate, 64) < UNIT);
        assert_eq!(cast_cost(Cast::SignExtend, 32), UNIT);
    }
}
