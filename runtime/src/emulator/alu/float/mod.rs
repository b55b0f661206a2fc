//! Floating-point arithmetic (PTX ISA, "Floating Point Instructions", "Half Precision Floating Point
//! Instructions").

mod approx;
mod half;
mod minmax;

use super::mods::Mods;
use super::round::{add_odd, narrow};
use super::scalar::{by_flag, by_mode, value};
use super::{Alu, Format, Kind, Mode, Unknown, wide};
use crate::ptx::Type::{self, *};

pub(super) use half::{Bf, Half, Ieee};

pub(super) const OPCODES: &[&str] = &[
    "add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2",
    "tanh", "abs", "neg", "min", "max", "copysign", "testp",
];

pub(super) const NAN32: u64 = Format::F32.nan;
pub(super) const NAN64: u64 = Format::F64.nan;

/// An `f32` of a register; `.ftz` takes subnormal numbers for zeros.
#[inline(always)]
pub(super) fn in32(bits: u64, ftz: bool) -> f32 {
    let bits = bits as u32;
    let tiny = ftz && bits & 0x7f80_0000 == 0;
    f32::from_bits(if tiny { bits & 0x8000_0000 } else { bits })
}

/// An `f32` for a register; `.sat` takes it into [0, 1], and NaN to 0.
#[inline(always)]
pub(super) fn out32(x: f32, ftz: bool, sat: bool) -> u64 {
    let bits = x.to_bits();
    if sat {
        // A comparison with NaN fails.
        let x = if x > 0.0 { x } else { 0.0 };
        let x = if x < 1.0 { x } else { 1.0 };
        return in32(u64::from(x.to_bits()), ftz).to_bits().into();
    }
    let bits = if ftz && bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    };
    if x.is_nan() { NAN32 } else { bits.into() }
}

/// An `f64` for a register.
#[inline(always)]
pub(super) fn out64(x: f64) -> u64 {
    if x.is_nan() { NAN64 } else { x.to_bits() }
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let last = mods.rest().last().and_then(|name| Type::of(name));
    match (mods.opcode, last) {
        ("min" | "max", _) => minmax::lookup(mods),
        ("abs" | "neg" | "copysign" | "testp", _) => sign(mods),
        ("ex2" | "tanh", _) => approx::lookup(mods),
        (_, Some(F16 | F16x2 | Bf16 | Bf16x2)) => half::lookup(mods),
        ("add" | "sub" | "mul" | "mad" | "fma", _) => arithmetic(mods),
        ("div" | "rcp" | "sqrt", _)
            if mods.peek() != Some("approx") && mods.peek() != Some("full") =>
        {
            division(mods)
        }
        _ => approx::lookup(mods),
    }
}

#[inline(always)]
fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[inline(always)]
fn add32(a: f32, b: f32, mode: Mode) -> f32 {
    match mode {
        Mode::Rn => a + b,
        _ => f32_of(wide::sum(a.into(), b.into(), Format::F32, mode)),
    }
}

#[inline(always)]
fn mul32(a: f32, b: f32, mode: Mode) -> f32 {
    match mode {
        Mode::Rn => a * b,
        // Exact before it is rounded.
        _ => f32_of(narrow(f64::from(a) * f64::from(b), Format::F32, mode)),
    }
}

#[inline(always)]
pub(super) fn fma32(a: f32, b: f32, c: f32, mode: Mode) -> f32 {
    match mode {
        // The product is exact, and the sum keeps what matters for one more rounding.
        Mode::Rn => add_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32,
        _ => f32_of(wide::fused(a.into(), b.into(), c.into(), Format::F32, mode)),
    }
}

#[inline(always)]
fn add64(a: u64, b: u64, mode: Mode) -> u64 {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    match mode {
        Mode::Rn => out64(a + b),
        _ => wide::sum(a, b, Format::F64, mode),
    }
}

#[inline(always)]
fn mul64(a: u64, b: u64, mode: Mode) -> u64 {
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    match mode {
        Mode::Rn => out64(a * b),
        _ => wide::product(a, b, Format::F64, mode),
    }
}

#[inline(always)]
fn fma64(a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    let [a, b, c] = [a, b, c].map(f64::from_bits);
    match mode {
        Mode::Rn => out64(a.mul_add(b, c)),
        _ => wide::fused(a, b, c, Format::F64, mode),
    }
}

const NEGATIVE: u64 = 1 << 63;

/// Both halves of a register with two `f32`.
#[inline(always)]
fn pair(a: u64, b: u64, c: u64, ftz: bool, f: impl Fn(f32, f32, f32) -> f32) -> u64 {
    let part = |shift: u32| {
        let x = f(
            in32(a >> shift, ftz),
            in32(b >> shift, ftz),
            in32(c >> shift, ftz),
        );
        out32(x, ftz, false) << shift
    };
    part(0) | part(32)
}

fn arithmetic(mods: &mut Mods) -> Result<Alu, Unknown> {
    let opcode = mods.opcode;
    let mode = mods.rounding();
    if mode.is_none() && matches!(opcode, "fma" | "mad") {
        return Err(mods.unexpected("a rounding: `.rn`, `.rz`, `.rm` or `.rp`"));
    }
    let mode = mode.unwrap_or(Mode::Rn);
    let ftz = mods.eat("ftz");
    let sat = mods.eat("sat");
    let ty = mods.ty(match (ftz, sat, opcode) {
        (_, true, _) | (_, _, "mad") if ftz || sat => &[F32],
        (true, ..) => &[F32, F32x2],
        (.., "mad") => &[F32, F64],
        _ => &[F32, F32x2, F64],
    })?;
    let kind = match (ty, opcode) {
        (F64, "add") => by_mode!(mode => M; value!(|a, b| add64(a, b, M))),
        (F64, "sub") => by_mode!(mode => M; value!(|a, b| sub64(a, b, M))),
        (F64, "mul") => by_mode!(mode => M; value!(|a, b| mul64(a, b, M))),
        (F64, _) => by_mode!(mode => M; value!(|a, b, c| fma64(a, b, c, M))),
        (F32x2, "add") => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b| pair(a, b, 0, Z, |a, b, _| add32(a, b, M))))),
        (F32x2, "sub") => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b| pair(a, b, 0, Z, |a, b, _| add32(a, -b, M))))),
        (F32x2, "mul") => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b| pair(a, b, 0, Z, |a, b, _| mul32(a, b, M))))),
        (F32x2, _) => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b, c| pair(a, b, c, Z, |a, b, c| fma32(a, b, c, M))))),
        (_, "add") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(add32(in32(a, Z), in32(b, Z), M), Z, S)))),
        (_, "sub") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(add32(in32(a, Z), -in32(b, Z), M), Z, S)))),
        (_, "mul") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(mul32(in32(a, Z), in32(b, Z), M), Z, S)))),
        _ => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b, c| out32(fma32(in32(a, Z), in32(b, Z), in32(c, Z), M), Z, S)))),
    };
    let sources = match opcode {
        "fma" | "mad" => 3,
        _ => 2,
    };
    Ok(Alu::new(kind, &[ty; 3][..sources], ty))
}

#[inline(always)]
fn sub64(a: u64, b: u64, mode: Mode) -> u64 {
    add64(a, b ^ NEGATIVE, mode)
}

/// `div`, `rcp` and `sqrt` with a direction of rounding.
fn division(mods: &mut Mods) -> Result<Alu, Unknown> {
    let Some(mode) = mods.rounding() else {
        return Err(mods.unexpected("`.approx` or a rounding: `.rn`, `.rz`, `.rm` or `.rp`"));
    };
    let ftz = mods.eat("ftz");
    let ty = mods.ty(if ftz { &[F32] } else { &[F32, F64] })?;
    #[inline(always)]
    fn div(a: f64, b: f64, format: Format, mode: Mode) -> u64 {
        match (mode, format) {
            (Mode::Rn, Format::F64) => out64(a / b),
            // Both are exactly `f32`, of whose quotient one rounding to `f64` harms nothing but subnormal numbers.
            (Mode::Rn, _) => out32(a as f32 / b as f32, false, false),
            _ => wide::quotient(a, b, format, mode),
        }
    }
    #[inline(always)]
    fn root(a: f64, format: Format, mode: Mode) -> u64 {
        match (mode, format) {
            (Mode::Rn, Format::F64) => out64(a.sqrt()),
            (Mode::Rn, _) => out32((a as f32).sqrt(), false, false),
            _ => wide::root(a, format, mode),
        }
    }
    #[inline(always)]
    fn out(bits: u64, ftz: bool) -> u64 {
        out32(f32_of(bits), ftz, false)
    }
    let is_double = ty == F64;
    let kind = match (mods.opcode, is_double) {
        ("div", true) => by_mode!(mode => M;
            value!(|a, b| div(f64::from_bits(a), f64::from_bits(b), Format::F64, M))),
        ("rcp", true) => {
            by_mode!(mode => M; value!(|a| div(1.0, f64::from_bits(a), Format::F64, M)))
        }
        (_, true) => by_mode!(mode => M; value!(|a| root(f64::from_bits(a), Format::F64, M))),
        ("div", _) => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b| out(div(in32(a, Z).into(), in32(b, Z).into(), Format::F32, M), Z)))),
        ("rcp", _) => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a| out(div(1.0, in32(a, Z).into(), Format::F32, M), Z)))),
        _ => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a| out(root(in32(a, Z).into(), Format::F32, M), Z)))),
    };
    let sources = if mods.opcode == "div" { 2 } else { 1 };
    Ok(Alu::new(kind, &[ty; 2][..sources], ty))
}

/// Instructions that look at the bits.
fn sign(mods: &mut Mods) -> Result<Alu, Unknown> {
    match mods.opcode {
        "copysign" => {
            let ty = mods.ty(&[F32, F64])?;
            // The sign is that of a.
            let kind = if ty == F32 {
                value!(|a, b| a & 0x8000_0000 | b & 0x7fff_ffff)
            } else {
                value!(|a, b| a & NEGATIVE | b & !NEGATIVE)
            };
            Ok(Alu::new(kind, &[ty; 2], ty))
        }
        "testp" => testp(mods),
        opcode => {
            let ftz = mods.eat("ftz");
            let ty = mods.ty(match ftz {
                true => &[F16, F16x2, F32],
                false => &[F16, F16x2, Bf16, Bf16x2, F32, F64],
            })?;
            let negate = opcode == "neg";
            // What `neg` turns and `abs` clears.
            macro_rules! sign {
                ($all:expr, $signs:expr, $flush:expr) => {
                    if negate {
                        by_flag!(ftz => Z; value!(|a| $flush(a & $all, Z) ^ $signs))
                    } else {
                        by_flag!(ftz => Z; value!(|a| $flush(a & $all, Z) & !$signs))
                    }
                };
            }
            let kind = match ty {
                F16 => sign!(0xffff, 0x8000, half::flush),
                F16x2 => sign!(0xffff_ffff, 0x8000_8000, half::flush),
                Bf16 => sign!(0xffff, 0x8000, |a, _| a),
                Bf16x2 => sign!(0xffff_ffff, 0x8000_8000, |a, _| a),
                F32 => sign!(0xffff_ffff, 0x8000_0000, |a, z| in32(a, z).to_bits() as u64),
                _ => sign!(!0, NEGATIVE, |a, _| a),
            };
            Ok(Alu::new(kind, &[ty], ty))
        }
    }
}

fn testp(mods: &mut Mods) -> Result<Alu, Unknown> {
    let op = mods.required(&[
        ("finite", 0),
        ("infinite", 1),
        ("number", 2),
        ("notanumber", 3),
        ("normal", 4),
        ("subnormal", 5),
    ])?;
    let ty = mods.ty(&[F32, F64])?;
    macro_rules! test {
        ($read:expr) => {
            match op {
                0 => test!($read, |x| x.is_finite()),
                1 => test!($read, |x| x.is_infinite()),
                2 => test!($read, |x| !x.is_nan()),
                3 => test!($read, |x| x.is_nan()),
                4 => test!($read, |x| x.is_normal()),
                _ => test!($read, |x| x.is_subnormal()),
            }
        };
        ($read:expr, |$x:ident| $f:expr) => {
            |a, _| {
                super::scalar::test(a, a, |a, _| {
                    let $x = $read(a);
                    $f
                })
            }
        };
    }
    let kind = Kind::Test {
        test: if ty == F32 {
            test!(f32_of)
        } else {
            test!(f64::from_bits)
        },
        combine: None,
    };
    Ok(Alu::new(kind, &[ty], Pred))
}
