//! Strong accesses: atomics, and what fences and strong accesses hand from thread to thread.

use super::*;
use crate::emulator::program::{Atomic, AtomicOp, Fence, Order, Scope, Space};

impl Context<'_> {
    pub(super) fn atomic(&mut self, warp: &mut Warp, op: &Atomic, active: Mask, pc: u32) {
        let at = self.addresses(warp, op.base, op.offset, active, pc);
        for reg in op.a.iter().copied().chain(op.b) {
            for half in 0..op.halves() {
                self.check_bytes(warp, reg + half, op.bytes.min(8), active, pc);
            }
        }
        self.count_atomic(pc, op, &at, active);
        let bytes = op.bytes as usize;
        // Lanes one by one, in their order.
        for lane in lanes(active) {
            let (space, at) = Self::resolve(warp.rank, op.space, at[lane]);
            if !self.aligned(warp, lane, pc, space, at, bytes * op.a.len()) {
                continue;
            }
            self.progress += 1;
            for (element, a) in op.a.iter().enumerate() {
                let operand = value(warp, *a, lane, op);
                let d = op.d.get(element).copied().flatten();
                self.update(
                    warp,
                    op,
                    (lane, d),
                    pc,
                    (space, at + (element * bytes) as u64),
                    operand,
                );
            }
        }
        for d in op.d.iter().flatten() {
            for half in 0..op.halves() {
                warp.defined[(*d + half) as usize] |= active;
            }
        }
    }

    /// Updates one element for one lane, with the value from before to a register.
    fn update(
        &mut self,
        warp: &mut Warp,
        op: &Atomic,
        (lane, d): (usize, Option<Reg>),
        pc: u32,
        (space, at): (Space, u64),
        operand: u128,
    ) {
        let bytes = op.bytes as usize;
        let swap = op.b.map_or(0, |b| value(warp, b, lane, op));
        let update = |before: u128| updated(op, before, operand, swap);
        let before = match space {
            Space::Shared => {
                if !self.holds_shared(warp, lane, pc, at, op.bytes, "changes") {
                    return;
                }
                let mut data = [0; 16];
                self.read_shared(warp, lane, pc, at, &mut data[..bytes], op.order);
                let before = u128::from_le_bytes(data);
                if let Some(after) = update(before) {
                    self.write_shared(warp, lane, pc, at, &after.to_le_bytes()[..bytes], op.order);
                }
                before
            }
            Space::Global | Space::Generic => {
                let found = self.writable(warp, lane, pc, at, bytes, "changes");
                let Some((buffer, offset)) = found else {
                    return;
                };
                if !buffer.initialized(offset, bytes) {
                    self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, space, at);
                }
                let thread = warp.thread(lane);
                let place = (Space::Global, at);
                let handed = self.handed(thread, place, op.order);
                let mut wrote = false;
                let update = |before| {
                    let after = update(before);
                    wrote = after.is_some();
                    after
                };
                let by = self.accessor(warp, lane, pc, op.order);
                let (before, conflict, seen) =
                    buffer.modify(offset, bytes, &by, handed.as_ref(), update);
                if let Some(conflict) = conflict {
                    self.global_conflict(warp, lane, pc, at, conflict);
                }
                self.acquire(thread, place, op.order, seen);
                if wrote {
                    self.keep_released(thread, place, op.order, handed);
                }
                before
            }
            _ => {
                self.outside(warp, lane, pc, space, at, op.bytes, "changes");
                return;
            }
        };
        if let Some(d) = d {
            warp.rows[d as usize][lane] = before as u64;
            if op.halves() == 2 {
                warp.rows[d as usize + 1][lane] = (before >> 64) as u64;
            }
        }
    }

    /// A fence: what the thread did before it comes before what others do after they see a strong write
    /// that follows it, and the other way round. (PTX ISA, "Release and Acquire Patterns".)
    pub(super) fn fence(&mut self, warp: &Warp, active: Mask, fence: Fence) {
        let is_far = fence.scope == Scope::Device;
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let fences = self.fences.entry(thread).or_default();
            if fence.acquires
                && let Some(view) = fences.seen.near.take()
            {
                self.clocks.acquire_view(thread, &view);
            }
            if fence.acquires
                && is_far
                && let Some(others) = fences.seen.far.take()
            {
                self.clocks.acquire_others(thread, self.linear, &others);
            }
            if !fence.releases {
                continue;
            }
            let view = Arc::new(self.clocks.release_alone(thread));
            if is_far {
                fences.before_far = Some(Arc::clone(&view));
            }
            fences.before = Some(view);
        }
    }

    /// The knowledge that a thread hands on by a write that it is about to make: all that it did before, if the write releases; else what came
    /// before a fence, or before its last release operation on that place.
    pub(super) fn handed(
        &mut self,
        thread: u32,
        (space, at): (Space, u64),
        order: Order,
    ) -> Option<Handed> {
        if !order.strong() {
            return None;
        }
        let far = order.scope == Scope::Device;
        if order.release {
            let near = Arc::new(self.clocks.release_alone(thread));
            let far = far.then(|| Arc::clone(&near));
            return Some(Handed { near, far });
        }
        let fences = self.fences.get(&thread)?;
        let before = fences.before.clone().map(|near| Handed {
            near,
            far: fences.before_far.clone(),
        });
        let released = fences
            .released
            .as_ref()
            .filter(|(its, place, _)| (*its, *place) == (space, at));
        let mut handed = match (before, released) {
            (Some(mut before), Some((.., released))) => {
                before.join(released);
                before
            }
            (Some(before), None) => before,
            (None, Some((.., released))) => released.clone(),
            (None, None) => return None,
        };
        handed.far = handed.far.filter(|_| far);
        Some(handed)
    }

    /// Keeps what a release operation has handed on: strong writes of the thread to that place hand it on again.
    pub(super) fn keep_released(
        &mut self,
        thread: u32,
        (space, at): (Space, u64),
        order: Order,
        handed: Option<Handed>,
    ) {
        if let (true, Some(handed)) = (order.release, handed) {
            self.fences.entry(thread).or_default().released = Some((space, at, handed));
        }
    }

    /// Hands on what a thread has done to whoever acquires from that place in shared memory. What was handed on there before is
    /// for those who see it: any write that is no part of an atomic operation hides it.
    pub(super) fn release_to(&mut self, thread: u32, at: u64, bytes: usize, order: Order) {
        if !order.atomic && !self.released.is_empty() {
            let (first, end) = (at.saturating_sub(15), at + bytes as u64);
            let hidden = self.released.range(first..end);
            let hidden: Vec<u64> = hidden
                .filter(|(place, (width, _))| *place + u64::from(*width) > at)
                .map(|(place, _)| *place)
                .collect();
            for place in hidden {
                self.released.remove(&place);
            }
        }
        let handed = self.handed(thread, (Space::Shared, at), order);
        if let Some(handed) = &handed {
            self.hand_on(at, order.width, handed);
        }
        self.keep_released(thread, (Space::Shared, at), order, handed);
    }

    /// Hands on knowledge to whoever acquires from a place in shared memory of so many bytes.
    pub(super) fn hand_on(&mut self, at: u64, bytes: u8, handed: &Handed) {
        let (width, all) = self.released.entry(at).or_default();
        *width = bytes;
        Arc::make_mut(all).join(&handed.near);
    }

    /// A strong read of shared memory.
    pub(super) fn acquire_from(&mut self, thread: u32, at: u64, order: Order) {
        let near = self.released.get(&at).map(|(_, view)| Arc::clone(view));
        let seen = Seen { near, far: None };
        self.acquire(thread, (Space::Shared, at), order, seen);
    }

    /// A strong read has seen something: the thread knows it now if the read acquires, else after a fence or an operation on that
    /// place that acquires.
    pub(super) fn acquire(
        &mut self,
        thread: u32,
        (space, at): (Space, u64),
        order: Order,
        mut seen: Seen,
    ) {
        if order.scope != Scope::Device {
            seen.far = None;
        }
        if !order.acquire {
            if seen.is_empty() {
                return;
            }
            let fences = self.fences.entry(thread).or_default();
            fences.seen.join(&seen);
            fences.last_seen = Some((space, at, seen));
            return;
        }
        if let Some(fences) = self.fences.get_mut(&thread)
            && let Some((.., before)) = fences
                .last_seen
                .take_if(|(its, place, _)| (*its, *place) == (space, at))
        {
            let far = before.far.filter(|_| order.scope == Scope::Device);
            seen.join(&Seen { far, ..before });
        }
        if let Some(view) = &seen.near {
            self.clocks.acquire_view(thread, view);
        }
        if let Some(others) = &seen.far {
            self.clocks.acquire_others(thread, self.linear, others);
        }
    }
}

/// The value that an atomic operation finds in a register, or in two.
fn value(warp: &Warp, reg: Reg, lane: usize, op: &Atomic) -> u128 {
    let low = u128::from(warp.rows[reg as usize][lane]);
    match op.halves() {
        1 => low,
        _ => u128::from(warp.rows[reg as usize + 1][lane]) << 64 | low,
    }
}

/// The value after an atomic operation; none if it stays.
fn updated(op: &Atomic, before: u128, operand: u128, swap: u128) -> Option<u128> {
    let mask = u128::MAX >> (128 - op.bytes * 8);
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
            let (before, operand) = (before as u64, operand as u64);
            f(&mut out, &[before; LANES], &[operand; LANES], &[0; LANES]);
            Some(u128::from(out[0]) & mask)
        }
        // Every other operation has a function.
        (_, None) => None,
    }
}
