//! Blocks that are watched: whose order of warps is chosen, or whose warps' stretches are noted.

use super::exec::{Group, Stop, Wait, Warp};
use super::program::{Op, Space};
use super::steer::Steering;
use super::timeline::Watched;

/// Instructions of a warp before it is another one's turn, where an order is chosen: as many as a warp may wait in a loop for others.
const STEADY: u32 = 4096;

/// The notes and choices of a block.
pub(super) struct Watch<'a> {
    pub steering: Option<&'a Steering>,
    pub stretches: Option<Watched>,
    /// Tells whether another block may go on in place of this one.
    pub other_blocks: bool,
    /// Warps that could go on in place of the one whose turn it is.
    others: u32,
    /// The warp whose turn it is, or where the search for the next begins.
    current: usize,
    /// Who goes on in its place.
    preempted: Option<u32>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(steering: Option<&'a Steering>, stretches: Option<Watched>) -> Watch<'a> {
        Watch {
            steering,
            stretches,
            other_blocks: false,
            others: 0,
            current: 0,
            preempted: None,
        }
    }

    /// The warp whose turn it is, of those that can go on, and for how many instructions; none where the seed says.
    pub(super) fn pick(&mut self, ready: &[usize]) -> Option<(usize, u32)> {
        self.steering?;
        let from = ready.partition_point(|&warp| warp < self.current);
        let by = self.preempted.take().map_or(0, |to| to as usize + 1);
        self.others = ready.len() as u32 - 1;
        self.current = ready[(from + by) % ready.len()];
        Some((self.current, STEADY))
    }

    /// Tells whether another block goes on. The turn of a warp is over.
    pub(super) fn leaves(&mut self, stop: Stop) -> bool {
        match self.preempted {
            Some(to) if to >= self.others => {
                self.preempted = None;
                true
            }
            Some(_) => false,
            None => {
                // It has had its turn, or cannot go on.
                self.current += usize::from(stop == Stop::Turn);
                false
            }
        }
    }

    /// Tells whether another warp or block goes on before this instruction.
    pub(super) fn preempts(&mut self, op: &Op) -> bool {
        let others = self.others + u32::from(self.other_blocks);
        let Some(steering) = self.steering.filter(|_| others > 0 && is_seen(op)) else {
            return false;
        };
        self.preempted = steering.point(others);
        self.preempted.is_some()
    }

    /// Notes which warps wait.
    pub(super) fn note_waits(&mut self, warps: &[Warp], at: u64) {
        let Some(stretches) = &mut self.stretches else {
            return;
        };
        for warp in warps {
            let waits = |group: &Group| group.wait != Wait::Nothing;
            let first = warp.groups.first().filter(|_| !warp.is_ready());
            let first = first.filter(|group| waits(group));
            stretches.waits(warp.index, at, first.map(|group| (group.pc, group.wait)));
        }
    }
}

/// Tells whether other threads can see an instruction, or see it missing.
fn is_seen(op: &Op) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) => {
            !matches!(access.space, Space::Param | Space::Const | Space::Local)
        }
        Op::StoreBulk { .. }
        | Op::AsyncCopy(_)
        | Op::Barrier(_)
        | Op::Mbarrier(_)
        | Op::Bulk(_)
        | Op::Map(_)
        | Op::StoreAsync(_)
        | Op::Wgmma(_)
        | Op::MaxRegisters(_)
        | Op::ClusterBarrier(_)
        | Op::LoadMatrix { .. }
        | Op::StoreMatrix { .. }
        | Op::LoadFragment(_)
        | Op::StoreFragment(_)
        | Op::Atomic(_)
        | Op::Allocate { .. } => true,
        _ => false,
    }
}
