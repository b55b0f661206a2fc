//! Instructions that count, find and move bits and bytes.

use super::mods::Mods;
use super::scalar::{Int, by_int, value, value4};
use super::{Alu, Unknown};
use crate::ptx::Type::{self, *};

pub(super) const OPCODES: &[&str] = &[
    "popc", "clz", "brev", "bfind", "fns", "bfe", "bfi", "bmsk", "szext", "prmt",
];

const NONE: u64 = 0xffff_ffff;

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    match mods.opcode {
        "popc" | "clz" | "brev" => {
            let ty = mods.ty(&[B32, B64])?;
            let kind = by_int!(ty, T of { B32 => u32, B64 => u64 }, match mods.opcode {
                "popc" => value!(|a| (a as T).count_ones() as u64),
                "clz" => value!(|a| (a as T).leading_zeros() as u64),
                _ => value!(|a| T::write((a as T).reverse_bits())),
            }, else return Err(mods.unexpected("a type of bits")));
            let result = if mods.opcode == "brev" { ty } else { U32 };
            Ok(Alu::new(kind, &[ty], result))
        }
        "bfind" => find(mods),
        "fns" => {
            mods.ty(&[B32])?;
            let kind = value!(|mask, base, offset| nth(mask as u32, base as u32, offset as i32));
            Ok(Alu::new(kind, &[B32, B32, B32], B32))
        }
        "bfe" => {
            let ty = mods.ty(&[U32, U64, S32, S64])?;
            let kind = match ty {
                U32 => value!(|a, b, c| extract(a & NONE, b, c, 32)),
                U64 => value!(|a, b, c| extract(a, b, c, 64)),
                S32 => value!(|a, b, c| extract_signed(a as i32 as i64, b, c, 32) & NONE),
                _ => value!(|a, b, c| extract_signed(a as i64, b, c, 64)),
            };
            Ok(Alu::new(kind, &[ty, U32, U32], ty))
        }
        "bfi" => {
            let ty = mods.ty(&[B32, B64])?;
            let kind = if ty == B32 {
                value4!(|a, b, c, e| insert(a & NONE, b & NONE, c, e) & NONE)
            } else {
                value4!(|a, b, c, e| insert(a, b, c, e))
            };
            Ok(Alu::new(kind, &[ty, ty, U32, U32], ty))
        }
        "bmsk" => {
            let clamp = mods.required(&[("clamp", true), ("wrap", false)])?;
            mods.ty(&[B32])?;
            let kind = if clamp {
                value!(|a, b| mask((a as u32).min(32), (b as u32).min(32)))
            } else {
                value!(|a, b| mask(a as u32 & 31, b as u32 & 31))
            };
            Ok(Alu::new(kind, &[U32, U32], U32))
        }
        "szext" => {
            let clamp = mods.required(&[("clamp", true), ("wrap", false)])?;
            let ty = mods.ty(&[U32, S32])?;
            let kind = match (clamp, ty) {
                (true, U32) => value!(|a, n| low(a, (n as u32).min(32))),
                (true, _) => value!(|a, n| low_signed(a, (n as u32).min(32))),
                (false, U32) => value!(|a, n| low(a, n as u32 & 31)),
                (false, _) => value!(|a, n| low_signed(a, n as u32 & 31)),
            };
            Ok(Alu::new(kind, &[ty, U32], ty))
        }
        _ => permute(mods),
    }
}

/// The place of the highest bit that differs from the sign, or how far it is from the top.
fn find(mods: &mut Mods) -> Result<Alu, Unknown> {
    let amount = mods.eat("shiftamt");
    let ty = mods.ty(&[U32, U64, S32, S64])?;
    /// `zeros` of `bits` stand above the first one.
    #[inline(always)]
    fn place(zeros: u32, bits: u32, amount: bool) -> u64 {
        match (zeros == bits, amount) {
            (true, _) => NONE,
            (false, true) => u64::from(zeros),
            (false, false) => u64::from(bits - 1 - zeros),
        }
    }
    macro_rules! find {
        ($a:ident => $bits:expr) => {
            if amount {
                value!(|$a| place(
                    ($bits).leading_zeros(),
                    ($bits).count_zeros() + ($bits).count_ones(),
                    true
                ))
            } else {
                value!(|$a| place(
                    ($bits).leading_zeros(),
                    ($bits).count_zeros() + ($bits).count_ones(),
                    false
                ))
            }
        };
    }
    let kind = match ty {
        U32 => find!(a => a as u32),
        U64 => find!(a => a),
        S32 => find!(a => a as u32 ^ (a as i32 >> 31) as u32),
        _ => find!(a => a ^ (a as i64 >> 63) as u64),
    };
    Ok(Alu::new(kind, &[ty], U32))
}

/// The place of the n-th bit that is set, counted from `base` up or down.
fn nth(mask: u32, base: u32, offset: i32) -> u64 {
    let set = |place: u32| mask >> place & 1 == 1;
    if base > 31 {
        return NONE;
    }
    let count = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(|&place| set(place)),
        1.. => (base..32).filter(|&place| set(place)).nth(count),
        _ => (0..=base).rev().filter(|&place| set(place)).nth(count),
    };
    found.map_or(NONE, u64::from)
}

#[inline(always)]
fn extract(a: u64, b: u64, c: u64, bits: u32) -> u64 {
    let (at, count) = (b as u32 & 0xff, c as u32 & 0xff);
    if at >= bits {
        return 0;
    }
    low_bits(a >> at, count)
}

/// Above the field, and above the operand, stands the field's highest bit.
#[inline(always)]
fn extract_signed(a: i64, b: u64, c: u64, bits: u32) -> u64 {
    let (at, count) = (b as u32 & 0xff, c as u32 & 0xff);
    if count == 0 {
        return 0;
    }
    let field = a >> at.min(bits - 1);
    let spare = 64 - count.min(64);
    (field << spare >> spare) as u64
}

#[inline(always)]
fn insert(a: u64, b: u64, c: u64, e: u64) -> u64 {
    let (at, count) = (c as u32 & 0xff, e as u32 & 0xff);
    if at >= 64 {
        return b;
    }
    let field = low_bits(u64::MAX, count) << at;
    a << at & field | b & !field
}

#[inline(always)]
fn low_bits(a: u64, count: u32) -> u64 {
    match count {
        0..64 => a & ((1 << count) - 1),
        _ => a,
    }
}

#[inline(always)]
fn low(a: u64, count: u32) -> u64 {
    low_bits(a & NONE, count)
}

#[inline(always)]
fn low_signed(a: u64, count: u32) -> u64 {
    if count == 0 {
        return 0;
    }
    ((a as i32) << (32 - count) >> (32 - count)) as u32 as u64
}

/// `count` bits from `at` on, up to the top.
#[inline(always)]
fn mask(at: u32, count: u32) -> u64 {
    ((1u64 << count) - 1) << at & NONE
}

fn permute(mods: &mut Mods) -> Result<Alu, Unknown> {
    mods.ty(&[B32])?;
    /// A result whose byte i is the one of `bytes` that `f` names.
    #[inline(always)]
    fn gather(bytes: u64, f: impl Fn(u32) -> u32) -> u64 {
        (0..4).fold(0, |sum, i| sum | (bytes >> (f(i) * 8) & 0xff) << (i * 8))
    }
    /// The bytes of b above those of a.
    #[inline(always)]
    fn both(a: u64, b: u64) -> u64 {
        b << 32 | a & NONE
    }
    let kind = match mods.peek() {
        None => value!(|a, b, c| {
            let bytes = both(a, b);
            (0..4).fold(0, |sum, i| {
                let select = c >> (i * 4) & 15;
                let byte = (bytes >> ((select & 7) * 8)) as u8;
                // The highest bit of a selector asks for the byte's sign only.
                let byte = if select & 8 == 0 {
                    byte
                } else {
                    (byte as i8 >> 7) as u8
                };
                sum | u64::from(byte) << (i * 8)
            })
        }),
        Some("f4e") => value!(|a, b, c| {
            let first = c as u32 & 3;
            gather(both(a, b), |i| first + i)
        }),
        Some("b4e") => value!(|a, b, c| {
            let first = c as u32 & 3;
            gather(both(a, b), |i| first.wrapping_sub(i) & 7)
        }),
        Some("rc8") => value!(|a, _b, c| {
            let byte = c as u32 & 3;
            gather(a, |_| byte)
        }),
        Some("ecl") => value!(|a, _b, c| {
            let edge = c as u32 & 3;
            gather(a, |i| i.max(edge))
        }),
        Some("ecr") => value!(|a, _b, c| {
            let edge = c as u32 & 3;
            gather(a, |i| i.min(edge))
        }),
        Some("rc16") => value!(|a, _b, c| {
            let half = (c as u32 & 1) * 2;
            gather(a, |i| half + (i & 1))
        }),
        Some(_) => {
            return Err(mods.unexpected("one of `.f4e`, `.b4e`, `.rc8`, `.ecl`, `.ecr`, `.rc16`"));
        }
    };
    if mods.peek().is_some() {
        mods.advance();
    }
    Ok(Alu::new(kind, &[B32; 3] as &[Type], B32))
}
