//! Functions that PTX defines up to an error: computed in `f64`, and rounded.
//!
//! The results of a GPU differ in their last bits, within the bounds of the PTX ISA. What is the same is
//! all that is exact: special values, and what `.ftz` and the instruction's own limits make of them.

use super::super::mods::Mods;
use super::super::scalar::{by_flag, value};
use super::super::{Alu, Unknown};
use super::half::{After, Bf, Ieee, map};
use super::{in32, out32, out64};
use crate::ptx::Type::*;

/// A function of an `f32`.
#[inline(always)]
fn f(a: u64, ftz: bool, f: impl Fn(f64) -> f64) -> u64 {
    out32(f(in32(a, ftz).into()) as f32, ftz, false)
}

/// A function of the upper half of an `f64`; the result has no lower half either.
#[inline(always)]
fn coarse(a: u64, f: impl Fn(f64) -> f64) -> u64 {
    const UPPER: u64 = !0 << 32;
    let flush = |bits: u64| match bits & (0x7ff << 52) {
        0 => bits & (1 << 63),
        _ => bits,
    };
    let a = flush(a & UPPER);
    let x = f(f64::from_bits(a));
    match x.is_nan() {
        true => 0x7fff_ffff << 32,
        false => flush(x.to_bits() & UPPER),
    }
}

/// A function of one or two halves.
macro_rules! halves {
    ($ty:expr, $ftz:expr, $f:expr) => {
        match $ty {
            F16 => halves!(@ Ieee, false, $f),
            F16x2 => halves!(@ Ieee, true, $f),
            Bf16 => by_flag!($ftz => Z; halves!(@ Bf, false, $f, Z)),
            _ => by_flag!($ftz => Z; halves!(@ Bf, true, $f, Z)),
        }
    };
    (@ $H:ty, $packed:expr, $f:expr) => { halves!(@ $H, $packed, $f, false) };
    (@ $H:ty, $packed:expr, $f:expr, $ftz:expr) => {
        value!(|a| {
            let after = After { ftz: $ftz, sat: false, relu: false };
            map::<$H>([a, 0, 0], $packed, after, |a, _, _| $f(a))
        })
    };
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let opcode = mods.opcode;
    if opcode == "div" {
        return quotient(mods);
    }
    mods.required(&[("approx", ())])?;
    let ftz = mods.eat("ftz");
    let ty = mods.ty(match (opcode, ftz) {
        ("ex2", false) => &[F16, F16x2, F32],
        ("ex2", true) => &[Bf16, Bf16x2, F32],
        ("tanh", false) => &[F16, F16x2, Bf16, Bf16x2, F32],
        ("rsqrt", _) | ("rcp", true) => &[F32, F64],
        ("tanh", true) => &[],
        _ => &[F32],
    })?;
    let kind = match (opcode, ty) {
        ("ex2", F32) => by_flag!(ftz => Z; value!(|a| f(a, Z, libm::exp2))),
        ("tanh", F32) => value!(|a| f(a, false, libm::tanh)),
        ("ex2", _) => halves!(ty, ftz, libm::exp2),
        ("tanh", _) => halves!(ty, ftz, libm::tanh),
        ("rcp", F64) => value!(|a| coarse(a, |x| 1.0 / x)),
        ("rsqrt", F64) if ftz => value!(|a| coarse(a, |x| 1.0 / x.sqrt())),
        ("rsqrt", F64) => value!(|a| out64((1.0 / f64::from_bits(a).sqrt()).to_bits(), [a])),
        ("rcp", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, |x| 1.0 / x))),
        ("sqrt", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, f64::sqrt))),
        ("rsqrt", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, |x| 1.0 / x.sqrt()))),
        ("sin", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, libm::sin))),
        ("cos", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, libm::cos))),
        ("lg2", _) => by_flag!(ftz => Z; value!(|a| f(a, Z, libm::log2))),
        _ => return Err(mods.unknown("an approximate instruction", opcode)),
    };
    Ok(Alu::new(kind, &[ty], ty))
}

/// `div.approx` and `div.full`. The former multiplies by a reciprocal, which is 0 for divisors above 2^126.
fn quotient(mods: &mut Mods) -> Result<Alu, Unknown> {
    let full = mods.required(&[("approx", false), ("full", true)])?;
    let ftz = mods.eat("ftz");
    let ty = mods.ty(&[F32])?;
    let kind = by_flag!(ftz => Z, full => FULL; value!(|a, b| {
        let (a, b) = (in32(a, Z), in32(b, Z));
        let x = if !FULL && b.abs() > f32::from_bits((126 + 127) << 23) {
            a * 0f32.copysign(b)
        } else {
            a / b
        };
        out32(x, Z, false)
    }));
    Ok(Alu::new(kind, &[ty; 2], ty))
}
