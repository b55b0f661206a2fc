//! Conversions to and from registers with two floats, and to `.tf32`.

use super::convert::limit;
use super::float::{Half, Ieee, in32};
use super::mods::Mods;
use super::round::{Format, Mode, from_bits, narrow};
use super::scalar::{by_flag, value};
use super::{Alu, Kind, Unknown};
use crate::ptx::Type::*;

/// The conversion, if one of its types is packed or `.tf32`.
pub(super) fn lookup(mods: &mut Mods) -> Result<Option<Alu>, Unknown> {
    let [.., to, from] = mods.rest() else {
        return Ok(None);
    };
    let (to, from) = (*to, *from);
    let narrow8 = [("e4m3x2", Format::E4M3), ("e5m2x2", Format::E5M2)];
    let find = |name| narrow8.iter().find(|row| row.0 == name).map(|row| row.1);
    let alu = match (to, from) {
        ("f16x2", "f32") => pair(mods, Format::F16)?,
        ("bf16x2", "f32") => pair(mods, Format::BF16)?,
        ("tf32", "f32") => tf32(mods)?,
        ("f16x2", from) if find(from).is_some() => {
            mods.required(&[("rn", ())])?;
            let relu = mods.eat("relu");
            let kind = match find(from) {
                Some(Format::E4M3) => {
                    by_flag!(relu => R; value!(|a| widen(a, Format::E4M3, R)))
                }
                _ => by_flag!(relu => R; value!(|a| widen(a, Format::E5M2, R))),
            };
            Alu::new(kind, &[B16], F16x2)
        }
        (to, "f32" | "f16x2") if find(to).is_some() => {
            mods.required(&[("rn", ())])?;
            let relu = mods.eat("relu");
            mods.required(&[("satfinite", ())])?;
            let relu = relu || mods.eat("relu");
            match find(to) {
                Some(Format::E4M3) => eight::<true>(from, relu),
                _ => eight::<false>(from, relu),
            }
        }
        _ => return Ok(None),
    };
    mods.required(&[(to, ())])?;
    mods.required(&[(from, ())])?;
    Ok(Some(alu))
}

struct Limits {
    relu: bool,
    satfinite: bool,
}

/// `.relu` and `.satfinite`, in either order.
fn limits(mods: &mut Mods) -> Limits {
    let relu = mods.eat("relu");
    let satfinite = mods.eat("satfinite");
    Limits {
        relu: relu || mods.eat("relu"),
        satfinite,
    }
}

#[inline(always)]
fn one(bits: u64, format: Format, mode: Mode, relu: bool, satfinite: bool) -> u64 {
    let x = in32(bits, false).into();
    limit(narrow(x, format, mode), format, relu, satfinite)
}

/// Two `f32`: that of a above that of b.
fn pair(mods: &mut Mods, format: Format) -> Result<Alu, Unknown> {
    let nearest = mods.required(&[("rn", true), ("rz", false)])?;
    let Limits { relu, satfinite } = limits(mods);
    macro_rules! pair {
        ($format:expr) => {
            by_flag!(nearest => N, relu => R, satfinite => S; value!(|a, b| {
                const MODE: Mode = if N { Mode::Rn } else { Mode::Rz };
                one(a, $format, MODE, R, S) << 16 | one(b, $format, MODE, R, S)
            }))
        };
    }
    let (kind, result) = match format {
        Format::F16 => (pair!(Format::F16), F16x2),
        _ => (pair!(Format::BF16), Bf16x2),
    };
    Ok(Alu::new(kind, &[F32, F32], result))
}

fn tf32(mods: &mut Mods) -> Result<Alu, Unknown> {
    let mode = mods.required(&[("rna", Mode::Rna), ("rn", Mode::Rn), ("rz", Mode::Rz)])?;
    let Limits { relu, satfinite } = limits(mods);
    macro_rules! tf32 {
        ($mode:expr) => {
            by_flag!(relu => R, satfinite => S; value!(|a| {
                // Ties away are an addition that lets NaNs through, as long as something is left of them.
                let kept = a & 0xffff_e000;
                match one(a, Format::TF32, $mode, R, S) {
                    bits if bits != Format::TF32.nan => bits << 13,
                    _ if matches!($mode, Mode::Rna) && kept & 0x7f_ffff != 0 => kept,
                    _ => Format::TF32.nan << 13,
                }
            }))
        };
    }
    let kind: Kind = match mode {
        Mode::Rna => tf32!(Mode::Rna),
        Mode::Rz => tf32!(Mode::Rz),
        _ => tf32!(Mode::Rn),
    };
    Ok(Alu::new(kind, &[F32], B32))
}

/// Two floats of 8 bits, from two `f32` or from two `f16` in one register.
fn eight<const E4M3: bool>(from: &str, relu: bool) -> Alu {
    const fn format(e4m3: bool) -> Format {
        if e4m3 { Format::E4M3 } else { Format::E5M2 }
    }
    #[inline(always)]
    fn part<const E4M3: bool>(x: f32, relu: bool) -> u64 {
        let format = const { format(E4M3) };
        limit(narrow(x.into(), format, Mode::Rn), format, relu, true)
    }
    if from == "f32" {
        let kind = by_flag!(relu => R; value!(|a, b| {
            part::<E4M3>(in32(a, false), R) << 8 | part::<E4M3>(in32(b, false), R)
        }));
        Alu::new(kind, &[F32, F32], B16)
    } else {
        let kind = by_flag!(relu => R; value!(|a| {
            part::<E4M3>(Ieee::read(a >> 16), R) << 8 | part::<E4M3>(Ieee::read(a), R)
        }));
        Alu::new(kind, &[F16x2], B16)
    }
}

/// Two floats of 8 bits as two `f16`, exactly.
#[inline(always)]
fn widen(bits: u64, format: Format, relu: bool) -> u64 {
    let part = |shift: u32| {
        let x = from_bits(bits >> shift & 0xff, format);
        limit(narrow(x, Format::F16, Mode::Rn), Format::F16, relu, false)
    };
    part(8) << 16 | part(0)
}
