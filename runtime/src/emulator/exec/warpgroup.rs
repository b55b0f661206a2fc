//! `wgmma`: products of four warps that are under way until a wait covers them.
//!
//! Each warp computes its 16 rows when it issues the instruction. From then until the wait its accumulators, its registers of A and the
//! shared memory that it reads are locked: what touches them is told.

use std::collections::VecDeque;

use super::*;
use crate::emulator::clocks::Agent;
use crate::emulator::mma::{CHUNK, Descriptor, WARP_ROWS, WarpgroupMma, ZEROS};
use crate::emulator::program::{WarpgroupOperand, Wgmma};
use crate::emulator::shared::By;
use crate::tensor_map::MapSwizzle;

/// Warps of a warpgroup.
const WARPS: u32 = 4;

/// The `wgmma` of a warp.
#[derive(Default)]
pub(super) struct Products {
    /// Products that it has issued, and how many they were as each group was committed that it has not waited for.
    issued: u64,
    marks: VecDeque<u64>,
    /// Products that all warps of the warpgroup have to issue for the wait to end.
    needs: u64,
    /// Groups that it has committed, and those that it has waited for.
    committed: u32,
    done: u32,
    /// The last product, and whether it is in no group yet.
    last: u32,
    open: bool,
    /// Locks by register; empty until the first product.
    locks: Vec<Option<Lock>>,
    /// Registers that were fenced and not touched since.
    fenced: Vec<bool>,
}

/// A register that a product under way reads or writes.
#[derive(Clone, Copy, PartialEq)]
struct Lock {
    group: u32,
    inst: u32,
    /// Accumulators: the product and the place of the register in it. None for registers of A, which may be read.
    part: Option<(WarpgroupMma, usize)>,
}

/// The products that some warps of a warpgroup have issued and others have not.
#[derive(Default)]
pub(in crate::emulator) struct Issued {
    /// Products that each warp has issued.
    counts: [u64; WARPS as usize],
    /// The oldest that not all warps have issued, and those after it.
    first: u64,
    products: VecDeque<Issue>,
}

/// Instruction and descriptors of a product, as the first warp issued it.
#[derive(Clone, Copy)]
struct Issue {
    inst: u32,
    warp: u32,
    operands: [u64; 3],
}

impl Context<'_> {
    pub(super) fn warpgroup(&mut self, warp: &mut Warp, at: usize, op: &Op, active: Mask) -> Next {
        let pc = warp.groups[at].pc;
        if let Op::WgmmaWait(newest) = op {
            return self.wait_for_products(warp, at, active, *newest);
        }
        self.with_lanes(
            warp,
            at,
            active,
            Mask::MAX,
            |context, warp, mask| match op {
                Op::Wgmma(op) => context.product(warp, op, mask, pc),
                Op::WgmmaFence => {
                    let rows = warp.rows.len();
                    warp.products.fenced.clear();
                    warp.products.fenced.resize(rows, true);
                }
                Op::WgmmaCommit => {
                    let products = &mut warp.products;
                    products.committed += 1;
                    products.marks.push_back(products.issued);
                    products.open = false;
                }
                _ => {}
            },
        )
    }

    /// A product is complete once all four warps have issued it.
    fn wait_for_products(&mut self, warp: &mut Warp, at: usize, active: Mask, newest: u32) -> Next {
        let pc = warp.groups[at].pc;
        let Some(mask) = self.gather(warp, at, active, Mask::MAX) else {
            return Next::Stop(Stop::Turn);
        };
        let at = Self::group_at(warp, pc, mask);
        let products = &mut warp.products;
        let done = products.committed.saturating_sub(newest);
        let covers = done.saturating_sub(products.done) as usize;
        if let Some(needs) = covers
            .checked_sub(1)
            .and_then(|last| products.marks.get(last))
        {
            products.needs = *needs;
            if !self.have_issued(warp) {
                self.uncount(pc, mask);
                warp.groups[at].wait = Wait::Products;
                return Next::Stop(Stop::Blocked);
            }
            self.complete_products(warp, mask, done);
        }
        warp.groups[at].pc = pc + 1;
        Next::Stop(Stop::Turn)
    }

    /// Tells whether all warps of the warpgroup have issued what a warp waits for.
    fn have_issued(&self, warp: &Warp) -> bool {
        let issued = self.issued.get(&self.first_of_group(warp));
        let needs = warp.products.needs;
        issued.is_none_or(|issued| issued.counts.iter().all(|&count| count >= needs))
    }

    /// Warps whose products all others have issued go on.
    pub(crate) fn wake_for_products(&self, warps: &mut [Warp]) {
        for warp in warps {
            let waits = warp.groups.iter().any(|group| group.wait == Wait::Products);
            if waits && self.have_issued(warp) {
                for group in &mut warp.groups {
                    if group.wait == Wait::Products {
                        group.wait = Wait::Nothing;
                    }
                }
            }
        }
    }

    fn complete_products(&mut self, warp: &mut Warp, mask: Mask, done: u32) {
        let before = warp.products.done;
        warp.products.marks.drain(..(done - before) as usize);
        warp.products.done = done;
        for lock in &mut warp.products.locks {
            if lock.is_some_and(|lock| lock.group < done) {
                *lock = None;
            }
        }
        let group = Agent::Warpgroup(self.first_of_group(warp));
        if let Some(agent) = self.clocks.agents.clock(group) {
            for lane in lanes(mask) {
                self.clocks.learn(warp.thread(lane), agent, done);
            }
        }
    }

    /// Notes registers of products under way that an instruction touches.
    pub(super) fn check_touched(&mut self, warp: &mut Warp, pc: u32, active: Mask) {
        let kernel = self.launch.kernel;
        if warp.products.fenced.is_empty() {
            return;
        }
        if let Op::Move { d, s } = kernel.insts[pc as usize].op {
            // A register gets another name, which is no access: the machine need not move anything.
            let (d, s) = (d as usize, s as usize);
            let from = warp.products.locks.get(s).copied().flatten();
            let over = warp.products.locks.get(d).copied().flatten();
            if over.is_none() || over == from {
                let products = &mut warp.products;
                if let Some(lock) = products.locks.get_mut(d) {
                    *lock = from;
                }
                let is_constant = kernel.initial.iter().any(|(reg, _)| *reg as usize == s);
                products.fenced[d] = products.fenced[s] && !is_constant;
                return;
            }
        }
        for &(reg, writes) in &kernel.touches[pc as usize] {
            let products = &mut warp.products;
            products.fenced[reg as usize] = false;
            let Some(lock) = products.locks.get(reg as usize).copied().flatten() else {
                continue;
            };
            if !writes && lock.part.is_none() {
                continue;
            }
            let lane = first(active);
            self.find(Kind::MissingWait, pc, Some(lock.inst), warp.index, lane, None, || {
                let what = if lock.part.is_some() { "an accumulator" } else { "a register of A" };
                let does = if writes { "writes" } else { "reads" };
                format!("{does} {what} of a wgmma that is under way; commit it and execute wgmma.wait_group for its group before")
            });
        }
    }

    fn product(&mut self, warp: &mut Warp, op: &Wgmma, mask: Mask, pc: u32) {
        let lane = first(mask);
        let warps = self.warps;
        let local = warp.index % warps;
        let index = self.first_of_group(warp);
        if local / WARPS * WARPS + WARPS > warps {
            self.find(Kind::BarrierDivergence, pc, None, warp.index, lane, None, || {
                format!("wgmma needs four warps, of which the first is a multiple of 4, and the block has {warps} warps; launch whole warpgroups of 128 threads")
            });
            return;
        }
        self.progress += 1;
        let scale = self.predicate(warp, op.scale_d, mask, pc);
        let accumulates = scale != 0;
        let a_bits = match op.a {
            WarpgroupOperand::Descriptor(reg) => self.same_in_lanes(warp, reg, mask, pc),
            WarpgroupOperand::Registers(_) => 0,
        };
        let b_bits = self.same_in_lanes(warp, op.b, mask, pc);
        if scale != 0 && scale != mask {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                "expected one scale-d in all threads of a warpgroup, found several".into()
            });
        }
        self.note_issue(warp, lane, pc, [a_bits, b_bits, u64::from(accumulates)]);
        self.lock_registers(warp, op, lane, pc);
        let Some(agent) = self.agent(warp, lane, pc, Agent::Warpgroup(index)) else {
            return;
        };
        let agent = (agent, warp.products.committed + 1);
        let mma = &op.mma;
        let mut a = vec![0.0; WARP_ROWS * mma.k];
        match &op.a {
            WarpgroupOperand::Descriptor(_) => {
                let rows = (local % WARPS) as usize * WARP_ROWS;
                let place = ((mma.transpose[0], 2), rows, WARP_ROWS, mma.k);
                match self.chunks_of(warp, lane, pc, a_bits, place, agent) {
                    Some(chunks) => mma.a_of_chunks(&chunks, &mut a),
                    None => return,
                }
            }
            WarpgroupOperand::Registers(regs) => {
                for reg in regs {
                    self.check_bytes(warp, *reg, 4, mask, pc);
                }
                let rows: Vec<Row> = regs.iter().map(|reg| *warp.row(*reg)).collect();
                mma.a_of_registers(&rows, &mut a);
            }
        }
        let k = mma.k_of_b();
        let place = ((mma.transpose[1], mma.chunks_of_b()), 0, mma.n, k);
        let Some(chunks) = self.chunks_of(warp, lane, pc, b_bits, place, agent) else {
            return;
        };
        let mut sum = vec![0.0; WARP_ROWS * mma.n];
        let mut rows = vec![ZEROS; op.d.len()];
        if accumulates {
            for (row, reg) in rows.iter_mut().zip(&op.d) {
                self.check_bytes(warp, *reg, 4, mask, pc);
                *row = *warp.row(*reg);
            }
            mma.read_d(&rows, &mut sum);
        }
        if let Some(reg) = op.metadata {
            self.check(warp, reg, mask & mma.giving(), pc);
        }
        let b = self.factors.of(mma, (warp.rank, b_bits), chunks);
        match op.metadata {
            None => mma.multiply(&a, b, &mut sum),
            Some(reg) => {
                let misplaced = mma.multiply_sparse(&a, b, &mut sum, warp.row(reg));
                // What nobody wrote has been told.
                let defined = warp.defined[reg as usize];
                if let Some(misplaced) = misplaced.filter(|it| defined >> it.lane & 1 != 0) {
                    let lane = misplaced.lane;
                    self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                        misplaced.text()
                    });
                }
            }
        }
        mma.write_d(&sum, &mut rows);
        for (row, reg) in rows.iter().zip(&op.d) {
            Self::set(warp, *reg, row, Mask::MAX);
        }
        warp.products.last = pc;
        warp.products.open = true;
    }

    /// The first warp of a warp's warpgroup, by its number in the cluster.
    fn first_of_group(&self, warp: &Warp) -> u32 {
        warp.index - warp.index % self.warps % WARPS
    }

    /// The value of an operand that all lanes have in common.
    fn same_in_lanes(&mut self, warp: &Warp, reg: Reg, mask: Mask, pc: u32) -> u64 {
        self.check(warp, reg, mask, pc);
        let row = warp.row(reg);
        let value = row[first(mask)];
        if let Some(lane) = lanes(mask).find(|&lane| row[lane] != value) {
            let found = row[lane];
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!("expected one matrix descriptor in all threads of a warpgroup, found {value:#x} and {found:#x}")
            });
        }
        value
    }

    /// Compares a product with what the other warps of the warpgroup issue in its place.
    fn note_issue(&mut self, warp: &mut Warp, lane: usize, pc: u32, operands: [u64; 3]) {
        let index = self.first_of_group(warp);
        let place = (warp.index - index) as usize;
        let issued = self.issued.entry(index).or_default();
        let number = issued.counts[place];
        issued.counts[place] += 1;
        warp.products.issued += 1;
        let at = (number - issued.first) as usize;
        let first = match issued.products.get(at) {
            Some(issue) => *issue,
            None => {
                issued.products.push_back(Issue {
                    inst: pc,
                    warp: warp.index,
                    operands,
                });
                return;
            }
        };
        while issued.counts.iter().all(|&count| count > issued.first) {
            issued.first += 1;
            issued.products.pop_front();
        }
        let warps = self.warps;
        if first.inst != pc {
            let other = Some(first.inst);
            self.find(Kind::BarrierDivergence, pc, other, warp.index, lane, None, || {
                format!("expected the same wgmma from all four warps of a warpgroup, found another one in warp {}; let all of them take the same way", first.warp % warps)
            });
        } else if first.operands != operands {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                let [a, b, scale] = operands;
                let [other_a, other_b, other_scale] = first.operands;
                format!(
                    "expected the same descriptors and scale-d in all four warps of a warpgroup, found A {a:#x}, B {b:#x}, scale-d {scale} and, in warp {}, A {other_a:#x}, B {other_b:#x}, scale-d {other_scale}",
                    first.warp % warps
                )
            });
        }
    }

    /// Notes registers that are not fenced or belong to another product, and locks those of this one.
    fn lock_registers(&mut self, warp: &mut Warp, op: &Wgmma, lane: usize, pc: u32) {
        let rows = warp.rows.len();
        let products = &mut warp.products;
        products.locks.resize(rows, None);
        products.fenced.resize(rows, false);
        let group = products.committed;
        let (mut unfenced, mut taken) = (false, None);
        for (place, &reg) in op.d.iter().enumerate() {
            let reg = reg as usize;
            let part = Some((op.mma.shape_alone(), place));
            unfenced |= !products.fenced[reg];
            if let Some(lock) = products.locks[reg]
                && lock.part != part
            {
                taken = Some(lock);
            }
            products.locks[reg] = Some(Lock {
                group,
                inst: pc,
                part,
            });
        }
        if let WarpgroupOperand::Registers(regs) = &op.a {
            for &reg in regs {
                let reg = reg as usize;
                unfenced |= !products.fenced[reg];
                match products.locks[reg] {
                    Some(lock) if lock.part.is_some() => taken = Some(lock),
                    _ => {
                        products.locks[reg] = Some(Lock {
                            group,
                            inst: pc,
                            part: None,
                        });
                    }
                }
            }
        }
        if unfenced {
            self.find(Kind::MissingFence, pc, None, warp.index, lane, None, || {
                "reads or writes registers that were touched since the last wgmma.fence, or before the first one; execute wgmma.fence between".into()
            });
        }
        if let Some(lock) = taken {
            self.find(Kind::MissingWait, pc, Some(lock.inst), warp.index, lane, None, || {
                "takes registers of another wgmma that is under way; only products of one shape on the same accumulators follow each other without wgmma.wait_group".into()
            });
        }
    }

    /// The chunks of an operand in shared memory.
    fn chunks_of(
        &mut self,
        warp: &Warp,
        lane: usize,
        pc: u32,
        bits: u64,
        ((transposed, in_row), start, extent, k): ((bool, usize), usize, usize, usize),
        agent: (u32, u32),
    ) -> Option<Vec<[u8; CHUNK]>> {
        let descriptor = match Descriptor::of(bits) {
            Ok(descriptor) => descriptor,
            Err(message) => {
                self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                    message
                });
                return None;
            }
        };
        let span = descriptor.swizzle.span().unwrap_or(in_row * CHUNK);
        if !transposed && span < in_row * CHUNK {
            self.find(Kind::Undefined, pc, None, warp.index, lane, None, || {
                format!(
                    "expected rows of {} bytes along K within the pattern of a swizzle, found one of {span} bytes; take a wider swizzle, or none",
                    in_row * CHUNK
                )
            });
            return None;
        }
        let mut chunks = Vec::with_capacity(extent * in_row);
        let mut worst = None;
        let mut other = None;
        for at in descriptor.chunks((transposed, in_row), start, extent, k) {
            let at = address::shared_place(warp.rank, at);
            if !self.holds_shared(warp, lane, pc, at, CHUNK as u32, "multiplies") {
                return None;
            }
            let by = By {
                thread: warp.thread(lane),
                inst: pc,
                strong: 0,
                agent: Some(agent),
                clocks: &self.clocks,
            };
            worst = worst.or(self.shared.read(at, CHUNK, by));
            // Patterns are those of whole groups of rows.
            if chunks.len() % 16 == 0 && other.is_none() {
                let pattern = self.loaded_pattern(at);
                other = pattern.filter(|(loaded, _)| *loaded != descriptor.swizzle);
            }
            let mut chunk = [0; CHUNK];
            chunk.copy_from_slice(self.shared.get(at, CHUNK));
            chunks.push(chunk);
        }
        if let Some(conflict) = worst {
            self.shared_conflict(warp, lane, pc, conflict, "multiplies");
        }
        if let Some((loaded, inst)) = other {
            let reads = descriptor.swizzle;
            self.find(Kind::Undefined, pc, Some(inst), warp.index, lane, None, || {
                let text = |swizzle: MapSwizzle| match swizzle.span() {
                    Some(span) => format!("the swizzle of {span} bytes"),
                    None => "no swizzle".to_string(),
                };
                format!(
                    "expected an operand that lies as its descriptor says, with {}, found one that was loaded with {}; give map and descriptor one swizzle",
                    text(reads),
                    text(loaded)
                )
            });
        }
        Some(chunks)
    }

    /// Notes products that nobody waited for, or that some warps have not issued, as the block ends.
    pub(crate) fn end_products(&mut self) {
        let warps = self.warps;
        for (index, issued) in std::mem::take(&mut self.issued) {
            if let Some(issue) = issued.products.front() {
                let found: Vec<String> = issued
                    .counts
                    .iter()
                    .map(|count| count.to_string())
                    .collect();
                let thread = issue.warp * LANES as u32;
                self.find_at_end(Kind::BarrierDivergence, issue.inst, thread, None, || {
                    format!(
                        "expected as many wgmma from the four warps from warp {} on, found {}",
                        index % warps,
                        found.join(", ")
                    )
                });
            }
        }
    }

    /// Notes products of a warp that ends.
    pub(super) fn check_products(&mut self, warp: &Warp, active: Mask) {
        let Products {
            committed,
            done,
            last,
            open,
            ..
        } = warp.products;
        if open || done < committed {
            let lane = first(active);
            self.find(Kind::MissingWait, last, None, warp.index, lane, None, || {
                match open {
                    true => "the warp ends and this wgmma is in no group, so that nothing waits for it; execute wgmma.commit_group and wgmma.wait_group 0 after it",
                    false => "the warp ends while this wgmma is under way; execute wgmma.wait_group 0 before",
                }
                .into()
            });
        }
    }
}
