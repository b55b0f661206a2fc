//! The nodes of a region, what they mean, and what makes a region valid.

use crate::facts::{Facts, mask};
use std::collections::HashMap;

/// A node of a region: a number, a leaf, or an operation on two earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A constant; it has to fit the width of the region.
    Const(u64),
    /// A value from outside, by its number in [`Region::leaves`].
    Leaf(u32),
    /// Wrapping sum.
    Add(usize, usize),
    /// Wrapping difference.
    Sub(usize, usize),
    /// Wrapping product.
    Mul(usize, usize),
    /// Unsigned quotient; by zero, all ones.
    DivU(usize, usize),
    /// Unsigned remainder; by zero, the dividend.
    RemU(usize, usize),
    /// Bitwise and.
    And(usize, usize),
    /// Bitwise or.
    Or(usize, usize),
    /// Bitwise exclusive or.
    Xor(usize, usize),
    /// Shift to the left; by the width or more, zero.
    Shl(usize, usize),
    /// Logical shift to the right; by the width or more, zero.
    ShrU(usize, usize),
    /// The smaller of two unsigned numbers.
    MinU(usize, usize),
    /// The larger of two unsigned numbers.
    MaxU(usize, usize),
}

/// Index arithmetic to simplify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Bits of every number in the region, 1 to 64.
    pub width: u32,
    /// The facts about each leaf.
    pub leaves: Vec<Facts>,
    /// The nodes, operands before their users.
    pub nodes: Vec<Node>,
    /// The nodes whose values are wanted, in the caller's order; one may stand twice.
    pub roots: Vec<usize>,
}

/// Why a region cannot be simplified: it is not well formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The width is not one of 1 to 64.
    #[error(
        "a region is 1 to 64 bits wide, this one {0}: split wider arithmetic before it gets here"
    )]
    Width(u32),
    /// An operand does not come before its user.
    #[error("node {node} uses node {operand}: operands must come before their users")]
    Operand {
        /// The user.
        node: usize,
        /// The node that it uses.
        operand: usize,
    },
    /// A leaf without facts.
    #[error(
        "node {node} is leaf {leaf}, but facts are given for {leaves} leaves only: use Facts::any for a leaf of which nothing is known"
    )]
    Leaf {
        /// The node.
        node: usize,
        /// The number of its leaf.
        leaf: u32,
        /// The number of leaves.
        leaves: usize,
    },
    /// A root that is not a node.
    #[error("root {root} is node {node}, but there are {nodes} nodes")]
    Root {
        /// Its position among the roots.
        root: usize,
        /// The node it names.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// A constant that does not fit.
    #[error("node {node} is the constant {value}, which does not fit {width} bits: wrap it first")]
    Constant {
        /// The node.
        node: usize,
        /// The constant.
        value: u64,
        /// The width of the region.
        width: u32,
    },
    /// Facts that no value fulfils.
    #[error("no {width}-bit value fulfils the facts about leaf {leaf}: {facts:?}")]
    Facts {
        /// The leaf.
        leaf: usize,
        /// The facts that were given about it.
        facts: Facts,
        /// The width of the region.
        width: u32,
    },
}

/// The operation of a node, without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    DivU,
    RemU,
    And,
    Or,
    Xor,
    Shl,
    ShrU,
    MinU,
    MaxU,
}

impl Op {
    #[cfg(test)]
    pub(crate) const ALL: [Op; 12] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::DivU,
        Op::RemU,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::ShrU,
        Op::MinU,
        Op::MaxU,
    ];

    /// The one definition of what an operation does.
    pub(crate) fn apply(self, a: u64, b: u64, width: u32) -> u64 {
        let all = mask(width);
        match self {
            Op::Add => a.wrapping_add(b) & all,
            Op::Sub => a.wrapping_sub(b) & all,
            Op::Mul => a.wrapping_mul(b) & all,
            Op::DivU => a.checked_div(b).unwrap_or(all),
            Op::RemU => a.checked_rem(b).unwrap_or(a),
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Shl if b >= u64::from(width) => 0,
            Op::Shl => (a << b) & all,
            Op::ShrU if b >= u64::from(width) => 0,
            Op::ShrU => a >> b,
            Op::MinU => a.min(b),
            Op::MaxU => a.max(b),
        }
    }

    pub(crate) fn commutes(self) -> bool {
        !matches!(self, Op::Sub | Op::DivU | Op::RemU | Op::Shl | Op::ShrU)
    }

    /// The `n` with `x op n = x` for every `x`, if there is one.
    pub(crate) fn neutral(self, width: u32) -> Option<u64> {
        match self {
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::ShrU | Op::MaxU => Some(0),
            Op::Mul | Op::DivU => Some(1),
            Op::And | Op::MinU => Some(mask(width)),
            Op::RemU => None,
        }
    }

    pub(crate) fn node(self, a: usize, b: usize) -> Node {
        match self {
            Op::Add => Node::Add(a, b),
            Op::Sub => Node::Sub(a, b),
            Op::Mul => Node::Mul(a, b),
            Op::DivU => Node::DivU(a, b),
            Op::RemU => Node::RemU(a, b),
            Op::And => Node::And(a, b),
            Op::Or => Node::Or(a, b),
            Op::Xor => Node::Xor(a, b),
            Op::Shl => Node::Shl(a, b),
            Op::ShrU => Node::ShrU(a, b),
            Op::MinU => Node::MinU(a, b),
            Op::MaxU => Node::MaxU(a, b),
        }
    }
}

impl Node {
    pub(crate) fn parts(self) -> Option<(Op, usize, usize)> {
        Some(match self {
            Node::Const(_) | Node::Leaf(_) => return None,
            Node::Add(a, b) => (Op::Add, a, b),
            Node::Sub(a, b) => (Op::Sub, a, b),
            Node::Mul(a, b) => (Op::Mul, a, b),
            Node::DivU(a, b) => (Op::DivU, a, b),
            Node::RemU(a, b) => (Op::RemU, a, b),
            Node::And(a, b) => (Op::And, a, b),
            Node::Or(a, b) => (Op::Or, a, b),
            Node::Xor(a, b) => (Op::Xor, a, b),
            Node::Shl(a, b) => (Op::Shl, a, b),
            Node::ShrU(a, b) => (Op::ShrU, a, b),
            Node::MinU(a, b) => (Op::MinU, a, b),
            Node::MaxU(a, b) => (Op::MaxU, a, b),
        })
    }

    /// The node's operands, if it has any.
    pub fn operands(self) -> Option<(usize, usize)> {
        self.parts().map(|(_, a, b)| (a, b))
    }
}

/// The values of `roots` when leaf `i` has the value `leaf_values[i]`.
///
/// For regions that [`crate::simplify`] takes and for what it returns. A leaf without a value, or an operand that does
/// not come before its user, counts as zero.
pub fn eval(nodes: &[Node], roots: &[usize], width: u32, leaf_values: &[u64]) -> Vec<u64> {
    let all = mask(width);
    let mut values: Vec<u64> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let at = |i: usize| values.get(i).copied().unwrap_or(0);
        let value = match (*node, node.parts()) {
            (_, Some((op, a, b))) => op.apply(at(a), at(b), width),
            (Node::Const(value), _) => value & all,
            (Node::Leaf(leaf), _) => leaf_values.get(leaf as usize).copied().unwrap_or(0) & all,
            _ => 0,
        };
        values.push(value);
    }
    roots
        .iter()
        .map(|&r| values.get(r).copied().unwrap_or(0))
        .collect()
}

/// Checks a region, and returns the facts of its leaves in their tightest form.
pub(crate) fn validate(region: &Region) -> Result<Vec<Facts>, Error> {
    let Region {
        width,
        leaves,
        nodes,
        roots,
    } = region;
    let width = *width;
    if !(1..=64).contains(&width) {
        return Err(Error::Width(width));
    }
    for (index, node) in nodes.iter().enumerate() {
        match *node {
            Node::Const(value) if value > mask(width) => {
                return Err(Error::Constant {
                    node: index,
                    value,
                    width,
                });
            }
            Node::Leaf(leaf) if leaf as usize >= leaves.len() => {
                return Err(Error::Leaf {
                    node: index,
                    leaf,
                    leaves: leaves.len(),
                });
            }
            _ => {}
        }
        if let Some((a, b)) = node.operands()
            && a.max(b) >= index
        {
            return Err(Error::Operand {
                node: index,
                operand: a.max(b),
            });
        }
    }
    for (root, &node) in roots.iter().enumerate() {
        if node >= nodes.len() {
            return Err(Error::Root {
                root,
                node,
                nodes: nodes.len(),
            });
        }
    }
    let tight = |(leaf, facts): (usize, &Facts)| {
        facts.tight(width).ok_or(Error::Facts {
            leaf,
            facts: *facts,
            width,
        })
    };
    leaves.iter().enumerate().map(tight).collect()
}

/// Each distinct node once, and only what the roots need, in topological order.
pub(crate) fn hash_cons(nodes: &[Node], roots: &[usize]) -> (Vec<Node>, Vec<usize>) {
    let mut live = vec![false; nodes.len()];
    roots.iter().for_each(|&r| live[r] = true);
    for (index, node) in nodes.iter().enumerate().rev() {
        if let (true, Some((a, b))) = (live[index], node.operands()) {
            live[a] = true;
            live[b] = true;
        }
    }
    let mut out = Vec::new();
    let mut seen = HashMap::new();
    let mut place = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate().filter(|&(index, _)| live[index]) {
        let node = match node.parts() {
            Some((op, a, b)) => op.node(place[a], place[b]),
            None => *node,
        };
        place[index] = *seen.entry(node).or_insert_with(|| {
            out.push(node);
            out.len() - 1
        });
    }
    let roots = roots.iter().map(|&r| place[r]).collect();
    (out, roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neutral_element_of_each_operation() {
        for width in 1..=6 {
            for op in Op::ALL {
                for x in 0..=mask(width) {
                    let Some(n) = op.neutral(width) else { continue };
                    assert_eq!(op.apply(x, n, width), x, "{op:?} {n} at width {width}");
                }
            }
        }
    }

    #[test]
    fn commuting_operations_commute_and_no_others_do() {
        for op in Op::ALL {
            let same = (0..8).all(|a| (0..8).all(|b| op.apply(a, b, 3) == op.apply(b, a, 3)));
            assert_eq!(same, op.commutes(), "{op:?}");
        }
    }

    #[test]
    fn hash_consing_shares_and_drops() {
        use Node::*;
        let nodes = [Leaf(0), Leaf(0), Add(0, 1), Add(1, 0), Mul(0, 0), Sub(2, 3)];
        let (nodes, roots) = hash_cons(&nodes, &[5, 3]);
        assert_eq!(nodes, [Leaf(0), Add(0, 0), Sub(1, 1)]);
        assert_eq!(roots, [2, 1]);
    }
}
