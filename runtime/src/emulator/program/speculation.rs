//! Loads whose values may not matter, found before a kernel runs.
//!
//! Compilers move a load above the condition that guards its use, and drop its value by a select or a branch where the condition does not
//! hold. Here such loads are told from all others: there is a path behind them on which nothing uses the value, and one on which
//! something does. A load whose value nothing uses at all is no such one, as no compiler leaves it.
//!
//! The answer decides which loads are watched while the kernel runs, and no more: whether a value matters is seen there.

use std::collections::HashSet;

use super::{AluOp, Carry, Inst, Op, Reg, Space};
use crate::emulator::alu::Kind as AluKind;

/// Instructions that are looked at behind one load, at most, and for each instruction of the kernel.
const MOST: usize = 4096;
const MOST_EACH: usize = 64;

/// The use of a value in an instruction that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::emulator) enum Fate {
    /// It matters.
    Used,
    /// The results are made of it, and matter or not.
    Carried,
    /// The result is one of two sources.
    Chosen,
    /// The results are predicates that are made of it, and matter or not.
    Tested,
}

/// The instructions of a kernel with loads whose values may not matter.
#[derive(Debug)]
pub(in crate::emulator) struct Speculation {
    fates: Vec<Fate>,
    registers: Registers,
}

impl Speculation {
    pub(in crate::emulator) fn fate(&self, pc: u32) -> Fate {
        self.fates[pc as usize]
    }

    /// Registers that an instruction reads.
    pub(in crate::emulator) fn reads(&self, pc: u32) -> &[Reg] {
        self.registers.of(pc as usize)[0]
    }

    /// Registers that an instruction writes.
    pub(in crate::emulator) fn writes(&self, pc: u32) -> &[Reg] {
        self.registers.of(pc as usize)[1]
    }

    /// Marks the loads whose values may not matter; none if there is no such load. Kernels with `wgmma`, which says itself when it touches
    /// registers, have none.
    pub(in crate::emulator) fn of(insts: &mut [Inst]) -> Option<Speculation> {
        let is_wgmma = |inst: &Inst| matches!(inst.op, Op::Wgmma(_));
        if !insts.iter().any(is_load) || insts.iter().any(is_wgmma) {
            return None;
        }
        let registers = Registers::of_all(insts);
        let fates = fates(insts, &registers);
        let mut budget = insts.len().saturating_mul(MOST_EACH);
        let mut found = Vec::new();
        for pc in (0..insts.len()).filter(|&pc| is_load(&insts[pc])) {
            let mut walk = Walk {
                insts,
                registers: &registers,
                fates: &fates,
                left: budget.min(MOST),
                is_used: false,
                is_dropped: false,
            };
            let before = walk.left;
            if walk.may_not_matter(pc) {
                found.push(pc);
            }
            budget -= before - walk.left;
        }
        for &pc in &found {
            if let Op::Load(access) = &mut insts[pc].op {
                access.speculated = true;
            }
        }
        (!found.is_empty()).then_some(Speculation { fates, registers })
    }
}

/// Tells whether an instruction is a load that a compiler may move.
fn is_load(inst: &Inst) -> bool {
    let Op::Load(access) = &inst.op else {
        return false;
    };
    let moves = matches!(
        access.space,
        Space::Shared | Space::Global | Space::Generic | Space::Local
    );
    moves && !access.order.strong()
}

/// The registers of all instructions, in one list: those that each reads, and those that it writes.
#[derive(Debug)]
struct Registers {
    all: Vec<Reg>,
    /// The starts of those that it reads, and of those that it writes; the end of all is the last one.
    starts: Vec<[u32; 2]>,
}

impl Registers {
    fn of_all(insts: &[Inst]) -> Registers {
        let mut all = Vec::new();
        let mut starts = Vec::with_capacity(insts.len() + 1);
        for inst in insts {
            let start = all.len() as u32;
            let mut written = Vec::new();
            inst.op.registers(&mut |reg, writes| match writes {
                true => written.push(reg),
                false => all.push(reg),
            });
            starts.push([start, all.len() as u32]);
            all.extend(written);
        }
        starts.push([all.len() as u32; 2]);
        Registers { all, starts }
    }

    fn of(&self, pc: usize) -> [&[Reg]; 2] {
        let [reads, writes] = self.starts[pc].map(|at| at as usize);
        let end = self.starts[pc + 1][0] as usize;
        [&self.all[reads..writes], &self.all[writes..end]]
    }
}

/// Tells whether an instruction leads elsewhere than to the next one alone.
fn is_jump(op: &Op) -> bool {
    matches!(
        op,
        Op::Branch(_)
            | Op::Goto(_)
            | Op::BranchIndex { .. }
            | Op::Call(_)
            | Op::Return
            | Op::Exit
            | Op::Trap
            | Op::AssertFail { .. }
    )
}

/// The fate of values in each instruction. Arithmetic uses its sources, but where its result goes to selects, tests and instructions under
/// predicates alone, in one stretch without a jump: compilers move it above a condition together with the load.
fn fates(insts: &[Inst], registers: &Registers) -> Vec<Fate> {
    let mut readers: Vec<Vec<usize>> = Vec::new();
    for pc in 0..insts.len() {
        for &reg in registers.of(pc)[0] {
            let reg = reg as usize;
            if readers.len() <= reg {
                readers.resize_with(reg + 1, Vec::new);
            }
            readers[reg].push(pc);
        }
    }
    let mut fates = vec![Fate::Used; insts.len()];
    let mut end = insts.len();
    // From the end, so that the fates of a result's readers are known.
    for pc in (0..insts.len()).rev() {
        if is_jump(&insts[pc].op) {
            end = pc;
        }
        fates[pc] = match &insts[pc].op {
            Op::Move { .. } | Op::Pack { .. } | Op::Unpack { .. } => Fate::Carried,
            Op::MovePred { .. } => Fate::Tested,
            Op::Alu(op) => match op.kind {
                AluKind::Select(_) => Fate::Chosen,
                AluKind::Test { .. } | AluKind::TestPair { .. } | AluKind::Logic(_) => Fate::Tested,
                AluKind::Value(_) | AluKind::Value4(_) | AluKind::Convert(..) => {
                    let drops = |&reader: &usize| {
                        let is_arithmetic = matches!(insts[reader].op, Op::Alu(_));
                        pc < reader
                            && reader < end
                            && (insts[reader].guard.is_some()
                                || matches!(fates[reader], Fate::Chosen | Fate::Tested)
                                || is_arithmetic && fates[reader] == Fate::Carried)
                    };
                    let of_result = op.d.and_then(|d| readers.get(d as usize));
                    let goes_to_selects = of_result
                        .is_some_and(|readers| !readers.is_empty() && readers.iter().all(drops));
                    match goes_to_selects || moves_bits(op) {
                        true => Fate::Carried,
                        false => Fate::Used,
                    }
                }
                _ => Fate::Used,
            },
            _ => Fate::Used,
        };
    }
    fates
}

/// Tells whether an operation moves bits about, by the rules of bytes that are not defined. Packed arithmetic is arithmetic here.
fn moves_bits(op: &AluOp) -> bool {
    matches!(op.carry, Carry::Moves(_) | Carry::Bitwise)
}

/// A search of all that follows a load.
struct Walk<'k> {
    insts: &'k [Inst],
    registers: &'k Registers,
    fates: &'k [Fate],
    /// Instructions that may still be looked at.
    left: usize,
    /// Tells whether something may use the value, and whether there is a path on which nothing certainly does.
    is_used: bool,
    is_dropped: bool,
}

/// Registers that hold the value for certain, and those that may. Predicates count as registers.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Holders {
    certain: Vec<Reg>,
    maybe: Vec<Reg>,
}

/// The bit of a predicate among registers.
const PREDICATE: Reg = 1 << 31;

/// Tells whether the results of a test are made of all of its sources for certain: no other predicate may decide them.
fn is_certain(op: &Op) -> bool {
    match op {
        Op::Alu(op) => match op.kind {
            AluKind::Test { .. } | AluKind::TestPair { .. } => op.ps.is_empty(),
            AluKind::Logic(_) => op.ps.len() == 1,
            AluKind::Select(_) => false,
            _ => true,
        },
        _ => true,
    }
}

impl Holders {
    /// Tells whether the register holds the value for certain, and whether it may.
    fn has(&self, reg: Reg) -> [bool; 2] {
        [&self.certain, &self.maybe].map(|of| of.contains(&reg))
    }
}

fn insert(of: &mut Vec<Reg>, reg: Reg) {
    if let Err(at) = of.binary_search(&reg) {
        of.insert(at, reg);
    }
}

impl Walk<'_> {
    /// Tells whether a load's value may be used, and may be dropped. Where that is too long to find out, it does not count as dropped.
    fn may_not_matter(&mut self, load: usize) -> bool {
        let mut loaded = self.registers.of(load)[1].to_vec();
        loaded.sort_unstable();
        loaded.dedup();
        if loaded.is_empty() {
            return false;
        }
        let holders = Holders {
            certain: loaded.clone(),
            maybe: loaded,
        };
        let mut seen = HashSet::new();
        let mut paths = vec![(load + 1, holders)];
        while let Some((start, mut holders)) = paths.pop() {
            if !seen.insert((start, holders.clone())) {
                continue;
            }
            let mut pc = start;
            loop {
                if self.left == 0 {
                    return false;
                }
                self.left -= 1;
                if pc >= self.insts.len() || !self.pass(pc, &mut holders) {
                    break;
                }
                if self.is_used && self.is_dropped {
                    return true;
                }
                let guarded = self.insts[pc].guard.is_some();
                match &self.insts[pc].op {
                    Op::Branch(target) if guarded => {
                        paths.push((*target as usize, holders.clone()));
                        pc += 1;
                    }
                    Op::Branch(target) | Op::Goto(target) => pc = *target as usize,
                    Op::BranchIndex { targets, .. } => {
                        for &target in targets {
                            paths.push((target as usize, holders.clone()));
                        }
                        if !guarded {
                            break;
                        }
                        pc += 1;
                    }
                    Op::Exit | Op::Return if !guarded => {
                        self.is_dropped |= !holders.certain.is_empty();
                        break;
                    }
                    // Where the kernel fails, it does not matter.
                    Op::Trap | Op::AssertFail { .. } if !guarded => break,
                    _ => {
                        pc += 1;
                        continue;
                    }
                }
                if !seen.insert((pc, holders.clone())) {
                    break;
                }
            }
            if self.is_used && self.is_dropped {
                return true;
            }
        }
        false
    }

    /// Follows the value through an instruction. Returns whether there is more to look for behind it.
    fn pass(&mut self, pc: usize, holders: &mut Holders) -> bool {
        let inst = &self.insts[pc];
        let [reads, writes] = self.registers.of(pc);
        let (fate, guarded) = (self.fates[pc], inst.guard.is_some());
        let (mut used, mut carried) = ([false; 2], [false; 2]);
        let mut read = |reg: Reg, carries: bool| {
            let to = if carries { &mut carried } else { &mut used };
            let has = holders.has(reg);
            *to = [to[0] | has[0], to[1] | has[1]];
        };
        reads.iter().for_each(|&reg| read(reg, fate != Fate::Used));
        let mut written = writes.to_vec();
        inst.op.predicates(|pred, writes| match writes {
            true => written.push(pred | PREDICATE),
            false => read(
                pred | PREDICATE,
                matches!(fate, Fate::Tested | Fate::Chosen),
            ),
        });
        let guard = inst
            .guard
            .map_or([false; 2], |guard| holders.has(guard.pred | PREDICATE));
        self.is_used |= used[1] | guard[1];
        if guard[0] || used[0] && !guarded {
            return false;
        }
        for d in written {
            let is_result = (d & PREDICATE != 0) == (fate == Fate::Tested);
            if is_result && carried[1] {
                insert(&mut holders.maybe, d);
            } else if !guarded {
                holders.maybe.retain(|reg| *reg != d);
            }
            if is_result && carried[0] && !guarded && is_certain(&inst.op) {
                insert(&mut holders.certain, d);
            } else {
                holders.certain.retain(|reg| *reg != d);
            }
        }
        self.is_dropped |= holders.certain.is_empty();
        !holders.maybe.is_empty()
    }
}
