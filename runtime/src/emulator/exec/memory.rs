//! Loads and stores of single threads.

use super::unwritten::{WRITTEN, all_written};
use super::*;
use crate::emulator::address;
use crate::emulator::global::Accessor;
use crate::emulator::program::{Access, Order, Space};
use crate::emulator::shared::{By, Trouble};

/// Bytes that the size of `st.bulk` is a multiple of.
const BULK: u64 = 8;
/// Bytes that it writes, at most.
const MOST_BULK: u64 = 1 << 24;

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
        if access.speculated {
            let thread = warp.thread(0);
            self.speculated = self.shared.loads.start(pc, thread, total);
        }
        // What is copied from one place of memory to another is not used.
        self.carries = access.is_read;
        // A load that is not what it seems has all of its bytes looked at.
        let taken = match access.speculated {
            true => total,
            false => access.taken as usize,
        };
        let mut data = [0; 32];
        for lane in lanes(active) {
            let data = &mut data[..total];
            data.fill(0);
            let place = (access.space, at[lane]);
            match access.is_used_whole(taken) {
                true => {
                    let data = (&mut data[..taken], total);
                    self.read_first(warp, lane, pc, place, data, access.order);
                }
                false => self.read_used(warp, lane, pc, access, at[lane], &mut data[..taken]),
            }
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
        self.carries = false;
        if let Some(holes) = self.holes.take() {
            self.bring(warp, access, active, pc, &holes);
        }
        if let Some(load) = self.speculated.take() {
            self.loaded(warp, access, load);
        }
    }

    pub(super) fn store(&mut self, warp: &mut Warp, access: &Access, active: Mask, pc: u32) {
        let at = self.addresses(warp, access.base, access.offset, active, pc);
        let bytes = access.bytes as usize;
        let total = bytes * access.regs.len();
        let mut regs = access.regs.iter().flatten();
        let lacking = regs.any(|reg| warp.lacking(*reg, active) != 0);
        let kept = match lacking {
            true => self.check_stored(warp, access, &at, active, pc),
            false => 0,
        };
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
        if kept != 0 {
            self.unwrite(warp, access, &at, kept);
        }
    }

    /// `st.bulk`: writes zeros to shared memory of the block.
    pub(super) fn store_bulk(
        &mut self,
        warp: &mut Warp,
        (space, at): (Space, Row),
        size: Reg,
        active: Mask,
        pc: u32,
    ) {
        self.check(warp, size, active, pc);
        for lane in lanes(active) {
            let bytes = warp.rows[size as usize][lane];
            let (space, at) = Self::space_of(space, at[lane]);
            if space != Space::Shared || !bytes.is_multiple_of(BULK) || bytes > MOST_BULK {
                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                    format!("expected a multiple of {BULK} bytes, at most {MOST_BULK}, of shared memory, found {bytes} bytes of {space:?} memory")
                });
                continue;
            }
            let place = address::shared_place(warp.rank, at);
            if !self.holds_shared(warp, lane, pc, place, bytes as u32, "writes") {
                continue;
            }
            for offset in (0..bytes).step_by(BULK as usize) {
                let place = (Space::Shared, at + offset);
                self.write_lane(warp, lane, pc, place, &[0; BULK as usize], Order::default());
            }
        }
    }

    /// The state space of an access, and the address in it; in shared memory, the place in that of the cluster.
    pub(super) fn resolve(rank: u32, space: Space, at: u64) -> (Space, u64) {
        match Self::space_of(space, at) {
            (Space::Shared, at) => (Space::Shared, address::shared_place(rank, at)),
            found => found,
        }
    }

    /// The state space of an access, and the address in it.
    pub(super) fn space_of(space: Space, at: u64) -> (Space, u64) {
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

    /// Reads into `data`, which stays as it is where nothing can be read.
    pub(super) fn read_lane(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        data: &mut [u8],
        order: Order,
    ) {
        let moved = data.len();
        self.read_first(warp, lane, pc, (space, at), (data, moved), order);
    }

    /// Reads the bytes of a load that are used, each run of neighbours by itself.
    fn read_used(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        access: &Access,
        at: u64,
        data: &mut [u8],
    ) {
        let moved = access.bytes as usize * access.regs.len();
        let (space, start) = Self::resolve(warp.rank, access.space, at);
        if !self.aligned(warp, lane, pc, space, start, moved) {
            return;
        }
        let is_used = |byte: usize| access.used >> byte & 1 == 1;
        let mut byte = 0;
        while byte < data.len() {
            let run = (byte..data.len()).take_while(|byte| is_used(*byte)).count();
            if run > 0 {
                let place = (access.space, at + byte as u64);
                let part = &mut data[byte..byte + run];
                self.read_first(warp, lane, pc, place, (part, 1), access.order);
            }
            byte += run.max(1);
        }
    }

    /// Reads the first bytes of an access that moves so many.
    fn read_first(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        (data, moved): (&mut [u8], usize),
        order: Order,
    ) {
        let (space, at) = Self::resolve(warp.rank, space, at);
        if !self.aligned(warp, lane, pc, space, at, moved) {
            return;
        }
        match space {
            Space::Shared => {
                if !self.holds_shared(warp, lane, pc, at, data.len() as u32, "reads") {
                    return;
                }
                self.read_shared(warp, lane, pc, at, data, order);
            }
            Space::Local => {
                let Some(range) = self.local_range(warp, lane, pc, at, data.len(), "reads") else {
                    return;
                };
                let defined = &warp.local_written[range.clone()];
                if !all_written(defined) {
                    self.read_unwritten(warp, lane, pc, (space, at), defined);
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
                let found = self.readable(warp, lane, pc, (space, at), data.len());
                let Some((buffer, offset)) = found else {
                    return;
                };
                let by = self.accessor(warp, lane, pc, order);
                let (conflict, seen) = buffer.read_noted(offset, data, &by);
                if let Some(conflict) = conflict {
                    self.global_conflict(warp, lane, pc, at, conflict);
                }
                if order.strong() {
                    self.acquire(warp.thread(lane), (Space::Global, at), order, seen);
                }
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
        self.visit(warp, lane, pc, at);
        let by = By {
            thread: warp.thread(lane),
            inst: pc,
            strong: order.width,
            agent: None,
            clocks: &self.clocks,
        };
        let conflict = match self.speculated {
            None => self.shared.read(at, data.len(), by),
            Some(load) => self.shared.read_speculated(at, data.len(), by, load),
        };
        if let Some(conflict) = conflict {
            let carried = match self.carries {
                true => self.shared.undefined(at, data.len()),
                false => None,
            };
            if let Some(defined) = &carried {
                let place = match conflict.trouble {
                    Trouble::Uninitialized => conflict.at,
                    _ => at,
                };
                let place = (Space::Shared, place);
                self.read_unwritten(warp, lane, pc, place, &defined[..data.len()]);
            }
            if carried.is_none() || conflict.trouble != Trouble::Uninitialized {
                self.shared_conflict(warp, lane, pc, conflict, "reads");
            }
        }
        if order.strong() {
            self.acquire_from(warp.thread(lane), at, order);
        }
        data.copy_from_slice(self.shared.get(at, data.len()));
    }

    /// Writes `data`, where it can be written.
    pub(super) fn write_lane(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: u32,
        (space, at): (Space, u64),
        data: &[u8],
        order: Order,
    ) {
        let (space, at) = Self::resolve(warp.rank, space, at);
        self.progress += 1;
        if !self.aligned(warp, lane, pc, space, at, data.len()) {
            return;
        }
        match space {
            Space::Shared => {
                if !self.holds_shared(warp, lane, pc, at, data.len() as u32, "writes") {
                    return;
                }
                self.write_shared(warp, lane, pc, at, data, order);
            }
            Space::Local => {
                let Some(range) = self.local_range(warp, lane, pc, at, data.len(), "writes") else {
                    return;
                };
                warp.local_written[range.clone()].fill(WRITTEN);
                warp.local[range].copy_from_slice(data);
            }
            Space::Param | Space::Const => {
                self.outside(warp, lane, pc, space, at, data.len() as u32, "writes");
            }
            Space::Global | Space::Generic => {
                let found = self.writable(warp, lane, pc, at, data.len(), "writes");
                let Some((buffer, offset)) = found else {
                    return;
                };
                let thread = warp.thread(lane);
                let place = (Space::Global, at);
                let handed = self.handed(thread, place, order);
                let by = self.accessor(warp, lane, pc, order);
                if let Some(conflict) = buffer.write(offset, data, &by, handed.as_ref()) {
                    self.global_conflict(warp, lane, pc, at, conflict);
                }
                self.keep_released(thread, place, order, handed);
            }
        }
    }

    /// A thread now, as one that accesses global memory.
    pub(super) fn accessor(&self, warp: &Warp, lane: usize, pc: u32, order: Order) -> Accessor<'_> {
        Accessor {
            block: self.linear,
            rank: warp.rank as u8,
            thread: warp.thread(lane),
            inst: pc,
            order,
            agent: None,
            clocks: &self.clocks,
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
        self.visit(warp, lane, pc, at);
        let thread = warp.thread(lane);
        let by = By {
            thread,
            inst: pc,
            strong: order.width,
            agent: None,
            clocks: &self.clocks,
        };
        if let Some(conflict) = self.shared.write_value(at, data, by) {
            self.shared_conflict(warp, lane, pc, conflict, "writes");
        }
        self.release_to(thread, at, data.len(), order);
        self.shared.get_mut(at, data.len()).copy_from_slice(data);
    }

    pub(super) fn local_range(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        at: u64,
        bytes: usize,
        what: &str,
    ) -> Option<std::ops::Range<usize>> {
        let range = self
            .own(lane, at, bytes)
            .filter(|_| !self.is_unallocated(warp, lane, at, bytes));
        if range.is_none() {
            self.outside(warp, lane, pc, Space::Local, at, bytes as u32, what);
        } else if self.is_between(warp, lane, at, bytes) {
            self.overrun(warp, lane, pc, at, bytes, what);
            return None;
        }
        range
    }

    /// The place of a range of a thread's own memory in its warp's.
    pub(super) fn own(&self, lane: usize, at: u64, bytes: usize) -> Option<std::ops::Range<usize>> {
        let size = self.launch.kernel.local_bytes;
        let inside = at.checked_add(bytes as u64).is_some_and(|end| end <= size);
        let start = || lane * size as usize + at as usize;
        inside.then(|| start()..start() + bytes)
    }
}
