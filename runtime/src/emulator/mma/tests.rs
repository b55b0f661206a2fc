//! Products against the fragment formulas of the PTX ISA ("Matrix Fragments for mma.*"), written down independently.

use half::{bf16, f16};

use super::*;
use crate::emulator::alu::tests::Random;

/// (row, column) of element `i` that `lane` holds.
type Formula = fn(lane: usize, i: usize) -> (usize, usize);

/// The formulas of one shape and width: A, B, C. B's rows are K.
struct Ptx {
    shape: &'static str,
    /// Of A and B.
    bits: usize,
    a: Formula,
    b: Formula,
    c: Formula,
}

fn g(lane: usize) -> usize {
    lane >> 2
}
fn t(lane: usize) -> usize {
    lane % 4
}
fn c16x8(lane: usize, i: usize) -> (usize, usize) {
    (
        if i < 2 { g(lane) } else { g(lane) + 8 },
        t(lane) * 2 + (i & 1),
    )
}
fn c8x8(lane: usize, i: usize) -> (usize, usize) {
    (g(lane), t(lane) * 2 + i)
}

const FRAGMENTS: &[Ptx] = &[
    Ptx {
        shape: "m16n8k8",
        bits: 16,
        a: |l, i| (if i < 2 { g(l) } else { g(l) + 8 }, t(l) * 2 + (i & 1)),
        b: |l, i| (t(l) * 2 + i, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k16",
        bits: 16,
        a: |l, i| {
            (
                if i < 2 || (4..6).contains(&i) {
                    g(l)
                } else {
                    g(l) + 8
                },
                t(l) * 2 + (i & 1) + if i >= 4 { 8 } else { 0 },
            )
        },
        b: |l, i| (t(l) * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k4",
        bits: 32,
        a: |l, i| (if i == 0 { g(l) } else { g(l) + 8 }, t(l)),
        b: |l, _| (t(l), g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k8",
        bits: 32,
        a: |l, i| {
            (
                if i == 0 || i == 2 { g(l) } else { g(l) + 8 },
                if i < 2 { t(l) } else { t(l) + 4 },
            )
        },
        b: |l, i| (if i == 0 { t(l) } else { t(l) + 4 }, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m8n8k4",
        bits: 64,
        a: |l, _| (g(l), t(l)),
        b: |l, _| (t(l), g(l)),
        c: c8x8,
    },
    Ptx {
        shape: "m16n8k32",
        bits: 8,
        a: |l, i| {
            (
                if i < 4 || (8..12).contains(&i) {
                    g(l)
                } else {
                    g(l) + 8
                },
                t(l) * 4 + (i & 3) + if i >= 8 { 16 } else { 0 },
            )
        },
        b: |l, i| (t(l) * 4 + (i & 3) + if i >= 4 { 16 } else { 0 }, g(l)),
        c: c16x8,
    },
];

fn bits_of(ty: &str) -> usize {
    match ty {
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// A small integer as an element of a type.
fn encode(ty: &str, x: i64) -> u64 {
    match ty {
        "s4" | "u4" => (x & 15) as u64,
        "s8" | "u8" => (x & 255) as u64,
        "s32" => u64::from(x as u32),
        "f16" => f16::from_f64(x as f64).to_bits().into(),
        "bf16" => bf16::from_f64(x as f64).to_bits().into(),
        "f64" => (x as f64).to_bits(),
        "e4m3" | "e5m2" => {
            let (mantissa, bias) = if ty == "e4m3" { (3, 7) } else { (2, 15) };
            if x == 0 {
                return 0;
            }
            let exponent = x.unsigned_abs().ilog2();
            let fraction = x.unsigned_abs() << mantissa >> exponent & ((1 << mantissa) - 1);
            let sign = if x < 0 { 0x80 } else { 0 };
            sign | u64::from(exponent + bias) << mantissa | fraction
        }
        _ => u64::from((x as f32).to_bits()),
    }
}

/// The rows of registers that hold elements which formulas place.
fn fragment(
    registers: usize,
    ty: &str,
    place: &dyn Fn(usize, usize) -> usize,
    elements: &[u64],
) -> Vec<Row> {
    let (bits, width) = (bits_of(ty), bits_of(ty).max(32));
    let mut rows = vec![[0; LANES]; registers];
    for lane in 0..LANES {
        for i in 0..registers * width / bits {
            rows[i * bits / width][lane] |= elements[place(lane, i)] << (i * bits % width);
        }
    }
    rows
}

/// A product of random matrices of small integers, which every type holds exactly.
fn check(
    name: &str,
    tiles: usize,
    [a_at, b_at, c_at]: [&dyn Fn(usize, usize) -> usize; 3],
    k: usize,
) {
    let modifiers: Vec<_> = name.split('.').collect();
    let mma = Mma::of(&modifiers).unwrap_or_else(|error| panic!("{error}"));
    let [.., d_type, a_type, b_type, c_type] = modifiers[..] else {
        panic!("{name}")
    };
    let m = mma.shape[0];
    assert_eq!(mma.macs(), (m * 8 * k * tiles) as u64, "{name}");
    let mut random = Random::new(name);
    for _ in 0..20 {
        let mut numbers = |ty: &str, count: usize, limit: i64| -> Vec<i64> {
            let low = if ty.starts_with('u') { 0 } else { -limit };
            (0..count)
                .map(|_| low + (random.next() % 8) as i64)
                .collect()
        };
        let a = numbers(a_type, m * k * tiles, 4);
        let b = numbers(b_type, 8 * k * tiles, 4);
        let c = numbers("", m * 8 * tiles, 3);
        let coded = |ty: &str, numbers: &[i64]| -> Vec<u64> {
            numbers.iter().map(|x| encode(ty, *x)).collect()
        };
        let [d_registers, a_registers, b_registers, c_registers] = mma.registers();
        let a_rows = fragment(a_registers, a_type, a_at, &coded(a_type, &a));
        let b_rows = fragment(b_registers, b_type, b_at, &coded(b_type, &b));
        let c_rows = fragment(c_registers, c_type, c_at, &coded(c_type, &c));
        let mut d = c.clone();
        for tile in 0..tiles {
            for (row, column) in (0..m).flat_map(|row| (0..8).map(move |column| (row, column))) {
                d[(tile * m + row) * 8 + column] += (0..k)
                    .map(|i| a[(tile * m + row) * k + i] * b[(tile * k + i) * 8 + column])
                    .sum::<i64>();
            }
        }
        let expected = fragment(d_registers, d_type, c_at, &coded(d_type, &d));
        let mut found = vec![[0; LANES]; d_registers];
        mma.execute(&a_rows, &b_rows, &c_rows, &mut found);
        assert_eq!(found, expected, "{name}");
    }
}

fn check_types(shape: &str, types: &[[&str; 4]]) {
    for [d, a, b, c] in types {
        let ptx = FRAGMENTS
            .iter()
            .find(|ptx| ptx.shape == shape && ptx.bits == bits_of(a))
            .unwrap_or_else(|| panic!("{shape} {a}"));
        let k: usize = shape.split_once('k').unwrap().1.parse().unwrap();
        let a_at = |lane: usize, i: usize| {
            let (row, column) = (ptx.a)(lane, i);
            row * k + column
        };
        let b_at = |lane: usize, i: usize| {
            let (row, column) = (ptx.b)(lane, i);
            row * 8 + column
        };
        let c_at = |lane: usize, i: usize| {
            let (row, column) = (ptx.c)(lane, i);
            row * 8 + column
        };
        check(
            &format!("sync.aligned.{shape}.row.col.{d}.{a}.{b}.{c}"),
            1,
            [&a_at, &b_at, &c_at],
            k,
        );
    }
}

#[test]
fn halves() {
    for shape in ["m16n8k8", "m16n8k16"] {
        check_types(
            shape,
            &[
                ["f32", "f16", "f16", "f32"],
                ["f16", "f16", "f16", "f16"],
                ["f32", "bf16", "bf16", "f32"],
            ],
        );
    }
}

#[test]
fn tf32_and_f64() {
    check_types("m16n8k4", &[["f32", "tf32", "tf32", "f32"]]);
    check_types("m16n8k8", &[["f32", "tf32", "tf32", "f32"]]);
    check_types("m8n8k4", &[["f64", "f64", "f64", "f64"]]);
}
