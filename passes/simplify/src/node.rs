//! The nodes of a region, what they mean, and what makes a region valid.

use cute_arith::{Facts, mask};
use std::collections::HashMap;

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

macro_rules! nodes {
    ($($op:ident $doc:literal,)*) => {
        /// A node of a region: a number, a leaf, or an operation on two earlier nodes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Node {
            /// A constant; it has to fit the width of the region.
            Const(u64),
            /// A value from outside, by its number in [`Region::leaves`].
            Leaf(u32),
            $(#[doc = $doc] $op(usize, usize),)*
        }

        /// The operation of a node, without its operands: one of those rows of [`cute_arith::Op`] for which there are rules.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(crate) enum Op { $($op,)* }

        impl Op {
            const ALL: &[Op] = &[$(Op::$op,)*];

            /// The row of the table of operations, which says what it does.
            pub(crate) fn row(self) -> cute_arith::Op {
                match self { $(Op::$op => cute_arith::Op::$op,)* }
            }

            pub(crate) fn node(self, a: usize, b: usize) -> Node {
                match self { $(Op::$op => Node::$op(a, b),)* }
            }
        }

        impl Node {
            pub(crate) fn parts(self) -> Option<(Op, usize, usize)> {
                match self {
                    Node::Const(_) | Node::Leaf(_) => None,
                    $(Node::$op(a, b) => Some((Op::$op, a, b)),)*
                }
            }
        }
    };
}

nodes! {
    Add "Wrapping sum.",
    Sub "Wrapping difference.",
    Mul "Wrapping product.",
    DivU "Unsigned quotient; by zero, all ones.",
    RemU "Unsigned remainder; by zero, the dividend.",
    And "Bitwise and.",
    Or "Bitwise or.",
    Xor "Bitwise exclusive or.",
    Shl "Shift to the left; by the width or more, zero.",
    ShrU "Logical shift to the right; by the width or more, zero.",
    MinU "The smaller of two unsigned numbers.",
    MaxU "The larger of two unsigned numbers.",
}

impl Op {
    pub(crate) fn apply(self, a: u64, b: u64, width: u32) -> u64 {
        self.row().at_width(a, b, width)
    }

    pub(crate) fn commutes(self) -> bool {
        self.row().commutes()
    }

    pub(crate) fn neutral(self, width: u32) -> Option<u64> {
        self.row().neutral(width)
    }
}

impl Node {
    /// The node of an operation on two earlier nodes; nothing where regions do not have the operation.
    pub fn of(op: cute_arith::Op, a: usize, b: usize) -> Option<Node> {
        let op = *Op::ALL.iter().find(|known| known.row() == op)?;
        Some(op.node(a, b))
    }

    /// The operation and its operands, if the node is one.
    pub fn operation(self) -> Option<(cute_arith::Op, usize, usize)> {
        let (op, a, b) = self.parts()?;
        Some((op.row(), a, b))
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
    fn hash_consing_shares_and_drops() {
        use Node::*;
        let nodes = [Leaf(0), Leaf(0), Add(0, 1), Add(1, 0), Mul(0, 0), Sub(2, 3)];
        let (nodes, roots) = hash_cons(&nodes, &[5, 3]);
        assert_eq!(nodes, [Leaf(0), Add(0, 0), Sub(1, 1)]);
        assert_eq!(roots, [2, 1]);
    }
}
