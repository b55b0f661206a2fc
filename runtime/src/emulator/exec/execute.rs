//! One instruction for the threads that execute it.

use super::definedness::Logical;
use super::*;
use crate::emulator::address;
use crate::emulator::program::Space;

/// All lanes of a warp.
const WARP: Mask = Mask::MAX;

impl Context<'_> {
    pub(super) fn execute(&mut self, warp: &mut Warp, at: usize, op: &Op, active: Mask) -> Next {
        let pc = warp.groups[at].pc;
        match op {
            Op::Alu(op) => self.alu(warp, op, active, pc),
            Op::Video(op) => {
                for source in [op.a, op.b].into_iter().chain(op.c) {
                    self.check(warp, source, active, pc);
                }
                let row = |reg: Reg| &warp.rows[reg as usize];
                let value = std::array::from_fn(|lane| {
                    let c = op.c.map_or(0, |c| row(c)[lane]);
                    let (a, b) = (row(op.a)[lane], row(op.b)[lane]);
                    u64::from(op.video.compute(a as u32, b as u32, c as u32))
                });
                Self::set(warp, op.d, &value, active);
            }
            Op::Move { d, s } => Self::copy(warp, *d, *s, active),
            Op::MovePred { d, s } => {
                let value = Logical::read(warp, *s, active);
                let from = warp.unwritten.of_guards(&[*s]);
                value.write(warp, *d, active, from.as_deref());
            }
            Op::Pack { d, parts, bits } => Self::pack(warp, *d, parts, *bits, active),
            Op::Unpack { parts, s, bits } => Self::unpack(warp, parts, *s, *bits, active),
            Op::Load(access) => self.load(warp, access, active, pc),
            Op::Store(access) => self.store(warp, access, active, pc),
            Op::StoreBulk {
                space,
                base,
                offset,
                size,
            } => {
                let at = self.addresses(warp, *base, *offset, active, pc);
                self.store_bulk(warp, (*space, at), *size, active, pc);
            }
            Op::Cvta {
                d,
                s,
                space,
                to_space,
                bits,
            } => {
                self.check(warp, *s, active, pc);
                let base = match space {
                    Space::Shared => address::SHARED,
                    Space::Local => address::LOCAL,
                    Space::Param => address::PARAM,
                    Space::Generic | Space::Global | Space::Const => 0,
                };
                let mask = if *bits == 32 { 0xffff_ffff } else { u64::MAX };
                let value = warp.rows[*s as usize].map(|value| {
                    (if *to_space {
                        value.wrapping_sub(base)
                    } else {
                        value.wrapping_add(base)
                    }) & mask
                });
                Self::set(warp, *d, &value, active);
            }
            Op::IsSpace { p, s, space } => {
                self.check(warp, *s, active, pc);
                let row = &warp.rows[*s as usize];
                let value = select(active, |lane| address::space_of(row[lane]) == *space);
                Self::set_pred(warp, *p, value, active);
            }
            Op::AsyncCopy(copy) => self.async_copy(warp, copy, active, pc),
            Op::AsyncCommit => warp.copies.commit(active),
            Op::AsyncWait(newest) => self.async_wait(warp, active, Some(*newest)),
            Op::AsyncWaitAll => self.async_wait(warp, active, None),
            Op::Barrier(barrier) => return self.barrier(warp, at, barrier, active),
            Op::Fence(fence) => self.fence(warp, active, *fence),
            Op::Mbarrier(op) => return self.mbarrier(warp, at, op, active),
            Op::FenceProxy => self.fence_proxy(warp, active),
            Op::FenceMbarrierInit => self.hand_on_objects(warp, active),
            Op::PendingCount { d, s } => {
                self.check(warp, *s, active, pc);
                let value = warp.rows[*s as usize].map(|token| token & 0xf_ffff);
                Self::set(warp, *d, &value, active);
            }
            Op::Bulk(op) => self.bulk(warp, op, active, pc),
            Op::Map(op) => return self.tensor_map_op(warp, at, op, active),
            Op::StoreAsync(op) => self.store_async(warp, op, active, pc),
            Op::BulkCommit => self.bulk_commit(warp, active),
            Op::BulkWait { newest, read } => self.bulk_wait(warp, active, pc, (*newest, *read)),
            Op::Wgmma(_) | Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait(_) => {
                return self.warpgroup(warp, at, op, active);
            }
            Op::MaxRegisters(op) => return self.max_registers(warp, at, *op, active),
            Op::ClusterBarrier(op) => return self.cluster_barrier(warp, at, *op, active),
            Op::MapAddress { d, s, rank } => self.map_address(warp, (*d, *s, *rank), active, pc),
            Op::Hint => {}
            Op::Clock { d, bits, shift } => {
                let mask = if *bits == 32 { 0xffff_ffff } else { u64::MAX };
                let value = [self.executed >> shift & mask; LANES];
                Self::set(warp, *d, &value, active);
            }
            Op::Atomic(atomic) => self.atomic(warp, atomic, active, pc),
            Op::ActiveMask(d) => Self::set(warp, *d, &[u64::from(active); LANES], active),
            Op::Printf {
                format,
                arguments,
                result,
            } => self.printf(warp, active, [*format, *arguments], *result, pc),
            Op::FrameAddress { d, frame, offset } => {
                let value = warp.rows[*frame as usize].map(|base| base.wrapping_add(*offset));
                Self::set(warp, *d, &value, active);
            }
            Op::StackAllocate {
                d,
                size,
                align,
                pointer,
            } => {
                if !self.stack_allocate(warp, [*d, *size, *pointer], *align, active, pc) {
                    return Next::Stop(Stop::Halt);
                }
            }
            Op::StackRestore { s, pointer } => {
                self.stack_restore(warp, *s, *pointer, active, pc);
            }
            Op::Allocate {
                bytes,
                result,
                heap,
                size,
            } => self.allocate(warp, active, [*bytes, *result, *heap, *size], pc),
            Op::AssertFail {
                message,
                file,
                line,
                function,
            } => {
                self.assert_fail(warp, active, pc, [*message, *file, *line, *function]);
                return Next::Stop(Stop::Halt);
            }
            Op::Mma(_)
            | Op::SparseMma(_)
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::MoveMatrix { .. }
            | Op::LoadFragment(_)
            | Op::StoreFragment(_)
            | Op::Wmma(_) => {
                return self.with_lanes(warp, at, active, WARP, |context, warp, mask| {
                    context.matrix(warp, op, mask, pc);
                });
            }
            Op::WarpBarrier { members }
            | Op::Shuffle { members, .. }
            | Op::Vote { members, .. }
            | Op::Reduce { members, .. }
            | Op::MatchAny { members, .. }
            | Op::MatchAll { members, .. }
            | Op::Elect { members, .. } => {
                return self.warp_wide(warp, at, op, active, *members);
            }
            // These are seen to before.
            Op::Branch(_)
            | Op::Goto(_)
            | Op::BranchIndex { .. }
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap => {}
        }
        Next::Advance
    }

    /// Executes what lanes do in common once all of them are there.
    pub(super) fn with_lanes(
        &mut self,
        warp: &mut Warp,
        at: usize,
        active: Mask,
        members: Mask,
        run: impl FnOnce(&mut Self, &mut Warp, Mask),
    ) -> Next {
        let pc = warp.groups[at].pc;
        if active == WARP && members == WARP {
            run(self, warp, active);
            return Next::Advance;
        }
        let Some(mask) = self.gather(warp, at, active, members) else {
            return Next::Stop(Stop::Turn);
        };
        run(self, warp, mask);
        let at = Self::group_at(warp, pc, mask);
        warp.groups[at].pc = pc + 1;
        for index in 0..warp.groups.len() {
            let other = warp.groups[index];
            if index != at && self.meets(pc, &other, members) {
                let counts = &mut self.gathered.counts[other.pc as usize];
                counts.warps += 1;
                counts.threads += u64::from(other.mask.count_ones());
                warp.groups[index].wait = Wait::Nothing;
                warp.groups[index].pc += 1;
            }
        }
        Next::Stop(Stop::Turn)
    }

    fn barrier(
        &mut self,
        warp: &mut Warp,
        at: usize,
        barrier: &crate::emulator::program::Barrier,
        active: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        // All threads of a warp arrive together if they must. Lanes that the block lacks are no threads.
        let members = if barrier.aligned { warp.exists } else { active };
        let Some(mask) = self.gather(warp, at, active, members) else {
            return Next::Stop(Stop::Turn);
        };
        let at = Self::group_at(warp, pc, mask);
        self.arrive(warp, at, barrier, mask)
    }
}
