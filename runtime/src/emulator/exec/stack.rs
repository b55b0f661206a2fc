//! Memory that functions allocate as they run, from the end of a thread's own memory downwards.

use super::*;
use crate::emulator::decode::GAP;

impl Context<'_> {
    /// `alloca`: gives each lane so many bytes, which nothing has written. Returns false where there are not as many.
    pub(super) fn stack_allocate(
        &mut self,
        warp: &mut Warp,
        [d, size, pointer]: [Reg; 3],
        align: u64,
        active: Mask,
        pc: u32,
    ) -> bool {
        self.check(warp, size, active, pc);
        let kernel = self.launch.kernel;
        let mut given = warp.rows[pointer as usize];
        for lane in lanes(active) {
            let bytes = warp.rows[size as usize][lane];
            let before = given[lane];
            let at = before
                .checked_sub(GAP)
                .and_then(|end| end.checked_sub(bytes));
            let at = at.map(|at| at & !(align - 1));
            let Some(at) = at.filter(|at| *at >= kernel.frames_end) else {
                let left = (before - kernel.frames_end).saturating_sub(GAP);
                self.find(Kind::OutOfBounds, pc, None, warp.index, lane, None, || {
                    format!(
                        "the stack of the thread overflows: expected {bytes} bytes at a multiple of {align}, found {left} that are left of {}",
                        kernel.local_bytes - kernel.frames_end
                    )
                });
                return false;
            };
            given[lane] = at;
            warp.stack_gaps.resize(LANES, Vec::new());
            warp.stack_gaps[lane].push((at + bytes, before));
            if let Some(range) = self.own(lane, at, bytes as usize) {
                warp.local_written[range].fill(0);
            }
        }
        Self::set(warp, pointer, &given, active);
        Self::set(warp, d, &given, active);
        true
    }

    /// `stackrestore`: gives back what was allocated since the stack pointer was at a place.
    pub(super) fn stack_restore(
        &mut self,
        warp: &mut Warp,
        s: Reg,
        pointer: Reg,
        active: Mask,
        pc: u32,
    ) {
        self.check(warp, s, active, pc);
        for lane in lanes(active) {
            let to = warp.rows[s as usize][lane];
            let from = warp.rows[pointer as usize][lane];
            let end = self.launch.kernel.local_bytes;
            if (from..=end).contains(&to) {
                self.release(warp, lane, pointer, to);
                continue;
            }
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!(
                    "expected a stack pointer of stacksave whose memory is not given back, from {from:#x} to {end:#x}, found {to:#x}"
                )
            });
        }
    }

    /// Moves the stack pointer of a lane up. What is given back holds nothing.
    pub(super) fn release(&self, warp: &mut Warp, lane: usize, pointer: Reg, to: u64) {
        let from = std::mem::replace(&mut warp.rows[pointer as usize][lane], to);
        let bytes = to.saturating_sub(from) as usize;
        if let Some(gaps) = warp.stack_gaps.get_mut(lane) {
            while gaps.pop_if(|(start, _)| *start < to).is_some() {}
        }
        if let Some(range) = self.own(lane, from, bytes) {
            warp.local_written[range].fill(0);
        }
    }

    /// Tells whether an access of a thread's own memory touches what could be allocated and is not.
    pub(super) fn is_unallocated(&self, warp: &Warp, lane: usize, at: u64, bytes: usize) -> bool {
        let kernel = self.launch.kernel;
        let Some(pointer) = kernel.stack_pointer else {
            return false;
        };
        at < warp.rows[pointer as usize][lane] && at + bytes as u64 > kernel.frames_end
    }

    /// Tells whether an access of a thread's own memory touches what lies between two variables, or between two parts that `alloca` gave.
    pub(super) fn is_between(&self, warp: &Warp, lane: usize, at: u64, bytes: usize) -> bool {
        let end = at + bytes as u64;
        let gaps = &self.launch.kernel.gaps;
        let next = gaps.partition_point(|(_, gap_end)| *gap_end <= at);
        let between = gaps.get(next).is_some_and(|(start, _)| *start < end);
        // Those of the stack descend.
        let of_stack = warp.stack_gaps.get(lane).is_some_and(|gaps| {
            let next = gaps.partition_point(|(start, _)| *start >= end);
            gaps.get(next).is_some_and(|(_, gap_end)| *gap_end > at)
        });
        between || of_stack
    }
}
