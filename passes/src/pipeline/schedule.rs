//! `cute-schedule`: the turn and the moment at which each operation of a loop runs, as a modulo schedule.
//!
//! Every `interval` cycles a turn starts: as many as the busiest unit of the multiprocessor needs for one turn, and as a value
//! needs on its way around the loop. What is computed sets the pace, in program order. Loads from a ring stand as long before
//! their first use as the slice before it is computed, so that there are two sets of fragments and no more, each where the way
//! to memory is free; stores into a ring just before it is waited for; asynchronous copies as early as the ring has room, which
//! hides as much of memory's latency as there are places for; loads from global memory early enough for their latency, as far as
//! the stages of the loop go. An operation at time t is in stage t / interval: it runs that many turns late.
//!
//! Where no schedule honours all dependences, operations stay as they are: a list schedule of one stage.
//!
//! Other places for loads and copies were measured: see `docs/performance.md`.

use super::graph::{self, Body, Dep, Graph, Role};
use cute_ir::ops::scf;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{ORDER, STAGE, STAGES},
    diag,
    mlir::*,
};
use cute_target::Unit;
use melior::ir::operation::OperationLike;
use petgraph::{
    Direction,
    algo::toposort,
    graph::NodeIndex,
    visit::{EdgeFiltered, EdgeRef},
};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-schedule",
    description: "Give each operation of a loop that is to be pipelined its stage and its order",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let loops = nested_ops(kernel).into_iter().filter_map(scf::For::of);
    for op in loops.collect::<Vec<_>>() {
        let Some(stages) = integer_of(op.op(), STAGES) else {
            continue;
        };
        remove_attribute(op.op(), STAGES);
        let body = op.region().expected(op.op(), "a body")?;
        let graph = graph::build(body);
        let schedule = schedule(&graph, stages);
        if stages > 1 && schedule.is_flat() {
            let why = "is to be pipelined, but nothing of it can run ahead of the rest: no buffer between two parts of a \
                       turn has places for several turns, and no load from global memory has an address that only \
                       depends on the turn";
            diag::warning(op.op().location(), format!("'scf.for' op {why}"), &[]);
            continue;
        }
        for (place, node) in schedule.order.iter().enumerate() {
            let op = graph.graph[*node]
                .op
                .expected(op.op(), "the op of a node")?;
            let b = Builder::before(op);
            set_attribute(op, STAGE, b.integer(b.i32_type(), schedule.stage[node]));
            set_attribute(op, ORDER, b.integer(b.i32_type(), place as i64));
        }
    }
    Ok(())
}

/// A schedule: for each node of the graph its stage, and its place within the interval.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub stage: HashMap<NodeIndex, i64>,
    /// Nodes in the order in which they run within an interval.
    pub order: Vec<NodeIndex>,
}

/// Schedules a body whose turns overlap by `stages` at most.
pub(crate) fn schedule(body: &Body<'_>, stages: i64) -> Schedule {
    let interval = interval(&body.graph);
    let paced = Pace::of(body, interval);
    // A slice is loaded while the one before it is multiplied: half of the latency would do for one warp, but all warps load at
    // once. One load's time more lets ptxas do with fewer registers. Where a ring of two leaves no room for that, later.
    let latency = paced.most(body, |node| node.latency);
    let apart = paced.most(body, |node| node.cycles);
    let slice = latency.max(paced.slice);
    [slice + apart, slice, slice / 2, latency, 0]
        .into_iter()
        .find_map(|lead| place(body, stages, interval, &paced, lead))
        .unwrap_or_else(|| list(body))
}

/// The least cycles from a turn to the next: what the busiest unit takes, and what a chain of dependences around the loop does.
pub(super) fn interval(graph: &Graph<'_>) -> i64 {
    let busy = |unit| {
        let nodes = graph.node_weights().filter(|node| node.unit == unit);
        nodes.map(|node| node.cycles).sum::<i64>()
    };
    let nodes = graph.node_count() as i64;
    let resources = Unit::ALL
        .into_iter()
        .map(busy)
        .max()
        .unwrap_or(0)
        .max(nodes)
        .max(1);
    if !is_too_short(graph, resources) {
        return resources;
    }
    let (mut short, mut long) = (resources, resources * 2);
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

/// What a turn computes, spread over the interval in program order.
struct Pace {
    time: HashMap<NodeIndex, i64>,
    /// Nodes that only prepare what is stored into a ring.
    feeds: Vec<NodeIndex>,
    /// Cycles that one slice takes: the operations that start the chains of those that add to one another.
    slice: i64,
}

impl Pace {
    fn of(body: &Body<'_>, interval: i64) -> Pace {
        let graph = &body.graph;
        let mut feeds: Vec<NodeIndex> = Vec::new();
        for node in body.program.iter().rev() {
            let pure = graph[*node]
                .op
                .is_some_and(|op| is_pure(op) && op.region_count() == 0);
            let mut users = graph.edges(*node).peekable();
            let fed = users.peek().is_some()
                && users.all(|edge| {
                    let to = edge.target();
                    edge.weight().distance == 0
                        && (graph[to].role == Role::Fill || feeds.contains(&to))
                });
            if graph[*node].role == Role::Compute && pure && fed {
                feeds.push(*node);
            }
        }
        let computed: Vec<NodeIndex> = body
            .program
            .iter()
            .copied()
            .filter(|node| graph[*node].role == Role::Compute && !feeds.contains(node))
            .collect();
        let weight = |node: &NodeIndex| graph[*node].cycles;
        let total = computed.iter().map(weight).sum::<i64>().max(1);
        let mut time = HashMap::new();
        let mut now = 0;
        let mut slice = 0;
        for node in &computed {
            time.insert(*node, now);
            let span = weight(node) * interval / total;
            let chained = graph
                .edges_directed(*node, Direction::Incoming)
                .any(|edge| {
                    graph[edge.source()].role == Role::Compute && edge.weight().distance == 0
                });
            if !chained {
                slice += span;
            }
            now += span;
        }
        Pace {
            time,
            feeds,
            slice: if slice == 0 { interval } else { slice },
        }
    }

    /// The most of something that a load from a ring has.
    fn most(&self, body: &Body<'_>, of: impl Fn(&graph::Node<'_>) -> i64) -> i64 {
        let loads = body
            .graph
            .node_weights()
            .filter(|node| node.role == Role::Load);
        loads.map(of).max().unwrap_or(0)
    }
}

/// The cycles of an interval in which a unit is taken.
struct Reservation {
    taken: Vec<bool>,
}

impl Reservation {
    /// The first time from `at` on at which the unit is free for so many cycles; `at` where it never is.
    fn reserve(&mut self, at: i64, cycles: i64) -> i64 {
        let interval = self.taken.len() as i64;
        let slot = |time: i64| time.rem_euclid(interval) as usize;
        let is_free = |start: &i64| (0..cycles).all(|i| !self.taken[slot(start + i)]);
        let found = (at..at + interval).find(|start| cycles <= interval && is_free(start));
        let start = found.unwrap_or(at);
        for i in 0..cycles.min(interval) {
            self.taken[slot(start + i)] = true;
        }
        start
    }
}

/// Places everything, the loads `lead` before their first use; nothing where a dependence cannot be honoured.
fn place(body: &Body<'_>, stages: i64, interval: i64, pace: &Pace, lead: i64) -> Option<Schedule> {
    let graph = &body.graph;
    let within = EdgeFiltered::from_fn(graph, |edge| edge.weight().distance == 0);
    let rank: HashMap<NodeIndex, usize> = toposort(&within, None)
        .ok()?
        .into_iter()
        .enumerate()
        .map(|(i, node)| (node, i))
        .collect();
    let mut time = pace.time.clone();
    let mut memory = Reservation {
        taken: vec![false; interval as usize],
    };

    // The time at which a node's results are first used.
    let first_use = |node: NodeIndex, time: &HashMap<NodeIndex, i64>| {
        let uses = graph
            .edges(node)
            .filter_map(|edge| Some(time.get(&edge.target())? + edge.weight().distance * interval));
        uses.min()
    };
    let of_role = |role| {
        body.program
            .iter()
            .copied()
            .filter(move |node| graph[*node].role == role)
    };

    // Loads, one after the other, from a slice before their first use on.
    let mut wanted: Vec<(i64, NodeIndex)> = of_role(Role::Load)
        .map(|load| (first_use(load, &time).unwrap_or(0) - lead, load))
        .collect();
    wanted.sort_by_key(|(at, load)| (*at, rank[load]));
    let mut earliest = i64::MIN;
    for (at, load) in wanted {
        let at = memory.reserve(at.max(earliest), graph[load].cycles);
        time.insert(load, at);
        earliest = at + graph[load].cycles;
    }

    for ring in &body.rings {
        let readers = || {
            let edges = graph
                .edges(ring.wait)
                .filter(|edge| edge.weight().distance == 0);
            edges.filter_map(|edge| time.get(&edge.target()).copied())
        };
        let wait = readers().min().unwrap_or(0);
        let release = readers().max().unwrap_or(0).max(wait);
        time.insert(ring.wait, wait);
        time.insert(ring.release, release);

        // As many intervals before the last read as there are places beyond the one in use, copies all at once: what they cost
        // is latency, and spread out they stand in the way of the loads.
        let start = (release.max(0).div_euclid(interval) - (ring.depth - 1)) * interval;
        let filling = |role| {
            let edges = graph.edges(ring.acquire);
            let mut all: Vec<_> = edges
                .map(|edge| edge.target())
                .filter(|node| graph[*node].role == role)
                .collect();
            all.sort_by_key(|node| rank[node]);
            all.dedup();
            all
        };
        let (copies, fills) = (filling(Role::Copy), filling(Role::Fill));
        let cycles = fills
            .iter()
            .map(|node| graph[*node].cycles.max(1))
            .sum::<i64>();
        let mut now = (wait - 1 - cycles).max(start);
        let first = if copies.is_empty() { now } else { start };
        let mut last = start;
        for copy in copies {
            time.insert(copy, start);
        }
        for fill in fills {
            time.insert(fill, now);
            last = now;
            now += graph[fill].cycles.max(1);
        }
        time.insert(ring.acquire, first);
        time.insert(ring.commit, last);
    }

    // What prepares a store runs with it.
    for node in &pace.feeds {
        let at = first_use(*node, &time).unwrap_or(0);
        time.insert(*node, at);
    }
    let earliest = -(stages - 1) * interval;
    for node in of_role(Role::Fetch) {
        let used = first_use(node, &time).unwrap_or(0);
        let at = (used - graph[node].latency).div_euclid(interval) * interval;
        time.insert(node, at.max(earliest));
    }
    // Events of a pipeline that a turn does not go through whole, and what else has no place yet, stay where they are.
    if body.program.iter().any(|node| !time.contains_key(node)) {
        return None;
    }

    // Stages from the earliest interval on.
    let origin = time
        .values()
        .map(|t| t.div_euclid(interval))
        .min()
        .unwrap_or(0)
        * interval;
    let stage: HashMap<_, _> = time
        .iter()
        .map(|(node, t)| (*node, (t - origin).div_euclid(interval)))
        .collect();
    let mut order: Vec<NodeIndex> = graph.node_indices().collect();
    // At one time a place is waited for before another is acquired: the wait's barrier frees it.
    let tie = |node: &NodeIndex| (graph[*node].role != Role::Wait, rank[node]);
    order.sort_by_key(|node| ((time[node] - origin).rem_euclid(interval), tie(node)));
    let schedule = Schedule { stage, order };
    schedule.honours(body).then_some(schedule)
}

/// The operations in program order, none of them ahead of the turn.
fn list(body: &Body<'_>) -> Schedule {
    Schedule {
        stage: body.program.iter().map(|node| (*node, 0)).collect(),
        order: body.program.clone(),
    }
}

impl Schedule {
    /// Tells whether every dependence is honoured by the order in which things are issued.
    fn honours(&self, body: &Body<'_>) -> bool {
        let place: HashMap<_, _> = self
            .order
            .iter()
            .enumerate()
            .map(|(i, node)| (*node, i as i64))
            .collect();
        let length = self.order.len() as i64;
        body.graph.edge_references().all(|edge| {
            let at = |node| self.stage[&node] * length + place[&node];
            at(edge.source()) < at(edge.target()) + edge.weight().distance * length
        })
    }

    /// Tells whether all operations are of one stage.
    pub(crate) fn is_flat(&self) -> bool {
        self.stage.values().all(|stage| *stage == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Node, Ring};
    use super::*;

    fn node(role: Role, unit: Unit, cycles: i64, latency: i64) -> Node<'static> {
        Node {
            role,
            op: None,
            unit,
            cycles,
            latency,
            ring: None,
        }
    }

    /// `slices` slices of K with `loads` loads and `mmas` products each, into the same accumulators, through a ring.
    fn body(slices: usize, loads: usize, mmas: usize, copies: usize, depth: i64) -> Body<'static> {
        let mut graph = Graph::new();
        let event =
            |graph: &mut Graph<'static>, role| graph.add_node(node(role, Unit::Issue, 0, 0));
        let many = |graph: &mut Graph<'static>, count, made: Node<'static>| {
            (0..count).map(|_| graph.add_node(made)).collect::<Vec<_>>()
        };
        let acquire = event(&mut graph, Role::Acquire);
        let commit = event(&mut graph, Role::Commit);
        let wait = event(&mut graph, Role::Wait);
        let release = event(&mut graph, Role::Release);
        let all_copies = many(&mut graph, copies, node(Role::Copy, Unit::Memory, 16, 500));
        let all_loads = many(
            &mut graph,
            slices * loads,
            node(Role::Load, Unit::Memory, 16, 33),
        );
        let all_mmas = many(
            &mut graph,
            slices * mmas,
            node(Role::Compute, Unit::Tensor, 16, 34),
        );
        let mut edge = |a, b, latency, distance| {
            graph.add_edge(a, b, Dep { latency, distance });
        };
        for copy in &all_copies {
            edge(acquire, *copy, 0, 0);
            edge(*copy, commit, 0, 0);
        }
        edge(commit, wait, 0, 0);
        edge(release, acquire, 0, depth);
        for s in 0..slices {
            for load in &all_loads[s * loads..][..loads] {
                edge(wait, *load, 0, 0);
                edge(*load, release, 0, 0);
                for mma in &all_mmas[s * mmas..][..mmas] {
                    edge(*load, *mma, 33, 0);
                }
            }
            for m in 0..mmas {
                let previous = if s == 0 {
                    (slices - 1) * mmas
                } else {
                    (s - 1) * mmas
                };
                let around = i64::from(s == 0);
                edge(all_mmas[previous + m], all_mmas[s * mmas + m], 34, around);
            }
        }
        let program = [
            vec![acquire],
            all_copies,
            vec![commit, wait],
            all_loads,
            vec![release],
            all_mmas,
        ];
        Body {
            graph,
            rings: vec![Ring {
                depth,
                acquire,
                commit,
                wait,
                release,
            }],
            program: program.concat(),
        }
    }

    fn stages_of(body: &Body<'_>, schedule: &Schedule, role: Role) -> Vec<i64> {
        let nodes = body
            .program
            .iter()
            .filter(|node| body.graph[**node].role == role);
        nodes.map(|node| schedule.stage[node]).collect()
    }

    #[test]
    fn schedules_honour_dependences_and_use_the_ring() {
        for slices in 1..=4 {
            for depth in 2..=5 {
                for (copies, loads, mmas) in
                    [(1, 4, 8), (2, 4, 8), (8, 4, 8), (16, 4, 8), (10, 6, 10)]
                {
                    let body = body(slices, loads, mmas, copies, depth);
                    let schedule = schedule(&body, depth);
                    assert!(schedule.honours(&body));
                    let first = stages_of(&body, &schedule, Role::Acquire)[0];
                    assert_eq!(first, 0, "{slices} {depth}");
                    let products = stages_of(&body, &schedule, Role::Compute);
                    assert!(
                        products.iter().all(|stage| *stage == depth - 1),
                        "{slices} {depth}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_first_slice_is_loaded_an_iteration_ahead() {
        let body = body(2, 4, 8, 4, 3);
        let stages = stages_of(&body, &schedule(&body, 3), Role::Load);
        assert_eq!(stages[..4], [1, 1, 1, 1]);
        // The second slice is loaded beside the products of the first, but for a load's time.
        assert_eq!(stages[4..].iter().filter(|stage| **stage == 2).count(), 3);
    }

    #[test]
    fn an_interval_is_as_long_as_the_busiest_unit_and_the_longest_way_around() {
        // 16 products of 16 cycles; 8 loads and 4 copies of 16.
        assert_eq!(interval(&body(2, 4, 8, 4, 3).graph), 256);
        // 16 copies make the way to memory the busiest.
        assert_eq!(interval(&body(2, 4, 8, 16, 3).graph), 384);
        // Two products one after the other, 300 cycles each until the result may be used.
        let mut graph = Graph::new();
        let a = graph.add_node(node(Role::Compute, Unit::Tensor, 16, 300));
        let b = graph.add_node(node(Role::Compute, Unit::Tensor, 16, 300));
        graph.add_edge(
            a,
            b,
            Dep {
                latency: 300,
                distance: 0,
            },
        );
        graph.add_edge(
            b,
            a,
            Dep {
                latency: 300,
                distance: 1,
            },
        );
        assert_eq!(interval(&graph), 600);
        // Two turns to go around.
        graph.add_edge(
            b,
            a,
            Dep {
                latency: 0,
                distance: 2,
            },
        );
        assert_eq!(interval(&graph), 600);
    }

    #[test]
    fn a_unit_is_reserved_once_in_an_interval() {
        let mut unit = Reservation {
            taken: vec![false; 8],
        };
        assert_eq!(unit.reserve(6, 4), 6);
        // 6, 7, 0 and 1 are taken, of every interval.
        assert_eq!(unit.reserve(8, 2), 10);
        assert_eq!(unit.reserve(-2, 2), 4);
        // Nothing is free any more.
        assert_eq!(unit.reserve(3, 1), 3);
    }

    #[test]
    fn what_no_ring_feeds_stays_in_program_order() {
        let mut graph = Graph::new();
        let load = graph.add_node(node(Role::Compute, Unit::Memory, 4, 500));
        let store = graph.add_node(node(Role::Compute, Unit::Memory, 4, 0));
        graph.add_edge(
            load,
            store,
            Dep {
                latency: 500,
                distance: 0,
            },
        );
        graph.add_edge(
            store,
            load,
            Dep {
                latency: 0,
                distance: 1,
            },
        );
        let body = Body {
            graph,
            rings: Vec::new(),
            program: vec![load, store],
        };
        let schedule = schedule(&body, 3);
        assert!(schedule.is_flat());
        assert_eq!(schedule.order, [load, store]);
    }

    #[test]
    fn loads_from_global_memory_run_ahead_as_far_as_stages_go() {
        for (stages, ahead) in [(1, 0), (2, 1), (3, 2)] {
            let mut graph = Graph::new();
            let load = graph.add_node(node(Role::Fetch, Unit::Memory, 4, 500));
            let sum = graph.add_node(node(Role::Compute, Unit::Arithmetic, 300, 4));
            graph.add_edge(
                load,
                sum,
                Dep {
                    latency: 500,
                    distance: 0,
                },
            );
            let body = Body {
                graph,
                rings: Vec::new(),
                program: vec![load, sum],
            };
            let schedule = schedule(&body, stages);
            assert_eq!(
                schedule.stage[&sum] - schedule.stage[&load],
                ahead,
                "{stages}"
            );
        }
    }
}
