//! Strong accesses: atomics, and what fences and strong accesses hand from thread to thread.

use super::*;
use crate::emulator::program::{Atomic, AtomicOp, Order, Space};

impl Context<'_> {
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
                    if !self.holds_shared(warp, lane, pc, at, op.bytes, "changes") {
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
                    let found = self.writable(warp, lane, pc, at, bytes, "changes");
                    let Some((buffer, offset)) = found else {
                        continue;
                    };
                    if !buffer.initialized(offset, bytes) {
                        self.uninitialized(Kind::UninitializedMemory, warp, lane, pc, space, at);
                    }
                    let by = self.writer(warp, lane);
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
        let times = if !order.strong() {
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

    pub(super) fn acquire_from(&mut self, thread: u32, at: u64, order: Order) {
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
