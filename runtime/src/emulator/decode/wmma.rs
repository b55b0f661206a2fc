//! `wmma`: products of a warp, and the fragments of their matrices.

use super::super::mma::{Move, Wmma};
use super::super::program::{FragmentAccess, Op, Space};
use super::statements::register_type;
use super::{Decoder, Result};
use crate::ptx::{Instruction, Type};

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
        let (counts, is_double) = (wmma.registers(), wmma.is_double());
        let product = self.product(i, wmma, counts, is_double)?;
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
            false => self.dests(registers, count)?,
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
