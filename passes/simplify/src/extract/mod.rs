//! The cheapest DAG for the roots: what several roots use is paid once.
//!
//! Greedy, root after root. Each class keeps the node whose cone (the classes below it) costs least; the classes that
//! a root's cone consists of are then settled and free for the roots that follow, which draws these to a common base.
//! Roots are taken in their order and, as a second try, cheapest first; the better DAG wins.

mod choice;

use crate::cost::{EPSILON, cast_cost, compare_cost, dag_cost, op_cost, select_cost, turns};
use crate::egraph::Graph;
use crate::graph::{Term, constant, data, width};
use crate::node::{Leaf, Node, hash_cons};
use choice::{Choice, words};
use cute_arith::{Op, mask};
use egg::Id;

/// Work (candidates times words of a cone) for choosing again after a root has been settled, each time counted as if all
/// classes were looked at. Past it, the choice made before stays: only a bound for regions far larger than a kernel's.
const WORK: usize = 4_000_000;

/// Nodes, each once, operands before users.
pub(crate) struct Dag {
    pub(crate) nodes: Vec<Node>,
    pub(crate) roots: Vec<usize>,
    /// What they cost by [`dag_cost`].
    pub(crate) cost: u64,
}

/// The cheapest nodes, or nothing if the classes cannot be put in order (then the caller has the input still).
pub(crate) fn extract(graph: &Graph, leaves: &[Leaf], roots: &[Id]) -> Option<Dag> {
    extract_beside(graph, leaves, roots, &[])
}

/// The same where some classes are there already, each as a leaf, by its number.
pub(crate) fn extract_beside(
    graph: &Graph,
    leaves: &[Leaf],
    roots: &[Id],
    given: &[(Id, u32)],
) -> Option<Dag> {
    let problem = Problem::new(graph, roots, given);
    let in_order: Vec<usize> = (0..roots.len()).collect();
    let mut alone = Choice::new(&problem);
    let all: Vec<usize> = (0..problem.count()).collect();
    alone.choose(&problem, &all);
    let mut cheapest_first = in_order.clone();
    cheapest_first.sort_by_key(|&i| (alone.costs[problem.roots[i]], i));
    let dag = |order: &[usize], alone| {
        let (nodes, roots) = problem.build(&problem.settle(order, alone)?)?;
        Some(Dag {
            cost: dag_cost(leaves, &nodes, &roots),
            nodes,
            roots,
        })
    };
    let other = (cheapest_first != in_order).then(|| dag(&in_order, alone.clone()));
    let dags = [other.flatten(), dag(&cheapest_first, alone)];
    dags.into_iter().flatten().min_by_key(|dag| dag.cost)
}

/// A node that a class may be made from, its operands as positions of classes.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    term: Term,
    operands: Operands,
    cost: u64,
    /// Operation with a constant right operand, for the discount at a root.
    adds_constant: bool,
}

/// Positions of classes.
#[derive(Clone, Copy, Debug, Default)]
struct Operands {
    all: [u32; 3],
    count: u8,
}

impl Operands {
    fn iter(&self) -> impl DoubleEndedIterator<Item = usize> + Clone + use<> {
        let Operands { all, count } = *self;
        (0..usize::from(count)).map(move |at| all[at] as usize)
    }

    fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<usize> for Operands {
    fn from_iter<I: IntoIterator<Item = usize>>(some: I) -> Operands {
        let mut operands = Operands::default();
        for (place, at) in operands.all.iter_mut().zip(some) {
            *place = at as u32;
            operands.count += 1;
        }
        operands
    }
}

struct Problem {
    /// The candidates of all classes that the roots need, one class after the other, operands roughly before users.
    candidates: Vec<Candidate>,
    /// The end of each class's candidates.
    ends: Vec<u32>,
    /// The classes that the candidates of each class need, each once, and where those of each class end; without leaves and constants, for which there is
    /// nothing to choose.
    below: Vec<u32>,
    ends_below: Vec<u32>,
    /// The classes that have a candidate which needs each of these, and where those of each class end.
    above: Vec<u32>,
    ends_above: Vec<u32>,
    /// Tells of each class whether it has a candidate that needs nothing.
    is_free: Vec<bool>,
    roots: Vec<usize>,
}

/// The nodes that the DAG is made from.
struct Settled {
    /// The place of each class's node among its candidates.
    of_class: Vec<Option<usize>>,
    of_root: Vec<usize>,
}

impl Candidate {
    /// The cost of the node itself as a root's: a constant that is added there folds into the address.
    fn cost_at_root(&self, is_settled: bool) -> u64 {
        if is_settled {
            0
        } else if self.adds_constant {
            EPSILON
        } else {
            self.cost
        }
    }
}

/// The cost of a term alone, computed once.
pub(crate) fn term_cost(graph: &Graph, term: &Term) -> u64 {
    match *term {
        Term::Const(..) | Term::Leaf(_) => 0,
        Term::Op(op, [a, b]) => op_cost(op, constant(graph, b), width(graph, a)),
        Term::Compare(predicate, [a, _]) => compare_cost(predicate, width(graph, a)),
        Term::Cast(cast, _, [a]) => cast_cost(cast, width(graph, a)),
        Term::Select([_, a, _]) => select_cost(width(graph, a)),
    }
}

/// The number of times that a term is taken to be computed, as its operands change in loops.
pub(crate) fn turns_of(graph: &Graph, term: &Term) -> u64 {
    let operands = egg::Language::children(term).iter();
    turns(operands.map(|&id| data(graph, id).level).max().unwrap_or(0))
}

impl Problem {
    fn new(graph: &Graph, roots: &[Id], given: &[(Id, u32)]) -> Problem {
        const NONE: usize = usize::MAX;
        let mut place = vec![NONE; graph.count()];
        let mut order: Vec<Id> = Vec::new();
        // Depth first, without recursion: e-graphs may be deep.
        let mut todo: Vec<(Id, bool)> = roots
            .iter()
            .rev()
            .map(|&r| (graph.find(r), false))
            .collect();
        let mut entered = vec![false; graph.count()];
        while let Some((id, left)) = todo.pop() {
            if left {
                place[usize::from(id)] = order.len();
                order.push(id);
            } else if !std::mem::replace(&mut entered[usize::from(id)], true) {
                todo.push((id, true));
                let terms = graph[id].nodes.iter();
                let operands = terms.flat_map(egg::Language::children);
                todo.extend(operands.map(|&c| (graph.find(c), false)));
            }
        }
        let place = |id: Id| place[usize::from(graph.find(id))];
        let candidate = |term: &Term| {
            let children = egg::Language::children(term);
            let right = children.get(1).and_then(|&b| constant(graph, b));
            Candidate {
                term: *term,
                operands: children.iter().map(|&c| place(c)).collect(),
                cost: term_cost(graph, term) * turns_of(graph, term),
                adds_constant: matches!(term, Term::Op(Op::Add, _)) && right.is_some(),
            }
        };
        let mut is_there = vec![None; order.len()];
        for &(id, leaf) in given {
            let at = place(id);
            if at != NONE {
                is_there[at].get_or_insert(leaf);
            }
        }
        let mut candidates = Vec::with_capacity(2 * order.len());
        let mut ends = Vec::with_capacity(order.len());
        for (&id, given) in order.iter().zip(is_there) {
            let first = candidates.len();
            candidates.extend(graph[id].nodes.iter().map(candidate));
            // A constant or a leaf is there for nothing itself.
            let is_free = |c: &Candidate| c.operands.is_empty();
            if let Some(leaf) = given
                && !candidates[first..].iter().any(is_free)
            {
                candidates.push(Candidate {
                    term: Term::Leaf(leaf),
                    operands: Operands::default(),
                    cost: 0,
                    adds_constant: false,
                });
            }
            ends.push(candidates.len() as u32);
        }
        let roots = roots.iter().map(|&r| place(r)).collect();
        Problem::of(candidates, ends, roots)
    }

    /// The problem of these candidates, of classes that end there.
    fn of(candidates: Vec<Candidate>, ends: Vec<u32>, roots: Vec<usize>) -> Problem {
        let problem = Problem {
            candidates,
            ends,
            below: Vec::new(),
            ends_below: Vec::new(),
            above: Vec::new(),
            ends_above: Vec::new(),
            is_free: Vec::new(),
            roots,
        };
        let count = problem.count();
        let has = |class: usize, wanted: bool| {
            let mut candidates = problem.candidates_of(class).iter();
            candidates.any(|c| c.operands.is_empty() == wanted)
        };
        let is_free: Vec<bool> = (0..count).map(|class| has(class, true)).collect();
        let is_chosen: Vec<bool> = (0..count).map(|class| has(class, false)).collect();
        let mut seen = vec![u32::MAX; count];
        let (mut below, mut ends_below) = (Vec::new(), Vec::with_capacity(count));
        for class in 0..count {
            for candidate in problem.candidates_of(class) {
                for operand in candidate.operands.iter().filter(|&c| is_chosen[c]) {
                    if std::mem::replace(&mut seen[operand], class as u32) != class as u32 {
                        below.push(operand as u32);
                    }
                }
            }
            ends_below.push(below.len() as u32);
        }
        let (above, ends_above) = turned(&below, &ends_below);
        Problem {
            below,
            ends_below,
            above,
            ends_above,
            is_free,
            ..problem
        }
    }

    /// The number of classes.
    fn count(&self) -> usize {
        self.ends.len()
    }

    /// The candidates of a class.
    fn candidates_of(&self, class: usize) -> &[Candidate] {
        &self.candidates[span(&self.ends, class)]
    }

    /// The classes that the candidates of a class need, each once, if there is anything to choose for them.
    fn below(&self, class: usize) -> &[u32] {
        &self.below[span(&self.ends_below, class)]
    }

    /// The classes that have a candidate which needs a class, each once, if there is anything to choose for it.
    fn above(&self, class: usize) -> &[u32] {
        &self.above[span(&self.ends_above, class)]
    }

    /// Settles root after root.
    fn settle(&self, order: &[usize], mut choice: Choice) -> Option<Settled> {
        let work = self.candidates.len() * words(self.count()).max(1);
        let mut choices_left = WORK / work.max(1);
        let mut of_class = vec![None; self.count()];
        let mut of_root = vec![None; self.roots.len()];
        // The first choice and the last are for all roots, those between for one.
        let mut is_for_all = true;
        let mut settled_since = Vec::new();
        let mut todo = Vec::new();
        for (done, &root) in order.iter().enumerate() {
            let class = self.roots[root];
            let mut best = self.free_root(class, &of_class, &choice);
            if best.is_none() {
                // What is not settled may have become cheaper by another way.
                if !settled_since.is_empty() && choices_left > 0 {
                    choices_left -= 1;
                    is_for_all = choices_left == 0;
                    for (class, candidate) in settled_since.drain(..) {
                        choice.settle(class, candidate);
                    }
                    let end = if is_for_all { order.len() } else { done + 1 };
                    let roots = order[done..end].iter().map(|&root| self.roots[root]);
                    let needed = choice.needed(self, roots);
                    choice.choose(self, &needed);
                } else if !is_for_all {
                    let needed = choice.needed(self, [class]);
                    choice.choose(self, &needed);
                }
                best = self.choose_root(class, &of_class, &mut choice);
            }
            let (_, chosen) = best?;
            of_root[root] = Some(chosen);
            let node = &self.candidates_of(class)[chosen];
            todo.extend(node.operands.iter());
            // The root's node is there for others, too; but a constant added at a root is free there only.
            if of_class[class].is_none() && !node.adds_constant {
                of_class[class] = Some(chosen);
                settled_since.push((class, chosen));
            }
            while let Some(class) = todo.pop() {
                if of_class[class].is_none() {
                    let chosen = choice.of_class[class]?;
                    todo.extend(self.candidates_of(class)[chosen].operands.iter());
                    of_class[class] = Some(chosen);
                    settled_since.push((class, chosen));
                }
            }
        }
        Some(Settled {
            of_class,
            of_root: of_root.into_iter().collect::<Option<_>>()?,
        })
    }

    /// The cost and the node of a root that costs next to nothing, as it needs only constants, leaves, and what the choice
    /// takes as settled: it is the same whatever is chosen for others.
    fn free_root(
        &self,
        class: usize,
        settled: &[Option<usize>],
        choice: &Choice,
    ) -> Option<(u64, usize)> {
        let is_there = |c: usize| choice.is_settled(c) || self.is_free[c];
        let candidates = self.candidates_of(class).iter().enumerate();
        let costs = candidates
            .filter(|(_, candidate)| candidate.operands.iter().all(is_there))
            .map(|(at, candidate)| (candidate.cost_at_root(settled[class] == Some(at)), at));
        costs.filter(|(cost, _)| *cost <= EPSILON).min()
    }

    /// The cost of a root beside what is settled, and the node that it is made from.
    fn choose_root(
        &self,
        class: usize,
        settled: &[Option<usize>],
        choice: &mut Choice,
    ) -> Option<(u64, usize)> {
        let candidates = self.candidates_of(class).iter().enumerate();
        let costs = candidates.filter_map(|(at, candidate)| {
            let below = choice.below(candidate, class, |m| settled[m].is_none())?;
            // Settled on the way to another root: the same node serves, unless a constant is added here for nothing.
            let own = candidate.cost_at_root(settled[class] == Some(at));
            Some((below.saturating_add(own), at))
        });
        costs.min()
    }

    /// The chosen nodes in topological order; nothing if they form a cycle.
    fn build(&self, settled: &Settled) -> Option<(Vec<Node>, Vec<usize>)> {
        let mut nodes = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; self.count()];
        let mut entered = vec![false; self.count()];
        let mut roots = Vec::with_capacity(self.roots.len());
        let mut todo: Vec<(usize, bool)> = Vec::new();
        let node = |class: usize| Some(&self.candidates_of(class)[settled.of_class[class]?]);
        for (&class, &chosen) in self.roots.iter().zip(&settled.of_root) {
            let root = &self.candidates_of(class)[chosen];
            todo.extend(root.operands.iter().rev().map(|c| (c, false)));
            while let Some((class, left)) = todo.pop() {
                if left {
                    place[class] = Some(spell(&mut nodes, node(class)?, &place)?);
                } else if place[class].is_none() {
                    // Entered and not yet left means: below itself.
                    if std::mem::replace(&mut entered[class], true) {
                        return None;
                    }
                    todo.push((class, true));
                    todo.extend(node(class)?.operands.iter().rev().map(|c| (c, false)));
                }
            }
            roots.push(spell(&mut nodes, root, &place)?);
        }
        Some(hash_cons(&nodes, &roots))
    }
}

/// The classes that have each class in their part of a list, in order, and where those of each end.
fn turned(below: &[u32], ends: &[u32]) -> (Vec<u32>, Vec<u32>) {
    // At first the number of those that come before each class; each that is put there moves it on to the end.
    let mut places = vec![0_u32; ends.len() + 1];
    for &class in below {
        places[class as usize + 1] += 1;
    }
    for class in 1..places.len() {
        places[class] += places[class - 1];
    }
    places.pop();
    let mut above = vec![0; below.len()];
    for user in 0..ends.len() {
        for &class in &below[span(ends, user)] {
            let place = &mut places[class as usize];
            above[*place as usize] = user as u32;
            *place += 1;
        }
    }
    (above, places)
}

/// The places of a class in a list of which each class's part ends there.
fn span(ends: &[u32], class: usize) -> std::ops::Range<usize> {
    let start = match class.checked_sub(1) {
        Some(before) => ends[before] as usize,
        None => 0,
    };
    start..ends[class] as usize
}

/// Writes a node out; products and quotients by powers of two as shifts, remainders as masks.
fn spell(nodes: &mut Vec<Node>, candidate: &Candidate, place: &[Option<usize>]) -> Option<usize> {
    let mut at = [0; 3];
    for (at, class) in at.iter_mut().zip(candidate.operands.iter()) {
        *at = place[class]?;
    }
    let mut node = candidate
        .term
        .node(&at[..usize::from(candidate.operands.count)])?;
    if let Node::Op(op, a, b) = node {
        let power = |i: usize| match nodes[i] {
            Node::Const(c, width) if c.is_power_of_two() => Some((c, width)),
            _ => None,
        };
        let shift = |(c, width): (u64, u32)| (u64::from(c.trailing_zeros()), width);
        // The number of bits of a shift has to fit the width, as it does not at widths of one bit or two.
        let fits = |c: u64, width: u32| u64::from(c.trailing_zeros()) <= mask(width);
        let spelled = match (op, power(b), power(a)) {
            (Op::Mul, Some(c), _) if fits(c.0, c.1) => Some((Op::Shl, shift(c), a)),
            (Op::Mul, None, Some(c)) if fits(c.0, c.1) => Some((Op::Shl, shift(c), b)),
            (Op::DivU, Some(c), _) if fits(c.0, c.1) => Some((Op::ShrU, shift(c), a)),
            (Op::RemU, Some((c, width)), _) => Some((Op::And, (c - 1, width), a)),
            _ => None,
        };
        if let Some((op, (value, width), a)) = spelled {
            nodes.push(Node::Const(value, width));
            node = Node::Op(op, a, nodes.len() - 1);
        }
    }
    nodes.push(node);
    Some(nodes.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A choice for one root is that for all, as far as the root needs it, whatever has been settled.
    #[test]
    fn what_a_root_does_not_need_changes_nothing_for_it() {
        let mut compared = 0;
        for seed in 0..300 {
            let problem = random(seed);
            let all: Vec<usize> = (0..problem.count()).collect();
            let mut one = Choice::new(&problem);
            one.choose(&problem, &all);
            let mut whole = one.clone();
            for &root in &problem.roots {
                let needed = one.needed(&problem, [root]);
                one.choose(&problem, &needed);
                let all_needed = whole.needed(&problem, all.iter().copied());
                whole.choose(&problem, &all_needed);
                for &class in &needed {
                    assert_eq!(
                        one.of_class[class], whole.of_class[class],
                        "{seed}: {class}"
                    );
                    assert_eq!(one.costs[class], whole.costs[class], "{seed}: {class}");
                }
                compared += usize::from(needed.len() > 1 && needed.len() < all.len() / 2);
                let mut todo = vec![root];
                let mut settled = HashSet::new();
                while let Some(class) = todo.pop() {
                    if settled.insert(class)
                        && let Some(chosen) = one.of_class[class]
                    {
                        todo.extend(problem.candidates_of(class)[chosen].operands.iter());
                        one.settle(class, chosen);
                        whole.settle(class, chosen);
                    }
                }
            }
        }
        assert!(
            compared > 300,
            "{compared} choices for a part of the classes"
        );
    }

    #[test]
    fn a_list_is_turned_to_users() {
        // The third class needs the first two, the last one the first and itself.
        let (above, ends) = turned(&[0, 1, 0, 3], &[0, 0, 2, 4]);
        assert_eq!(above, [2, 3, 2, 3]);
        assert_eq!(ends, [2, 3, 3, 4]);
    }

    /// Classes of which each has one to three candidates, some of them in cycles.
    fn random(seed: u64) -> Problem {
        let mut state = seed;
        let mut below = |limit: usize| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as usize % limit
        };
        // Now and then so many that cones have words behind the 64th.
        let count = match seed % 100 {
            99 => 4_500,
            _ => 20 + below(80),
        };
        let leaf = Candidate {
            term: Term::Leaf(0),
            operands: Operands::default(),
            cost: 0,
            adds_constant: false,
        };
        let mut classes = vec![vec![leaf]; 4];
        for at in 4..count {
            let mut some = Vec::new();
            for _ in 0..1 + below(3) {
                // Now and then of what comes later, so that not every order is one of a DAG.
                let end = if below(8) == 0 { count } else { at };
                some.push(Candidate {
                    operands: (0..1 + below(2)).map(|_| below(end)).collect(),
                    cost: 16 * (1 + below(3) as u64),
                    ..leaf
                });
            }
            classes.push(some);
        }
        let roots = (0..12).map(|_| below(count)).collect();
        let mut ends: Vec<u32> = classes.iter().map(|some| some.len() as u32).collect();
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        Problem::of(classes.concat(), ends, roots)
    }
}
