//! The dependence graph of a loop body.

use crate::partition::{root_of, space_of};
use cute_ir::ops::{cute, gpu, nvvm};
use cute_ir::{
    mlir::*,
    types::{self, Space},
};
use cute_layout::atoms::Completion;
use melior::ir::{ValueLike, operation::OperationLike};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeSet, HashMap};

/// The part of an operation of the body in the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Waits until a buffer is free.
    Acquire,
    /// An asynchronous copy into a buffer.
    Copy,
    /// Closes the group of copies.
    Commit,
    /// Waits until a buffer is filled.
    Wait,
    /// A fragment from a buffer.
    Load,
    /// Gives a buffer back.
    Release,
    /// A product of fragments.
    Mma,
}

/// A node: what it is, and which operation of the loop, where it has one already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'c> {
    pub kind: Kind,
    pub op: Option<Op<'c>>,
}

/// `to` in iteration i + `distance` starts at least `latency` cycles after `from` in iteration i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dep {
    pub latency: i64,
    pub distance: i64,
}

/// Cycles of a warp's scheduler, of the tensor core and of shared memory. Orders of magnitude
/// from microbenchmarks of SM80 and SM90; only their ratios matter here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    /// Between two MMAs.
    pub mma_issue: i64,
    /// From an MMA to one that adds to its result.
    pub mma_latency: i64,
    /// Between two ldmatrix.x4 of one warp, with all warps at it.
    pub load_issue: i64,
    /// From ldmatrix to its use.
    pub load_latency: i64,
}

pub(crate) const MACHINE: Machine = Machine {
    mma_issue: 16,
    mma_latency: 34,
    load_issue: 16,
    load_latency: 33,
};

pub(crate) type Graph<'c> = DiGraph<Node<'c>, Dep>;

/// A loop body that can be pipelined.
pub(crate) struct Body<'c> {
    pub graph: Graph<'c>,
    /// The shared tensors that the copies fill, in the order of their first copy.
    pub buffers: Vec<Val<'c>>,
    pub acquire: NodeIndex,
    pub commit: NodeIndex,
    pub wait: NodeIndex,
    pub release: NodeIndex,
    pub copies: Vec<NodeIndex>,
    pub loads: Vec<NodeIndex>,
    /// The products, in program order.
    pub mmas: Vec<NodeIndex>,
}

/// Operations that order threads, which the pipeline replaces.
pub(crate) fn is_sync(op: Op) -> bool {
    matches!(
        name_of(op),
        nvvm::CP_ASYNC_COMMIT_GROUP | nvvm::CP_ASYNC_WAIT_GROUP | gpu::BARRIER
    )
}

/// The graph of a loop's body with `stages` buffers; nothing where the body is not one of
/// asynchronous copies, fragment loads and products.
pub(crate) fn build<'c>(body: Blk<'c>, stages: i64, machine: &Machine) -> Option<Body<'c>> {
    let mut graph = Graph::new();
    let mut nodes: HashMap<OpKey, NodeIndex> = HashMap::new();
    let (mut copies, mut loads, mut mmas) = (Vec::new(), Vec::new(), Vec::new());
    let mut buffers: Vec<Val<'c>> = Vec::new();
    // The tensors that loads read.
    let mut read: Vec<Val<'c>> = Vec::new();
    let ops = ops_of(body);
    let (end, ops) = ops.split_last()?;
    for op in ops {
        let op = *op;
        let kind = if let Some(copy) = cute::AtomCopy::of(op) {
            let asynchronous = types::copy_row(copy.copy().r#type())
                .is_some_and(|atom| atom.completion == Completion::Group);
            if !asynchronous || space_of(copy.destination()) != Some(Space::Smem) {
                return None;
            }
            let root = root_of(copy.destination());
            if !buffers.contains(&root) {
                buffers.push(root);
            }
            Kind::Copy
        } else if let Some(load) = cute::AtomLoad::of(op) {
            if space_of(load.source()) != Some(Space::Smem) {
                return None;
            }
            read.push(root_of(load.source()));
            Kind::Load
        } else if name_of(op) == cute::ATOM_MMA {
            Kind::Mma
        } else if is_sync(op) || is_pure(op) {
            continue;
        } else {
            return None;
        };
        let node = graph.add_node(Node { kind, op: Some(op) });
        nodes.insert(op_key(op), node);
        match kind {
            Kind::Copy => copies.push(node),
            Kind::Load => loads.push(node),
            _ => mmas.push(node),
        }
    }
    let fed = read.iter().all(|root| buffers.contains(root));
    if copies.is_empty() || loads.is_empty() || mmas.is_empty() || !fed {
        return None;
    }
    let mut event = |kind| graph.add_node(Node { kind, op: None });
    let (acquire, commit) = (event(Kind::Acquire), event(Kind::Commit));
    let (wait, release) = (event(Kind::Wait), event(Kind::Release));

    // Through the ring: a filled buffer is waited for, read, given back, and filled again.
    let now = |latency| Dep {
        latency,
        distance: 0,
    };
    for copy in &copies {
        graph.add_edge(acquire, *copy, now(0));
        graph.add_edge(*copy, commit, now(0));
    }
    graph.add_edge(commit, wait, now(0));
    for load in &loads {
        graph.add_edge(wait, *load, now(0));
        graph.add_edge(*load, release, now(0));
    }
    graph.add_edge(
        release,
        acquire,
        Dep {
            latency: 0,
            distance: stages,
        },
    );

    // Through values, also those that the loop carries.
    let carried: Vec<_> = operands_of(*end);
    for node in loads.iter().chain(&mmas) {
        let Some(op) = graph[*node].op else { continue };
        let mut sources = BTreeSet::new();
        for operand in operands_of(op) {
            trace(operand, body, &nodes, &carried, 0, &mut sources);
        }
        for (source, distance) in sources {
            let latency = match graph[source].kind {
                Kind::Load => machine.load_latency,
                _ => machine.mma_latency,
            };
            graph.add_edge(source, *node, Dep { latency, distance });
        }
    }
    Some(Body {
        graph,
        buffers,
        acquire,
        commit,
        wait,
        release,
        copies,
        loads,
        mmas,
    })
}

/// The nodes that a value comes from, and how many iterations back.
fn trace<'c>(
    value: Val<'c>,
    body: Blk<'c>,
    nodes: &HashMap<OpKey, NodeIndex>,
    carried: &[Val<'c>],
    distance: i64,
    sources: &mut BTreeSet<(NodeIndex, i64)>,
) {
    // A value carried around for longer than this comes from outside for all that matters.
    const FAR: i64 = 16;
    if distance > FAR {
        return;
    }
    if let Some((block, index)) = block_argument(value) {
        if block == body && index > 0 {
            trace(
                carried[index - 1],
                body,
                nodes,
                carried,
                distance + 1,
                sources,
            );
        }
        return;
    }
    let Some(op) = defining_op(value) else { return };
    if let Some(node) = nodes.get(&op_key(op)) {
        sources.insert((*node, distance));
        return;
    }
    let inside = op.block().is_some_and(|block| block == body);
    if inside {
        for operand in operands_of(op) {
            trace(operand, body, nodes, carried, distance, sources);
        }
    }
}
