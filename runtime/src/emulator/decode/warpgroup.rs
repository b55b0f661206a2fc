//! `wgmma`, and the registers that other instructions touch while it is under way.

use std::collections::HashSet;

use super::super::mma::WarpgroupMma;
use super::super::program::{Inst, Op, Reg, WarpgroupOperand, Wgmma};
use super::statements::fragment_type;
use super::{Decoder, Result};
use crate::ptx::{Immediate, Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(super) fn wgmma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        match (i.modifiers.as_slice(), i.operands.as_slice()) {
            (["fence", "sync", "aligned"], []) => Ok(Op::WgmmaFence),
            (["commit_group", "sync", "aligned"], []) => Ok(Op::WgmmaCommit),
            (
                ["wait_group", "sync", "aligned"],
                [Operand::Immediate(Immediate::Int { bits, .. })],
            ) if *bits < 8 => Ok(Op::WgmmaWait(*bits as u32)),
            (["wait_group", ..], _) => {
                self.error("expected a number of groups from 0 to 7 after wgmma.wait_group")
            }
            (["mma_async", ..], operands) => self.mma_async(i, operands),
            _ => self.unknown(i),
        }
    }

    fn mma_async(&mut self, i: &Instruction<'a>, operands: &[Operand<'a>]) -> Result<Op> {
        let mut mma = match WarpgroupMma::of(&i.modifiers) {
            Ok(mma) => mma,
            Err(error) => return self.error(error.to_string()),
        };
        let (of_a, operands) = match (mma.selectors(), operands) {
            (Some(selectors), [d, a, b, metadata, selector, rest @ ..]) => {
                let selector = self.selector(selector, selectors, "wgmma.mma_async.sp")?;
                mma.select(selector);
                let given = [d.clone(), a.clone(), b.clone()];
                let operands: Vec<_> = given.into_iter().chain(rest.iter().cloned()).collect();
                (Some(self.source(metadata, Type::B32)?), operands)
            }
            (Some(_), _) => {
                return self.error(
                    "expected D, A, B, metadata, a sparsity selector and scale-d after wgmma.mma_async.sp",
                );
            }
            (None, operands) => (None, operands.to_vec()),
        };
        let [d, a, b, scale_d, options @ ..] = operands.as_slice() else {
            return self.error("expected D, A, B and scale-d after wgmma.mma_async");
        };
        let counts = mma.registers();
        let in_registers = matches!(a, Operand::Vector(_));
        let [type_of_d, type_of_a] = mma.elements().map(fragment_type);
        let d = self.dests(d, counts[0], type_of_d)?;
        let a = match in_registers {
            true => WarpgroupOperand::Registers(self.sources(a, counts[1], type_of_a)?),
            false => WarpgroupOperand::Descriptor(self.source(a, Type::B64)?),
        };
        let b = self.source(b, Type::B64)?;
        let scale_d = self.pred_source(scale_d)?;
        let (negates, transposes) = mma.options();
        let mut options = options.iter();
        let names = ["imm-scale-a", "imm-scale-b", "imm-trans-a", "imm-trans-b"];
        let has = [negates, negates, transposes && !in_registers, transposes];
        for (at, name) in names.into_iter().enumerate().filter(|(at, _)| has[*at]) {
            let value = match options.next() {
                Some(Operand::Immediate(Immediate::Int { bits, .. })) => Some(*bits as i64),
                _ => None,
            };
            let value = match (value, at < 2) {
                (Some(1), true) | (Some(0), false) => false,
                (Some(-1), true) | (Some(1), false) => true,
                _ => {
                    let which = if at < 2 { "1 or -1" } else { "0 or 1" };
                    return self.error(format!("expected {which} as {name} of wgmma.mma_async"));
                }
            };
            let list = if at < 2 {
                &mut mma.negate
            } else {
                &mut mma.transpose
            };
            list[at % 2] = value;
        }
        if options.next().is_some() {
            return self.error("expected no more operands after wgmma.mma_async, found some; only 16-bit types have imm-trans, and A in registers has none");
        }
        self.note_shared(super::Space::Shared, 16);
        Ok(Op::Wgmma(Box::new(Wgmma {
            mma,
            d,
            a,
            b,
            metadata: of_a,
            scale_d,
        })))
    }
}

/// For each instruction, the registers of accumulators and of A that it touches, and whether it writes them. Empty where there is no `wgmma`.
pub(super) fn touches(insts: &[Inst], constants: &[Reg]) -> Vec<Box<[(Reg, bool)]>> {
    let mut of_interest: HashSet<Reg> = HashSet::new();
    for inst in insts {
        if let Op::Wgmma(op) = &inst.op {
            of_interest.extend(&op.d);
            if let WarpgroupOperand::Registers(a) = &op.a {
                of_interest.extend(a);
            }
        }
    }
    if of_interest.is_empty() {
        return Vec::new();
    }
    // A move gives a register another name.
    loop {
        let before = of_interest.len();
        for inst in insts {
            if let Op::Move { d, s } = inst.op
                && (of_interest.contains(&d) || of_interest.contains(&s))
                && !constants.contains(&s)
            {
                of_interest.extend([d, s]);
            }
        }
        if of_interest.len() == before {
            break;
        }
    }
    let mut all = Vec::with_capacity(insts.len());
    for inst in insts {
        let mut found = Vec::new();
        inst.op.registers(&mut |reg, writes| {
            if of_interest.contains(&reg) {
                found.push((reg, writes));
            }
        });
        all.push(found.into());
    }
    all
}
