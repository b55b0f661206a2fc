//! `st.async` and `red.async`: what a thread sends to the shared memory of another block, in the generic proxy.

use super::*;
use crate::emulator::program::Scope;

/// An operand that is on its way to be reduced with what is there.
pub(super) struct Operand {
    pub value: u64,
    pub reduction: Reduction,
    /// The knowledge that the thread hands on to who sees the result by a strong read.
    handed: Option<Handed>,
}

impl Context<'_> {
    /// `st.async` and `red.async`, thread by thread.
    pub(in crate::emulator::exec) fn store_async(
        &mut self,
        warp: &mut Warp,
        op: &StoreAsync,
        active: Mask,
        pc: u32,
    ) {
        let addresses = [op.to.base, op.barrier.base];
        for reg in op.values.iter().copied().chain(addresses) {
            self.check(warp, reg, active, pc);
        }
        let width = op.width as usize;
        let bytes = width * op.values.len();
        let reduction = op.reduction.and_then(|(name, ty)| Reduction::of(name, ty));
        let what = match reduction {
            Some(_) => "changes",
            None => "writes",
        };
        for lane in lanes(active) {
            self.progress += 1;
            let value = |reg: Reg| warp.rows[reg as usize][lane];
            let place = |at: At| value(at.base).wrapping_add_signed(at.offset);
            let (space, to) = Self::resolve(warp.rank, op.to.space, place(op.to));
            if space != Space::Shared {
                self.outside(warp, lane, pc, space, to, bytes as u32, what);
                continue;
            }
            if !self.inside_shared(warp, lane, pc, to, bytes as u32, what) {
                continue;
            }
            let at = (op.barrier.space, place(op.barrier));
            let Some(barrier) = self.barrier_of(warp, lane, pc, at, Some(to)) else {
                continue;
            };
            let source = match reduction {
                None => {
                    let values = op.values.iter();
                    let data =
                        values.flat_map(|&reg| value(reg).to_le_bytes().into_iter().take(width));
                    Source::Registers(data.collect())
                }
                Some(reduction) => {
                    if address::block_of_place(to).0 == u64::from(warp.rank) {
                        self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                            "expected a reduction in the shared memory of another block of the cluster, found the thread's own; use red.shared there".into()
                        });
                        continue;
                    }
                    let place = (Space::Shared, to);
                    let order = Self::order_of(width);
                    let handed = self.handed(warp.thread(lane), place, order);
                    Source::Operand(Operand {
                        value: op.values.first().map_or(0, |&reg| value(reg)),
                        reduction,
                        handed,
                    })
                }
            };
            let pieces = Piece::whole(to, 0, bytes as u64);
            self.start_load(warp, lane, pc, (barrier, bytes as u64), pieces, source);
        }
    }

    /// The order of a reduction of so many bytes: relaxed, for the cluster.
    fn order_of(width: usize) -> Order {
        Order {
            width: width as u8,
            atomic: true,
            scope: Scope::Cluster,
            ..Order::default()
        }
    }

    /// Notes that a thread's store writes shared memory, later and in the generic proxy.
    pub(super) fn touch_store(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        piece: &Piece,
        agent: (u32, u32),
    ) {
        let (thread, bytes) = (warp.thread(lane), piece.bytes as usize);
        self.release_to(thread, piece.shared, bytes, Order::default());
        let by = By {
            thread,
            inst: pc,
            strong: 0,
            agent: None,
            clocks: &self.clocks,
        };
        let conflict = self.shared.start_store(piece.shared, bytes, by, agent);
        if let Some(conflict) = conflict {
            self.shared_conflict(warp, lane, pc, conflict, "writes");
        }
    }

    /// The same of a reduction.
    pub(super) fn touch_reduced(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        piece: &Piece,
        agent: (u32, u32),
    ) {
        let bytes = piece.bytes as usize;
        let by = By {
            thread: warp.thread(lane),
            inst: pc,
            strong: bytes as u8,
            agent: None,
            clocks: &self.clocks,
        };
        let conflict = self.shared.start_reduction(piece.shared, bytes, by, agent);
        if let Some(conflict) = conflict {
            self.shared_conflict(warp, lane, pc, conflict, "changes");
        }
    }

    /// Reduces what is in shared memory, and hands on what the thread knew.
    pub(super) fn reduce(&mut self, piece: &Piece, operand: &Operand, agent: (u32, u32)) {
        let bytes = piece.bytes as usize;
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(self.shared.get(piece.shared, bytes));
        let before = u64::from_le_bytes(word);
        let after = operand.reduction.value(before, operand.value).to_le_bytes();
        self.shared
            .get_mut(piece.shared, bytes)
            .copy_from_slice(&after[..bytes]);
        self.shared.finish_reduction(piece.shared, bytes, agent);
        if let Some(handed) = &operand.handed {
            self.hand_on(piece.shared, bytes as u8, handed);
        }
    }
}
