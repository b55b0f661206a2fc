//! `wmma`: products of a warp, and the fragments of their matrices.

use super::super::mma::{Move, Wmma};
use super::super::program::{FragmentAccess, Inst, Op, Reg, Space};
use super::statements::register_type;
use super::{Decoder, Result};
use crate::ptx::{Instruction, Type};
use std::collections::{BTreeMap, HashMap};

impl<'a> Decoder<'_, 'a> {
    pub(super) fn wmma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        match i.modifiers.first() {
            Some(&"mma") => self.multiply(i),
            Some(&"load" | &"store") => self.fragment(i),
            _ => self.unknown(i),
        }
    }

    fn multiply(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let wmma = match Wmma::of(&i.modifiers) {
            Ok(wmma) => wmma,
            Err(error) => return self.error(error.to_string()),
        };
        let (counts, elements) = (wmma.registers(), wmma.elements());
        let product = self.product(i, wmma, counts, elements)?;
        Ok(Op::Wmma(Box::new(product)))
    }

    fn fragment(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let Move {
            fragment,
            is_store,
            space,
        } = match Move::of(&i.modifiers) {
            Ok(found) => found,
            Err(error) => return self.error(error.to_string()),
        };
        let [first, second, stride @ ..] = i.operands.as_slice() else {
            return self.error("expected an address and a fragment after wmma.load and wmma.store");
        };
        let (address, registers) = match is_store {
            true => (first, second),
            false => (second, first),
        };
        let stride = match stride {
            [] => None,
            [stride] => Some(self.source(stride, Type::U32)?),
            _ => return self.error("expected at most a stride after the fragment"),
        };
        let (base, offset, of_symbol) = self.address(address)?;
        if space == Space::Generic && of_symbol.is_some() {
            return self.error(
                "expected the state space of the variable in wmma.load and wmma.store, as its name is no generic address",
            );
        }
        let count = fragment.registers();
        let regs = match is_store {
            true => self.sources(registers, count, register_type(fragment.is_double()))?,
            false => self.dests(registers, count, register_type(fragment.is_double()))?,
        };
        for piece in &fragment.pieces {
            self.note_shared(space, piece.bytes as u32);
            if is_store {
                self.note_global_write(space, piece.bytes as u32);
            }
        }
        let access = Box::new(FragmentAccess {
            fragment,
            space,
            base,
            offset,
            stride,
            regs,
        });
        Ok(match is_store {
            true => Op::StoreFragment(access),
            false => Op::LoadFragment(access),
        })
    }
}

/// Products of fragments that were loaded in another form: the load of each, and what is wrong. Registers that several instructions write
/// are not looked at, nor fragments that were copied to other registers. (PTX ISA, `wmma.mma`: layouts, types and shapes must match.)
pub(super) fn mismatches(insts: &[Inst]) -> BTreeMap<u32, (u32, String)> {
    let mut found = BTreeMap::new();
    if !insts.iter().any(|inst| matches!(inst.op, Op::Wmma(_))) {
        return found;
    }
    // The instruction that writes a register, if it is the only one.
    let mut writers: HashMap<Reg, Option<usize>> = HashMap::new();
    for (pc, inst) in insts.iter().enumerate() {
        inst.op.registers(&mut |reg, writes| {
            if writes {
                let writer = writers.entry(reg).or_insert(Some(pc));
                *writer = writer.filter(|known| *known == pc);
            }
        });
    }
    for (pc, inst) in insts.iter().enumerate() {
        let Op::Wmma(product) = &inst.op else {
            continue;
        };
        let operands = [&product.a, &product.b, &product.c].into_iter();
        for (name, (regs, form)) in ["A", "B", "C"]
            .iter()
            .zip(operands.zip(product.mma.forms()))
        {
            let by = regs.first().and_then(|reg| *writers.get(reg)?);
            let load = by.and_then(|by| match &insts[by].op {
                Op::LoadFragment(load) => Some((by, load.fragment.form)),
                _ => None,
            });
            if let Some((load, loaded)) = load.filter(|(_, loaded)| *loaded != form) {
                let text = format!(
                    "expected {name} as its wmma.load has it, {loaded}, found {form}; say the same layout, shape and type in both"
                );
                found.entry(pc as u32).or_insert((load as u32, text));
            }
        }
    }
    found
}
