//! Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions").

use super::mods::Mods;
use super::packed;
use super::scalar::{Int, by_int, value};
use super::{Alu, Kind, Unknown};
use crate::ptx::Type::{self, *};

pub(super) const OPCODES: &[&str] = &[
    "add", "sub", "mul", "mad", "mul24", "mad24", "sad", "div", "rem", "abs", "neg", "min", "max",
    "dp4a", "dp2a",
];

const ALL: &[Type] = &[U16, U32, U64, S16, S32, S64];
const SIGNED: &[Type] = &[S16, S32, S64];

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    match mods.opcode {
        "add" | "sub" => sum(mods),
        "min" | "max" => extremum(mods),
        "mul" | "mad" => product(mods),
        "mul24" | "mad24" => product24(mods),
        "dp4a" | "dp2a" => dot(mods),
        "abs" | "neg" => {
            let ty = mods.ty(SIGNED)?;
            let kind = by_int!(ty, T of { S16 => i16, S32 => i32, S64 => i64 }, match mods.opcode {
                "abs" => value!(|a| T::read(a).wrapping_abs().write()),
                _ => value!(|a| T::read(a).wrapping_neg().write()),
            }, else return Err(mods.unexpected("a signed type")));
            Ok(Alu::new(kind, &[ty], ty))
        }
        "sad" => {
            let ty = mods.ty(ALL)?;
            let kind = by_int!(ty, T, value!(|a, b, c| {
                let (a, b) = (T::read(a), T::read(b));
                let distance = if a < b { b.sub(a) } else { a.sub(b) };
                T::read(c).add(distance).write()
            }), else return Err(mods.unexpected("an integer type")));
            Ok(Alu::new(kind, &[ty; 3], ty))
        }
        _ => {
            let ty = mods.ty(ALL)?;
            let kind = by_int!(ty, T, match mods.opcode {
                // The one quotient that does not fit wraps to the dividend.
                "div" => value!(|a, b| match T::read(b) {
                    0 => !0 >> (64 - T::BITS),
                    b => T::read(a).wrapping_div(b).write(),
                }),
                _ => value!(|a, b| match T::read(b) {
                    0 => !0 >> (64 - T::BITS),
                    b => T::read(a).wrapping_rem(b).write(),
                }),
            }, else return Err(mods.unexpected("an integer type")));
            Ok(Alu::new(kind, &[ty; 2], ty))
        }
    }
}

fn sum(mods: &mut Mods) -> Result<Alu, Unknown> {
    let add = mods.opcode == "add";
    if mods.eat("sat") {
        let ty = mods.ty(&[S32])?;
        let kind = if add {
            value!(|a, b| (a as i32).saturating_add(b as i32).write())
        } else {
            value!(|a, b| (a as i32).saturating_sub(b as i32).write())
        };
        return Ok(Alu::new(kind, &[ty; 2], ty));
    }
    if let Some(alu) = packed::lookup(mods)? {
        return Ok(alu);
    }
    let ty = mods.ty(ALL)?;
    let kind = by_int!(ty, T, if add {
        value!(|a, b| T::read(a).add(T::read(b)).write())
    } else {
        value!(|a, b| T::read(a).sub(T::read(b)).write())
    }, else return Err(mods.unexpected("an integer type")));
    Ok(Alu::new(kind, &[ty; 2], ty))
}

fn extremum(mods: &mut Mods) -> Result<Alu, Unknown> {
    if let Some(alu) = packed::lookup(mods)? {
        return Ok(alu);
    }
    let relu = mods.eat("relu");
    let ty = mods.ty(if relu { &[S32] } else { ALL })?;
    let kind = match (mods.opcode, relu) {
        ("min", true) => value!(|a, b| (a as i32).min(b as i32).max(0).write()),
        (_, true) => value!(|a, b| (a as i32).max(b as i32).max(0).write()),
        ("min", _) => by_int!(ty, T, value!(|a, b| T::read(a).min(T::read(b)).write()),
            else return Err(mods.unexpected("an integer type"))),
        _ => by_int!(ty, T, value!(|a, b| T::read(a).max(T::read(b)).write()),
            else return Err(mods.unexpected("an integer type"))),
    };
    Ok(Alu::new(kind, &[ty; 2], ty))
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Low,
    High,
    Wide,
}

fn product(mods: &mut Mods) -> Result<Alu, Unknown> {
    let mad = mods.opcode == "mad";
    let part = mods.required(&[("lo", Part::Low), ("hi", Part::High), ("wide", Part::Wide)])?;
    if mad && part == Part::High && mods.eat("sat") {
        let ty = mods.ty(&[S32])?;
        let kind = value!(|a, b, c| (high::<i32>(a, b) as i32).saturating_add(c as i32).write());
        return Ok(Alu::new(kind, &[ty; 3], ty));
    }
    if part == Part::Wide {
        return wide(mods, mad);
    }
    let ty = mods.ty(ALL)?;
    let kind = by_int!(ty, T, match (part, mad) {
        (Part::Low, false) => value!(|a, b| T::read(a).mul(T::read(b)).write()),
        (Part::Low, true) => value!(|a, b, c| T::read(a).mul(T::read(b)).add(T::read(c)).write()),
        (_, false) => value!(|a, b| high::<T>(a, b)),
        (_, true) => value!(|a, b, c| T::read(high::<T>(a, b)).add(T::read(c)).write()),
    }, else return Err(mods.unexpected("an integer type")));
    let sources = if mad { 3 } else { 2 };
    Ok(Alu::new(kind, &[ty; 3][..sources], ty))
}

/// The upper half of a product.
#[inline(always)]
fn high<T: Int>(a: u64, b: u64) -> u64 {
    // Unsigned 64-bit products take all 128 bits, which wrap to the right ones.
    let product = T::read(a).wide().wrapping_mul(T::read(b).wide());
    T::wrap(product >> T::BITS).write()
}

fn wide(mods: &mut Mods, mad: bool) -> Result<Alu, Unknown> {
    let ty = mods.ty(&[U16, U32, S16, S32])?;
    macro_rules! wide {
        ($narrow:ty, $wide:ty) => {
            if mad {
                value!(|a, b, c| {
                    let product = (a as $narrow as $wide).wrapping_mul(b as $narrow as $wide);
                    product.wrapping_add(c as $wide).write()
                })
            } else {
                value!(|a, b| (a as $narrow as $wide)
                    .wrapping_mul(b as $narrow as $wide)
                    .write())
            }
        };
    }
    let (kind, result) = match ty {
        U16 => (wide!(u16, u32), U32),
        S16 => (wide!(i16, i32), S32),
        U32 => (wide!(u32, u64), U64),
        _ => (wide!(i32, i64), S64),
    };
    let sources = if mad { 3 } else { 2 };
    Ok(Alu::new(kind, &[ty, ty, result][..sources], result))
}

fn product24(mods: &mut Mods) -> Result<Alu, Unknown> {
    let mad = mods.opcode == "mad24";
    let low = mods.required(&[("lo", true), ("hi", false)])?;
    let sat = mad && !low && mods.eat("sat");
    let ty = mods.ty(if sat { &[S32] } else { &[U32, S32] })?;
    #[inline(always)]
    fn unsigned(a: u64, b: u64) -> u64 {
        (a & 0xff_ffff) * (b & 0xff_ffff)
    }
    #[inline(always)]
    fn signed(a: u64, b: u64) -> u64 {
        let extend = |x: u64| i64::from((x as i32) << 8 >> 8);
        (extend(a) * extend(b)) as u64
    }
    macro_rules! product {
        ($f:ident) => {
            match (low, mad) {
                (true, false) => value!(|a, b| $f(a, b) as u32 as u64),
                (true, true) => value!(|a, b, c| ($f(a, b) as u32).wrapping_add(c as u32) as u64),
                (false, false) => value!(|a, b| ($f(a, b) >> 16) as u32 as u64),
                (false, true) => {
                    value!(|a, b, c| (($f(a, b) >> 16) as u32).wrapping_add(c as u32) as u64)
                }
            }
        };
    }
    let kind = if sat {
        value!(|a, b, c| ((signed(a, b) >> 16) as i32)
            .saturating_add(c as i32)
            .write())
    } else if ty == U32 {
        product!(unsigned)
    } else {
        product!(signed)
    };
    let sources = if mad { 3 } else { 2 };
    Ok(Alu::new(kind, &[ty; 3][..sources], ty))
}

fn dot(mods: &mut Mods) -> Result<Alu, Unknown> {
    let upper = match mods.opcode {
        "dp2a" => Some(mods.required(&[("lo", false), ("hi", true)])?),
        _ => None,
    };
    let a = mods.ty(&[U32, S32])?;
    let b = mods.ty(&[U32, S32])?;
    // The byte or half `i` of a register as a number.
    macro_rules! part {
        ($x:expr, $i:expr, $unsigned:ty, $signed:ty, $is_signed:expr) => {{
            let bits = ($x >> ($i * <$unsigned>::BITS)) as $unsigned;
            if $is_signed {
                bits as $signed as i32
            } else {
                bits as i32
            }
        }};
    }
    macro_rules! dot {
        ($sa:expr, $sb:expr) => {
            match upper {
                None => value!(|a, b, c| {
                    (0..4).fold(c as i32, |sum, i| {
                        let product = part!(a, i, u8, i8, $sa) * part!(b, i, u8, i8, $sb);
                        sum.wrapping_add(product)
                    }) as u32 as u64
                }),
                Some(false) => value!(|a, b, c| halves::<0, $sa, $sb>(a, b, c)),
                Some(true) => value!(|a, b, c| halves::<2, $sa, $sb>(a, b, c)),
            }
        };
    }
    #[inline(always)]
    fn halves<const FIRST: u32, const SA: bool, const SB: bool>(a: u64, b: u64, c: u64) -> u64 {
        (0..2).fold(c as i32, |sum, i| {
            let product = part!(a, i, u16, i16, SA) * part!(b, (i + FIRST), u8, i8, SB);
            sum.wrapping_add(product)
        }) as u32 as u64
    }
    let kind: Kind = match (a == S32, b == S32) {
        (false, false) => dot!(false, false),
        (false, true) => dot!(false, true),
        (true, false) => dot!(true, false),
        (true, true) => dot!(true, true),
    };
    let result = if a == S32 || b == S32 { S32 } else { U32 };
    Ok(Alu::new(kind, &[U32, U32, result], result))
}
