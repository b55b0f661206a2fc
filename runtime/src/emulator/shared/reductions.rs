//! Reductions that a thread starts and an agent completes (`red.async`): strong, so that they need no order among each other.

use super::history::Access;
use super::{By, Conflict, HISTORY, IN_FLIGHT, Shared, epoch};

impl Shared {
    /// Notes that a reduction starts, and says what it collides with. `by` is the thread, and as strong as the reduction.
    pub(in crate::emulator) fn start_reduction(
        &mut self,
        at: u64,
        bytes: usize,
        by: By<'_>,
        (agent, time): (u32, u32),
    ) -> Option<Conflict> {
        let mut found = None;
        for index in self.range(at, bytes) {
            let history = self.history(index);
            let access = Access::update(&by, epoch(agent, time) | IN_FLIGHT);
            let conflict = self.histories.access(history, access, &by);
            found = found.or(conflict.map(|conflict| self.placed(index, conflict)));
        }
        found
    }

    /// Notes that one of an agent's reductions of a place is done, as a write of that time.
    pub(in crate::emulator) fn finish_reduction(
        &mut self,
        at: u64,
        bytes: usize,
        (agent, time): (u32, u32),
    ) {
        for index in self.range(at, bytes) {
            let write = self.granules[index].write;
            // A write that came in between, which was told, is all that is known there.
            if write & HISTORY != 0 {
                let history = (write & !HISTORY) as u32;
                self.histories
                    .finish_one(history, agent, epoch(agent, time));
            }
        }
    }
}
