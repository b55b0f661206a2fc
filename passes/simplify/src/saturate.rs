//! The driver: a region in, e-graph, rules until nothing changes or a limit is met, a DAG out.
//!
//! The loop is our own rather than egg's runner: it has no clock, looks again only where something changed, and lets
//! patterns ask for constants, which prunes most matches before they are made.

use crate::cheaper::{self, Way};
use crate::conjunction;
use crate::cost::dag_cost;
use crate::egraph::Graph;
use crate::explain;
use crate::extract::extract;
use crate::graph::{Analysis, Term, add_in_form, data, rebuild_if_touched};
use crate::linear;
use crate::node::{Error, Node, Region, hash_cons, validate};
use crate::rules::{Compiled, Pat, Typed, compiled, height};
use crate::search::{Kept, Match, search};
use cute_arith::{Facts, mask};
use egg::Id;

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

impl Stats {
    /// Notes how often each rule taught the graph something, in the order of the rules.
    pub(crate) fn count(&mut self, counts: &[usize]) {
        let named = compiled().iter().zip(counts);
        let named = named.map(|(rule, &count)| (rule.rule.name, count));
        self.applied = named.filter(|&(_, count)| count > 0).collect();
    }

    /// Adds what another simplification took; not its costs.
    pub(crate) fn add(&mut self, other: &Stats) {
        self.iterations += other.iterations;
        self.e_nodes += other.e_nodes;
        self.hit_limit |= other.hit_limit;
        for &(rule, count) in &other.applied {
            match self.applied.iter_mut().find(|(name, _)| *name == rule) {
                Some((_, all)) => *all += count,
                None => self.applied.push((rule, count)),
            }
        }
    }
}

/// The cheapest DAG found for a region's roots. Fails only if the region is not well formed.
pub fn simplify(region: &Region, limits: &Limits) -> Result<Simplified, Error> {
    simplify_by(region, limits, Way::Saturate)
}

/// The same by another way of applying the rules.
///
/// # Errors
/// If the region is not well formed.
pub fn simplify_by(region: &Region, limits: &Limits, way: Way) -> Result<Simplified, Error> {
    let leaves = validate(region)?;
    let (nodes, roots) = hash_cons(&region.nodes, &region.roots);
    // Most graphs have two to three times the terms of the region in the end.
    let mut graph = Graph::with_room(Analysis::new(leaves), 3 * nodes.len());
    let mut stats = Stats {
        cost_before: dag_cost(&region.leaves, &nodes, &roots),
        ..Stats::default()
    };
    let ids = match way {
        Way::Saturate => {
            let mut ids: Vec<Id> = Vec::with_capacity(nodes.len());
            for &node in &nodes {
                ids.push(add_in_form(&mut graph, Term::of(node, &ids)));
            }
            graph.rebuild();
            saturate(&mut graph, limits, &mut stats, &mut Memory::default());
            ids
        }
        _ => cheaper::add_all(&mut graph, &nodes, way, limits, &mut stats),
    };
    if way != Way::Greedy {
        linear::group(&mut graph, limits.nodes);
    }
    let root_ids: Vec<Id> = roots.iter().map(|&r| graph.find(ids[r])).collect();
    let facts = root_ids.iter().map(|&id| data(&graph, id).facts).collect();
    stats.e_nodes = graph.total_number_of_nodes();
    let best = extract(&graph, &region.leaves, &root_ids)
        .filter(|best| best.cost <= stats.cost_before)
        .map(|best| (best.cost, best.nodes, best.roots));
    let (cost_after, nodes, roots) = best.unwrap_or((stats.cost_before, nodes, roots));
    stats.cost_after = cost_after;
    Ok(Simplified {
        nodes,
        roots,
        facts,
        stats,
    })
}

/// The memory of the tables in which matches and sums are looked for, of use for one graph after the other.
#[derive(Default)]
pub(crate) struct Memory {
    kept: Kept,
    forms: linear::Forms,
    matches: Vec<Match>,
}

/// Applies rules until nothing changes or a limit is met.
pub(crate) fn saturate(graph: &mut Graph, limits: &Limits, stats: &mut Stats, memory: &mut Memory) {
    let rules = compiled();
    let mut counts = vec![0; rules.len()];
    let Memory {
        kept,
        forms,
        matches,
    } = memory;
    kept.forget();
    matches.clear();
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
        in_order(graph, &touched, forms);
        rebuild_if_touched(graph);
        let mut dirty = touched;
        dirty.extend(take_touched(graph));
        sort_classes(graph, &mut dirty);
        let classes = with_users(graph, &dirty, height());
        search(graph, &classes, kept, matches);
        for found in matches.drain(..) {
            if graph.total_size() > limits.nodes {
                stats.hit_limit = true;
                break;
            }
            counts[found.rule] += usize::from(apply(graph, &rules[found.rule], &found));
        }
        rebuild_if_touched(graph);
    }
    stats.count(&counts);
}

/// Writes sums and conjunctions in order, beside what stands there.
pub(crate) fn in_order(graph: &mut Graph, classes: &[Id], forms: &mut linear::Forms) {
    linear::normalise(graph, classes, forms);
    conjunction::normalise(graph, classes);
}

/// Applies a match; tells whether that taught the graph something.
pub(crate) fn apply(graph: &mut Graph, rule: &Compiled, found: &Match) -> bool {
    if graph.is_explained() {
        return explain::apply(graph, rule, found);
    }
    let id = instance(graph, &rule.rhs, found, add_in_form);
    graph.join(found.class, id, rule.rule.name)
}

/// The classes touched since the last time, in order.
pub(crate) fn take_touched(graph: &mut Graph) -> Vec<Id> {
    let mut touched = std::mem::take(&mut graph.analysis.touched);
    sort_classes(graph, &mut touched);
    touched
}

/// Puts classes in order, each once.
pub(crate) fn sort_classes(graph: &Graph, classes: &mut Vec<Id>) {
    let mut bits = vec![0_u64; graph.count().div_ceil(64)];
    for id in classes.drain(..) {
        let at = usize::from(graph.find(id));
        bits[at / 64] |= 1 << (at % 64);
    }
    for (mut word, first) in bits.into_iter().zip((0..).step_by(64)) {
        while word != 0 {
            classes.push(Id::from(first + word.trailing_zeros() as usize));
            word &= word - 1;
        }
    }
}

/// The classes and what uses them, up to `height` levels, in order, each with the number of levels that it is above the nearest of the classes: a
/// pattern that looks less far down finds nothing new there.
fn with_users(graph: &Graph, classes: &[Id], height: usize) -> Vec<(Id, u32)> {
    const UNKNOWN: u32 = u32::MAX;
    let mut distances = vec![UNKNOWN; graph.count()];
    let mut above: Vec<Id> = Vec::with_capacity(2 * classes.len());
    let mut note = |above: &mut Vec<Id>, id: Id, distance| {
        let id = graph.find(id);
        let known = &mut distances[usize::from(id)];
        if *known == UNKNOWN {
            *known = distance;
            above.push(id);
        }
    };
    for &id in classes {
        note(&mut above, id, 0);
    }
    let mut done = 0;
    for distance in 1..=height as u32 {
        let level = done..above.len();
        done = above.len();
        for at in level {
            for user in graph[above[at]].parents() {
                note(&mut above, user, distance);
            }
        }
    }
    let all = distances.into_iter().enumerate();
    let known = all.filter(|&(_, distance)| distance != UNKNOWN);
    let mut found = Vec::with_capacity(above.len());
    found.extend(known.map(|(id, distance)| (Id::from(id), distance)));
    found
}

/// A side of a rule with what a match binds, its terms added by `add`.
pub(crate) fn instance(
    graph: &mut Graph,
    typed: &Typed,
    found: &Match,
    add: fn(&mut Graph, Term) -> Id,
) -> Id {
    let here = found.bound.widths[typed.width];
    let mut ids = [found.class; 3];
    for (id, part) in ids.iter_mut().zip(typed.pat.parts()) {
        *id = instance(graph, part, found, add);
    }
    let [a, b, c] = ids;
    let term = match &typed.pat {
        Pat::Const(value) => Term::Const(value & mask(here), here),
        Pat::Computed(index) => Term::Const(found.computed[*index] & mask(here), here),
        // Right sides use only what left sides bind: a test of the rules says so.
        Pat::Var(slot) => return found.bound.classes[*slot],
        Pat::Op(op, _) => Term::Op(*op, [a, b]),
        Pat::Compare(predicate, _) => Term::Compare(*predicate, [a, b]),
        Pat::Cast(cast, _) => Term::Cast(*cast, here, [a]),
        Pat::Select(_) => Term::Select([a, b, c]),
    };
    add(graph, term)
}
