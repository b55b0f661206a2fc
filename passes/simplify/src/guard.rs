//! A graph for each guarded part of a kernel, with what the guard says.
//!
//! Arithmetic that is used only where a condition holds is simplified once more, in a graph of its own, in which the condition is 1 and the
//! facts about what it compares are as sharp as that makes them. Nothing that is learned there leaves it: the graph answers for the
//! roots of this guard alone. What others compute anyway costs nothing there; where the answer is not cheaper, it is not taken.

use crate::cost::dag_cost;
use crate::egraph::Graph;
use crate::extract::{Dag, extract_beside};
use crate::graph::{Analysis, Term, add_compare, add_constant, add_in_form, add_op, data, width};
use crate::linear;
use crate::node::{
    Error, Leaf, Node, Region, backward, forward, gathered, hash_cons, validate, width_of,
};
use crate::saturate::{Limits, Memory, Simplified, Stats, saturate};
use cute_arith::{Cast, Facts, Op, Predicate, Sign, mask};
use egg::Id;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// A part of a kernel that is executed only where conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Nodes of the region of one bit, each with what it is there: true or false.
    pub conditions: Vec<(usize, bool)>,
    /// The numbers of roots that are used there only.
    pub roots: Vec<usize>,
}

impl Guard {
    /// Tells whether no thread gets to both: a condition holds here and does not there.
    fn excludes(&self, other: &Guard) -> bool {
        let not = |&(node, holds): &(usize, bool)| other.conditions.contains(&(node, !holds));
        self.conditions.iter().any(not)
    }
}

/// The rounds in which facts are led back to operands and on to results.
const ROUNDS: usize = 3;

/// An answer that is cheaper where conditions hold, from one that is right everywhere: its roots are those of `simple`, but for some
/// that belong to a guard. Never dearer than `simple`.
///
/// # Errors
/// If the region is not well formed.
pub fn simplify_guarded(
    region: &Region,
    guards: &[Guard],
    simple: Simplified,
    limits: &Limits,
) -> Result<Simplified, Error> {
    let leaves = validate(region)?;
    if guards.is_empty() {
        return Ok(simple);
    }
    let mut all = All::new(region, &leaves, guards, &simple);
    let (mut stats, mut memory) = (Stats::default(), Memory::default());
    for guard in 0..guards.len() {
        // The graphs of all guards together have as many nodes as that of the kernel may have.
        if stats.e_nodes > limits.nodes {
            stats.hit_limit = true;
            break;
        }
        all.simplify(guard, limits, &mut stats, &mut memory);
    }
    let (nodes, roots) = match all.changed {
        true => hash_cons(&all.nodes, &all.roots),
        false => (simple.nodes, simple.roots),
    };
    let mut took = simple.stats;
    took.add(&stats);
    Ok(Simplified {
        nodes,
        roots,
        facts: all.facts_of_roots,
        stats: took,
    })
}

/// Nodes, each once, with the widths and facts that they have everywhere.
struct All<'a> {
    region: &'a Region,
    leaves: &'a [Leaf],
    guards: &'a [Guard],
    nodes: Vec<Node>,
    places: FxHashMap<Node, usize>,
    widths: Vec<u32>,
    levels: Vec<u32>,
    facts: Vec<Facts>,
    /// The roots as they are now, and as they are right everywhere.
    roots: Vec<usize>,
    everywhere: Vec<usize>,
    facts_of_roots: Vec<Facts>,
    /// The guard of each root.
    guard_of: Vec<Option<usize>>,
    /// The roots of each condition of a guard, in order.
    roots_of: FxHashMap<usize, Vec<usize>>,
    /// The places of nodes of the region as they are written, as far as somebody asked.
    written: FxHashMap<usize, usize>,
    /// Tells whether answers of guards are among the roots already.
    is_guarded: bool,
    /// Tells whether any guard made something cheaper.
    changed: bool,
}

/// The facts where a guard holds, for the explanation of an answer.
pub(crate) struct Seeds {
    /// The nodes of the conditions and of the answer, operands first.
    pub(crate) nodes: Vec<Node>,
    /// The facts about each.
    pub(crate) facts: Vec<Facts>,
    /// The comparisons that hold.
    pub(crate) holding: Vec<(Predicate, usize, usize)>,
}

impl Seeds {
    /// The facts that follow from the guard of a root; nothing where the root is under none.
    pub(crate) fn of(
        region: &Region,
        leaves: &[Leaf],
        guards: &[Guard],
        answer: &Simplified,
        root: usize,
    ) -> Option<Seeds> {
        let guard = guards
            .iter()
            .position(|guard| guard.roots.contains(&root))?;
        let mut all = All::new(region, leaves, guards, answer);
        all.is_guarded = true;
        let conditions = all.conditions(guard);
        let asked = conditions.iter().map(|&(node, _)| node);
        let places = cone(&all.nodes, asked.chain([all.roots[root]]));
        let known = all.assume(&places, &conditions)?;
        let holding = known.holding(&places);
        let at: FxHashMap<usize, usize> = places.iter().copied().zip(0..).collect();
        Some(Seeds {
            nodes: places
                .iter()
                .map(|&i| all.nodes[i].with(|i| at[&i]))
                .collect(),
            facts: places.iter().map(|&i| known.facts(i)).collect(),
            holding: holding
                .into_iter()
                .map(|(predicate, a, b)| (predicate, at[&a], at[&b]))
                .collect(),
        })
    }
}

impl<'a> All<'a> {
    fn new(
        region: &'a Region,
        leaves: &'a [Leaf],
        guards: &'a [Guard],
        simple: &Simplified,
    ) -> Self {
        let mut guard_of = vec![None; simple.roots.len()];
        for (number, guard) in guards.iter().enumerate() {
            for &root in &guard.roots {
                guard_of[root] = Some(number);
            }
        }
        let conditions = guards.iter().flat_map(|guard| &guard.conditions);
        let mut roots_of: FxHashMap<usize, Vec<usize>> = conditions
            .map(|&(condition, _)| (condition, Vec::new()))
            .collect();
        for (root, node) in region.roots.iter().enumerate() {
            if let Some(roots) = roots_of.get_mut(node) {
                roots.push(root);
            }
        }
        let mut all = Self {
            region,
            leaves,
            guards,
            roots_of,
            written: FxHashMap::default(),
            nodes: Vec::new(),
            places: FxHashMap::default(),
            widths: Vec::new(),
            levels: Vec::new(),
            facts: Vec::new(),
            roots: Vec::new(),
            everywhere: Vec::new(),
            facts_of_roots: simple.facts.clone(),
            guard_of,
            is_guarded: false,
            changed: false,
        };
        let mut at = Vec::with_capacity(simple.nodes.len());
        for node in &simple.nodes {
            at.push(all.intern(node.with(|i| at[i])));
        }
        all.roots = simple.roots.iter().map(|&root| at[root]).collect();
        all.everywhere.clone_from(&all.roots);
        all
    }

    /// The place of a node, which is added if it is new; its operands are places.
    fn intern(&mut self, node: Node) -> usize {
        if let Some(&place) = self.places.get(&node) {
            return place;
        }
        let place = self.nodes.len();
        let operands = node.operands();
        let of = gathered(&operands, |i| self.widths[i]);
        let known = gathered(&operands, |i| self.facts[i]);
        let (of, known) = (&of[..operands.len()], &known[..operands.len()]);
        self.widths.push(width_of(node, self.leaves, of));
        self.levels.push(match node {
            Node::Leaf(leaf) => self.leaves[leaf as usize].level,
            _ => {
                let below = operands.iter().map(|&i| self.levels[i]);
                below.max().unwrap_or(0)
            }
        });
        self.facts.push(forward(node, self.leaves, known, of));
        self.nodes.push(node);
        self.places.insert(node, place);
        place
    }

    /// The places of the conditions of a guard: as they are written, and as they were simplified.
    fn conditions(&mut self, guard: usize) -> Vec<(usize, bool)> {
        let mut found = Vec::new();
        for &(condition, holds) in &self.guards[guard].conditions {
            found.push((self.written(condition), holds));
            let is_everywhere = |&root: &usize| !self.is_guarded || self.guard_of[root].is_none();
            let roots = self.roots_of.get(&condition).into_iter().flatten();
            let root = roots.copied().find(is_everywhere);
            found.extend(root.map(|root| (self.everywhere[root], holds)));
        }
        found
    }

    /// The place of a node of the region as it is written.
    fn written(&mut self, node: usize) -> usize {
        if let Some(&place) = self.written.get(&node) {
            return place;
        }
        for node in cone(&self.region.nodes, [node]) {
            if !self.written.contains_key(&node) {
                let written = self.region.nodes[node].with(|i| self.written[&i]);
                let place = self.intern(written);
                self.written.insert(node, place);
            }
        }
        self.written[&node]
    }

    /// The nodes that are computed whatever becomes of a guard, as its roots or others of which a thread that gets there has need.
    fn given(&self, guard: usize) -> Vec<bool> {
        let mut given = vec![false; self.nodes.len()];
        let own = &self.guards[guard];
        let others = self.roots.iter().zip(&self.guard_of);
        let others = others.filter(|(_, of)| match **of {
            Some(other) => other != guard && !own.excludes(&self.guards[other]),
            None => true,
        });
        for node in cone(&self.nodes, others.map(|(&root, _)| root)) {
            given[node] = true;
        }
        given
    }

    /// Simplifies the roots of a guard under its conditions.
    fn simplify(&mut self, guard: usize, limits: &Limits, stats: &mut Stats, memory: &mut Memory) {
        let own = self.guards[guard].roots.clone();
        let conditions = self.conditions(guard);
        let needed = cone(&self.nodes, own.iter().map(|&root| self.roots[root]));
        let is_op = |&i: &usize| !self.nodes[i].operands().is_empty();
        if !needed.iter().any(is_op) {
            return;
        }
        let asked = conditions.iter().map(|&(node, _)| node);
        let places = cone(
            &self.nodes,
            own.iter().map(|&root| self.roots[root]).chain(asked),
        );
        // A part that is never executed stays as it is.
        let Some(facts) = self.assume(&places, &conditions) else {
            return;
        };
        let holding = facts.holding(&places);
        let learns = |&&i: &&usize| facts.learns(i, &holding);
        if !needed.iter().any(|i| learns(&i)) {
            return;
        }
        let given = self.given(guard);
        if !needed.iter().filter(learns).any(|&i| !given[i]) {
            return;
        }
        let analysis = Analysis::new(self.leaves.to_vec());
        let mut graph = Graph::with_room(analysis, 2 * places.len());
        let mut ids: FxHashMap<usize, Id> = FxHashMap::default();
        for &place in &places {
            let node = self.nodes[place];
            let operands: Vec<Id> = node.operands().iter().map(|i| ids[i]).collect();
            let id = add_in_form(&mut graph, Term::on(node, &operands));
            ids.insert(place, id);
        }
        // What is right everywhere has been simplified already: rules look where more is known.
        graph.rebuild();
        graph.analysis.touched.clear();
        for &place in &places {
            if facts.is_sharper(place) {
                sharpen(&mut graph, ids[&place], facts.facts(place));
            }
        }
        for &(predicate, a, b) in &holding {
            relate(&mut graph, predicate, ids[&a], ids[&b]);
        }
        graph.rebuild();
        let mut own_stats = Stats::default();
        let limits = Limits {
            nodes: limits.nodes / 4,
            ..*limits
        };
        saturate(&mut graph, &limits, &mut own_stats, memory);
        linear::group(&mut graph, limits.nodes);
        own_stats.e_nodes = graph.total_number_of_nodes();
        stats.add(&own_stats);
        self.take(&graph, &own, &ids, &given, &needed);
    }

    /// Takes what a graph of a guard has for its roots, if that is cheaper beside what is computed anyway.
    fn take(
        &mut self,
        graph: &Graph,
        own: &[usize],
        ids: &FxHashMap<usize, Id>,
        given: &[bool],
        needed: &[usize],
    ) {
        // What is given is a leaf behind those that there are.
        let first = self.leaves.len();
        let mut leaves = self.leaves.to_vec();
        let mut number: FxHashMap<usize, u32> = FxHashMap::default();
        let mut free: Vec<usize> = Vec::new();
        for &place in needed {
            if given[place] && !self.nodes[place].operands().is_empty() {
                number.insert(place, (first + free.len()) as u32);
                free.push(place);
                let leaf = Leaf::new(self.widths[place], self.facts[place]);
                leaves.push(leaf.within(self.levels[place]));
            }
        }
        let mut nodes = Vec::new();
        let mut at: FxHashMap<usize, usize> = FxHashMap::default();
        for &place in needed {
            nodes.push(match number.get(&place) {
                Some(&leaf) => Node::Leaf(leaf),
                None => self.nodes[place].with(|i| at[&i]),
            });
            at.insert(place, nodes.len() - 1);
        }
        let old: Vec<usize> = own.iter().map(|&root| at[&self.roots[root]]).collect();
        let (nodes, old) = hash_cons(&nodes, &old);
        let before = dag_cost(&leaves, &nodes, &old);
        let root_ids: Vec<Id> = own
            .iter()
            .map(|&root| graph.find(ids[&self.roots[root]]))
            .collect();
        for (&root, &id) in own.iter().zip(&root_ids) {
            self.facts_of_roots[root] = data(graph, id).facts;
        }
        let beside: Vec<(Id, u32)> = free
            .iter()
            .map(|place| (graph.find(ids[place]), number[place]))
            .collect();
        let best = extract_beside(graph, &leaves, &root_ids, &beside);
        let Some(Dag { nodes, roots, .. }) = best.filter(|best| best.cost < before) else {
            return;
        };
        let mut at = Vec::with_capacity(nodes.len());
        for node in nodes {
            at.push(match node {
                Node::Leaf(leaf) if leaf as usize >= first => free[leaf as usize - first],
                _ => self.intern(node.with(|i| at[i])),
            });
        }
        for (&root, new) in own.iter().zip(roots) {
            // What it was not computed from need not be there where it is used.
            let had = leaves_below(&self.region.nodes, self.region.roots[root]);
            if leaves_below(&self.nodes, at[new]).is_subset(&had) {
                self.changed |= self.roots[root] != at[new];
                self.roots[root] = at[new];
            }
        }
    }

    /// The facts about nodes, as far as they follow for some, operands first, where conditions hold; nothing where they cannot hold together.
    fn assume(&self, places: &[usize], conditions: &[(usize, bool)]) -> Option<Assumed<'_>> {
        let mut known = Assumed {
            all: self,
            sharper: FxHashMap::default(),
            is_sharper: vec![0; self.nodes.len().div_ceil(64)],
            is_new: false,
        };
        let asked = cone(&self.nodes, conditions.iter().map(|&(node, _)| node));
        for _ in 0..ROUNDS {
            known.is_new = false;
            for &(condition, holds) in conditions {
                known.note(condition, Facts::constant(u64::from(holds)))?;
            }
            for &place in asked.iter().rev() {
                // What is known everywhere leads back to nothing new.
                let node = self.nodes[place];
                let operands = node.operands();
                let involved = || operands.iter().chain([&place]);
                if !involved().any(|&i| known.is_sharper(i)) {
                    continue;
                }
                let (of, widths) = known.of(&operands);
                let count = operands.len();
                let led = backward(node, known.facts(place), &of[..count], &widths[..count])?;
                for (&operand, facts) in operands.iter().zip(led) {
                    // One node may be both operands.
                    known.note(operand, facts)?;
                }
            }
            for &place in places {
                // Where no operand is known any better, neither is the result.
                let node = self.nodes[place];
                let operands = node.operands();
                if operands.iter().any(|&i| known.is_sharper(i)) {
                    let (of, widths) = known.of(&operands);
                    let count = operands.len();
                    let forward = forward(node, self.leaves, &of[..count], &widths[..count]);
                    known.note(place, forward)?;
                }
            }
            if !known.is_new {
                break;
            }
        }
        Some(known)
    }
}

/// The facts about nodes where a guard holds, while they are led back and on.
struct Assumed<'a> {
    all: &'a All<'a>,
    /// The facts about nodes about which more is known than everywhere.
    sharper: FxHashMap<usize, Facts>,
    /// Those nodes, a bit each.
    is_sharper: Vec<u64>,
    /// Tells whether anything has become known in this round.
    is_new: bool,
}

impl Assumed<'_> {
    /// Tells whether more is known of a node than everywhere.
    fn is_sharper(&self, place: usize) -> bool {
        self.is_sharper[place / 64] >> (place % 64) & 1 == 1
    }

    /// The facts about a node.
    fn facts(&self, place: usize) -> Facts {
        match self.is_sharper(place) {
            true => self.sharper[&place],
            false => self.all.facts[place],
        }
    }

    /// The facts about the operands of a node, and their widths.
    fn of(&self, operands: &[usize]) -> ([Facts; 3], [u32; 3]) {
        let facts = gathered(operands, |i| self.facts(i));
        (facts, gathered(operands, |i| self.all.widths[i]))
    }

    /// Notes facts about a node; nothing where they cannot be.
    fn note(&mut self, place: usize, facts: Facts) -> Option<()> {
        let before = self.facts(place);
        let both = before.and(facts);
        if both == before {
            return Some(());
        }
        let both = both.tight(self.all.widths[place])?;
        if both != before {
            self.sharper.insert(place, both);
            self.is_sharper[place / 64] |= 1 << (place % 64);
            self.is_new = true;
        }
        Some(())
    }

    /// The comparisons that hold and were not known to hold.
    fn holding(&self, places: &[usize]) -> Vec<(Predicate, usize, usize)> {
        let all = self.all;
        let compared = places.iter().filter_map(|&place| {
            let Node::Compare(predicate, a, b) = all.nodes[place] else {
                return None;
            };
            let is_new = all.facts[place].as_constant().is_none();
            match self.facts(place).as_constant().filter(|_| is_new)? {
                0 => Some((predicate.negated(), a, b)),
                _ => Some((predicate, a, b)),
            }
        });
        let mut found: Vec<_> = compared
            .flat_map(|(predicate, a, b)| {
                let half = mask(all.widths[a]) >> 1;
                let same = self.facts(a).hi <= half && self.facts(b).hi <= half;
                let other = same.then(|| with_other_sign(predicate)).flatten();
                [Some(predicate), other]
                    .into_iter()
                    .flatten()
                    .map(move |p| (p, a, b))
            })
            .collect();
        found.dedup();
        found
    }

    /// Tells whether what is known where conditions hold may be of use for a node: its result is known, or it is an operation that rules
    /// ask for facts about, and these are sharper.
    fn learns(&self, place: usize, holding: &[(Predicate, usize, usize)]) -> bool {
        let node = self.all.nodes[place];
        let operands = node.operands();
        if operands.is_empty() {
            return false;
        }
        let is_new = |i: usize| self.is_sharper(i);
        if is_new(place) && self.facts(place).as_constant().is_some() {
            return true;
        }
        let pair = |a: usize, b: usize| {
            let is_pair = |&(_, x, y): &(_, usize, usize)| (x, y) == (a, b) || (y, x) == (a, b);
            holding.iter().any(is_pair)
        };
        let is_op = |i: usize| matches!(self.all.nodes[i], Node::Op(..));
        match node {
            Node::Op(Op::Add | Op::Mul | Op::Shl, ..) | Node::Cast(Cast::Truncate, ..) => false,
            // Sums are led through conversions where they fit.
            Node::Cast(Cast::ZeroExtend, a, _) => is_new(a) && is_op(a),
            Node::Op(Op::Sub, a, b) => pair(a, b),
            Node::Compare(_, a, b) | Node::Op(_, a, b) => is_new(a) || is_new(b) || pair(a, b),
            _ => operands.iter().any(|&i| is_new(i)),
        }
    }
}

/// Sharpens the facts about a class by those that hold where its graph does.
pub(crate) fn sharpen(graph: &mut Graph, id: Id, facts: Facts) {
    let mut data = *data(graph, id);
    if let Some(both) = data.facts.and(facts).tight(data.width)
        && both != data.facts
    {
        data.facts = both;
        graph.set_data(id, data);
    }
}

/// Says in a graph that a comparison of two classes holds, and what follows of other comparisons and of the difference.
pub(crate) fn relate(graph: &mut Graph, predicate: Predicate, a: Id, b: Id) {
    let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
    let of = |p: Predicate| orders.map(|order| p.holds(order));
    let same = |p: &&Predicate| {
        let signs = [p.sign(), predicate.sign()];
        signs[0] == signs[1] || signs.contains(&Sign::Any)
    };
    let holds = of(predicate);
    for &other in Predicate::ALL.iter().filter(same) {
        let is = of(other);
        let both = |wanted: bool| (0..3).all(|at| !holds[at] || is[at] == wanted);
        if let Some(truth) = [true, false].into_iter().find(|&wanted| both(wanted)) {
            let compared = add_compare(graph, other, a, b);
            let truth = add_constant(graph, u64::from(truth), 1);
            graph.join(compared, truth, "the condition of a branch");
        }
    }
    // Of what is larger without a sign, the difference is not negative.
    let (low, high, least) = match predicate {
        Predicate::Ult => (a, b, 1),
        Predicate::Ule => (a, b, 0),
        Predicate::Ugt => (b, a, 1),
        Predicate::Uge => (b, a, 0),
        _ => return,
    };
    let difference = add_op(graph, Op::Sub, high, low);
    let most = data(graph, high)
        .facts
        .hi
        .saturating_sub(data(graph, low).facts.lo);
    let width = width(graph, difference);
    if least <= most && most <= mask(width) {
        sharpen(graph, difference, Facts::range(least, most));
    }
}

/// The comparison of the same numbers with a sign for one without, and the other way round; for numbers that are not negative.
fn with_other_sign(predicate: Predicate) -> Option<Predicate> {
    use Predicate::{Sge, Sgt, Sle, Slt, Uge, Ugt, Ule, Ult};
    Some(match predicate {
        Slt => Ult,
        Sle => Ule,
        Sgt => Ugt,
        Sge => Uge,
        Ult => Slt,
        Ule => Sle,
        Ugt => Sgt,
        Uge => Sge,
        Predicate::Eq | Predicate::Ne => return None,
    })
}

/// The nodes that some need, themselves included, operands before users.
fn cone(nodes: &[Node], roots: impl IntoIterator<Item = usize>) -> Vec<usize> {
    // A bit a node: most cones are small.
    let mut is_found = vec![0_u64; nodes.len().div_ceil(64)];
    let mut count = 0;
    let mut todo: Vec<usize> = Vec::with_capacity(64);
    todo.extend(roots);
    while let Some(node) = todo.pop() {
        let (word, bit) = (&mut is_found[node / 64], 1 << (node % 64));
        if *word & bit == 0 {
            *word |= bit;
            count += 1;
            todo.extend(nodes[node].operands().iter());
        }
    }
    let mut found = Vec::with_capacity(count);
    for (at, mut word) in is_found.into_iter().enumerate() {
        while word != 0 {
            found.push(at * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
    found
}

fn leaves_below(nodes: &[Node], root: usize) -> BTreeSet<u32> {
    let leaf = |node: usize| match nodes[node] {
        Node::Leaf(leaf) => Some(leaf),
        _ => None,
    };
    cone(nodes, [root]).into_iter().filter_map(leaf).collect()
}
