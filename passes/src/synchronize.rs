//! `cute-synchronize`: waits and barriers between the threads of a block that share memory.
//!
//! In a kernel that leaves synchronisation to the compiler (`cute.synchronize`), a read behind an asynchronous copy waits for it,
//! and what one thread wrote and another may read, or read and another may overwrite, has a barrier between. In any kernel, what
//! takes over bytes of another tensor has one. What the tokens of a pipeline order (`cute.ring`) needs none, and neither does
//! what already has a barrier between. Who accesses what is asked of the effects of ops; what does not say is taken to read and
//! to write all that it is given.
//!
//! A barrier stands as far out as can be: in front of a loop or a branch where what is before meets what is within, at the end
//! of a loop's body where a turn meets the next one.

use crate::{
    divergence::{Divergence, Together},
    kernel::thread_index,
    memory::{is_memory, root_of},
    shared::{allocated, in_shared, overlap},
};
use cute_ir::ops::{arith, gpu, nvvm};
use cute_ir::{
    Anchor, Failure, PassSpec,
    attributes::{RING, SYNCHRONIZE},
    mlir::*,
    types,
};
use cute_layout::atoms::Completion;
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-synchronize",
    description: "Put waits and barriers between accesses to shared memory, from their effects",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

/// Steps, as [`Builder::step`] names them.
pub(crate) const COPIES: &str = "wait for copies";
pub(crate) const THREADS: &str = "wait for other threads";

fn run<'c>(_: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let Some(body) = body_of(kernel, 0) else {
        return Ok(());
    };
    let guard = Guard::of(kernel)?;
    if !guard.buffers.is_empty() {
        guard.block(body, State::new())?;
    }
    Ok(())
}

/// Tells whether an operation is a copy that goes on when its thread does, which waits for it by groups.
pub(crate) fn is_asynchronous(op: Op<'_>) -> bool {
    operands_of(op).into_iter().any(|value| {
        types::copy_row(value.r#type()).is_some_and(|atom| atom.completion == Completion::Group)
    })
}

/// A barrier of the threads that stay together.
pub(crate) fn barrier_of<'c>(b: Builder<'c>, all: Together) -> Result<Op<'c>, Failure> {
    let mut number = b.i32(all.number)?;
    if all.teams > 1 {
        let i32_type = b.i32_type();
        let thread = thread_index(b)?;
        let team = b.value(arith::DIVUI, &[thread, b.i32(all.threads)?], i32_type, &[])?;
        number = b.value(arith::ADDI, &[team, number], i32_type, &[])?;
    }
    let operands = [number, b.i32(all.threads)?];
    let segments = [("operandSegmentSizes", b.i32_array(&[1, 1, 0]))];
    b.op(nvvm::BARRIER, &operands, &[], &segments)
}

/// A wait of a thread for its own copies, but those of so many groups that were committed last.
pub(crate) fn wait_for_copies<'c>(b: Builder<'c>, groups: i64) -> Result<(), Failure> {
    let groups = [("n", b.integer(b.i32_type(), groups))];
    b.op(nvvm::CP_ASYNC_WAIT_GROUP, &[], &[], &groups)?;
    Ok(())
}

/// A tensor in shared memory: its bytes, and who orders accesses to it.
struct Buffer {
    /// The offset of its first byte, once it is placed.
    offset: Option<i64>,
    bytes: i64,
    /// Its accesses are ordered by the tokens of a pipeline.
    ring: bool,
}

/// An access: the buffer, the view by which a thread reaches its part, the place of an atom in that, where it is one, and whether
/// it writes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    buffer: usize,
    view: ValueKey,
    at: Option<Vec<i64>>,
    writes: bool,
    /// It is a copy that goes on when its thread does.
    asynchronous: bool,
}

/// The state of an access that others are to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Landing {
    /// A thread knows that its own has been done.
    Landed,
    /// An asynchronous copy that is not committed.
    Open,
    /// An asynchronous copy with so many groups committed behind its own, at least.
    Group(i64),
}

impl Landing {
    fn later(self, other: Landing) -> Landing {
        let rank = |landing| match landing {
            Landing::Open => -1,
            Landing::Group(n) => n,
            Landing::Landed => i64::MAX,
        };
        if rank(self) <= rank(other) {
            self
        } else {
            other
        }
    }
}

/// The accesses that no barrier has followed.
type State = BTreeMap<Access, Landing>;

fn join(into: &mut State, other: &State) {
    for (access, landing) in other {
        into.entry(access.clone())
            .and_modify(|known| *known = known.later(*landing))
            .or_insert(*landing);
    }
}

struct Guard {
    /// The kernel leaves the order of all accesses to the compiler.
    all: bool,
    buffers: Vec<Buffer>,
    /// The buffer that an allocation makes.
    index: HashMap<ValueKey, usize>,
    divergence: Divergence,
}

impl Guard {
    fn of(kernel: Op<'_>) -> Result<Self, Failure> {
        let mut guard = Self {
            all: attribute_of(kernel, SYNCHRONIZE).is_some(),
            buffers: Vec::new(),
            index: HashMap::new(),
            divergence: Divergence::of(kernel),
        };
        for op in nested_ops(kernel) {
            let Some((_, tensor, bytes)) = allocated(op)? else {
                continue;
            };
            guard.index.insert(key(tensor), guard.buffers.len());
            guard.buffers.push(Buffer {
                offset: integer_of(op, "offset"),
                bytes,
                ring: attribute_of(op, RING).is_some(),
            });
        }
        Ok(guard)
    }

    /// The accesses of an operation without regions.
    fn accesses(&self, op: Op<'_>) -> Vec<(Access, Landing)> {
        let mut found = Vec::new();
        let at = attribute_of(op, "at").and_then(i64s_of);
        let mut add = |value: Val<'_>, writes, landing| {
            if !in_shared(value) {
                return;
            }
            let view = key(value);
            let at = &at;
            // Through a loop, a branch or a choice any of them may be meant.
            let one = self.index.get(&key(root_of(value))).copied();
            let those = one.map_or(0..self.buffers.len(), |buffer| buffer..buffer + 1);
            found.extend(those.map(|buffer| {
                (
                    Access {
                        buffer,
                        view,
                        at: at.clone(),
                        writes,
                        asynchronous: landing == Landing::Open,
                    },
                    landing,
                )
            }));
        };
        let asynchronous = is_asynchronous(op);
        match effects_of(op) {
            Some(effects) => {
                for effect in effects {
                    let writes = match effect.kind {
                        EffectKind::Read => false,
                        EffectKind::Write => true,
                        EffectKind::Allocate | EffectKind::Free => continue,
                    };
                    let landing = if writes && asynchronous {
                        Landing::Open
                    } else {
                        Landing::Landed
                    };
                    match effect.value {
                        Some(value) => add(value, writes, landing),
                        None => operands_of(op)
                            .into_iter()
                            .for_each(|value| add(value, writes, landing)),
                    }
                }
            }
            None => {
                for value in operands_of(op).into_iter().filter(|v| is_memory(*v)) {
                    add(value, false, Landing::Landed);
                    add(value, true, Landing::Landed);
                }
            }
        }
        found
    }

    /// Tells whether a barrier has to stand between two accesses.
    fn conflict(&self, earlier: &Access, landing: Landing, later: &Access) -> bool {
        if !earlier.writes && !later.writes {
            return false;
        }
        let (a, b) = (&self.buffers[earlier.buffer], &self.buffers[later.buffer]);
        if earlier.buffer == later.buffer {
            // Writes through one view are of one thread, each to its own part; and of that to other places, or in order.
            let apart = earlier.at.is_some() && later.at.is_some() && earlier.at != later.at;
            let in_order = landing == Landing::Landed && !later.asynchronous;
            let own =
                earlier.writes && later.writes && earlier.view == later.view && (apart || in_order);
            return self.all && !a.ring && !own;
        }
        match (a.offset, b.offset) {
            (Some(at), Some(of)) => overlap(at, a.bytes, of, b.bytes),
            _ => false,
        }
    }

    fn meets<'a>(&self, state: &State, those: impl IntoIterator<Item = &'a Access>) -> bool {
        those.into_iter().any(|later| {
            state
                .iter()
                .any(|(earlier, landing)| self.conflict(earlier, *landing, later))
        })
    }

    /// The accesses of a region's blocks that no barrier stands in front of.
    fn exposed(&self, op: Op<'_>) -> Vec<Access> {
        let mut all = Vec::new();
        for block in blocks_of(op) {
            for op in ops_of(block) {
                if name_of(op) == gpu::BARRIER {
                    break;
                }
                if op.region_count() > 0 {
                    all.extend(self.exposed(op));
                } else {
                    all.extend(self.accesses(op).into_iter().map(|(access, _)| access));
                }
            }
        }
        all
    }

    /// Goes through a block from a state on; the state behind it.
    fn block(&self, block: Blk<'_>, mut state: State) -> Result<State, Failure> {
        for op in ops_of(block) {
            if op.region_count() > 0 {
                state = self.regions(op, state)?;
                continue;
            }
            match name_of(op) {
                gpu::BARRIER => state.retain(|_, landing| *landing != Landing::Landed),
                nvvm::CP_ASYNC_COMMIT_GROUP => {
                    for landing in state.values_mut() {
                        *landing = match *landing {
                            Landing::Open => Landing::Group(0),
                            Landing::Group(n) => Landing::Group(n.saturating_add(1)),
                            Landing::Landed => Landing::Landed,
                        };
                    }
                }
                nvvm::CP_ASYNC_WAIT_GROUP => {
                    let left = integer_of(op, "n").unwrap_or(i64::MAX);
                    for landing in state.values_mut() {
                        if matches!(landing, Landing::Group(n) if *n >= left) {
                            *landing = Landing::Landed;
                        }
                    }
                }
                _ => {
                    let accesses = self.accesses(op);
                    if self.meets(&state, accesses.iter().map(|(access, _)| access)) {
                        self.barrier(Builder::before(op), op, &mut state)?;
                    }
                    join(&mut state, &accesses.into_iter().collect());
                }
            }
        }
        Ok(state)
    }

    /// An operation with regions.
    fn regions(&self, op: Op<'_>, mut state: State) -> Result<State, Failure> {
        if self.meets(&state, &self.exposed(op)) {
            self.barrier(Builder::before(op), op, &mut state)?;
        }
        let count = op.region_count();
        // What does not say which way control takes may take any.
        let ways = ways_of(op).unwrap_or_else(|| {
            let points = || std::iter::once(None).chain((0..count).map(Some));
            let to_all = |from| {
                points().map(move |to| Way {
                    from,
                    to,
                    values: Vec::new(),
                })
            };
            points().flat_map(to_all).collect()
        });
        let mut behind: Vec<State> = Vec::new();
        for region in 0..count {
            let mut entry = State::new();
            for way in ways.iter().filter(|way| way.to == Some(region)) {
                match way.from {
                    None => join(&mut entry, &state),
                    Some(from) if from < region => join(&mut entry, &behind[from]),
                    Some(_) => {}
                }
            }
            // Between several blocks control may go anywhere: each is taken to follow all those before it.
            for block in blocks_of_region(op, region) {
                entry = self.block(block, entry)?;
            }
            let again = |way: &Way<'_>| way.from == Some(region) && way.is_back();
            let last = blocks_of_region(op, region).pop();
            if let Some(last) = last.and_then(|block| ops_of(block).pop())
                && ways.iter().any(again)
            {
                // Copies that are under way are not over with the next turn's first barrier.
                let mut waiting = entry.clone();
                waiting.retain(|_, landing| *landing != Landing::Landed);
                let within = self.everything(op);
                if self.meets(&entry, &self.exposed(op)) || self.meets(&waiting, &within) {
                    // An end that nobody wrote has no place of its own.
                    let b = Builder::before(last).at_location(op.location());
                    self.barrier(b, last, &mut entry)?;
                }
            }
            behind.push(entry);
        }
        let mut after = State::new();
        for way in ways.iter().filter(|way| way.to.is_none() || way.is_back()) {
            join(&mut after, way.from.map_or(&state, |from| &behind[from]));
        }
        Ok(after)
    }

    /// All accesses within an operation.
    fn everything(&self, op: Op<'_>) -> Vec<Access> {
        nested_ops(op)
            .into_iter()
            .filter(|op| op.region_count() == 0)
            .flat_map(|op| self.accesses(op))
            .map(|(access, _)| access)
            .collect()
    }

    /// A barrier in front of `op`, and a wait for what is under way.
    fn barrier(&self, b: Builder<'_>, op: Op<'_>, state: &mut State) -> Result<(), Failure> {
        self.divergence
            .check(op, "shares bytes of shared memory with an access before it and needs a barrier of all threads of the block")?;
        let waits = state.values().any(|landing| *landing != Landing::Landed);
        let b = b.step(if waits { COPIES } else { THREADS });
        if waits {
            b.op(nvvm::CP_ASYNC_COMMIT_GROUP, &[], &[], &[])?;
            wait_for_copies(b, 0)?;
        }
        match Together::of(op) {
            None => b.op(gpu::BARRIER, &[], &[], &[])?,
            Some(some) => barrier_of(b, some)?,
        };
        state.clear();
        Ok(())
    }
}
