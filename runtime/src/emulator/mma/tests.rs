//! Products against the fragment formulas of the PTX ISA ("Matrix Fragments for mma.*"), written down independently.

use half::{bf16, f16};
use rand_core::RngCore;

use super::matrix::Rows;
use super::*;
use crate::tensor::SplitMix;

/// Numbers that look random, others for each name.
fn random(name: &str) -> SplitMix {
    SplitMix(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    }))
}

/// (row, column) of element `i` that `lane` holds.
type Formula = fn(lane: usize, i: usize) -> (usize, usize);

/// The formulas of one shape and width: A, B, C. B's rows are K.
struct Ptx {
    shape: &'static str,
    /// Bits of an element of A and B.
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
        shape: "m16n8k4",
        bits: 64,
        a: |l, i| (if i == 0 { g(l) } else { g(l) + 8 }, t(l)),
        b: |l, _| (t(l), g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k8",
        bits: 64,
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
        shape: "m16n8k16",
        bits: 64,
        a: |l, i| (if i % 2 == 0 { g(l) } else { g(l) + 8 }, i / 2 * 4 + t(l)),
        b: |l, i| (t(l) + 4 * i, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m8n8k16",
        bits: 8,
        a: |l, i| (g(l), t(l) * 4 + i),
        b: |l, i| (t(l) * 4 + i, g(l)),
        c: c8x8,
    },
    Ptx {
        shape: "m16n8k16",
        bits: 8,
        a: |l, i| (if i < 4 { g(l) } else { g(l) + 8 }, t(l) * 4 + (i & 3)),
        b: |l, i| (t(l) * 4 + i, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m8n8k32",
        bits: 4,
        a: |l, i| (g(l), t(l) * 8 + i),
        b: |l, i| (t(l) * 8 + i, g(l)),
        c: c8x8,
    },
    Ptx {
        shape: "m16n8k32",
        bits: 4,
        a: |l, i| (if i < 8 { g(l) } else { g(l) + 8 }, t(l) * 8 + (i & 7)),
        b: |l, i| (t(l) * 8 + i, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k64",
        bits: 4,
        a: |l, i| {
            (
                if i < 8 || (16..24).contains(&i) {
                    g(l)
                } else {
                    g(l) + 8
                },
                t(l) * 8 + (i & 7) + if i >= 16 { 32 } else { 0 },
            )
        },
        b: |l, i| (t(l) * 8 + (i & 7) + if i >= 8 { 32 } else { 0 }, g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m8n8k128",
        bits: 1,
        a: |l, i| (g(l), t(l) * 32 + (i & 31)),
        b: |l, i| (t(l) * 32 + (i & 31), g(l)),
        c: c8x8,
    },
    Ptx {
        shape: "m16n8k128",
        bits: 1,
        a: |l, i| (if i < 32 { g(l) } else { g(l) + 8 }, t(l) * 32 + (i & 31)),
        b: |l, i| (t(l) * 32 + (i & 31), g(l)),
        c: c16x8,
    },
    Ptx {
        shape: "m16n8k256",
        bits: 1,
        a: |l, i| {
            (
                if i < 32 || (64..96).contains(&i) {
                    g(l)
                } else {
                    g(l) + 8
                },
                t(l) * 32 + (i & 31) + if i >= 64 { 128 } else { 0 },
            )
        },
        b: |l, i| (t(l) * 32 + (i & 31) + if i >= 32 { 128 } else { 0 }, g(l)),
        c: c16x8,
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
        "b1" => 1,
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
        "b1" => (x & 1) as u64,
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
    [a_at, b_at, c_at, d_at]: [&dyn Fn(usize, usize) -> usize; 4],
    k: usize,
) {
    let modifiers: Vec<_> = name.split('.').collect();
    let mma = Mma::of(&modifiers).unwrap_or_else(|error| panic!("{error}"));
    let op = modifiers
        .iter()
        .position(|word| ["xor", "and"].contains(word));
    let types = &modifiers[..op.unwrap_or(modifiers.len())];
    let [.., d_type, a_type, b_type, c_type] = *types else {
        panic!("{name}")
    };
    let times = |a: i64, b: i64| match op.map(|at| modifiers[at]) {
        Some("xor") => a ^ b,
        Some(_) => a & b,
        None => a * b,
    };
    let m = mma.shape[0];
    assert_eq!(mma.macs(), (m * 8 * k * tiles) as u64, "{name}");
    let mut random = random(name);
    for _ in 0..20 {
        let mut numbers = |ty: &str, count: usize, limit: i64| -> Vec<i64> {
            let (low, different) = match ty {
                "b1" => (0, 2),
                _ if ty.starts_with('u') => (0, 8),
                _ => (-limit, 8),
            };
            (0..count)
                .map(|_| low + (random.next_u64() % different) as i64)
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
                    .map(|i| times(a[(tile * m + row) * k + i], b[(tile * k + i) * 8 + column]))
                    .sum::<i64>();
            }
        }
        let expected = fragment(d_registers, d_type, d_at, &coded(d_type, &d));
        let mut found = vec![[0; LANES]; d_registers];
        mma.execute(&a_rows, &b_rows, &c_rows, &mut found);
        assert_eq!(found, expected, "{name}");
    }
}

fn check_types(shape: &str, types: &[[&str; 4]]) {
    check_products(shape, types, "");
}

/// The same, with words behind the types.
fn check_products(shape: &str, types: &[[&str; 4]], behind: &str) {
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
            &format!("sync.aligned.{shape}.row.col.{d}.{a}.{b}.{c}{behind}"),
            1,
            [&a_at, &b_at, &c_at, &c_at],
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
    for shape in ["m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"] {
        check_types(shape, &[["f64", "f64", "f64", "f64"]]);
    }
}

#[test]
fn small_integers_and_floats() {
    for [a, b] in [["s8", "s8"], ["s8", "u8"], ["u8", "s8"], ["u8", "u8"]] {
        for shape in ["m8n8k16", "m16n8k16", "m16n8k32"] {
            check_types(shape, &[["s32", a, b, "s32"]]);
        }
    }
    for [a, b] in [["s4", "s4"], ["s4", "u4"], ["u4", "s4"], ["u4", "u4"]] {
        for shape in ["m8n8k32", "m16n8k32", "m16n8k64"] {
            check_types(shape, &[["s32", a, b, "s32"]]);
        }
    }
    for shape in ["m8n8k128", "m16n8k128", "m16n8k256"] {
        for op in [".xor.popc", ".and.popc"] {
            check_products(shape, &[["s32", "b1", "b1", "s32"]], op);
        }
    }
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            for shape in ["m16n8k16", "m16n8k32"] {
                check_types(shape, &[["f32", a, b, "f32"], ["f16", a, b, "f16"]]);
            }
        }
    }
}

/// Four products; that of a quad pair is in lanes 4 q to 4 q + 3 and those 16 further.
#[test]
fn quad_pairs() {
    for (of_c, of_a, of_b) in (0..8).map(|i| (i & 1, i & 2, i & 4)) {
        let (ty, a_layout, b_layout) = (
            ["f16", "f32"][of_c],
            if of_a == 0 { "row" } else { "col" },
            if of_b == 0 { "row" } else { "col" },
        );
        let tile = |lane: usize| lane % 16 / 4;
        // Of the operand's index that is not K's.
        let line = |lane: usize| lane % 4 + if lane < 16 { 0 } else { 4 };
        let part = |lane: usize, i: usize| i + if lane < 16 { 0 } else { 4 };
        let a_at = |lane: usize, i: usize| {
            let (row, k) = match a_layout {
                "row" => (line(lane), i),
                _ => (part(lane, i), lane % 4),
            };
            (tile(lane) * 8 + row) * 4 + k
        };
        let b_at = |lane: usize, i: usize| {
            let (k, column) = match b_layout {
                "row" => (lane % 4, part(lane, i)),
                _ => (i, line(lane)),
            };
            (tile(lane) * 4 + k) * 8 + column
        };
        let of_halves = |lane: usize, i: usize| (tile(lane) * 8 + line(lane)) * 8 + i;
        let of_words = |lane: usize, i: usize| {
            let row = (lane & 1) + (i & 2) + if lane < 16 { 0 } else { 4 };
            (tile(lane) * 8 + row) * 8 + (i & 4) + (lane & 2) + (i & 1)
        };
        let layouts = format!("sync.aligned.m8n8k4.{a_layout}.{b_layout}");
        let alike: &dyn Fn(usize, usize) -> usize = match ty {
            "f16" => &of_halves,
            _ => &of_words,
        };
        let name = format!("{layouts}.{ty}.f16.f16.{ty}");
        check(&name, 4, [&a_at, &b_at, alike, alike], 4);
        let name = format!("{layouts}.f32.f16.f16.f16");
        check(&name, 4, [&a_at, &b_at, &of_halves, &of_words], 4);
    }
}

fn all(mma: &Mma, [a, b, c]: [u64; 3]) -> u64 {
    let [d_count, a_count, b_count, c_count] = mma.registers();
    let rows = |count: usize, x: u64| vec![[x; LANES]; count];
    let mut d = rows(d_count, 0);
    mma.execute(
        &rows(a_count, a),
        &rows(b_count, b),
        &rows(c_count, c),
        &mut d,
    );
    assert!(d.iter().flatten().all(|x| *x == d[0][0]));
    d[0][0]
}

fn mma(name: &str) -> Mma {
    Mma::of(&name.split('.').collect::<Vec<_>>()).unwrap()
}

#[test]
fn integers_wrap_or_saturate() {
    let name = |how: &str| format!("sync.aligned.m16n8k32.row.col{how}.s32.s8.s8.s32");
    let ones = 0x0101_0101;
    let large = 0x7fff_fff0;
    assert_eq!(all(&mma(&name("")), [ones, ones, large]), 0x8000_0010);
    assert_eq!(
        all(&mma(&name(".satfinite")), [ones, ones, large]),
        0x7fff_ffff
    );
    let minus = 0xffff_ffff;
    let small = 0x8000_0010;
    assert_eq!(all(&mma(&name("")), [ones, minus, small]), 0x7fff_fff0);
    assert_eq!(
        all(&mma(&name(".satfinite")), [ones, minus, small]),
        0x8000_0000
    );
}

#[test]
fn floats_are_rounded_once_and_nans_are_the_gpus() {
    let half = mma("sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    let f16 = |x: f64| u64::from(f16::from_f64(x).to_bits()) * 0x1_0001;
    // 2^24 + 16 / 8: each eighth would be lost.
    assert_eq!(all(&half, [f16(0.125), f16(1.0), 0x4b80_0000]), 0x4b80_0001);
    assert_eq!(all(&half, [f16(f64::INFINITY), f16(0.0), 0]), 0x7fff_ffff);
    assert_eq!(
        all(&half, [f16(f64::NEG_INFINITY), f16(1.0), 0]),
        0xff80_0000
    );
    // The smallest numbers of f16 are not zeros.
    assert_eq!(
        all(&half, [0x1_0001, f16(1.0), 0]),
        u64::from((2f32.powi(-20)).to_bits())
    );
    let narrow = mma("sync.aligned.m16n8k16.row.col.f16.f16.f16.f16");
    assert_eq!(all(&narrow, [f16(60000.0), f16(2.0), 0]), 0x7c00_7c00);
    assert_eq!(all(&narrow, [f16(f64::NAN), f16(2.0), 0]), 0x7fff_7fff);
    // Bits of a register that tf32 does not have.
    let tf32 = mma("sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32");
    assert_eq!(all(&tf32, [0x3f80_1fff, 0x3f80_1fff, 0]), 0x4100_0000);
    let double = mma("sync.aligned.m8n8k4.row.col.f64.f64.f64.f64");
    // (1 + e)(1 - e) = 1 - e^2, which only a fused product has; after -4 + 1 + 1 + 1 it is seen.
    let (a, b) = (1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
    let found = all(&double, [a.to_bits(), b.to_bits(), (-4f64).to_bits()]);
    assert_eq!(f64::from_bits(found), -(f64::EPSILON * f64::EPSILON));
}

#[test]
fn what_is_not_known_is_an_error() {
    for name in [
        "sync.aligned.m16n8k16.row.col.f32.f16.f16",
        "sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
        "sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
        "sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
        "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.f32",
        "sync.aligned.m8n8k4.row.col.f32.bf16.bf16.f32",
        "sync.aligned.m17n8k16.row.col.f32.f16.f16.f32",
        "sync.aligned.mxnykz.row.col.f32.f16.f16.f32",
        "sync.m16n8k16.row.col.f32.f16.f16.f32",
        "sync.aligned.m16n8k256.row.col.s32.b1.b1.s32",
        "sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.or.popc",
        "sync.aligned.m16n8k256.row.col.satfinite.s32.b1.b1.s32.xor.popc",
        "sync.aligned.m16n8k64.row.col.s32.s4.s4.s32.xor.popc",
        "sync.aligned.m16n8k64.row.col.s32.b1.b1.s32.xor.popc",
        "",
    ] {
        let error = Mma::of(&name.split('.').collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.instruction, format!("mma.{name}"));
    }
}

#[test]
fn missing_registers_are_zeros() {
    let half = mma("sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    let mut d = vec![[1; LANES]; 2];
    half.execute(&[], &[], &[], &mut d);
    assert_eq!(d, [[0; LANES]; 2]);
}

fn random_rows(random: &mut SplitMix) -> Rows {
    [(); LANES].map(|()| [(); 16].map(|()| random.next_u64() as u8))
}

/// PTX: row r of matrix i comes from the address of lane 8 i + r, and lanes 4 r to 4 r + 3 hold it.
#[test]
fn matrices_lie_as_in_the_ptx_isa() {
    let mut random = random("ldmatrix");
    for count in [1, 2, 4] {
        for transposed in [false, true] {
            let trans = if transposed { ".trans" } else { "" };
            let name = format!("sync.aligned.m8n8.x{count}{trans}.shared.b16");
            let modifiers: Vec<_> = name.split('.').collect();
            let matrices = Matrices::of("ldmatrix", &modifiers).unwrap();
            assert_eq!(matrices.lanes(), 8 * count);
            let rows = random_rows(&mut random);
            let mut d = [[0xdead; LANES]; 4];
            matrices.load(&rows, &mut d);
            for (i, register) in d.iter().enumerate() {
                for (lane, found) in register.iter().enumerate() {
                    let element = |k: usize| {
                        let (row, column) = match transposed {
                            false => (lane / 4, lane % 4 * 2 + k),
                            true => (lane % 4 * 2 + k, lane / 4),
                        };
                        let bytes = &rows[8 * i + row][2 * column..];
                        u64::from(bytes[0]) | u64::from(bytes[1]) << 8
                    };
                    let expected = match i < count {
                        true => element(0) | element(1) << 16,
                        false => 0xdead,
                    };
                    assert_eq!(*found, expected, "{name} register {i} lane {lane}");
                }
            }
            // What stmatrix writes, ldmatrix has read.
            let mut written = random_rows(&mut random);
            let untouched = written;
            matrices.store(&d, &mut written);
            assert_eq!(written[..8 * count], rows[..8 * count]);
            assert_eq!(written[8 * count..], untouched[8 * count..]);
        }
    }
}

/// The copy atoms say the same: (thread, bit) of a register is the bit of the whole that the destination's layout names.
#[test]
fn matrices_lie_as_copy_atoms_say() {
    let mut random = random("copy atoms");
    for (count, transposed) in [1, 2, 4].into_iter().flat_map(|n| [(n, false), (n, true)]) {
        let atom = cute_layout::CopyAtom::ldmatrix(count as i64, transposed, 16).unwrap();
        let [source, to] = [&atom.src_bits, &atom.dst_bits].map(|l| l.flat().unwrap());
        let rows = random_rows(&mut random);
        // The bits that each address gives, in the place that the source's layout gives them.
        let mut bits = vec![false; 1024 * count];
        for (lane, row) in rows.iter().enumerate().take(8 * count) {
            for bit in 0..128 {
                let at = source.at((lane + LANES * bit) as i64) as usize;
                bits[at] = row[bit / 8] >> (bit % 8) & 1 == 1;
            }
        }
        let mut expected = vec![[0u64; LANES]; count];
        for (register, row) in expected.iter_mut().enumerate() {
            for (lane, value) in row.iter_mut().enumerate() {
                for bit in 0..32 {
                    let at = to.at((lane + LANES * (register * 32 + bit)) as i64) as usize;
                    *value |= u64::from(bits[at]) << bit;
                }
            }
        }
        let matrices = Matrices {
            count,
            transposed,
            shared: true,
        };
        let mut found = vec![[0; LANES]; count];
        matrices.load(&rows, &mut found);
        assert_eq!(found, expected, "{}", atom.name);
    }
}

#[test]
fn movmatrix_transposes() {
    let element = |row: usize, column: usize| (row * 8 + column) as u64;
    let at = |lane: usize, k: usize| (lane / 4, lane % 4 * 2 + k);
    let pack = |low: u64, high: u64| low | high << 16;
    let mut a = [0; LANES];
    let mut expected = [0; LANES];
    for lane in 0..LANES {
        let [(r0, c0), (r1, c1)] = [at(lane, 0), at(lane, 1)];
        a[lane] = pack(element(r0, c0), element(r1, c1));
        expected[lane] = pack(element(c0, r0), element(c1, r1));
    }
    let mut d = [0; LANES];
    transpose(&mut d, &a);
    assert_eq!(d, expected);
}

#[test]
fn forms_of_ldmatrix_that_are_not_known_are_errors() {
    for name in [
        "sync.aligned.m8n8.x3.shared.b16",
        "sync.aligned.m8n8.x4.shared.trans.b16",
        "sync.aligned.m16n16.x1.trans.shared.b8",
        "sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64",
        "sync.aligned.m8n8.x4.shared",
        "sync.aligned.m8n8.x4.global.b16",
    ] {
        let modifiers: Vec<_> = name.split('.').collect();
        assert!(Matrices::of("ldmatrix", &modifiers).is_err(), "{name}");
    }
}
