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

/// An `f64` for a register. A NaN is the first one of the operands in an order, made quiet, or else the GPU's own.
#[inline(always)]
pub(super) fn out64<const N: usize>(bits: u64, order: [u64; N]) -> u64 {
    const QUIET: u64 = 1 << 51;
    let is_nan = |bits: u64| bits & !NEGATIVE > Format::F64.above;
    if !is_nan(bits) {
        return bits;
    }
    for operand in order {
        if is_nan(operand) {
            return operand | QUIET;
        }
    }
    NAN64
}

/// A result of `.ftz` from the exact one, or from that rounded to odd. It is 0 if it is less than the smallest normal number
/// once it is rounded to as many bits as that one has.
#[inline(always)]
pub(super) fn flushed32(exact: f64) -> f32 {
    const SMALLEST: f32 = f32::from_bits((127 - 126 + 64) << 23);
    let tiny =
        ((exact * SCALE) as f32).abs() < SMALLEST && exact.abs() < f64::from(f32::MIN_POSITIVE);
    let result = exact as f32;
    if tiny { result * 0.0 } else { result }
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let last = mods.rest().last().and_then(|name| Type::of(name));
    match (mods.opcode, last) {
        ("min" | "max", _) => minmax::lookup(mods),
        ("abs" | "neg" | "copysign" | "testp", _) => sign(mods),
        ("ex2" | "tanh", _) => approx::lookup(mods),
        ("add" | "sub" | "fma", Some(F16 | Bf16)) if mods.rest().contains(&"f32") => mixed(mods),
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
fn mul32(a: f32, b: f32, mode: Mode, ftz: bool) -> f32 {
    // Exact before it is rounded.
    let exact = f64::from(a) * f64::from(b);
    match mode {
        Mode::Rn if ftz => flushed32(exact),
        Mode::Rn => a * b,
        _ => flush_directed(f32_of(narrow(exact, Format::F32, mode)), ftz, || {
            narrow(exact * SCALE, Format::F32, mode)
        }),
    }
}

#[inline(always)]
pub(super) fn fma32(a: f32, b: f32, c: f32, mode: Mode, ftz: bool) -> f32 {
    let (a, b, c) = (f64::from(a), f64::from(b), f64::from(c));
    match mode {
        // The product is exact, and the sum keeps what matters for one more rounding.
        Mode::Rn if ftz => flushed32(add_odd(a * b, c)),
        Mode::Rn => add_odd(a * b, c) as f32,
        _ => flush_directed(f32_of(wide::fused(a, b, c, Format::F32, mode)), ftz, || {
            wide::fused(a * SCALE, b, c * SCALE, Format::F32, mode)
        }),
    }
}

const SCALE: f64 = f64::from_bits((1023 + 64) << 52);

/// Flushes as [`flushed32`], from the result and that of `SCALE` times the operands.
#[inline(always)]
fn flush_directed(result: f32, ftz: bool, scaled: impl Fn() -> u64) -> f32 {
    let smallest = u64::from(f32::MIN_POSITIVE.to_bits());
    let suspect = ftz && result.abs() == f32::MIN_POSITIVE;
    if suspect && (scaled() & 0x7fff_ffff) < smallest + (64 << 23) {
        result * 0.0
    } else {
        result
    }
}

#[inline(always)]
fn add64(a: u64, b: u64, mode: Mode) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let sum = match mode {
        Mode::Rn => (x + y).to_bits(),
        _ => wide::sum(x, y, Format::F64, mode),
    };
    out64(sum, [b, a])
}

#[inline(always)]
fn mul64(a: u64, b: u64, mode: Mode) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let product = match mode {
        Mode::Rn => (x * y).to_bits(),
        _ => wide::product(x, y, Format::F64, mode),
    };
    out64(product, [b, a])
}

#[inline(always)]
fn fma64(a: u64, b: u64, c: u64, mode: Mode) -> u64 {
    let [x, y, z] = [a, b, c].map(f64::from_bits);
    let sum = match mode {
        Mode::Rn => x.mul_add(y, z).to_bits(),
        _ => wide::fused(x, y, z, Format::F64, mode),
    };
    out64(sum, [b, c, a])
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
            value!(|a, b| pair(a, b, 0, Z, |a, b, _| mul32(a, b, M, Z))))),
        (F32x2, _) => by_mode!(mode => M; by_flag!(ftz => Z;
            value!(|a, b, c| pair(a, b, c, Z, |a, b, c| fma32(a, b, c, M, Z))))),
        (_, "add") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(add32(in32(a, Z), in32(b, Z), M), Z, S)))),
        (_, "sub") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(add32(in32(a, Z), -in32(b, Z), M), Z, S)))),
        (_, "mul") => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b| out32(mul32(in32(a, Z), in32(b, Z), M, Z), Z, S)))),
        _ => by_mode!(mode => M; by_flag!(ftz => Z, sat => S;
            value!(|a, b, c| out32(fma32(in32(a, Z), in32(b, Z), in32(c, Z), M, Z), Z, S)))),
    };
    let sources = match opcode {
        "fma" | "mad" => 3,
        _ => 2,
    };
    Ok(Alu::new(kind, &[ty; 3][..sources], ty))
}

/// A sum of f32 of which one part is of 16 bits, or the product of two such (PTX ISA, "Mixed Precision Floating Point
/// Instructions").
fn mixed(mods: &mut Mods) -> Result<Alu, Unknown> {
    let opcode = mods.opcode;
    let mode = mods.rounding();
    if mode.is_none() && opcode == "fma" {
        return Err(mods.unexpected("a rounding: `.rn`, `.rz`, `.rm` or `.rp`"));
    }
    let mode = mode.unwrap_or(Mode::Rn);
    let sat = mods.eat("sat");
    mods.ty(&[F32])?;
    let narrow = mods.ty(&[F16, Bf16])?;
    let kind = match (narrow, opcode) {
        (F16, "add") => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, c| out32(add32(Ieee::read(a), in32(c, false), M), false, S)))),
        (F16, "sub") => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, c| out32(add32(Ieee::read(a), -in32(c, false), M), false, S)))),
        (F16, _) => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, b, c| out32(fma32(Ieee::read(a), Ieee::read(b), in32(c, false), M, false), false, S)))),
        (_, "add") => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, c| out32(add32(Bf::read(a), in32(c, false), M), false, S)))),
        (_, "sub") => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, c| out32(add32(Bf::read(a), -in32(c, false), M), false, S)))),
        _ => by_mode!(mode => M; by_flag!(sat => S;
            value!(|a, b, c| out32(fma32(Bf::read(a), Bf::read(b), in32(c, false), M, false), false, S)))),
    };
    let sources: &[Type] = match opcode {
        "fma" => &[narrow, narrow, F32],
        _ => &[narrow, F32],
    };
    Ok(Alu::new(kind, sources, F32))
}

#[inline(always)]
fn sub64(a: u64, b: u64, mode: Mode) -> u64 {
    let difference = add64(a, b ^ NEGATIVE, mode);
    // The sign of a NaN stays.
    if f64::from_bits(b).is_nan() {
        difference ^ NEGATIVE
    } else {
        difference
    }
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
            (Mode::Rn, Format::F64) => (a / b).to_bits(),
            // Both are exactly `f32`, of whose quotient one rounding to `f64` harms nothing but subnormal numbers.
            (Mode::Rn, _) => out32(a as f32 / b as f32, false, false),
            _ => wide::quotient(a, b, format, mode),
        }
    }
    #[inline(always)]
    fn root(a: f64, format: Format, mode: Mode) -> u64 {
        match (mode, format) {
            (Mode::Rn, Format::F64) => a.sqrt().to_bits(),
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
            value!(|a, b| out64(div(f64::from_bits(a), f64::from_bits(b), Format::F64, M), [a, b]))),
        ("rcp", true) => {
            by_mode!(mode => M; value!(|a| out64(div(1.0, f64::from_bits(a), Format::F64, M), [a])))
        }
        (_, true) => {
            by_mode!(mode => M; value!(|a| out64(root(f64::from_bits(a), Format::F64, M), [a])))
        }
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
            // What `neg` turns and `abs` clears, but for NaNs: these become the GPU's, or quiet ones of f64.
            macro_rules! sign {
                ($read:expr, $signs:expr, $nan:expr) => {
                    if negate {
                        by_flag!(ftz => Z; value!(|a| {
                            let a = $read(a, Z);
                            $nan(a, a ^ $signs)
                        }))
                    } else {
                        by_flag!(ftz => Z; value!(|a| {
                            let a = $read(a, Z);
                            $nan(a, a & !$signs)
                        }))
                    }
                };
            }
            let kind = match ty {
                F16 => sign!(
                    |a, z| half::flush(a & 0xffff, z),
                    0x8000,
                    half::nans::<Ieee>
                ),
                F16x2 => sign!(half::flush, 0x8000_8000, half::nans::<Ieee>),
                Bf16 => sign!(|a, _| a & 0xffff, 0x8000, half::nans::<Bf>),
                Bf16x2 => sign!(|a, _| a & 0xffff_ffff, 0x8000_8000, half::nans::<Bf>),
                F32 => sign!(
                    |a, z| u64::from(in32(a, z).to_bits()),
                    0x8000_0000,
                    |_, d| out32(f32_of(d), false, false)
                ),
                _ => sign!(|a, _| a, NEGATIVE, |a, d| out64(d, [a])),
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
                // Zeros count as normal numbers.
                4 => test!($read, |x| x.is_normal() || x == 0.0),
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
