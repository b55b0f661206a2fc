//! `atom` and `red`.

use super::super::alu;
use super::super::program::{Atomic, AtomicOp, Op, Order, Space};
use super::memory::scope_named;
use super::types::is_bits;
use super::{Decoder, Result};
use crate::ptx::{Instruction, Operand, Type};

impl<'a> Decoder<'_, 'a> {
    pub(super) fn atomic(&mut self, i: &Instruction<'a>) -> Result<Op> {
        let mut order = Order::default();
        let (mut space, mut op, mut ty, mut noftz) = (Space::Generic, None, None, false);
        let (mut elements, mut policy) = (1, false);
        for &name in &i.modifiers {
            match name {
                // PTX ISA, atom and red: vectors of floating-point numbers in global memory.
                "v2" | "v4" | "v8" if elements == 1 => {
                    elements = usize::from(name.as_bytes()[1] - b'0');
                }
                "global" => space = Space::Global,
                "shared" | "shared::cta" | "shared::cluster" => space = Space::Shared,
                "relaxed" => {}
                "cta" | "cluster" | "gpu" | "sys" => order.scope = scope_named(name),
                "L2::cache_hint" => policy = true,
                "acquire" | "acq_rel" if i.opcode == "red" => return self.unknown(i),
                "acquire" => order.acquire = true,
                "release" => order.release = true,
                "acq_rel" => (order.acquire, order.release) = (true, true),
                "noftz" => noftz = true,
                "add" => op = Some((AtomicOp::Add, "add")),
                "min" => op = Some((AtomicOp::Min, "min")),
                "max" => op = Some((AtomicOp::Max, "max")),
                "and" => op = Some((AtomicOp::And, "and")),
                "or" => op = Some((AtomicOp::Or, "or")),
                "xor" => op = Some((AtomicOp::Xor, "xor")),
                "inc" => op = Some((AtomicOp::Inc, "")),
                "dec" => op = Some((AtomicOp::Dec, "")),
                "exch" => op = Some((AtomicOp::Exchange, "")),
                "cas" => op = Some((AtomicOp::CompareAndSwap, "")),
                name => match Type::of(name) {
                    Some(found) if ty.is_none() => ty = Some((found, name)),
                    _ => return self.unknown(i),
                },
            }
        }
        let (Some((op, opcode)), Some((ty, type_name))) = (op, ty) else {
            return self.unknown(i);
        };
        let swaps = matches!(op, AtomicOp::Exchange | AtomicOp::CompareAndSwap);
        let of_bits = is_bits(ty) && (op == AtomicOp::CompareAndSwap || ty != Type::B16);
        if swaps && (!of_bits || i.opcode == "red") || op == AtomicOp::Add && ty == Type::S64 {
            return self.unknown(i);
        }
        let most = if swaps { 16 } else { 8 };
        let Some(bytes) = ty.bytes().filter(|bytes| *bytes <= most) else {
            return self.unknown(i);
        };
        (order.width, order.atomic) = (bytes as u8, true);
        let of_halves = matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2);
        if noftz != of_halves {
            return self.error(format!(
                "expected .noftz with .f16, .bf16 and pairs of them, and with no other type, in {}; {}",
                i.opcode,
                if noftz { "leave it out" } else { "add it" }
            ));
        }
        let is_vector = elements > 1;
        let float = of_halves || ty == Type::F32;
        let fits = elements * bytes as usize <= 16;
        let combines = opcode == "add" || matches!(opcode, "min" | "max") && of_halves;
        if is_vector && !(float && fits && combines && space == Space::Global) {
            return self.unknown(i);
        }
        // Inc and dec are defined for unsigned words alone.
        if matches!(op, AtomicOp::Inc | AtomicOp::Dec) && ty != Type::U32 {
            return self.unknown(i);
        }
        let combine = if opcode.is_empty() {
            None
        } else {
            let modifiers: &[&str] = match ty {
                // Atomics round to nearest even.
                Type::F32 | Type::F64 if opcode == "add" => &["rn", type_name],
                _ if of_halves && opcode == "add" => &["rn", type_name],
                _ if of_halves && is_vector => &[type_name],
                Type::B32 | Type::B64 | Type::U32 | Type::S32 | Type::U64 | Type::S64 => {
                    &[type_name]
                }
                _ => return self.unknown(i),
            };
            match alu::lookup(opcode, modifiers) {
                Ok(alu::Alu {
                    kind: alu::Kind::Value(f),
                    ..
                }) => Some(f),
                _ => return self.unknown(i),
            }
        };
        let (dest, operands) = match i.operands.as_slice() {
            [dest, rest @ ..] if i.opcode == "atom" => (Some(dest), rest),
            rest => (None, rest),
        };
        let operands = match operands {
            [rest @ .., last] if policy => {
                self.check_type(last, Type::U64, false)?;
                rest
            }
            operands => operands,
        };
        let (address, a, b) = match (op, operands) {
            (AtomicOp::CompareAndSwap, [address, a, b]) => (address, a, Some(b)),
            (AtomicOp::CompareAndSwap, _) => {
                return self.error("expected an address and two values after atom.cas");
            }
            (_, [address, a]) => (address, a, None),
            _ => {
                return self.error(format!(
                    "expected an address and a value after {}",
                    i.opcode
                ));
            }
        };
        let (base, offset, _) = self.address(address)?;
        let is_wide = bytes == 16;
        // ptxas takes registers of any type for this one.
        let of_registers = if ty == Type::Bf16x2 { Type::B32 } else { ty };
        let a = match is_wide {
            true => vec![self.wide(a)?[0]],
            false if is_vector => self.rows_of_elements(a, elements, of_registers)?,
            false => vec![self.source(a, ty)?],
        };
        let b = match b {
            Some(b) if is_wide => Some(self.wide(b)?[0]),
            Some(b) => Some(self.source(b, ty)?),
            None => None,
        };
        let d = match dest {
            Some(Operand::Discard) if is_wide => vec![None],
            Some(dest) if is_wide => vec![Some(self.wide(dest)?[0])],
            Some(dest) if is_vector => {
                let parts = self.parts(dest, elements)?;
                self.check_vector(&parts, of_registers, false)?;
                let part = |part: &Operand<'a>| Ok(self.dest_or_sink(part)?.map(|(reg, _)| reg));
                parts.iter().map(part).collect::<Result<_>>()?
            }
            Some(dest) => {
                self.check_type(dest, ty, false)?;
                vec![self.dest_or_sink(dest)?.map(|(reg, _)| reg)]
            }
            None => Vec::new(),
        };
        self.note_shared(space, bytes);
        self.note_global_write(space, bytes);
        Ok(Op::Atomic(Box::new(Atomic {
            op,
            combine,
            space,
            base,
            offset,
            bytes,
            d,
            a,
            b,
            order,
        })))
    }
}
