//! `cp.async`: writes that are under way between their issue and their wait.

use std::collections::VecDeque;

use super::*;
use crate::emulator::program::{AsyncCopy, Order};
use crate::emulator::shared::By;

/// Copies of a warp that are not waited for yet, the oldest first.
#[derive(Default)]
pub(super) struct Copies {
    pending: VecDeque<Copy>,
    /// Groups that each lane has committed.
    committed: [u32; LANES],
    /// Copies that were issued.
    issued: u64,
    arrivals: VecDeque<Arrival>,
    /// Copies of each lane that have arrived and are not waited for: a group, and the copier's time.
    arrived: HashMap<usize, VecDeque<(u32, u32)>>,
}

/// An arrival at an `mbarrier` object once all copies that a lane issued before have landed.
struct Arrival {
    lane: usize,
    /// Copies issued until then.
    issued: u64,
    at: u64,
    inst: u32,
    /// The knowledge of the thread, with its own work.
    times: View,
}

struct Copy {
    /// Lanes that have not waited yet.
    mask: Mask,
    /// Lanes whose data is in shared memory already.
    landed: Mask,
    inst: u32,
    /// Its number.
    number: u64,
    bytes: u32,
    /// The group that it belongs to, by lane.
    group: [u32; LANES],
    /// The copier's time of the first arrival that follows it, by lane; 0 where none does.
    arrives: [u32; LANES],
    to: [u64; LANES],
    /// Generic address, and the bytes that are read there; the rest is zero.
    from: [u64; LANES],
    source_bytes: [u32; LANES],
}

impl Copies {
    pub(super) fn commit(&mut self, active: Mask) {
        for lane in lanes(active) {
            self.committed[lane] += 1;
        }
    }
}

impl Context<'_> {
    pub(super) fn async_copy(&mut self, warp: &mut Warp, op: &AsyncCopy, active: Mask, pc: u32) {
        let to = self.addresses(warp, op.dst.0, op.dst.1, active, pc);
        let from = self.addresses(warp, op.src.0, op.src.1, active, pc);
        let mut source_bytes = [op.bytes; LANES];
        if let Some(reg) = op.source_bytes {
            self.check(warp, reg, active, pc);
            let row = warp.rows[reg as usize];
            for lane in lanes(active) {
                let found = row[lane];
                if found > u64::from(op.bytes) {
                    let most = op.bytes;
                    self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                        format!("expected a source of at most {most} bytes, found {found}")
                    });
                }
                source_bytes[lane] = found.min(u64::from(op.bytes)) as u32;
            }
        }
        if let Some(guard) = op.ignore_source {
            let ignored = self.predicate(warp, guard, active, pc);
            for lane in lanes(ignored) {
                source_bytes[lane] = 0;
            }
        }
        let reads = select(active, |lane| source_bytes[lane] != 0);
        self.count_copy(pc, (&to, &from), active, reads, op.bytes);
        let mut mask = 0;
        for lane in lanes(active) {
            let good = self.inside_shared(warp, lane, pc, to[lane], op.bytes, "writes")
                && self.async_source(warp, lane, pc, from[lane], (op.bytes, source_bytes[lane]));
            if !good {
                continue;
            }
            mask |= 1 << lane;
            let (thread, bytes) = (warp.thread(lane), op.bytes as usize);
            self.release_to(thread, to[lane], bytes, Order::default());
            let by = By {
                thread,
                inst: pc,
                strong: 0,
                agent: None,
                clocks: &self.clocks,
            };
            if let Some(conflict) = self.shared.start_copy(to[lane], bytes, by) {
                self.shared_conflict(warp, lane, pc, conflict, "writes");
            }
        }
        let committed = warp.copies.committed;
        warp.copies.pending.push_back(Copy {
            mask,
            landed: 0,
            inst: pc,
            number: warp.copies.issued,
            bytes: op.bytes,
            group: committed,
            arrives: [0; LANES],
            to,
            from,
            source_bytes,
        });
        warp.copies.issued += 1;
        // Some land at once; others when they are waited for, or in between.
        if self.random.below(3) == 0 {
            let last = warp.copies.pending.len() - 1;
            self.land(warp, last, mask);
        }
    }

    /// Lets a copy of the warp land that nobody waits for yet.
    pub(crate) fn land_some(&mut self, warp: &mut Warp) {
        let pending = warp.copies.pending.len();
        if pending != 0 && self.random.below(2) == 0 {
            let at = self.random.below(pending as u64) as usize;
            let mask = warp.copies.pending[at].mask;
            self.land(warp, at, mask);
        }
        if self.random.below(2) == 0 {
            self.next_arrival(warp);
        }
    }

    /// Notes that a lane arrives at an `mbarrier` object when its copies have landed.
    pub(super) fn arrive_later(&mut self, warp: &mut Warp, lane: usize, at: u64, inst: u32) {
        let (times, time) = self.clocks.release_copies(warp.thread(lane));
        for copy in &mut warp.copies.pending {
            if copy.mask >> lane & 1 != 0 && copy.arrives[lane] == 0 {
                copy.arrives[lane] = time;
            }
        }
        warp.copies.arrivals.push_back(Arrival {
            lane,
            issued: warp.copies.issued,
            at,
            inst,
            times,
        });
    }

    /// Lets the oldest arrival happen, and with it the landing of the copies before it. Returns whether there is one.
    pub(super) fn next_arrival(&mut self, warp: &mut Warp) -> bool {
        let Some(arrival) = warp.copies.arrivals.pop_front() else {
            return false;
        };
        let lane = arrival.lane;
        for at in 0..warp.copies.pending.len() {
            let copy = &warp.copies.pending[at];
            if copy.number < arrival.issued && copy.mask >> lane & 1 != 0 {
                self.land(warp, at, 1 << lane);
                let thread = warp.thread(lane);
                let copy = &mut warp.copies.pending[at];
                copy.mask &= !(1 << lane);
                // Those who see the arrival may read, and the thread itself once it waits.
                let (group, time) = (copy.group[lane], copy.arrives[lane]);
                let writer = (self.clocks.copier(thread), time);
                self.shared
                    .finish_copy_as(copy.to[lane], copy.bytes as usize, thread, writer);
                let arrived = warp.copies.arrived.entry(lane).or_default();
                match arrived.back_mut() {
                    Some((last, until)) if *last == group => *until = time.max(*until),
                    _ => arrived.push_back((group, time)),
                }
            }
        }
        warp.copies.pending.retain(|copy| copy.mask != 0);
        self.arrived(
            warp,
            lane,
            arrival.at,
            arrival.inst,
            1,
            Some(&arrival.times),
        );
        true
    }

    /// Writes what a copy brings.
    fn land(&mut self, warp: &mut Warp, at: usize, mask: Mask) {
        let copy = &mut warp.copies.pending[at];
        for lane in lanes(mask & !copy.landed) {
            let mut data = [0; 16];
            let read = copy.source_bytes[lane] as usize;
            // Found good when it was issued.
            if read != 0
                && let Some((buffer, offset)) = self.launch.global.find(copy.from[lane])
            {
                buffer.read_bytes(offset, &mut data[..read]);
            }
            let bytes = copy.bytes as usize;
            self.shared
                .get_mut(copy.to[lane], bytes)
                .copy_from_slice(&data[..bytes]);
        }
        copy.landed |= mask;
    }

    /// Waits for all groups but the `newest`; with none, for everything.
    pub(super) fn async_wait(&mut self, warp: &mut Warp, active: Mask, newest: Option<u32>) {
        if newest.is_none() {
            warp.copies.commit(active);
        }
        let newest = newest.unwrap_or(0);
        if !warp.copies.arrived.is_empty() {
            self.wait_for_arrived(warp, active, newest);
        }
        for at in 0..warp.copies.pending.len() {
            let copy = &warp.copies.pending[at];
            let done = select(copy.mask & active, |lane| {
                copy.group[lane].saturating_add(newest) < warp.copies.committed[lane]
            });
            if done == 0 {
                continue;
            }
            self.land(warp, at, done);
            let first_thread = warp.thread(0);
            let copy = &mut warp.copies.pending[at];
            copy.mask &= !done;
            for lane in lanes(done) {
                let thread = first_thread + lane as u32;
                let (to, bytes) = (copy.to[lane], copy.bytes as usize);
                if copy.arrives[lane] != 0 {
                    let writer = (self.clocks.copier(thread), copy.arrives[lane]);
                    self.shared.finish_copy_as(to, bytes, thread, writer);
                    self.clocks.acquire_copies(thread, writer.1);
                    continue;
                }
                let by = By {
                    thread,
                    inst: copy.inst,
                    strong: 0,
                    agent: None,
                    clocks: &self.clocks,
                };
                self.shared.finish_copy(to, bytes, by);
            }
        }
        warp.copies.pending.retain(|copy| copy.mask != 0);
    }

    /// A wait for copies that have arrived somewhere before.
    fn wait_for_arrived(&mut self, warp: &mut Warp, active: Mask, newest: u32) {
        for lane in lanes(active) {
            let thread = warp.thread(lane);
            let committed = warp.copies.committed[lane];
            let Some(arrived) = warp.copies.arrived.get_mut(&lane) else {
                continue;
            };
            while let Some(&(group, time)) = arrived.front()
                && group.saturating_add(newest) < committed
            {
                arrived.pop_front();
                self.clocks.acquire_copies(thread, time);
            }
        }
    }
}
