//! The leaves that nodes are computed from.

use cute_simplify::Node;

/// The leaves that each node of some is computed from, a bit each.
pub(super) struct LeafSets {
    bits: Vec<u64>,
    /// The number of words of a node.
    words: usize,
}

impl LeafSets {
    /// The leaves of nodes over so many leaves, operands before their users.
    pub(super) fn of(nodes: &[Node], leaves: usize) -> Self {
        let words = leaves.div_ceil(64).max(1);
        let mut bits = vec![0; nodes.len() * words];
        for (at, node) in nodes.iter().enumerate() {
            if let Node::Leaf(leaf) = node {
                bits[at * words + *leaf as usize / 64] |= 1 << (leaf % 64);
            }
            for &operand in node.operands().iter() {
                for word in 0..words {
                    bits[at * words + word] |= bits[operand * words + word];
                }
            }
        }
        Self { bits, words }
    }

    fn words_of(&self, node: usize) -> &[u64] {
        &self.bits[node * self.words..][..self.words]
    }

    /// The leaves of a node, in order.
    pub(super) fn leaves(&self, node: usize) -> impl Iterator<Item = u32> {
        let words = self.words_of(node).iter().zip(0..);
        words.flat_map(|(&word, at)| {
            let set = move |bit: &u32| word >> bit & 1 == 1;
            (0..64).filter(set).map(move |bit| at * 64 + bit)
        })
    }

    /// Tells whether a node has no leaf that a node of others has not.
    pub(super) fn is_within(&self, node: usize, others: &LeafSets, other: usize) -> bool {
        let mut pairs = self.words_of(node).iter().zip(others.words_of(other));
        pairs.all(|(word, other)| word & !other == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cute_arith::Op;

    #[test]
    fn a_node_has_the_leaves_of_its_operands() {
        let nodes = [
            Node::Leaf(3),
            Node::Leaf(70),
            Node::Const(1, 32),
            Node::Op(Op::Add, 0, 2),
            Node::Op(Op::Xor, 3, 1),
        ];
        let sets = LeafSets::of(&nodes, 71);
        let of = |node| sets.leaves(node).collect::<Vec<_>>();
        assert_eq!([of(2), of(3), of(4)], [vec![], vec![3], vec![3, 70]]);
        assert!(sets.is_within(3, &sets, 4) && !sets.is_within(4, &sets, 3));
    }
}
