//! `cute-pipeline`: decides what overlaps what in a loop over tiles.
//!
//! A loop with `cute.stages` whose body copies tiles asynchronously, loads fragments from them and multiplies, gets a
//! ring of buffers for each tile, and its synchronisation said as a pipeline: a producer acquires
//! a buffer with the token of its release and commits its copies; a consumer waits for the commit
//! and releases. Each operation carries its stage and its place in the order (`cute.stage`,
//! `cute.order`), which come from a modulo schedule of the dependence graph. Read from top to
//! bottom the loop still is the loop it was.

pub(crate) mod expand;
pub(crate) mod graph;
pub(crate) mod lower;
mod schedule;

use crate::{partition::kernels, shared::round_up, sync};
use cute_ir::ops::{cute, scf};
use cute_ir::{
    Expected, Failure, PassSpec,
    attributes::{ORDER, STAGE, STAGES},
    infer::memref_of,
    mlir::*,
    names::builtin,
    types::{self, MemRef},
};
use cute_layout::{IntTuple, Layout, tuple};
use graph::{Body, MACHINE};
use melior::ir::{ValueLike, operation::OperationLike};
use petgraph::graph::NodeIndex;
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-pipeline",
    description: "Schedule loops over tiles as pipelines through rings of buffers",
    anchor: builtin::MODULE,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        // Inner loops first: what is around a loop stays where it is when the loop is replaced.
        let loops = nested_ops(kernel).into_iter().rev();
        for old in loops.filter_map(scf::For::of).collect::<Vec<_>>() {
            // A loop that does not say how many of its iterations are in flight stays as it is.
            let Some(stages) = integer_of(old.op(), STAGES).filter(|stages| *stages > 1) else {
                continue;
            };
            let body = old.region().expected(old.op(), "a body")?;
            if let Some(graph) = graph::build(body, stages, &MACHINE) {
                Pipeline {
                    rewriter,
                    stages,
                    old,
                    body,
                    graph,
                }
                .rewrite()?;
            }
        }
    }
    Ok(())
}

struct Pipeline<'c> {
    rewriter: &'c Rewriter<'c>,
    stages: i64,
    old: scf::For<'c>,
    body: Blk<'c>,
    graph: Body<'c>,
}

/// The means to build the new body.
struct Rebuild<'c> {
    b: Builder<'c>,
    mapping: Mapping<'c>,
    /// The new value of each view of a buffer, by side (filled, read).
    views: HashMap<(ValueKey, bool), Val<'c>>,
    /// The slice of the ring for each buffer and side.
    slices: HashMap<(ValueKey, bool), Val<'c>>,
}

impl<'c> Pipeline<'c> {
    fn rewrite(&self) -> Result<(), Failure> {
        let op = self.old.op();
        let outside = Builder::before(op);
        let context = outside.context;
        let schedule =
            schedule::schedule(&self.graph, self.stages, &MACHINE).map_err(|e| outside.error(e))?;

        // The rings, and the pipeline.
        let mut rings = HashMap::new();
        for buffer in &self.graph.buffers {
            let memref = memref_of(*buffer).expected(op, "a buffer that is a tensor")?;
            let ring = ring_of(&memref, self.stages).map_err(|e| outside.error(e))?;
            let ty = ring.to_type(op.location())?;
            rings.insert(
                key(*buffer),
                outside.value(cute::MEMREF_ALLOCA, &[], ty, &[])?,
            );
        }
        let ty = types::pipeline_type(op.location(), self.stages)?;
        let token = types::token_type(context);
        let create = outside.op(cute::PIPELINE_CREATE, &[], &[ty, token], &[])?;
        let create = cute::PipelineCreate::of(create).expected(op, "a pipeline")?;
        let (pipeline, free) = (create.pipeline(), create.free());

        // The loop: the old values, then the releases of the last iterations, the newest first.
        let mut initial = self.old.init_args();
        let carried = initial.len();
        initial.extend((0..self.stages).map(|_| free));
        let result_types: Vec<_> = initial.iter().map(|v| v.r#type()).collect();
        let bounds = [
            self.old.lower_bound(),
            self.old.upper_bound(),
            self.old.step(),
        ];
        let operands = [&bounds[..], &initial].concat();
        let mut arguments = vec![(argument(self.body, 0).r#type(), op.location())];
        arguments.extend(result_types.iter().map(|ty| (*ty, op.location())));
        let (region, new) = Detached::with_block(&arguments);
        // The stages are made: each operation says its own.
        let mut attributes = attributes_of(op);
        attributes.retain(|(name, _)| *name != STAGES);
        let built = outside.with_regions(
            scf::FOR,
            &operands,
            &result_types,
            &attributes,
            vec![region],
        )?;
        let b = Builder::at_end(context, new, op.location());
        let mut rebuild = Rebuild {
            b,
            mapping: Mapping::new(),
            views: HashMap::new(),
            slices: HashMap::new(),
        };
        for (old, new) in arguments_of(self.body).into_iter().zip(arguments_of(new)) {
            rebuild.mapping.insert(key(old), new);
        }
        let iteration = argument(new, 0);
        let mark = |made: Op<'c>, node: NodeIndex| {
            let place = schedule.order.iter().position(|n| *n == node).unwrap_or(0);
            set_attribute(made, STAGE, b.integer(b.i32_type(), schedule.stage[&node]));
            set_attribute(made, ORDER, b.integer(b.i32_type(), place as i64));
        };

        // Producer.
        let oldest = argument(new, carried + self.stages as usize);
        let acquire = b.step("acquire a buffer").op(
            cute::PIPELINE_PRODUCER_ACQUIRE,
            &[pipeline, oldest, iteration],
            &[b.i32_type()],
            &[],
        )?;
        mark(acquire, self.graph.acquire);
        let acquire = cute::PipelineProducerAcquire::of(acquire).expected(b, "an acquire")?;
        self.slice(&mut rebuild, &rings, acquire.slot(), true)?;
        for copy in &self.graph.copies {
            mark(self.emit(&mut rebuild, *copy)?, *copy);
        }
        let commit = b.step("commit copies").op(
            cute::PIPELINE_PRODUCER_COMMIT,
            &[pipeline],
            &[token],
            &[],
        )?;
        mark(commit, self.graph.commit);
        let commit = cute::PipelineProducerCommit::of(commit).expected(b, "a commit")?;

        // Consumer.
        let wait = b.step(sync::COPIES).op(
            cute::PIPELINE_CONSUMER_WAIT,
            &[pipeline, commit.token(), iteration],
            &[b.i32_type()],
            &[],
        )?;
        mark(wait, self.graph.wait);
        let wait = cute::PipelineConsumerWait::of(wait).expected(b, "a wait")?;
        self.slice(&mut rebuild, &rings, wait.slot(), false)?;
        for load in &self.graph.loads {
            mark(self.emit(&mut rebuild, *load)?, *load);
        }
        let release = b.step("release a buffer").op(
            cute::PIPELINE_CONSUMER_RELEASE,
            &[pipeline],
            &[token],
            &[],
        )?;
        mark(release, self.graph.release);
        let release = cute::PipelineConsumerRelease::of(release).expected(b, "a release")?;
        for mma in &self.graph.mmas {
            mark(self.emit(&mut rebuild, *mma)?, *mma);
        }

        // Around.
        let end = ops_of(self.body)
            .pop()
            .expected(op, "an op that ends the block")?;
        let mut yielded = Vec::new();
        for value in operands_of(end) {
            yielded.push(self.value(&mut rebuild, value, false)?);
        }
        yielded.push(release.token());
        yielded.extend((1..self.stages as usize).map(|i| argument(new, carried + i)));
        b.op(scf::YIELD, &yielded, &[], &[])?;

        for (old, new) in self.old.results().into_iter().zip(results_of(built)) {
            replace_uses(old, new);
        }
        self.rewriter.erase(op)?;
        self.erase_views()
    }

    /// The slice of each ring at a slot.
    fn slice(
        &self,
        rebuild: &mut Rebuild<'c>,
        rings: &HashMap<ValueKey, Val<'c>>,
        slot: Val<'c>,
        filled: bool,
    ) -> Result<(), Failure> {
        let b = rebuild.b;
        for buffer in &self.graph.buffers {
            let rank = memref_of(*buffer)
                .expected(b, "a buffer that is a tensor")?
                .layout
                .rank();
            let mut modes = vec![IntTuple::underscore(); rank];
            modes.push(IntTuple::dynamic());
            let coord = b.coord(&tuple(modes), &[slot])?;
            let slice = b.infer(cute::SLICE, &[rings[&key(*buffer)], coord], &[])?;
            rebuild.slices.insert((key(*buffer), filled), slice);
        }
        Ok(())
    }

    /// A copy of a node's operation in the new body.
    fn emit(&self, rebuild: &mut Rebuild<'c>, node: NodeIndex) -> Result<Op<'c>, Failure> {
        let op = self.graph.graph[node]
            .op
            .expected(rebuild.b, "the op of a node")?;
        let destination = cute::AtomCopy::of(op).map(|copy| copy.destination());
        for operand in operands_of(op) {
            let filled = destination == Some(operand);
            let value = self.value(rebuild, operand, filled)?;
            rebuild.mapping.insert(key(operand), value);
        }
        let made = rebuild
            .b
            .at_location(op.location())
            .clone_op(op, &mut rebuild.mapping);
        // A view maps to one side only for the operation at hand.
        for operand in operands_of(op) {
            if self.buffer_of(operand).is_some() {
                rebuild.mapping.remove(&key(operand));
            }
        }
        Ok(made)
    }

    /// The buffer that a value is a view of.
    fn buffer_of(&self, value: Val<'c>) -> Option<Val<'c>> {
        memref_of(value)?;
        let root = crate::partition::root_of(value);
        self.graph.buffers.contains(&root).then_some(root)
    }

    /// Returns what a value of the old body is in the new one: views of buffers are taken again of the
    /// ring's slice, pure operations of the old body are copied once.
    fn value(
        &self,
        rebuild: &mut Rebuild<'c>,
        value: Val<'c>,
        filled: bool,
    ) -> Result<Val<'c>, Failure> {
        if let Some(buffer) = self.buffer_of(value) {
            if let Some(view) = rebuild.views.get(&(key(value), filled)) {
                return Ok(*view);
            }
            let view = if value == buffer {
                rebuild.slices[&(key(buffer), filled)]
            } else {
                let op = defining_op(value).expected(rebuild.b, "the op that makes a view")?;
                let operands = operands_of(op)
                    .into_iter()
                    .map(|v| self.value(rebuild, v, filled))
                    .collect::<Result<Vec<_>, _>>()?;
                let id = attribute_of(op, "operand_id").map(|a| ("operand_id", a));
                rebuild.b.infer(name_of(op), &operands, id.as_slice())?
            };
            rebuild.views.insert((key(value), filled), view);
            return Ok(view);
        }
        if let Some(new) = rebuild.mapping.get(&key(value)) {
            return Ok(*new);
        }
        let Some(op) =
            defining_op(value).filter(|op| op.block().is_some_and(|block| block == self.body))
        else {
            return Ok(value);
        };
        for operand in operands_of(op) {
            let new = self.value(rebuild, operand, filled)?;
            rebuild.mapping.insert(key(operand), new);
        }
        rebuild.b.clone_op(op, &mut rebuild.mapping);
        Ok(rebuild.mapping[&key(value)])
    }

    /// The old buffers, and what is left of views of them.
    fn erase_views(&self) -> Result<(), Failure> {
        fn erase_users(value: Val<'_>) -> bool {
            let users = users_of(value);
            for user in users {
                let view = user.result_count() == 1 && graph::is_pure(user);
                if !view || !erase_users(result_of(user, 0)) {
                    return false;
                }
            }
            true
        }
        for buffer in &self.graph.buffers {
            // Innermost views first; an operation with several uses is met once it has none.
            if erase_users(*buffer) {
                erase_views_of(self.rewriter, *buffer)?;
                if let Some(op) = defining_op(*buffer) {
                    self.rewriter.erase(op)?;
                }
            }
        }
        Ok(())
    }
}

/// Erases the views of a value, users first.
fn erase_views_of<'c>(rewriter: &'c Rewriter<'c>, value: Val<'c>) -> Result<(), Failure> {
    while let Some(user) = users_of(value).into_iter().next() {
        erase_views_of(rewriter, result_of(user, 0))?;
        rewriter.erase(user)?;
    }
    Ok(())
}

/// A tensor with one more mode, for the buffers of a ring; each starts where the swizzle repeats.
fn ring_of<'c>(memref: &MemRef<'c>, stages: i64) -> Result<MemRef<'c>, String> {
    let stride = round_up(memref.bytes()?, memref.align) / memref.element_bytes();
    let ring = Layout::leaf(stages, stride).map_err(|e| e.to_string())?;
    let layout = memref.layout.append(&ring).map_err(|e| e.to_string())?;
    Ok(MemRef {
        layout,
        ..memref.clone()
    })
}
