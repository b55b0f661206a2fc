//! Conjunctions in order. A copied row is there if its row is, its column is and the turn is: written one after the other, each row needs all of
//! them in each turn. Written as what does not change in a loop and what does, the former is computed before the loop, and the latter is shared by
//! all rows.

use crate::egraph::Graph;
use crate::graph::{Term, add_op, constant, data, width};
use cute_arith::Op;
use egg::Id;
use std::collections::{BTreeMap, BTreeSet};

/// Conjunctions of more conditions stay as they are.
const MOST: usize = 16;

/// Writes the conjunctions among `classes` in order, beside what stands there already.
pub(crate) fn normalise(graph: &mut Graph, classes: &[Id]) {
    for &class in classes {
        if width(graph, class) != 1 || conjuncts_of(graph, class).is_none() {
            continue;
        }
        let mut flat = Flat::default();
        let fits = flat.add(graph, class);
        let conditions = flat.found;
        if !fits || conditions.len() < 2 || conditions.contains(&class) {
            continue;
        }
        let mut levels: BTreeMap<u32, Vec<Id>> = BTreeMap::new();
        for condition in conditions {
            let level = data(graph, condition).level;
            levels.entry(level).or_default().push(condition);
        }
        let groups = levels.into_values().filter_map(|group| {
            let all = |a, b| add_op(graph, Op::And, a, b);
            group.into_iter().reduce(all)
        });
        let groups: Vec<Id> = groups.collect();
        let all = |a, b| add_op(graph, Op::And, a, b);
        if let Some(written) = groups.into_iter().reduce(all) {
            graph.join(class, written, "the conditions of a conjunction in order");
        }
    }
}

/// The operands of a conjunction in a class that is not known.
fn conjuncts_of(graph: &Graph, class: Id) -> Option<[Id; 2]> {
    let conjunction = |term: &Term| match *term {
        Term::Op(Op::And, operands) => Some(operands.map(|id| graph.find(id))),
        _ => None,
    };
    match constant(graph, class) {
        Some(_) => None,
        None => graph[class].nodes.iter().find_map(conjunction),
    }
}

/// The conditions of a conjunction, while they are collected.
#[derive(Default)]
struct Flat {
    found: BTreeSet<Id>,
    /// Classes that are being taken apart: in a cycle of equal terms, `x = x & y` is not `y`.
    open: BTreeSet<Id>,
    /// Classes of which all conditions have been found.
    done: BTreeSet<Id>,
}

impl Flat {
    /// Collects the conditions of a class; tells whether all are few enough.
    fn add(&mut self, graph: &Graph, class: Id) -> bool {
        let class = graph.find(class);
        if self.done.contains(&class) || constant(graph, class) == Some(1) {
            return true;
        }
        let parts = conjuncts_of(graph, class).filter(|_| !self.open.contains(&class));
        let Some(parts) = parts else {
            self.found.insert(class);
            return self.found.len() <= MOST;
        };
        if self.open.len() > MOST {
            return false;
        }
        self.open.insert(class);
        let fits = parts.into_iter().all(|part| self.add(graph, part));
        self.open.remove(&class);
        self.done.insert(class);
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Analysis, add_constant};
    use crate::{Facts, Leaf};

    fn graph(leaves: usize) -> (Graph, Vec<Id>) {
        let leaf = |level| Leaf::new(1, Facts::any(1)).within(level);
        let mut graph = Graph::new(Analysis::new(
            (0..leaves).map(|i| leaf(i as u32 % 2)).collect(),
        ));
        let ids = (0..leaves as u32).map(|i| graph.add(Term::Leaf(i)));
        let ids = ids.collect();
        (graph, ids)
    }

    #[test]
    fn what_does_not_change_in_a_loop_is_written_together() {
        let (mut graph, ids) = graph(4);
        // Leaves 1 and 3 change.
        let written = [1, 0, 3, 2].map(|i| ids[i]);
        let all = written
            .into_iter()
            .reduce(|a, b| add_op(&mut graph, Op::And, a, b))
            .unwrap();
        graph.rebuild();
        let all = graph.find(all);
        normalise(&mut graph, &[all]);
        graph.rebuild();
        let fixed = graph.lookup(Term::Op(Op::And, [ids[0], ids[2]])).unwrap();
        let turn = graph.lookup(Term::Op(Op::And, [ids[1], ids[3]])).unwrap();
        let both = add_op(&mut graph, Op::And, fixed, turn);
        assert_eq!(graph.find(both), graph.find(all));
    }

    #[test]
    fn what_implies_another_condition_is_not_it() {
        let (mut graph, ids) = graph(3);
        // x = x & y, and z = (x & y) & 1
        let both = add_op(&mut graph, Op::And, ids[0], ids[1]);
        let bit = graph.add(Term::Op(Op::Or, [ids[0], ids[2]]));
        let implied = add_op(&mut graph, Op::And, bit, ids[1]);
        graph.join(bit, implied, "what it implies");
        let one = add_constant(&mut graph, 1, 1);
        let same = graph.add(Term::Op(Op::And, [both, one]));
        graph.rebuild();
        let mut classes: Vec<Id> = graph.classes().collect();
        classes.sort_unstable();
        normalise(&mut graph, &classes);
        graph.rebuild();
        assert_ne!(graph.find(bit), graph.find(ids[1]));
        assert_eq!(graph.find(same), graph.find(both));
    }
}
