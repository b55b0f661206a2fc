//! Comparisons and selections (PTX ISA, "Comparison and Selection Instructions").

use super::float::{Bf, Half, Ieee, in32};
use super::mods::Mods;
use super::scalar::{Int, by_flag, by_int, test, value};
use super::{Alu, Combine, Kind, Unknown};
use crate::emulator::{LANES, Mask, Row};
use crate::ptx::Type::{self, *};

pub(super) const OPCODES: &[&str] = &["setp", "set", "selp", "slct"];

/// The relation of a and b. The last eight also ask for NaN: the first six of them hold if there is one.
#[derive(Clone, Copy, PartialEq)]
enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

use Compare::*;

const COMPARES: &[(&str, Compare)] = &[
    ("eq", Eq),
    ("ne", Ne),
    ("lt", Lt),
    ("le", Le),
    ("gt", Gt),
    ("ge", Ge),
    ("equ", Equ),
    ("neu", Neu),
    ("ltu", Ltu),
    ("leu", Leu),
    ("gtu", Gtu),
    ("geu", Geu),
    ("num", Num),
    ("nan", Nan),
];

/// Other names for comparisons of unsigned numbers.
const UNSIGNED: &[(&str, Compare)] = &[("lo", Lt), ("ls", Le), ("hi", Gt), ("hs", Ge)];

/// The expression once for each comparison of numbers, by `|a, b| condition` macros.
macro_rules! by_compare {
    ($compare:expr, $make:ident) => {
        match $compare {
            Eq => $make!(|a, b| a == b),
            Ne => $make!(|a, b| a < b || a > b),
            Lt => $make!(|a, b| a < b),
            Le => $make!(|a, b| a <= b),
            Gt => $make!(|a, b| a > b),
            Ge => $make!(|a, b| a >= b),
            Equ => $make!(|a, b| !(a < b || a > b)),
            Neu => $make!(|a, b| a != b),
            Ltu => $make!(|a, b| !(a >= b)),
            Leu => $make!(|a, b| !(a > b)),
            Gtu => $make!(|a, b| !(a <= b)),
            Geu => $make!(|a, b| !(a < b)),
            Num => $make!(|a, b| a == a && b == b),
            Nan => $make!(|a, b| a != a || b != b),
        }
    };
}

enum Test {
    One(fn(&Row, &Row) -> Mask),
    Two(fn(&Row, &Row) -> [Mask; 2]),
}

const TYPES: &[Type] = &[
    B16, B32, B64, U16, U32, U64, S16, S32, S64, F16, F16x2, Bf16, Bf16x2, F32, F64,
];

pub(super) fn lookup(mods: &mut Mods) -> Result<Alu, Unknown> {
    match mods.opcode {
        "selp" => select(mods),
        "slct" => select_by_sign(mods),
        opcode => {
            let at = mods.clone();
            let unsigned = mods.one_of(UNSIGNED);
            let compare = match unsigned {
                Some(compare) => compare,
                None => mods.required(COMPARES)?,
            };
            // `.ftz` stands after the combination in the ISA's text, and before it for ptxas, too.
            let first = mods.eat("ftz");
            let combine: Option<Combine> = match mods.one_of(&[("and", 0), ("or", 1), ("xor", 2)]) {
                Some(0) => Some(|t, c| t & c),
                Some(1) => Some(|t, c| t | c),
                Some(_) => Some(|t, c| t ^ c),
                None => None,
            };
            let ftz = first || mods.eat("ftz");
            let result = match opcode {
                "set" => Some(mods.ty(&[U32, S32, F32, F16, F16x2, Bf16, Bf16x2, U16, S16])?),
                _ => None,
            };
            let ty = mods.ty(if ftz { &[F16, F16x2, F32] } else { TYPES })?;
            let allowed = match ty {
                B16 | B32 | B64 => matches!(compare, Eq | Ne) && unsigned.is_none(),
                U16 | U32 | U64 => matches!(compare, Eq | Ne | Lt | Le | Gt | Ge),
                S16 | S32 | S64 => {
                    matches!(compare, Eq | Ne | Lt | Le | Gt | Ge) && unsigned.is_none()
                }
                _ => unsigned.is_none(),
            };
            if !allowed {
                return Err(at.unexpected("a comparison that this type has"));
            }
            let is_half = matches!(ty, F16 | Bf16 | F16x2 | Bf16x2);
            let has_result = match result {
                None | Some(U32 | S32) => true,
                Some(F32) => !is_half,
                Some(F16) => !is_half || ty == F16,
                Some(Bf16) => !matches!(ty, F16x2 | Bf16x2),
                Some(U16 | S16) => matches!(ty, F16 | Bf16),
                Some(pair) => pair == ty,
            };
            if !has_result {
                return Err(
                    mods.unknown("a result that a comparison of this type has", "another one")
                );
            }
            finish(mods, function(ty, compare, ftz), combine, ty, result)
        }
    }
}

/// The instruction around a test.
fn finish(
    mods: &Mods,
    test: Test,
    combine: Option<Combine>,
    ty: Type,
    result: Option<Type>,
) -> Result<Alu, Unknown> {
    let mut sources = vec![ty, ty];
    if combine.is_some() {
        sources.push(Pred);
    }
    let kind = match (test, result) {
        (Test::One(test), None) => Kind::Test { test, combine },
        (Test::Two(test), None) => Kind::TestPair { test, combine },
        (Test::One(test), Some(result)) => Kind::Set {
            test,
            combine,
            yes: match result {
                F32 => 0x3f80_0000,
                F16 => 0x3c00,
                Bf16 => 0x3f80,
                U16 | S16 => 0xffff,
                U32 | S32 => 0xffff_ffff,
                _ => return Err(mods.unknown("a result that is not packed", ".x2")),
            },
        },
        (Test::Two(test), Some(result)) => Kind::SetPair {
            test,
            combine,
            yes: match (result, ty) {
                (F16x2, F16x2) => 0x3c00,
                (Bf16x2, Bf16x2) => 0x3f80,
                (U32 | S32, _) => 0xffff,
                _ => return Err(mods.unknown("a packed result", "another type")),
            },
        },
    };
    Ok(Alu {
        kind,
        sources,
        result: Some(result.unwrap_or(Pred)),
    })
}

fn function(ty: Type, compare: Compare, ftz: bool) -> Test {
    macro_rules! float {
        ($read:expr) => {{
            macro_rules! make {
                (|$a:ident, $b:ident| $f:expr) => {
                    |a, b| {
                        test(a, b, |$a, $b| {
                            let ($a, $b) = ($read($a), $read($b));
                            $f
                        })
                    }
                };
            }
            #[allow(
                clippy::neg_cmp_op_on_partial_ord,
                clippy::eq_op,
                clippy::double_comparisons
            )] // NaN is why.
            let function: fn(&Row, &Row) -> Mask = by_compare!(compare, make);
            function
        }};
    }
    macro_rules! pair {
        ($read:expr) => {{
            macro_rules! make {
                (|$a:ident, $b:ident| $f:expr) => {
                    |a, b| {
                        [0, 16].map(|half| {
                            test(a, b, |$a, $b| {
                                let ($a, $b) = ($read($a >> half), $read($b >> half));
                                $f
                            })
                        })
                    }
                };
            }
            #[allow(
                clippy::neg_cmp_op_on_partial_ord,
                clippy::eq_op,
                clippy::double_comparisons
            )] // NaN is why.
            let function: fn(&Row, &Row) -> [Mask; 2] = by_compare!(compare, make);
            function
        }};
    }
    #[inline(always)]
    fn flushed(bits: u64, ftz: bool) -> f32 {
        let tiny = ftz && bits & 0x7c00 == 0;
        Ieee::read(if tiny { bits & 0x8000 } else { bits })
    }
    Test::One(match ty {
        F16x2 => return Test::Two(by_flag!(ftz => Z; pair!(|x| flushed(x, Z)))),
        Bf16x2 => return Test::Two(pair!(Bf::read)),
        F16 => by_flag!(ftz => Z; float!(|x| flushed(x, Z))),
        Bf16 => float!(Bf::read),
        F32 => by_flag!(ftz => Z; float!(|x| in32(x, Z))),
        F64 => float!(f64::from_bits),
        B16 | U16 => integer::<u16>(compare),
        B32 | U32 => integer::<u32>(compare),
        B64 | U64 => integer::<u64>(compare),
        S16 => integer::<i16>(compare),
        S32 => integer::<i32>(compare),
        _ => integer::<i64>(compare),
    })
}

fn integer<T: Int>(compare: Compare) -> fn(&Row, &Row) -> Mask {
    match compare {
        Eq => |a, b| test(a, b, |a, b| T::read(a) == T::read(b)),
        Lt => |a, b| test(a, b, |a, b| T::read(a) < T::read(b)),
        Le => |a, b| test(a, b, |a, b| T::read(a) <= T::read(b)),
        Gt => |a, b| test(a, b, |a, b| T::read(a) > T::read(b)),
        Ge => |a, b| test(a, b, |a, b| T::read(a) >= T::read(b)),
        _ => |a, b| test(a, b, |a, b| T::read(a) != T::read(b)),
    }
}

fn select(mods: &mut Mods) -> Result<Alu, Unknown> {
    let ty = mods.ty(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])?;
    let bits = match ty.bytes() {
        Some(2) => 0xffff,
        Some(4) => 0xffff_ffff,
        _ => u64::MAX,
    };
    #[inline(always)]
    fn choose<const BITS: u64>(d: &mut Row, a: &Row, b: &Row, c: Mask) {
        for lane in 0..LANES {
            let chosen = if c >> lane & 1 == 1 { a[lane] } else { b[lane] };
            d[lane] = chosen & BITS;
        }
    }
    let kind = Kind::Select(match bits {
        0xffff => choose::<0xffff>,
        0xffff_ffff => choose::<0xffff_ffff>,
        _ => choose::<{ u64::MAX }>,
    });
    Ok(Alu::new(kind, &[ty, ty, Pred], ty))
}

fn select_by_sign(mods: &mut Mods) -> Result<Alu, Unknown> {
    let ftz = mods.eat("ftz");
    let ty = mods.ty(&[B16, B32, B64, U16, U32, U64, S16, S32, S64, F32, F64])?;
    let by = mods.ty(if ftz { &[F32] } else { &[S32, F32] })?;
    let kind = by_int!(ty, T of {
        B16 => u16, U16 => u16, S16 => u16, B32 => u32, U32 => u32, S32 => u32, F32 => u32,
        B64 => u64, U64 => u64, S64 => u64, F64 => u64,
    }, if by == S32 {
        value!(|a, b, c| T::read(if c as i32 >= 0 { a } else { b }).write())
    } else {
        // -0 is no less than 0; NaN is not at least 0.
        by_flag!(ftz => Z; value!(|a, b, c| T::read(if in32(c, Z) >= 0.0 { a } else { b }).write()))
    }, else return Err(mods.unexpected("a type")));
    Ok(Alu::new(kind, &[ty, ty, by], ty))
}
