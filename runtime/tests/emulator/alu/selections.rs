use super::oracle::{BF16, F16, F32, F64, Float, Number};
use super::*;

/// Tells whether a comparison holds for an order; none is that of NaN.
fn holds(compare: &str, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering::*;
    let (base, unordered) = match compare {
        "num" => return order.is_some(),
        "nan" => return order.is_none(),
        "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" => (&compare[..2], true),
        _ => (compare, false),
    };
    let Some(order) = order else {
        return unordered;
    };
    match base {
        "eq" => order == Equal,
        "ne" => order != Equal,
        "lt" | "lo" => order == Less,
        "le" | "ls" => order != Greater,
        "gt" | "hi" => order == Greater,
        "ge" | "hs" => order != Less,
        _ => panic!("{base}"),
    }
}

fn float_order(float: Float, a: u64, b: u64) -> Option<std::cmp::Ordering> {
    let (a, b) = (float.read(a), float.read(b));
    if matches!(a, Number::Nan) || matches!(b, Number::Nan) {
        return None;
    }
    let value = |x: &Number| match x {
        Number::Infinite { negative: true } => (-1, 0.into(), 1.into()),
        Number::Infinite { .. } => (1, 0.into(), 1.into()),
        Number::Fraction { above, below } => (0, above.clone(), below.clone()),
        _ => (0, 0.into(), 1.into()),
    };
    let ((ia, aa, ba), (ib, ab, bb)) = (value(&a), value(&b));
    let order: std::cmp::Ordering = ia.cmp(&ib);
    Some(order.then((aa * bb).cmp(&(ab * ba))))
}

/// Tries a comparison, on the row itself and on equal operands.
fn check_test(name: &str, oracle: impl Fn(u64, u64) -> bool) {
    let alu = alu(name);
    let width = alu.sources[0].bytes().unwrap() * 8;
    let cut = |x: u64| x & u64::MAX >> (64 - width);
    let mut random = Random::new(name);
    for round in 0..50 {
        let a = [(); LANES].map(|()| random.value(alu.sources[0]));
        let b = match round % 5 {
            0 => a,
            _ => [(); LANES].map(|()| random.value(alu.sources[1])),
        };
        let c = random.next() as Mask;
        let (_, found) = run(&alu, &[a, b], c);
        for lane in 0..LANES {
            let t = oracle(cut(a[lane]), cut(b[lane]));
            let c = c >> lane & 1 == 1;
            let expected = match name.split('.').nth(2) {
                Some("and") => t & c,
                Some("or") => t | c,
                Some("xor") => t ^ c,
                _ => t,
            };
            let found = found >> lane & 1 == 1;
            assert_eq!(found, expected, "{name} {:x} {:x}", a[lane], b[lane]);
        }
    }
}

#[test]
fn comparisons_of_integers() {
    for width in [16u32, 32, 64] {
        let signed = |x: u64| (x as i64) << (64 - width) >> (64 - width);
        for compare in ["eq", "ne", "lt", "le", "gt", "ge"] {
            for logic in ["", ".and", ".or", ".xor"] {
                check_test(&format!("setp.{compare}{logic}.u{width}"), |a, b| {
                    holds(compare, Some(a.cmp(&b)))
                });
                check_test(&format!("setp.{compare}{logic}.s{width}"), |a, b| {
                    holds(compare, Some(signed(a).cmp(&signed(b))))
                });
            }
        }
        for compare in ["lo", "ls", "hi", "hs"] {
            check_test(&format!("setp.{compare}.u{width}"), |a, b| {
                holds(compare, Some(a.cmp(&b)))
            });
        }
        for compare in ["eq", "ne"] {
            check_test(&format!("setp.{compare}.b{width}"), |a, b| {
                holds(compare, Some(a.cmp(&b)))
            });
        }
    }
}

const FLOAT_COMPARES: [&str; 14] = [
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
];

#[test]
fn comparisons_of_floats() {
    for compare in FLOAT_COMPARES {
        for float in [F16, BF16, F32, F64] {
            check_test(&format!("setp.{compare}.{}", float.name), |a, b| {
                holds(compare, float_order(float, a, b))
            });
        }
        for (float, ty) in [(F32, "f32"), (F16, "f16")] {
            check_test(&format!("setp.{compare}.and.ftz.{ty}"), |a, b| {
                holds(compare, float_order(float, float.flush(a), float.flush(b)))
            });
        }
        for (float, ty) in [(F16, "f16x2"), (BF16, "bf16x2")] {
            let alu = alu(&format!("setp.{compare}.{ty}"));
            let Kind::TestPair { test, .. } = alu.kind else {
                panic!("{ty}")
            };
            let mut random = Random::new(compare);
            for _ in 0..50 {
                let a = [(); LANES].map(|()| random.value(alu.sources[0]));
                let b = [(); LANES].map(|()| random.value(alu.sources[0]));
                for (half, mask) in test(&a, &b).into_iter().enumerate() {
                    for lane in 0..LANES {
                        let part = |x: u64| x >> (16 * half) & 0xffff;
                        let expected =
                            holds(compare, float_order(float, part(a[lane]), part(b[lane])));
                        assert_eq!(mask >> lane & 1 == 1, expected);
                    }
                }
            }
        }
    }
}

#[test]
fn sets() {
    for (name, expected) in [
        ("set.lt.u32.s32", 0xffff_ffff),
        ("set.lt.and.f32.f32", 0x3f80_0000),
        ("set.lt.f16.f16", 0x3c00),
        ("set.lt.ftz.s32.f32", 0xffff_ffff),
        ("set.lt.bf16.bf16", 0x3f80),
    ] {
        let Kind::Set { test, combine, yes } = alu(name).kind else {
            panic!("{name}")
        };
        assert_eq!(yes, expected, "{name}");
        assert_eq!(combine.is_some(), name.contains("and"));
        assert_eq!(test(&[0; LANES], &[0x3f80_3c00; LANES]), Mask::MAX);
    }
    let Kind::SetPair { yes, .. } = alu("set.ge.f16x2.f16x2").kind else {
        panic!("no pair")
    };
    assert_eq!(yes, 0x3c00);
}

#[test]
fn selections() {
    let mut random = Random::new("selp");
    for (ty, bits) in [("b16", 16), ("s32", 32), ("f32", 32), ("u64", 64)] {
        let alu = alu(&format!("selp.{ty}"));
        for _ in 0..100 {
            let rows = [(); 2].map(|()| [(); LANES].map(|()| random.next()));
            let mask = random.next() as Mask;
            let (d, _) = run(&alu, &rows, mask);
            for lane in 0..LANES {
                let chosen = rows[1 - (mask >> lane & 1) as usize][lane];
                assert_eq!(d[lane], chosen & u64::MAX >> (64 - bits));
            }
        }
    }
    check(
        "slct.b64.s32",
        |x| if (x[2] as i32) < 0 { x[1] } else { x[0] },
    );
    for (name, ftz) in [("slct.f32.f32", false), ("slct.ftz.u16.f32", true)] {
        check(name, |x| {
            let c = if ftz { F32.flush(x[2]) } else { x[2] };
            if f32::from_bits(c as u32) >= 0.0 {
                x[0]
            } else {
                x[1]
            }
        });
    }
}

#[test]
fn predicates() {
    for (name, f) in [
        ("and.pred", (|a, b| a & b) as fn(Mask, Mask) -> Mask),
        ("or.pred", |a, b| a | b),
        ("xor.pred", |a, b| a ^ b),
        ("not.pred", |a, _| !a),
        ("mov.pred", |a, _| a),
    ] {
        let Kind::Logic(logic) = alu(name).kind else {
            panic!("{name}")
        };
        let (a, b) = (0x1234_5678, 0x8888_ffff);
        assert_eq!(logic(a, b), f(a, b), "{name}");
    }
}
