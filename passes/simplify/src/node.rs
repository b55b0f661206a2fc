//! The nodes of a region, what they mean, and what makes a region valid.

use cute_arith::{Cast, Facts, Op, Predicate, mask};
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};
use std::hash::{BuildHasher, Hash, Hasher};

/// Index arithmetic to simplify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The leaves: what is known of each.
    pub leaves: Vec<Leaf>,
    /// The nodes, operands before their users.
    pub nodes: Vec<Node>,
    /// The nodes whose values are wanted, in the caller's order; one may stand twice.
    pub roots: Vec<usize>,
}

/// A value from outside of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its bits, 1 to 64.
    pub width: u32,
    /// The facts about it.
    pub facts: Facts,
    /// The number of loops around it: what depends on it is computed in each turn of the innermost.
    pub level: u32,
}

impl Leaf {
    /// A leaf of a width with these facts, outside of all loops.
    pub fn new(width: u32, facts: Facts) -> Leaf {
        Leaf {
            width,
            facts,
            level: 0,
        }
    }

    /// The same leaf within so many loops.
    #[must_use]
    pub fn within(self, level: u32) -> Leaf {
        Leaf { level, ..self }
    }

    /// A leaf of a width of which nothing is known.
    pub fn any(width: u32) -> Leaf {
        Leaf::new(width, Facts::any(width))
    }
}

/// A node of a region: a number, a leaf, or an operation on earlier nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A constant and its width, which it has to fit.
    Const(u64, u32),
    /// A value from outside, by its number in [`Region::leaves`].
    Leaf(u32),
    /// An operation on two nodes of one width.
    Op(Op, usize, usize),
    /// A comparison of two nodes of one width; of width 1.
    Compare(Predicate, usize, usize),
    /// A conversion to a width.
    Cast(Cast, usize, u32),
    /// The second node where the first, of width 1, is 1, else the third.
    Select(usize, usize, usize),
}

/// In three words at most: nodes are looked up more often than anything else is done with them.
impl Hash for Node {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (what, a, b) = match *self {
            Node::Const(value, width) => (u64::from(width), value, 0),
            Node::Leaf(leaf) => (1 << 8, u64::from(leaf), 0),
            Node::Op(op, a, b) => (2 << 8 | op as u64, a as u64, b as u64),
            Node::Compare(predicate, a, b) => (3 << 8 | predicate as u64, a as u64, b as u64),
            Node::Cast(cast, a, width) => (4 << 8 | cast as u64, a as u64, u64::from(width)),
            Node::Select(condition, yes, no) => {
                state.write_u64(condition as u64);
                (5 << 8, yes as u64, no as u64)
            }
        };
        state.write_u64(what);
        state.write_u64(a);
        state.write_u64(b);
    }
}

/// The operands of a node.
#[derive(Clone, Copy, Debug, Default)]
pub struct Operands {
    all: [usize; 3],
    count: usize,
}

impl std::ops::Deref for Operands {
    type Target = [usize];

    fn deref(&self) -> &[usize] {
        &self.all[..self.count]
    }
}

impl Node {
    /// The operands, in their order.
    pub fn operands(self) -> Operands {
        let (all, count) = match self {
            Node::Const(..) | Node::Leaf(_) => ([0; 3], 0),
            Node::Op(_, a, b) | Node::Compare(_, a, b) => ([a, b, 0], 2),
            Node::Cast(_, a, _) => ([a, 0, 0], 1),
            Node::Select(a, b, c) => ([a, b, c], 3),
        };
        Operands { all, count }
    }

    /// The node with other operands.
    #[must_use]
    pub fn with(self, mut of: impl FnMut(usize) -> usize) -> Node {
        match self {
            Node::Const(..) | Node::Leaf(_) => self,
            Node::Op(op, a, b) => Node::Op(op, of(a), of(b)),
            Node::Compare(predicate, a, b) => Node::Compare(predicate, of(a), of(b)),
            Node::Cast(cast, a, width) => Node::Cast(cast, of(a), width),
            Node::Select(a, b, c) => Node::Select(of(a), of(b), of(c)),
        }
    }
}

/// The reason why a region cannot be simplified: it is not well formed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A width that is not one of 1 to 64.
    #[error(
        "node {node} is {width} bits wide, where 1 to 64 are possible: split wider arithmetic before it gets here"
    )]
    Width {
        /// The node.
        node: usize,
        /// Its width.
        width: u32,
    },
    /// Operands of other widths than the node takes.
    #[error(
        "node {node}, {kind:?}, has operands of {widths:?} bits: convert them before they get here"
    )]
    Widths {
        /// The node.
        node: usize,
        /// The node itself.
        kind: Node,
        /// The widths of its operands.
        widths: Vec<u32>,
    },
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
        /// Its width.
        width: u32,
    },
    /// Facts that no value fulfils.
    #[error("no {width}-bit value fulfils the facts about leaf {leaf}: {facts:?}")]
    Facts {
        /// The leaf.
        leaf: usize,
        /// The facts that were given about it.
        facts: Facts,
        /// The width of the leaf.
        width: u32,
    },
}

/// The value of a node from the values and widths of its operands.
pub(crate) fn apply(node: Node, values: &[u64], widths: &[u32]) -> u64 {
    match (node, values, widths) {
        (Node::Const(value, width), ..) => value & mask(width),
        (Node::Op(op, ..), &[a, b], &[width, _]) => op.at_width(a, b, width),
        (Node::Compare(predicate, ..), &[a, b], &[width, _]) => {
            u64::from(predicate.at_width(a, b, width))
        }
        (Node::Cast(cast, _, to), &[a], &[from]) => cast.at_widths(a, from, to),
        (Node::Select(..), &[condition, yes, no], _) => {
            if condition == 1 {
                yes
            } else {
                no
            }
        }
        _ => 0,
    }
}

/// The width of a node from those of its operands.
pub(crate) fn width_of(node: Node, leaves: &[Leaf], widths: &[u32]) -> u32 {
    match node {
        Node::Const(_, width) | Node::Cast(_, _, width) => width,
        Node::Leaf(leaf) => leaves.get(leaf as usize).map_or(64, |leaf| leaf.width),
        Node::Compare(..) => 1,
        Node::Op(..) => widths.first().copied().unwrap_or(64),
        Node::Select(..) => widths.get(1).copied().unwrap_or(64),
    }
}

/// The facts of the operands of a node, of which there are three at most.
pub(crate) fn gathered<T: Default + Copy>(operands: &[usize], of: impl Fn(usize) -> T) -> [T; 3] {
    let mut all = [T::default(); 3];
    for (found, &operand) in all.iter_mut().zip(operands) {
        *found = of(operand);
    }
    all
}

/// The width of each node.
///
/// For regions that [`crate::simplify`] takes and for what it returns.
pub fn widths(leaves: &[Leaf], nodes: &[Node]) -> Vec<u32> {
    let mut widths: Vec<u32> = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let operands = node.operands();
        let of = gathered(&operands, |i| widths.get(i).copied().unwrap_or(64));
        widths.push(width_of(node, leaves, &of[..operands.len()]));
    }
    widths
}

/// The values of `roots` when leaf `i` has the value `leaf_values[i]`.
///
/// For regions that [`crate::simplify`] takes and for what it returns. A leaf without a value, or an operand that does
/// not come before its user, counts as zero.
pub fn eval(leaves: &[Leaf], nodes: &[Node], roots: &[usize], leaf_values: &[u64]) -> Vec<u64> {
    let widths = widths(leaves, nodes);
    let mut values: Vec<u64> = Vec::with_capacity(nodes.len());
    for (&node, &width) in nodes.iter().zip(&widths) {
        let operands = node.operands();
        let at = |&i: &usize| values.get(i).copied().unwrap_or(0);
        let given: Vec<u64> = operands.iter().map(at).collect();
        let of = |&i: &usize| widths.get(i).copied().unwrap_or(64);
        let widths: Vec<u32> = operands.iter().map(of).collect();
        let value = match node {
            Node::Leaf(leaf) => leaf_values.get(leaf as usize).copied().unwrap_or(0) & mask(width),
            _ => apply(node, &given, &widths),
        };
        values.push(value);
    }
    roots
        .iter()
        .map(|&r| values.get(r).copied().unwrap_or(0))
        .collect()
}

/// The number of loops that each node is computed in.
pub(crate) fn levels(leaves: &[Leaf], nodes: &[Node]) -> Vec<u32> {
    let mut levels: Vec<u32> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let at = |&i: &usize| levels.get(i).copied().unwrap_or(0);
        levels.push(match node {
            Node::Leaf(leaf) => leaves.get(*leaf as usize).map_or(0, |leaf| leaf.level),
            _ => node.operands().iter().map(at).max().unwrap_or(0),
        });
    }
    levels
}

/// The facts about each node that follow from those about the leaves.
///
/// For regions that [`crate::simplify`] takes and for what it returns.
pub fn facts_of(leaves: &[Leaf], nodes: &[Node]) -> Vec<Facts> {
    let widths = widths(leaves, nodes);
    let mut all: Vec<Facts> = Vec::with_capacity(nodes.len());
    for &node in nodes {
        let operands = node.operands();
        let known = gathered(&operands, |i| all.get(i).copied().unwrap_or(Facts::any(64)));
        let widths = gathered(&operands, |i| widths.get(i).copied().unwrap_or(64));
        let count = operands.len();
        all.push(forward(node, leaves, &known[..count], &widths[..count]));
    }
    all
}

/// The facts about a node from those about its operands, and their widths.
pub(crate) fn forward(node: Node, leaves: &[Leaf], of: &[Facts], widths: &[u32]) -> Facts {
    match (node, of, widths) {
        (Node::Const(value, _), ..) => Facts::constant(value),
        (Node::Leaf(leaf), ..) => {
            let Leaf { width, facts, .. } =
                leaves.get(leaf as usize).copied().unwrap_or(Leaf::any(64));
            facts.tight(width).unwrap_or(Facts::any(width))
        }
        (Node::Op(op, ..), &[a, b], &[width, _]) => op.facts(a, b, width),
        (Node::Compare(predicate, ..), &[a, b], &[width, _]) => {
            let decided = predicate.decided(a, b, width);
            decided.map_or(Facts::any(1), |truth| Facts::constant(u64::from(truth)))
        }
        (Node::Cast(cast, _, to), &[a], &[from]) => cast.facts(a, from, to),
        (Node::Select(..), &[condition, yes, no], _) => match condition.as_constant() {
            Some(0) => no,
            Some(_) => yes,
            None => yes.or(no),
        },
        _ => Facts::any(64),
    }
}

/// The facts about the operands of a node from those about them and about it, and their widths; nothing where no operands give such a
/// result.
pub(crate) fn backward(
    node: Node,
    out: Facts,
    of: &[Facts],
    widths: &[u32],
) -> Option<SmallVec<[Facts; 3]>> {
    Some(match (node, of, widths) {
        (Node::Op(op, ..), &[a, b], &[width, _]) => {
            let (a, b) = op.backward(out, a, b, width)?;
            smallvec![a, b]
        }
        (Node::Compare(predicate, ..), &[a, b], &[width, _]) => {
            let holds = match out.as_constant() {
                Some(0) => predicate.negated(),
                Some(_) => predicate,
                None => return Some(smallvec![a, b]),
            };
            smallvec![
                holds.facts(a, b, width)?,
                holds.swapped().facts(b, a, width)?
            ]
        }
        (Node::Cast(cast, _, to), &[a], &[from]) => {
            smallvec![cast.backward(out, a, from, to)?]
        }
        (Node::Select(..), &[condition, yes, no], &[_, width, _]) => {
            let can = |arm: Facts| arm.and(out).tight(width);
            match (condition.as_constant(), can(yes), can(no)) {
                (Some(0), _, arm) => smallvec![condition, yes, arm?],
                (Some(_), arm, _) => smallvec![condition, arm?, no],
                (None, Some(arm), None) => smallvec![Facts::constant(1), arm, no],
                (None, None, Some(arm)) => smallvec![Facts::constant(0), yes, arm],
                (None, None, None) => return None,
                (None, Some(_), Some(_)) => smallvec![condition, yes, no],
            }
        }
        _ => of.iter().copied().collect(),
    })
}

/// Checks a region, and returns its leaves with their facts in their tightest form.
pub(crate) fn validate(region: &Region) -> Result<Vec<Leaf>, Error> {
    let Region {
        leaves,
        nodes,
        roots,
    } = region;
    let mut widths: Vec<u32> = Vec::with_capacity(nodes.len());
    for (index, &node) in nodes.iter().enumerate() {
        if let Node::Leaf(leaf) = node
            && leaf as usize >= leaves.len()
        {
            return Err(Error::Leaf {
                node: index,
                leaf,
                leaves: leaves.len(),
            });
        }
        let operands = node.operands();
        if let Some(&operand) = operands.iter().find(|&&operand| operand >= index) {
            return Err(Error::Operand {
                node: index,
                operand,
            });
        }
        let of = gathered(&operands, |i| widths[i]);
        let of = &of[..operands.len()];
        let width = width_of(node, leaves, of);
        if !(1..=64).contains(&width) {
            return Err(Error::Width { node: index, width });
        }
        let fits = match (node, of) {
            (Node::Op(..) | Node::Compare(..), [a, b]) => a == b,
            (Node::Cast(cast, ..), &[from]) => cast.leads(from, width),
            (Node::Select(..), [condition, yes, no]) => *condition == 1 && yes == no,
            _ => true,
        };
        if !fits {
            return Err(Error::Widths {
                node: index,
                kind: node,
                widths: of.to_vec(),
            });
        }
        if let Node::Const(value, _) = node
            && value > mask(width)
        {
            return Err(Error::Constant {
                node: index,
                value,
                width,
            });
        }
        widths.push(width);
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
    let tight = |(number, leaf): (usize, &Leaf)| {
        let Leaf { width, facts, .. } = *leaf;
        let tight = (1..=64).contains(&width).then(|| facts.tight(width));
        let facts = tight.flatten().ok_or(Error::Facts {
            leaf: number,
            facts,
            width,
        })?;
        Ok(Leaf { facts, ..*leaf })
    };
    leaves.iter().enumerate().map(tight).collect()
}

/// Each distinct node once, and only what the roots need, in topological order.
pub(crate) fn hash_cons(nodes: &[Node], roots: &[usize]) -> (Vec<Node>, Vec<usize>) {
    let mut live = vec![false; nodes.len()];
    roots.iter().for_each(|&r| live[r] = true);
    for (index, node) in nodes.iter().enumerate().rev() {
        if live[index] {
            node.operands().iter().for_each(|&i| live[i] = true);
        }
    }
    let count = live.iter().filter(|live| **live).count();
    let mut out: Vec<Node> = Vec::with_capacity(count);
    // Places among those that are out, at the hash of each node or behind it; a table of the nodes themselves has ten times the memory.
    const FREE: u32 = u32::MAX;
    let slots = (2 * count).next_power_of_two();
    let mut seen = vec![FREE; slots];
    let mut place = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate().filter(|&(index, _)| live[index]) {
        let node = node.with(|i| place[i]);
        let mut slot = FxBuildHasher.hash_one(node) as usize % slots;
        while seen[slot] != FREE && out[seen[slot] as usize] != node {
            slot = (slot + 1) % slots;
        }
        if seen[slot] == FREE {
            seen[slot] = out.len() as u32;
            out.push(node);
        }
        place[index] = seen[slot] as usize;
    }
    let roots = roots.iter().map(|&r| place[r]).collect();
    (out, roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_consing_shares_and_drops() {
        use Node::{Leaf, Op as On};
        let nodes = [
            Leaf(0),
            Leaf(0),
            On(Op::Add, 0, 1),
            On(Op::Add, 1, 0),
            On(Op::Mul, 0, 0),
            On(Op::Sub, 2, 3),
        ];
        let (nodes, roots) = hash_cons(&nodes, &[5, 3]);
        assert_eq!(nodes, [Leaf(0), On(Op::Add, 0, 0), On(Op::Sub, 1, 1)]);
        assert_eq!(roots, [2, 1]);
    }

    #[test]
    fn each_node_has_the_width_of_what_it_gives() {
        let nodes = [
            Node::Leaf(0),
            Node::Cast(Cast::ZeroExtend, 0, 64),
            Node::Const(7, 64),
            Node::Op(Op::Add, 1, 2),
            Node::Compare(Predicate::Ult, 1, 2),
            Node::Select(4, 3, 2),
        ];
        let leaves = [Leaf::any(32)];
        assert_eq!(widths(&leaves, &nodes), [32, 64, 64, 64, 1, 64]);
        assert_eq!(eval(&leaves, &nodes, &[5, 4], &[3]), [10, 1]);
        assert_eq!(eval(&leaves, &nodes, &[5, 4], &[1 << 32]), [7, 1]);
    }
}
