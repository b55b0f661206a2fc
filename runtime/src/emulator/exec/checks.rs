//! The rules of an access, and what is said where it breaks one.

use super::*;
use crate::emulator::address;
use crate::emulator::clocks::Agent;
use crate::emulator::global::{Buffer, Gone, NOWHERE, Unordered, Who};
use crate::emulator::program::{Order, Space};
use crate::emulator::shared::{Conflict, Trouble, What};

impl<'a> Context<'a> {
    pub(super) fn aligned(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        space: Space,
        at: u64,
        bytes: usize,
    ) -> bool {
        // Accesses have powers of two of bytes; a division would be most of this.
        if at & (bytes as u64).wrapping_sub(1) == 0 {
            return true;
        }
        let address = Some((space, at));
        self.find(Kind::Misaligned, pc, None, warp.index, lane, address, || {
            format!(
                "expected an address that is a multiple of {bytes}, found {at:#x}; align the tensor or use a narrower access"
            )
        });
        false
    }

    /// Names the thing that lies at an address.
    pub(crate) fn describe(launch: &Launch<'_>, space: Space, at: u64) -> String {
        match Self::space_of(space, at) {
            (Space::Shared, at) => {
                let (rank, at) = address::block_of_place(at);
                let text = match at.checked_sub(address::SHARED_START) {
                    Some(offset) => format!("shared memory at byte {offset}"),
                    None => format!("shared memory at address {at:#x}"),
                };
                match rank {
                    0 => text,
                    _ => format!("{text} of block {rank} of the cluster"),
                }
            }
            (Space::Local, at) => format!("local memory at byte {at}"),
            (Space::Param, at) => format!("parameters at byte {at}"),
            (_, at) => match launch.global.find(at) {
                Some((buffer, offset)) if buffer.holds(offset, 1) => {
                    format!("{} at {}", buffer.name, (buffer.describe)(offset))
                }
                Some((buffer, offset)) if buffer.gone == Some(Gone::Freed) => {
                    format!("byte {} of {}, which was freed", offset as i64, buffer.name)
                }
                Some((buffer, _)) if buffer.gone.is_some() => {
                    format!("address {at:#x} of the host")
                }
                Some((buffer, offset)) => {
                    let offset = offset as i64;
                    if offset < 0 {
                        format!("{} bytes before {}", -i128::from(offset), buffer.name)
                    } else {
                        let past = offset.unsigned_abs() - buffer.bytes;
                        format!("{past} bytes past the end of {}", buffer.name)
                    }
                }
                None => format!("address {at:#x}, where nothing is"),
            },
        }
    }

    /// Tells whether an aligned access lies inside of shared memory.
    pub(super) fn inside_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: u32,
        what: &str,
    ) -> bool {
        self.aligned(warp, lane, pc, Space::Shared, at, bytes as usize)
            && self.holds_shared(warp, lane, pc, at, bytes, what)
    }

    /// The same, for an access that is known to be aligned.
    #[inline]
    pub(super) fn holds_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: u32,
        what: &str,
    ) -> bool {
        let (rank, _) = address::block_of_place(at);
        rank as u32 == warp.rank && self.shared.holds(at, u64::from(bytes))
            || self.holds_elsewhere(warp, lane, pc, at, bytes, what)
    }

    /// The same, for an access to another block's shared memory, or to none.
    #[inline(never)]
    fn holds_elsewhere(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: u32,
        what: &str,
    ) -> bool {
        let (rank, _) = address::block_of_place(at);
        let address = Some((Space::Shared, at));
        if self.shared.holds(at, u64::from(bytes)) {
            if self.has_ended(rank as u32) {
                self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
                    format!("{what} shared memory of block {rank} of the cluster, which has ended; let no block end before others are done with it (barrier.cluster)")
                });
            }
            return true;
        }
        let have = self.shared.len();
        self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
            format!("{what} {bytes} bytes outside of shared memory, of which the block has {have} bytes; check the layout's cosize and what the launch asks for")
        });
        false
    }

    /// Remembers an access to the shared memory of another block, which must not end before.
    #[inline]
    pub(super) fn visit(&mut self, warp: &Warp, lane: usize, pc: u32, at: u64) {
        let (rank, _) = address::block_of_place(at);
        if rank as u32 != warp.rank {
            let thread = warp.thread(lane);
            let visit = Visit {
                time: self.clocks.now(thread),
                inst: pc,
                thread,
                at,
            };
            self.visits[rank as usize].insert(thread, visit);
        }
    }

    /// Notes accesses to the shared memory of a block that ends of which it does not know that they are over: in another order of the
    /// threads they come after its end.
    pub(super) fn check_visits(&mut self, rank: u32) {
        // Threads have their numbers in the cluster, block by block.
        let first = rank * self.warps * LANES as u32;
        let of_block = first..first + self.threads;
        for (who, visit) in std::mem::take(&mut self.visits[rank as usize]) {
            let mut threads = of_block.clone();
            if threads.any(|thread| self.clocks.ordered(thread, who, visit.time)) {
                continue;
            }
            let address = Some((Space::Shared, visit.at));
            self.find_at_end(Kind::OutOfBounds, visit.inst, visit.thread, address, || {
                format!("uses shared memory of block {rank} of the cluster, which may have ended by then, as nothing makes it wait; let no block end before others are done with it (barrier.cluster)")
            });
        }
    }

    /// Tells whether the source of an asynchronous copy can be read: `read` bytes of an address that is a multiple
    /// of `bytes`.
    pub(super) fn async_source(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        (bytes, read): (u32, u32),
    ) -> bool {
        if read == 0 {
            return true;
        }
        if !self.aligned(warp, lane, pc, Space::Global, at, bytes as usize) {
            return false;
        }
        let Some((buffer, offset)) =
            self.readable(warp, lane, pc, (Space::Global, at), read as usize)
        else {
            return false;
        };
        let by = self.accessor(warp, lane, pc, Order::default());
        if let Some(conflict) = buffer.note_read(offset, read as usize, &by) {
            self.global_conflict(warp, lane, pc, at, conflict);
        }
        true
    }

    /// The global memory that a read is of, and the offset in it; none if there is none. Notes what is wrong with it.
    pub(super) fn readable(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        bytes: usize,
    ) -> Option<(&'a Buffer, u64)> {
        let global: &'a Global = self.launch.global;
        let Some((buffer, offset)) = global.range(at, bytes as u64) else {
            self.outside(warp, lane, pc, space, at, bytes as u32, "reads");
            return None;
        };
        let whole = if bytes.is_power_of_two() {
            buffer.initialized(offset, bytes)
        } else {
            (0..bytes as u64).all(|byte| buffer.initialized(offset + byte, 1))
        };
        if !whole {
            let defined: Vec<u8> = (0..bytes as u64)
                .map(|byte| buffer.defined(offset + byte))
                .collect();
            self.read_unwritten(warp, lane, pc, (Space::Global, at), &defined);
        }
        Some((buffer, offset))
    }

    /// The global memory that a write or an atomic operation changes, and the offset in it; none if it must not.
    pub(super) fn writable(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: usize,
        what: &str,
    ) -> Option<(&'a Buffer, u64)> {
        let global: &'a Global = self.launch.global;
        let space = Space::Global;
        let Some((buffer, offset)) = global.range(at, bytes as u64) else {
            self.outside(warp, lane, pc, space, at, bytes as u32, what);
            return None;
        };
        if !buffer.writable {
            let address = Some((space, at));
            self.find(
                Kind::WriteToInput,
                pc,
                None,
                warp.index,
                lane,
                address,
                || format!("{what} {}, which was expected to be read only", buffer.name),
            );
            return None;
        }
        if buffer.leaves_out(offset, bytes) {
            self.outside(warp, lane, pc, space, at, bytes as u32, what);
        }
        Some((buffer, offset))
    }

    /// Notes that an access of global memory and one of another thread are not ordered.
    #[cold]
    pub(super) fn global_conflict(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        conflict: Unordered,
    ) {
        self.global_conflict_of(warp.thread(lane), pc, at, conflict);
    }

    /// The same, of a thread that may have gone on.
    #[cold]
    pub(super) fn global_conflict_of(
        &mut self,
        thread: u32,
        pc: u32,
        at: u64,
        conflict: Unordered,
    ) {
        if self.defers(thread, pc, || What::Global(at, conflict)) {
            return;
        }
        let (warp, lane) = (thread / LANES as u32, thread as usize % LANES);
        let Unordered {
            this, other, who, ..
        } = conflict;
        let kind = match (this.reads, other.reads) {
            _ if conflict.non_coherent => Kind::NonCoherentRead,
            (false, false) => Kind::ConflictingWrites,
            _ => Kind::GlobalRace,
        };
        let near = who.block == self.linear;
        let warps = self.warps;
        let self_agent = self.clocks.agents.of(who.thread);
        let address = Some((Space::Global, at));
        let with = (near && self_agent.is_none() && who.inst != NOWHERE).then_some(who.inst);
        let seen = self.has_seen(thread, who);
        self.find(kind, pc, with, warp, lane, address, || {
            let agent = self_agent.filter(|_| near);
            let them = match near {
                true if agent.is_some() => agent.map(|agent| Self::agent_text(agent, warps)).unwrap_or_default(),
                true => format!(
                    "warp {}, lane {} of the block",
                    who.thread / 32 % warps,
                    who.thread % 32
                ),
                false => format!("block number {}", who.block),
            };
            if kind == Kind::NonCoherentRead {
                let why = "which may get what was there before, as nothing may write such memory while the kernel runs; use ld.global";
                return match this.writes {
                    true => format!("writes what this launch has read by ld.global.nc (__ldg), {why} there, or write elsewhere"),
                    false => format!("reads by ld.global.nc (__ldg) what this launch has written, {why}"),
                };
            }
            let does = match (other.reads, other.writes) {
                (true, true) => "changes by an atomic operation",
                (true, false) => "reads",
                _ if kind == Kind::ConflictingWrites => "writes another value to",
                _ => "writes",
            };
            let what = match (this.reads, this.writes) {
                (true, true) => "what this thread changes by an atomic operation",
                (true, false) => "what this thread reads",
                _ if kind == Kind::ConflictingWrites => "what this thread writes",
                _ => "what this thread writes",
            };
            let cure = match (this.width, other.width) {
                _ if seen && near => {
                    "this thread has seen by a strong read what was written behind that, but acquires nothing by it; put fence.acq_rel.cta, or a \
                     wider one, behind that read, or let it be an acquire"
                }
                _ if seen => {
                    "this thread has seen by a strong read what was written behind that, but acquires nothing of other blocks by it; put \
                     fence.acq_rel.gpu behind that read, or let it be an acquire of scope .gpu"
                }
                (0, _) | (_, 0) if kind == Kind::ConflictingWrites => {
                    "nothing orders the two; let one thread write each element"
                }
                (0, _) | (_, 0) if near => "no barrier orders the two; put one between them",
                (0, _) | (_, 0) => {
                    "nothing orders them; blocks of a launch run in any order, unless a fence and a strong write (or a release) of \
                     one are seen by a strong read and a fence (or an acquire) of the other, all of scope .gpu"
                }
                (mine, its) if mine != its => {
                    "nothing orders the two, which are strong but of different sizes; use one size"
                }
                _ => {
                    "nothing orders the two, which are strong but whose scope is the block alone; use scope .gpu"
                }
            };
            format!("{them} {does} {what}, and {cure}")
        });
    }

    /// Tells whether a thread has seen by a strong read what was released behind an access, without an acquire.
    fn has_seen(&self, thread: u32, who: Who) -> bool {
        let Some(fences) = self.fences.get(&thread) else {
            return false;
        };
        let has = |times: &[u32]| {
            let time = times.get(who.thread as usize);
            time.is_some_and(|&time| time >= who.time)
        };
        let far = fences.seen.far.as_ref();
        let far = far.and_then(|told| told.blocks.get(&who.block));
        let near = fences
            .seen
            .near
            .as_ref()
            .filter(|_| who.block == self.linear);
        near.is_some_and(|view| has(&view.times)) || far.is_some_and(|times| has(times))
    }

    /// Names operations that complete after their issue.
    fn agent_text(agent: Agent, warps: u32) -> String {
        match agent {
            Agent::Groups(thread) => {
                format!(
                    "bulk copies of warp {}, lane {}",
                    thread / 32 % warps,
                    thread % 32
                )
            }
            Agent::Mbarrier(at) => format!(
                "bulk copies that complete at the mbarrier at byte {}",
                address::block_of_place(at)
                    .1
                    .saturating_sub(address::SHARED_START)
            ),
            Agent::Stores(at) => format!(
                "stores or reductions (st.async, red.async) that complete at the mbarrier at byte {}",
                address::block_of_place(at)
                    .1
                    .saturating_sub(address::SHARED_START)
            ),
            Agent::Warpgroup(first) => {
                format!("wgmma of warps {} to {}", first % warps, first % warps + 3)
            }
        }
    }

    fn completion_of(agent: Agent) -> &'static str {
        match agent {
            Agent::Groups(_) => {
                "the copying thread's cp.async.bulk.wait_group (.read where its source is written), then a barrier for others"
            }
            Agent::Mbarrier(_) | Agent::Stores(_) => {
                "mbarrier.try_wait for the phase that their bytes end, by the thread or one that tells it"
            }
            Agent::Warpgroup(_) => {
                "wgmma.wait_group for the group that they are committed to, then a barrier for others"
            }
        }
    }

    /// An access beyond the end of a variable of a thread's own, or before its start.
    #[cold]
    pub(super) fn overrun(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: usize,
        what: &str,
    ) {
        let address = Some((Space::Local, at));
        self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
            format!(
                "{what} {bytes} bytes between two arrays in local memory: over the end of the one, or before the start of the other; \
                 check the index against the array's size"
            )
        });
    }

    #[expect(clippy::too_many_arguments, reason = "an access and who makes it")]
    pub(super) fn outside(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        space: Space,
        at: u64,
        bytes: u32,
        what: &str,
    ) {
        let address = Some((space, at));
        let gone = match space {
            Space::Global => self
                .launch
                .global
                .find(at)
                .and_then(|(buffer, _)| buffer.gone),
            _ => None,
        };
        self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
            match gone {
                Some(Gone::Freed) => {
                    return format!("{what} {bytes} bytes of memory that the program has freed; free it after the last launch that uses it");
                }
                Some(Gone::Host) => {
                    return format!("{what} {bytes} bytes of memory of the host, which kernels do not have; copy it to memory of the device, or allocate it by cudaMallocManaged or cudaHostAlloc");
                }
                None => {}
            }
            let space = match space {
                Space::Local => "local memory",
                Space::Param => "the parameters",
                Space::Const => "constant memory",
                _ => "every tensor and variable",
            };
            format!("{what} {bytes} bytes outside of {space} (address {at:#x}); check extents and strides against the argument's layout, or give what goes over its ends a predicate")
        });
    }

    #[cold]
    pub(super) fn uninitialized(
        &mut self,
        kind: Kind,
        warp: &Warp,
        lane: usize,
        pc: u32,
        space: Space,
        at: u64,
    ) {
        self.uninitialized_of(kind, warp.thread(lane), pc, (space, at));
    }

    /// The same, of a thread that may have gone on.
    pub(super) fn uninitialized_of(
        &mut self,
        kind: Kind,
        thread: u32,
        pc: u32,
        (space, at): (Space, u64),
    ) {
        let (warp, lane) = (thread / LANES as u32, thread as usize % LANES);
        let address = Some((space, at));
        self.find(kind, pc, None, warp, lane, address, || {
            "expected memory that was written before it is read, found some that nothing wrote"
                .into()
        });
    }

    #[cold]
    pub(super) fn shared_conflict(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        conflict: Conflict,
        what: &'static str,
    ) {
        self.shared_conflict_of(warp.thread(lane), pc, conflict, what);
    }

    /// The same, of a thread that may have gone on.
    #[cold]
    pub(super) fn shared_conflict_of(
        &mut self,
        thread: u32,
        pc: u32,
        conflict: Conflict,
        what: &'static str,
    ) {
        if self.defers(thread, pc, || What::Shared(conflict, what)) {
            return;
        }
        let (warp, lane) = (thread / LANES as u32, thread as usize % LANES);
        let address = Some((Space::Shared, conflict.at));
        let kind = match conflict.trouble {
            Trouble::Uninitialized => Kind::UninitializedShared,
            Trouble::InFlight | Trouble::Arriving(_) | Trouble::BeingRead(_) => Kind::MissingWait,
            Trouble::Unfenced => Kind::MissingFence,
            Trouble::AfterWrite | Trouble::AfterRead => Kind::SharedRace,
            Trouble::AfterEqualWrite => Kind::EqualWrites,
        };
        let with = (conflict.trouble != Trouble::Uninitialized).then_some(conflict.inst);
        let warps = self.warps;
        let agents = |agent| Self::agent_text(agent, warps);
        self.find(kind, pc, with, warp, lane, address, || {
            let (warp, lane) = (conflict.thread / 32 % warps, conflict.thread % 32);
            let other = format!("warp {warp}, lane {lane}");
            match conflict.trouble {
                Trouble::Uninitialized => {
                    format!("{what} shared memory that no thread of the block wrote")
                }
                Trouble::InFlight => format!(
                    "{what} shared memory while an asynchronous copy of {other} may be under way to it; the copying thread \
                     must wait for its group (cp.async.wait_group), and a barrier must follow for other threads"
                ),
                Trouble::Arriving(agent) => format!(
                    "{what} shared memory that {} may still write; wait for their completion first: {}",
                    agents(agent),
                    Self::completion_of(agent)
                ),
                Trouble::BeingRead(agent) => format!(
                    "{what} shared memory that {} may still read; wait for their completion first: {}",
                    agents(agent),
                    Self::completion_of(agent)
                ),
                Trouble::Unfenced => format!(
                    "{what} shared memory in the asynchronous proxy after {other} accessed it in the generic one, and no proxy fence stands between \
                     the two; execute fence.proxy.async after that access and before the barrier that leads here"
                ),
                Trouble::AfterWrite => format!(
                    "{what} shared memory that {other} writes, and no barrier orders the two; put one between them"
                ),
                Trouble::AfterEqualWrite => format!(
                    "{what} the value to shared memory that {other} writes there, too, and no barrier orders the two: whichever comes last, the value \
                     is the same, but PTX calls it a race; let one thread write, or put a barrier between the two"
                ),
                Trouble::AfterRead => format!(
                    "{what} shared memory that {other} reads, and no barrier orders the two; put one between them"
                ),
            }
        });
    }
}
