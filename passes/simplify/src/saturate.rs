//! The driver: a region in, e-graph, rules until nothing changes or a limit is met, a DAG out.
//!
//! The loop is our own rather than egg's runner: it has no clock, looks again only where something changed, and lets
//! patterns ask for constants, which prunes most matches before they are made.

use crate::cost::dag_cost;
use crate::extract::extract;
use crate::graph::{Analysis, Graph, Term, add_compare, add_constant, add_op, constant, width};
use crate::linear;
use crate::node::{Error, Node, Region, hash_cons, validate};
use crate::rules::{
    BOUND, COMPUTED, Compiled, Env, Kind, Pat, TERMS, Typed, WIDTHS, compiled, is_constant_slot,
    is_varying_slot,
};
use cute_arith::Facts;
use egg::Id;
use std::cell::Cell;
use std::collections::BTreeSet;

/// The bounds of a simplification. Never time: the same region gives the same answer on any machine.
///
/// The default is for a kernel's addresses: hundreds of distinct nodes. Thousands need a larger limit of nodes, or come
/// back much as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// E-nodes beyond which no rule is applied any more.
    pub nodes: usize,
    /// Rounds of applying every rule.
    pub iterations: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            nodes: 8_000,
            iterations: 24,
        }
    }
}

/// A region simplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simplified {
    /// The nodes: each distinct one once, operands before users.
    pub nodes: Vec<Node>,
    /// The roots, in the order of the region's.
    pub roots: Vec<usize>,
    /// The facts about the value of each root.
    pub facts: Vec<Facts>,
    /// The figures of the simplification.
    pub stats: Stats,
}

/// The figures of a simplification: what it took and what it brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Rounds of rules.
    pub iterations: usize,
    /// Size of the e-graph at the end.
    pub e_nodes: usize,
    /// Cost of the region as given, each distinct node once. See [`crate::dag_cost`].
    pub cost_before: u64,
    /// Cost of the answer; never more.
    pub cost_after: u64,
    /// The number of times that each rule taught the e-graph something; rules that never did are left out.
    pub applied: Vec<(&'static str, usize)>,
    /// Tells whether a limit ended the search before the rules did.
    pub hit_limit: bool,
}

/// The cheapest DAG found for a region's roots. Fails only if the region is not well formed.
pub fn simplify(region: &Region, limits: &Limits) -> Result<Simplified, Error> {
    let leaves = validate(region)?;
    let (nodes, roots) = hash_cons(&region.nodes, &region.roots);
    let mut graph = Graph::new(Analysis {
        leaves,
        touched: Vec::new(),
    });
    let mut ids: Vec<Id> = Vec::with_capacity(nodes.len());
    for &node in &nodes {
        ids.push(match node {
            Node::Op(op, a, b) => add_op(&mut graph, op, ids[a], ids[b]),
            Node::Compare(predicate, a, b) => add_compare(&mut graph, predicate, ids[a], ids[b]),
            Node::Cast(cast, a, width) => graph.add(Term::Cast(cast, width, [ids[a]])),
            Node::Select(a, b, c) => graph.add(Term::Select([ids[a], ids[b], ids[c]])),
            Node::Leaf(leaf) => graph.add(Term::Leaf(leaf)),
            Node::Const(value, width) => graph.add(Term::Const(value, width)),
        });
    }
    graph.rebuild();
    let mut stats = Stats {
        cost_before: dag_cost(&region.leaves, &nodes, &roots),
        ..Stats::default()
    };
    saturate(&mut graph, limits, &mut stats);
    linear::group(&mut graph, limits.nodes);
    let root_ids: Vec<Id> = roots.iter().map(|&r| graph.find(ids[r])).collect();
    let facts = root_ids.iter().map(|&id| graph[id].data.facts).collect();
    stats.e_nodes = graph.total_number_of_nodes();
    let best = extract(&graph, &region.leaves, &root_ids)
        .map(|(nodes, roots)| (dag_cost(&region.leaves, &nodes, &roots), nodes, roots))
        .filter(|(cost, ..)| *cost <= stats.cost_before);
    let (cost_after, nodes, roots) = best.unwrap_or((stats.cost_before, nodes, roots));
    stats.cost_after = cost_after;
    Ok(Simplified {
        nodes,
        roots,
        facts,
        stats,
    })
}

/// A match of a rule, with everything that applying it needs.
struct Match {
    rule: usize,
    class: Id,
    bound: Bound,
    computed: [u64; COMPUTED],
}

/// The classes that the variables of a rule stand for, and its widths, 0 where none is known yet.
#[derive(Clone, Copy, Default)]
struct Bound {
    classes: [Option<Id>; BOUND],
    widths: [u32; WIDTHS],
}

fn saturate(graph: &mut Graph, limits: &Limits, stats: &mut Stats) {
    let rules = compiled();
    let height = rules.iter().map(|r| r.lhs.height()).max().unwrap_or(0);
    let mut counts = vec![0; rules.len()];
    let mut matches = Vec::new();
    loop {
        let touched = take_touched(graph);
        if touched.is_empty() {
            break;
        }
        if stats.iterations == limits.iterations || graph.total_size() > limits.nodes {
            stats.hit_limit = true;
            break;
        }
        stats.iterations += 1;
        linear::normalise(graph, &touched);
        graph.rebuild();
        let mut dirty = touched;
        dirty.extend(take_touched(graph));
        for class in with_users(graph, dirty, height) {
            search(graph, rules, class, &mut matches);
        }
        for found in matches.drain(..) {
            if graph.total_size() > limits.nodes {
                stats.hit_limit = true;
                break;
            }
            let id = build(graph, &rules[found.rule].rhs, &found);
            counts[found.rule] += usize::from(graph.union(found.class, id));
        }
        graph.rebuild();
    }
    let named = rules
        .iter()
        .zip(counts)
        .map(|(r, count)| (r.rule.name, count));
    stats.applied = named.filter(|&(_, count)| count > 0).collect();
}

/// The classes touched since the last time, in order.
fn take_touched(graph: &mut Graph) -> BTreeSet<Id> {
    let touched = std::mem::take(&mut graph.analysis.touched);
    touched.into_iter().map(|id| graph.find(id)).collect()
}

/// The classes and what uses them, up to `height` levels.
fn with_users(graph: &Graph, mut classes: BTreeSet<Id>, height: usize) -> BTreeSet<Id> {
    let mut level: Vec<Id> = classes.iter().copied().collect();
    for _ in 0..height {
        let users: Vec<Id> = level
            .iter()
            .flat_map(|&id| graph[id].parents().map(|p| graph.find(p)))
            .collect();
        level = users
            .into_iter()
            .filter(|&user| classes.insert(user))
            .collect();
    }
    classes
}

fn search(graph: &Graph, rules: &[Compiled], class: Id, matches: &mut Vec<Match>) {
    let bits = |term: &Term| kind(term).map_or(0, Kind::bit);
    let kinds = graph[class].nodes.iter().map(bits).fold(0, |a, b| a | b);
    for (index, rule) in rules.iter().enumerate() {
        if kinds & rule.kind.bit() == 0 {
            continue;
        }
        walk(graph, &rule.lhs, class, Bound::default(), &mut |bound| {
            if !rule.fits(&bound.widths) {
                return;
            }
            let env = env(graph, rule, &bound);
            if rule.holds(&env) {
                matches.push(Match {
                    rule: index,
                    class,
                    bound,
                    computed: rule.compute(&env),
                });
            }
        });
    }
}

fn kind(term: &Term) -> Option<Kind> {
    match *term {
        Term::Const(..) | Term::Leaf(_) => None,
        Term::Op(op, _) => Some(Kind::Op(op)),
        Term::Compare(predicate, _) => Some(Kind::Compare(predicate)),
        Term::Cast(cast, ..) => Some(Kind::Cast(cast)),
        Term::Select(_) => Some(Kind::Select),
    }
}

/// Every way in which a pattern matches a class.
fn walk(graph: &Graph, typed: &Typed, class: Id, mut bound: Bound, found: &mut dyn FnMut(Bound)) {
    let here = width(graph, class);
    let known = &mut bound.widths[typed.width];
    if *known != 0 && *known != here {
        return;
    }
    *known = here;
    match &typed.pat {
        Pat::Const(value) => {
            if constant(graph, class) == Some(*value) {
                found(bound);
            }
        }
        Pat::Var(slot) => {
            let is_constant = constant(graph, class).is_some();
            if (is_constant_slot(*slot) && !is_constant) || (is_varying_slot(*slot) && is_constant)
            {
                return;
            }
            let class = graph.find(class);
            if bound.classes[*slot]
                .replace(class)
                .is_none_or(|before| before == class)
            {
                found(bound);
            }
        }
        Pat::Computed(_) => {}
        Pat::Op(..) | Pat::Compare(..) => {
            let kind_here = typed.pat.kind();
            for term in &graph[class].nodes {
                let (Term::Op(_, [a, b]) | Term::Compare(_, [a, b])) = *term else {
                    continue;
                };
                if kind(term) != kind_here {
                    continue;
                }
                walk_all(graph, typed.pat.parts(), &[a, b], bound, found);
                let commutes = match *term {
                    Term::Op(op, _) => op.commutes(),
                    Term::Compare(predicate, _) => predicate.swapped() == predicate,
                    _ => false,
                };
                if commutes && a != b {
                    walk_all(graph, typed.pat.parts(), &[b, a], bound, found);
                }
            }
        }
        Pat::Cast(..) | Pat::Select(_) => {
            let kind_here = typed.pat.kind();
            for term in &graph[class].nodes {
                if kind(term) == kind_here {
                    let parts = typed.pat.parts();
                    walk_all(graph, parts, egg::Language::children(term), bound, found);
                }
            }
        }
    }
}

/// Every way in which patterns match classes, one each.
fn walk_all(
    graph: &Graph,
    parts: &[Typed],
    classes: &[Id],
    bound: Bound,
    found: &mut dyn FnMut(Bound),
) {
    match (parts, classes) {
        ([first, parts @ ..], [class, classes @ ..]) => {
            walk(graph, first, *class, bound, &mut |bound| {
                walk_all(graph, parts, classes, bound, found);
            });
        }
        _ => found(bound),
    }
}

fn env(graph: &Graph, rule: &Compiled, bound: &Bound) -> Env {
    let facts = |slot: usize| bound.classes[slot].map_or(Facts::any(64), |id| graph[id].data.facts);
    Env {
        width: rule.width(&bound.widths),
        widths: bound.widths,
        facts: std::array::from_fn(facts),
        consts: std::array::from_fn(|i| facts(TERMS + 1 + i).lo),
        seen: Cell::new(0),
    }
}

/// The right side of a rule, in the e-graph.
fn build(graph: &mut Graph, typed: &Typed, found: &Match) -> Id {
    let here = found.bound.widths[typed.width];
    let mut ids = [found.class; 3];
    for (id, part) in ids.iter_mut().zip(typed.pat.parts()) {
        *id = build(graph, part, found);
    }
    let [a, b, c] = ids;
    match &typed.pat {
        Pat::Const(value) => add_constant(graph, *value, here),
        Pat::Computed(index) => add_constant(graph, found.computed[*index], here),
        // Right sides use only what left sides bind: a test of the rules says so.
        Pat::Var(slot) => found.bound.classes[*slot].unwrap_or(found.class),
        Pat::Op(op, _) => add_op(graph, *op, a, b),
        Pat::Compare(predicate, _) => add_compare(graph, *predicate, a, b),
        Pat::Cast(cast, _) => graph.add(Term::Cast(*cast, here, [a])),
        Pat::Select(_) => graph.add(Term::Select([a, b, c])),
    }
}
