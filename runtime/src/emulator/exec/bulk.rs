//! Bulk copies: reads and writes of the asynchronous proxy, between their issue and the completion that somebody waits for.
//!
//! A load to shared memory lands at any time until its bytes are needed at its `mbarrier` object; a store reads its source at any time
//! until `cp.async.bulk.wait_group.read`, and writes at any time until `wait_group`. (PTX ISA, "Data Movement and Conversion
//! Instructions: Asynchronous copy".)

mod pieces;
mod reduce;

use super::*;
use crate::emulator::clocks::Agent;
use crate::emulator::global::Accessor;
use crate::emulator::program::{At, Bulk, BulkKind, Order};
use crate::emulator::shared::By;
use pieces::{Boxed, Fill, Piece};
use reduce::Reduction;

/// Bytes that addresses and sizes of bulk copies are multiples of.
const GRANULE: u64 = 16;
/// The most bytes that an `mbarrier` object counts (PTX ISA, "Contents of the mbarrier object").
pub(super) const MOST_BYTES: i64 = (1 << 20) - 1;

/// The bulk copies of a block.
#[derive(Default)]
pub(in crate::emulator) struct Bulks {
    pending: Vec<Pending>,
    /// Groups by thread.
    groups: BTreeMap<u32, Groups>,
    /// Tells whether copies land as late as they can, mostly.
    lazy: bool,
}

impl Bulks {
    pub(in crate::emulator) fn new(lazy: bool) -> Bulks {
        Bulks {
            lazy,
            ..Bulks::default()
        }
    }
}

/// The bulk groups of a thread.
#[derive(Default)]
struct Groups {
    committed: u32,
    /// Groups whose reads were waited for.
    read: u32,
    /// The last copy, and whether it belongs to no group yet.
    last: u32,
    open: bool,
}

/// A copy that is under way.
struct Pending {
    inst: u32,
    thread: u32,
    pieces: Vec<Piece>,
    way: Way,
}

enum Way {
    Load {
        agent: u32,
        barrier: u64,
        bytes: u64,
        fill: Fill,
    },
    Store {
        group: u32,
        /// The source, once it is read.
        data: Option<Vec<u8>>,
        reduction: Option<Reduction>,
    },
}

impl Context<'_> {
    /// `cp.async.bulk`, thread by thread.
    pub(super) fn bulk(&mut self, warp: &mut Warp, op: &Bulk, active: Mask, pc: u32) {
        let sources = op.coordinates.iter().flatten().copied();
        for reg in sources.chain(op.bytes).chain(op.mask) {
            self.check(warp, reg, active, pc);
        }
        for at in [op.shared, Some(op.global), op.barrier]
            .into_iter()
            .flatten()
        {
            self.check(warp, at.base, active, pc);
        }
        for lane in lanes(active) {
            self.progress += 1;
            self.bulk_of_lane(warp, op, lane, pc);
        }
    }

    fn bulk_of_lane(&mut self, warp: &mut Warp, op: &Bulk, lane: usize, pc: u32) {
        let value = |reg: Reg| warp.rows[reg as usize][lane];
        let place = |at: At| value(at.base).wrapping_add_signed(at.offset);
        if let Some(mask) = op.mask
            && value(mask) & 0xffff != 1
        {
            let found = value(mask) & 0xffff;
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected a mask of blocks that are in the cluster, which has one block, so 1; found {found:#x}")
            });
        }
        let boxed = match &op.coordinates {
            Some(coordinates) => {
                let coordinates: Vec<i32> = coordinates.iter().map(|&c| value(c) as i32).collect();
                let stores = matches!(op.kind, BulkKind::Store | BulkKind::Reduce(..));
                match self.boxed(warp, lane, pc, place(op.global), coordinates, stores) {
                    Some(boxed) => Some(boxed),
                    None => return,
                }
            }
            None => None,
        };
        let shared = match op.shared {
            Some(at) => {
                let (space, to) = Self::resolve(at.space, place(at));
                let align = if boxed.is_some() { 128 } else { GRANULE };
                if space != Space::Shared {
                    self.outside(warp, lane, pc, space, to, 16, "copies");
                    return;
                }
                if !self.aligned(warp, lane, pc, Space::Shared, to, align as usize) {
                    return;
                }
                to
            }
            None => address::SHARED_START,
        };
        let (pieces, bytes, fill) = match boxed {
            Some(boxed) => {
                let bytes = boxed.map.box_bytes();
                (boxed.pieces(shared), bytes, Fill::of(&boxed.map))
            }
            None => {
                let bytes = op.bytes.map_or(0, value) & 0xffff_ffff;
                let (_, from) = Self::resolve(op.global.space, place(op.global));
                if !bytes.is_multiple_of(GRANULE) {
                    self.find(Kind::Misaligned, pc, None, warp.index, lane, None, || {
                        format!("expected a number of bytes that is a multiple of 16, found {bytes}; copy the rest by ld and st")
                    });
                    return;
                }
                if !self.aligned(warp, lane, pc, Space::Global, from, GRANULE as usize) {
                    return;
                }
                (Piece::whole(shared, from, bytes), bytes, Fill::zeros())
            }
        };
        if op.kind == BulkKind::Prefetch {
            return;
        }
        let end = pieces
            .iter()
            .map(|piece| piece.shared + u64::from(piece.bytes))
            .max();
        let extent = end.map_or(0, |end| end.saturating_sub(shared)).max(bytes);
        let what = if op.kind == BulkKind::Load {
            "writes"
        } else {
            "reads"
        };
        let size = u32::try_from(extent).unwrap_or(u32::MAX);
        if !self.holds_shared(warp, lane, pc, shared, size, what) {
            return;
        }
        match &op.kind {
            BulkKind::Load => {
                let Some(at) = op.barrier else { return };
                let (space, barrier) = Self::resolve(at.space, place(at));
                if space != Space::Shared {
                    self.outside(warp, lane, pc, space, barrier, 8, "uses a barrier");
                    return;
                }
                self.start_load(warp, lane, pc, (barrier, bytes), pieces, fill);
            }
            kind => {
                let reduction = match kind {
                    BulkKind::Reduce(name, ty) => {
                        let ty = ty.or(fill.reduced_as());
                        match ty.and_then(|ty| Reduction::of(name, ty)) {
                            Some(reduction) => Some(reduction),
                            None => {
                                let ty = ty.unwrap_or("such elements");
                                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                                    format!("expected a reduction that cp.reduce.async.bulk has, found .{name} of {ty}")
                                });
                                return;
                            }
                        }
                    }
                    _ => None,
                };
                self.start_store(warp, lane, pc, pieces, reduction);
            }
        }
    }

    fn start_load(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (barrier, bytes): (u64, u64),
        pieces: Vec<Piece>,
        fill: Fill,
    ) {
        if !self.inside_shared(warp, lane, pc, barrier, 8, "uses a barrier")
            || !self.is_barrier_for_copies(warp, lane, pc, barrier)
        {
            return;
        }
        let Some(agent) = self.agent(warp, lane, pc, Agent::Mbarrier(barrier)) else {
            return;
        };
        let thread = warp.thread(lane);
        let as_agent = Some((agent, self.clocks.now(agent)));
        self.touch_pieces(warp, lane, pc, &pieces, as_agent, true);
        self.note_global(warp, lane, pc, &pieces, as_agent, false);
        self.bulks.pending.push(Pending {
            inst: pc,
            thread,
            pieces,
            way: Way::Load {
                agent,
                barrier,
                bytes,
                fill,
            },
        });
        self.land_early();
    }

    fn start_store(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        pieces: Vec<Piece>,
        reduction: Option<Reduction>,
    ) {
        let thread = warp.thread(lane);
        let Some(agent) = self.agent(warp, lane, pc, Agent::Groups(thread)) else {
            return;
        };
        let groups = self.bulks.groups.entry(thread).or_default();
        (groups.last, groups.open) = (pc, true);
        let group = groups.committed;
        self.touch_pieces(
            warp,
            lane,
            pc,
            &pieces,
            Some((agent, read_time(group))),
            false,
        );
        // Reductions are atomic, and are noted as they happen.
        if reduction.is_none() {
            let written = Some((agent, written_time(group)));
            self.note_global(warp, lane, pc, &pieces, written, true);
        }
        self.bulks.pending.push(Pending {
            inst: pc,
            thread,
            pieces,
            way: Way::Store {
                group,
                data: None,
                reduction,
            },
        });
        self.land_early();
    }

    /// The clock of an agent; a finding where there is none left.
    pub(super) fn agent(&mut self, warp: &Warp, lane: usize, pc: u32, agent: Agent) -> Option<u32> {
        let clock = self.clocks.agents.clock(agent);
        if clock.is_none() {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                "expected at most 128 mbarriers and warpgroups that asynchronous operations complete at, found more than the emulator follows".into()
            });
        }
        clock
    }

    /// Notes what a copy reads or writes in shared memory.
    fn touch_pieces(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        pieces: &[Piece],
        agent: Option<(u32, u32)>,
        writes: bool,
    ) {
        let thread = warp.thread(lane);
        for piece in pieces {
            let bytes = piece.bytes as usize;
            if writes {
                self.release_to(thread, piece.shared, bytes, Order::default());
            }
            let by = By {
                thread,
                inst: pc,
                strong: 0,
                agent,
                clocks: &self.clocks,
            };
            let conflict = match writes {
                true => self.shared.start_copy(piece.shared, bytes, by),
                false => self.shared.read(piece.shared, bytes, by),
            };
            if let Some(conflict) = conflict {
                let what = if writes { "writes" } else { "reads" };
                self.shared_conflict(warp, lane, pc, conflict, what);
            }
        }
    }

    /// Notes what a copy reads or writes in global memory. What lies outside is no part of a piece from here on.
    fn note_global(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        pieces: &[Piece],
        agent: Option<(u32, u32)>,
        writes: bool,
    ) {
        for piece in pieces {
            let (at, bytes) = (piece.global, piece.there());
            if bytes == 0 {
                continue;
            }
            let found = match writes {
                true => self.writable(warp, lane, pc, at, bytes as usize, "writes"),
                false => match self.launch.global.range(at, bytes) {
                    Some((buffer, offset)) if !buffer.all_initialized(offset, bytes) => {
                        let kind = Kind::UninitializedMemory;
                        self.uninitialized(kind, warp, lane, pc, Space::Global, at);
                        Some((buffer, offset))
                    }
                    Some(found) => Some(found),
                    None => {
                        self.outside(warp, lane, pc, Space::Global, at, bytes as u32, "reads");
                        None
                    }
                },
            };
            let Some((buffer, offset)) = found else {
                return;
            };
            let by = Accessor {
                agent,
                ..self.accessor(warp, lane, Order::default())
            };
            if let Some(conflict) = buffer.note_later(offset, bytes, writes, &by) {
                self.global_conflict(warp, lane, pc, at, conflict);
            }
        }
    }

    /// Lets the newest copy land at once, by chance.
    fn land_early(&mut self) {
        if !self.bulks.lazy && self.random.below(3) == 0 {
            let last = self.bulks.pending.len() - 1;
            self.land_bulk(last);
        }
    }

    /// Lets some copy go on that nobody waits for yet.
    pub(crate) fn land_some_bulk(&mut self) {
        let pending = self.bulks.pending.len() as u64;
        let rarely = if self.bulks.lazy { 64 } else { 2 };
        if pending == 0 || self.random.below(rarely) != 0 {
            return;
        }
        let at = self.random.below(pending) as usize;
        // A source may be read long before it is written to its destination.
        if let Way::Store { data: None, .. } = self.bulks.pending[at].way
            && self.random.below(2) == 0
        {
            self.read_source(at);
        } else {
            self.land_bulk(at);
        }
    }

    /// Lets one copy land where nobody can go on. Returns whether there was one.
    pub(super) fn land_any_bulk(&mut self) -> bool {
        let pending = self.bulks.pending.len() as u64;
        if pending != 0 {
            let at = self.random.below(pending) as usize;
            self.land_bulk(at);
        }
        pending != 0
    }

    fn land_bulk(&mut self, at: usize) {
        if matches!(self.bulks.pending[at].way, Way::Store { data: None, .. }) {
            self.read_source(at);
        }
        let copy = self.bulks.pending.swap_remove(at);
        match copy.way {
            Way::Load {
                agent,
                barrier,
                bytes,
                fill,
            } => {
                let time = self.clocks.now(agent);
                for piece in &copy.pieces {
                    let bytes = piece.bytes as usize;
                    let to = self.shared.get_mut(piece.shared, bytes);
                    fill.write(piece, to, |from, out| {
                        if let Some((buffer, offset)) =
                            self.launch.global.range(from, out.len() as u64)
                        {
                            buffer.copy_out(offset, out);
                        }
                    });
                    self.shared
                        .finish_copy_as(piece.shared, bytes, agent, (agent, time));
                }
                self.complete_bytes(barrier, bytes, agent);
            }
            Way::Store {
                group,
                data,
                reduction,
            } => {
                self.progress += 1;
                let data = data.unwrap_or_default();
                let clock = self.clocks.agents.clock(Agent::Groups(copy.thread));
                let by = Accessor {
                    block: self.linear,
                    thread: copy.thread,
                    order: Order::default(),
                    agent: clock.map(|clock| (clock, written_time(group))),
                    clocks: &self.clocks,
                };
                let mut rest = data.as_slice();
                let mut raced = None;
                for piece in &copy.pieces {
                    let (part, others) = rest.split_at(piece.bytes as usize);
                    rest = others;
                    let part = &part[piece.first as usize..piece.last as usize];
                    let global = self.launch.global;
                    let Some((buffer, offset)) = global.range(piece.global, part.len() as u64)
                    else {
                        continue;
                    };
                    if !buffer.writable || part.is_empty() {
                        continue;
                    }
                    match &reduction {
                        None => buffer.copy_in(offset, part),
                        Some(reduction) => {
                            let conflict = reduction.apply(buffer, offset, part, &by);
                            raced = raced.or(conflict.map(|conflict| (piece.global, conflict)));
                        }
                    }
                }
                if let Some((at, conflict)) = raced {
                    self.global_conflict_of(copy.thread, copy.inst, at, conflict);
                }
            }
        }
    }

    /// Reads the source of a store.
    fn read_source(&mut self, at: usize) {
        let copy = &mut self.bulks.pending[at];
        let mut source = Vec::new();
        for piece in &copy.pieces {
            source.extend_from_slice(self.shared.get(piece.shared, piece.bytes as usize));
        }
        if let Way::Store { data, .. } = &mut copy.way {
            *data = Some(source);
        }
    }

    pub(super) fn bulk_commit(&mut self, warp: &Warp, active: Mask) {
        for lane in lanes(active) {
            let groups = self.bulks.groups.entry(warp.thread(lane)).or_default();
            groups.committed += 1;
            groups.open = false;
        }
    }

    /// Waits for all groups but the `newest`, of each thread by itself.
    pub(super) fn bulk_wait(
        &mut self,
        warp: &Warp,
        active: Mask,
        pc: u32,
        (newest, read): (u32, bool),
    ) {
        let has = |lane: &usize| {
            let groups = self.bulks.groups.get(&warp.thread(*lane));
            groups.is_some_and(|groups| groups.committed != 0)
        };
        if !lanes(active).any(|lane| has(&lane)) {
            let lane = first(active);
            self.find(Kind::MissingWait, pc, None, warp.index, lane, None, || {
                "waits for bulk groups of which these threads have none: groups belong to the thread that issued the copies; \
                 let that thread commit and wait, and put a barrier after its wait"
                    .into()
            });
            return;
        }
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let Some(groups) = self.bulks.groups.get_mut(&thread) else {
                continue;
            };
            let done = groups.committed.saturating_sub(newest);
            if done == 0 {
                continue;
            }
            groups.read = groups.read.max(done);
            let mut at = 0;
            while at < self.bulks.pending.len() {
                let copy = &self.bulks.pending[at];
                match copy.way {
                    Way::Store {
                        group, ref data, ..
                    } if copy.thread == thread && group < done => {
                        if !read {
                            self.land_bulk(at);
                            continue;
                        }
                        if data.is_none() {
                            self.read_source(at);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            if let Some(agent) = self.clocks.agents.clock(Agent::Groups(thread)) {
                let time = match read {
                    true => read_time(done - 1),
                    false => written_time(done - 1),
                };
                self.clocks.learn(thread, agent, time);
            }
        }
    }

    /// Lets everything land as the block ends, and notes what nobody waited for.
    pub(crate) fn end_bulks(&mut self) {
        while let Some(copy) = self.bulks.pending.last() {
            if let Way::Load { barrier, .. } = copy.way {
                let (thread, inst) = (copy.thread, copy.inst);
                let address = Some((Space::Shared, barrier));
                self.find_at_end(Kind::MissingWait, inst, thread, address, || {
                    "the block ends while this copy may still write its shared memory; wait for its mbarrier's phase before the end".into()
                });
            }
            let last = self.bulks.pending.len() - 1;
            self.land_bulk(last);
        }
        for (thread, groups) in std::mem::take(&mut self.bulks.groups) {
            let inst = groups.last;
            if groups.open {
                self.find_at_end(Kind::MissingWait, inst, thread, None, || {
                    "the block ends and this copy is in no group, so that nothing waits for it; execute cp.async.bulk.commit_group after it, and wait".into()
                });
            } else if groups.read < groups.committed {
                self.find_at_end(Kind::MissingWait, inst, thread, None, || {
                    "the block ends while this copy may still read its shared memory; execute cp.async.bulk.wait_group.read 0 in the thread that issued it".into()
                });
            }
        }
    }

    /// Notes a finding about an earlier instruction of a thread.
    pub(super) fn find_at_end(
        &mut self,
        kind: Kind,
        inst: u32,
        thread: u32,
        address: Option<(Space, u64)>,
        message: impl FnOnce() -> String,
    ) {
        let (warp, lane) = (thread / LANES as u32, thread as usize % LANES);
        self.find(kind, inst, None, warp, lane, address, message);
    }

    /// Reads a tensor map, and notes what is wrong with it or with the coordinates.
    fn boxed(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        coordinates: Vec<i32>,
        stores: bool,
    ) -> Option<Boxed> {
        let map = match self.tensor_map(at) {
            Ok(map) => map,
            Err(message) => {
                let address = Some((Space::Generic, at));
                self.find(Kind::Undefined, pc, None, warp.index, lane, address, || {
                    message
                });
                return None;
            }
        };
        let (rank, found) = (map.rank(), coordinates.len());
        if rank != found {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected as many coordinates as the tensor map has modes, {rank}, found {found}")
            });
            return None;
        }
        if stores && let Some(mode) = coordinates.iter().position(|&c| c < 0) {
            let found = coordinates[mode];
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected a coordinate of 0 or more along mode {mode} of a store, found {found}; only loads may begin before the tensor")
            });
            return None;
        }
        Some(Boxed { map, coordinates })
    }
}

/// The time of the reads of a thread's bulk group, which come before its writes.
fn read_time(group: u32) -> u32 {
    2 * group + 1
}

/// The time of the writes of a thread's bulk group.
fn written_time(group: u32) -> u32 {
    2 * group + 2
}
