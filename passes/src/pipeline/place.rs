//! The times of a loop's operations around what it computes.
//!
//! Arithmetic sets the pace. Loads from a ring stand a slice before their first use, so that there are two sets of
//! fragments and no more: those that are used together are loaded together, one behind the other as the way to memory is free;
//! those that are used one after the other each on its own, as are all where loads leave nearly no gap. Stores into a ring stand
//! just before it is waited for; asynchronous copies as early as the ring has room, which hides as much of memory's latency as
//! there are places for, all at once, where loads leave the way to memory free; loads from global memory early enough for their
//! latency, as far as the stages of the loop go. What a ring is filled with by way of arithmetic takes the place of asynchronous copies:
//! where registers allow, it is loaded as much earlier as memory takes when all multiprocessors load at once.

use super::{
    graph::{self, Body, Node, Role},
    modulo,
    resources::Reservations,
    schedule::Schedule,
};
use cute_ir::{mlir::is_pure, ops::cute};
use melior::ir::operation::OperationLike;
use petgraph::{
    Direction,
    algo::toposort,
    graph::NodeIndex,
    visit::{EdgeFiltered, EdgeRef},
};
use std::{cmp::Reverse, collections::HashMap};

/// The times of what a turn computes, and what is taken by it.
#[derive(Clone)]
pub(super) struct Computed {
    pub(super) interval: i64,
    pub(super) time: HashMap<NodeIndex, i64>,
    pub(super) units: Reservations,
    /// Cycles that one slice takes: the operations that start the chains of those that add to one another.
    slice: i64,
    /// It spans more than one turn.
    overlaps: bool,
}

/// The nodes that only prepare what is stored into a ring, users first.
pub(super) fn feeds(body: &Body<'_>) -> Vec<NodeIndex> {
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
                edge.weight().distance == 0 && (graph[to].role == Role::Fill || feeds.contains(&to))
            });
        if graph[*node].role == Role::Compute && pure && fed {
            feeds.push(*node);
        }
    }
    feeds
}

/// Tells whether arithmetic on what a node loads fills a ring.
fn is_fed_by(body: &Body<'_>, feeds: &[NodeIndex], node: NodeIndex) -> bool {
    let mut users = body.graph.edges(node);
    users.any(|edge| feeds.contains(&edge.target()))
}

/// Tells whether a turn fills a ring by way of arithmetic on what it loads from global memory, and loads all of that without a
/// predicate, which takes registers of its own for as long as it is ahead.
pub(super) fn is_fed(body: &Body<'_>, feeds: &[NodeIndex]) -> bool {
    let nodes = body.program.iter();
    let mut fetches = nodes
        .filter(|node| body.graph[**node].role == Role::Fetch && is_fed_by(body, feeds, **node))
        .peekable();
    let is_always = |node: &NodeIndex| {
        let load = body.graph[*node].op.and_then(cute::AtomLoad::of);
        load.is_none_or(|load| load.predicate().is_none())
    };
    fetches.peek().is_some() && fetches.all(is_always)
}

/// The operations that a turn computes, in program order.
pub(super) fn computed(body: &Body<'_>, feeds: &[NodeIndex]) -> Vec<NodeIndex> {
    let nodes = body.program.iter().copied();
    let computed = nodes.filter(|node| body.graph[*node].role == Role::Compute);
    computed.filter(|node| !feeds.contains(node)).collect()
}

impl Computed {
    /// The operations that a turn computes, spread over the interval in program order. Other warps fill what the units have left then, so that
    /// nothing of them is taken.
    pub(super) fn in_order(body: &Body<'_>, nodes: &[NodeIndex], interval: i64) -> Self {
        let graph = &body.graph;
        let weight = |node: &NodeIndex| graph[*node].cycles;
        let total = nodes.iter().map(weight).sum::<i64>().max(1);
        let mut time = HashMap::new();
        let mut now = 0;
        for node in nodes {
            // What costs nothing and stands behind the last that does is of the same turn.
            time.insert(*node, now.min(interval - 1));
            now += span(weight(node), interval, total);
        }
        Self {
            interval,
            time,
            units: Reservations::new(interval),
            slice: slice(body, nodes, interval, total),
            overlaps: false,
        }
    }
}

/// The intervals that are tried for a modulo schedule, beside the least one.
const TRIES: i64 = 16;

/// The turns over which what is computed may be spread.
const TURNS: i64 = 2;

impl Computed {
    /// The operations that a turn computes, as a modulo schedule: each operation with its units to itself, so that a turn's end overlaps with
    /// the start of the next one. Nothing where no interval of up to twice `least` cycles is found, or where nothing overlaps.
    pub(super) fn overlapped(body: &Body<'_>, nodes: &[NodeIndex], least: i64) -> Option<Self> {
        let step = (least / TRIES).max(1);
        let intervals = (0..=TRIES).map(|i| least + i * step);
        let (interval, times) = intervals
            .filter_map(|interval| Some((interval, modulo::times(body, nodes, interval)?)))
            .find(|(interval, times)| times.turns(*interval) <= TURNS)?;
        (times.turns(interval) > 1).then(|| Self {
            interval,
            slice: slice(body, nodes, interval, interval),
            overlaps: true,
            time: times.time,
            units: times.units,
        })
    }
}

/// The part of an interval that cycles out of a total have.
fn span(cycles: i64, interval: i64, total: i64) -> i64 {
    let span = i128::from(cycles) * i128::from(interval) / i128::from(total);
    i64::try_from(span).unwrap_or(i64::MAX)
}

fn slice(body: &Body<'_>, nodes: &[NodeIndex], interval: i64, total: i64) -> i64 {
    let graph = &body.graph;
    let starts = nodes.iter().filter(|node| {
        let mut before = graph.edges_directed(**node, Direction::Incoming);
        !before
            .any(|edge| graph[edge.source()].role == Role::Compute && edge.weight().distance == 0)
    });
    let cycles = starts.map(|node| span(graph[*node].cycles, interval, total));
    match cycles.sum() {
        0 => interval,
        slice => slice,
    }
}

/// Latencies of memory for which a load is ahead of the arithmetic by which it fills a ring, where all multiprocessors load at once.
pub(super) const PATIENCE: i64 = 3;

/// Places everything else, as far ahead of what is computed as a first attempt that honours all dependences does; nothing where
/// none does. Loads that fill a ring by way of arithmetic are so many latencies ahead.
pub(super) fn around(
    body: &Body<'_>,
    feeds: &[NodeIndex],
    computed: &Computed,
    stages: i64,
    patience: i64,
) -> Option<Schedule> {
    let loads = || {
        let nodes = body.graph.node_weights();
        nodes.filter(|node| node.role == Role::Load)
    };
    let latency = loads().map(|node| node.latency).max().unwrap_or(0);
    let longest = loads().map(|node| node.cycles).max().unwrap_or(0);
    let total = loads().fold(0, |total, node| node.cycles.saturating_add(total));
    // A slice is loaded while the one before it is multiplied: half of the latency would do for one warp, but all warps load at
    // once. Where loads leave nearly no gap, one that is late does not catch up: one load's time more. Where a ring of two leaves
    // no room for that, later.
    let slice = latency.max(computed.slice);
    let crowded = total >= computed.interval - computed.interval / 8;
    let more = if crowded { longest } else { 0 };
    let leads = [slice + more, slice, slice / 2, latency, 0];
    let placed = |lead, reserves| {
        let place = Place::new(body, computed.clone(), crowded)?;
        let ahead = Ahead {
            stages,
            lead,
            patience,
        };
        Place { reserves, ..place }.all(feeds, ahead)
    };
    let found = leads.into_iter().find_map(|lead| placed(lead, true));
    // Where loads fill the way to memory, gaps between them may be too short for others: which of them waits is then the
    // hardware's to say.
    found.or_else(|| leads.into_iter().find_map(|lead| placed(lead, false)))
}

/// The distances of things ahead of what is computed.
struct Ahead {
    /// The turns that overlap, at most.
    stages: i64,
    /// Cycles for which loads from a ring are ahead of their first use.
    lead: i64,
    /// Latencies for which loads from global memory are ahead of the arithmetic by which they fill a ring.
    patience: i64,
}

/// A load from a ring, and the times of its first and its last use.
struct Load {
    node: NodeIndex,
    first: i64,
    last: i64,
    /// Its place among loads that are first used at once.
    at: usize,
}

struct Place<'a, 'c> {
    body: &'a Body<'c>,
    interval: i64,
    slice: i64,
    overlaps: bool,
    /// Loads leave nearly no gap on the way to memory.
    crowded: bool,
    /// Each load has the way to memory to itself.
    reserves: bool,
    time: HashMap<NodeIndex, i64>,
    units: Reservations,
    /// The place of each node in an order of all dependences within a turn.
    rank: HashMap<NodeIndex, usize>,
}

impl<'a, 'c> Place<'a, 'c> {
    fn new(body: &'a Body<'c>, computed: Computed, crowded: bool) -> Option<Self> {
        let within = EdgeFiltered::from_fn(&body.graph, |edge| edge.weight().distance == 0);
        let order = toposort(&within, None).ok()?.into_iter().enumerate();
        Some(Self {
            body,
            interval: computed.interval,
            slice: computed.slice,
            overlaps: computed.overlaps,
            crowded,
            reserves: true,
            time: computed.time,
            units: computed.units,
            rank: order.map(|(i, node)| (node, i)).collect(),
        })
    }

    /// The times at which a node's results are used.
    fn uses(&self, node: NodeIndex) -> impl Iterator<Item = i64> {
        let edges = self.body.graph.edges(node);
        edges.filter_map(|edge| {
            let time = self.time.get(&edge.target())?;
            Some(time + edge.weight().distance * self.interval)
        })
    }

    fn first_use(&self, node: NodeIndex) -> Option<i64> {
        self.uses(node).min()
    }

    fn of_role(&self, role: Role) -> Vec<NodeIndex> {
        let nodes = self.body.program.iter().copied();
        nodes
            .filter(|node| self.body.graph[*node].role == role)
            .collect()
    }

    fn all(mut self, feeds: &[NodeIndex], ahead: Ahead) -> Option<Schedule> {
        self.loads(ahead.lead);
        for ring in &self.body.rings {
            self.ring(ring);
        }
        // What prepares a store runs with it.
        for node in feeds {
            let at = self.first_use(*node).unwrap_or(0);
            self.time.insert(*node, at);
        }
        let earliest = -(ahead.stages - 1) * self.interval;
        for node in self.of_role(Role::Fetch) {
            let used = self.first_use(node).unwrap_or(0);
            let mut latency = self.body.graph[node].latency;
            if is_fed_by(self.body, feeds, node) {
                latency *= ahead.patience;
            }
            let at = (used - latency).div_euclid(self.interval) * self.interval;
            self.time.insert(node, at.max(earliest));
        }
        self.finish()
    }

    /// Loads from rings, `lead` before what they are loaded for.
    fn loads(&mut self, lead: i64) {
        let graph = &self.body.graph;
        // By first use: those used before all that came ahead of them was used for the last time are used together with it, but
        // for no longer than a slice. Where there is nearly no gap anyway, each is on its own, and
        // among those that are first used at once the order of dependences, which was measured, decides.
        let mut loads: Vec<Load> = Vec::new();
        for (at, node) in self.of_role(Role::Load).into_iter().enumerate() {
            let first = self.first_use(node).unwrap_or(0);
            let last = self.uses(node).max().unwrap_or(first);
            let at = if self.crowded { self.rank[&node] } else { at };
            loads.push(Load {
                node,
                first,
                last,
                at,
            });
        }
        loads.sort_by_key(|load| (load.first, load.at));
        let mut sets: Vec<Vec<Load>> = Vec::new();
        for load in loads {
            let together = |set: &&mut Vec<Load>| {
                let start = set.first().map_or(load.first, |first| first.first);
                !self.crowded
                    && load.first - start < self.slice
                    && set.iter().any(|other| load.first <= other.last)
            };
            match sets.last_mut().filter(together) {
                Some(set) => set.push(load),
                None => sets.push(vec![load]),
            }
        }
        let mut earliest = i64::MIN;
        for set in sets {
            let start = set.iter().map(|load| load.first).min().unwrap_or(0);
            for load in set {
                let Node { unit, cycles, .. } = graph[load.node];
                if !self.reserves {
                    self.time.insert(load.node, start - lead);
                    continue;
                }
                let at = earliest.max(start - lead);
                let at = self.units.reserve(load.node, unit, cycles, at);
                self.time.insert(load.node, at);
                earliest = at + cycles;
            }
        }
    }

    /// The nodes that go through a ring: events, and what fills it.
    fn ring(&mut self, ring: &graph::Ring) {
        let graph = &self.body.graph;
        let interval = self.interval;
        let readers = || {
            let edges = graph.edges(ring.wait);
            let edges = edges.filter(|edge| edge.weight().distance == 0);
            edges.filter_map(|edge| self.time.get(&edge.target()).copied())
        };
        let wait = readers().min().unwrap_or(0);
        let release = readers().max().unwrap_or(0).max(wait);
        self.time.insert(ring.wait, wait);
        self.time.insert(ring.release, release);

        // As many intervals before the last read as there are places beyond the one in use.
        let start = (release.max(0).div_euclid(interval) - (ring.depth - 1)) * interval;
        let filling = |role| {
            let edges = graph.edges(ring.acquire);
            let mut all: Vec<_> = edges
                .map(|edge| edge.target())
                .filter(|node| graph[*node].role == role)
                .collect();
            all.sort_by_key(|node| self.rank[node]);
            all.dedup();
            all
        };
        let (copies, fills) = (filling(Role::Copy), filling(Role::Fill));
        let cycles = |nodes: &[NodeIndex]| {
            let cycles = nodes.iter().map(|node| graph[*node].cycles);
            cycles.fold(0, i64::saturating_add)
        };
        // All at once: what copies cost is latency, and spread out they stand in the way of the loads. As long as they take they
        // have the way to memory to themselves, where there is such a gap in the interval's first half: later, too little of the
        // latency is hidden.
        let copied = match copies.first() {
            Some(first) => {
                let (unit, cycles) = (graph[*first].unit, cycles(&copies));
                let gap = self.units.free(unit, cycles, start);
                let at = gap.filter(|gap| *gap <= start + interval / 2);
                let at = at.unwrap_or(start);
                self.units.take(*first, unit, cycles, at);
                at
            }
            None => start,
        };
        let slots: i64 = fills.iter().map(|node| graph[*node].cycles.max(1)).sum();
        let mut now = (wait - 1 - slots).max(start);
        let first = if copies.is_empty() { now } else { copied };
        let mut last = copied;
        for copy in copies {
            self.time.insert(copy, copied);
        }
        for fill in fills {
            self.time.insert(fill, now);
            last = now;
            now += graph[fill].cycles.max(1);
        }
        self.time.insert(ring.acquire, first);
        self.time.insert(ring.commit, last);
    }

    /// The stages and the order that the times give, where they honour all dependences.
    fn finish(self) -> Option<Schedule> {
        let body = self.body;
        let interval = self.interval;
        // Events of a pipeline that a turn does not go through whole, and what else has no place yet, stay where they are.
        if body
            .program
            .iter()
            .any(|node| !self.time.contains_key(node))
        {
            return None;
        }
        // Stages from the earliest interval on.
        let earliest = self.time.values().map(|t| t.div_euclid(interval)).min();
        let origin = earliest.unwrap_or(0) * interval;
        let stage = self.time.iter();
        let stage = stage.map(|(node, t)| (*node, (t - origin).div_euclid(interval)));
        let stage: HashMap<NodeIndex, i64> = stage.collect();
        // At one time a place is waited for before another is acquired: the wait's barrier frees it. Where turns overlap in
        // what they compute, earlier ones come first, for what they make may be used by the next one at once.
        let tie = |node: &NodeIndex| {
            let waits = body.graph[*node].role == Role::Wait;
            let turn = if self.overlaps { stage[node] } else { 0 };
            (!waits, Reverse(turn), self.rank[node])
        };
        let mut order: Vec<NodeIndex> = body.graph.node_indices().collect();
        order.sort_by_key(|node| ((self.time[node] - origin).rem_euclid(interval), tie(node)));
        let schedule = Schedule { stage, order };
        schedule.honours(body).then_some(schedule)
    }
}
