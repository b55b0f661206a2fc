//! Parts of a warp: how it splits, who goes next, and where its parts meet.

use super::*;

impl Context<'_> {
    /// The group to go next: that at the lowest instruction, for others to meet it. Where parts of the warp may wait
    /// for each other in loops, each has its turn now and then.
    pub(super) fn choose(&self, warp: &mut Warp) -> Option<usize> {
        if let [group] = warp.groups.as_slice() {
            warp.split_for = 0;
            return (group.wait == Wait::Nothing).then_some(0);
        }
        merge(&mut warp.groups);
        warp.split_for = warp.split_for.wrapping_add(1);
        let ready = warp
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.wait == Wait::Nothing);
        let at = if let Some(lane) = warp.turn() {
            ready.min_by_key(|(_, group)| group.mask.rotate_right(lane).trailing_zeros())
        } else {
            ready.min_by_key(|(_, group)| group.pc)
        };
        at.map(|(at, _)| at)
    }

    pub(super) fn branch_index(
        &mut self,
        warp: &mut Warp,
        at: usize,
        active: Mask,
        index: Reg,
        targets: &[u32],
    ) -> Option<Stop> {
        let pc = warp.groups[at].pc;
        self.check(warp, index, active, pc);
        let mut rest = active;
        while rest != 0 {
            let lane = first(rest);
            let value = warp.rows[index as usize][lane];
            let same = select(rest, |l| warp.rows[index as usize][l] == value);
            rest &= !same;
            let Some(&target) = targets.get(value as usize) else {
                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                    format!("expected an index below {}, found {value}", targets.len())
                });
                return Some(Stop::Halt);
            };
            if same == warp.groups[at].mask {
                warp.groups[at].pc = target;
                return None;
            }
            split(warp, at, same, target);
        }
        warp.groups[at].pc = pc + 1;
        None
    }

    /// Ends threads.
    pub(super) fn exit(&mut self, warp: &mut Warp, at: usize, active: Mask) -> Stop {
        self.progress += 1;
        self.check_products(warp, active);
        self.leave_cluster(warp, active);
        let group = &mut warp.groups[at];
        group.mask &= !active;
        group.pc += 1;
        if group.mask == 0 {
            warp.groups.swap_remove(at);
        }
        // Those that wait for lanes that are gone now look again.
        for group in &mut warp.groups {
            if matches!(group.wait, Wait::Lanes(_)) {
                group.wait = Wait::Nothing;
            }
        }
        Stop::Exited
    }

    /// Brings the lanes together that execute an instruction in common: the `active` ones of the
    /// group wait until all of `members` that are alive are here. Returns the mask to execute with.
    pub(super) fn gather(
        &mut self,
        warp: &mut Warp,
        at: usize,
        active: Mask,
        members: Mask,
    ) -> Option<Mask> {
        let pc = warp.groups[at].pc;
        let group = warp.groups[at];
        if active != group.mask {
            // The others go on without it.
            warp.groups[at].mask = active;
            warp.groups.push(Group {
                pc: pc + 1,
                mask: group.mask & !active,
                wait: Wait::Nothing,
            });
        }
        let mut here = active;
        let mut elsewhere = 0;
        for other in &warp.groups {
            if other.pc == pc && other.wait == Wait::Lanes(members) {
                here |= other.mask;
            } else if self.meets(pc, other, members) {
                elsewhere |= other.mask;
            }
        }
        let needed = members & warp.live();
        if needed & !here & !elsewhere != 0 {
            warp.groups[at].wait = Wait::Lanes(members);
            self.uncount(pc, active);
            return None;
        }
        let counts = &mut self.gathered.counts[pc as usize];
        counts.threads += u64::from((here & !active).count_ones());
        // All in one group, which is this.
        warp.groups[at].mask = here;
        let mut index = 0;
        let mut at_now = at;
        while index < warp.groups.len() {
            let other = warp.groups[index];
            if index != at_now && other.pc == pc && other.wait == Wait::Lanes(members) {
                warp.groups.remove(index);
                if index < at_now {
                    at_now -= 1;
                }
            } else {
                index += 1;
            }
        }
        if !self.names_members(pc) {
            self.check_whole(warp, pc, members, here);
        }
        Some(here | elsewhere)
    }

    /// Tells whether an instruction names those who take part, and so waits for "all non-exited threads" of them
    /// (PTX ISA, `shfl.sync` and others). Instructions for a whole warp need each of its threads.
    fn names_members(&self, pc: u32) -> bool {
        matches!(
            self.launch.kernel.insts[pc as usize].op,
            Op::WarpBarrier { .. }
                | Op::Shuffle { .. }
                | Op::Vote { .. }
                | Op::Reduce { .. }
                | Op::MatchAny { .. }
                | Op::MatchAll { .. }
                | Op::Elect { .. }
        )
    }

    /// Notes threads that an instruction of the whole warp lacks.
    fn check_whole(&mut self, warp: &Warp, pc: u32, members: Mask, here: Mask) {
        let lane = first(here);
        let gone = members & warp.exists & !warp.live();
        if gone != 0 {
            let text = &self.launch.kernel.origins[pc as usize].text;
            self.find(Kind::BarrierDivergence, pc, None, warp.index, lane, None, || {
                format!(
                    "all threads that take part must execute {text} together, but lanes {} have ended; \
                     let no thread leave before it",
                    mask_text(gone)
                )
            });
        }
        let missing = members & !warp.exists;
        if missing != 0 {
            let text = &self.launch.kernel.origins[pc as usize].text;
            self.find(Kind::BarrierDivergence, pc, None, warp.index, lane, None, || {
                format!(
                    "{text} needs all 32 threads of a warp, but the block has no threads for lanes {}; \
                     launch blocks of a multiple of 32 threads",
                    mask_text(missing)
                )
            });
        }
    }

    /// Tells whether a group waits at another `bar.warp.sync` than this one, with the same members: the two are one meeting.
    /// (PTX ISA: threads wait for all that the mask names to execute "a" barrier with that mask.)
    pub(super) fn meets(&self, pc: u32, other: &Group, members: Mask) -> bool {
        let is_barrier = |pc: u32| {
            matches!(
                self.launch.kernel.insts[pc as usize].op,
                Op::WarpBarrier { .. }
            )
        };
        other.pc != pc
            && other.wait == Wait::Lanes(members)
            && is_barrier(pc)
            && is_barrier(other.pc)
    }

    /// Takes back the count of an instruction that is tried again later.
    pub(super) fn uncount(&mut self, pc: u32, active: Mask) {
        let counts = &mut self.gathered.counts[pc as usize];
        counts.warps -= 1;
        counts.threads -= u64::from(active.count_ones());
    }

    /// The group of a warp that executes, after [`Context::gather`] may have moved it.
    pub(super) fn group_at(warp: &Warp, pc: u32, mask: Mask) -> usize {
        warp.groups
            .iter()
            .position(|group| group.pc == pc && group.mask & mask != 0)
            .unwrap_or(0)
    }
}

/// Groups that wait for nothing at one instruction become one.
fn merge(groups: &mut Vec<Group>) {
    let mut at = 0;
    while at < groups.len() {
        let Group { pc, mask, wait } = groups[at];
        let same = |other: &Group| other.pc == pc && other.wait == Wait::Nothing;
        if wait == Wait::Nothing
            && let Some(first) = groups[..at].iter().position(same)
        {
            groups[first].mask |= mask;
            groups.swap_remove(at);
        } else {
            at += 1;
        }
    }
}

/// Some lanes of a group go elsewhere, the others to the next instruction.
pub(super) fn split(warp: &mut Warp, at: usize, leave: Mask, target: u32) {
    let group = &mut warp.groups[at];
    group.mask &= !leave;
    group.pc += 1;
    debug_assert!(group.mask != 0);
    warp.groups.push(Group {
        pc: target,
        mask: leave,
        wait: Wait::Nothing,
    });
}
