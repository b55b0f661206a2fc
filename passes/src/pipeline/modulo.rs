//! An iterative modulo schedule of what a loop computes (Rau, "Iterative Modulo Scheduling", MICRO-27, 1994).
//!
//! Every operation has its unit and its issue slots to itself. Those from which the longest way leads on come first; each takes
//! the first time that its predecessors allow and at which its unit is free, within one interval, for later ones are the same
//! again. Where there is none it takes one all the same, and what stood there, or follows too early, is placed anew. After so
//! many steps for each operation the interval is given up for a longer one.

use super::{graph::Body, resources::Reservations};
use petgraph::{Direction, graph::NodeIndex, visit::EdgeRef};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
};

/// The steps for each operation after which an interval is given up.
const STEPS: usize = 6;

/// The times of operations, and the units that they take.
pub(super) struct Times {
    pub(super) time: HashMap<NodeIndex, i64>,
    pub(super) units: Reservations,
}

impl Times {
    /// The turns over which the operations are spread.
    pub(super) fn turns(&self, interval: i64) -> i64 {
        let last = self.time.values().max().copied().unwrap_or(0);
        last.div_euclid(interval) + 1
    }
}

/// A dependence between two operations that are to be placed.
struct Edge {
    from: usize,
    to: usize,
    latency: i64,
    distance: i64,
}

impl Edge {
    /// The cycles that its target starts behind its source, at least.
    fn apart(&self, interval: i64) -> i64 {
        self.latency - self.distance * interval
    }
}

/// Places `nodes`, which are in program order, in an interval of so many cycles; nothing where that is not found to be possible.
/// The first operation of all starts within the first interval.
pub(super) fn times(body: &Body<'_>, nodes: &[NodeIndex], interval: i64) -> Option<Times> {
    Placing::new(body, nodes, interval)?.run()
}

struct Placing<'a, 'c> {
    body: &'a Body<'c>,
    nodes: &'a [NodeIndex],
    interval: i64,
    edges: Vec<Edge>,
    /// Edges by their target, and by their source.
    before: Vec<Vec<usize>>,
    behind: Vec<Vec<usize>>,
    /// The cycles that are left behind the start of each operation, at least.
    height: Vec<i64>,
    time: Vec<Option<i64>>,
    /// The last time that each operation had.
    had: Vec<Option<i64>>,
    units: Reservations,
}

impl<'a, 'c> Placing<'a, 'c> {
    fn new(body: &'a Body<'c>, nodes: &'a [NodeIndex], interval: i64) -> Option<Self> {
        let position: HashMap<NodeIndex, usize> = nodes
            .iter()
            .enumerate()
            .map(|(i, node)| (*node, i))
            .collect();
        let mut edges = Vec::new();
        for (to, node) in nodes.iter().enumerate() {
            for edge in body.graph.edges_directed(*node, Direction::Incoming) {
                if let Some(from) = position.get(&edge.source()) {
                    edges.push(Edge {
                        from: *from,
                        to,
                        latency: edge.weight().latency,
                        distance: edge.weight().distance,
                    });
                }
            }
        }
        let by = |end: fn(&Edge) -> usize| {
            let mut all = vec![Vec::new(); nodes.len()];
            for (at, edge) in edges.iter().enumerate() {
                all[end(edge)].push(at);
            }
            all
        };
        let (before, behind) = (by(|edge| edge.to), by(|edge| edge.from));
        let mut placing = Self {
            body,
            nodes,
            interval,
            edges,
            before,
            behind,
            height: vec![0; nodes.len()],
            time: vec![None; nodes.len()],
            had: vec![None; nodes.len()],
            units: Reservations::new(interval),
        };
        placing.heights().then_some(placing)
    }

    /// Computes the heights; tells whether they settle, as they do unless a way around the loop is longer than its turns.
    fn heights(&mut self) -> bool {
        for _ in 0..=self.nodes.len() {
            let mut settled = true;
            for edge in self.edges.iter().rev() {
                let least = self.height[edge.to] + edge.apart(self.interval);
                if least > self.height[edge.from] {
                    self.height[edge.from] = least;
                    settled = false;
                }
            }
            if settled {
                return true;
            }
        }
        false
    }

    fn run(mut self) -> Option<Times> {
        // The greatest height first, and what comes first in the program among equals.
        let mut waiting: BTreeSet<(Reverse<i64>, usize)> = (0..self.nodes.len())
            .map(|at| (Reverse(self.height[at]), at))
            .collect();
        let mut steps = self.nodes.len().saturating_mul(STEPS);
        while let Some((_, at)) = waiting.pop_first() {
            steps = steps.checked_sub(1)?;
            for evicted in self.place(at)? {
                waiting.insert((Reverse(self.height[evicted]), evicted));
            }
        }
        self.sink();
        let placed = self.nodes.iter().zip(&self.time);
        let time: Option<HashMap<_, _>> = placed.map(|(node, at)| Some((*node, (*at)?))).collect();
        Some(Times {
            time: time?,
            units: self.units,
        })
    }

    /// Gives an operation a time; those that have to be placed again. Nothing where it does not fit into the interval at all.
    fn place(&mut self, at: usize) -> Option<Vec<usize>> {
        let node = self.nodes[at];
        let (unit, cycles) = {
            let node = &self.body.graph[node];
            (node.unit, node.cycles)
        };
        if cycles > self.interval {
            return None;
        }
        let before = self.before[at].iter().map(|edge| &self.edges[*edge]);
        let earliest = before
            .filter(|edge| edge.from != at)
            .filter_map(|edge| Some(self.time[edge.from]? + edge.apart(self.interval)))
            .fold(0, i64::max);
        let start = match self.units.free(unit, cycles, earliest) {
            Some(start) => start,
            // Later than the last time, so that no two chase each other for good.
            None => self.had[at].map_or(earliest, |had| earliest.max(had + 1)),
        };
        let mut evicted: BTreeSet<usize> = BTreeSet::new();
        for other in self.units.conflicts(unit, cycles, start) {
            evicted.extend(self.nodes.iter().position(|known| *known == other));
        }
        let too_early = self.behind[at].iter().filter_map(|edge| {
            let edge = &self.edges[*edge];
            let after = self.time[edge.to].filter(|_| edge.to != at)?;
            (after < start + edge.apart(self.interval)).then_some(edge.to)
        });
        evicted.extend(too_early);
        for other in &evicted {
            self.units.release(self.nodes[*other]);
            self.time[*other] = None;
        }
        self.units.take(node, unit, cycles, start);
        self.time[at] = Some(start);
        self.had[at] = Some(start);
        Some(evicted.into_iter().collect())
    }

    /// Moves operations that stand more than an interval ahead of all that uses them by whole intervals, so that results do not
    /// stay in registers meanwhile. The units that they take stay the same.
    fn sink(&mut self) {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|at| (Reverse(self.time[*at]), *at));
        for at in order {
            let Some(start) = self.time[at] else { continue };
            let behind = self.behind[at].iter().map(|edge| &self.edges[*edge]);
            let latest = behind
                .filter(|edge| edge.to != at)
                .filter_map(|edge| Some(self.time[edge.to]? - edge.apart(self.interval)))
                .min();
            if let Some(latest) = latest {
                let intervals = (latest - start).div_euclid(self.interval).max(0);
                self.time[at] = Some(start + intervals * self.interval);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        graph::{Dep, Graph, Node, Role},
        resources::interval,
    };
    use super::*;
    use cute_target::Unit;

    fn compute(graph: &mut Graph<'static>, unit: Unit, cycles: i64, latency: i64) -> NodeIndex {
        graph.add_node(Node {
            role: Role::Compute,
            op: None,
            unit,
            cycles,
            latency,
            ring: None,
        })
    }

    fn body(graph: Graph<'static>) -> Body<'static> {
        let program = graph.node_indices().collect();
        Body {
            graph,
            rings: Vec::new(),
            program,
        }
    }

    /// Checks that no cycle of a unit is taken twice, and that every dependence holds.
    fn check(body: &Body<'_>, times: &Times, interval: i64) {
        let mut taken = std::collections::HashSet::new();
        for (node, at) in &times.time {
            let node = &body.graph[*node];
            for cycle in 0..node.cycles {
                let slot = (at + cycle).rem_euclid(interval);
                assert!(node.unit == Unit::Issue || taken.insert((node.unit, slot)));
            }
            for cycle in 0..node.unit.issues(node.cycles) {
                let slot = (at + cycle).rem_euclid(interval);
                assert!(taken.insert((Unit::Issue, slot)));
            }
        }
        for edge in body.graph.edge_references() {
            let Dep { latency, distance } = *edge.weight();
            let (from, to) = (times.time[&edge.source()], times.time[&edge.target()]);
            assert!(from + latency <= to + distance * interval);
        }
    }

    #[test]
    fn dependences_and_reservations_hold_on_random_graphs() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut found = 0;
        for _ in 0..300 {
            let mut graph = Graph::new();
            let count = 1 + random(30) as usize;
            let nodes: Vec<_> = (0..count)
                .map(|_| {
                    let unit = Unit::ALL[random(5) as usize];
                    let (cycles, latency) = (random(17) as i64, random(40) as i64);
                    compute(&mut graph, unit, cycles, latency)
                })
                .collect();
            for _ in 0..random(60) {
                let (a, b) = (random(count as u64) as usize, random(count as u64) as usize);
                let distance = if a < b {
                    random(2) as i64
                } else {
                    1 + random(2) as i64
                };
                let latency = graph[nodes[a]].latency;
                graph.add_edge(nodes[a], nodes[b], Dep { latency, distance });
            }
            let body = body(graph);
            let least = interval(&body.graph);
            for interval in [least, least + least / 4, 2 * least] {
                if let Some(times) = times(&body, &body.program, interval) {
                    check(&body, &times, interval);
                    found += 1;
                }
            }
        }
        assert!(found > 600, "{found}");
    }

    #[test]
    fn a_chain_through_two_units_overlaps_with_the_turn_before() {
        // A product, what it is for, and another product: 64 cycles of one unit and 48 of another, one behind the other.
        let mut graph = Graph::new();
        let first = compute(&mut graph, Unit::Tensor, 32, 34);
        let middle = compute(&mut graph, Unit::Special, 48, 50);
        let second = compute(&mut graph, Unit::Tensor, 32, 34);
        for (from, to, latency) in [(first, middle, 34), (middle, second, 50)] {
            graph.add_edge(
                from,
                to,
                Dep {
                    latency,
                    distance: 0,
                },
            );
        }
        let body = body(graph);
        assert_eq!(interval(&body.graph), 64);
        let times = times(&body, &body.program, 64).unwrap();
        check(&body, &times, 64);
        assert_eq!(times.time[&first], 0);
        assert_eq!(times.time[&middle], 34);
        // From 84 on its inputs are there, and from 96 on the tensor core is free: in the next turn's interval.
        assert_eq!(times.time[&second], 96);
    }

    #[test]
    fn an_interval_that_is_too_short_gives_nothing() {
        let mut graph = Graph::new();
        let a = compute(&mut graph, Unit::Tensor, 16, 34);
        graph.add_edge(
            a,
            a,
            Dep {
                latency: 34,
                distance: 1,
            },
        );
        let body = body(graph);
        assert!(times(&body, &body.program, 33).is_none());
        assert!(times(&body, &body.program, 34).is_some());
        assert!(times(&body, &body.program, 8).is_none());
    }

    #[test]
    fn what_is_used_late_is_made_late() {
        let mut graph = Graph::new();
        let early = compute(&mut graph, Unit::Arithmetic, 4, 4);
        let long = compute(&mut graph, Unit::Special, 8, 100);
        let last = compute(&mut graph, Unit::Arithmetic, 4, 4);
        graph.add_edge(
            early,
            last,
            Dep {
                latency: 4,
                distance: 0,
            },
        );
        graph.add_edge(
            long,
            last,
            Dep {
                latency: 100,
                distance: 0,
            },
        );
        let body = body(graph);
        let times = times(&body, &body.program, 16).unwrap();
        check(&body, &times, 16);
        assert!(times.time[&last] - times.time[&early] < 16 + 4);
    }
}
