//! The places of each memory access of a kernel, thread by thread: views and coordinates, loops and branches.
//!
//! Views are followed by [`cute_ir::interpret`], as in `cute-to-nvvm`, here in bytes as far as each thread's are known (`bytes.rs`).

use super::{
    bytes::Start,
    linear::Linear,
    scalars::{Lanes, Scalars, is_integer},
};
use cute_arith::gcd;
use cute_ir::ops::{cute, scf};
use cute_ir::{
    args::ElementArgs,
    args::at_of,
    interpret::{Place, Views},
    mlir::*,
    names::is_cute,
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::Swizzle;
use cute_layout::atoms::{Form, PIECE};
use cute_target::Arch;
use melior::ir::{ValueLike, operation::OperationLike};

/// The kind of an access in the machine; the names are those of the emulator's classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A load from global memory.
    GlobalLoad,
    /// A store to global memory.
    GlobalStore,
    /// A load from shared memory.
    SharedLoad,
    /// A store to shared memory.
    SharedStore,
    /// `ldmatrix`.
    LoadMatrix,
    /// `stmatrix`.
    StoreMatrix,
    /// `cp.async`.
    AsyncCopy,
    /// A reduction in global memory.
    Atomic,
}

impl Kind {
    /// The name of the kind in JSON, and in the emulator's report.
    pub fn name(self) -> &'static str {
        match self {
            Kind::GlobalLoad => "global_load",
            Kind::GlobalStore => "global_store",
            Kind::SharedLoad => "shared_load",
            Kind::SharedStore => "shared_store",
            Kind::LoadMatrix => "load_matrix",
            Kind::StoreMatrix => "store_matrix",
            Kind::AsyncCopy => "async_copy",
            Kind::Atomic => "atomic",
        }
    }

    /// The name of the instruction in PTX.
    pub fn instruction(self) -> &'static str {
        match self {
            Kind::GlobalLoad => "ld.global",
            Kind::GlobalStore => "st.global",
            Kind::SharedLoad => "ld.shared",
            Kind::SharedStore => "st.shared",
            Kind::LoadMatrix => "ldmatrix",
            Kind::StoreMatrix => "stmatrix",
            Kind::AsyncCopy => "cp.async",
            Kind::Atomic => "red.global",
        }
    }

    /// Tells whether it is a plain load into registers.
    pub fn is_load(self) -> bool {
        matches!(self, Kind::GlobalLoad | Kind::SharedLoad)
    }
}

/// One side of an access.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub root: ValueKey,
    pub swizzle: Option<Swizzle>,
    /// The place of what the thread accesses, in bytes behind the root, not swizzled.
    pub bytes: Lanes,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The op that it is of, by [`key_of`].
    pub op: OpKey,
    pub kind: Kind,
    /// Bytes that a lane moves; of a matrix, those that a lane points at.
    pub bytes: u32,
    /// Lanes of a warp whose addresses count: all, or eight a matrix.
    pub lanes: u32,
    pub global: Option<Side>,
    pub shared: Option<Side>,
    /// The mask of the threads that take part.
    pub active: Vec<bool>,
    /// Tells whether a condition that is not known was taken to hold.
    pub assumed: bool,
}

pub(super) fn key_of(op: Op) -> OpKey {
    op_key(op)
}

/// Times that what a loop carries is guessed again.
const GUESSES: usize = 8;
/// A divisor to begin guessing with.
const FIRST_GUESS: i64 = 1 << 30;
/// Loops within loops that are guessed about; what deeper ones carry stays unknown.
const DEEPEST: usize = 6;

pub(super) struct Walk<'c> {
    /// The architecture that the kernel is reported on for.
    arch: Arch,
    pub scalars: Scalars,
    pub accesses: Vec<Access>,
    views: Views<'c, Start>,
    /// The conditions that hold here, and whether each is negated.
    conditions: Vec<(Lanes, bool)>,
    recording: bool,
    loops: usize,
}

impl<'c> Walk<'c> {
    /// Everything in a kernel's body; `divisors` are what is known of its arguments.
    pub(super) fn of(arch: Arch, block: [i64; 3], body: Blk<'c>, divisors: &[i64]) -> Self {
        let mut walk = Walk {
            arch,
            scalars: Scalars::new(block),
            accesses: Vec::new(),
            views: Views::default(),
            conditions: Vec::new(),
            recording: true,
            loops: 0,
        };
        for i in 0..arguments(body) {
            let value = argument(body, i);
            match CuteType::of(value.r#type()) {
                Some(CuteType::Ptr(memref) | CuteType::MemRef(memref)) => {
                    let start = Start {
                        root: key(value),
                        shared: false,
                        bytes: Lanes::uniform(0.into()),
                    };
                    walk.views.set(value, Place { memref, start });
                }
                _ if is_integer(value) => {
                    let divisor = divisors.get(i).copied().unwrap_or(1);
                    let symbol = walk.scalars.symbol(divisor);
                    walk.scalars.set(value, symbol);
                }
                _ => {}
            }
        }
        walk.block(body);
        walk
    }

    fn block(&mut self, block: Blk<'c>) {
        for op in ops_of(block) {
            if let Some(op) = scf::For::of(op) {
                self.for_loop(op);
            } else if let Some(op) = scf::If::of(op) {
                self.branch(op);
            } else if has_regions(op) {
                for body in bodies_of(op) {
                    self.block(body);
                }
            } else if is_cute(op) {
                self.cute(op);
            } else {
                self.scalars.op(op);
            }
        }
    }

    fn for_loop(&mut self, op: scf::For<'c>) {
        let Some(body) = op.region() else { return };
        let (lower, step) = (
            self.scalars.get(op.lower_bound()),
            self.scalars.get(op.step()),
        );
        let initial = op.init_args();
        // What a loop carries is its start and something that is the same for all threads: guessed, then seen to be so.
        let mut guesses: Vec<Option<i64>> = initial
            .iter()
            .map(|value| is_integer(*value).then_some(FIRST_GUESS))
            .collect();
        let initial: Vec<Lanes> = initial.into_iter().map(|v| self.scalars.get(v)).collect();
        if self.loops >= DEEPEST {
            guesses.fill(None);
        }
        self.loops += 1;
        let recording = std::mem::replace(&mut self.recording, false);
        for last in (0..GUESSES).map(|i| i + 1 == GUESSES) {
            if guesses.iter().all(Option::is_none) {
                break;
            }
            self.enter(body, &lower, &step, &initial, &guesses);
            let yielded = self.yielded(body);
            let mut changed = false;
            for (i, guess) in guesses.iter_mut().enumerate() {
                let Some(old) = *guess else { continue };
                let moved = yielded.get(i).and_then(|y| {
                    let difference = y.zip(&initial[i], Linear::sub);
                    let moved = difference.shared()?;
                    let own = self.scalars.symbols.divisor(moved);
                    Some(gcd(gcd(own, moved.constant), old))
                });
                let new = if last && moved != Some(old) {
                    None
                } else {
                    moved.map(|d| d.max(1))
                };
                changed |= new != *guess;
                *guess = new;
            }
            if !changed {
                break;
            }
        }
        self.recording = recording;
        self.enter(body, &lower, &step, &initial, &guesses);
        let yielded = self.yielded(body);
        self.loops -= 1;
        for (i, (result, initial)) in op.results().into_iter().zip(&initial).enumerate() {
            // The loop may run not at all, or any number of times.
            let left = match guesses.get(i).copied().flatten() {
                Some(divisor) => {
                    let symbol = self.scalars.symbol(divisor);
                    initial.zip(&symbol, Linear::add)
                }
                None => match yielded.get(i) {
                    Some(y) if y == initial => y.clone(),
                    _ => Lanes::unknown(),
                },
            };
            self.scalars.set(result, left);
        }
    }

    /// Evaluates a loop's body for any of its iterations.
    fn enter(
        &mut self,
        body: Blk<'c>,
        lower: &Lanes,
        step: &Lanes,
        initial: &[Lanes],
        guesses: &[Option<i64>],
    ) {
        let count = self.scalars.symbol(1);
        let symbols = &mut self.scalars.symbols;
        let index = step
            .zip(&count, |step, count| symbols.mul(step, count))
            .zip(lower, Linear::add);
        let mut arguments = arguments_of(body).into_iter();
        if let Some(counter) = arguments.next() {
            self.scalars.set(counter, index);
        }
        for (argument, (initial, guess)) in arguments.zip(initial.iter().zip(guesses)) {
            let value = match guess {
                Some(divisor) => {
                    let symbol = self.scalars.symbol(*divisor);
                    initial.zip(&symbol, Linear::add)
                }
                None => Lanes::unknown(),
            };
            self.scalars.set(argument, value);
        }
        self.block(body);
    }

    fn yielded(&self, body: Blk<'_>) -> Vec<Lanes> {
        ops_of(body)
            .last()
            .map(|last| {
                operands_of(*last)
                    .into_iter()
                    .map(|v| self.scalars.get(v))
                    .collect()
            })
            .unwrap_or_default()
    }

    fn branch(&mut self, op: scf::If<'c>) {
        let condition = self.scalars.get(op.condition());
        let mut yields = Vec::new();
        for (body, negated) in [(op.then_region(), false), (op.else_region(), true)] {
            let Some(body) = body else {
                continue;
            };
            self.conditions.push((condition.clone(), negated));
            self.block(body);
            self.conditions.pop();
            yields.push(self.yielded(body));
        }
        let threads = self.scalars.threads();
        for (i, result) in op.results().into_iter().enumerate() {
            let value = match (
                yields.first().and_then(|y| y.get(i)),
                yields.get(1).and_then(|y| y.get(i)),
            ) {
                (Some(yes), Some(no)) if yes == no => yes.clone(),
                (Some(yes), Some(no)) => Lanes::each(
                    (0..threads)
                        .map(|t| match condition.at(t)?.known()? {
                            0 => no.at(t).cloned(),
                            _ => yes.at(t).cloned(),
                        })
                        .collect(),
                ),
                _ => Lanes::unknown(),
            };
            self.scalars.set(result, value);
        }
    }

    fn cute(&mut self, op: Op<'c>) {
        if let Some(at) = ElementArgs::of(op) {
            self.element(op, at);
        } else if let Some(access) = AtomOp::of(op) {
            self.atom(access);
        } else {
            // What no start is known of is not followed, nor are views of it.
            let _ = self.views.op(&mut self.scalars, op);
        }
    }

    /// One element of a tensor.
    fn element(&mut self, op: Op<'c>, at: ElementArgs<'c>) {
        let Ok(place) = self.views.element(&mut self.scalars, at) else {
            return;
        };
        let bytes = place.memref.element_bytes();
        let stores = name_of(op) == cute::MEMREF_STORE;
        let kind = simple(&place.memref, stores);
        self.record(op, &[place], 0, bytes, kind, 32);
    }

    fn atom(&mut self, access: AtomOp<'c>) {
        let (op, copy) = match access {
            AtomOp::Load(load) => (load.op(), load.copy()),
            AtomOp::Store(store) => (store.op(), store.copy()),
            AtomOp::Copy(copy) => (copy.op(), copy.copy()),
        };
        let Some(atom) = types::copy_row(copy.r#type()) else {
            return;
        };
        let at = at_of(op);
        let mut place = |value| self.views.atom(&mut self.scalars, value, &at).ok();
        let vector_bytes = |value: Val<'_>| {
            let (length, element) = vector_of(value.r#type())?;
            Some(length * types::element_bits(element)? / 8)
        };
        let (tensors, bytes) = match access {
            AtomOp::Load(load) => (vec![place(load.source())], vector_bytes(load.value())),
            AtomOp::Store(store) => (
                vec![place(store.destination())],
                vector_bytes(store.value()),
            ),
            AtomOp::Copy(copy) => (
                vec![place(copy.source()), place(copy.destination())],
                Some(0),
            ),
        };
        let (Some(tensors), Some(bytes)) = (tensors.into_iter().collect::<Option<Vec<_>>>(), bytes)
        else {
            return;
        };
        let Some(first) = tensors.first() else { return };
        let stores = matches!(access, AtomOp::Store(_));
        // Of rows, each lane with an address has one, of as many bytes as the address is aligned to.
        let rows = atom.num_threads().unwrap_or(32) * bytes / atom.align;
        let (kind, bytes, lanes) = match atom.form {
            Form::Copy => (Kind::AsyncCopy, atom.align, 32),
            Form::Load => (Kind::LoadMatrix, atom.align, rows),
            Form::Store => (Kind::StoreMatrix, atom.align, rows),
            Form::Reduce => (Kind::Atomic, bytes, 32),
            Form::LoadOrStore | Form::Move => (simple(&first.memref, stores), bytes, 32),
        };
        // A predicate that is false copies zeros: the lane still takes part, and reads nothing.
        let predicate = match access {
            AtomOp::Copy(copy) => copy.predicate().filter(|_| kind == Kind::AsyncCopy),
            AtomOp::Load(_) | AtomOp::Store(_) => None,
        };
        // A lane whose predicate is false loads nothing.
        let guard = match access {
            AtomOp::Load(load) => load.predicate(),
            AtomOp::Store(_) | AtomOp::Copy(_) => None,
        };
        let conditions = self.conditions.len();
        let guard = guard.map(|guard| (self.scalars.get(guard), false));
        self.conditions.extend(guard);
        let assumed = predicate.is_some_and(|predicate| {
            let predicate = self.scalars.get(predicate);
            let known = |t| predicate.at(t).and_then(Linear::known);
            (0..self.scalars.threads()).any(|t| known(t).is_none_or(|p| p == 0))
        });
        let before = self.accesses.len();
        // An instruction for each piece, where it is not one as a whole.
        let in_pieces = atom.whole != atom.requires && !self.arch.has(atom.whole);
        let piece = if in_pieces { PIECE } else { bytes };
        for start in (0..bytes).step_by(piece.max(1) as usize) {
            self.record(op, &tensors, start, piece, kind, lanes);
        }
        self.conditions.truncate(conditions);
        for access in &mut self.accesses[before..] {
            access.assumed |= assumed;
        }
    }

    /// Notes an access of `bytes` bytes, `from` bytes behind each of these places.
    fn record(
        &mut self,
        op: Op<'c>,
        tensors: &[Place<'c, Start>],
        from: i64,
        bytes: i64,
        kind: Kind,
        lanes: i64,
    ) {
        if !self.recording {
            return;
        }
        let (mut global, mut shared) = (None, None);
        for Place { memref, start } in tensors {
            let side = Side {
                root: start.root,
                swizzle: memref.swizzle,
                bytes: start.bytes.map(|b| b.add(&from.into())),
            };
            *(if start.shared {
                &mut shared
            } else {
                &mut global
            }) = Some(side);
        }
        let mut assumed = false;
        let mut active = vec![true; self.scalars.threads()];
        for (condition, negated) in &self.conditions {
            for (t, active) in active.iter_mut().enumerate() {
                match condition.at(t).and_then(Linear::known) {
                    Some(known) => *active &= (known != 0) != *negated,
                    None => assumed = true,
                }
            }
        }
        self.accesses.push(Access {
            op: key_of(op),
            kind,
            bytes: u32::try_from(bytes).unwrap_or(0),
            lanes: u32::try_from(lanes).unwrap_or(32).min(32),
            global,
            shared,
            active,
            assumed,
        });
    }
}

/// An atom that accesses memory.
#[derive(Clone, Copy)]
enum AtomOp<'c> {
    Load(cute::AtomLoad<'c>),
    Store(cute::AtomStore<'c>),
    Copy(cute::AtomCopy<'c>),
}

impl<'c> AtomOp<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        cute::AtomLoad::of(op)
            .map(Self::Load)
            .or_else(|| cute::AtomStore::of(op).map(Self::Store))
            .or_else(|| cute::AtomCopy::of(op).map(Self::Copy))
    }
}

fn simple(memref: &MemRef, stores: bool) -> Kind {
    match (memref.space, stores) {
        (Space::Smem | Space::Dsmem, false) => Kind::SharedLoad,
        (Space::Smem | Space::Dsmem, true) => Kind::SharedStore,
        (_, false) => Kind::GlobalLoad,
        (_, true) => Kind::GlobalStore,
    }
}

pub(super) fn arguments(block: Blk<'_>) -> usize {
    arguments_of(block).len()
}

fn has_regions(op: Op<'_>) -> bool {
    op.region_count() > 0
}

/// The first block of each region.
fn bodies_of<'c>(op: Op<'c>) -> Vec<Blk<'c>> {
    (0..op.region_count())
        .filter_map(|i| body_of(op, i))
        .collect()
}
