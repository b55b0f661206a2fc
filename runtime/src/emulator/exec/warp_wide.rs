//! The operations that the lanes of a warp do in common.

use super::*;
use crate::emulator::mma::{self, Misplaced};
use crate::emulator::program::{MmaOp, Order, Shuffle, SparseOp, Vote};

impl Context<'_> {
    /// Instructions with a mask of members.
    pub(super) fn warp_wide(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: &Op,
        active: Mask,
        members: Reg,
    ) -> Next {
        let pc = warp.groups[at].pc;
        self.check(warp, members, active, pc);
        let row = *warp.row(members);
        let mask = row[first(active)] as Mask;
        let same = |mask: Mask| select(active, |lane| row[lane] as Mask == mask);
        let mut rest = active & !same(mask);
        if rest == 0 {
            return self.with_members(warp, at, op, active, mask);
        }
        // Lanes with other masks do it among themselves: each part is a group of its own.
        let group = warp.groups[at];
        warp.groups[at].mask = same(mask);
        let mut parts = vec![(same(mask), mask)];
        while rest != 0 {
            let mask = row[first(rest)] as Mask;
            let part = same(mask);
            rest &= !part;
            parts.push((part, mask));
            warp.groups.push(Group {
                mask: part,
                ..group
            });
        }
        let others = group.mask & !active;
        if others != 0 {
            warp.groups.push(Group {
                pc: pc + 1,
                mask: others,
                ..group
            });
        }
        // Each counts for itself, and is taken back where it has to wait.
        self.gathered.counts[pc as usize].warps += parts.len() as u64 - 1;
        for (part, mask) in parts {
            let at = Self::group_at(warp, pc, part);
            if let Next::Advance = self.with_members(warp, at, op, part, mask) {
                warp.groups[at].pc = pc + 1;
            }
        }
        Next::Stop(Stop::Turn)
    }

    /// An instruction whose lanes agree on their mask of members.
    fn with_members(
        &mut self,
        warp: &mut Warp,
        at: usize,
        op: &Op,
        active: Mask,
        mask: Mask,
    ) -> Next {
        let pc = warp.groups[at].pc;
        let outside = active & !mask;
        if outside != 0 {
            self.find(
                Kind::Undefined,
                pc,
                None,
                warp.index,
                first(outside),
                None,
                || {
                    format!(
                        "expected every lane that executes this in its mask of members {mask:#x}, found lanes {}",
                        mask_text(outside)
                    )
                },
            );
        }
        // Lanes outside of the mask do it with the others, as nothing defines what they do.
        self.with_lanes(warp, at, active, mask | outside, |context, warp, here| {
            context.members(warp, op, here, mask, pc);
        })
    }

    /// All of these threads know afterwards what each of them has done and known.
    pub(super) fn meet(&mut self, warp: &Warp, here: Mask) {
        let mut release = self.clocks.meeting();
        for lane in lanes(here) {
            self.clocks.release(warp.thread(lane), &mut release);
        }
        let known = release.finish();
        for lane in lanes(here) {
            self.clocks.acquire(warp.thread(lane), &known);
        }
    }

    fn members(&mut self, warp: &mut Warp, op: &Op, here: Mask, members: Mask, pc: u32) {
        match op {
            Op::WarpBarrier { .. } => self.meet(warp, here),
            Op::Shuffle {
                kind,
                d,
                p,
                a,
                b,
                c,
                ..
            } => {
                for reg in [b, c] {
                    self.check(warp, *reg, here, pc);
                }
                self.shuffle(warp, *kind, (*d, *p), [*a, *b, *c], here, pc);
            }
            Op::Vote { kind, d, p, a, .. } => {
                let holds = self.predicate(warp, *a, here, pc);
                let result = match kind {
                    Vote::All => holds == here,
                    Vote::Any => holds != 0,
                    Vote::Uniform => holds == 0 || holds == here,
                    Vote::Ballot => false,
                };
                if let Some(d) = d {
                    Self::set(warp, *d, &[u64::from(holds); LANES], here);
                }
                if let Some(p) = p {
                    Self::set_pred(warp, *p, if result { Mask::MAX } else { 0 }, here);
                }
            }
            Op::Reduce { f, d, a, .. } => {
                self.check(warp, *a, here, pc);
                let row = warp.rows[*a as usize];
                let mut result = row[first(here)];
                for lane in lanes(here & !(1 << first(here))) {
                    let mut out = [0; LANES];
                    f(&mut out, &[result; LANES], &[row[lane]; LANES], &[0; LANES]);
                    result = out[0];
                }
                Self::set(warp, *d, &[result; LANES], here);
            }
            Op::MatchAny { d, a, .. } => {
                self.check(warp, *a, here, pc);
                let row = warp.rows[*a as usize];
                let value = std::array::from_fn(|lane| {
                    u64::from(select(here, |other| row[other] == row[lane]))
                });
                Self::set(warp, *d, &value, here);
            }
            Op::MatchAll { d, p, a, .. } => {
                self.check(warp, *a, here, pc);
                let row = &warp.rows[*a as usize];
                let value = row[first(here)];
                let agree = select(here, |lane| row[lane] == value) == here;
                if let Some(d) = d {
                    let mask = if agree { u64::from(here) } else { 0 };
                    Self::set(warp, *d, &[mask; LANES], here);
                }
                if let Some(p) = p {
                    Self::set_pred(warp, *p, if agree { Mask::MAX } else { 0 }, here);
                }
            }
            Op::Elect { d, p, .. } => {
                let leader = first(members & here);
                if let Some(d) = d {
                    Self::set(warp, *d, &[leader as u64; LANES], here);
                }
                Self::set_pred(warp, *p, 1 << leader, here);
            }
            _ => {}
        }
    }

    /// `shfl.sync` (PTX ISA): `c` holds the clamp in bits 0 to 4 and the segment mask in bits 8 to 12.
    fn shuffle(
        &mut self,
        warp: &mut Warp,
        kind: Shuffle,
        (d, p): (Reg, Option<Pred>),
        [a, b, c]: [Reg; 3],
        here: Mask,
        pc: u32,
    ) {
        let values = warp.rows[a as usize];
        let lacking = (warp.lacking(a, here) != 0).then(|| (warp.bits(a), warp.unwritten.of(&[a])));
        let mut result = values;
        let mut sources = [0; LANES];
        let mut valid = 0;
        for lane in lanes(here) {
            let b = warp.rows[b as usize][lane] as u32 & 31;
            let c = warp.rows[c as usize][lane] as u32;
            let (clamp, segment) = (c & 31, c >> 8 & 31);
            let me = lane as u32;
            let most = me & segment | clamp & !segment & 31;
            let least = me & segment;
            let (from, inside) = match kind {
                Shuffle::Up => (
                    me.wrapping_sub(b),
                    me as i64 - i64::from(b) >= i64::from(most),
                ),
                Shuffle::Down => (me + b, me + b <= most),
                Shuffle::Butterfly => (me ^ b, me ^ b <= most),
                Shuffle::Index => {
                    let from = least | b & !segment & 31;
                    (from, from <= most)
                }
            };
            let from = if inside {
                valid |= 1 << lane;
                from as usize & 31
            } else {
                lane
            };
            if here >> from & 1 == 0 {
                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                    format!("reads a value of lane {from}, which does not take part in the shuffle")
                });
            }
            result[lane] = values[from];
            sources[lane] = from;
        }
        Self::set(warp, d, &result, here);
        if let Some((bits, from)) = lacking {
            let from = from.map(|from| sources.map(|lane| from[lane]));
            warp.set_bits(d, &sources.map(|lane| bits[lane]), here, from.as_ref());
        }
        if let Some(p) = p {
            Self::set_pred(warp, p, valid, here);
        }
    }

    /// Matrices: they need the whole warp.
    pub(super) fn matrix(&mut self, warp: &mut Warp, op: &Op, here: Mask, pc: u32) {
        match op {
            Op::Mma(op) => self.mma(warp, op, here, pc),
            Op::SparseMma(op) => self.sparse_mma(warp, op, here, pc),
            Op::LoadFragment(op) => self.load_fragment(warp, op, here, pc),
            Op::StoreFragment(op) => self.store_fragment(warp, op, here, pc),
            Op::Wmma(op) => self.wmma(warp, op, here, pc),
            Op::MoveMatrix { d, s } => {
                self.check(warp, *s, here, pc);
                let mut value = [0; LANES];
                mma::transpose(&mut value, warp.row(*s));
                Self::set(warp, *d, &value, here);
            }
            Op::LoadMatrix {
                matrices,
                regs,
                base,
                offset,
            } => {
                let (at, used) = self.matrix_rows(warp, matrices, (*base, *offset), here, pc);
                let mut rows = [[0; 16]; LANES];
                for lane in lanes(used) {
                    if self.inside_shared(warp, lane, pc, at[lane], 16, "reads") {
                        let row = &mut rows[lane];
                        self.read_shared(warp, lane, pc, at[lane], row, Order::default());
                    }
                }
                let mut out = [[0; LANES]; 4];
                matrices.load(&rows, &mut out);
                for (reg, value) in regs.iter().zip(&out) {
                    Self::set(warp, *reg, value, here);
                }
            }
            Op::StoreMatrix {
                matrices,
                regs,
                base,
                offset,
            } => {
                let (at, used) = self.matrix_rows(warp, matrices, (*base, *offset), here, pc);
                let mut values = [[0; LANES]; 4];
                for (reg, value) in regs.iter().zip(&mut values) {
                    self.check(warp, *reg, here, pc);
                    *value = *warp.row(*reg);
                }
                let mut rows = [[0; 16]; LANES];
                matrices.store(&values, &mut rows);
                for lane in lanes(used) {
                    if self.inside_shared(warp, lane, pc, at[lane], 16, "writes") {
                        self.write_shared(warp, lane, pc, at[lane], &rows[lane], Order::default());
                    }
                }
            }
            _ => {}
        }
    }

    /// The places of the rows of matrices in shared memory, and the lanes that give them: the first 8, 16 or 32.
    fn matrix_rows(
        &mut self,
        warp: &Warp,
        matrices: &mma::Matrices,
        (base, offset): (Reg, i64),
        here: Mask,
        pc: u32,
    ) -> (Row, Mask) {
        let used = here & Mask::MAX >> (LANES - matrices.lanes());
        let mut at = self.addresses(warp, base, offset, used, pc);
        if !matrices.shared {
            at = at.map(|at| at.wrapping_sub(crate::emulator::address::SHARED));
        }
        self.count_matrix(pc, &at, matrices.count as u32);
        let rank = warp.rank;
        let at = at.map(|at| crate::emulator::address::shared_place(rank, at));
        (at, used)
    }

    fn mma(&mut self, warp: &mut Warp, op: &MmaOp, here: Mask, pc: u32) {
        for reg in op.sources() {
            self.check(warp, *reg, here, pc);
        }
        let mut rows = [[0; LANES]; MAX_FRAGMENT * 3];
        let (a, rest) = rows.split_at_mut(MAX_FRAGMENT);
        let (b, c) = rest.split_at_mut(MAX_FRAGMENT);
        for (slots, regs) in [(&mut *a, &op.a), (&mut *b, &op.b), (&mut *c, &op.c)] {
            for (slot, reg) in slots.iter_mut().zip(regs) {
                *slot = warp.rows[*reg as usize];
            }
        }
        let mut d = [[0; LANES]; MAX_FRAGMENT];
        let d = &mut d[..op.d.len()];
        op.mma
            .execute(&a[..op.a.len()], &b[..op.b.len()], &c[..op.c.len()], d);
        for (reg, value) in op.d.iter().zip(&*d) {
            Self::set(warp, *reg, value, here);
        }
    }

    /// `mma.sp`
    fn sparse_mma(&mut self, warp: &mut Warp, op: &SparseOp, here: Mask, pc: u32) {
        let SparseOp { product, metadata } = op;
        let mma = &product.mma;
        self.check(warp, *metadata, here & mma.giving(), pc);
        let mut rows = [[[0; LANES]; MAX_FRAGMENT]; 3];
        for (rows, regs) in rows.iter_mut().zip([&product.a, &product.b, &product.c]) {
            for (row, reg) in rows.iter_mut().zip(regs) {
                self.check(warp, *reg, here, pc);
                *row = *warp.row(*reg);
            }
        }
        let mut d = [[0; LANES]; MAX_FRAGMENT];
        let d = &mut d[..product.d.len()];
        let rows = [
            &rows[0][..product.a.len()],
            &rows[1][..product.b.len()],
            &rows[2][..product.c.len()],
        ];
        let misplaced = mma.execute(rows, warp.row(*metadata), d);
        // What nobody wrote has been told.
        let known =
            |misplaced: &Misplaced| warp.defined[*metadata as usize] >> misplaced.lane & 1 != 0;
        if !mma.is_selected() {
            let most = mma.defined_selectors() - 1;
            self.find(Kind::Undefined, pc, None, warp.index, first(here), None, || {
                format!("expected a sparsity selector of at most {most}, found a larger one; which lanes give metadata then, nothing says")
            });
        } else if let Some(misplaced) = misplaced.filter(known) {
            let lane = misplaced.lane;
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                misplaced.text()
            });
        }
        for (reg, value) in product.d.iter().zip(&*d) {
            Self::set(warp, *reg, value, here);
        }
    }
}

/// The most registers that a fragment of `mma.sync` has.
const MAX_FRAGMENT: usize = 8;
