//! The cheapest DAG for the roots: what several roots use is paid once.
//!
//! Greedy, root after root. Each class keeps the node whose cone (the classes below it) costs least; the classes that
//! a root's cone consists of are then settled and free for the roots that follow, which draws these to a common base.
//! Roots are taken in their order and, as a second try, cheapest first; the better DAG wins.

use crate::cost::{EPSILON, cast_cost, compare_cost, dag_cost, op_cost, select_cost, turns};
use crate::graph::{Graph, Term, constant, width};
use crate::node::{Leaf, Node, hash_cons};
use cute_arith::{Op, mask};
use egg::Id;
use std::collections::{HashMap, HashSet};

/// More classes than this, and cones are counted, not listed: sharing inside one root is then not seen.
const MOST_CONES: usize = 8192;
/// Work (candidates times words of a cone) for choosing again after a root has been settled. Past it, the choice made
/// before stays: only a bound for regions far larger than a kernel's.
const WORK: usize = 4_000_000;

/// Nodes and roots, or nothing if the classes cannot be put in order (then the caller has the input still).
pub(crate) fn extract(
    graph: &Graph,
    leaves: &[Leaf],
    roots: &[Id],
) -> Option<(Vec<Node>, Vec<usize>)> {
    let problem = Problem::new(graph, roots);
    let in_order: Vec<usize> = (0..roots.len()).collect();
    let alone = problem.choose(&vec![None; problem.classes.len()]);
    let mut cheapest_first = in_order.clone();
    cheapest_first.sort_by_key(|&i| (alone.cones[problem.roots[i]].cost, i));
    let tries = if cheapest_first == in_order {
        vec![in_order]
    } else {
        vec![in_order, cheapest_first]
    };
    let dags = tries.iter().filter_map(|order| {
        let (nodes, roots) = problem.build(&problem.settle(order, &alone)?)?;
        Some((dag_cost(leaves, &nodes, &roots), (nodes, roots)))
    });
    dags.min_by_key(|(cost, _)| *cost).map(|(_, dag)| dag)
}

/// A node that a class may be made from, its operands as positions of classes.
#[derive(Clone, Debug)]
struct Candidate {
    term: Term,
    operands: Operands,
    cost: u64,
    /// Operation with a constant right operand, for the discount at a root.
    adds_constant: bool,
}

/// Positions of classes.
type Operands = smallvec::SmallVec<[usize; 3]>;

struct Problem {
    /// The candidates to make each class that the roots need from, operands roughly before users.
    classes: Vec<Vec<Candidate>>,
    roots: Vec<usize>,
}

/// The nodes that the DAG is made from.
struct Settled {
    of_class: Vec<Option<Candidate>>,
    of_root: Vec<Candidate>,
}

/// The cheapest node of each class, given what is settled.
#[derive(Clone)]
struct Choice {
    of_class: Vec<Option<Candidate>>,
    /// The cost of each chosen node itself; nothing if it is settled.
    own: Vec<u64>,
    cones: Vec<Cone>,
}

/// A set of classes that are not settled yet, and what it costs.
#[derive(Clone, Default)]
struct Cone {
    members: Vec<u64>,
    cost: u64,
}

impl Problem {
    fn new(graph: &Graph, roots: &[Id]) -> Problem {
        let mut place: HashMap<Id, usize> = HashMap::new();
        let mut order: Vec<Id> = Vec::new();
        // Depth first, without recursion: e-graphs may be deep.
        let mut todo: Vec<(Id, bool)> = roots
            .iter()
            .rev()
            .map(|&r| (graph.find(r), false))
            .collect();
        let mut entered = HashSet::new();
        while let Some((id, left)) = todo.pop() {
            if left {
                place.insert(id, order.len());
                order.push(id);
            } else if entered.insert(id) {
                todo.push((id, true));
                for term in &graph[id].nodes {
                    todo.extend(
                        egg::Language::children(term)
                            .iter()
                            .map(|&c| (graph.find(c), false)),
                    );
                }
            }
        }
        let candidate = |term: &Term| {
            let children = egg::Language::children(term);
            let right = children.get(1).and_then(|&b| constant(graph, b));
            let of = |at: usize| children.get(at).map_or(64, |&id| width(graph, id));
            let cost = match *term {
                Term::Const(..) | Term::Leaf(_) => 0,
                Term::Op(op, _) => op_cost(op, right, of(0)),
                Term::Compare(predicate, _) => compare_cost(predicate, of(0)),
                Term::Cast(cast, ..) => cast_cost(cast, of(0)),
                Term::Select(_) => select_cost(of(1)),
            };
            let levels = children.iter().map(|&id| graph[id].data.level);
            let cost = cost * turns(levels.max().unwrap_or(0));
            Candidate {
                term: *term,
                operands: children.iter().map(|&c| place[&graph.find(c)]).collect(),
                cost,
                adds_constant: matches!(term, Term::Op(Op::Add, _)) && right.is_some(),
            }
        };
        let classes = order
            .iter()
            .map(|&id| graph[id].nodes.iter().map(candidate).collect())
            .collect();
        Problem {
            classes,
            roots: roots.iter().map(|&r| place[&graph.find(r)]).collect(),
        }
    }

    /// Words of a cone; none if there are too many classes for cones.
    fn words(&self) -> usize {
        if self.classes.len() <= MOST_CONES {
            self.classes.len().div_ceil(64)
        } else {
            0
        }
    }

    fn choose(&self, settled: &[Option<Candidate>]) -> Choice {
        let words = self.words();
        let count = self.classes.len();
        let none = Cone {
            members: vec![0; words],
            cost: 0,
        };
        let mut choice = Choice {
            of_class: settled.to_vec(),
            own: vec![0; count],
            cones: vec![none; count],
        };
        let mut scratch = vec![0; words];
        let mut changed = true;
        while changed {
            changed = false;
            for class in (0..count).filter(|&class| settled[class].is_none()) {
                for candidate in &self.classes[class] {
                    let Some(below) = choice.cone(candidate, class, &mut scratch) else {
                        continue;
                    };
                    let own = candidate.cost + EPSILON * u64::from(!candidate.operands.is_empty());
                    let cost = below.saturating_add(own);
                    if choice.of_class[class].is_none() || cost < choice.cones[class].cost {
                        choice.of_class[class] = Some(candidate.clone());
                        choice.own[class] = own;
                        let cone = &mut choice.cones[class];
                        cone.cost = cost;
                        cone.members.copy_from_slice(&scratch);
                        if words > 0 {
                            cone.members[class / 64] |= 1 << (class % 64);
                        }
                        changed = true;
                    }
                }
            }
        }
        choice
    }

    /// Settles root after root.
    fn settle(&self, order: &[usize], alone: &Choice) -> Option<Settled> {
        let words = self.words();
        let pass = self.classes.iter().map(Vec::len).sum::<usize>() * words.max(1);
        let mut passes_left = WORK / pass.max(1);
        let mut of_class = vec![None; self.classes.len()];
        let mut of_root = vec![None; self.roots.len()];
        let mut choice = alone.clone();
        let mut stale = false;
        let mut scratch = vec![0; words];
        for &root in order {
            let mut best = self.choose_root(root, &of_class, &choice, &mut scratch)?;
            // What is not settled may have become cheaper by another way.
            if best.0 > EPSILON && stale && passes_left > 0 {
                passes_left -= 1;
                stale = false;
                choice = self.choose(&of_class);
                best = self.choose_root(root, &of_class, &choice, &mut scratch)?;
            }
            let root_node = best.1;
            let mut todo: Vec<usize> = root_node.operands.to_vec();
            of_root[root] = Some(root_node.clone());
            // The root's node is there for others, too; but a constant added at a root is free there only.
            let class = self.roots[root];
            if of_class[class].is_none() && !root_node.adds_constant {
                of_class[class] = Some(root_node);
                stale = true;
            }
            while let Some(class) = todo.pop() {
                if of_class[class].is_none() {
                    let chosen = choice.of_class[class].clone()?;
                    todo.extend(&chosen.operands);
                    of_class[class] = Some(chosen);
                    stale = true;
                }
            }
        }
        Some(Settled {
            of_class,
            of_root: of_root.into_iter().collect::<Option<_>>()?,
        })
    }

    /// Returns the cost of a root beside what is settled, and the node that it is made from.
    fn choose_root(
        &self,
        root: usize,
        settled: &[Option<Candidate>],
        choice: &Choice,
        scratch: &mut [u64],
    ) -> Option<(u64, Candidate)> {
        let class = self.roots[root];
        let mut best: Option<(u64, Candidate)> = None;
        for candidate in &self.classes[class] {
            // Settled on the way to another root: the same node serves, unless a constant is added here for nothing.
            let same = settled[class]
                .as_ref()
                .is_some_and(|s| s.term == candidate.term);
            let Some(all_below) = choice.cone(candidate, class, scratch) else {
                continue;
            };
            let open = |&m: &usize| settled[m].is_none();
            let below = if scratch.is_empty() {
                all_below
            } else {
                members_of(scratch)
                    .filter(open)
                    .map(|m| choice.own[m])
                    .sum()
            };
            let own = match candidate {
                _ if same => 0,
                Candidate {
                    adds_constant: true,
                    ..
                } => EPSILON,
                _ => candidate.cost,
            };
            let cost = below.saturating_add(own);
            if best.as_ref().is_none_or(|(before, _)| cost < *before) {
                best = Some((cost, candidate.clone()));
            }
        }
        best
    }

    /// The chosen nodes in topological order; nothing if they form a cycle.
    fn build(&self, settled: &Settled) -> Option<(Vec<Node>, Vec<usize>)> {
        let mut nodes = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; self.classes.len()];
        let mut entered = vec![false; self.classes.len()];
        let mut roots = Vec::with_capacity(self.roots.len());
        for root in &settled.of_root {
            let mut todo: Vec<(usize, bool)> = Vec::new();
            todo.extend(root.operands.iter().rev().map(|&c| (c, false)));
            while let Some((class, left)) = todo.pop() {
                if left {
                    place[class] = Some(spell(
                        &mut nodes,
                        settled.of_class[class].as_ref()?,
                        &place,
                    )?);
                } else if place[class].is_none() {
                    // Entered and not yet left means: below itself.
                    if std::mem::replace(&mut entered[class], true) {
                        return None;
                    }
                    todo.push((class, true));
                    let operands = &settled.of_class[class].as_ref()?.operands;
                    todo.extend(operands.iter().rev().map(|&c| (c, false)));
                }
            }
            roots.push(spell(&mut nodes, root, &place)?);
        }
        Some(hash_cons(&nodes, &roots))
    }
}

impl Choice {
    /// Writes the classes below a candidate of `class` to `members` and returns what they cost; nothing if an operand
    /// is not known yet, or is made from this very class.
    fn cone(&self, candidate: &Candidate, class: usize, members: &mut [u64]) -> Option<u64> {
        members.fill(0);
        let operands = &candidate.operands;
        if operands.iter().any(|&c| self.of_class[c].is_none()) {
            return None;
        }
        if members.is_empty() {
            let distinct = operands.iter().enumerate();
            let distinct = distinct.filter(|(at, c)| !operands[..*at].contains(c));
            let costs = distinct.map(|(_, &c)| self.cones[c].cost);
            return Some(costs.fold(0, u64::saturating_add));
        }
        for &operand in operands {
            for (member, more) in members.iter_mut().zip(&self.cones[operand].members) {
                *member |= more;
            }
        }
        if members[class / 64] >> (class % 64) & 1 == 1 {
            return None;
        }
        Some(members_of(members).map(|m| self.own[m]).sum())
    }
}

fn members_of(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
            .take_while(|&w| w != 0)
            .map(move |w| at * 64 + w.trailing_zeros() as usize)
    })
}

/// Writes a node out; products and quotients by powers of two as shifts, remainders as masks.
fn spell(nodes: &mut Vec<Node>, candidate: &Candidate, place: &[Option<usize>]) -> Option<usize> {
    let at: Option<Operands> = candidate.operands.iter().map(|&c| place[c]).collect();
    let at = at?;
    let mut node = candidate.term.node(&at)?;
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
