//! The operation of `cp.reduce.async.bulk` on each element: an atomic operation of scope `.gpu`.

use crate::emulator::alu::{self, lookup};
use crate::emulator::global::{Accessor, Buffer, Unordered};
use crate::emulator::lanes::{LANES, Row};
use crate::emulator::program::{Order, Scope};

/// An operation on elements of a type.
#[derive(Clone, Copy)]
pub(super) struct Reduction {
    bytes: usize,
    op: Operation,
}

#[derive(Clone, Copy)]
enum Operation {
    Combine(fn(&mut Row, &Row, &Row, &Row)),
    Inc,
    Dec,
}

impl Reduction {
    /// None for what the instruction does not have (PTX ISA, `cp.reduce.async.bulk`).
    pub(super) fn of(name: &str, ty: &str) -> Option<Reduction> {
        let bytes = match ty {
            "f16" | "bf16" => 2,
            "u32" | "s32" | "b32" | "f32" => 4,
            "u64" | "s64" | "b64" | "f64" => 8,
            _ => return None,
        };
        let bits: &'static str = if bytes == 4 { "b32" } else { "b64" };
        let integer = matches!(ty, "u32" | "s32" | "u64" | "s64");
        let modifiers: &[&str] = match (name, ty) {
            ("inc" | "dec", "u32") => {
                let op = match name {
                    "inc" => Operation::Inc,
                    _ => Operation::Dec,
                };
                return Some(Reduction { bytes, op });
            }
            ("and" | "or" | "xor", _) if bytes >= 4 && !matches!(ty, "f32" | "f64") => &[bits],
            ("add", "f16") => &["rn", "f16"],
            ("add", "bf16") => &["rn", "bf16"],
            ("add", "f32") => &["rn", "f32"],
            ("add", "f64") => &["rn", "f64"],
            ("min" | "max", "f16") => &["f16"],
            ("min" | "max", "bf16") => &["bf16"],
            ("add" | "min" | "max", _) if integer => match ty {
                "u32" => &["u32"],
                "s32" => &["s32"],
                "u64" => &["u64"],
                _ => &["s64"],
            },
            _ => return None,
        };
        match lookup(name, modifiers) {
            Ok(alu::Alu {
                kind: alu::Kind::Value(f),
                ..
            }) => Some(Reduction {
                bytes,
                op: Operation::Combine(f),
            }),
            _ => None,
        }
    }

    /// An element with an operand.
    pub(super) fn value(&self, before: u64, operand: u64) -> u64 {
        match self.op {
            Operation::Inc if before >= operand => 0,
            Operation::Inc => before + 1,
            Operation::Dec if before == 0 || before > operand => operand,
            Operation::Dec => before - 1,
            Operation::Combine(f) => {
                let mut d = [0; LANES];
                f(&mut d, &[before; LANES], &[operand; LANES], &[0; LANES]);
                d[0]
            }
        }
    }

    /// Reduces a range of elements with others, each by itself.
    pub(super) fn apply(
        &self,
        buffer: &Buffer,
        offset: u64,
        values: &[u8],
        by: &Accessor<'_>,
    ) -> Option<Unordered> {
        let by = Accessor {
            order: Order {
                width: self.bytes as u8,
                atomic: true,
                scope: Scope::Device,
                ..Order::default()
            },
            ..*by
        };
        let mut found = None;
        for (at, value) in values.chunks_exact(self.bytes).enumerate() {
            let mut word = [0; 8];
            word[..self.bytes].copy_from_slice(value);
            let operand = u64::from_le_bytes(word);
            let place = offset + (at * self.bytes) as u64;
            let update = |before: u128| Some(u128::from(self.value(before as u64, operand)));
            let (_, conflict, _) = buffer.modify(place, self.bytes, &by, None, update);
            found = found.or(conflict);
        }
        found
    }
}
