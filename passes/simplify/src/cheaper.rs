//! Cheaper ways of applying the same rules, to compare with: one eager pass, as Cranelift's, and a greedy one that keeps the best term only.
//!
//! Both go through the nodes of a region once, operands first, and rewrite a term when it is made and not again when more is known of its
//! operands. An eager pass keeps all forms of a term, among which the answer is chosen at the end; a greedy one keeps the cheapest.

use crate::cost::EPSILON;
use crate::egraph::Graph;
use crate::extract::{term_cost, turns_of};
use crate::graph::{Term, add_in_form};
use crate::linear::Forms;
use crate::node::Node;
use crate::rules::compiled;
use crate::saturate::{Limits, Stats, apply, in_order, sort_classes, take_touched};
use crate::search::{Kept, search};
use egg::{Id, Language};
use std::collections::{BTreeMap, HashMap};

/// The way in which rules are applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Until nothing is learned any more or a limit is met.
    #[default]
    Saturate,
    /// Rules are applied to each term once, when it is made.
    Eager,
    /// The eager way, with the cheapest form of each term alone kept.
    Greedy,
}

/// The number of times that what a rule makes is rewritten again, as in Cranelift.
const MOST_DEPTH: usize = 5;

/// The classes of nodes, rewritten as they are added.
pub(crate) fn add_all(
    graph: &mut Graph,
    nodes: &[Node],
    way: Way,
    limits: &Limits,
    stats: &mut Stats,
) -> Vec<Id> {
    let rules = compiled();
    let mut counts = vec![0; rules.len()];
    let mut heights: Vec<usize> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let below = node.operands().iter().map(|&i| heights[i] + 1).max();
        heights.push(below.unwrap_or(0));
    }
    let mut of_height: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, &height) in heights.iter().enumerate() {
        of_height.entry(height).or_default().push(node);
    }
    let mut ids: Vec<Option<Id>> = vec![None; nodes.len()];
    let mut best = Best::default();
    for level in of_height.into_values() {
        for &node in &level {
            let operands = nodes[node].operands();
            let of: Vec<Id> = operands.iter().filter_map(|&i| ids[i]).collect();
            ids[node] = Some(add_in_form(graph, Term::on(nodes[node], &of)));
        }
        graph.rebuild();
        for _ in 0..MOST_DEPTH {
            let mut dirty = take_touched(graph);
            if dirty.is_empty() || graph.total_size() > limits.nodes {
                break;
            }
            stats.iterations += 1;
            in_order(graph, &dirty, &mut Forms::default());
            graph.rebuild();
            dirty.extend(take_touched(graph));
            sort_classes(graph, &mut dirty);
            let made: Vec<(Id, u32)> = dirty.iter().map(|&id| (id, 0)).collect();
            let mut matches = Vec::new();
            search(graph, &made, &mut Kept::default(), &mut matches);
            for found in matches {
                counts[found.rule] += usize::from(apply(graph, &rules[found.rule], &found));
            }
            graph.rebuild();
            if way == Way::Greedy {
                best.keep(graph, &dirty);
            }
        }
        take_touched(graph);
    }
    stats.count(&counts);
    ids.into_iter().flatten().collect()
}

/// The cheapest term of each class that was looked at.
#[derive(Default)]
struct Best {
    costs: HashMap<Id, u64>,
}

impl Best {
    /// Leaves the cheapest term alone in each of these classes. What each operand costs is counted as often as it is used.
    fn keep(&mut self, graph: &mut Graph, classes: &[Id]) {
        for &class in classes {
            let class = graph.find(class);
            if graph[class].nodes.len() < 2 {
                continue;
            }
            let terms = graph[class].nodes.iter();
            let costs: Vec<u64> = terms
                .map(|term| self.cost_of(graph, term, &mut vec![class]))
                .collect();
            let Some(least) = (0..costs.len()).min_by_key(|&at| costs[at]) else {
                continue;
            };
            self.costs.insert(class, costs[least]);
            let term = graph[class].nodes[least];
            graph.retain(class, |other| *other == term);
        }
    }

    /// The cost of a class by its cheapest term; one that is met within itself costs too much.
    fn cost(&mut self, graph: &Graph, class: Id, within: &mut Vec<Id>) -> u64 {
        let class = graph.find(class);
        if within.contains(&class) || within.len() > 64 {
            return u64::MAX / 4;
        }
        if let Some(&cost) = self.costs.get(&class) {
            return cost;
        }
        within.push(class);
        let terms = graph[class].nodes.iter();
        let costs = terms.map(|term| self.cost_of(graph, term, within));
        let least = costs.min().unwrap_or(0);
        within.pop();
        if least < u64::MAX / 4 {
            self.costs.insert(class, least);
        }
        least
    }

    /// The cost of a term with all that it is computed from.
    fn cost_of(&mut self, graph: &Graph, term: &Term, within: &mut Vec<Id>) -> u64 {
        let operands = term.children();
        let below = operands.iter().map(|&id| self.cost(graph, id, within));
        let below = below.fold(0, u64::saturating_add);
        let own = match operands.is_empty() {
            true => 0,
            false => (term_cost(graph, term) + EPSILON) * turns_of(graph, term),
        };
        below.saturating_add(own)
    }
}
