//! Extended precision: sums with a carry (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").

use super::mods::Mods;
use super::scalar::by_int;
use super::{Alu, Kind, Unknown};
use crate::emulator::{LANES, Mask, Row};
use crate::ptx::Type::*;

pub(super) const OPCODES: &[&str] = &["addc", "subc", "madc"];

/// The arithmetic of an unsigned type.
trait Limb: Copy {
    fn read(bits: u64) -> Self;
    fn write(self) -> u64;
    /// Both halves of the product.
    fn multiply(self, other: Self) -> (Self, Self);
    fn multiply_signed(self, other: Self) -> (Self, Self);
    /// The sum, and the carry out.
    fn add(self, other: Self, carry: bool) -> (Self, bool);
    /// The difference, and the borrow out.
    fn sub(self, other: Self, borrow: bool) -> (Self, bool);
}

macro_rules! limb {
    ($($ty:ident $signed:ident $wide:ident $wide_signed:ident),*) => {$(
        impl Limb for $ty {
            #[inline(always)]
            fn read(bits: u64) -> Self {
                bits as $ty
            }
            #[inline(always)]
            fn write(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> (Self, Self) {
                let product = self as $wide * other as $wide;
                (product as $ty, (product >> $ty::BITS) as $ty)
            }
            #[inline(always)]
            fn multiply_signed(self, other: Self) -> (Self, Self) {
                let product = self as $signed as $wide_signed * other as $signed as $wide_signed;
                (product as $ty, (product >> $ty::BITS) as $ty)
            }
            #[inline(always)]
            fn add(self, other: Self, carry: bool) -> (Self, bool) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(carry as $ty);
                (sum, first | second)
            }
            #[inline(always)]
            fn sub(self, other: Self, borrow: bool) -> (Self, bool) {
                let (difference, first) = self.overflowing_sub(other);
                let (difference, second) = difference.overflowing_sub(borrow as $ty);
                (difference, first | second)
            }
        }
    )*};
}

limb!(u32 i32 u64 i64, u64 i64 u128 i128);

#[inline(always)]
fn run<T: Limb>(
    d: &mut Row,
    [a, b, c]: [&Row; 3],
    carry: Mask,
    f: impl Fn(T, T, T, bool) -> (T, bool),
) -> Mask {
    let mut out = 0;
    for lane in 0..LANES {
        let carry = carry >> lane & 1 == 1;
        let (result, carry) = f(T::read(a[lane]), T::read(b[lane]), T::read(c[lane]), carry);
        d[lane] = result.write();
        out |= Mask::from(carry) << lane;
    }
    out
}

type Function = fn(&mut Row, &Row, &Row, &Row, Mask) -> Mask;

/// Tells whether the instruction is `add.cc`, `sub.cc` or `mad.lo.cc`, which share opcodes with plain ones.
pub(super) fn is_extended(opcode: &str, modifiers: &[&str]) -> bool {
    matches!(opcode, "add" | "sub" | "mad") && modifiers.contains(&"cc")
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let (name, reads) = match mods.opcode {
        "addc" => ("add", true),
        "subc" => ("sub", true),
        "madc" => ("mad", true),
        name => (name, false),
    };
    let high = name == "mad" && mods.required(&[("lo", false), ("hi", true)])?;
    let writes = mods.eat("cc");
    let ty = mods.ty(&[U32, S32, U64, S64])?;
    let signed = matches!(ty, S32 | S64);
    let function: Function = by_int!(ty, T of { U32 => u32, S32 => u32, U64 => u64, S64 => u64 },
        match (name, reads) {
            ("add", false) => |d, a, b, c, _| {
                run::<T>(d, [a, b, c], 0, |a, b, _, _| a.add(b, false))
            },
            ("add", true) => |d, a, b, c, carry| {
                run::<T>(d, [a, b, c], carry, |a, b, _, carry| a.add(b, carry))
            },
            ("sub", false) => |d, a, b, c, _| {
                run::<T>(d, [a, b, c], 0, |a, b, _, _| Limb::sub(a, b, false))
            },
            ("sub", true) => |d, a, b, c, carry| {
                run::<T>(d, [a, b, c], carry, |a, b, _, carry| Limb::sub(a, b, carry))
            },
            _ => product::<T>(high, signed, reads),
        }, else return Err(mods.unexpected("an integer type")));
    let kind = Kind::Carry {
        run: function,
        reads,
        writes,
    };
    let sources = if name == "mad" { 3 } else { 2 };
    Ok(Alu::new(kind, &[ty; 3][..sources], ty))
}

fn product<T: Limb>(high: bool, signed: bool, reads: bool) -> Function {
    match (high, signed, reads) {
        // The low half does not depend on the sign.
        (false, _, false) => {
            |d, a, b, c, _| run::<T>(d, [a, b, c], 0, |a, b, c, _| a.multiply(b).0.add(c, false))
        }
        (false, _, true) => |d, a, b, c, carry| {
            run::<T>(d, [a, b, c], carry, |a, b, c, carry| {
                a.multiply(b).0.add(c, carry)
            })
        },
        (true, false, false) => {
            |d, a, b, c, _| run::<T>(d, [a, b, c], 0, |a, b, c, _| a.multiply(b).1.add(c, false))
        }
        (true, false, true) => |d, a, b, c, carry| {
            run::<T>(d, [a, b, c], carry, |a, b, c, carry| {
                a.multiply(b).1.add(c, carry)
            })
        },
        (true, true, false) => |d, a, b, c, _| {
            run::<T>(d, [a, b, c], 0, |a, b, c, _| {
                a.multiply_signed(b).1.add(c, false)
            })
        },
        (true, true, true) => |d, a, b, c, carry| {
            run::<T>(d, [a, b, c], carry, |a, b, c, carry| {
                a.multiply_signed(b).1.add(c, carry)
            })
        },
    }
}
