use num_bigint::BigInt;

use super::oracle::{BF16, F16, F32, F64, Float, Number, integer};
use super::*;

const INTEGERS: &[(&str, u32, bool)] = &[
    ("u8", 8, false),
    ("u16", 16, false),
    ("u32", 32, false),
    ("u64", 64, false),
    ("s8", 8, true),
    ("s16", 16, true),
    ("s32", 32, true),
    ("s64", 64, true),
];

const FLOATS: [Float; 4] = [F16, BF16, F32, F64];

fn number(bits: u64, width: u32, signed: bool) -> i128 {
    match signed {
        true => ((bits << (64 - width)) as i64 >> (64 - width)).into(),
        false => bits.into(),
    }
}

fn clamp(x: i128, width: u32, signed: bool) -> i128 {
    let (low, high) = match signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, (1 << width) - 1),
    };
    x.clamp(low, high)
}

fn cut(x: i128, width: u32) -> u64 {
    (x & ((1 << width) - 1)) as u64
}

#[test]
fn integers_to_integers() {
    for &(to, tw, ts) in INTEGERS {
        for &(from, fw, fs) in INTEGERS {
            check(&format!("cvt.{to}.{from}"), |x| {
                cut(number(x[0], fw, fs), tw)
            });
            // Nothing is too large for a type that has all numbers of the other one.
            let (low, high) = match fs {
                true => (-(1i128 << (fw - 1)), (1i128 << (fw - 1)) - 1),
                false => (0, (1i128 << fw) - 1),
            };
            if [low, high].iter().all(|x| clamp(*x, tw, ts) == *x) {
                continue;
            }
            check(&format!("cvt.sat.{to}.{from}"), |x| {
                cut(clamp(number(x[0], fw, fs), tw, ts), tw)
            });
        }
    }
}

/// The integer next to a number in a direction, as big as it may be.
fn whole(number: &Number, mode: &str) -> BigInt {
    let Number::Fraction { above, below } = number else {
        return 0.into();
    };
    let zero = BigInt::from(0);
    let truncated = above / below;
    let negative = *above < zero;
    let exact = above % below == zero;
    let floor = match negative && !exact {
        true => &truncated - 1,
        false => truncated.clone(),
    };
    match mode {
        "rzi" => truncated,
        "rmi" => floor,
        "rpi" => floor + i32::from(!exact),
        _ => {
            let twice: BigInt = (above - &floor * below) * 2;
            match twice.cmp(below) {
                std::cmp::Ordering::Less => floor,
                std::cmp::Ordering::Greater => floor + 1,
                std::cmp::Ordering::Equal => match &floor % 2 == zero {
                    true => floor,
                    false => floor + 1,
                },
            }
        }
    }
}

#[test]
fn floats_to_integers() {
    for &(to, tw, ts) in INTEGERS {
        for float in FLOATS {
            for mode in ["rni", "rzi", "rmi", "rpi"] {
                let f = |bits: u64| {
                    let n = float.read(bits);
                    let huge = i128::from(u64::MAX) * 4;
                    let x = match n {
                        // PTX ISA: zero, unless 64 bits are read or written.
                        Number::Nan if tw == 64 || float.name == "f64" => {
                            return 1 << (tw - 1);
                        }
                        Number::Nan => 0,
                        Number::Infinite { negative: true } => -huge,
                        Number::Infinite { .. } => huge,
                        _ => {
                            let whole = whole(&n, mode);
                            i128::try_from(&whole).unwrap_or(match whole > BigInt::from(0) {
                                true => huge,
                                false => -huge,
                            })
                        }
                    };
                    cut(clamp(x, tw, ts), tw)
                };
                check(&format!("cvt.{mode}.{to}.{}", float.name), |x| f(x[0]));
                if float.name == "f32" {
                    check(&format!("cvt.{mode}.ftz.{to}.f32"), |x| f(F32.flush(x[0])));
                }
            }
        }
    }
}

#[test]
fn integers_to_floats() {
    for &(from, fw, fs) in INTEGERS {
        for float in FLOATS {
            for mode in ["rn", "rz", "rm", "rp"] {
                check(&format!("cvt.{mode}.{}.{from}", float.name), |x| {
                    float.write(&integer(number(x[0], fw, fs)), mode)
                });
            }
            if float.name == "bf16" {
                continue;
            }
            check(&format!("cvt.rn.sat.{}.{from}", float.name), |x| {
                float.write(&integer(number(x[0], fw, fs).clamp(0, 1)), "rn")
            });
        }
    }
}

/// A conversion, which keeps what it can of some NaNs (as an H200 was seen to do).
fn convert(to: Float, from: Float, bits: u64, mode: &str) -> u64 {
    let number = from.read(bits);
    if !matches!(number, Number::Nan) {
        return to.write(&number, mode);
    }
    let single = match from.name {
        "f16" => F32.nan,
        "bf16" => bits << 16,
        _ => bits,
    };
    match (to.name, from.name) {
        ("f64", "f64") => bits | 1 << 51,
        ("f64", _) => (single >> 31) << 63 | 0xfff << 51 | (single & 0x3f_ffff) << 29,
        ("f32", "f64") => (bits >> 63) << 31 | 0x1ff << 22 | bits >> 29 & 0x3f_ffff,
        ("f32", "bf16") => single,
        _ => to.nan,
    }
}

#[test]
fn floats_to_floats() {
    for to in FLOATS {
        for from in FLOATS {
            if to.name == from.name {
                for mode in ["rni", "rzi", "rmi", "rpi"] {
                    check(&format!("cvt.{mode}.{0}.{0}", to.name), |x| {
                        match to.read(x[0]) {
                            n @ Number::Fraction { .. } => {
                                let whole = whole(&n, mode);
                                let zero = whole == BigInt::from(0);
                                let negative = n.negative();
                                let result = match zero {
                                    true => Number::Zero { negative },
                                    false => Number::Fraction {
                                        above: whole,
                                        below: 1.into(),
                                    },
                                };
                                to.write(&result, "rn")
                            }
                            _ => convert(to, to, x[0], "rn"),
                        }
                    });
                }
                continue;
            }
            let widens = to.name == "f64" || to.name == "f32" && from.name != "f64";
            if widens {
                let name = format!("cvt.{}.{}", to.name, from.name);
                check(&name, |x| convert(to, from, x[0], "rn"));
                if from.name == "bf16" {
                    continue;
                }
                check(&format!("cvt.sat.{}.{}", to.name, from.name), |x| {
                    to.saturate(to.write(&from.read(x[0]), "rn"))
                });
                continue;
            }
            for mode in ["rn", "rz", "rm", "rp"] {
                check(&format!("cvt.{mode}.{}.{}", to.name, from.name), |x| {
                    convert(to, from, x[0], mode)
                });
                if [to.name, from.name].contains(&"bf16") {
                    continue;
                }
                check(&format!("cvt.{mode}.sat.{}.{}", to.name, from.name), |x| {
                    // Saturated before it is rounded, which gives the same.
                    to.saturate(to.write(&from.read(x[0]), mode))
                });
            }
        }
    }
    check("cvt.rn.ftz.f16.f32", |x| {
        F16.write(&F32.read(F32.flush(x[0])), "rn")
    });
    check("cvt.rn.ftz.f32.f64", |x| {
        F32.flush(convert(F32, F64, x[0], "rn"))
    });
    check("cvt.ftz.f32.f32", |x| {
        F32.flush(F32.write(&F32.read(x[0]), "rn"))
    });
}

/// The nearest `f32` of every `f16` and `bf16`, and back.
#[test]
fn every_half() {
    for bits in 0..=0xffff_u64 {
        let wide = value("cvt.f32.f16", &[bits]);
        let crate_says = half::f16::from_bits(bits as u16).to_f32();
        if crate_says.is_nan() {
            assert_eq!(wide, F32.nan);
            assert_eq!(value("cvt.rn.f16.f32", &[wide]), F16.nan);
        } else {
            assert_eq!(wide, u64::from(crate_says.to_bits()));
            assert_eq!(value("cvt.rn.f16.f32", &[wide]), bits);
        }
        let wide = value("cvt.f32.bf16", &[bits]);
        let crate_says = half::bf16::from_bits(bits as u16).to_f32();
        if !crate_says.is_nan() {
            assert_eq!(wide, u64::from(crate_says.to_bits()));
            assert_eq!(value("cvt.rn.bf16.f32", &[wide]), bits);
        }
    }
}

fn limited(float: Float, number: &Number, mode: &str, limits: &str) -> u64 {
    let mut bits = float.write(number, mode);
    if limits.contains("relu") {
        bits = float.relu(bits);
    }
    if limits.contains("satfinite") && bits & (float.sign() - 1) == float.infinity() {
        bits -= 1;
    }
    bits
}

#[test]
fn pairs() {
    for float in [F16, BF16] {
        for mode in ["rn", "rz"] {
            for limits in ["", ".relu", ".satfinite", ".relu.satfinite"] {
                let f = |bits: u64| limited(float, &F32.read(bits), mode, limits);
                let name = float.name;
                check(&format!("cvt.{mode}{limits}.{name}x2.f32"), |x| {
                    f(x[0]) << 16 | f(x[1])
                });
                check(&format!("cvt.{mode}{limits}.{name}.f32"), |x| f(x[0]));
            }
        }
    }
}

#[test]
fn tf32() {
    const TF32: Float = Float {
        exponent: 8,
        mantissa: 10,
        nan: 0x3ffff,
        name: "tf32",
    };
    for mode in ["rna", "rn", "rz"] {
        for limits in ["", ".relu", ".satfinite"] {
            check(&format!("cvt.{mode}{limits}.tf32.f32"), |x| {
                match F32.read(x[0]) {
                    Number::Nan if mode == "rna" && x[0] & 0x7f_e000 != 0 => x[0] & !0x1fff,
                    Number::Nan => 0x7fff_e000,
                    n => limited(TF32, &n, mode, limits) << 13,
                }
            });
        }
    }
}

/// The bits of an 8-bit float by trying all of them: the nearest, or the even one of two, or the largest.
fn eight(number: &Number, e4m3: bool) -> u64 {
    // Those of e5m2 are the upper halves of f16; e4m3 has the same up to its bias, and two more numbers at the top.
    let float = match e4m3 {
        true => Float {
            exponent: 4,
            mantissa: 3,
            nan: 0x7f,
            name: "e4m3",
        },
        false => Float {
            exponent: 5,
            mantissa: 2,
            nan: 0x7f,
            name: "e5m2",
        },
    };
    let sign = if number.negative() { 0x80 } else { 0 };
    let Number::Fraction { above, below } = number else {
        return match number {
            Number::Nan => 0x7f,
            Number::Infinite { .. } => sign | if e4m3 { 0x7e } else { 0x7b },
            _ => sign,
        };
    };
    let last = if e4m3 { 0x7e } else { 0x7b };
    let size = BigInt::from(above.magnitude().clone());
    let distance = |pattern: u64| {
        // By 2^20 all numbers of these formats are integers.
        let exponent = pattern >> float.mantissa;
        let fraction = pattern & ((1 << float.mantissa) - 1);
        let hidden = if exponent > 0 { 1 << float.mantissa } else { 0 };
        let bias = (1 << (float.exponent - 1)) - 1;
        let power = exponent.max(1) + 20 - bias - u64::from(float.mantissa);
        let scaled: BigInt = BigInt::from(fraction | hidden) << power;
        let distance: BigInt = (&size << 20) - scaled * below;
        BigInt::from(distance.magnitude().clone())
    };
    let nearest = (0..=last).min_by_key(|pattern| (distance(*pattern), pattern % 2));
    sign | nearest.unwrap()
}

#[test]
fn floats_of_8_bits() {
    for (name, e4m3) in [("e4m3x2", true), ("e5m2x2", false)] {
        for relu in ["", ".relu"] {
            let limit = |bits: u64| match !relu.is_empty() && bits & 0x80 != 0 {
                true => 0,
                false => bits,
            };
            for order in [".satfinite.relu", ".relu.satfinite"] {
                let modifiers = if relu.is_empty() { ".satfinite" } else { order };
                check(&format!("cvt.rn{modifiers}.{name}.f32"), |x| {
                    let f = |bits: u64| limit(eight(&F32.read(bits), e4m3));
                    f(x[0]) << 8 | f(x[1])
                });
            }
            // Every pair of halves of a kind, back and forth.
            let wide = format!("cvt.rn{relu}.f16x2.{name}");
            for bits in 0..0x100_u64 {
                let found = value(&wide, &[bits << 8 | 0x38]);
                let upper = limit(bits);
                if relu.is_empty() || upper == bits {
                    let back = value(&format!("cvt.rn.satfinite.{name}.f16x2"), &[found]);
                    let expected = match (e4m3, upper & 0x7f) {
                        (true, 0x7f) | (false, 0x7d..) => 0x7f,
                        // Infinity becomes the largest number.
                        (false, 0x7c) => upper - 1,
                        _ => upper,
                    };
                    assert_eq!(back, expected << 8 | 0x38, "{name} {bits:x}");
                } else {
                    let nan = bits & 0x7f > if e4m3 { 0x7e } else { 0x7c };
                    assert_eq!(found >> 16, if nan { 0x7fff } else { 0 }, "{name} {bits:x}");
                }
            }
        }
        check(&format!("cvt.rn.satfinite.{name}.f16x2"), |x| {
            let f = |bits: u64| eight(&F16.read(bits & 0xffff), e4m3);
            f(x[0] >> 16) << 8 | f(x[0])
        });
    }
    // The upper half of an f16 is an e5m2.
    for bits in (0..0x100_u64).filter(|bits| bits & 0x7f <= 0x7c) {
        assert_eq!(value("cvt.rn.f16x2.e5m2x2", &[bits]), bits << 8);
    }
    // 448, 2^-9 and 1.
    assert_eq!(value("cvt.rn.f16x2.e4m3x2", &[0x7e01]), 0x5f00_1800);
    assert_eq!(value("cvt.rn.f16x2.e4m3x2", &[0x38b8]), 0x3c00_bc00);
}

#[test]
fn results_are_widened_by_their_sign() {
    for (name, bits, value, wide) in [
        ("cvt.s8.s32", 32, 0x80, Some(0xffff_ff80)),
        ("cvt.s16.s32", 32, 0x8000, Some(0xffff_8000)),
        ("cvt.s32.s64", 64, 0x8000_0000, Some(0xffff_ffff_8000_0000)),
        ("cvt.s8.s32", 16, 0x7f, Some(0x7f)),
        ("cvt.s32.s64", 32, 0x8000_0000, None),
        ("cvt.u8.s32", 32, 0x80, None),
    ] {
        let widen = alu(name).widen(bits);
        assert_eq!(widen.is_some(), wide.is_some(), "{name} to {bits}");
        if let (Some(widen), Some(wide)) = (widen, wide) {
            let mut row = [value; LANES];
            widen(&mut row, bits);
            assert_eq!(row, [wide; LANES], "{name} to {bits}");
        }
    }
}

#[test]
fn packed_integers() {
    for (ty, width, signed) in [
        ("u2", 2, false),
        ("s2", 2, true),
        ("u4", 4, false),
        ("s4", 4, true),
        ("u8", 8, false),
        ("s8", 8, true),
    ] {
        check(&format!("cvt.pack.sat.{ty}.s32.b32"), |x| {
            let part = |x| cut(clamp(number(x, 32, true), width, signed), width);
            // The low bits of c, then a, then b.
            let above = (x[2] << (2 * width)) & 0xffff_ffff;
            above | part(x[0]) << width | part(x[1])
        });
    }
    for (ty, signed) in [("u16", false), ("s16", true)] {
        check(&format!("cvt.pack.sat.{ty}.s32"), |x| {
            let part = |x| cut(clamp(number(x, 32, true), 16, signed), 16);
            part(x[0]) << 16 | part(x[1])
        });
    }
}
