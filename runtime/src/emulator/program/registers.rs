//! The registers that an instruction touches.

use super::{BarrierKind, Callee, MapOp, MbarrierOp, Op, Pred, Reg};

impl Op {
    /// Calls `f` for each register that the instruction reads (`false`) or writes (`true`). Those of `wgmma` itself, but for metadata, are left out: it says
    /// when it touches them. Predicates are no registers here.
    pub(in crate::emulator) fn registers(&self, f: &mut dyn FnMut(Reg, bool)) {
        let mut reads: Vec<Reg> = Vec::new();
        let mut writes: Vec<Reg> = Vec::new();
        match self {
            Op::Alu(op) => {
                reads.extend(&op.s[..op.count]);
                writes.extend(op.d);
            }
            Op::Move { d, s } | Op::MoveMatrix { d, s } | Op::PendingCount { d, s } => {
                reads.push(*s);
                writes.push(*d);
            }
            Op::MapAddress { d, s, rank } => {
                reads.extend([s, rank]);
                writes.push(*d);
            }
            Op::Pack { d, parts, .. } => {
                reads.extend(parts);
                writes.push(*d);
            }
            Op::Unpack { parts, s, .. } => {
                reads.push(*s);
                writes.extend(parts.iter().flatten());
            }
            Op::BranchIndex { index, .. } => reads.push(*index),
            Op::Video(op) => {
                reads.extend([op.a, op.b]);
                reads.extend(op.c);
                writes.push(op.d);
            }
            Op::MatchAll { d, a, members, .. } => {
                reads.extend([a, members]);
                writes.extend(*d);
            }
            Op::Call(call) => {
                if let Callee::Pointer(register) = call.callee {
                    reads.push(register);
                }
            }
            Op::FrameAddress { d, frame, .. } => {
                reads.push(*frame);
                writes.push(*d);
            }
            Op::StackAllocate {
                d, size, pointer, ..
            } => {
                reads.extend([size, pointer]);
                writes.extend([d, pointer]);
            }
            Op::StackRestore { s, pointer } => {
                reads.push(*s);
                writes.push(*pointer);
            }
            Op::Load(access) => {
                reads.push(access.base);
                writes.extend(access.regs.iter().flatten());
            }
            Op::Store(access) => {
                reads.push(access.base);
                reads.extend(access.regs.iter().flatten());
            }
            Op::StoreBulk { base, size, .. } => reads.extend([base, size]),
            Op::Map(op) => match op.as_ref() {
                MapOp::Replace { at, value, .. } => reads.extend([at.base, *value]),
                MapOp::Copy { to, from, .. } => reads.extend([to.base, from.base]),
                MapOp::Acquire(at, _) => reads.push(at.base),
                MapOp::Release(_) => {}
            },
            Op::Cvta { d, s, .. } => {
                reads.push(*s);
                writes.push(*d);
            }
            Op::IsSpace { s, .. } => reads.push(*s),
            Op::AsyncCopy(copy) => {
                reads.extend([copy.dst.0, copy.src.0]);
                reads.extend(copy.source_bytes);
            }
            Op::Barrier(barrier) => {
                reads.push(barrier.id);
                reads.extend(barrier.count);
                if let BarrierKind::Popc(d) = barrier.kind {
                    writes.push(d);
                }
            }
            Op::Mbarrier(op) => {
                reads.push(op.base);
                match op.op {
                    MbarrierOp::Init { count } => reads.push(count),
                    MbarrierOp::Arrive {
                        state,
                        count,
                        expect,
                        ..
                    } => {
                        reads.extend(count.into_iter().chain(expect));
                        writes.extend(state);
                    }
                    MbarrierOp::ExpectTx { bytes } | MbarrierOp::CompleteTx { bytes } => {
                        reads.push(bytes);
                    }
                    MbarrierOp::Test { state, .. } => reads.push(state),
                    MbarrierOp::Invalidate | MbarrierOp::CopiesArrive { .. } => {}
                }
            }
            Op::Wgmma(op) => reads.extend(op.metadata),
            Op::StoreAsync(op) => {
                reads.extend([op.to.base, op.barrier.base]);
                reads.extend(&op.values);
            }
            Op::Bulk(op) => {
                let places = [op.shared, Some(op.global), op.barrier];
                reads.extend(places.iter().flatten().map(|at| at.base));
                reads.extend(op.coordinates.iter().chain(&op.offsets).flatten());
                reads.extend(op.bytes.into_iter().chain(op.mask));
            }
            Op::Shuffle {
                d,
                a,
                b,
                c,
                members,
                ..
            } => {
                reads.extend([a, b, c, members]);
                writes.push(*d);
            }
            Op::Vote { d, members, .. } => {
                reads.push(*members);
                writes.extend(*d);
            }
            Op::Reduce { d, a, members, .. } | Op::MatchAny { d, a, members } => {
                reads.extend([a, members]);
                writes.push(*d);
            }
            Op::Elect { d, members, .. } => {
                reads.push(*members);
                writes.extend(*d);
            }
            Op::WarpBarrier { members } => reads.push(*members),
            Op::ActiveMask(d) | Op::Clock { d, .. } => writes.push(*d),
            Op::LoadMatrix { regs, base, .. } => {
                reads.push(*base);
                writes.extend(regs);
            }
            Op::StoreMatrix { regs, base, .. } => {
                reads.push(*base);
                reads.extend(regs);
            }
            Op::Mma(op) => {
                reads.extend(op.sources());
                writes.extend(&op.d);
            }
            Op::SparseMma(op) => {
                reads.extend(op.product.sources());
                reads.push(op.metadata);
                writes.extend(&op.product.d);
            }
            Op::LoadFragment(op) => {
                reads.push(op.base);
                reads.extend(op.stride);
                writes.extend(&op.regs);
            }
            Op::StoreFragment(op) => {
                reads.push(op.base);
                reads.extend(op.stride);
                reads.extend(&op.regs);
            }
            Op::Wmma(op) => {
                reads.extend(op.sources());
                writes.extend(&op.d);
            }
            Op::Atomic(atomic) => {
                reads.push(atomic.base);
                for half in 0..atomic.halves() {
                    let values = atomic.a.iter().copied().chain(atomic.b);
                    reads.extend(values.map(|reg| reg + half));
                    writes.extend(atomic.d.iter().flatten().map(|reg| reg + half));
                }
            }
            Op::MovePred { .. }
            | Op::Branch(_)
            | Op::Goto(_)
            | Op::Return
            | Op::Allocate { .. }
            | Op::Exit
            | Op::Trap
            | Op::AsyncCommit
            | Op::AsyncWait(_)
            | Op::AsyncWaitAll
            | Op::Fence(_)
            | Op::FenceProxy
            | Op::FenceMbarrierInit
            | Op::BulkCommit
            | Op::BulkWait { .. }
            | Op::WgmmaFence
            | Op::WgmmaCommit
            | Op::WgmmaWait(_)
            | Op::MaxRegisters(_)
            | Op::ClusterBarrier(_)
            | Op::Printf { .. }
            | Op::AssertFail { .. }
            | Op::Hint => {}
        }
        reads.into_iter().for_each(|reg| f(reg, false));
        writes.into_iter().for_each(|reg| f(reg, true));
    }

    /// Calls `f` for each predicate that the instruction reads (`false`) or writes (`true`), but for its guard and those of `wgmma`.
    pub(in crate::emulator) fn predicates(&self, mut f: impl FnMut(Pred, bool)) {
        match self {
            Op::Alu(op) => {
                op.ps.iter().for_each(|guard| f(guard.pred, false));
                op.p.into_iter().chain(op.q).for_each(|pred| f(pred, true));
            }
            Op::MovePred { d, s } => {
                f(s.pred, false);
                f(*d, true);
            }
            Op::Vote { a, p, .. } => {
                f(a.pred, false);
                p.iter().for_each(|pred| f(*pred, true));
            }
            Op::Barrier(barrier) => {
                barrier
                    .operand
                    .iter()
                    .for_each(|guard| f(guard.pred, false));
                if let BarrierKind::And(pred) | BarrierKind::Or(pred) = barrier.kind {
                    f(pred, true);
                }
            }
            Op::AsyncCopy(copy) => {
                copy.ignore_source
                    .iter()
                    .for_each(|guard| f(guard.pred, false));
            }
            Op::Mbarrier(op) => {
                if let MbarrierOp::Test { p: Some(pred), .. } = op.op {
                    f(pred, true);
                }
            }
            Op::IsSpace { p, .. } | Op::Elect { p, .. } => f(*p, true),
            Op::Shuffle { p, .. } | Op::MatchAll { p, .. } => {
                p.iter().for_each(|pred| f(*pred, true));
            }
            _ => {}
        }
    }
}
