//! `min` and `max` of floats. -0 is less than +0; a NaN loses against a number, except with `.NaN`.

use super::super::mods::Mods;
use super::super::scalar::{by_flag, value};
use super::super::{Alu, Format, Unknown};
use super::{half, in32};
use crate::ptx::Type::*;

/// The extremum of two numbers of a format, by their bits. `xorsign` takes the magnitudes, and the product's sign.
#[inline(always)]
fn extremum(a: u64, b: u64, format: Format, max: bool, nan: bool, xorsign: bool) -> u64 {
    let sign = format.sign();
    let result_sign = if xorsign { (a ^ b) & sign } else { 0 };
    let (a, b) = match xorsign {
        true => (a & !sign, b & !sign),
        false => (a, b),
    };
    let is_nan = |x: u64| x & !sign > format.above;
    let (a_nan, b_nan) = (is_nan(a), is_nan(b));
    if a_nan && b_nan || nan && (a_nan || b_nan) {
        return match format {
            Format::F64 => super::out64(b, [b]),
            _ => format.nan,
        };
    }
    // Bits of floats are in order, once those of negative ones are turned.
    let key = |x: u64| match x & sign {
        0 => x | sign,
        _ => x ^ (sign | (sign - 1)),
    };
    let a_wins = (key(a) > key(b)) == max;
    let winner = if b_nan || a_wins && !a_nan { a } else { b };
    winner | result_sign
}

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    let max = mods.opcode == "max";
    let ftz = mods.eat("ftz");
    let nan = mods.eat("NaN");
    let xorsign = mods.eat("xorsign");
    if xorsign && !mods.eat("abs") {
        return Err(mods.unexpected("`.abs` after `.xorsign`"));
    }
    let ty = mods.ty(match (ftz, nan || xorsign) {
        (true, _) => &[F16, F16x2, F32],
        (_, true) => &[F16, F16x2, Bf16, Bf16x2, F32],
        _ => &[F16, F16x2, Bf16, Bf16x2, F32, F64],
    })?;
    macro_rules! kind {
        (|$a:ident, $b:ident, $z:ident, $f:ident| $body:expr) => {
            by_flag!(max => MAX, nan => NAN, xorsign => XOR, ftz => $z; value!(|$a, $b| {
                let $f = |a, b, format| extremum(a, b, format, MAX, NAN, XOR);
                $body
            }))
        };
    }
    let kind = match ty {
        F16 => kind!(|a, b, Z, f| {
            f(
                half::flush(a & 0xffff, Z),
                half::flush(b & 0xffff, Z),
                Format::F16,
            )
        }),
        F16x2 => kind!(|a, b, Z, f| {
            let (a, b) = (half::flush(a, Z), half::flush(b, Z));
            f(a & 0xffff, b & 0xffff, Format::F16) | f(a >> 16, b >> 16, Format::F16) << 16
        }),
        Bf16 => kind!(|a, b, Z, f| f(a & 0xffff, b & 0xffff, Format::BF16)),
        Bf16x2 => kind!(|a, b, Z, f| {
            let (a, b) = (a & 0xffff_ffff, b & 0xffff_ffff);
            f(a & 0xffff, b & 0xffff, Format::BF16) | f(a >> 16, b >> 16, Format::BF16) << 16
        }),
        F32 => kind!(|a, b, Z, f| {
            let bits = |x| in32(x, Z).to_bits().into();
            f(bits(a), bits(b), Format::F32)
        }),
        _ => kind!(|a, b, Z, f| f(a, b, Format::F64)),
    };
    Ok(Alu::new(kind, &[ty; 2], ty))
}
