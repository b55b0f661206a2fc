//! Two 16-bit integers in a register: `.u16x2` and `.s16x2`.

use super::mods::Mods;
use super::scalar::value;
use super::{Alu, Unknown};
use crate::ptx::Type::*;

/// Both halves of a result.
#[inline(always)]
pub(super) fn halves(a: u64, b: u64, f: impl Fn(u16, u16) -> u16) -> u64 {
    let low = f(a as u16, b as u16);
    let high = f((a >> 16) as u16, (b >> 16) as u16);
    u64::from(high) << 16 | u64::from(low)
}

/// `add`, `min` and `max`, if the type is a packed one.
pub(super) fn lookup(mods: &mut Mods) -> Result<Option<Alu>, Unknown> {
    let Some(&last @ ("u16x2" | "s16x2")) = mods.rest().last() else {
        return Ok(None);
    };
    let (signed, min) = (last == "s16x2", mods.opcode == "min");
    let relu = signed && mods.opcode != "add" && mods.eat("relu");
    let kind = match (mods.opcode, signed, relu) {
        ("add", ..) => value!(|a, b| halves(a, b, u16::wrapping_add)),
        ("min" | "max", false, _) if min => value!(|a, b| halves(a, b, u16::min)),
        ("min" | "max", false, _) => value!(|a, b| halves(a, b, u16::max)),
        ("min" | "max", true, false) if min => {
            value!(|a, b| halves(a, b, |a, b| (a as i16).min(b as i16) as u16))
        }
        ("min" | "max", true, false) => {
            value!(|a, b| halves(a, b, |a, b| (a as i16).max(b as i16) as u16))
        }
        ("min" | "max", true, true) if min => {
            value!(|a, b| halves(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16))
        }
        ("min" | "max", true, true) => {
            value!(|a, b| halves(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16))
        }
        _ => return Err(mods.unexpected("a type that is not packed")),
    };
    mods.required(&[("u16x2", ()), ("s16x2", ())])?;
    Ok(Some(Alu::new(kind, &[B32, B32], B32)))
}
