//! `wmma`: products of a warp, and the fragments of their matrices.

use super::super::mma::{Move, Wmma};
use super::super::program::{FragmentAccess, Op, Space, WmmaOp};
use super::{Decoder, Result};
use crate::ptx::{Instruction, Type};

/// The type of the registers of a fragment.
fn register_type(is_double: bool) -> Type {
    if is_double { Type::B64 } else { Type::B32 }
}

impl<'a> Decoder<'_, 'a> {
    pub(super) fn wmma(&mut self, i: &Instruction<'a>) -> Result<Op> {
        match i.modifiers.first() {
            Some(&"mma") => self.product(i),
            Some(&"load" | &"store") => self.fragment(i),
            _ => self.unknown(i),
        }
    }

    fn product(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let wmma = match Wmma::of(&i.modifiers) {
            Ok(wmma) => wmma,
            Err(error) => return self.error(error.to_string()),
        };
        let [d, a, b, c] = i.operands.as_slice() else {
            return self.error("expected D, A, B and C after wmma.mma");
        };
        let counts = wmma.registers();
        let ty = register_type(wmma.is_double());
        Ok(Op::Wmma(Box::new(WmmaOp {
            d: self.dests(d, counts[0])?,
            a: self.sources(a, counts[1], ty)?,
            b: self.sources(b, counts[2], ty)?,
            c: self.sources(c, counts[3], ty)?,
            wmma,
        })))
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
