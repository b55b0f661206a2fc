//! `f16`, `bf16`, and two of them in a register.

use super::super::mods::Mods;
use super::super::round::{add_odd, bf16_to_f32, f16_to_f32, narrow};
use super::super::scalar::{by_flag, value};
use super::super::{Alu, Format, Mode, Unknown};
use crate::ptx::Type::{self, *};

/// A format of 16 bits.
pub(in crate::emulator::alu) trait Half {
    const FORMAT: Format;
    /// The smallest normal number.
    const SMALLEST: f64;
    /// The low 16 bits.
    fn read(bits: u64) -> f32;
    /// Rounded to nearest; a NaN is the format's.
    fn write(x: f64) -> u64;
}

/// `f16`
pub(in crate::emulator::alu) struct Ieee;

/// `bf16`
pub(in crate::emulator::alu) struct Bf;

impl Half for Ieee {
    const FORMAT: Format = Format::F16;
    const SMALLEST: f64 = f64::from_bits((1023 - 14) << 52);
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        f16_to_f32(bits as u16)
    }
    #[inline(always)]
    fn write(x: f64) -> u64 {
        narrow(x, Format::F16, Mode::Rn)
    }
}

impl Half for Bf {
    const FORMAT: Format = Format::BF16;
    const SMALLEST: f64 = f64::from_bits((1023 - 126) << 52);
    #[inline(always)]
    fn read(bits: u64) -> f32 {
        bf16_to_f32(bits as u16)
    }
    #[inline(always)]
    fn write(x: f64) -> u64 {
        narrow(x, Format::BF16, Mode::Rn)
    }
}

/// The steps that follow a result.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct After {
    pub ftz: bool,
    pub sat: bool,
    pub relu: bool,
}

#[inline(always)]
pub(super) fn input<H: Half>(bits: u64, ftz: bool) -> f64 {
    let tiny = ftz && bits & H::FORMAT.above == 0;
    H::read(if tiny { bits & 0x8000 } else { bits }).into()
}

#[inline(always)]
pub(super) fn output<H: Half>(x: f64, after: After) -> u64 {
    if after.sat {
        let x = if x > 0.0 { x } else { 0.0 };
        return output::<H>(
            if x < 1.0 { x } else { 1.0 },
            After {
                sat: false,
                ..after
            },
        );
    }
    let bits = H::write(x);
    // Tiny is what is so once it is rounded to as many bits as normal numbers have: those of 16 times the number.
    if after.ftz
        && x.abs() < H::SMALLEST
        && H::write(x * 16.0) & 0x7fff < H::write(H::SMALLEST * 16.0)
    {
        return bits & if after.relu { 0 } else { 0x8000 };
    }
    // NaN stays.
    if after.relu && bits & 0x8000 != 0 {
        0
    } else {
        bits
    }
}

/// One or two results of a function of one or two halves of operands.
#[inline(always)]
pub(super) fn map<H: Half>(
    [a, b, c]: [u64; 3],
    packed: bool,
    after: After,
    f: impl Fn(f64, f64, f64) -> f64,
) -> u64 {
    let part = |shift: u32| {
        let input = |bits: u64| input::<H>(bits >> shift, after.ftz);
        output::<H>(f(input(a), input(b), input(c)), after) << shift
    };
    if packed { part(0) | part(16) } else { part(0) }
}

/// `d` with the format's NaN where a half of `a` is one.
#[inline(always)]
pub(super) fn nans<H: Half>(a: u64, d: u64) -> u64 {
    let part = |shift: u32| {
        let nan = a >> shift & 0x7fff > H::FORMAT.above;
        (if nan {
            H::FORMAT.nan
        } else {
            d >> shift & 0xffff
        }) << shift
    };
    part(0) | part(16)
}

/// Subnormal halves of a register as zeros, if so asked.
#[inline(always)]
pub(super) fn flush(bits: u64, ftz: bool) -> u64 {
    let part = |half: u64| {
        if ftz && half & 0x7c00 == 0 {
            half & 0x8000
        } else {
            half
        }
    };
    part(bits & 0xffff) | part(bits >> 16 & 0xffff) << 16
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let opcode = mods.opcode;
    if !matches!(opcode, "add" | "sub" | "mul" | "fma") {
        return Err(mods.unknown("`add`, `sub`, `mul` or `fma` of this type", opcode));
    }
    if !mods.eat("rn") && opcode == "fma" {
        return Err(mods.unexpected("`.rn`"));
    }
    let ftz = mods.eat("ftz");
    let sat = mods.eat("sat");
    let relu = opcode == "fma" && !sat && mods.eat("relu");
    let ty = mods.ty(match ftz || sat {
        true => &[F16, F16x2],
        false => &[F16, F16x2, Bf16, Bf16x2],
    })?;
    macro_rules! after {
        ($Z:expr, $S:expr, $R:expr) => {
            After {
                ftz: $Z,
                sat: $S,
                relu: $R,
            }
        };
    }
    // Rounded to odd, and then to the format, a result is rounded once.
    macro_rules! operation {
        ($H:ty, $packed:expr) => {
            match opcode {
                "add" => by_flag!(ftz => Z, sat => S; value!(|a, b| {
                    map::<$H>([a, b, 0], $packed, after!(Z, S, false), |a, b, _| add_odd(a, b))
                })),
                "sub" => by_flag!(ftz => Z, sat => S; value!(|a, b| {
                    map::<$H>([a, b, 0], $packed, after!(Z, S, false), |a, b, _| add_odd(a, -b))
                })),
                "mul" => by_flag!(ftz => Z, sat => S; value!(|a, b| {
                    map::<$H>([a, b, 0], $packed, after!(Z, S, false), |a, b, _| a * b)
                })),
                _ => by_flag!(ftz => Z, sat => S, relu => R; value!(|a, b, c| {
                    map::<$H>([a, b, c], $packed, after!(Z, S, R), |a, b, c| add_odd(a * b, c))
                })),
            }
        };
    }
    let kind = match ty {
        F16 => operation!(Ieee, false),
        F16x2 => operation!(Ieee, true),
        Bf16 => operation!(Bf, false),
        _ => operation!(Bf, true),
    };
    let sources = if opcode == "fma" { 3 } else { 2 };
    Ok(Alu::new(kind, &[ty; 3] as &[Type], ty)).map(|mut alu| {
        alu.sources.truncate(sources);
        alu
    })
}
