//! The costs of accesses, for the report.

use super::*;
use crate::emulator::address;
use crate::emulator::program::{Atomic, AtomicOp, Space};
use crate::emulator::traffic;

impl Context<'_> {
    /// Counts a load or a store of `bytes` a lane.
    pub(super) fn count(
        &mut self,
        pc: u32,
        space: Space,
        at: &Row,
        active: Mask,
        bytes: u32,
        store: bool,
    ) {
        let (shared, global) = spaces(space, at, active);
        if shared != 0 {
            let passes = traffic::shared_wavefronts(at, shared, bytes, store);
            self.add_passes(pc, passes, passes.actual);
        }
        if global != 0 {
            self.count_global(pc, &self.as_allocated(at, global), global, bytes);
        }
    }

    /// Global addresses as they would be if everything began at a multiple of 256 bytes, as memory that is allocated does.
    /// Here it deliberately does not.
    fn as_allocated(&self, at: &Row, active: Mask) -> Row {
        let (mut window, mut skew) = (u64::MAX, 0);
        let mut row = *at;
        for lane in lanes(active) {
            if address::window(at[lane]) != window {
                window = address::window(at[lane]);
                let found = self.launch.global.find(at[lane]);
                skew = found.map_or(0, |(buffer, _)| address::skew(buffer.base));
            }
            row[lane] = at[lane].wrapping_sub(skew);
        }
        row
    }

    /// `banks` are the passes that shared memory alone would need.
    fn add_passes(&mut self, pc: u32, passes: traffic::Wavefronts, banks: u32) {
        let counts = &mut self.gathered.counts[pc as usize].shared;
        counts.actual += u64::from(passes.actual);
        counts.banks += u64::from(banks);
        counts.ideal += u64::from(passes.ideal);
    }

    fn count_global(&mut self, pc: u32, at: &Row, active: Mask, bytes: u32) {
        let found = traffic::global_sectors(at, active, bytes);
        self.add_sectors(pc, found);
    }

    fn add_sectors(&mut self, pc: u32, found: traffic::Sectors) {
        let counts = &mut self.gathered.counts[pc as usize].global;
        counts.requests += 1;
        counts.sectors += u64::from(found.sectors);
        counts.ideal += u64::from(found.ideal);
    }

    pub(super) fn count_matrix(&mut self, pc: u32, rows: &Row, matrices: u32) {
        let passes = traffic::matrix_wavefronts(rows, matrices);
        self.add_passes(pc, passes, passes.actual);
    }

    /// `reads` are the lanes that read their source; the others write zeros.
    pub(super) fn count_copy(
        &mut self,
        pc: u32,
        (to, from): (&Row, &Row),
        active: Mask,
        reads: Mask,
        bytes: u32,
    ) {
        let from = &self.as_allocated(from, reads);
        let passes = traffic::async_copy_wavefronts(to, from, active, active & !reads, bytes);
        let banks = if passes.actual == passes.ideal {
            passes.actual
        } else {
            traffic::async_copy_wavefronts(to, from, active, active, bytes).actual
        };
        self.add_passes(pc, passes, banks);
        if reads != 0 {
            self.count_global(pc, from, reads, bytes);
        }
    }

    pub(super) fn count_atomic(&mut self, pc: u32, op: &Atomic, at: &Row, active: Mask) {
        let kind = match op.op {
            AtomicOp::CompareAndSwap => traffic::SharedAtomic::CompareAndSwap,
            _ => traffic::SharedAtomic::Update,
        };
        let (shared, global) = spaces(op.space, at, active);
        if shared != 0 {
            let passes = traffic::shared_atomic_wavefronts(at, shared, kind);
            self.add_passes(pc, passes, passes.actual);
        }
        if global != 0 {
            let at = self.as_allocated(at, global);
            let found = traffic::global_atomic_sectors(&at, global, op.bytes * op.a.len() as u32);
            self.add_sectors(pc, found);
        }
    }
}

/// The lanes that access shared memory, and those that access global memory.
fn spaces(space: Space, at: &Row, active: Mask) -> (Mask, Mask) {
    match space {
        Space::Shared => (active, 0),
        Space::Global => (0, active),
        Space::Generic => {
            let of = |space| select(active, |lane| address::space_of(at[lane]) == space);
            (of(Space::Shared), of(Space::Global))
        }
        Space::Const | Space::Local | Space::Param => (0, 0),
    }
}
