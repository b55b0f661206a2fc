use super::oracle::{BF16, F16, F32, F64, Float, Number};
use super::*;

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// The result of an operation by the oracle.
fn operation(op: &str, float: Float, x: &[u64], mode: &str) -> u64 {
    let n: Vec<_> = x.iter().map(|bits| float.read(*bits)).collect();
    let result = match op {
        "add" => n[0].add(&n[1], mode),
        "sub" => n[0].add(&n[1].clone().negate(), mode),
        "mul" => n[0].multiply(&n[1]),
        "fma" | "mad" => n[0].multiply(&n[1]).add(&n[2], mode),
        "div" => n[0].multiply(&n[1].invert()),
        "rcp" => n[0].invert(),
        _ => return nan(op, float, x, float.root(x[0], mode)),
    };
    nan(op, float, x, float.write(&result, mode))
}

/// The NaN of f64 that a result is.
fn nan(op: &str, float: Float, x: &[u64], result: u64) -> u64 {
    if float.name != "f64" || result != F64.nan {
        return result;
    }
    let order: &[usize] = match op {
        "fma" => &[1, 2, 0],
        "add" | "sub" | "mul" => &[1, 0],
        "div" => &[0, 1],
        _ => &[0],
    };
    let found = order.iter().find(|at| f64::from_bits(x[**at]).is_nan());
    found.map_or(result, |at| x[*at] | 1 << 51)
}

/// Tells whether `.ftz` takes the result for 0: what it is in a format with the same significand and smaller numbers is less
/// than the smallest normal number.
fn is_tiny(op: &str, float: Float, x: &[u64], mode: &str) -> bool {
    if matches!(op, "sqrt" | "") {
        return false;
    }
    let wider = Float {
        exponent: 11,
        ..float
    };
    let n: Vec<_> = x.iter().map(|bits| float.read(*bits)).collect();
    let result = match op {
        "add" => n[0].add(&n[1], mode),
        "sub" => n[0].add(&n[1].clone().negate(), mode),
        "mul" => n[0].multiply(&n[1]),
        "fma" => n[0].multiply(&n[1]).add(&n[2], mode),
        "div" => n[0].multiply(&n[1].invert()),
        _ => n[0].invert(),
    };
    if matches!(result, Number::Nan) {
        return false;
    }
    let smallest = 1023 - (1 << (float.exponent - 1)) + 2;
    wider.write(&result, mode) & (wider.sign() - 1) < smallest << float.mantissa
}

/// The result where `.ftz` and the like change operands and results.
fn with(float: Float, after: &str, x: &[u64], f: impl Fn(&[u64]) -> u64) -> u64 {
    with_tiny(float, after, x, f, |_| false)
}

fn with_tiny(
    float: Float,
    after: &str,
    x: &[u64],
    f: impl Fn(&[u64]) -> u64,
    tiny: impl Fn(&[u64]) -> bool,
) -> u64 {
    let ftz = after.contains("ftz");
    let x: Vec<u64> = x
        .iter()
        .map(|bits| if ftz { float.flush(*bits) } else { *bits })
        .collect();
    let mut result = f(&x);
    if ftz && tiny(&x) {
        result &= float.sign();
    }
    if after.contains("sat") {
        result = float.saturate(result);
    }
    if after.contains("relu") {
        result = float.relu(result);
    }
    if ftz { float.flush(result) } else { result }
}

fn check_operation(op: &str, float: Float, after: &str, x: &[u64], mode: &str) -> u64 {
    with_tiny(
        float,
        after,
        x,
        |x| operation(op, float, x, mode),
        |x| is_tiny(op, float, x, mode),
    )
}

/// Sums of f32 with numbers of 16 bits, each widened exactly.
#[test]
fn sums_of_two_widths() {
    for (narrow, name) in [(F16, "f16"), (BF16, "bf16")] {
        for (op, parts) in [("add", 1), ("sub", 1), ("fma", 2)] {
            for mode in MODES {
                let full = format!("{op}.{mode}.f32.{name}");
                let mut random = Random::new(&full);
                for _ in 0..500 {
                    // A NaN has a test of its own.
                    let finite = |random: &mut Random, float: Float| loop {
                        let bits = random.next() & (2 * float.sign() - 1);
                        if !matches!(float.read(bits), Number::Nan) {
                            return bits;
                        }
                    };
                    let mut x: Vec<u64> = (0..parts).map(|_| finite(&mut random, narrow)).collect();
                    x.push(finite(&mut random, F32));
                    let mut n: Vec<_> = x[..parts].iter().map(|bits| narrow.read(*bits)).collect();
                    n.push(F32.read(x[parts]));
                    let result = match op {
                        "add" => n[0].add(&n[1], mode),
                        "sub" => n[0].add(&n[1].clone().negate(), mode),
                        _ => n[0].multiply(&n[1]).add(&n[2], mode),
                    };
                    assert_eq!(value(&full, &x), F32.write(&result, mode), "{full} {x:x?}");
                }
                assert_eq!(
                    value(&full, &[0x7fff, 0x7fff, 0][2 - parts..]),
                    F32.nan,
                    "{full}"
                );
            }
        }
    }
}

/// Products next to the smallest normal number, as an H200 was seen to round them.
#[test]
fn tiny_results() {
    for (name, x, expected) in [
        ("mul.rn.ftz.f32", &[0x0080_0000, 0x3f7f_ffff][..], 0),
        ("mul.rn.ftz.f32", &[0x0080_0000, 0xbf7f_ffff], 0x8000_0000),
        ("mul.rn.ftz.f32", &[0x0080_0400, 0x3f7f_f800], 0x0080_0000),
        ("mul.rp.ftz.f32", &[0x0080_0400, 0x3f7f_f800], 0x0080_0000),
        (
            "fma.rn.ftz.f32",
            &[0x0080_0400, 0x3f7f_f800, 0],
            0x0080_0000,
        ),
        (
            "fma.rn.ftz.f32",
            &[0x8080_0000, 0xbf7f_ffff, 0x8000_0000],
            0,
        ),
        (
            "fma.rp.ftz.f32",
            &[0x8080_0000, 0xbf7f_ffff, 0x8000_0000],
            0,
        ),
        ("mul.rn.f32", &[0x0080_0000, 0x3f7f_ffff], 0x0080_0000),
        ("mul.ftz.f16", &[0x0400, 0x3bff], 0),
        ("mul.ftz.f16", &[0x0400, 0xbbff], 0x8000),
        ("mul.ftz.f16", &[0x0410, 0x3be0], 0x0400),
        ("fma.rn.ftz.f16", &[0x8400, 0xbbff, 0x8000], 0),
        ("fma.rn.ftz.f16", &[0x0410, 0x3be0, 0], 0x0400),
    ] {
        assert_eq!(value(name, x), expected, "{name} {x:x?}");
    }
    // Of random numbers, none would come so near.
    for mode in MODES {
        let alu = alu(&format!("mul.{mode}.ftz.f32"));
        let mut random = Random::new(mode);
        for _ in 0..200 {
            let mut row = |start: u64| [(); LANES].map(|()| start | random.next() & 0x8000_0fff);
            let rows = [row(0x0080_0000), row(0x3f7f_f000)];
            let (d, _) = run(&alu, &rows, 0);
            for lane in 0..LANES {
                let x = [rows[0][lane], rows[1][lane]];
                let expected = check_operation("mul", F32, ".ftz", &x, mode);
                assert_eq!(d[lane], expected, "{mode} {x:x?}");
            }
        }
    }
}

#[test]
fn single_and_double() {
    for op in ["add", "sub", "mul", "fma", "div", "rcp", "sqrt"] {
        for mode in MODES {
            for after in ["", ".ftz", ".sat", ".ftz.sat"] {
                if after.contains("sat") && matches!(op, "div" | "rcp" | "sqrt") {
                    continue;
                }
                check(&format!("{op}.{mode}{after}.f32"), |x| {
                    check_operation(op, F32, after, x, mode)
                });
            }
            check(&format!("{op}.{mode}.f64"), |x| operation(op, F64, x, mode));
        }
    }
    for op in ["add", "sub", "mul"] {
        check(&format!("{op}.f32"), |x| operation(op, F32, x, "rn"));
        check(&format!("{op}.f64"), |x| operation(op, F64, x, "rn"));
    }
    check("mad.rn.f32", |x| operation("mad", F32, x, "rn"));
}

#[test]
fn two_singles() {
    for mode in MODES {
        for op in ["add", "mul", "fma"] {
            check(&format!("{op}.{mode}.f32x2"), |x| {
                let part = |at: u32| {
                    let x: Vec<u64> = x.iter().map(|x| x >> at & 0xffff_ffff).collect();
                    operation(op, F32, &x, mode)
                };
                part(0) | part(32) << 32
            });
        }
    }
}

/// The results of both halves, if there are two.
fn halves(packed: bool, x: &[u64], f: impl Fn(&[u64]) -> u64) -> u64 {
    let part = |at: u32| f(&x.iter().map(|x| x >> at & 0xffff).collect::<Vec<_>>());
    part(0) | if packed { part(16) << 16 } else { 0 }
}

#[test]
fn half_precision() {
    for float in [F16, BF16] {
        for packed in ["", "x2"] {
            for op in ["add", "sub", "mul", "fma"] {
                for after in ["", ".ftz", ".sat", ".ftz.sat", ".relu", ".ftz.relu"] {
                    let only_f16 = after.contains("ftz") || after.contains("sat");
                    if only_f16 && float.name == "bf16" || after.contains("relu") && op != "fma" {
                        continue;
                    }
                    check(&format!("{op}.rn{after}.{}{packed}", float.name), |x| {
                        halves(!packed.is_empty(), x, |x| {
                            check_operation(op, float, after, x, "rn")
                        })
                    });
                }
            }
        }
    }
}

/// The extremum in the order of numbers, where -0 is less than +0.
fn extremum(float: Float, max: bool, how: &str, x: &[u64]) -> u64 {
    let sign = float.sign();
    let mut result_sign = 0;
    let (mut a, mut b) = (x[0], x[1]);
    if how.contains("xorsign") {
        result_sign = (a ^ b) & sign;
        (a, b) = (a & !sign, b & !sign);
    }
    let is_nan = |x: u64| x & !sign > float.infinity();
    let order = |x: u64| match x & sign {
        0 => x as i64,
        _ => -((x & !sign) as i64) - 1,
    };
    let result = match (is_nan(a), is_nan(b)) {
        (true, true) if float.name == "f64" => return b | 1 << 51,
        (true, true) => return float.nan,
        (true, _) | (_, true) if how.contains("NaN") => return float.nan,
        (true, _) => b,
        (_, true) => a,
        _ if max == (order(a) > order(b)) => a,
        _ => b,
    };
    result | result_sign
}

#[test]
fn extrema() {
    for (name, max) in [("min", false), ("max", true)] {
        for how in ["", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"] {
            for after in ["", ".ftz"] {
                check(&format!("{name}{after}{how}.f32"), |x| {
                    with(F32, after, x, |x| extremum(F32, max, how, x))
                });
            }
            for float in [F16, BF16] {
                for packed in ["", "x2"] {
                    check(&format!("{name}{how}.{}{packed}", float.name), |x| {
                        halves(!packed.is_empty(), x, |x| extremum(float, max, how, x))
                    });
                }
            }
        }
        check(&format!("{name}.f64"), |x| extremum(F64, max, "", x));
        check(&format!("{name}.ftz.f16"), |x| {
            with(F16, ".ftz", x, |x| extremum(F16, max, "", x))
        });
    }
}

#[test]
fn signs() {
    for float in [F16, BF16, F32, F64] {
        let sign = float.sign();
        // NaNs become the format's, and those of f64 quiet.
        let f = |bits: u64, result: u64| match float.read(bits) {
            Number::Nan if float.name == "f64" => bits | 1 << 51,
            Number::Nan => float.nan,
            _ => result,
        };
        let name = float.name;
        check(&format!("neg.{name}"), |x| f(x[0], x[0] ^ sign));
        check(&format!("abs.{name}"), |x| f(x[0], x[0] & !sign));
        if matches!(name, "f16" | "bf16") {
            check(&format!("neg.{name}x2"), |x| {
                halves(true, x, |x| f(x[0], x[0] ^ sign))
            });
            check(&format!("abs.{name}x2"), |x| {
                halves(true, x, |x| f(x[0], x[0] & !sign))
            });
        }
        if matches!(name, "f16" | "f32") {
            check(&format!("neg.ftz.{name}"), |x| {
                f(x[0], float.flush(x[0]) ^ sign)
            });
        }
    }
    check("copysign.f32", |x| x[0] & 0x8000_0000 | x[1] & 0x7fff_ffff);
    check("copysign.f64", |x| x[0] & 1 << 63 | x[1] & !(1 << 63));
}

#[test]
fn properties() {
    for float in [F32, F64] {
        for (op, f) in [
            (
                "finite",
                (|e, _, top| e != top) as fn(u64, bool, u64) -> bool,
            ),
            ("infinite", |e, fraction, top| e == top && !fraction),
            ("number", |e, fraction, top| e != top || !fraction),
            ("notanumber", |e, fraction, top| e == top && fraction),
            ("normal", |e, fraction, top| {
                e != top && (e != 0 || !fraction)
            }),
            ("subnormal", |e, fraction, _| e == 0 && fraction),
        ] {
            let alu = alu(&format!("testp.{op}.{}", float.name));
            let mut random = Random::new(op);
            for _ in 0..100 {
                let row = [(); LANES].map(|()| random.value(alu.sources[0]));
                let (_, mask) = run(&alu, &[row], 0);
                for (lane, bits) in row.into_iter().enumerate() {
                    let bits = bits & (float.sign() | (float.sign() - 1));
                    let exponent = (bits & float.infinity()) >> float.mantissa;
                    let fraction = bits & ((1 << float.mantissa) - 1) != 0;
                    let expected = f(exponent, fraction, (1 << float.exponent) - 1);
                    assert_eq!(mask >> lane & 1 == 1, expected, "{op} {bits:x}");
                }
            }
        }
    }
}

/// Within the bounds of the PTX ISA, and much nearer: half of a last place, but for the rounding to f64.
#[test]
fn approximations() {
    let near = |name: &str, f: fn(f64) -> f64| {
        for after in ["", ".ftz"] {
            if after == ".ftz" && name == "tanh" {
                continue;
            }
            let ftz = !after.is_empty();
            check(&format!("{name}.approx{after}.f32"), |x| {
                let a = if ftz { F32.flush(x[0]) } else { x[0] };
                let y = f(f32::from_bits(a as u32).into());
                if y.is_nan() {
                    return F32.nan;
                }
                let bits = u64::from((y as f32).to_bits());
                if ftz { F32.flush(bits) } else { bits }
            });
        }
    };
    near("rcp", |x| x.recip());
    near("sqrt", f64::sqrt);
    near("rsqrt", |x| x.sqrt().recip());
    for (name, x, y) in [
        ("ex2.approx.f32", 3.0, 8.0),
        ("ex2.approx.ftz.f32", -130.0, 0.0),
        ("ex2.approx.f32", f32::NEG_INFINITY, 0.0),
        ("ex2.approx.f32", 1000.0, f32::INFINITY),
        ("lg2.approx.f32", 8.0, 3.0),
        ("lg2.approx.f32", 0.0, f32::NEG_INFINITY),
        ("sin.approx.f32", 0.5, 0.479_425_54),
        ("cos.approx.f32", 0.5, 0.877_582_55),
        ("tanh.approx.f32", 0.5, 0.462_117_16),
        ("tanh.approx.f32", 100.0, 1.0),
    ] {
        let found = value(name, &[x.to_bits().into()]);
        assert_eq!(f32::from_bits(found as u32), y, "{name} {x}");
    }
    for name in ["sin", "cos", "lg2"] {
        let bits = if name == "lg2" { -1f32 } else { f32::INFINITY };
        let found = value(&format!("{name}.approx.f32"), &[bits.to_bits().into()]);
        assert_eq!(found, F32.nan, "{name}");
    }
    assert_eq!(value("ex2.approx.f16x2", &[0x4000_3c00]), 0x4400_4000);
    assert_eq!(value("ex2.approx.ftz.bf16x2", &[0x4000_3f80]), 0x4080_4000);
    assert_eq!(value("tanh.approx.f16", &[0x7c00]), 0x3c00);
    let double = |x: f64| x.to_bits();
    assert_eq!(value("rcp.approx.ftz.f64", &[double(4.0)]), double(0.25));
    assert_eq!(value("rcp.approx.ftz.f64", &[double(3.0)]) as u32, 0);
    assert_eq!(value("rsqrt.approx.ftz.f64", &[double(4.0)]), double(0.5));
    assert_eq!(value("rsqrt.approx.f64", &[double(16.0)]), double(0.25));
}

/// `div.approx` gives up above 2^126, where its reciprocal is 0.
#[test]
fn quotients_by_large_numbers() {
    let f = |x: f32| u64::from(x.to_bits());
    let large = 2f32.powi(127);
    assert_eq!(value("div.approx.f32", &[f(large), f(large)]), 0);
    assert_eq!(value("div.approx.f32", &[f(-1.0), f(large)]), f(-0.0));
    assert_eq!(
        value("div.approx.f32", &[f(f32::INFINITY), f(large)]),
        F32.nan
    );
    assert_eq!(value("div.full.f32", &[f(large), f(large)]), f(1.0));
    assert_eq!(value("div.approx.ftz.f32", &[f(6.0), f(2.0)]), f(3.0));
}
