use super::*;

const TYPES: &[(&str, u32, bool)] = &[
    ("u16", 16, false),
    ("u32", 32, false),
    ("u64", 64, false),
    ("s16", 16, true),
    ("s32", 32, true),
    ("s64", 64, true),
];

/// The number that bits mean.
fn number(bits: u64, width: u32, signed: bool) -> i128 {
    let x = i128::from(bits) & ((1 << width) - 1);
    if signed && x >> (width - 1) == 1 {
        x - (1 << width)
    } else {
        x
    }
}

fn bits(x: i128, width: u32) -> u64 {
    (x & ((1 << width) - 1)) as u64
}

fn clamp(x: i128) -> i128 {
    x.clamp(i32::MIN.into(), i32::MAX.into())
}

#[test]
fn sums_products_and_quotients() {
    for &(ty, w, s) in TYPES {
        let n = |x: u64| number(x, w, s);
        let two = |op: &str, f: &dyn Fn(i128, i128) -> i128| {
            check(&format!("{op}.{ty}"), |x| bits(f(n(x[0]), n(x[1])), w));
        };
        // 64 by 64 bits is more than i128 has, but for the bits that are asked for.
        two("add", &|a, b| a + b);
        two("sub", &|a, b| a - b);
        two("mul.lo", &|a, b| a.wrapping_mul(b));
        two("min", &|a, b| a.min(b));
        two("max", &|a, b| a.max(b));
        two("div", &|a, b| if b == 0 { -1 } else { a / b });
        two("rem", &|a, b| if b == 0 { -1 } else { a % b });
        let high = |a: u64, b: u64| match s {
            true => (n(a) * n(b)) >> w,
            false => ((u128::from(a) * u128::from(b)) >> w) as i128,
        };
        check(&format!("mul.hi.{ty}"), |x| bits(high(x[0], x[1]), w));
        check(&format!("mad.hi.{ty}"), |x| {
            bits(high(x[0], x[1]) + n(x[2]), w)
        });
        check(&format!("mad.lo.{ty}"), |x| {
            bits(n(x[0]).wrapping_mul(n(x[1])).wrapping_add(n(x[2])), w)
        });
        check(&format!("sad.{ty}"), |x| {
            bits((n(x[0]) - n(x[1])).abs() + n(x[2]), w)
        });
        if s {
            check(&format!("abs.{ty}"), |x| bits(n(x[0]).abs(), w));
            check(&format!("neg.{ty}"), |x| bits(-n(x[0]), w));
        }
        if w < 64 {
            check(&format!("mul.wide.{ty}"), |x| {
                bits(n(x[0]) * n(x[1]), 2 * w)
            });
            check(&format!("mad.wide.{ty}"), |x| {
                bits(n(x[0]) * n(x[1]) + i128::from(x[2]), 2 * w)
            });
        }
    }
}

#[test]
fn saturation() {
    let n = |x: u64| number(x, 32, true);
    check("add.sat.s32", |x| bits(clamp(n(x[0]) + n(x[1])), 32));
    check("sub.sat.s32", |x| bits(clamp(n(x[0]) - n(x[1])), 32));
    check("mad.hi.sat.s32", |x| {
        bits(clamp(((n(x[0]) * n(x[1])) >> 32) + n(x[2])), 32)
    });
    check("min.relu.s32", |x| bits(n(x[0]).min(n(x[1])).max(0), 32));
    check("max.relu.s32", |x| bits(n(x[0]).max(n(x[1])).max(0), 32));
}

#[test]
fn products_of_24_bits() {
    for (ty, s) in [("u32", false), ("s32", true)] {
        let product = |x: &[u64]| number(x[0], 24, s) * number(x[1], 24, s);
        check(&format!("mul24.lo.{ty}"), |x| bits(product(x), 32));
        check(&format!("mul24.hi.{ty}"), |x| bits(product(x) >> 16, 32));
        check(&format!("mad24.lo.{ty}"), |x| {
            bits(product(x) + i128::from(x[2]), 32)
        });
        check(&format!("mad24.hi.{ty}"), |x| {
            bits((product(x) >> 16) + i128::from(x[2]), 32)
        });
    }
    check("mad24.hi.sat.s32", |x| {
        let product = number(x[0], 24, true) * number(x[1], 24, true);
        bits(
            clamp(number(bits(product >> 16, 32), 32, true) + number(x[2], 32, true)),
            32,
        )
    });
}

#[test]
fn dot_products() {
    let part = |x: u64, i: usize, w: u32, s: bool| number(x >> (i as u32 * w), w, s);
    for (a, sa) in [("u32", false), ("s32", true)] {
        for (b, sb) in [("u32", false), ("s32", true)] {
            check(&format!("dp4a.{a}.{b}"), |x| {
                let sum: i128 = (0..4)
                    .map(|i| part(x[0], i, 8, sa) * part(x[1], i, 8, sb))
                    .sum();
                bits(sum + i128::from(x[2]), 32)
            });
            for (mode, first) in [("lo", 0), ("hi", 2)] {
                check(&format!("dp2a.{mode}.{a}.{b}"), |x| {
                    let sum: i128 = (0..2)
                        .map(|i| part(x[0], i, 16, sa) * part(x[1], first + i, 8, sb))
                        .sum();
                    bits(sum + i128::from(x[2]), 32)
                });
            }
        }
    }
}

#[test]
fn halves() {
    for (ty, s) in [("u16x2", false), ("s16x2", true)] {
        let both = |x: &[u64], f: &dyn Fn(i128, i128) -> i128| {
            [0, 16].into_iter().fold(0, |d, at| {
                let result = f(number(x[0] >> at, 16, s), number(x[1] >> at, 16, s));
                d | bits(result, 16) << at
            })
        };
        check(&format!("add.{ty}"), |x| both(x, &|a, b| a + b));
        check(&format!("min.{ty}"), |x| both(x, &|a, b| a.min(b)));
        check(&format!("max.{ty}"), |x| both(x, &|a, b| a.max(b)));
        if s {
            check("min.relu.s16x2", |x| both(x, &|a, b| a.min(b).max(0)));
            check("max.relu.s16x2", |x| both(x, &|a, b| a.max(b).max(0)));
        }
    }
}

#[test]
fn carries() {
    for (ty, w) in [("u32", 32u32), ("s32", 32), ("u64", 64), ("s64", 64)] {
        for (name, sign) in [("add", 1), ("sub", -1)] {
            for (suffix, reads) in [(".cc", false), ("c.cc", true), ("c", true)] {
                let name = format!("{name}{suffix}.{ty}");
                let alu = alu(&name);
                assert!(matches!(
                    alu.kind,
                    Kind::Carry { reads: r, writes: w, .. } if r == reads && w == name.contains("cc.")
                ));
                check_carry(&alu, |x, carry| {
                    let carry = i128::from(carry && reads);
                    let sum = i128::from(x[0]) + sign * (i128::from(x[1]) + carry);
                    (bits(sum, w), sum >> w != 0)
                });
            }
        }
        for (name, reads) in [("mad", false), ("madc", true)] {
            for half in ["lo", "hi"] {
                let alu = alu(&format!("{name}.{half}.cc.{ty}"));
                check_carry(&alu, |x, carry| {
                    let signed = ty.starts_with('s') && half == "hi";
                    let n = |x: u64| number(x, w, signed);
                    let shift = if half == "hi" { w } else { 0 };
                    let product = match signed {
                        true => (n(x[0]) * n(x[1])) >> shift,
                        false => ((u128::from(x[0]) * u128::from(x[1])) >> shift) as i128,
                    };
                    let half = i128::from(bits(product, w));
                    let sum = half + i128::from(x[2]) + i128::from(carry && reads);
                    (bits(sum, w), sum >> w != 0)
                });
            }
        }
    }
}

fn check_carry(alu: &Alu, oracle: impl Fn(&[u64], bool) -> (u64, bool)) {
    let mut random = Random::new("carry");
    for _ in 0..50 {
        let rows: Vec<Row> = (alu.sources.iter())
            .map(|ty| {
                let mask = u64::MAX >> (64 - ty.bytes().unwrap() * 8);
                [(); LANES].map(|()| random.value(*ty) & mask)
            })
            .collect();
        let carry = random.next() as Mask;
        let (d, out) = run(alu, &rows, carry);
        for lane in 0..LANES {
            let operands: Vec<u64> = rows.iter().map(|row| row[lane]).collect();
            let found = (d[lane], out >> lane & 1 == 1);
            let expected = oracle(&operands, carry >> lane & 1 == 1);
            assert_eq!(found, expected, "{operands:x?}");
        }
    }
}
