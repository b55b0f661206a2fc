//! Bulk copies: reads and writes of the asynchronous proxy, between their issue and the completion that somebody waits for.
//!
//! A load to shared memory lands at any time until its bytes are needed at its `mbarrier` object; a store reads its source at any time
//! until `cp.async.bulk.wait_group.read`, and writes at any time until `wait_group`. (PTX ISA, "Data Movement and Conversion
//! Instructions: Asynchronous copy".)

mod boxed;
mod landing;
mod pieces;
mod reduce;
mod stores;

use std::collections::HashSet;

use super::blocks::of_launch;
use super::*;
use crate::emulator::clocks::Agent;
use crate::emulator::global::Accessor;
use crate::emulator::program::{At, Bulk, BulkKind, Order, StoreAsync};
use crate::emulator::shared::By;
use crate::tensor_map::MapSwizzle;
use boxed::Named;
use pieces::{Fill, Piece};
use reduce::Reduction;
use stores::Operand;

/// Bytes that addresses and sizes of bulk copies are multiples of.
const GRANULE: u64 = 16;
/// Bytes that repeat in every swizzle.
const LINE: u64 = 128;
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
    /// Waits of threads that have no groups, while others have, by instruction; the first warp and its lane.
    idle_waits: BTreeMap<u32, (u32, usize)>,
    /// Waits of threads that have groups.
    waits: HashSet<u32>,
    /// The pattern in which a load with a map writes 128 bytes, and the load.
    patterns: FxHashMap<u64, (MapSwizzle, u32)>,
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

impl Groups {
    /// Tells whether there is a copy whose read was not waited for.
    fn is_left(&self) -> bool {
        self.open || self.committed > self.read
    }
}

/// A copy that is under way.
struct Pending {
    inst: u32,
    thread: u32,
    pieces: Vec<Piece>,
    way: Way,
}

/// The bytes that arrive in shared memory.
enum Source {
    Global(Fill),
    /// Shared memory, read as late as the bytes arrive.
    Shared,
    /// Registers of the thread, read at the issue.
    Registers(Vec<u8>),
    /// A register of the thread, which what is there is reduced with.
    Operand(Operand),
}

enum Way {
    Load {
        agent: u32,
        barrier: u64,
        bytes: u64,
        source: Source,
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
        let sources = op.coordinates.iter().chain(&op.offsets);
        let sources = sources.flatten().copied();
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
        let blocks = self.blocks.len();
        let mask = op.mask.map(|mask| value(mask) & 0xffff);
        if let Some(found) = mask.filter(|mask| *mask == 0 || mask >> blocks != 0) {
            self.find(Kind::OutsideCluster, pc, None, warp.index, lane, None, || {
                format!(
                    "expected a mask of blocks of the cluster, which has {blocks}, found {found:#x}{}",
                    of_launch(blocks)
                )
            });
            return;
        }
        let stores = matches!(op.kind, BulkKind::Store | BulkKind::Reduce(..));
        let boxed = match &op.coordinates {
            Some(coordinates) => {
                let offsets = op.offsets.as_ref();
                let named = Named {
                    coordinates: coordinates.iter().map(|&c| value(c) as i32).collect(),
                    offsets: offsets
                        .map(|all| all.iter().map(|&o| value(o) as u32 & 0xffff).collect()),
                    stores,
                };
                match self.boxed(warp, lane, pc, place(op.global), named) {
                    Some(boxed) => Some(boxed),
                    None => return,
                }
            }
            None => None,
        };
        let shared = match op.shared {
            Some(at) => {
                let (space, to) = Self::resolve(warp.rank, at.space, place(at));
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
        let what = match op.kind {
            BulkKind::Load | BulkKind::Between => "writes",
            _ => "reads",
        };
        let between = op.kind == BulkKind::Between;
        let (pieces, bytes, fill) = match boxed {
            Some(_) if op.kind == BulkKind::Prefetch => return,
            Some(boxed) => {
                let bytes = boxed.map.box_bytes();
                // Boxes may be larger than any memory.
                let size = u32::try_from(bytes).unwrap_or(u32::MAX);
                if !self.holds_shared(warp, lane, pc, shared, size, what) {
                    return;
                }
                (boxed.pieces(shared, stores), bytes, Fill::of(&boxed.map))
            }
            None => {
                let bytes = op.bytes.map_or(0, value) & 0xffff_ffff;
                let (_, from) = Self::resolve(warp.rank, op.global.space, place(op.global));
                if !bytes.is_multiple_of(GRANULE) {
                    self.find(Kind::Misaligned, pc, None, warp.index, lane, None, || {
                        format!("expected a number of bytes that is a multiple of 16, found {bytes}; copy the rest by ld and st")
                    });
                    return;
                }
                let space = if between {
                    Space::Shared
                } else {
                    Space::Global
                };
                if !self.aligned(warp, lane, pc, space, from, GRANULE as usize) {
                    return;
                }
                if between && !self.is_own_source(warp, lane, pc, from, bytes) {
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
        let size = u32::try_from(extent).unwrap_or(u32::MAX);
        if !self.holds_shared(warp, lane, pc, shared, size, what) {
            return;
        }
        match &op.kind {
            BulkKind::Load | BulkKind::Between => {
                let Some(at) = op.barrier else { return };
                let near = mask.is_none().then_some(shared);
                let Some(barrier) = self.barrier_of(warp, lane, pc, (at.space, place(at)), near)
                else {
                    return;
                };
                let (to, _) = address::block_of_place(shared);
                // The same places in each block that it is for.
                let blocks = match mask {
                    Some(mask) => (0..16).filter(|rank| mask >> rank & 1 != 0).collect(),
                    None => vec![to],
                };
                for rank in blocks {
                    let there =
                        |place: u64| rank << address::RANK_BITS | address::block_of_place(place).1;
                    let mut pieces = pieces.clone();
                    for piece in &mut pieces {
                        piece.shared = there(piece.shared);
                    }
                    let source = if between {
                        Source::Shared
                    } else {
                        Source::Global(fill)
                    };
                    self.start_load(warp, lane, pc, (there(barrier), bytes), pieces, source);
                }
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

    /// The mbarrier object at an address, for what arrives in the block of `near`; none, and a finding, for what is none.
    fn barrier_of(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        near: Option<u64>,
    ) -> Option<u64> {
        let (space, barrier) = Self::resolve(warp.rank, space, at);
        if space != Space::Shared {
            self.outside(warp, lane, pc, space, barrier, 8, "uses a barrier");
            return None;
        }
        let block = |place| address::block_of_place(place).0;
        if near.is_some_and(|near| block(near) != block(barrier)) {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                "expected destination and mbarrier in one block of the cluster, found them in two"
                    .into()
            });
            return None;
        }
        Some(barrier)
    }

    /// Tells whether bytes lie in the shared memory of the thread's own block, which copies between blocks begin at, and notes where they do not.
    fn is_own_source(&mut self, warp: &Warp, lane: usize, pc: u32, from: u64, bytes: u64) -> bool {
        if address::block_of_place(from).0 != u64::from(warp.rank) {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                "expected a source in the shared memory of the block that copies, found that of another one".into()
            });
            return false;
        }
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.holds_shared(warp, lane, pc, from, size, "reads")
    }

    fn start_load(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (barrier, bytes): (u64, u64),
        pieces: Vec<Piece>,
        source: Source,
    ) {
        let stores = matches!(source, Source::Registers(_) | Source::Operand(_));
        if !self.inside_shared(warp, lane, pc, barrier, 8, "uses a barrier")
            || !self.is_barrier_for_copies(warp, lane, pc, barrier, !stores)
        {
            return;
        }
        let agent = if stores {
            Agent::Stores(barrier)
        } else {
            Agent::Mbarrier(barrier)
        };
        let Some(agent) = self.agent(warp, lane, pc, agent) else {
            return;
        };
        let thread = warp.thread(lane);
        let as_agent = Some((agent, self.clocks.now(agent)));
        match &source {
            Source::Global(_) => {
                self.touch_pieces(warp, lane, pc, &pieces, as_agent, true);
                self.note_global(warp, lane, pc, &pieces, as_agent, false);
            }
            Source::Shared => {
                let from = |piece: &Piece| Piece {
                    shared: piece.global,
                    ..*piece
                };
                let read: Vec<Piece> = pieces.iter().map(from).collect();
                self.touch_pieces(warp, lane, pc, &read, as_agent, false);
                self.touch_pieces(warp, lane, pc, &pieces, as_agent, true);
            }
            Source::Registers(_) => {
                for piece in &pieces {
                    self.touch_store(warp, lane, pc, piece, (agent, self.clocks.now(agent)));
                }
            }
            Source::Operand(_) => {
                for piece in &pieces {
                    self.touch_reduced(warp, lane, pc, piece, (agent, self.clocks.now(agent)));
                }
            }
        }
        if let Source::Global(fill) = &source
            && let Some(swizzle) = fill.swizzle()
        {
            for piece in &pieces {
                let lines =
                    piece.shared / LINE..=(piece.shared + u64::from(piece.bytes) - 1) / LINE;
                let patterns = lines.map(|line| (line, (swizzle, pc)));
                self.bulks.patterns.extend(patterns);
            }
        }
        self.bulks.pending.push(Pending {
            inst: pc,
            thread,
            pieces,
            way: Way::Load {
                agent,
                barrier,
                bytes,
                source,
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
                "expected at most an mbarrier or a warpgroup that asynchronous operations complete at for every two threads of the cluster, and 128 of few, found more than the emulator follows".into()
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
                ..self.accessor(warp, lane, pc, Order::default())
            };
            if let Some(conflict) = buffer.note_later(offset, bytes, writes, &by) {
                self.global_conflict(warp, lane, pc, at, conflict);
            }
        }
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
