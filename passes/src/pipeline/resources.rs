//! The units of a multiprocessor as what a schedule shares out: how many cycles a turn needs of each, and which cycles of an
//! interval are taken.

use super::graph::{Dep, Graph};
use cute_target::Unit;
use petgraph::{graph::NodeIndex, visit::EdgeRef};

/// The cycles that one turn needs of each unit. Every operation that occupies a unit is issued as well.
pub(super) fn busy(graph: &Graph<'_>) -> [(Unit, i64); Unit::ALL.len()] {
    Unit::ALL.map(|unit| {
        let cycles = graph.node_weights().map(|node| {
            if unit == Unit::Issue {
                node.unit.issues(node.cycles)
            } else if node.unit == unit {
                node.cycles
            } else {
                0
            }
        });
        (unit, cycles.fold(0, i64::saturating_add))
    })
}

/// The least cycles from a turn to the next: what the busiest unit takes, and what a chain of dependences around the loop does.
pub(super) fn interval(graph: &Graph<'_>) -> i64 {
    let resources = busy(graph).map(|(_, cycles)| cycles);
    let resources = resources.into_iter().max().unwrap_or(0).max(1);
    if !is_too_short(graph, resources) {
        return resources;
    }
    let (mut short, mut long) = (resources, resources.saturating_mul(2));
    while is_too_short(graph, long) && long < 1 << 40 {
        (short, long) = (long, long * 2);
    }
    while long - short > 1 {
        let middle = short + (long - short) / 2;
        if is_too_short(graph, middle) {
            short = middle;
        } else {
            long = middle;
        }
    }
    long
}

/// Tells whether a chain of dependences around the loop takes longer than the turns that it spans: whether there is a cycle of
/// positive weight `latency - distance * interval` (Bellman and Ford).
fn is_too_short(graph: &Graph<'_>, interval: i64) -> bool {
    let mut time = vec![0i64; graph.node_count()];
    for _ in 0..=graph.node_count() {
        let mut changed = false;
        for edge in graph.edge_references() {
            let Dep { latency, distance } = *edge.weight();
            let least = time[edge.source().index()] + latency - distance * interval;
            if least > time[edge.target().index()] {
                time[edge.target().index()] = least;
                changed = true;
            }
        }
        if !changed {
            return false;
        }
    }
    true
}

/// Cycles of an interval that an operation has of a unit, both ends counted from the interval's start.
#[derive(Clone, Copy, Debug)]
struct Span {
    unit: Unit,
    start: i64,
    end: i64,
    node: NodeIndex,
}

/// The cycles of an interval in which units are taken, and by what.
#[derive(Clone)]
pub(super) struct Reservations {
    interval: i64,
    spans: Vec<Span>,
}

impl Reservations {
    /// An interval of so many cycles in which nothing is taken.
    pub(super) fn new(interval: i64) -> Self {
        Self {
            interval: interval.max(1),
            spans: Vec::new(),
        }
    }

    /// The parts of an interval that `cycles` cycles from `at` on are: two where they run over its end.
    fn parts(&self, at: i64, cycles: i64) -> Vec<(i64, i64)> {
        let start = at.rem_euclid(self.interval);
        let end = start + cycles.min(self.interval);
        match (cycles > 0, end > self.interval) {
            (false, _) => Vec::new(),
            (true, false) => vec![(start, end)],
            (true, true) => vec![(start, self.interval), (0, end - self.interval)],
        }
    }

    /// Cycles of an operation: of its unit, and those in which it is issued.
    fn needs(unit: Unit, cycles: i64) -> Vec<(Unit, i64)> {
        let mut needs = vec![(Unit::Issue, unit.issues(cycles))];
        if unit != Unit::Issue {
            needs.push((unit, cycles));
        }
        needs
    }

    /// The operations that stand in the way of `cycles` cycles of a unit from `at` on.
    pub(super) fn conflicts(&self, unit: Unit, cycles: i64, at: i64) -> Vec<NodeIndex> {
        let mut all = Vec::new();
        for (unit, cycles) in Self::needs(unit, cycles) {
            for (start, end) in self.parts(at, cycles) {
                let met = self.spans.iter();
                let met = met.filter(|s| s.unit == unit && s.start < end && start < s.end);
                all.extend(met.map(|span| span.node));
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// The first time from `at` on at which a unit is free for so many cycles; none where it never is.
    pub(super) fn free(&self, unit: Unit, cycles: i64, at: i64) -> Option<i64> {
        if cycles > self.interval {
            return None;
        }
        let mut start = at;
        while start < at + self.interval {
            // Behind whatever stands in the way and ends last.
            let mut next = start;
            for (unit, cycles) in Self::needs(unit, cycles) {
                for (from, to) in self.parts(start, cycles) {
                    let met = self.spans.iter();
                    let met = met.filter(|s| s.unit == unit && s.start < to && from < s.end);
                    let ends =
                        met.map(|s| start + 1 + (s.end - start - 1).rem_euclid(self.interval));
                    next = ends.fold(next, i64::max);
                }
            }
            if next == start {
                return Some(start);
            }
            start = next;
        }
        None
    }

    /// Takes cycles of a unit for an operation, also where they are not free.
    pub(super) fn take(&mut self, node: NodeIndex, unit: Unit, cycles: i64, at: i64) {
        for (unit, cycles) in Self::needs(unit, cycles) {
            for (start, end) in self.parts(at, cycles) {
                self.spans.push(Span {
                    unit,
                    start,
                    end,
                    node,
                });
            }
        }
    }

    /// Gives back what an operation has.
    pub(super) fn release(&mut self, node: NodeIndex) {
        self.spans.retain(|span| span.node != node);
    }

    /// Takes the first cycles from `at` on that are free, or those at `at` where none are; the time at which they begin.
    pub(super) fn reserve(&mut self, node: NodeIndex, unit: Unit, cycles: i64, at: i64) -> i64 {
        let start = self.free(unit, cycles, at).unwrap_or(at);
        self.take(node, unit, cycles, start);
        start
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Node, Role};
    use super::*;

    #[test]
    fn a_unit_is_reserved_once_in_an_interval() {
        let node = NodeIndex::new(0);
        let mut units = Reservations::new(8);
        assert_eq!(units.reserve(node, Unit::Memory, 4, 6), 6);
        // 6, 7, 0 and 1 are taken, of every interval.
        assert_eq!(units.reserve(node, Unit::Memory, 2, 8), 10);
        assert_eq!(units.free(Unit::Memory, 3, 0), None);
        // Another unit is free but for the cycle in which the first one was issued.
        assert_eq!(units.free(Unit::Tensor, 8, 6), Some(7));
        assert_eq!(units.reserve(node, Unit::Memory, 2, -2), 4);
        // Nothing is free any more.
        assert_eq!(units.reserve(node, Unit::Memory, 1, 3), 3);
    }

    #[test]
    fn what_is_released_is_free() {
        let (one, other) = (NodeIndex::new(0), NodeIndex::new(1));
        let mut units = Reservations::new(16);
        units.take(one, Unit::Tensor, 12, 8);
        units.take(other, Unit::Arithmetic, 2, 0);
        assert_eq!(units.conflicts(Unit::Tensor, 1, 3), [one]);
        assert_eq!(units.conflicts(Unit::Arithmetic, 2, 7), [one]);
        assert_eq!(units.conflicts(Unit::Special, 8, 0), [other]);
        units.release(one);
        assert_eq!(units.conflicts(Unit::Tensor, 16, 3), []);
        assert_eq!(units.free(Unit::Tensor, 17, 0), None);
    }

    #[test]
    fn an_interval_is_as_long_as_the_longest_way_around() {
        // Two products one after the other, 300 cycles each until the result may be used.
        let product = Node {
            role: Role::Compute,
            op: None,
            unit: Unit::Tensor,
            cycles: 16,
            latency: 300,
            ring: None,
        };
        let mut graph = Graph::new();
        let (a, b) = (graph.add_node(product), graph.add_node(product));
        let dep = |latency, distance| Dep { latency, distance };
        assert_eq!(interval(&graph), 32);
        graph.add_edge(a, b, dep(300, 0));
        graph.add_edge(b, a, dep(300, 1));
        assert_eq!(interval(&graph), 600);
        // Two turns to go around.
        graph.add_edge(b, a, dep(0, 2));
        assert_eq!(interval(&graph), 600);
    }
}
