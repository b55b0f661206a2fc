//! Bitwise logic and shifts (PTX ISA, "Logic and Shift Instructions"), predicates among them.

use super::mods::Mods;
use super::scalar::{Int, by_int, value, value4};
use super::{Alu, Kind, Unknown};
use crate::ptx::Type::{self, *};

pub(super) const OPCODES: &[&str] = &[
    "and", "or", "xor", "not", "cnot", "mov", "shl", "shr", "shf", "lop3",
];

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let opcode = mods.opcode;
    match opcode {
        "and" | "or" | "xor" | "not" | "mov" if mods.eat("pred") => {
            let (logic, sources): (fn(u32, u32) -> u32, usize) = match mods.opcode {
                "and" => (|a, b| a & b, 2),
                "or" => (|a, b| a | b, 2),
                "xor" => (|a, b| a ^ b, 2),
                "not" => (|a, _| !a, 1),
                _ => (|a, _| a, 1),
            };
            Ok(Alu::new(Kind::Logic(logic), &[Pred; 2][..sources], Pred))
        }
        "mov" => {
            let ty = mods.ty(&[
                Pred, B16, B32, B64, U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32,
                F64,
            ])?;
            let kind = match ty.bytes() {
                Some(2) => value!(|a| a & 0xffff),
                Some(4) => value!(|a| a & 0xffff_ffff),
                _ => value!(|a| a),
            };
            Ok(Alu::new(kind, &[ty], ty))
        }
        "lop3" => {
            mods.ty(&[B32])?;
            let kind = value4!(|a, b, c, table| lop3(a as u32, b as u32, c as u32, table as u32));
            Ok(Alu::new(kind, &[B32; 4], B32))
        }
        "shl" | "shr" => shift(mods),
        "shf" => funnel(mods),
        _ => {
            let ty = mods.ty(&[B16, B32, B64])?;
            let kind = by_int!(ty, T of { B16 => u16, B32 => u32, B64 => u64 }, match mods.opcode {
                "and" => value!(|a, b| T::read(a & b).write()),
                "or" => value!(|a, b| T::read(a | b).write()),
                "xor" => value!(|a, b| T::read(a ^ b).write()),
                "not" => value!(|a| T::read(!a).write()),
                _ => value!(|a| u64::from(a as T == 0)),
            }, else return Err(mods.unexpected("a type of bits")));
            let sources = match mods.opcode {
                "not" | "cnot" => 1,
                _ => 2,
            };
            Ok(Alu::new(kind, &[ty; 2][..sources], ty))
        }
    }
}

/// Bit 4 a + 2 b + c of the table, for each bit of the operands.
#[inline(always)]
fn lop3(a: u32, b: u32, c: u32, table: u32) -> u64 {
    let mut result = 0;
    for (bit, term) in [
        !a & !b & !c,
        !a & !b & c,
        !a & b & !c,
        !a & b & c,
        a & !b & !c,
        a & !b & c,
        a & b & !c,
        a & b & c,
    ]
    .into_iter()
    .enumerate()
    {
        result |= term & 0u32.wrapping_sub(table >> bit & 1);
    }
    u64::from(result)
}

/// Amounts above the width shift everything out.
fn shift(mods: &mut Mods) -> Result<Alu, Unknown> {
    let left = mods.opcode == "shl";
    let bits: &[Type] = &[B16, B32, B64];
    let all: &[Type] = &[B16, B32, B64, U16, U32, U64, S16, S32, S64];
    let ty = mods.ty(if left { bits } else { all })?;
    let kind = by_int!(ty, T of {
        B16 => u16, B32 => u32, B64 => u64, U16 => u16, U32 => u32, U64 => u64,
    }, if left {
        value!(|a, n| match n as u32 {
            n if n < T::BITS => (T::read(a) << n).write(),
            _ => 0,
        })
    } else {
        value!(|a, n| match n as u32 {
            n if n < T::BITS => (T::read(a) >> n).write(),
            _ => 0,
        })
    }, else match ty {
        S16 => value!(|a, n| ((a as i16) >> (n as u32).min(15)) as u16 as u64),
        S32 => value!(|a, n| ((a as i32) >> (n as u32).min(31)) as u32 as u64),
        _ => value!(|a, n| ((a as i64) >> (n as u32).min(63)) as u64),
    });
    Ok(Alu::new(kind, &[ty, U32], ty))
}

/// 32 bits of the 64 that b above a makes.
fn funnel(mods: &mut Mods) -> Result<Alu, Unknown> {
    let left = mods.required(&[("l", true), ("r", false)])?;
    let clamp = mods.required(&[("clamp", true), ("wrap", false)])?;
    mods.ty(&[B32])?;
    #[inline(always)]
    fn both(a: u64, b: u64) -> u64 {
        b << 32 | a & 0xffff_ffff
    }
    let kind = match (left, clamp) {
        (true, true) => value!(|a, b, n| both(a, b) << (n as u32).min(32) >> 32),
        (true, false) => value!(|a, b, n| both(a, b) << (n & 31) >> 32),
        (false, true) => value!(|a, b, n| both(a, b) >> (n as u32).min(32) & 0xffff_ffff),
        (false, false) => value!(|a, b, n| both(a, b) >> (n & 31) & 0xffff_ffff),
    };
    Ok(Alu::new(kind, &[B32, B32, U32], B32))
}
