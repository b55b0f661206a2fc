//! `cute-schedule`: the turn and the moment at which each operation of a loop runs, as a modulo schedule.
//!
//! Every `interval` cycles a turn starts: as many as the busiest unit of the multiprocessor needs for one turn, and as a value
//! needs on its way around the loop. What is computed stays in program order, or, where it is asked for, becomes an iterative
//! modulo schedule, so that the end of a turn overlaps with the start of the next one; that is taken where it is found in up to
//! twice the interval, spans two turns at most, and takes few more registers by estimate. Everything else is placed around what is
//! computed (`place.rs`). An operation at time t is in stage t / interval: it runs that many turns late.
//!
//! Where no schedule honours all dependences, operations stay as they are: a list schedule of one stage.
//!
//! Measurements of other places and orders: see `docs/performance/experiments.md`.

use super::{
    graph::{self, Body},
    place::{self, Computed},
    registers::registers,
    resources::interval,
};
use cute_ir::ops::scf;
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{ORDER, STAGE, STAGES},
    diag,
    mlir::*,
    options::Options,
};
use cute_target::Unit;
use melior::ir::operation::OperationLike;
use petgraph::{graph::NodeIndex, visit::EdgeRef};
use std::collections::HashMap;

cute_ir::options! {
    /// Options of `cute-schedule`.
    pub struct ScheduleOptions {
        overlap: bool = false, "false",
            "Whether what a turn computes may overlap with what the next one does, where registers allow: true or false";
    }
}

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-schedule",
    description: "Give each operation of a loop that is to be pipelined its stage and its order",
    anchor: Anchor::Kernel,
    options: ScheduleOptions::SPECS,
    run,
};

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, options: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::error(kernel.location(), format!("cute-schedule: {e}"));
    let ScheduleOptions { overlap } = ScheduleOptions::of(options).map_err(wrong)?;
    let loops = nested_ops(kernel).into_iter().filter_map(scf::For::of);
    for op in loops.collect::<Vec<_>>() {
        let Some(stages) = integer_of(op.op(), STAGES) else {
            continue;
        };
        remove_attribute(op.op(), STAGES);
        let body = op.region().expected(op.op(), "a body")?;
        let graph = graph::build(body);
        let schedule = schedule(&graph, stages, overlap);
        if stages > 1 && schedule.is_flat() {
            let why = "is to be pipelined, but nothing of it can run ahead of the rest: no buffer between two parts of a \
                       turn has places for several turns, and no load from global memory has an address that only \
                       depends on the turn; copy what a turn reads within it, or leave out cute.stages";
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

/// Schedules a body whose turns overlap by `stages` at most, what it computes by one more where it is to `overlap`.
pub(crate) fn schedule(body: &Body<'_>, stages: i64, overlap: bool) -> Schedule {
    let least = interval(&body.graph);
    let feeds = place::feeds(body);
    let nodes = place::computed(body, &feeds);
    let in_order = Computed::in_order(body, &nodes, least);
    let in_order = around(body, &feeds, &in_order, stages);
    if overlap
        && is_mixed(body, &nodes)
        && let Some(in_order) = &in_order
        && let Some(computed) = Computed::overlapped(body, &nodes, least)
        && let Some(overlapped) = around(body, &feeds, &computed, stages)
        && fits(registers(body, &overlapped), registers(body, in_order))
    {
        return overlapped;
    }
    in_order.unwrap_or_else(|| list(body))
}

/// Cycles of a turn that is longer than memory takes to answer when all multiprocessors load at once.
pub(crate) const LONG: i64 = 1500;

/// Registers by which loads that fill a ring by way of arithmetic may be earlier than their latency takes.
pub(crate) const HELD_AHEAD: i64 = 32;

/// Places everything else around what is computed, loads as early as registers allow.
fn around(
    body: &Body<'_>,
    feeds: &[NodeIndex],
    computed: &Computed,
    stages: i64,
) -> Option<Schedule> {
    let usual = place::around(body, feeds, computed, stages, 1)?;
    if !place::is_fed(body, feeds) || computed.interval >= LONG {
        return Some(usual);
    }
    let early = place::around(body, feeds, computed, stages, place::PATIENCE);
    let most = registers(body, &usual) + HELD_AHEAD;
    let early = early.filter(|early| registers(body, early) <= most);
    Some(early.unwrap_or(usual))
}

/// Tells whether more than one unit has work worth overlapping: in program order a unit that has nearly all of it is never idle.
fn is_mixed(body: &Body<'_>, nodes: &[NodeIndex]) -> bool {
    let mut cycles = [0i64; Unit::ALL.len()];
    for node in nodes {
        let node = &body.graph[*node];
        let at = Unit::ALL.iter().position(|unit| *unit == node.unit);
        if let Some(cycles) = at.and_then(|at| cycles.get_mut(at)) {
            *cycles = cycles.saturating_add(node.cycles);
        }
    }
    let total = cycles.iter().copied().fold(0, i64::saturating_add);
    let most = cycles.iter().copied().max().unwrap_or(0);
    most < total - total / 8
}

/// Registers more than in program order that every kernel has to spare.
const SPARE: i64 = 8;

/// Tells whether so many registers are few enough where program order needs so many: an eighth more at most, or a few.
fn fits(overlapped: i64, in_order: i64) -> bool {
    overlapped <= in_order + SPARE.max(in_order / 8)
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
    pub(super) fn honours(&self, body: &Body<'_>) -> bool {
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
    use super::super::graph::{Dep, Graph, Node, Ring, Role};
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
                    let schedule = schedule(&body, depth, false);
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
        let stages = stages_of(&body, &schedule(&body, 3, false), Role::Load);
        assert_eq!(stages[..4], [1, 1, 1, 1]);
        // The second slice is loaded beside the products of the first.
        assert_eq!(stages[4..], [2, 2, 2, 2]);
    }

    #[test]
    fn copies_stand_where_loads_leave_a_gap() {
        let body = body(2, 4, 8, 4, 3);
        let schedule = schedule(&body, 3, false);
        let is = |node: &&NodeIndex, role| body.graph[**node].role == role;
        let at = |role| {
            let order = schedule.order.iter().enumerate();
            let of = order.filter(move |(_, node)| is(node, role));
            of.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (copies, loads) = (at(Role::Copy), at(Role::Load));
        // All four together, behind the loads of one slice and before those of the next.
        assert_eq!(copies[3] - copies[0], 3);
        assert_eq!(loads.iter().filter(|at| **at < copies[0]).count(), 4);
    }

    #[test]
    fn an_interval_is_as_long_as_the_busiest_unit() {
        // 16 products of 16 cycles; 8 loads and 4 copies of 16.
        assert_eq!(interval(&body(2, 4, 8, 4, 3).graph), 256);
        // 16 copies make the way to memory the busiest.
        assert_eq!(interval(&body(2, 4, 8, 16, 3).graph), 384);
    }

    /// A product, a function of it, another product: 64, 80 and 64 cycles one after the other, of which the second product is added
    /// to that of the turn before.
    fn three_in_a_row() -> Body<'static> {
        let mut graph = Graph::new();
        let load = graph.add_node(node(Role::Fetch, Unit::Memory, 4, 500));
        let first = graph.add_node(node(Role::Compute, Unit::Tensor, 64, 80));
        let middle = graph.add_node(node(Role::Compute, Unit::Special, 80, 96));
        let second = graph.add_node(node(Role::Compute, Unit::Tensor, 64, 80));
        for (from, to, latency, distance) in [
            (load, first, 500, 0),
            (first, middle, 80, 0),
            (middle, second, 96, 0),
            (second, second, 80, 1),
        ] {
            graph.add_edge(from, to, Dep { latency, distance });
        }
        Body {
            graph,
            rings: Vec::new(),
            program: vec![load, first, middle, second],
        }
    }

    #[test]
    fn what_is_computed_overlaps_where_it_is_asked_for() {
        let body = three_in_a_row();
        let stages = |overlap| {
            let schedule = schedule(&body, 2, overlap);
            assert!(schedule.honours(&body));
            stages_of(&body, &schedule, Role::Compute)
        };
        assert_eq!(stages(false), [1, 1, 1]);
        assert_eq!(stages(true), [1, 1, 2]);
    }

    #[test]
    fn products_alone_stay_in_program_order() {
        for overlap in [false, true] {
            let body = body(2, 4, 8, 4, 3);
            let schedule = schedule(&body, 3, overlap);
            let products = |nodes: &[NodeIndex]| {
                let products = nodes.iter().copied();
                products
                    .filter(|node| body.graph[*node].role == Role::Compute)
                    .collect::<Vec<_>>()
            };
            assert_eq!(products(&schedule.order), products(&body.program));
        }
    }

    #[test]
    fn few_more_registers_are_allowed() {
        assert!(fits(18, 10));
        assert!(!fits(19, 10));
        assert!(fits(180, 160));
        assert!(!fits(181, 160));
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
        let schedule = schedule(&body, 3, false);
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
            let schedule = schedule(&body, stages, false);
            assert_eq!(
                schedule.stage[&sum] - schedule.stage[&load],
                ahead,
                "{stages}"
            );
        }
    }
}
