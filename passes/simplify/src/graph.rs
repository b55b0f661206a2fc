//! The terms of the e-graph, and the [`Facts`] about each class.

use crate::egraph::Graph;
use crate::node::{Leaf, Node};
use crate::rules::Kind;
use cute_arith::{Cast, Facts, Op, Predicate, mask};
use egg::{Id, Language};
use std::hash::{Hash, Hasher};

/// A term of the e-graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Term {
    Const(u64, u32),
    Leaf(u32),
    Op(Op, [Id; 2]),
    Compare(Predicate, [Id; 2]),
    Cast(Cast, u32, [Id; 1]),
    Select([Id; 3]),
}

/// In two words: terms are looked up more often than anything else is done with them.
impl Hash for Term {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let id = |id: Id| usize::from(id) as u64;
        let pair = |a: Id, b: Id| id(a) << 32 | id(b);
        let (what, operands) = match *self {
            Term::Const(value, width) => (u64::from(width), value),
            Term::Leaf(leaf) => (1 << 8, u64::from(leaf)),
            Term::Op(op, [a, b]) => (2 << 8 | op as u64, pair(a, b)),
            Term::Compare(predicate, [a, b]) => (3 << 8 | predicate as u64, pair(a, b)),
            Term::Cast(cast, width, [a]) => (4 << 8 | cast as u64, u64::from(width) << 32 | id(a)),
            Term::Select([condition, yes, no]) => (5 << 8 | id(condition) << 32, pair(yes, no)),
        };
        state.write_u64(what);
        state.write_u64(operands);
    }
}

impl Language for Term {
    /// All alike: egg keeps a table of classes by it, anew each time that a graph is brought to rest, and nobody asks that table here.
    type Discriminant = ();

    fn discriminant(&self) -> Self::Discriminant {}

    /// Constants and leaves differ by value, operations by operation, and all by what makes their width.
    fn matches(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Term::Const(..) | Term::Leaf(_), _) => self == other,
            (Term::Op(a, _), Term::Op(b, _)) => a == b,
            (Term::Compare(a, _), Term::Compare(b, _)) => a == b,
            (Term::Cast(a, to, _), Term::Cast(b, width, _)) => (a, to) == (b, width),
            (Term::Select(_), Term::Select(_)) => true,
            _ => false,
        }
    }

    fn children(&self) -> &[Id] {
        match self {
            Term::Op(_, operands) | Term::Compare(_, operands) => operands,
            Term::Cast(_, _, operand) => operand,
            Term::Select(operands) => operands,
            Term::Const(..) | Term::Leaf(_) => &[],
        }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        match self {
            Term::Op(_, operands) | Term::Compare(_, operands) => operands,
            Term::Cast(_, _, operand) => operand,
            Term::Select(operands) => operands,
            Term::Const(..) | Term::Leaf(_) => &mut [],
        }
    }
}

impl Term {
    /// The term of a node whose operands have these numbers.
    pub(crate) fn of(node: Node, ids: &[Id]) -> Term {
        match node {
            Node::Op(op, a, b) => Term::Op(op, [ids[a], ids[b]]),
            Node::Compare(predicate, a, b) => Term::Compare(predicate, [ids[a], ids[b]]),
            Node::Cast(cast, a, width) => Term::Cast(cast, width, [ids[a]]),
            Node::Select(a, b, c) => Term::Select([ids[a], ids[b], ids[c]]),
            Node::Leaf(leaf) => Term::Leaf(leaf),
            Node::Const(value, width) => Term::Const(value, width),
        }
    }

    /// The term of a node with these operands, in their order.
    pub(crate) fn on(node: Node, operands: &[Id]) -> Term {
        let mut at = 0..operands.len();
        Term::of(node.with(|_| at.next().unwrap_or_default()), operands)
    }

    /// The number of the operation of the term, by which terms are ordered first.
    pub(crate) fn kind(&self) -> Option<u32> {
        let kind = match *self {
            Term::Const(..) | Term::Leaf(_) => return None,
            Term::Op(op, _) => Kind::Op(op),
            Term::Compare(predicate, _) => Kind::Compare(predicate),
            Term::Cast(cast, ..) => Kind::Cast(cast),
            Term::Select(_) => Kind::Select,
        };
        Some(kind.number())
    }

    /// The bit of its operation; none of a constant or a leaf.
    pub(crate) fn kind_bit(&self) -> u64 {
        self.kind().map_or(0, |kind| 1 << kind)
    }

    /// The node of the term with operands at these places.
    pub(crate) fn node(self, at: &[usize]) -> Option<Node> {
        Some(match (self, at) {
            (Term::Const(value, width), []) => Node::Const(value, width),
            (Term::Leaf(leaf), []) => Node::Leaf(leaf),
            (Term::Op(op, _), &[a, b]) => Node::Op(op, a, b),
            (Term::Compare(predicate, _), &[a, b]) => Node::Compare(predicate, a, b),
            (Term::Cast(cast, width, _), &[a]) => Node::Cast(cast, a, width),
            (Term::Select(_), &[a, b, c]) => Node::Select(a, b, c),
            _ => return None,
        })
    }
}

/// The number of times that the facts of one class may be sharpened by equalities. Around a cycle of equal terms an interval
/// may shrink by one at a time, billions of times; facts that are less sharp than they could be are still true.
const MOST_TIGHTENINGS: u8 = 24;

/// The facts about a class.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Data {
    pub(crate) width: u32,
    pub(crate) facts: Facts,
    /// One more than the highest leaf it has to depend on; 0 for constants. Orders sums.
    pub(crate) depth: u32,
    /// The number of loops that it has to be computed in.
    pub(crate) level: u32,
    tightened: u8,
}

/// The analysis: the leaves of the region.
#[derive(Clone, Debug)]
pub(crate) struct Analysis {
    pub(crate) leaves: Vec<Leaf>,
    /// Classes made or merged since this was last emptied: rules need to look at these and at what uses them.
    pub(crate) touched: Vec<Id>,
}

impl Analysis {
    /// The analysis of a graph without classes.
    pub(crate) fn new(leaves: Vec<Leaf>) -> Analysis {
        Analysis {
            leaves,
            touched: Vec::new(),
        }
    }
}

/// Brings the graph to rest, unless nothing has changed since touched classes were taken from it at rest.
pub(crate) fn rebuild_if_touched(graph: &mut Graph) {
    if !graph.analysis.touched.is_empty() {
        graph.rebuild();
    }
}

/// The facts of a term that follow from those of its operands.
pub(crate) fn facts_of_term(graph: &Graph, term: &Term) -> Data {
    let zero = Data {
        width: 0,
        facts: Facts::constant(0),
        depth: 0,
        level: 0,
        tightened: 0,
    };
    let children = term.children();
    let of = |at: usize| children.get(at).map_or(&zero, |&id| data(graph, id));
    let [a, b, c] = [of(0), of(1), of(2)];
    let operands = Data {
        depth: a.depth.max(b.depth).max(c.depth),
        level: a.level.max(b.level).max(c.level),
        ..zero
    };
    let (width, facts) = match *term {
        Term::Const(value, width) => (width, Facts::constant(value)),
        Term::Leaf(leaf) => {
            let of = graph.analysis.leaves[leaf as usize];
            return Data {
                width: of.width,
                facts: of.facts,
                depth: leaf.saturating_add(1),
                level: of.level,
                tightened: 0,
            };
        }
        Term::Op(op, _) => (a.width, op.facts(a.facts, b.facts, a.width)),
        Term::Compare(predicate, _) => {
            let decided = predicate.decided(a.facts, b.facts, a.width);
            let facts = decided.map(|truth| Facts::constant(u64::from(truth)));
            (1, facts.unwrap_or(Facts::any(1)))
        }
        Term::Cast(cast, width, _) => (width, cast.facts(a.facts, a.width, width)),
        Term::Select(_) => {
            let facts = match a.facts.as_constant() {
                Some(0) => c.facts,
                Some(_) => b.facts,
                None => b.facts.or(c.facts),
            };
            (b.width, facts)
        }
    };
    Data {
        width,
        facts,
        ..operands
    }
}

/// Puts together what is known of two classes that are joined; tells of each whether that is news for it.
pub(crate) fn merge(a: &mut Data, b: Data) -> (bool, bool) {
    let depth = a.depth.min(b.depth);
    let tightened = a.tightened.max(b.tightened);
    let both = match a.facts.and(b.facts).tight(a.width) {
        Some(both) if tightened < MOST_TIGHTENINGS => both,
        // The sharper of the two in a fixed order. Where no thread gets to, facts may exclude each other: of two numbers it is the first, for good,
        // or a term below itself would go from one to the other without end.
        _ if a.facts.as_constant().is_none() && b.facts.as_constant().is_some() => b.facts,
        _ => a.facts,
    };
    let grew = u8::from(both != a.facts);
    let merged = Data {
        width: a.width,
        facts: both,
        depth,
        level: a.level.min(b.level),
        tightened: tightened.saturating_add(grew),
    };
    let same = |old: &Data| {
        old.facts == merged.facts && old.depth == merged.depth && old.level == merged.level
    };
    let changed = |old: &Data| !same(old);
    let did = (changed(a), changed(&b));
    *a = merged;
    did
}

/// Notes that a class is new or knows more, and leaves the simplest of its terms alone in it where that is all that anybody wants.
pub(crate) fn settle(graph: &mut Graph, id: Id) {
    let data = *graph.data(id);
    graph.analysis.touched.push(id);
    let class = &graph[id];
    let leaf = |t: &Term| matches!(t, Term::Leaf(_));
    if let Some(value) = data.facts.as_constant() {
        let constant = Term::Const(value, data.width);
        let constant = graph.add(constant);
        graph.join(id, constant, "facts leave one value");
        // Nothing beats a constant: the other terms of the class would only be matched in vain.
        graph.retain(id, |t| matches!(t, Term::Const(..)));
    } else if class.nodes.len() > 1 && class.nodes.iter().any(leaf) {
        graph.retain(id, leaf);
    }
}

/// The facts about a class.
pub(crate) fn data(graph: &Graph, id: Id) -> &Data {
    graph.data(id)
}

/// The value of a class, if it is known.
pub(crate) fn constant(graph: &Graph, id: Id) -> Option<u64> {
    data(graph, id).facts.as_constant()
}

/// The width of a class.
pub(crate) fn width(graph: &Graph, id: Id) -> u32 {
    data(graph, id).width
}

/// A constant of a width, wrapped to it.
pub(crate) fn add_constant(graph: &mut Graph, value: u64, width: u32) -> Id {
    graph.add(Term::Const(value & mask(width), width))
}

/// A term, with operands of commuting operations in order (constants right) and neutral right operands left out.
pub(crate) fn add_op(graph: &mut Graph, op: Op, a: Id, b: Id) -> Id {
    let (mut a, mut b) = (graph.find(a), graph.find(b));
    let (one, other) = (graph.known(a), graph.known(b));
    let width = one.width;
    let mut right = other.facts.as_constant();
    if op.commutes() {
        let left = one.facts.as_constant();
        if (left.is_some(), a) > (right.is_some(), b) {
            (a, b, right) = (b, a, left);
        }
    }
    match right {
        Some(value) if op.neutral(width) == Some(value) => a,
        _ => graph.add_current(Term::Op(op, [a, b])),
    }
}

/// A comparison, written with `<` and `<=`, and constants right where it is the same both ways round.
pub(crate) fn add_compare(graph: &mut Graph, predicate: Predicate, a: Id, b: Id) -> Id {
    use Predicate::{Eq, Ne, Sge, Sgt, Uge, Ugt};
    let (a, b) = (graph.find(a), graph.find(b));
    let key = |id: Id| (constant(graph, id).is_some(), id);
    let swap = match predicate {
        Sgt | Sge | Ugt | Uge => true,
        Eq | Ne => key(a) > key(b),
        _ => false,
    };
    graph.add(if swap {
        Term::Compare(predicate.swapped(), [b, a])
    } else {
        Term::Compare(predicate, [a, b])
    })
}

/// A term in the form that rules ask for: that of [`add_op`] and [`add_compare`].
pub(crate) fn add_in_form(graph: &mut Graph, term: Term) -> Id {
    match term {
        Term::Op(op, [a, b]) => add_op(graph, op, a, b),
        Term::Compare(predicate, [a, b]) => add_compare(graph, predicate, a, b),
        _ => graph.add(term),
    }
}
