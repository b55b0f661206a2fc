//! `mma.sp` against dense products of the matrix that A and its metadata stand for.
//!
//! The places of elements and metadata are those of the PTX ISA ("Matrix fragments for sparse mma"), written down independently.

use cute_runtime::emulator::Kind;
use half::{bf16, f16};

use super::random::SplitMix;
use super::{Ran, kernel};

/// A product: shape, types and variant.
#[derive(Clone, Copy)]
struct Case {
    ordered: bool,
    k: usize,
    /// D, A, B, C.
    types: [&'static str; 4],
    saturate: bool,
    selector: usize,
}

fn bits(ty: &str) -> usize {
    match ty {
        "s4" | "u4" => 4,
        "s8" | "u8" | "e4m3" | "e5m2" => 8,
        "f16" | "bf16" => 16,
        _ => 32,
    }
}

/// A small integer as an element of a type.
fn encode(ty: &str, x: i64) -> u32 {
    match ty {
        "s4" | "u4" => (x & 15) as u32,
        "s8" | "u8" => (x & 255) as u32,
        "s32" => x as u32,
        "f16" => f16::from_f64(x as f64).to_bits().into(),
        "bf16" => bf16::from_f64(x as f64).to_bits().into(),
        // These have the high bits of the format of 16 bits that they are the half of.
        "e5m2" => u32::from(f16::from_f64(x as f64).to_bits()) >> 8,
        "e4m3" => match x {
            0 => 0,
            x => {
                let exponent = x.unsigned_abs().ilog2();
                let fraction = (x.unsigned_abs() << 3 >> exponent) as u32 & 7;
                (if x < 0 { 0x80 } else { 0 }) | (exponent + 7) << 3 | fraction
            }
        },
        _ => (x as f32).to_bits(),
    }
}

/// Elements that A holds of a chunk, and all of them.
fn chunk(ty: &str) -> (usize, usize) {
    match bits(ty) {
        32 => (1, 2),
        4 => (4, 8),
        _ => (2, 4),
    }
}

/// The lane that gives the metadata of a chunk, and the lowest of the four bits.
fn metadata_at(case: &Case, row: usize, chunk: usize) -> (usize, usize) {
    let (group, upper) = (row % 8, row / 8);
    if bits(case.types[1]) >= 16 {
        // A lane has 16 bits of row `group` and 16 of the row 8 below, for four chunks.
        let lanes = case.k / self::chunk(case.types[1]).1 / 4;
        (
            group * 4 + case.selector * lanes + chunk / 4,
            upper * 16 + chunk % 4 * 4,
        )
    } else {
        // A lane has 32 bits of one row, for eight chunks.
        let chunks = case.k / self::chunk(case.types[1]).1;
        let lanes = 2 * chunks / 8;
        (
            group * 4 + case.selector * lanes + upper + chunk / 8 * 2,
            chunk % 8 * 4,
        )
    }
}

/// The registers of the four operands, and what D should be.
struct Operands {
    a: Vec<i64>,
    b: Vec<i64>,
    c: Vec<i64>,
    metadata: Vec<i64>,
    d: Vec<i64>,
}

/// Puts elements into registers: `at(lane, register, place)` is the index of one.
fn registers(
    ty: &str,
    count: usize,
    elements: &[i64],
    at: impl Fn(usize, usize, usize) -> usize,
) -> Vec<i64> {
    let each = 32 / bits(ty);
    let mut words = vec![0; 32 * count];
    for (index, word) in words.iter_mut().enumerate() {
        let (lane, register) = (index / count, index % count);
        let mut bits_of = 0u32;
        for place in 0..each {
            bits_of |= encode(ty, elements[at(lane, register, place)]) << (place * bits(ty));
        }
        *word = i64::from(bits_of as i32);
    }
    words
}

impl Case {
    fn counts(&self) -> [usize; 4] {
        let [d, a, b, c] = self.types;
        let of_sums = |ty: &str| 16 * 8 * bits(ty) / 32 / 32;
        [
            of_sums(d),
            16 * self.k / 2 * bits(a) / 32 / 32,
            8 * self.k * bits(b) / 32 / 32,
            of_sums(c),
        ]
    }

    /// Random matrices; what A does not hold is zero.
    fn operands(&self, numbers: &mut SplitMix) -> Operands {
        let [of_d, of_a, of_b, of_c] = self.types;
        let (held, all) = chunk(of_a);
        let mut draw = |ty: &str| match ty.starts_with('u') {
            true => numbers.below(8) as i64,
            false => numbers.below(8) as i64 - 4,
        };
        let half = self.k / 2;
        let stored: Vec<i64> = (0..16 * half).map(|_| draw(of_a)).collect();
        let b: Vec<i64> = (0..self.k * 8).map(|_| draw(of_b)).collect();
        let c: Vec<i64> = (0..16 * 8).map(|_| draw("s")).collect();
        // Lanes that give no metadata hold what means nothing.
        let mut metadata = [0x0300_0003u32; 32];
        let mut dense = vec![0; 16 * self.k];
        for row in 0..16 {
            for chunk in 0..self.k / all {
                let (lane, bit) = metadata_at(self, row, chunk);
                let (mut low, mut high) = loop {
                    let (low, high) = (numbers.below(4) as usize, numbers.below(4) as usize);
                    if low != high {
                        break (low, high);
                    }
                };
                if self.ordered && low > high {
                    (low, high) = (high, low);
                }
                if held == 1 {
                    let second = low % 2;
                    (low, high) = (2 * second, 2 * second + 1);
                }
                let places = (low | high << 2) as u32;
                metadata[lane] = metadata[lane] & !(15 << bit) | places << bit;
                for element in 0..held {
                    let column = match held {
                        1 => low / 2,
                        2 => [low, high][element],
                        _ => [low, high][element / 2] * 2 + element % 2,
                    };
                    dense[row * self.k + chunk * all + column] =
                        stored[row * half + chunk * held + element];
                }
            }
        }
        let mut d = c.clone();
        for (index, d) in d.iter_mut().enumerate() {
            let (row, column) = (index / 8, index % 8);
            *d += (0..self.k)
                .map(|k| dense[row * self.k + k] * b[k * 8 + column])
                .sum::<i64>();
        }
        let [d_count, a_count, b_count, c_count] = self.counts();
        let each = 32 / bits(of_a);
        let sums = |ty: &str, count: usize, elements: &[i64]| {
            let packed = bits(ty) == 16;
            registers(ty, count, elements, |lane, register, place| {
                let (row, column) = match packed {
                    true => (register, place),
                    false => (register / 2, register % 2),
                };
                (lane / 4 + row * 8) * 8 + lane % 4 * 2 + column
            })
        };
        Operands {
            a: registers(of_a, a_count, &stored, |lane, register, place| {
                let row = lane / 4 + register % 2 * 8;
                row * half + lane % 4 * each + place + register / 2 * 4 * each
            }),
            b: registers(of_b, b_count, &b, |lane, register, place| {
                (lane % 4 * each + place + register * 4 * each) * 8 + lane / 4
            }),
            c: sums(of_c, c_count, &c),
            metadata: metadata
                .iter()
                .map(|word| i64::from(*word as i32))
                .collect(),
            d: sums(of_d, d_count, &d),
        }
    }

    fn instruction(&self) -> String {
        let list = |first: usize, count: usize| {
            let names: Vec<String> = (first..first + count).map(|at| format!("%r{at}")).collect();
            format!("{{{}}}", names.join(", "))
        };
        let [d, a, b, c] = self.counts();
        let [of_d, of_a, of_b, of_c] = self.types;
        let (k, selector) = (self.k, self.selector);
        let variant = if self.ordered {
            "sp::ordered_metadata"
        } else {
            "sp"
        };
        let saturate = if self.saturate { ".satfinite" } else { "" };
        format!(
            "mma.{variant}.sync.aligned.m16n8k{k}.row.col{saturate}.{of_d}.{of_a}.{of_b}.{of_c} {}, {}, {}, {}, %r50, {selector};",
            list(40, d),
            list(10, a),
            list(20, b),
            list(30, c)
        )
    }

    fn run(&self, operands: &Operands) -> Ran {
        let counts = self.counts();
        let mut body = String::from("mov.u32 %r1, %tid.x;\n");
        let lists = [
            (0, 10, counts[1]),
            (1, 20, counts[2]),
            (2, 30, counts[3]),
            (3, 50, 1),
        ];
        for (input, first, count) in lists {
            body += &format!(
                "mul.wide.u32 %s1, %r1, {}; add.u64 %s1, %s1, %s9{input};\n",
                4 * count
            );
            for register in 0..count {
                body += &format!(
                    "ld.global.u32 %r{}, [%s1+{}];\n",
                    first + register,
                    4 * register
                );
            }
        }
        body += &self.instruction();
        body += &format!(
            "\nmul.wide.u32 %s1, %r1, {}; add.u64 %s1, %s1, %s94;\n",
            4 * counts[0]
        );
        for register in 0..counts[0] {
            body += &format!(
                "st.global.u32 [%s1+{}], %r{};\n",
                4 * register,
                40 + register
            );
        }
        kernel(&body)
            .input(operands.a.iter().copied())
            .input(operands.b.iter().copied())
            .input(operands.c.iter().copied())
            .input(operands.metadata.iter().copied())
            .output(32 * counts[0])
            .run()
    }
}

/// Each shape with its types and the selectors that it has.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |ks: [(usize, usize); 2], types: [&'static str; 4]| {
        for (k, selectors) in ks {
            for selector in 0..selectors {
                for ordered in [false, true] {
                    let saturate = types[0] == "s32" && selector == 0 && ordered;
                    cases.push(Case {
                        ordered,
                        k,
                        types,
                        saturate,
                        selector,
                    });
                }
            }
        }
    };
    add([(16, 4), (32, 2)], ["f32", "f16", "f16", "f32"]);
    add([(16, 4), (32, 2)], ["f16", "f16", "f16", "f16"]);
    add([(16, 4), (32, 2)], ["f32", "bf16", "bf16", "f32"]);
    add([(8, 4), (16, 2)], ["f32", "tf32", "tf32", "f32"]);
    for (a, b) in [("s8", "s8"), ("s8", "u8"), ("u8", "s8"), ("u8", "u8")] {
        add([(32, 2), (64, 1)], ["s32", a, b, "s32"]);
    }
    for (a, b) in [("s4", "s4"), ("s4", "u4"), ("u4", "s4"), ("u4", "u4")] {
        add([(64, 2), (128, 1)], ["s32", a, b, "s32"]);
    }
    for a in ["e4m3", "e5m2"] {
        for b in ["e4m3", "e5m2"] {
            add([(64, 1), (64, 0)], ["f32", a, b, "f32"]);
        }
    }
    cases
}

#[test]
fn products_are_those_of_the_matrix_that_the_metadata_spread() {
    let mut numbers = SplitMix(19);
    for case in cases() {
        let operands = case.operands(&mut numbers);
        let found = case.run(&operands).clean(4);
        assert_eq!(found, operands.d, "{}", case.instruction());
    }
}

const HALVES: Case = Case {
    ordered: true,
    k: 16,
    types: ["f32", "f16", "f16", "f32"],
    saturate: false,
    selector: 1,
};

/// What is found where the metadata of a chunk are these, of a product whose A holds these there.
fn with_places(case: Case, places: u32, held: [f32; 2]) -> Vec<String> {
    let mut operands = case.operands(&mut SplitMix(7));
    let (lane, bit) = metadata_at(&case, 11, 2);
    let word = operands.metadata[lane] as u32 & !(15 << bit) | places << bit;
    operands.metadata[lane] = i64::from(word as i32);
    // The third chunk of row 11: lane 14 holds its two elements in its second register.
    let word = encode("f16", held[1] as i64) << 16 | encode("f16", held[0] as i64);
    if case.types[1] == "f16" {
        operands.a[14 * 2 + 1] = i64::from(word as i32);
    }
    let findings = case.run(&operands).report.findings;
    findings
        .iter()
        .map(|finding| {
            assert_eq!(finding.kind, Kind::Undefined);
            finding.to_string()
        })
        .collect()
}

#[test]
fn metadata_that_mean_nothing_are_found() {
    let unordered = Case {
        ordered: false,
        ..HALVES
    };
    for places in 0..16 {
        let (low, high) = (places & 3, places >> 2);
        let found = with_places(HALVES, places, [1.0, 2.0]);
        assert_eq!(found.is_empty(), low < high, "{places:#06b}");
        if let [found] = found.as_slice() {
            assert!(
                found.contains(&format!(
                    "found {places:#06b} for chunk 2 of row 11, from lane 13"
                )),
                "{found}"
            );
        }
        // Without an order, two places are wrong if they are one, unless there is but one number to put there.
        let found = with_places(unordered, places, [1.0, 2.0]);
        assert_eq!(found.is_empty(), low != high, "{places:#06b}");
        assert_eq!(with_places(unordered, places, [0.0, 2.0]).len(), 0);
        for ordered in [false, true] {
            let case = Case {
                ordered,
                k: 8,
                types: ["f32", "tf32", "tf32", "f32"],
                ..HALVES
            };
            let found = with_places(case, places, [1.0, 1.0]);
            assert_eq!(found.is_empty(), places == 0b0100 || places == 0b1110);
        }
    }
}

#[test]
fn a_selector_without_meaning_is_found() {
    let case = Case { k: 32, ..HALVES };
    let operands = case.operands(&mut SplitMix(3));
    // ptxas takes 2 and 3 of this product, and of no other.
    let case = Case {
        selector: 3,
        ..case
    };
    let findings = case.run(&operands).report.findings;
    let [finding] = findings.as_slice() else {
        panic!("{findings:#?}")
    };
    assert_eq!(finding.kind, Kind::Undefined);
    assert!(
        finding
            .to_string()
            .contains("a sparsity selector of at most 1"),
        "{finding}"
    );
}

#[test]
fn a_product_counts_what_it_multiplies() {
    let operands = HALVES.operands(&mut SplitMix(1));
    let report = HALVES.run(&operands).report;
    assert_eq!(report.launches[0].multiply_adds, 16 * 8 * 8);
}

#[test]
fn metadata_that_nobody_wrote_are_found_in_the_lanes_that_give_them() {
    let start =
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 1; mov.b32 %r3, 0;\n";
    let product = |selector: usize| {
        format!(
            "{start}@%p1 mov.b32 %r50, 0x44444444;\n\
             mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f0,%f1,%f2,%f3}}, {{%r3,%r3}}, {{%r3,%r3}}, {{%r3,%r3,%r3,%r3}}, %r50, {selector};"
        )
    };
    assert_eq!(kernel(&product(1)).run().report.findings, []);
    assert_eq!(
        kernel(&product(2)).run().kinds(),
        [(Kind::UninitializedRegister, 2)]
    );
}

#[test]
fn what_ptxas_refuses_of_sparse_products_is_refused() {
    let of = |name: &str, selector: &str| {
        let body = format!(
            "mma.{name} {{%f0,%f1,%f2,%f3}}, {{%r3,%r3}}, {{%r3,%r3}}, {{%f3,%f3,%f3,%f3}}, {selector};"
        );
        kernel(&body).refused()
    };
    let halves = "sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    for (name, selector, expected) in [
        (
            halves,
            "%r3, 4",
            "expected a number below 4 as the sparsity selector",
        ),
        (
            halves,
            "%r3, %r3",
            "expected a number below 4 as the sparsity selector",
        ),
        (
            "sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
            "%r3, 2",
            "expected a number below 2",
        ),
        (
            halves,
            "%s3, 0",
            "expected a register of 32 bits, found %s3 of 64",
        ),
        (halves, "0", "expected D, A, B and C after mma.sp"),
        (
            "sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
            "%r3, 0",
            "a shape with types and layouts that mma.sp has",
        ),
        (
            "sp.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
            "%r3, 0",
            "a shape with types and layouts that mma.sp has",
        ),
        (
            "sp.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
            "%r3, 0",
            "a shape with types and layouts that mma.sp has",
        ),
        (
            "sp.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
            "%r3, 0",
            "a shape with types and layouts that mma.sp has",
        ),
        (
            "sp.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
            "%r3, 0",
            "a shape with types and layouts that mma.sp has",
        ),
        (
            "sp::ordered.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            "%r3, 0",
            "expected `.sp` or `.sp::ordered_metadata`",
        ),
        (
            "sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
            "%r3, 0",
            "found `.kind::f8f6f4`",
        ),
        (
            "sp.sync.aligned.16x8.row.col.f32.f16.f16.f32",
            "%r3, 0",
            "a shape such as `.m16n8k32`",
        ),
    ] {
        let found = of(name, selector);
        assert!(
            found.contains("PTX line 8: ") && found.contains(expected),
            "{name}: {found}"
        );
    }
}
