//! `cute-make-rings`: the buffers between two parts of a loop become rings.
//!
//! Each tensor of a loop with `cute.stages` in shared memory that every turn fills and then reads, and nothing else uses, gets
//! as many places as there are stages, or as its own `cute.stages` says. Who fills a place acquires it with the token of its
//! last release and commits it; who reads it waits for the commit and releases it. Tensors that are filled and read side by side
//! share a pipeline. The loop still is the loop that it was: only read from top to bottom, each turn works on its own place.

use crate::{
    check::{left_to_the_compiler, pipelined},
    loops,
    memory::{is_memory, root_of},
    shared::{in_shared, ring_stride},
    synchronize::{COPIES, THREADS, is_asynchronous},
};
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{RING, STAGES},
    diag,
    mlir::*,
    types::memref_of,
    types::{self, CuteType, MemRef, int_width},
    view,
};
use cute_layout::{IntTuple, Layout, atoms::Completion, tuple};
use melior::ir::{BlockLike, Type, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-make-rings",
    description: "Give the buffers of loops that are to be pipelined a place for each stage",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    // Inner loops first: what is around a loop stays where it is when the loop is made anew.
    for (op, stages) in pipelined(kernel).into_iter().rev() {
        left_to_the_compiler(kernel, op)?;
        refuse_fences(op)?;
        Rings::of(rewriter, op, stages)?.make()?;
    }
    Ok(())
}

/// Tells whether an operation may order all accesses to memory: it does not say what it does, gives nothing, and is given no
/// memory.
pub(super) fn is_fence(op: Op<'_>) -> bool {
    op.region_count() == 0
        && op.result_count() == 0
        && !operands_of(op).into_iter().any(is_memory)
        && effects_of(op).is_none()
}

/// Tells whether a tensor, by its root, has places that the tokens of a pipeline order.
pub(super) fn is_ring(root: Val<'_>) -> bool {
    defining_op(root).is_some_and(|op| attribute_of(op, RING).is_some())
}

/// The tensor that a view is a known part of, and which: slices at coordinates that are known differ where these do.
fn part_of(view: Val<'_>) -> (Val<'_>, Option<Type<'_>>) {
    let slice = defining_op(view).filter(|op| name_of(*op) == cute::SLICE);
    let Some([tensor, coord]) = slice
        .map(operands_of)
        .as_deref()
        .and_then(|all| all.first_chunk().copied())
    else {
        return (view, None);
    };
    let ty = coord.r#type();
    match CuteType::of(ty) {
        Some(CuteType::Coord(at)) if at.is_static() => (tensor, Some(ty)),
        _ => (view, None),
    }
}

/// Who asks for a pipeline leaves it to the compiler to wait.
fn refuse_fences(op: scf::For<'_>) -> Result<(), Failure> {
    let fence = nested_ops(op.op()).into_iter().find(|op| is_fence(*op));
    match fence {
        Some(fence) => Err(diag::error_with_notes(
            fence.location(),
            format!(
                "'{}' op stands in a loop that is to be pipelined, where the compiler puts what orders its threads; \
                 remove it, or {STAGES} from the loop",
                name_of(fence)
            ),
            &[(op.op().location(), "the loop")],
        )),
        None => Ok(()),
    }
}

/// The side of a buffer that an operation of a turn is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Side {
    Fills,
    Reads,
}

/// An access to a buffer: the operation, and which of its operands is a view of the buffer.
struct Access<'c> {
    op: Op<'c>,
    operand: usize,
    side: Side,
}

/// A tensor that every turn fills and then reads.
struct Buffer<'c> {
    tensor: Val<'c>,
    memref: MemRef<'c>,
    depth: i64,
    completion: Completion,
    accesses: Vec<Access<'c>>,
    /// Positions in the loop's body of the last operation that fills it, and of the first and the last that read it.
    filled: usize,
    first_read: usize,
    last_read: usize,
}

struct Rings<'c> {
    rewriter: &'c Rewriter<'c>,
    op: scf::For<'c>,
    body: Blk<'c>,
    ops: Vec<Op<'c>>,
    /// The position in the body of each of its operations, and of those within them.
    position: HashMap<OpKey, usize>,
    buffers: Vec<Buffer<'c>>,
}

impl<'c> Rings<'c> {
    fn of(rewriter: &'c Rewriter<'c>, op: scf::For<'c>, stages: i64) -> Result<Self, Failure> {
        let body = op.region().expected(op.op(), "a body")?;
        let ops = ops_of(body);
        let mut position = HashMap::new();
        for (at, top) in ops.iter().enumerate() {
            position.insert(op_key(*top), at);
            for inner in nested_ops(*top) {
                position.insert(op_key(inner), at);
            }
        }
        let mut rings = Self {
            rewriter,
            op,
            body,
            ops,
            position,
            buffers: Vec::new(),
        };
        let mut met = HashSet::new();
        let mut tensors = Vec::new();
        for value in nested_ops_of(body).into_iter().flat_map(operands_of) {
            if !in_shared(value) {
                continue;
            }
            let root = root_of(value);
            let made = defining_op(root).and_then(cute::MemrefAlloca::of);
            if made.is_some() && met.insert(key(root)) {
                tensors.push(root);
            }
        }
        for tensor in tensors {
            let made = defining_op(tensor).expected(op.op(), "the allocation of a tensor")?;
            let depth = integer_of(made, STAGES).unwrap_or(stages);
            if depth < 2 || attribute_of(made, RING).is_some() || rings.is_only_read(tensor) {
                continue;
            }
            match rings.buffer(tensor, depth) {
                Ok(buffer) => rings.buffers.push(buffer),
                Err(why) => diag::warning(
                    made.location(),
                    format!(
                        "gets one place only, though a loop that uses it is to be pipelined: {why}"
                    ),
                    &[(op.op().location(), "the loop")],
                ),
            }
        }
        rings
            .buffers
            .sort_by_key(|buffer| (buffer.filled, buffer.first_read));
        Ok(rings)
    }

    /// A tensor as a buffer between two parts of a turn. Errors: the reason why it is none.
    fn buffer(&self, tensor: Val<'c>, depth: i64) -> Result<Buffer<'c>, String> {
        let mut accesses = Vec::new();
        self.accesses(tensor, &mut accesses)?;
        let at = |access: &Access<'c>| self.position[&op_key(access.op)];
        let fills = || accesses.iter().filter(|a| a.side == Side::Fills);
        let reads = || accesses.iter().filter(|a| a.side == Side::Reads);
        let (Some(filled), Some(first_read), Some(last_read)) = (
            fills().map(at).max(),
            reads().map(at).min(),
            reads().map(at).max(),
        ) else {
            return Err("a turn does not both fill and read it".to_owned());
        };
        if filled >= first_read {
            return Err("a turn reads it before it has filled it".to_owned());
        }
        for access in fills() {
            let mut around = parent_op(access.op);
            while let Some(op) = around.filter(|op| *op != self.op.op()) {
                if operands_of(op).into_iter().any(|value| self.turns(value)) {
                    return Err("whether and where a turn fills it depends on the turn".to_owned());
                }
                around = parent_op(op);
            }
        }
        let completion = if fills().any(|access| is_asynchronous(access.op)) {
            Completion::Group
        } else {
            Completion::Immediate
        };
        // Nothing orders what fills a place within a turn: threads by other views, and asynchronous copies of one thread.
        let mut parts = HashSet::new();
        let mut by = HashSet::new();
        for access in fills() {
            let (view, part) = part_of(operands_of(access.op)[access.operand]);
            by.insert(key(view));
            let at = attribute_of(access.op, "at").and_then(i64s_of);
            let again = !parts.insert((part, at));
            if by.len() > 1 || (again && completion == Completion::Group) {
                return Err("a turn may fill a part of it twice, in no order".to_owned());
            }
        }
        let memref = memref_of(tensor).ok_or("it is no tensor")?;
        Ok(Buffer {
            tensor,
            memref,
            depth,
            completion,
            filled,
            first_read,
            last_read,
            accesses,
        })
    }

    /// Tells whether the loop is known to only read a tensor, by this view of it and by those that are made of it: what fills it came
    /// before, so that one place is all it takes.
    fn is_only_read(&self, view: Val<'c>) -> bool {
        users_of(view).into_iter().all(|user| {
            if user.region_count() == 0 && is_pure(user) {
                let mut views = results_of(user)
                    .into_iter()
                    .filter(|value| is_memory(*value));
                return views.all(|view| self.is_only_read(view));
            }
            if !self.position.contains_key(&op_key(user)) {
                return true;
            }
            let effects = effects_of(user).filter(|_| user.region_count() == 0);
            effects.is_some_and(|effects| {
                effects.iter().all(|effect| {
                    effect.kind == EffectKind::Read || effect.value.is_some_and(|v| v != view)
                })
            })
        })
    }

    /// Adds the accesses by a view.
    fn accesses(&self, view: Val<'c>, all: &mut Vec<Access<'c>>) -> Result<(), String> {
        for user in users_of(view) {
            let another = user.region_count() == 0 && is_pure(user);
            if let (true, [result]) = (another, &results_of(user)[..])
                && is_memory(*result)
            {
                if operands_of(user)
                    .into_iter()
                    .any(|value| value != view && self.turns(value))
                {
                    return Err("which part of it a turn uses depends on the turn".to_owned());
                }
                self.accesses(*result, all)?;
                continue;
            }
            if another {
                continue;
            }
            if !self.position.contains_key(&op_key(user)) {
                return Err("it is used outside of the loop as well".to_owned());
            }
            let effects = effects_of(user)
                .filter(|_| user.region_count() == 0)
                .ok_or_else(|| format!("'{}' does not say how it uses it", name_of(user)))?;
            let has = |kind| {
                effects
                    .iter()
                    .any(|effect| effect.kind == kind && effect.value.is_none_or(|v| v == view))
            };
            let side = match (has(EffectKind::Read), has(EffectKind::Write)) {
                (true, false) => Side::Reads,
                (false, true) => Side::Fills,
                _ => return Err(format!("'{}' both reads and writes it", name_of(user))),
            };
            let operands = operands_of(user).into_iter().enumerate();
            for (operand, _) in operands.filter(|(_, value)| *value == view) {
                if !all.iter().any(|a| a.op == user && a.operand == operand) {
                    all.push(Access {
                        op: user,
                        operand,
                        side,
                    });
                }
            }
        }
        Ok(())
    }

    /// Tells whether a value may be another one in another turn.
    fn turns(&self, value: Val<'c>) -> bool {
        if let Some((block, _)) = block_argument(value) {
            return block == self.body;
        }
        let Some(op) = defining_op(value).filter(|op| self.position.contains_key(&op_key(*op)))
        else {
            return false;
        };
        !is_pure(op) || values_used_by(op).into_iter().any(|used| self.turns(used))
    }

    /// The buffers that share a pipeline: filled before any of them is read, and read side by side, with nothing computed
    /// between.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (index, buffer) in self.buffers.iter().enumerate() {
            let fits = |group: &Vec<usize>| {
                let members = || group.iter().map(|i| &self.buffers[*i]);
                let alike =
                    members().all(|b| b.depth == buffer.depth && b.completion == buffer.completion);
                let filled = members().map(|b| b.filled).max() < Some(buffer.first_read)
                    && members().all(|b| buffer.filled < b.first_read);
                let first = members().map(|b| b.first_read).min().unwrap_or(0);
                let last = members().map(|b| b.last_read).max().unwrap_or(0);
                let mut between = (last.min(buffer.last_read) + 1)..first.max(buffer.first_read);
                let quiet = between.all(|at| {
                    let op = self.ops[at];
                    let reads =
                        cute::AtomLoad::of(op).is_some() || cute::MemrefLoad::of(op).is_some();
                    reads || (op.region_count() == 0 && is_pure(op) && !super::graph::is_data(op))
                });
                alike && filled && quiet
            };
            match groups.iter_mut().find(|group| fits(group)) {
                Some(group) => group.push(index),
                None => groups.push(vec![index]),
            }
        }
        groups
    }

    fn make(&self) -> Result<(), Failure> {
        if self.buffers.is_empty() {
            return Ok(());
        }
        let outside = Builder::before(self.op.op());
        let first = *self
            .ops
            .first()
            .expected(self.op.op(), "an op in the body")?;
        let start = Builder::before(first).at_location(self.op.op().location());
        let iteration = self.iteration(start)?;
        let (mut initial, mut yielded) = (Vec::new(), Vec::new());
        let mut views = HashMap::new();
        for group in self.groups() {
            let depth = self.buffers[group[0]].depth;
            let completion = self.buffers[group[0]].completion;
            let members = || group.iter().map(|i| &self.buffers[*i]);
            let ty = types::pipeline_type(outside.location, depth, completion)?;
            let token = types::token_type(outside.context);
            let create = outside.op(cute::PIPELINE_CREATE, &[], &[ty, token], &[])?;
            let create = cute::PipelineCreate::of(create).expected(outside, "a pipeline")?;
            let pipeline = create.pipeline();

            // The releases of the last turns, the newest first.
            let count = self.body.argument_count();
            for i in 0..depth as usize {
                insert_argument(self.body, count + i, token, outside.location);
                initial.push(create.free());
            }
            let oldest = argument(self.body, count + depth as usize - 1);
            let acquire = start.step("acquire a buffer").op(
                cute::PIPELINE_PRODUCER_ACQUIRE,
                &[pipeline, oldest, iteration],
                &[start.i32_type()],
                &[],
            )?;
            let acquire = cute::PipelineProducerAcquire::of(acquire).expected(start, "a slot")?;

            let filled = members().map(|b| b.filled).max().unwrap_or(0);
            let behind = Builder::after(self.ops[filled]).at_location(self.op.op().location());
            let commit = behind.step("commit copies").op(
                cute::PIPELINE_PRODUCER_COMMIT,
                &[pipeline],
                &[token],
                &[],
            )?;
            let commit = cute::PipelineProducerCommit::of(commit).expected(behind, "a commit")?;

            let read = members().map(|b| b.first_read).min().unwrap_or(0);
            let ahead = Builder::before(self.ops[read]).at_location(self.op.op().location());
            let step = match completion {
                Completion::Group => COPIES,
                _ => THREADS,
            };
            let wait = ahead.step(step).op(
                cute::PIPELINE_CONSUMER_WAIT,
                &[pipeline, commit.token(), iteration],
                &[ahead.i32_type()],
                &[],
            )?;
            let wait = cute::PipelineConsumerWait::of(wait).expected(ahead, "a slot")?;

            let unread = members().map(|b| b.last_read).max().unwrap_or(0);
            let over = Builder::after(self.ops[unread]).at_location(self.op.op().location());
            let release = over.step("release a buffer").op(
                cute::PIPELINE_CONSUMER_RELEASE,
                &[pipeline],
                &[token],
                &[],
            )?;
            let release = cute::PipelineConsumerRelease::of(release).expected(over, "a release")?;
            yielded.push(release.token());
            yielded.extend((1..depth as usize).map(|i| argument(self.body, count + i - 1)));

            for buffer in members() {
                let ty = ring_of(&buffer.memref, depth)
                    .and_then(|ring| ring.to_type(outside.location).map_err(|_| String::new()))
                    .map_err(|e| outside.error(e))?;
                let made = defining_op(buffer.tensor).expected(outside, "an allocation")?;
                let ring = [(RING, outside.unit())];
                // A tensor of each turn's own is one for all of them now.
                let place = match self.position.contains_key(&op_key(made)) {
                    true => outside,
                    false => Builder::before(made).at_location(outside.location),
                };
                let ring = place.value(cute::MEMREF_ALLOCA, &[], ty, &ring)?;
                for (side, slot, place) in [
                    (Side::Fills, acquire.slot(), start),
                    (Side::Reads, wait.slot(), ahead),
                ] {
                    let slice = slice(place, ring, slot)?;
                    views.insert((key(buffer.tensor), side), slice);
                }
                for access in &buffer.accesses {
                    let (place, from) = match access.side {
                        Side::Fills => (start, 0),
                        Side::Reads => (ahead, read),
                    };
                    let old = operands_of(access.op)[access.operand];
                    let new = self.view(old, access.side, place, from, &mut views)?;
                    set_operand(access.op, access.operand, new);
                }
            }
        }
        loops::carry(self.rewriter, self.op, &initial, &yielded)?;
        for buffer in &self.buffers {
            erase_views(self.rewriter, buffer.tensor)?;
            if let Some(made) = defining_op(buffer.tensor)
                && users_of(buffer.tensor).is_empty()
            {
                self.rewriter.erase(made)?;
            }
        }
        Ok(())
    }

    /// A view of a buffer as a view of its place: made again where it was, but behind the place where that is known, which is
    /// in front of the operation at `from`.
    fn view(
        &self,
        old: Val<'c>,
        side: Side,
        place: Builder<'c>,
        from: usize,
        views: &mut HashMap<(ValueKey, Side), Val<'c>>,
    ) -> Result<Val<'c>, Failure> {
        if let Some(view) = views.get(&(key(old), side)) {
            return Ok(*view);
        }
        let op = defining_op(old).expected(place, "the op that makes a view")?;
        let mut mapping = Mapping::new();
        for operand in operands_of(op).into_iter().filter(|v| in_shared(*v)) {
            let new = self.view(operand, side, place, from, views)?;
            mapping.insert(key(operand), new);
        }
        let within = self.position.get(&op_key(op)).is_some_and(|at| *at >= from);
        let b = if within { Builder::before(op) } else { place };
        let b = b.at_location(place.location);
        let new = |v: Val<'c>| mapping.get(&key(v)).copied().unwrap_or(v);
        let operands: Vec<_> = operands_of(op).into_iter().map(new).collect();
        // A place may be aligned less than the buffer; what does not say its result from its operands is of the same type.
        let alike = operands_of(op)
            .into_iter()
            .all(|v| v.r#type() == new(v).r#type());
        let view = if alike {
            result_of(b.clone_op(op, &mut mapping), 0)
        } else if let (cute::RECAST, [tensor]) = (name_of(op), &operands[..]) {
            // Of which type the elements are, the type of its result may be alone to say.
            let element = memref_of(old).expected(b, "a tensor")?.element;
            let tensor = memref_of(*tensor).expected(b, "a tensor")?;
            let ty = view::recast(tensor, element).map_err(|e| b.error(e))?;
            let ty = ty.to_type(b.location)?;
            b.value(cute::RECAST, &operands, ty, &attributes_of(op))?
        } else {
            b.infer(name_of(op), &operands, &attributes_of(op))?
        };
        views.insert((key(old), side), view);
        Ok(view)
    }

    /// The number of the turn, from 0 on, as 32 bits.
    fn iteration(&self, b: Builder<'c>) -> Result<Val<'c>, Failure> {
        let counter = argument(self.body, 0);
        let ty = counter.r#type();
        let mut turn = counter;
        if constant_of(self.op.lower_bound()) != Some(0) {
            turn = b.value(arith::SUBI, &[turn, self.op.lower_bound()], ty, &[])?;
        }
        if constant_of(self.op.step()) != Some(1) {
            turn = b.value(arith::DIVUI, &[turn, self.op.step()], ty, &[])?;
        }
        match int_width(ty) {
            Some(32) => Ok(turn),
            Some(width) if width < 32 => b.value(arith::EXTUI, &[turn], b.i32_type(), &[]),
            Some(_) => b.value(arith::TRUNCI, &[turn], b.i32_type(), &[]),
            None => b.value(arith::INDEX_CAST, &[turn], b.i32_type(), &[]),
        }
    }
}

/// The place of a ring at a slot.
pub(crate) fn slice<'c>(b: Builder<'c>, ring: Val<'c>, slot: Val<'c>) -> Result<Val<'c>, Failure> {
    let rank = memref_of(ring).expected(b, "a ring")?.layout.rank();
    let mut modes = vec![IntTuple::underscore(); rank - 1];
    modes.push(IntTuple::dynamic());
    let coord = b.coord(&tuple(modes), &[slot])?;
    b.infer(cute::SLICE, &[ring, coord], &[])
}

/// Erases the views of a value that nothing uses, users first.
fn erase_views<'c>(rewriter: &'c Rewriter<'c>, value: Val<'c>) -> Result<(), Failure> {
    for user in users_of(value) {
        let views = results_of(user);
        for view in &views {
            erase_views(rewriter, *view)?;
        }
        if is_pure(user) && views.iter().all(|view| users_of(*view).is_empty()) {
            rewriter.erase(user)?;
        }
    }
    Ok(())
}

/// A tensor with one more mode, for the places of a ring; each starts where the swizzle repeats.
pub(crate) fn ring_of<'c>(memref: &MemRef<'c>, places: i64) -> Result<MemRef<'c>, String> {
    let stride = ring_stride(memref)? / memref.element_bytes();
    let ring = Layout::leaf(places, stride).map_err(|e| e.to_string())?;
    let layout = memref.layout.append(&ring).map_err(|e| e.to_string())?;
    Ok(MemRef {
        layout,
        ..memref.clone()
    })
}
