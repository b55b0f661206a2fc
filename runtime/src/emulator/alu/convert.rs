//! Conversions between types (PTX ISA, `cvt`).

use super::float::{Bf, Half, Ieee, NAN32, flushed32, out32, out64};
use super::mods::Mods;
use super::packed_float;
use super::round::{Format, Mode, narrow, normalise};
use super::scalar::{Int, by_int, each1, value};
use super::{Alu, Kind, Unknown};
use crate::emulator::Row;
use crate::ptx::Type::{self, *};

pub(super) const OPCODES: &[&str] = &["cvt"];

const NUMBERS: &[Type] = &[U8, U16, U32, U64, S8, S16, S32, S64, F16, Bf16, F32, F64];

/// A direction in which to round to an integer.
const TO_INTEGER: &[(&str, Mode)] = &[
    ("rni", Mode::Rn),
    ("rzi", Mode::Rz),
    ("rmi", Mode::Rm),
    ("rpi", Mode::Rp),
];

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    if mods.eat("pack") {
        return pack(mods);
    }
    if let Some(alu) = packed_float::lookup(mods)? {
        return Ok(alu);
    }
    let whole = mods.one_of(TO_INTEGER);
    let rounding = match whole {
        None => mods.rounding(),
        Some(_) => None,
    };
    let ftz = mods.eat("ftz");
    let sat = mods.eat("sat");
    let relu = mods.eat("relu");
    let satfinite = mods.eat("satfinite");
    let relu = relu || mods.eat("relu");
    let to = mods.ty(NUMBERS)?;
    let narrowing = rounding.is_some() && matches!(to, F16 | Bf16);
    let from = mods.ty(match (relu || satfinite, narrowing) {
        (true, true) => &[F32],
        (true, false) => {
            return Err(mods.unexpected("`.f16`, `.bf16` or a packed type after `.relu`"));
        }
        _ => NUMBERS,
    })?;
    let is_exact = !to.is_float() && !from.is_float() && holds_all(to, from);
    if sat && (to == Bf16 || from == Bf16 || is_exact) {
        return Err(mods.unknown(
            "no `.sat` with `.bf16` and where nothing can be too large",
            "it",
        ));
    }
    if (relu || satfinite) && (ftz || !matches!(rounding, Some(Mode::Rn | Mode::Rz))) {
        return Err(mods.unknown(
            "`.rn` or `.rz` alone beside `.relu` and `.satfinite`",
            "others",
        ));
    }
    if ftz && !to.is_float() && from != F32 {
        return Err(mods.unknown(
            "`.ftz` from `.f32` alone where the result is an integer",
            "another type",
        ));
    }
    let how = How {
        to,
        from,
        mode: whole.or(rounding).unwrap_or(Mode::Rn),
        ftz,
        sat,
        relu,
        satfinite,
    };
    let kind = match (to.is_float(), from.is_float()) {
        (false, false) if whole.is_none() && rounding.is_none() && !ftz => Some(integers(how)),
        (false, true) => whole.map(|_| to_integer(how)),
        // An integer is never tiny, so that there is nothing to flush.
        (true, false) if !ftz || to == F32 => rounding.map(|_| from_integer(how)),
        (true, true) => floats(how, whole.is_some(), rounding.is_some()),
        _ => None,
    };
    match kind {
        Some(kind) => Ok(Alu::new(kind, &[from], to)),
        None => Err(mods.unknown(
            match (to.is_float(), from.is_float()) {
                (false, true) => "one of `.rni`, `.rzi`, `.rmi`, `.rpi` for these types",
                (false, false) => "no rounding for these types",
                (true, false) => "one of `.rn`, `.rz`, `.rm`, `.rp` for these types",
                (true, true) => "a rounding if the result is narrower, and `.ftz` with `.f32` only",
            },
            "other modifiers",
        )),
    }
}

/// Tells whether an integer type has all numbers of another one.
fn holds_all(to: Type, from: Type) -> bool {
    let (to_bytes, from_bytes) = (to.bytes().unwrap_or(8), from.bytes().unwrap_or(8));
    let is_signed = |ty| matches!(ty, S8 | S16 | S32 | S64);
    match (is_signed(to), is_signed(from)) {
        (true, false) => to_bytes > from_bytes,
        (false, true) => false,
        _ => to_bytes >= from_bytes,
    }
}

/// `cvt.pack`: two integers, saturated to a few bits each, b below a, and the low bits of c above them (PTX ISA, `cvt.pack`).
fn pack(mods: &mut Mods) -> Result<Alu, Unknown> {
    if !mods.eat("sat") {
        return Err(mods.unexpected("`.sat` after `.pack`"));
    }
    let (bits, kind) = mods.required(&[
        ("u16", (16, value!(|a, b| packed::<16, false>(a, b, 0)))),
        ("s16", (16, value!(|a, b| packed::<16, true>(a, b, 0)))),
        ("u8", (8, value!(|a, b, c| packed::<8, false>(a, b, c)))),
        ("s8", (8, value!(|a, b, c| packed::<8, true>(a, b, c)))),
        ("u4", (4, value!(|a, b, c| packed::<4, false>(a, b, c)))),
        ("s4", (4, value!(|a, b, c| packed::<4, true>(a, b, c)))),
        ("u2", (2, value!(|a, b, c| packed::<2, false>(a, b, c)))),
        ("s2", (2, value!(|a, b, c| packed::<2, true>(a, b, c)))),
    ])?;
    mods.ty(&[S32])?;
    match bits {
        16 => Ok(Alu::new(kind, &[S32, S32], B32)),
        _ => {
            mods.ty(&[B32])?;
            Ok(Alu::new(kind, &[S32, S32, B32], B32))
        }
    }
}

#[inline(always)]
fn packed<const BITS: u32, const SIGNED: bool>(a: u64, b: u64, c: u64) -> u64 {
    let (least, most) = match SIGNED {
        true => (-(1 << (BITS - 1)), (1 << (BITS - 1)) - 1),
        false => (0, (1 << BITS) - 1),
    };
    let mask = (1u64 << BITS) - 1;
    let part = |x: u64| (x as u32 as i32).clamp(least, most) as u64 & mask;
    let above = if BITS < 16 { c << (2 * BITS) } else { 0 };
    (above | part(a) << BITS | part(b)) & 0xffff_ffff
}

/// The types and modifiers of a conversion, which it asks for each number: what kernels are full of has functions of its own, and of all others there are too
/// many for one each.
#[derive(Clone, Copy, Debug)]
pub struct How {
    to: Type,
    from: Type,
    mode: Mode,
    ftz: bool,
    sat: bool,
    relu: bool,
    satfinite: bool,
}

impl How {
    /// Tells whether it rounds to the nearest, and does nothing else.
    fn is_plain(self) -> bool {
        !self.ftz && !self.sat && !self.relu && !self.satfinite && self.mode == Mode::Rn
    }

    fn kind(self, run: fn(&mut Row, &Row, How)) -> Kind {
        Kind::Convert(run, self)
    }
}

/// The expression with the Rust type of each integer type.
macro_rules! by_any_int {
    ($ty:expr, $T:ident, $body:expr) => {
        by_int!($ty, $T of {
            U8 => u8, U16 => u16, U32 => u32, U64 => u64, S8 => i8, S16 => i16, S32 => i32,
        }, $body, else { type $T = i64; $body })
    };
}

/// An integer of a register.
#[inline(always)]
fn wide(bits: u64, ty: Type) -> i128 {
    by_any_int!(ty, From, From::read(bits).wide())
}

fn integers(how: How) -> Kind {
    by_any_int!(
        how.to,
        To,
        if how.sat {
            how.kind(|d, a, how| each1(d, a, |a| To::saturate(wide(a, how.from)).write()))
        } else {
            by_any_int!(how.from, From, value!(|a| (a as From as To).write()))
        }
    )
}

/// A float of a register, exactly.
#[inline(always)]
fn read(bits: u64, ty: Type, ftz: bool) -> f64 {
    match ty {
        F16 => Ieee::read(bits).into(),
        Bf16 => Bf::read(bits).into(),
        F32 => super::float::in32(bits, ftz).into(),
        _ => f64::from_bits(bits),
    }
}

/// The expression once with each float type as the constant `$NAME`.
macro_rules! by_float {
    ($ty:expr => $NAME:ident; $body:expr) => {
        match $ty {
            F16 => {
                const $NAME: Type = F16;
                $body
            }
            Bf16 => {
                const $NAME: Type = Bf16;
                $body
            }
            F32 => {
                const $NAME: Type = F32;
                $body
            }
            _ => {
                const $NAME: Type = F64;
                $body
            }
        }
    };
}

#[inline(always)]
fn to_whole(x: f64, mode: Mode) -> f64 {
    match mode {
        Mode::Rn | Mode::Rna => x.round_ties_even(),
        Mode::Rz => x.trunc(),
        Mode::Rm => x.floor(),
        Mode::Rp => x.ceil(),
    }
}

/// The conversion to an integer. What is too large becomes the nearest; NaN is 0,
/// or the highest bit where 64 are read or written.
fn to_integer(how: How) -> Kind {
    by_any_int!(
        how.to,
        To,
        how.kind(|d, a, how| each1(d, a, |a| {
            let x = read(a, how.from, how.ftz);
            if x.is_nan() {
                let is_wide = how.from == F64 || To::BITS == 64;
                if is_wide { 1 << (To::BITS - 1) } else { 0 }
            } else {
                (to_whole(x, how.mode) as To).write()
            }
        }))
    )
}

const fn format(ty: Type) -> Format {
    match ty {
        F16 => Format::F16,
        Bf16 => Format::BF16,
        F32 => Format::F32,
        _ => Format::F64,
    }
}

#[inline(always)]
fn of_integer(x: i128, sat: bool, format: Format, mode: Mode) -> u64 {
    let magnitude = if sat { x.clamp(0, 1) } else { x }.unsigned_abs() as u64;
    match magnitude {
        0 => 0,
        _ => normalise(x < 0, magnitude, 0, format, mode),
    }
}

fn from_integer(how: How) -> Kind {
    if how.is_plain() {
        return by_float!(how.to => TO; how.kind(|d, a, how| {
            each1(d, a, |a| of_integer(wide(a, how.from), false, const { format(TO) }, Mode::Rn))
        }));
    }
    how.kind(|d, a, how| {
        each1(d, a, |a| {
            of_integer(wide(a, how.from), how.sat, format(how.to), how.mode)
        })
    })
}

/// The conversion between floats, to a whole one where its mode says so.
fn floats(how: How, to_whole_one: bool, rounds: bool) -> Option<Kind> {
    let How { to, from, .. } = how;
    if how.ftz && to != F32 && from != F32 {
        return None;
    }
    // Every number of one type is a number of the other.
    let fits = to == from || to == F64 || to == F32 && from != F64;
    match (to_whole_one, rounds) {
        (true, _) if to != from => return None,
        (true, _) => {}
        (_, false) if !fits => return None,
        (_, true) if to == from => return None,
        _ => {}
    }
    Some(if to_whole_one {
        how.kind(|d, a, how| {
            each1(d, a, |a| {
                let x = read(a, how.from, how.ftz);
                match nan(a, how.from, how.to, how.ftz) {
                    Some(nan) if x.is_nan() && !how.sat => nan,
                    _ => finish(to_whole(x, how.mode), how.to, Mode::Rn, how.ftz, how.sat),
                }
            })
        })
    } else if how.relu || how.satfinite {
        how.kind(|d, a, how| {
            each1(d, a, |a| {
                let (x, format) = (read(a, how.from, false), format(how.to));
                limit(narrow(x, format, how.mode), format, how.relu, how.satfinite)
            })
        })
    } else if how.is_plain() {
        by_float!(to => TO; by_float!(from => FROM;
            value!(|a| rounded(a, FROM, TO, Mode::Rn, false, false))
        ))
    } else {
        how.kind(|d, a, how| {
            each1(d, a, |a| {
                rounded(a, how.from, how.to, how.mode, how.ftz, how.sat)
            })
        })
    })
}

#[inline(always)]
fn rounded(bits: u64, from: Type, to: Type, mode: Mode, ftz: bool, sat: bool) -> u64 {
    let x = read(bits, from, ftz);
    match nan(bits, from, to, ftz) {
        Some(nan) if x.is_nan() && !sat => nan,
        _ => finish(x, to, mode, ftz, sat),
    }
}

#[inline(always)]
fn finish(x: f64, to: Type, mode: Mode, ftz: bool, sat: bool) -> u64 {
    let x = match sat {
        true if x > 0.0 => x.min(1.0),
        true => 0.0,
        false => x,
    };
    let bits = match (to, mode) {
        (F64, _) => out64(x.to_bits(), []),
        (F32, Mode::Rn) if ftz => out32(flushed32(x), true, false),
        (F32, Mode::Rn) => out32(x as f32, false, false),
        _ => narrow(x, format(to), mode),
    };
    match ftz && to == F32 && bits & 0x7f80_0000 == 0 {
        true => bits & 0x8000_0000,
        false => bits,
    }
}

/// The result for a NaN, where that keeps some of its bits: from and to `f64`, and from `bf16`.
#[inline(always)]
fn nan(bits: u64, from: Type, to: Type, ftz: bool) -> Option<u64> {
    const QUIET64: u64 = 1 << 51;
    let single = match from {
        F16 => NAN32,
        Bf16 => (bits & 0xffff) << 16,
        F32 if ftz => NAN32,
        F32 => bits & 0xffff_ffff,
        _ => 0,
    };
    match (from, to) {
        (F64, F64) => Some(bits | QUIET64),
        (F64, F32) => Some(bits >> 32 & 1 << 31 | 0x7fc0_0000 | bits >> 29 & 0x3f_ffff),
        (_, F64) => {
            let payload = (single & 0x7f_ffff) << 29;
            Some((single & 1 << 31) << 32 | 0x7ff << 52 | QUIET64 | payload)
        }
        (Bf16, F32) => Some(single),
        _ => None,
    }
}

/// `.relu` makes negative results zeros; `.satfinite` makes infinite ones the largest number.
#[inline(always)]
pub(super) fn limit(bits: u64, format: Format, relu: bool, satfinite: bool) -> u64 {
    let sign = bits & format.sign();
    let magnitude = bits ^ sign;
    let is_nan = magnitude > format.above || magnitude == format.nan;
    if relu && sign != 0 && !is_nan {
        return 0;
    }
    if satfinite && format.has_infinity && magnitude == format.above {
        return sign | format.max();
    }
    bits
}
