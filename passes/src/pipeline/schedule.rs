//! The time at which each operation of a loop body runs: a modulo schedule.
//!
//! Every `interval` cycles an iteration starts. The products set the pace; the loads of a slice of
//! K start just before the products of the slice before it, so that there are two sets of fragments and
//! no more; the copies start as early as the ring of buffers allows, which hides as much of
//! memory's latency as there are buffers for. An operation at time t is in stage t / interval: it
//! runs that many iterations late.
//!
//! Other places for loads and copies were measured: see `docs/performance.md`.

use super::graph::{Body, Dep, Kind, Machine};
use petgraph::{
    algo::toposort,
    graph::NodeIndex,
    visit::{EdgeFiltered, EdgeRef},
};
use std::collections::HashMap;

/// A schedule: for each node of the graph its stage, and its place within the interval.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub stage: HashMap<NodeIndex, i64>,
    /// Nodes in the order in which they run within an interval.
    pub order: Vec<NodeIndex>,
}

/// Schedules a body for a ring of `stages` buffers.
///
/// # Errors
/// A dependence that the schedule cannot honour, which a graph of [`super::graph::build`] has not.
pub(crate) fn schedule(body: &Body, stages: i64, machine: &Machine) -> Result<Schedule, String> {
    let count = |nodes: &[NodeIndex]| nodes.len() as i64;
    let interval = (count(&body.mmas) * machine.mma_issue)
        .max((count(&body.loads) + count(&body.copies)) * machine.load_issue);
    let spacing = interval / count(&body.mmas);
    // A slice of K is loaded while the one before it is multiplied: half of the latency would do
    // for one warp, but all warps load at once. One load's time more lets ptxas do with fewer
    // registers. Where a ring of two leaves no room for that, later.
    let slice = machine.load_latency.max(slice(body, spacing, interval));
    let mut result = Err("no schedule".to_owned());
    for lead in [
        slice + machine.load_issue,
        slice,
        slice / 2,
        machine.load_latency,
        0,
    ] {
        result = place(body, stages, interval, lead, machine.load_issue);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Places everything, the loads `lead` before their first use and `apart` from each other.
fn place(
    body: &Body,
    stages: i64,
    interval: i64,
    lead: i64,
    apart: i64,
) -> Result<Schedule, String> {
    let count = |nodes: &[NodeIndex]| nodes.len() as i64;
    let graph = &body.graph;
    let within = EdgeFiltered::from_fn(graph, |edge| edge.weight().distance == 0);
    let rank: HashMap<NodeIndex, usize> = toposort(&within, None)
        .map_err(|_| "the loop body depends on itself within one iteration".to_owned())?
        .into_iter()
        .enumerate()
        .map(|(i, node)| (node, i))
        .collect();

    let mut time: HashMap<NodeIndex, i64> = HashMap::new();

    // Products, in program order, from 0.
    let spacing = interval / count(&body.mmas);
    for (i, mma) in body.mmas.iter().enumerate() {
        time.insert(*mma, i as i64 * spacing);
    }

    // Loads, one after the other, from a slice before their first use on.
    let mut wanted: Vec<(i64, NodeIndex)> = body
        .loads
        .iter()
        .map(|load| {
            let first = graph
                .edges(*load)
                .filter(|edge| graph[edge.target()].kind == Kind::Mma)
                .map(|edge| time[&edge.target()] + edge.weight().distance * interval)
                .min();
            (first.unwrap_or(0) - lead, *load)
        })
        .collect();
    wanted.sort_by_key(|(at, load)| (*at, rank[load]));
    let mut earliest = i64::MIN;
    for (at, load) in wanted {
        let at = at.max(earliest);
        time.insert(load, at);
        earliest = at + apart;
    }
    let first_load = body.loads.iter().map(|l| time[l]).min().unwrap_or(0);
    let last_load = body.loads.iter().map(|l| time[l]).max().unwrap_or(0);
    time.insert(body.wait, first_load);
    time.insert(body.release, last_load);

    // Copies: as many intervals before the products as there are buffers beyond the one in use,
    // all at once: what they cost is latency, and spread out they stand in the way of the loads.
    let start = -(stages - 1) * interval;
    time.insert(body.acquire, start);
    for copy in &body.copies {
        time.insert(*copy, start);
    }
    let last_copy = body.copies.iter().map(|c| time[c]).max().unwrap_or(start);
    time.insert(body.commit, last_copy);

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
    // At one time a buffer is waited for before another is acquired: the wait's barrier frees it.
    let tie = |node: &NodeIndex| (graph[*node].kind != Kind::Wait, rank[node]);
    order.sort_by_key(|node| ((time[node] - origin).rem_euclid(interval), tie(node)));

    let result = Schedule { stage, order };
    result.check(body)?;
    Ok(result)
}

/// The products that one slice of K takes, in cycles: those between the first uses of loads that
/// are used first together.
fn slice(body: &Body, spacing: i64, interval: i64) -> i64 {
    // Each accumulator gets one product a slice.
    let chained = body
        .mmas
        .iter()
        .filter(|mma| {
            body.graph
                .edges_directed(**mma, petgraph::Direction::Incoming)
                .any(|e| body.graph[e.source()].kind == Kind::Mma && e.weight().distance == 0)
        })
        .count();
    let first = body.mmas.len() - chained;
    if first == 0 {
        interval
    } else {
        first as i64 * spacing
    }
}

impl Schedule {
    /// Every dependence is honoured by the order in which things are issued.
    fn check(&self, body: &Body) -> Result<(), String> {
        let place: HashMap<_, _> = self
            .order
            .iter()
            .enumerate()
            .map(|(i, node)| (*node, i as i64))
            .collect();
        let length = self.order.len() as i64;
        for edge in body.graph.edge_references() {
            let at = |node| self.stage[&node] * length + place[&node];
            let Dep { distance, .. } = *edge.weight();
            if at(edge.source()) >= at(edge.target()) + distance * length {
                return Err(format!(
                    "the schedule runs {:?} before {:?}, which it depends on",
                    body.graph[edge.target()].kind,
                    body.graph[edge.source()].kind
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{super::graph::*, *};

    /// `slices` slices of K with `loads` loads and `mmas` products each, into the same accumulators.
    fn body(slices: usize, loads: usize, mmas: usize, copies: usize, stages: i64) -> Body<'static> {
        let mut graph = Graph::new();
        let mut node = |kind| graph.add_node(Node { kind, op: None });
        let (acquire, commit) = (node(Kind::Acquire), node(Kind::Commit));
        let (wait, release) = (node(Kind::Wait), node(Kind::Release));
        let all_copies: Vec<_> = (0..copies).map(|_| node(Kind::Copy)).collect();
        let all_loads: Vec<_> = (0..slices * loads).map(|_| node(Kind::Load)).collect();
        let all_mmas: Vec<_> = (0..slices * mmas).map(|_| node(Kind::Mma)).collect();
        let mut edge = |a, b, latency, distance| graph.add_edge(a, b, Dep { latency, distance });
        for copy in &all_copies {
            edge(acquire, *copy, 0, 0);
            edge(*copy, commit, 0, 0);
        }
        edge(commit, wait, 0, 0);
        edge(release, acquire, 0, stages);
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
                edge(
                    all_mmas[previous + m],
                    all_mmas[s * mmas + m],
                    34,
                    i64::from(s == 0),
                );
            }
        }
        Body {
            graph,
            buffers: Vec::new(),
            acquire,
            commit,
            wait,
            release,
            copies: all_copies,
            loads: all_loads,
            mmas: all_mmas,
        }
    }

    #[test]
    fn schedules_honour_dependences_and_use_the_ring() {
        for slices in 1..=4 {
            for stages in 2..=5 {
                for (copies, loads, mmas) in
                    [(1, 4, 8), (2, 4, 8), (8, 4, 8), (16, 4, 8), (10, 6, 10)]
                {
                    let body = body(slices, loads, mmas, copies, stages);
                    let schedule = schedule(&body, stages, &MACHINE).unwrap();
                    assert_eq!(schedule.stage[&body.acquire], 0, "{slices} {stages}");
                    assert_eq!(
                        schedule.stage[&body.mmas[0]],
                        stages - 1,
                        "{slices} {stages}"
                    );
                    let depth = schedule.stage.values().max().map(|last| last + 1);
                    assert_eq!(depth, Some(stages), "{slices} {stages} {copies}");
                }
            }
        }
    }

    #[test]
    fn the_first_slice_is_loaded_an_iteration_ahead() {
        let body = body(2, 4, 8, 4, 3);
        let schedule = schedule(&body, 3, &MACHINE).unwrap();
        let stages: Vec<_> = body.loads.iter().map(|load| schedule.stage[load]).collect();
        assert_eq!(stages[..4], [1, 1, 1, 1]);
        // The second slice is loaded beside the products of the first, but for a load's time.
        assert_eq!(stages[4..].iter().filter(|stage| **stage == 2).count(), 3);
    }
}
