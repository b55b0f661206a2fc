//! The e-graph: egg's, over the terms of a region, with [`Facts`] about each class.

use crate::node::Op;
use cute_arith::Facts;
use egg::{DidMerge, EGraph, Id, Language};

/// A term of the e-graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    Const(u64),
    Leaf(u32),
    Bin(Op, [Id; 2]),
}

impl Language for Term {
    /// Constants and leaves differ by value, operations by operation.
    type Discriminant = (u8, u64);

    fn discriminant(&self) -> Self::Discriminant {
        match *self {
            Term::Const(value) => (0, value),
            Term::Leaf(leaf) => (1, u64::from(leaf)),
            Term::Bin(op, _) => (2, op as u64),
        }
    }

    fn matches(&self, other: &Self) -> bool {
        self.discriminant() == other.discriminant()
    }

    fn children(&self) -> &[Id] {
        match self {
            Term::Bin(_, operands) => operands,
            _ => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Term::Bin(_, operands) => operands,
            _ => &mut [],
        }
    }
}

/// The number of times that the facts of one class may be sharpened by equalities. Around a cycle of equal terms an interval
/// may shrink by one at a time, billions of times; facts that are less sharp than they could be are still true.
const MOST_TIGHTENINGS: u8 = 24;

/// The facts about a class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) facts: Facts,
    /// One more than the highest leaf it has to depend on; 0 for constants. Orders sums.
    pub(crate) depth: u32,
    tightened: u8,
}

/// The analysis: the region's width and the facts of its leaves.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    pub(crate) width: u32,
    pub(crate) leaves: Vec<Facts>,
    /// Classes made or merged since this was last emptied: rules need to look at these and at what uses them.
    pub(crate) touched: Vec<Id>,
}

pub(crate) type Graph = EGraph<Term, Analysis>;

impl egg::Analysis<Term> for Analysis {
    type Data = Data;

    fn make(graph: &mut Graph, term: &Term, _id: Id) -> Data {
        let (facts, depth) = match *term {
            Term::Const(value) => (Facts::constant(value), 0),
            Term::Leaf(leaf) => (graph.analysis.leaves[leaf as usize], leaf.saturating_add(1)),
            Term::Bin(op, [a, b]) => {
                let (a, b) = (&graph[a].data, &graph[b].data);
                (
                    op.row().facts(a.facts, b.facts, graph.analysis.width),
                    a.depth.max(b.depth),
                )
            }
        };
        Data {
            facts,
            depth,
            tightened: 0,
        }
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        let depth = a.depth.min(b.depth);
        let tightened = a.tightened.max(b.tightened);
        let both = match a.facts.and(b.facts).tight(self.width) {
            Some(both) if tightened < MOST_TIGHTENINGS => both,
            // The sharper of the two in a fixed order.
            _ if b.facts.as_constant().is_some() => b.facts,
            _ => a.facts,
        };
        let grew = u8::from(both != a.facts);
        let merged = Data {
            facts: both,
            depth,
            tightened: tightened.saturating_add(grew),
        };
        let changed = |old: &Data| old.facts != merged.facts || old.depth != merged.depth;
        let did = DidMerge(changed(a), changed(&b));
        *a = merged;
        did
    }

    fn modify(graph: &mut Graph, id: Id) {
        graph.analysis.touched.push(id);
        let class = &graph[id];
        let leaf = |t: &Term| matches!(t, Term::Leaf(_));
        if let Some(value) = class.data.facts.as_constant() {
            let constant = graph.add(Term::Const(value));
            graph.union(id, constant);
            // Nothing beats a constant: the other terms of the class would only be matched in vain.
            graph[id].nodes.retain(|t| matches!(t, Term::Const(_)));
        } else if class.nodes.len() > 1 && class.nodes.iter().any(leaf) {
            graph[id].nodes.retain(leaf);
        }
    }
}

/// The value of a class, if it is known.
pub(crate) fn constant(graph: &Graph, id: Id) -> Option<u64> {
    graph[id].data.facts.as_constant()
}

/// A term, with operands of commuting operations in order (constants right) and neutral right operands left out.
pub(crate) fn add_op(graph: &mut Graph, op: Op, a: Id, b: Id) -> Id {
    let (mut a, mut b) = (graph.find(a), graph.find(b));
    if op.commutes() {
        let key = |id: Id| (constant(graph, id).is_some(), id);
        if key(a) > key(b) {
            std::mem::swap(&mut a, &mut b);
        }
    }
    match op.neutral(graph.analysis.width) {
        Some(n) if constant(graph, b) == Some(n) => a,
        _ => graph.add(Term::Bin(op, [a, b])),
    }
}
