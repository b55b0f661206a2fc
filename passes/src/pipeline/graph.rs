//! The dependence graph of a loop's body.
//!
//! Nodes are the operations that have a place in a schedule. Others only compute where something lies, and go wherever it is
//! used. Edges come from values, also those that the loop carries; from the tokens of pipelines, whose distance is the depth of
//! the ring; and from the effects of operations that may touch the same memory.

use super::rings::{is_fence, is_ring};
use crate::{
    memory::{is_memory, root_of},
    synchronize::is_asynchronous,
};
use cute_ir::ops::{cute, gpu, vector};
use cute_ir::{
    attributes::{CYCLES, LATENCY, NOALIAS, UNIT},
    mlir::*,
    names::{dialect, dialect_of},
    types::{self, CuteType, Space},
};
use cute_target::Unit;
use melior::ir::{ValueLike, operation::OperationLike};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The part of an operation of the body in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Waits until a place of a ring is free.
    Acquire,
    /// Says that a place is filled.
    Commit,
    /// Waits until a place is filled.
    Wait,
    /// Gives a place back.
    Release,
    /// An asynchronous copy into a place of a ring.
    Copy,
    /// A store into a place of a ring.
    Fill,
    /// A load from global memory whose address only depends on the turn.
    Fetch,
    /// A load from a place of a ring.
    Load,
    /// Whatever else: products, arithmetic, other accesses.
    Compute,
}

/// A node of the graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'c> {
    pub role: Role,
    /// The operation; none in tests.
    pub op: Option<Op<'c>>,
    pub unit: Unit,
    /// Cycles for which the unit is occupied.
    pub cycles: i64,
    /// Cycles until a result may be used.
    pub latency: i64,
    /// The pipeline of an event, of a fill or of a load, counted from 0.
    pub ring: Option<usize>,
}

/// `to` in iteration i + `distance` starts at least `latency` cycles after `from` in iteration i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dep {
    pub latency: i64,
    pub distance: i64,
}

pub(crate) type Graph<'c> = DiGraph<Node<'c>, Dep>;

/// The nodes of one pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// The places.
    pub depth: i64,
    pub acquire: NodeIndex,
    pub commit: NodeIndex,
    pub wait: NodeIndex,
    pub release: NodeIndex,
}

/// A loop's body.
pub(crate) struct Body<'c> {
    pub graph: Graph<'c>,
    pub rings: Vec<Ring>,
    /// The nodes in program order.
    pub program: Vec<NodeIndex>,
}

/// Tells whether an operation computes numbers, and not places: not one that only names registers anew either.
pub(crate) fn is_data(op: Op<'_>) -> bool {
    if dialect_of(op) == dialect::VECTOR {
        return vector::Reduction::of(op).is_some();
    }
    let number = |value: &Val<'_>| {
        let ty = value.r#type();
        is_float(ty) || vector_extents(ty).is_some()
    };
    results_of(op).iter().any(number)
}

/// The operations of a body that have a place in a schedule: those with effects, those with regions, those that compute numbers
/// from what others make, and those that make what the next turn is handed.
pub(super) fn has_a_place<'c>(body: Blk<'c>) -> HashMap<OpKey, bool> {
    let ops = ops_of(body);
    let yielded = ops.last().map(|end| operands_of(*end)).unwrap_or_default();
    let changes = |value: Val<'c>| {
        block_argument(value).is_some_and(|(block, index)| {
            let token = matches!(CuteType::get(value.r#type()), Some(CuteType::Token));
            block == body && index > 0 && !token && yielded.get(index - 1) != Some(&value)
        })
    };
    // What the next turn uses, and what stands behind the loop, is made once, where it is more than what another operation makes.
    let results = owner_of(body).map(results_of).unwrap_or_default();
    let handed_on: HashSet<ValueKey> = yielded
        .iter()
        .enumerate()
        .filter(|(index, _)| {
            let behind = results
                .get(*index)
                .is_some_and(|r| !users_of(*r).is_empty());
            behind || !users_of(argument(body, index + 1)).is_empty()
        })
        .map(|(_, value)| key(*value))
        .collect();
    // What an operation depends on: something that has a place, and what the turn is handed.
    let mut on: HashMap<OpKey, (bool, bool)> = HashMap::new();
    let mut places = HashMap::new();
    for op in ops {
        let mut depends = (false, false);
        for operand in values_used_by(op) {
            depends.1 |= changes(operand);
            let made = defining_op(operand).and_then(|op| on.get(&op_key(op)));
            if let Some((node, handed)) = made {
                depends.0 |= node;
                depends.1 |= handed;
            }
        }
        let place = op.region_count() > 0
            || !is_pure(op)
            || depends.1
            || (depends.0
                && (is_data(op)
                    || results_of(op)
                        .into_iter()
                        .any(|v| handed_on.contains(&key(v)))));
        places.insert(op_key(op), place);
        on.insert(op_key(op), if place { (true, false) } else { depends });
    }
    places
}

/// An access of an operation to memory.
struct Access<'c> {
    /// The allocation or argument; none where it may be any.
    root: Option<Val<'c>>,
    space: Option<Space>,
    writes: bool,
    /// It is to a tensor whose places the tokens of a pipeline order.
    ring: bool,
}

/// The accesses of an operation, and whether threads do it together in an order that has to stay.
type Touches<'c> = (Vec<Access<'c>>, bool);

fn accesses<'c>(op: Op<'c>) -> Touches<'c> {
    let of = |value: Val<'c>, writes| {
        let root = root_of(value);
        Access {
            root: Some(root),
            space: match CuteType::of(value.r#type()) {
                Some(CuteType::MemRef(memref) | CuteType::Ptr(memref)) => Some(memref.space),
                _ => None,
            },
            writes,
            ring: is_ring(root),
        }
    };
    let anything = |writes| Access {
        root: None,
        space: None,
        writes,
        ring: false,
    };
    let Some(effects) = effects_of(op) else {
        let memory: Vec<_> = values_used_by(op)
            .into_iter()
            .filter(|v| is_memory(*v))
            .flat_map(|v| [of(v, false), of(v, true)])
            .collect();
        let fence = is_fence(op) || op.region_count() > 0;
        return match fence {
            true => (vec![anything(false), anything(true)], true),
            false => (memory, true),
        };
    };
    let mut all = Vec::new();
    for effect in effects {
        let writes = match effect.kind {
            EffectKind::Read => false,
            EffectKind::Write => true,
            EffectKind::Allocate | EffectKind::Free => continue,
        };
        match effect.value {
            // Tokens order pipelines.
            Some(value) if !is_memory(value) => {}
            Some(value) => all.push(of(value, writes)),
            None => all.push(anything(writes)),
        }
    }
    (all, false)
}

/// Tells whether two accesses have to stay in order.
fn conflict(one: &Access<'_>, other: &Access<'_>) -> bool {
    if !one.writes && !other.writes {
        return false;
    }
    let (Some(a), Some(b)) = (one.root, other.root) else {
        return true;
    };
    if one.ring && other.ring {
        return false;
    }
    if a == b {
        return true;
    }
    if let (Some(a), Some(b)) = (one.space, other.space)
        && a != b
        && a != Space::Generic
        && b != Space::Generic
        && ![[Space::Smem, Space::Dsmem], [Space::Dsmem, Space::Smem]].contains(&[a, b])
    {
        return false;
    }
    let allocated = |root: Val<'_>| defining_op(root).and_then(cute::MemrefAlloca::of).is_some();
    // Of the kernel: what a loop hands on may be any of them.
    let argument = |root: Val<'_>| {
        let (block, index) = block_argument(root)?;
        let kernel = owner_of(block).filter(|op| name_of(*op) == gpu::FUNC)?;
        Some(argument_attribute(kernel, index, NOALIAS).is_some())
    };
    let own = |one, other| {
        (allocated(one) && (allocated(other) || argument(other).is_some()))
            || (argument(one) == Some(true) && argument(other).is_some())
    };
    !own(a, b) && !own(b, a)
}

/// The graph of a loop's body.
pub(crate) fn build<'c>(body: Blk<'c>) -> Body<'c> {
    let mut building = Building {
        body,
        carried: Vec::new(),
        graph: Graph::new(),
        nodes: HashMap::new(),
        pipelines: Vec::new(),
    };
    building.nodes();
    building.finish()
}

struct Building<'c> {
    body: Blk<'c>,
    carried: Vec<Val<'c>>,
    graph: Graph<'c>,
    nodes: HashMap<OpKey, NodeIndex>,
    pipelines: Vec<Val<'c>>,
}

/// The pipeline and the role of an event.
fn event(op: Op<'_>) -> Option<(Val<'_>, Role)> {
    if let Some(op) = cute::PipelineProducerAcquire::of(op) {
        Some((op.pipeline(), Role::Acquire))
    } else if let Some(op) = cute::PipelineProducerCommit::of(op) {
        Some((op.pipeline(), Role::Commit))
    } else if let Some(op) = cute::PipelineConsumerWait::of(op) {
        Some((op.pipeline(), Role::Wait))
    } else {
        let release = cute::PipelineConsumerRelease::of(op);
        release.map(|op| (op.pipeline(), Role::Release))
    }
}

impl<'c> Building<'c> {
    fn nodes(&mut self) {
        let mut ops = ops_of(self.body);
        self.carried = ops.pop().map(operands_of).unwrap_or_default();
        let places = has_a_place(self.body);
        ops.retain(|op| places[&op_key(*op)]);
        // Events last, which decides what comes first among equals.
        let (events, others): (Vec<_>, Vec<_>) =
            ops.into_iter().partition(|op| event(*op).is_some());
        for op in others {
            self.add(op, Role::Compute, None);
        }
        for op in events {
            let Some((pipeline, role)) = event(op) else {
                continue;
            };
            let known = self.pipelines.iter().position(|known| *known == pipeline);
            let ring = known.unwrap_or_else(|| {
                self.pipelines.push(pipeline);
                self.pipelines.len() - 1
            });
            self.add(op, role, Some(ring));
        }
    }

    fn add(&mut self, op: Op<'c>, role: Role, ring: Option<usize>) {
        let number = |name| integer_of(op, name).unwrap_or(0);
        let unit = string_of(op, UNIT).and_then(Unit::find);
        let node = self.graph.add_node(Node {
            role,
            op: Some(op),
            unit: unit.unwrap_or(Unit::Issue),
            cycles: number(CYCLES),
            latency: number(LATENCY),
            ring,
        });
        self.nodes.insert(op_key(op), node);
    }

    fn edge(&mut self, from: NodeIndex, to: NodeIndex, latency: i64, distance: i64) {
        if from != to || distance > 0 {
            self.graph.add_edge(from, to, Dep { latency, distance });
        }
    }

    fn finish(mut self) -> Body<'c> {
        let all: Vec<NodeIndex> = self.graph.node_indices().collect();
        let sources: HashMap<NodeIndex, BTreeSet<(NodeIndex, i64)>> = all
            .iter()
            .map(|node| (*node, self.sources(*node)))
            .collect();
        let memory = self.memory();
        self.classify(&memory, &sources);
        let rings = self.rings(&all);
        self.through_rings(&rings, &all, &sources);
        for node in &all {
            for (source, distance) in &sources[node] {
                // From the acquire of its place it has an edge already.
                if self.graph[*node].role == Role::Copy && self.graph[*source].role == Role::Acquire
                {
                    continue;
                }
                let latency = self.graph[*source].latency;
                self.edge(*source, *node, latency, *distance);
            }
        }
        self.through_memory(&memory);
        let program = self.program();
        Body {
            graph: self.graph,
            rings,
            program,
        }
    }

    fn program(&self) -> Vec<NodeIndex> {
        ops_of(self.body)
            .into_iter()
            .filter_map(|op| self.nodes.get(&op_key(op)).copied())
            .collect()
    }

    /// The effects on memory of the nodes beside events, in program order.
    fn memory(&self) -> Vec<(NodeIndex, Touches<'c>)> {
        let nodes = self.program().into_iter();
        nodes
            .filter_map(|node| {
                let op = self.graph[node].op.filter(|op| event(*op).is_none())?;
                Some((node, accesses(op)))
            })
            .collect()
    }

    /// The nodes behind what a node uses, and how many iterations back.
    fn sources(&self, node: NodeIndex) -> BTreeSet<(NodeIndex, i64)> {
        let mut sources = BTreeSet::new();
        if let Some(op) = self.graph[node].op {
            for operand in values_used_by(op) {
                self.trace(operand, 0, &mut sources);
            }
        }
        sources
    }

    fn trace(&self, value: Val<'c>, distance: i64, sources: &mut BTreeSet<(NodeIndex, i64)>) {
        // A value carried around for longer than this comes from outside for all that matters.
        if distance > types::MOST_STAGES + 1 {
            return;
        }
        if let Some((block, index)) = block_argument(value) {
            if block == self.body && index > 0 {
                self.trace(self.carried[index - 1], distance + 1, sources);
            }
            return;
        }
        let Some(op) = defining_op(value) else { return };
        if let Some(node) = self.nodes.get(&op_key(op)) {
            sources.insert((*node, distance));
        } else if block_of(op).is_some_and(|block| block == self.body) {
            for operand in operands_of(op) {
                self.trace(operand, distance, sources);
            }
        }
    }

    /// Says what nodes beside events are.
    fn classify(
        &mut self,
        memory: &[(NodeIndex, Touches<'c>)],
        sources: &HashMap<NodeIndex, BTreeSet<(NodeIndex, i64)>>,
    ) {
        for (node, (accesses, together)) in memory {
            let Some(op) = self.graph[*node].op else {
                continue;
            };
            let unknown = *together || accesses.iter().any(|access| access.root.is_none());
            if unknown || op.region_count() > 0 {
                continue;
            }
            let from = |role| {
                sources[node].iter().find_map(|(source, _)| {
                    let source = &self.graph[*source];
                    (source.role == role).then_some(source.ring).flatten()
                })
            };
            let in_a_ring = |access: &Access<'_>| access.ring;
            let writes = || accesses.iter().filter(|access| access.writes);
            let reads = || accesses.iter().filter(|access| !access.writes);
            let global = |access: &Access<'_>| access.space == Some(Space::Gmem);
            let (role, ring) = if let Some(ring) = from(Role::Acquire)
                && writes().count() > 0
                && writes().all(in_a_ring)
            {
                let copies = is_asynchronous(op) && reads().all(global);
                let role = if copies { Role::Copy } else { Role::Fill };
                (role, Some(ring))
            } else if let Some(ring) = from(Role::Wait)
                && writes().count() == 0
                && reads().count() > 0
                && reads().all(in_a_ring)
            {
                (Role::Load, Some(ring))
            } else if writes().count() == 0
                && reads().count() > 0
                && reads().all(global)
                && sources[node].is_empty()
            {
                (Role::Fetch, None)
            } else {
                continue;
            };
            self.graph[*node].role = role;
            self.graph[*node].ring = ring;
        }
    }

    /// The pipelines that a turn goes through: each with one event of a kind.
    fn rings(&self, all: &[NodeIndex]) -> Vec<Ring> {
        let mut rings = Vec::new();
        for (index, pipeline) in self.pipelines.iter().enumerate() {
            let find = |role| {
                let is = |node: &&NodeIndex| {
                    self.graph[**node].role == role && self.graph[**node].ring == Some(index)
                };
                all.iter().find(is).copied()
            };
            let parts = (
                find(Role::Acquire),
                find(Role::Commit),
                find(Role::Wait),
                find(Role::Release),
                CuteType::of(pipeline.r#type()),
            );
            if let (
                Some(acquire),
                Some(commit),
                Some(wait),
                Some(release),
                Some(CuteType::Pipeline { stages, .. }),
            ) = parts
            {
                rings.push(Ring {
                    depth: stages,
                    acquire,
                    commit,
                    wait,
                    release,
                });
            }
        }
        rings
    }

    /// Through rings: a place is acquired, filled, committed, waited for, read, given back, and filled again.
    fn through_rings(
        &mut self,
        rings: &[Ring],
        all: &[NodeIndex],
        sources: &HashMap<NodeIndex, BTreeSet<(NodeIndex, i64)>>,
    ) {
        for ring in rings {
            let from = |event| {
                let uses = move |node: &&NodeIndex| sources[*node].contains(&(event, 0));
                all.iter().filter(uses).copied().collect::<Vec<_>>()
            };
            for node in from(ring.acquire) {
                self.edge(ring.acquire, node, 0, 0);
                self.edge(node, ring.commit, 0, 0);
            }
            self.edge(ring.commit, ring.wait, 0, 0);
            for node in from(ring.wait) {
                self.edge(ring.wait, node, 0, 0);
                self.edge(node, ring.release, 0, 0);
            }
            self.edge(ring.release, ring.acquire, 0, ring.depth);
        }
    }

    /// Through memory: what may touch the same bytes stays in order, also from one turn to the next.
    fn through_memory(&mut self, memory: &[(NodeIndex, Touches<'c>)]) {
        let together = memory.iter().filter(|(_, (_, together))| *together);
        let together: Vec<NodeIndex> = together.map(|(node, _)| *node).collect();
        for pair in together.windows(2) {
            self.edge(pair[0], pair[1], 0, 0);
        }
        if let [first, .., last] = together[..] {
            self.edge(last, first, 0, 1);
        }
        for (at, (earlier, (one, _))) in memory.iter().enumerate() {
            for (later, (other, _)) in &memory[at + 1..] {
                let meets = one.iter().any(|a| other.iter().any(|b| conflict(a, b)));
                if meets {
                    self.edge(*earlier, *later, 0, 0);
                    self.edge(*later, *earlier, 0, 1);
                }
            }
        }
    }
}
