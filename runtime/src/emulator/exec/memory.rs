//! Loads, stores and atomics of single threads.

use super::*;
use crate::emulator::address;
use crate::emulator::global::{Buffer, Writer};
use crate::emulator::program::{Access, Atomic, AtomicOp, Order, Space};
use crate::emulator::shared::{By, Conflict, Trouble};

impl Context<'_> {
    pub(super) fn addresses(
        &mut self,
        warp: &Warp,
        base: Reg,
        offset: i64,
        active: Mask,
        pc: u32,
    ) -> Row {
        self.check(warp, base, active, pc);
        warp.rows[base as usize].map(|base| base.wrapping_add_signed(offset))
    }

    pub(super) fn load(&mut self, warp: &mut Warp, access: &Access, active: Mask, pc: u32) {
        let at = self.addresses(warp, access.base, access.offset, active, pc);
        let bytes = access.bytes as usize;
        let total = bytes * access.regs.len();
        self.count(pc, access.space, &at, active, total as u32, false);
        let extend = access.signed.map(|width| (access.bytes * 8, width));
        let mut data = [0; 32];
        for lane in lanes(active) {
            let data = &mut data[..total];
            data.fill(0);
            self.read_lane(warp, lane, pc, (access.space, at[lane]), data, access.order);
            for (part, reg) in data.chunks_exact(bytes).zip(&access.regs) {
                let Some(reg) = reg else { continue };
                let mut word = [0; 8];
                word[..bytes].copy_from_slice(part);
                let mut value = u64::from_le_bytes(word);
                if let Some((from, to)) = extend {
                    value = ((value << (64 - from)) as i64 >> (64 - from)) as u64;
                    value &= u64::MAX >> (64 - to);
                }
                warp.rows[*reg as usize][lane] = value;
            }
        }
        for reg in access.regs.iter().flatten() {
            warp.defined[*reg as usize] |= active;
        }
    }

    pub(super) fn store(&mut self, warp: &mut Warp, access: &Access, active: Mask, pc: u32) {
        let at = self.addresses(warp, access.base, access.offset, active, pc);
        for reg in access.regs.iter().flatten() {
            self.check(warp, *reg, active, pc);
        }
        let bytes = access.bytes as usize;
        let total = bytes * access.regs.len();
        self.count(pc, access.space, &at, active, total as u32, true);
        let mut data = [0; 32];
        for lane in lanes(active) {
            for (part, reg) in data.chunks_exact_mut(bytes).zip(&access.regs) {
                let value = reg.map_or(0, |reg| warp.rows[reg as usize][lane]);
                part.copy_from_slice(&value.to_le_bytes()[..bytes]);
            }
            self.write_lane(
                warp,
                lane,
                pc,
                (access.space, at[lane]),
                &data[..total],
                access.order,
            );
        }
    }

    /// The state space of an access, and the address in it.
    pub(super) fn resolve(space: Space, at: u64) -> (Space, u64) {
        if space != Space::Generic {
            return (space, at);
        }
        match address::space_of(at) {
            Space::Shared => (Space::Shared, at - address::SHARED),
            Space::Local => (Space::Local, at - address::LOCAL),
            Space::Param => (Space::Param, at - address::PARAM),
            _ => (Space::Global, at),
        }
    }

    fn aligned(
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

    /// What lies at an address.
    pub fn describe(launch: &Launch<'_>, space: Space, at: u64) -> String {
        match Self::resolve(space, at) {
            (Space::Shared, at) => match at.checked_sub(address::SHARED_START) {
                Some(offset) => format!("shared memory at byte {offset}"),
                None => format!("shared memory at address {at:#x}"),
            },
            (Space::Local, at) => format!("local memory at byte {at}"),
            (Space::Param, at) => format!("parameters at byte {at}"),
            (_, at) => match launch.global.find(at) {
                Some((buffer, offset)) if buffer.holds(offset, 1) => {
                    format!("{} at {}", buffer.name, (buffer.describe)(offset))
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

    /// Reads into `data`, which stays as it is where nothing can be read.
    fn read_lane(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        data: &mut [u8],
        order: Order,
    ) {
        let (space, at) = Self::resolve(space, at);
        if !self.aligned(warp, lane, pc, space, at, data.len()) {
            return;
        }
        match space {
            Space::Shared => {
                if !self.inside_shared(warp, lane, pc, at, data.len() as u32, "reads") {
                    return;
                }
                self.read_shared(warp, lane, pc, at, data, order);
            }
            Space::Local => {
                let Some(range) = self.local_range(warp, lane, pc, at, data.len(), "reads") else {
                    return;
                };
                if !warp.local_written[range.clone()]
                    .iter()
                    .all(|written| *written)
                {
                    self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, space, at);
                }
                data.copy_from_slice(&warp.local[range]);
            }
            Space::Param => match self
                .launch
                .params
                .get(at as usize..)
                .and_then(|rest| rest.get(..data.len()))
            {
                Some(found) => data.copy_from_slice(found),
                None => self.outside(warp, lane, pc, space, at, data.len() as u32, "reads"),
            },
            Space::Global | Space::Const | Space::Generic => {
                let found = self.launch.global.find(at);
                let Some((buffer, offset)) =
                    found.filter(|(buffer, offset)| buffer.holds(*offset, data.len() as u64))
                else {
                    self.outside(warp, lane, pc, space, at, data.len() as u32, "reads");
                    return;
                };
                self.global_read(warp, lane, pc, buffer, (at, offset), data.len(), order);
                buffer.read(offset, data);
            }
        }
    }

    /// Reads shared memory that is there.
    pub(super) fn read_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        data: &mut [u8],
        order: Order,
    ) {
        let by = By {
            thread: warp.thread(lane),
            inst: pc,
            strong: order.width,
            clocks: &self.clocks,
        };
        if let Some(conflict) = self.shared.read(at, data.len(), by) {
            self.shared_conflict(warp, lane, pc, conflict, "reads");
        }
        if order.strong {
            self.acquire_from(warp.thread(lane), at, order);
        }
        data.copy_from_slice(self.shared.get(at, data.len()));
    }

    fn write_lane(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        data: &[u8],
        order: Order,
    ) {
        let (space, at) = Self::resolve(space, at);
        self.progress += 1;
        if !self.aligned(warp, lane, pc, space, at, data.len()) {
            return;
        }
        match space {
            Space::Shared => {
                if !self.inside_shared(warp, lane, pc, at, data.len() as u32, "writes") {
                    return;
                }
                self.write_shared(warp, lane, pc, at, data, order);
            }
            Space::Local => {
                let Some(range) = self.local_range(warp, lane, pc, at, data.len(), "writes") else {
                    return;
                };
                warp.local_written[range.clone()].fill(true);
                warp.local[range].copy_from_slice(data);
            }
            Space::Param | Space::Const => {
                self.outside(warp, lane, pc, space, at, data.len() as u32, "writes");
            }
            Space::Global | Space::Generic => {
                let global = self.launch.global;
                let found = global.find(at);
                let Some((buffer, offset)) =
                    found.filter(|(buffer, offset)| buffer.holds(*offset, data.len() as u64))
                else {
                    self.outside(warp, lane, pc, space, at, data.len() as u32, "writes");
                    return;
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
                        || format!("expected {} to be read only, found a write", buffer.name),
                    );
                    return;
                }
                if buffer.leaves_out(offset, data.len()) {
                    self.outside(warp, lane, pc, space, at, data.len() as u32, "writes");
                }
                let thread = warp.thread(lane);
                let by = Writer {
                    block: self.linear,
                    thread,
                    time: self.clocks.now(thread),
                };
                let sync = order.strong || self.launch.kernel.global_sync;
                let clocks = &self.clocks;
                let ordered = |other: Writer| {
                    if other.block == by.block {
                        clocks.ordered(thread, other.thread, other.time)
                    } else {
                        sync
                    }
                };
                let written = buffer.write(offset, data, by, ordered);
                if !sync && buffer.was_read(offset, data.len(), by.block) {
                    let address = Some((space, at));
                    self.find(Kind::GlobalRace, pc, None, warp.index, lane, address, || {
                        "another block reads what this thread writes, and nothing orders them; blocks of a launch run in any order".into()
                    });
                }
                if let Some(other) = written {
                    let address = Some((space, at));
                    self.find(Kind::ConflictingWrites, pc, None, warp.index, lane, address, || {
                        let who = if other.block == by.block {
                            format!("thread {} of the block", other.thread)
                        } else {
                            format!("block number {}", other.block)
                        };
                        format!("{who} writes another value here, and nothing orders the two; let one thread write each element")
                    });
                }
            }
        }
    }

    /// Writes shared memory that is there.
    pub(super) fn write_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        data: &[u8],
        order: Order,
    ) {
        let thread = warp.thread(lane);
        let by = By {
            thread,
            inst: pc,
            strong: order.width,
            clocks: &self.clocks,
        };
        if let Some(conflict) = self.shared.write(at, data.len(), by) {
            self.shared_conflict(warp, lane, pc, conflict, "writes");
        }
        self.release_to(thread, at, data.len(), order);
        self.shared.get_mut(at, data.len()).copy_from_slice(data);
    }

    fn local_range(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: usize,
        what: &str,
    ) -> Option<std::ops::Range<usize>> {
        let size = self.launch.kernel.local_bytes;
        if at.checked_add(bytes as u64).is_none_or(|end| end > size) {
            self.outside(warp, lane, pc, Space::Local, at, bytes as u32, what);
            return None;
        }
        let start = lane * size as usize + at as usize;
        Some(start..start + bytes)
    }

    /// Whether an aligned access lies inside of shared memory.
    pub(super) fn inside_shared(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: u32,
        what: &str,
    ) -> bool {
        if !self.aligned(warp, lane, pc, Space::Shared, at, bytes as usize) {
            return false;
        }
        if self.shared.holds(at, u64::from(bytes)) {
            return true;
        }
        let have = self.shared.len();
        let address = Some((Space::Shared, at));
        self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
            format!("{what} {bytes} bytes outside of shared memory, of which the block has {have} bytes; check the layout's cosize and what the launch asks for")
        });
        false
    }

    /// Whether the source of an asynchronous copy can be read: `read` bytes of an address that is a multiple
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
        let global = self.launch.global;
        let found = global.find(at);
        let Some((buffer, offset)) =
            found.filter(|(buffer, offset)| buffer.holds(*offset, u64::from(read)))
        else {
            self.outside(warp, lane, pc, Space::Global, at, read, "reads");
            return false;
        };
        self.global_read(
            warp,
            lane,
            pc,
            buffer,
            (at, offset),
            read as usize,
            Order::default(),
        );
        true
    }

    /// Notes what is wrong with a read that a buffer holds.
    #[expect(clippy::too_many_arguments, reason = "an access and who makes it")]
    fn global_read(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        buffer: &Buffer,
        (at, offset): (u64, u64),
        bytes: usize,
        order: Order,
    ) {
        let whole = if bytes.is_power_of_two() {
            buffer.initialized(offset, bytes)
        } else {
            (0..bytes as u64).all(|byte| buffer.initialized(offset + byte, 1))
        };
        if !whole {
            self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, Space::Global, at);
        }
        if order.strong || self.launch.kernel.global_sync {
            return;
        }
        let thread = warp.thread(lane);
        let ordered = |other: Writer| {
            other.block == self.linear && self.clocks.ordered(thread, other.thread, other.time)
        };
        if let Some(other) = buffer.note_read(offset, bytes, self.linear, ordered) {
            let here = self.linear;
            let address = Some((Space::Global, at));
            self.find(Kind::GlobalRace, pc, None, warp.index, lane, address, || {
                if other.block == here {
                    format!(
                        "warp {}, lane {} of the block writes what this thread reads, and no barrier orders the two; put one between them",
                        other.thread / 32,
                        other.thread % 32
                    )
                } else {
                    format!(
                        "block number {} writes what this thread reads, and nothing orders them; blocks of a launch run in any order",
                        other.block
                    )
                }
            });
        }
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
        self.find(Kind::OutOfBounds, pc, None, warp.index, lane, address, || {
            let space = match space {
                Space::Local => "local memory",
                Space::Param => "the parameters",
                Space::Const => "constant memory",
                _ => "every tensor and variable",
            };
            format!("{what} {bytes} bytes outside of {space} (address {at:#x}); check extents and strides against the argument's layout")
        });
    }

    #[cold]
    fn uninitialized(
        &mut self,
        kind: Kind,
        warp: &Warp,
        lane: usize,
        pc: u32,
        space: Space,
        at: u64,
    ) {
        let address = Some((space, at));
        self.find(kind, pc, None, warp.index, lane, address, || {
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
        what: &str,
    ) {
        let address = Some((Space::Shared, conflict.at));
        let kind = match conflict.trouble {
            Trouble::Uninitialized => Kind::UninitializedShared,
            Trouble::InFlight => Kind::MissingWait,
            Trouble::AfterWrite | Trouble::AfterRead => Kind::SharedRace,
        };
        let with = (conflict.trouble != Trouble::Uninitialized).then_some(conflict.inst);
        self.find(kind, pc, with, warp.index, lane, address, || {
            let (warp, lane) = (conflict.thread / 32, conflict.thread % 32);
            let other = format!("warp {warp}, lane {lane}");
            match conflict.trouble {
                Trouble::Uninitialized => {
                    format!("{what} shared memory that no thread of the block wrote")
                }
                Trouble::InFlight => format!(
                    "{what} shared memory while an asynchronous copy of {other} may be under way to it; the copying thread \
                     must wait for its group (cp.async.wait_group), and a barrier must follow for other threads"
                ),
                Trouble::AfterWrite => format!(
                    "{what} shared memory that {other} writes, and no barrier orders the two; put one between them"
                ),
                Trouble::AfterRead => format!(
                    "{what} shared memory that {other} reads, and no barrier orders the two; put one between them"
                ),
            }
        });
    }

    pub(super) fn atomic(&mut self, warp: &mut Warp, op: &Atomic, active: Mask, pc: u32) {
        let at = self.addresses(warp, op.base, op.offset, active, pc);
        self.check(warp, op.a, active, pc);
        if let Some(b) = op.b {
            self.check(warp, b, active, pc);
        }
        self.count_atomic(pc, op, &at, active);
        let bytes = op.bytes as usize;
        // Lanes one by one, in their order.
        for lane in lanes(active) {
            let (space, at) = Self::resolve(op.space, at[lane]);
            if !self.aligned(warp, lane, pc, space, at, bytes) {
                continue;
            }
            self.progress += 1;
            let operand = warp.rows[op.a as usize][lane];
            let swap = op.b.map_or(0, |b| warp.rows[b as usize][lane]);
            let update = |before: u64| update(op, before, operand, swap);
            let before = match space {
                Space::Shared => {
                    if !self.inside_shared(warp, lane, pc, at, op.bytes, "changes") {
                        continue;
                    }
                    let mut data = [0; 8];
                    self.read_shared(warp, lane, pc, at, &mut data[..bytes], op.order);
                    let before = u64::from_le_bytes(data);
                    if let Some(after) = update(before) {
                        self.write_shared(
                            warp,
                            lane,
                            pc,
                            at,
                            &after.to_le_bytes()[..bytes],
                            op.order,
                        );
                    }
                    before
                }
                Space::Global | Space::Generic => {
                    let global = self.launch.global;
                    let found = global.find(at);
                    let Some((buffer, offset)) =
                        found.filter(|(buffer, offset)| buffer.holds(*offset, bytes as u64))
                    else {
                        self.outside(warp, lane, pc, space, at, op.bytes, "changes");
                        continue;
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
                            || {
                                format!(
                                    "expected {} to be read only, found an atomic operation",
                                    buffer.name
                                )
                            },
                        );
                        continue;
                    }
                    if !buffer.initialized(offset, bytes) {
                        self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, space, at);
                    }
                    let thread = warp.thread(lane);
                    let by = Writer {
                        block: self.linear,
                        thread,
                        time: self.clocks.now(thread),
                    };
                    buffer.modify(offset, bytes, by, update)
                }
                _ => {
                    self.outside(warp, lane, pc, space, at, op.bytes, "changes");
                    continue;
                }
            };
            if let Some(d) = op.d {
                warp.rows[d as usize][lane] = before;
            }
        }
        if let Some(d) = op.d {
            warp.defined[d as usize] |= active;
        }
    }

    /// A fence: what the thread did before it comes before what others do after they see a strong write
    /// that follows it, and the other way round. (PTX ISA, "Release and Acquire Patterns".)
    pub(super) fn fence(&mut self, warp: &Warp, active: Mask) {
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let fences = self.fences.entry(thread).or_default();
            if let Some(seen) = fences.seen.take() {
                self.clocks.acquire_joined(thread, &seen);
            }
            fences.before = Some(self.clocks.release_alone(thread));
        }
    }

    /// Hands on what a thread has done to whoever acquires from that place. What was handed on there before is
    /// for those who see it: any write that is no part of an atomic operation hides it.
    pub(super) fn release_to(&mut self, thread: u32, at: u64, bytes: usize, order: Order) {
        if !order.atomic && !self.released.is_empty() {
            let (first, end) = (at.saturating_sub(7), at + bytes as u64);
            let hidden = self.released.range(first..end);
            let hidden: Vec<u64> = hidden
                .filter(|(place, (width, _))| *place + u64::from(*width) > at)
                .map(|(place, _)| *place)
                .collect();
            for place in hidden {
                self.released.remove(&place);
            }
        }
        let times = if !order.strong {
            return;
        } else if order.release {
            self.clocks.release_alone(thread)
        } else if let Some(before) = self.fences.get(&thread).and_then(|f| f.before.clone()) {
            before
        } else {
            return;
        };
        let (width, all) = self.released.entry(at).or_default();
        *width = order.width;
        join(all, &times);
    }

    fn acquire_from(&mut self, thread: u32, at: u64, order: Order) {
        let Some((_, times)) = self.released.get(&at) else {
            return;
        };
        if order.acquire {
            self.clocks.acquire_joined(thread, times);
        } else {
            join(
                self.fences
                    .entry(thread)
                    .or_default()
                    .seen
                    .get_or_insert_default(),
                times,
            );
        }
    }
}

/// The later of each two times.
pub(super) fn join(times: &mut Vec<u32>, new: &[u32]) {
    times.resize(times.len().max(new.len()), 0);
    for (mine, new) in times.iter_mut().zip(new) {
        *mine = (*mine).max(*new);
    }
}

/// The value after an atomic operation; none if it stays.
fn update(op: &Atomic, before: u64, operand: u64, swap: u64) -> Option<u64> {
    let mask = u64::MAX >> (64 - op.bytes * 8);
    let operand = operand & mask;
    match (op.op, op.combine) {
        (AtomicOp::Exchange, _) => Some(operand),
        (AtomicOp::CompareAndSwap, _) => (before == operand).then_some(swap & mask),
        (AtomicOp::Inc, _) => Some(if before >= operand { 0 } else { before + 1 }),
        (AtomicOp::Dec, _) => Some(if before == 0 || before > operand {
            operand
        } else {
            before - 1
        }),
        (_, Some(f)) => {
            let mut out = [0; LANES];
            f(&mut out, &[before; LANES], &[operand; LANES], &[0; LANES]);
            Some(out[0] & mask)
        }
        // Every other operation has a function.
        (_, None) => None,
    }
}
