//! Products of a warpgroup against a plain product, with operands laid out as CuTe's canonical layouts say.

use super::*;
use cute_layout::Layout;

/// A product: types, extents, how A and B lie in shared memory.
#[derive(Clone, Copy)]
struct Product {
    ty: [&'static str; 3],
    n: usize,
    /// 0 for none, else the bytes of the swizzle.
    span: usize,
    /// Along M, along N.
    transpose: [bool; 2],
    in_registers: bool,
    negate: [bool; 2],
    /// Instructions along K.
    steps: usize,
    /// The selector of the metadata of A, which is stored by half then.
    sparse: Option<usize>,
}

const F16: Product = Product {
    ty: ["f32", "f16", "f16"],
    n: 16,
    span: 128,
    transpose: [false; 2],
    in_registers: false,
    negate: [false; 2],
    steps: 2,
    sparse: None,
};

/// A small number as bytes of a type.
fn encode(ty: &str, value: i32) -> Vec<u8> {
    let f8 = |numbers: [u8; 4]| {
        vec![numbers[value.unsigned_abs() as usize] | if value < 0 { 0x80 } else { 0 }]
    };
    match ty {
        "f16" => half::f16::from_f32(value as f32)
            .to_bits()
            .to_le_bytes()
            .to_vec(),
        "bf16" => half::bf16::from_f32(value as f32)
            .to_bits()
            .to_le_bytes()
            .to_vec(),
        // The low bits are not looked at.
        "tf32" => ((value as f32).to_bits() | 0x1abc).to_le_bytes().to_vec(),
        "e4m3" => f8([0, 0x38, 0x40, 0x44]),
        "e5m2" => f8([0, 0x3c, 0x40, 0x42]),
        "u8" => vec![value.unsigned_abs() as u8],
        _ => vec![value as i8 as u8],
    }
}

fn at(text: &str, index: usize) -> usize {
    Layout::parse(text)
        .unwrap()
        .flat()
        .unwrap()
        .at(index as i64) as usize
}

impl Product {
    fn bytes(&self) -> usize {
        encode(self.ty[1], 0).len()
    }

    /// K of one instruction; of bits, bytes of them.
    fn k(&self) -> usize {
        32 / self.bytes()
    }

    /// K of an operand in one instruction, of A that of what is stored.
    fn k_of(&self, operand: usize) -> usize {
        self.k()
            * if operand == 1 && self.sparse.is_some() {
                2
            } else {
                1
            }
    }

    /// Elements of a chunk of A that are stored.
    fn held(&self) -> usize {
        if self.bytes() == 4 { 1 } else { 2 }
    }

    /// The metadata of a chunk of a row: two places, of which the first may be the higher one.
    fn places(&self, row: usize, chunk: usize) -> u32 {
        let number = row * 3 + chunk * 5 + row * chunk;
        if self.held() == 1 {
            return [0b0100, 0b1110][number % 2];
        }
        let places = [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110][number % 6];
        match row % 5 {
            3 => places >> 2 | places << 2 & 15,
            _ => places,
        }
    }

    /// The element of K that an element of A that is stored stands for.
    fn column(&self, row: usize, stored: usize) -> usize {
        let held = self.held();
        let (chunk, element) = (stored / held, stored % held);
        let places = self.places(row, chunk);
        let place = match (held, element) {
            (1, _) => places as usize >> 3,
            (_, 0) => places as usize & 3,
            _ => places as usize >> 2,
        };
        chunk * 2 * held + place
    }

    /// The metadata of each thread in each step; what gives none holds what means nothing (PTX ISA, "Sparse matrix storage" of wgmma).
    fn metadata(&self) -> Vec<u8> {
        let mut words = vec![0x00ff_0300u32; 128 * self.steps];
        let of_row = self.k() / self.held();
        let selector = self.sparse.unwrap_or(0);
        for step in 0..self.steps {
            for row in 0..64 {
                for chunk in 0..of_row {
                    let (first, upper) = (row / 16 * 32 + row % 8 * 4, row / 8 % 2);
                    let (thread, bit) = match self.bytes() {
                        1 => (first + upper + chunk / 8 * 2, chunk % 8 * 4),
                        _ => (first + selector * 2 + chunk / 4, upper * 16 + chunk % 4 * 4),
                    };
                    let word = &mut words[step * 128 + thread];
                    *word = *word & !(15 << bit) | self.places(row, step * of_row + chunk) << bit;
                }
            }
        }
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn is_of_bits(&self) -> bool {
        self.ty[1] == "b1"
    }

    /// The product of two numbers that were seen; of bytes of bits, the number of those that both have.
    fn times(&self, a: i32, b: i32) -> i32 {
        match self.is_of_bits() {
            true => (a as u8 & b as u8).count_ones() as i32,
            false => a * b,
        }
    }

    fn value(&self, operand: usize, row: usize, k: usize) -> i32 {
        let value = (row * 7 + k * 5 + row * k + operand) % 7;
        value as i32 - 3
    }

    /// The value as the type has it.
    fn seen(&self, operand: usize, row: usize, k: usize) -> i32 {
        let value = self.value(operand, row, k);
        let value = if self.ty[1 + operand] == "u8" {
            value.abs()
        } else {
            value
        };
        if self.negate[operand] { -value } else { value }
    }

    /// The canonical layout of an operand in elements (facts of `mma_traits_sm90_gmma.hpp`), and LBO and SBO in bytes.
    fn layout(&self, operand: usize) -> (String, usize, usize) {
        let rows = if operand == 0 { 64 } else { self.n };
        let size = self.bytes();
        let (t, k) = (16 / size, self.k_of(operand) * self.steps);
        let span = self.span / size;
        match (self.transpose[operand], self.span) {
            (false, 0) => {
                // Core matrices of 8 rows by 16 bytes, those of a row after each other.
                let chunks = k / t;
                let text = format!(
                    "((8,{}),({t},{chunks})):(({t},{}),(1,{}))",
                    rows / 8,
                    8 * t * chunks,
                    8 * t
                );
                (text, 128, 128 * chunks)
            }
            (false, _) => {
                let text = format!("((8,{}),{k}):(({span},{}),1)", rows / 8, 8 * span);
                (text, 16, 8 * self.span)
            }
            (true, 0) => {
                let text = format!(
                    "((8,1,{}),(8,{})):((1,8,{}),(8,64))",
                    rows / 8,
                    k / 8,
                    64 * k / 8
                );
                (text, 128, 128 * k / 8)
            }
            (true, _) => {
                let wide = self.span / 16;
                let groups = k / 8;
                let text = format!(
                    "((8,{wide},{}),(8,{groups})):((1,8,{}),({span},{}))",
                    rows / 8 / wide,
                    8 * span * groups,
                    8 * span
                );
                (text, 8 * self.span * groups, 8 * self.span)
            }
        }
    }

    /// Shared memory: A at byte 0, B at byte `middle`.
    fn image(&self, middle: usize) -> Vec<u8> {
        let mut image = vec![0; 2 * middle];
        let bits = self.span.max(16).ilog2() - 4;
        for operand in [0, 1] {
            let rows = if operand == 0 { 64 } else { self.n };
            let (text, ..) = self.layout(operand);
            let layout = Layout::parse(&text).unwrap().flat().unwrap();
            for k in 0..self.k_of(operand) * self.steps {
                for row in 0..rows {
                    let offset = layout.at((row + k * rows) as i64) as usize * self.bytes();
                    let place =
                        operand * middle + (offset ^ ((offset >> 7) & ((1 << bits) - 1)) << 4);
                    let bytes = encode(self.ty[1 + operand], self.value(operand, row, k));
                    image[place..place + bytes.len()].copy_from_slice(&bytes);
                }
            }
        }
        image
    }

    /// Registers of A, by step, thread and register.
    fn registers_of_a(&self) -> Vec<u8> {
        let layout = match self.bytes() {
            2 => "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))",
            4 => "((4,8,4),(2,2)):((64,1,16),(8,256))",
            _ => "((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))",
        };
        let mut all = Vec::new();
        for step in 0..self.steps {
            for thread in 0..128 {
                for value in 0..16 / self.bytes() {
                    let place = at(layout, thread + 128 * value);
                    let (row, k) = (place % 64, place / 64 + step * self.k());
                    all.extend(encode(self.ty[1], self.value(0, row, k)));
                }
            }
        }
        all
    }

    fn registers(&self) -> usize {
        self.n / if self.ty[0] == "f16" { 4 } else { 2 }
    }

    /// The instruction of a step; descriptors are in %s20 and %s21.
    fn instruction(&self, step: usize) -> String {
        let [d, a, b] = self.ty;
        let registers: Vec<String> = (0..self.registers())
            .map(|i| format!("%r{}", 100 + i))
            .collect();
        let mut text = format!("setp.ne.u32 %p5, {step}, 0; ");
        let left = match self.in_registers {
            true => format!("{{%r{0}0, %r{0}1, %r{0}2, %r{0}3}}", 5 + step),
            false => {
                let (_, _, sbo) = self.layout(0);
                text += &format!("add.s64 %s22, %s20, {}; ", self.advance(0, step, sbo));
                "%s22".to_string()
            }
        };
        let (_, _, sbo) = self.layout(1);
        text += &format!("add.s64 %s23, %s21, {}; ", self.advance(1, step, sbo));
        let mut options = String::new();
        if d != "s32" {
            for negate in self.negate {
                options += if negate { ", -1" } else { ", 1" };
            }
        }
        if self.bytes() == 2 {
            if !self.in_registers {
                options += &format!(", {}", u8::from(self.transpose[0]));
            }
            options += &format!(", {}", u8::from(self.transpose[1]));
        }
        let (variant, metadata) = match self.sparse {
            Some(selector) => (".sp", format!("%r{}, {selector}, ", 40 + step)),
            None => ("", String::new()),
        };
        text += &format!(
            "wgmma.mma_async{variant}.sync.aligned.m64n{}k{}.{d}.{a}.{b}{} {{{}}}, {left}, %s23, {metadata}%p5{options};",
            self.n,
            self.k_of(1) * if self.is_of_bits() { 8 } else { 1 },
            if self.is_of_bits() { ".and.popc" } else { "" },
            registers.join(", ")
        );
        text
    }

    /// The step along K, in units of 16 bytes.
    fn advance(&self, operand: usize, step: usize, sbo: usize) -> usize {
        let bytes = match (self.transpose[operand], self.span) {
            (false, 0) => 256 * step,
            (false, _) => 32 * step,
            (true, 0) => 256 * step,
            (true, _) => 2 * sbo * step,
        };
        bytes * self.k_of(operand) / self.k() / 16
    }

    fn descriptor(&self, operand: usize) -> u64 {
        let (_, lbo, sbo) = self.layout(operand);
        let swizzle: u64 = match self.span {
            128 => 1,
            64 => 2,
            32 => 3,
            _ => 0,
        };
        (lbo as u64 >> 4) << 16 | (sbo as u64 >> 4) << 32 | swizzle << 62
    }

    fn middle(&self) -> usize {
        let size = |operand| {
            let (text, ..) = self.layout(operand);
            Layout::parse(&text).unwrap().cosize().unwrap() as usize * self.bytes()
        };
        size(0).max(size(1)).next_multiple_of(1024)
    }

    fn body(&self) -> String {
        let middle = self.middle();
        let products: Vec<String> = (0..self.steps).map(|step| self.instruction(step)).collect();
        let mut loads = String::new();
        if self.in_registers {
            for step in 0..self.steps {
                loads += &format!(
                    "mul.wide.u32 %s6, %r0, 16; add.s64 %s6, %s92, %s6; ld.global.v4.u32 {{%r{0}0, %r{0}1, %r{0}2, %r{0}3}}, [%s6+{1}]; ",
                    5 + step,
                    step * 128 * 16
                );
            }
        }
        if self.sparse.is_some() {
            let input = if self.in_registers { 3 } else { 2 };
            for step in 0..self.steps {
                loads += &format!(
                    "mul.wide.u32 %s6, %r0, 4; add.s64 %s6, %s9{input}, %s6; ld.global.u32 %r{}, [%s6+{}]; ",
                    40 + step,
                    step * 512
                );
            }
        }
        let stores: String = (0..self.registers())
            .map(|i| format!("st.global.u32 [%s7+{}], %r{}; ", 4 * i, 100 + i))
            .collect();
        format!(
            "{loads} mul.lo.u32 %r1, %r0, 16;
            LOOP: setp.ge.u32 %p1, %r1, {}; @%p1 bra DONE; cvt.u64.u32 %s2, %r1; add.s64 %s3, %s90, %s2; add.s64 %s4, %s0, %s2;
            ld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [%s3]; st.shared.v4.u32 [%s4], {{%r2, %r3, %r4, %r5}}; add.u32 %r1, %r1, 2048; bra LOOP;
            DONE: fence.proxy.async.shared::cta; bar.sync 0;
            shr.u64 %s20, %s0, 4; add.s64 %s21, %s0, {middle}; shr.u64 %s21, %s21, 4; mov.b64 %s24, {}; or.b64 %s20, %s20, %s24; mov.b64 %s24, {};
            or.b64 %s21, %s21, %s24;
            wgmma.fence.sync.aligned;
            {}
            wgmma.commit_group.sync.aligned;
            wgmma.wait_group.sync.aligned 0;
            mul.wide.u32 %s7, %r0, {}; add.s64 %s7, %s91, %s7; {stores} ret;",
            2 * middle,
            self.descriptor(0),
            self.descriptor(1),
            products.join("\n"),
            4 * self.registers(),
        )
    }

    fn run(&self) -> Hopper {
        self.with(&self.body())
    }

    fn with(&self, body: &str) -> Hopper {
        let middle = self.middle();
        let mut run = hopper(body)
            .input(self.image(middle))
            .output(128 * 4 * self.registers())
            .block(128)
            .smem(2 * middle as u32);
        if self.in_registers {
            run = run.input(self.registers_of_a());
        }
        if self.sparse.is_some() {
            run = run.input(self.metadata());
        }
        run
    }

    /// Runs it and compares every accumulator.
    fn check(&self) {
        let run = self.run();
        let ran = run.seeded(3);
        assert_eq!(ran.findings, [], "{:#?}", ran.findings);
        let found = words(&ran.tensors[1]);
        let layout = format!("((4,8,4),(2,2,{})):((128,1,16),(64,8,512))", self.n / 8);
        let layout = Layout::parse(&layout).unwrap().flat().unwrap();
        for thread in 0..128 {
            for value in 0..self.n / 2 {
                let place = layout.at((thread + 128 * value) as i64) as usize;
                let (row, column) = (place % 64, place / 64);
                let all = 0..self.k() * self.steps;
                let expected: i32 = all
                    .map(|k| {
                        let of_b = match self.sparse {
                            Some(_) => self.column(row, k),
                            None => k,
                        };
                        self.times(self.seen(0, row, k), self.seen(1, column, of_b))
                    })
                    .sum();
                let got = match self.ty[0] {
                    "f32" => f32::from_bits(found[thread * self.registers() + value]) as i32,
                    "f16" => {
                        let word = found[thread * self.registers() + value / 2];
                        half::f16::from_bits((word >> (value % 2 * 16)) as u16).to_f32() as i32
                    }
                    _ => found[thread * self.registers() + value] as i32,
                };
                assert_eq!(got, expected, "({row},{column})");
            }
        }
    }
}

#[test]
fn every_swizzle_and_major_multiplies() {
    for span in [0, 32, 64, 128] {
        for transpose in [[false; 2], [true, false], [false, true], [true, true]] {
            // A row of the pattern along K holds so many steps.
            let steps = if span == 32 || span == 0 { 1 } else { 2 };
            let product = Product {
                span,
                transpose,
                n: 64,
                steps,
                ..F16
            };
            product.check();
        }
    }
    Product {
        span: 0,
        n: 24,
        steps: 3,
        ..F16
    }
    .check();
    Product {
        span: 128,
        n: 256,
        steps: 4,
        ..F16
    }
    .check();
}

#[test]
fn every_type_multiplies() {
    for (ty, in_registers) in [
        (["f16", "f16", "f16"], true),
        (["f32", "f16", "f16"], true),
        (["f32", "bf16", "bf16"], false),
        (["f32", "tf32", "tf32"], false),
        (["f32", "tf32", "tf32"], true),
        (["f32", "e4m3", "e5m2"], false),
        (["f16", "e5m2", "e4m3"], true),
        (["s32", "s8", "u8"], false),
        (["s32", "u8", "s8"], true),
        (["s32", "b1", "b1"], false),
        (["s32", "b1", "b1"], true),
    ] {
        for n in [8, 48] {
            Product {
                ty,
                in_registers,
                n,
                ..F16
            }
            .check();
        }
    }
    let negate = [true, false];
    Product { negate, ..F16 }.check();
    Product {
        negate: [true, true],
        ty: ["f32", "e4m3", "e4m3"],
        ..F16
    }
    .check();
}

#[test]
fn sparse_products_are_those_of_what_the_metadata_spread() {
    for (ty, selectors) in [
        (["f32", "f16", "f16"], 2),
        (["f16", "f16", "f16"], 2),
        (["f32", "bf16", "bf16"], 2),
        (["f32", "tf32", "tf32"], 2),
        (["f32", "e4m3", "e5m2"], 1),
        (["f16", "e5m2", "e5m2"], 1),
        (["s32", "s8", "u8"], 1),
        (["s32", "u8", "s8"], 1),
    ] {
        for selector in 0..selectors {
            for in_registers in [false, true] {
                let sparse = Some(selector);
                Product {
                    ty,
                    sparse,
                    in_registers,
                    ..F16
                }
                .check();
            }
        }
    }
    for span in [0, 64, 128] {
        for transpose in [[false; 2], [true, false], [false, true], [true, true]] {
            let steps = if span == 128 { 2 } else { 1 };
            Product {
                span,
                transpose,
                steps,
                n: 64,
                sparse: Some(1),
                ..F16
            }
            .check();
        }
    }
    // Along N a row is no longer than the pattern.
    Product {
        span: 32,
        transpose: [false, true],
        steps: 1,
        sparse: Some(0),
        ..F16
    }
    .check();
    Product {
        negate: [true, false],
        sparse: Some(0),
        ..F16
    }
    .check();
}

#[test]
fn sparse_products_that_mean_nothing_are_found() {
    let product = Product {
        sparse: Some(1),
        steps: 1,
        ..F16
    };
    let found = |product: &Product, body: &str| {
        let findings = product.with(body).seeded(0).findings;
        let [first, ..] = findings.as_slice() else {
            panic!("nothing is found")
        };
        (first.kind, first.to_string())
    };
    let body = product.body();
    let at_once = body.replace("wgmma.fence", "mov.b32 %r40, 0x55555555; wgmma.fence");
    let (kind, text) = found(&product, &at_once);
    assert_eq!(kind, Kind::Undefined);
    assert!(
        text.contains("found 0b0101 for chunk 0 of row 0, from lane 2"),
        "{text}"
    );
    // The lanes that the selector names have to have written it, and no others.
    for (lane, is_found) in [(1, false), (2, true)] {
        let lanes = format!(
            "and.b32 %r41, %r0, 3; setp.ne.u32 %p6, %r41, {lane}; @%p6 ld.global.u32 %r40,"
        );
        let text = body.replace("ld.global.u32 %r40,", &lanes);
        let findings = product.with(&text).seeded(0).findings;
        assert_eq!(!findings.is_empty(), is_found, "{findings:#?}");
        assert!(
            findings
                .iter()
                .all(|finding| finding.kind == Kind::UninitializedRegister)
        );
    }
    let narrow = Product {
        span: 32,
        ..product
    };
    let (kind, text) = found(&narrow, &narrow.body());
    assert_eq!(kind, Kind::Undefined);
    assert!(
        text.contains("rows of 64 bytes along K within the pattern of a swizzle, found one of 32"),
        "{text}"
    );
}

#[test]
fn sparse_products_that_ptxas_refuses_are_refused() {
    let of = |product: Product, from: &str, to: &str| {
        let body = product.body().replace(from, to);
        product.with(&body).decoded().unwrap_err()
    };
    let product = Product {
        sparse: Some(1),
        steps: 1,
        ..F16
    };
    for (from, to, says) in [
        (
            "%r40, 1, %p5",
            "%r40, 2, %p5",
            "expected a number below 2 as the sparsity selector of wgmma.mma_async.sp",
        ),
        (
            "%r40, 1, %p5",
            "%r40, %r41, %p5",
            "expected a number below 2",
        ),
        (
            "%r40, 1, %p5",
            "%s40, 1, %p5",
            "expected a register of 32 bits, found %s40",
        ),
        (
            "%s23, %r40, 1, %p5, 1, 1, 0, 0",
            "%s23",
            "expected D, A, B, metadata, a sparsity selector and scale-d",
        ),
        ("k32.", "k16.", "K of 32 bytes (.sp: of 64)"),
        (
            "_async.sp.",
            "_async.sp::ordered_metadata.",
            "expected `.sync`",
        ),
    ] {
        let found = of(product, from, to);
        assert!(found.contains(says), "{to}: {found}");
    }
    let bytes = Product {
        ty: ["s32", "s8", "s8"],
        sparse: Some(0),
        ..product
    };
    let found = of(bytes, "%r40, 0,", "%r40, 1,");
    assert!(found.contains("expected a number below 1 as"), "{found}");
}

#[test]
fn integers_saturate_if_asked() {
    let product = Product {
        ty: ["s32", "s8", "s8"],
        steps: 1,
        n: 8,
        ..F16
    };
    let run = |saturate: &str| {
        let body = product
            .body()
            .replace("wgmma.fence", "mov.u32 %r100, 0x7fffffff; mov.u32 %r101, 0; mov.u32 %r102, 0; mov.u32 %r103, 0; wgmma.fence")
            .replace("setp.ne.u32 %p5, 0, 0", "setp.eq.u32 %p5, 0, 0")
            .replace("s32.s8.s8", &format!("s32.s8.s8{saturate}"));
        words(&product.with(&body).clean(1))
    };
    let (wraps, saturates) = (run(""), run(".satfinite"));
    assert!(wraps.iter().step_by(4).any(|&x| (x as i32) < 0));
    assert!(saturates.iter().step_by(4).all(|&x| x as i32 > 0));
}

fn changed(from: &str, to: &str) -> Hopper {
    let body = F16.body();
    assert!(body.contains(from), "{body}");
    F16.with(&body.replace(from, to))
}

#[test]
fn what_is_not_fenced_is_found() {
    changed("wgmma.fence.sync.aligned;", "").finds(Kind::MissingFence, "wgmma.fence");
    changed("fence.proxy.async.shared::cta;", "").finds(Kind::MissingFence, "fence.proxy.async");
    // An accumulator that is set after the fence.
    changed(
        "wgmma.fence.sync.aligned;",
        "wgmma.fence.sync.aligned; mov.u32 %r100, 0;",
    )
    .finds(Kind::MissingFence, "touched since the last wgmma.fence");
    // A fence by the thread that knows of all writes is one, too.
    let run = changed(
        "fence.proxy.async.shared::cta; bar.sync 0;",
        "bar.sync 0; fence.proxy.async;",
    );
    assert_eq!(run.kinds(), []);
}

#[test]
fn what_is_not_waited_for_is_found() {
    let wait = "wgmma.wait_group.sync.aligned 0;";
    changed(wait, "").finds(
        Kind::MissingWait,
        "reads an accumulator of a wgmma that is under way",
    );
    changed(wait, "wgmma.wait_group.sync.aligned 1;").finds(Kind::MissingWait, "an accumulator");
    changed("wgmma.commit_group.sync.aligned;", "").finds(Kind::MissingWait, "is in no group");
    let (_, stores) = F16
        .body()
        .split_once(wait)
        .map(|(a, b)| (a.len(), b.to_string()))
        .unwrap();
    changed(&format!("{wait}{stores}"), "ret;")
        .finds(Kind::MissingWait, "ends while this wgmma is under way");
}

#[test]
fn shared_operands_are_locked_until_the_wait() {
    let wait = "wgmma.wait_group.sync.aligned 0;";
    let write = "mul.wide.u32 %s40, %r0, 16; add.s64 %s40, %s0, %s40; st.shared.u32 [%s40], %r0;";
    changed(wait, &format!("{write} {wait}"))
        .finds(Kind::MissingWait, "wgmma of warps 0 to 3 may still read");
    let after = changed(wait, &format!("{wait} bar.sync 0; {write}"));
    assert_eq!(after.kinds(), []);
}

#[test]
fn registers_of_a_are_locked_for_writes() {
    let product = Product {
        in_registers: true,
        ..F16
    };
    let wait = "wgmma.wait_group.sync.aligned 0;";
    let run = |extra: &str| {
        let body = product.body().replace(wait, &format!("{extra} {wait}"));
        product.with(&body)
    };
    run("add.u32 %r50, %r0, 1;").finds(Kind::MissingWait, "writes a register of A");
    assert_eq!(run("add.u32 %r90, %r50, 1;").kinds(), []);
    // Another name is no access.
    assert_eq!(run("mov.b32 %r90, %r100;").kinds(), []);
    run("mov.b32 %r90, %r100; add.u32 %r91, %r90, 1;")
        .finds(Kind::MissingWait, "reads an accumulator");
}

#[test]
fn all_four_warps_issue_the_same() {
    changed(
        "wgmma.fence",
        "setp.ge.u32 %p9, %r0, 32; @%p9 add.s64 %s20, %s20, 2; wgmma.fence",
    )
    .finds(Kind::Undefined, "the same descriptors");
    changed(
        "wgmma.fence",
        "setp.eq.u32 %p9, %r0, 5; @%p9 add.s64 %s20, %s20, 2; wgmma.fence",
    )
    .finds(Kind::Undefined, "one matrix descriptor in all threads");
    F16.run()
        .block(96)
        .finds(Kind::BarrierDivergence, "wgmma needs four warps");
    changed(
        "wgmma.fence",
        "setp.ge.u32 %p9, %r0, 96; @%p9 bra LEAVE; wgmma.fence",
    )
    .body_then("ret;", "LEAVE: ret;")
    .finds(
        Kind::Deadlock,
        "other warps of the warpgroup have not issued",
    );
    // Nobody waits, so that the end finds it.
    let left = "setp.ge.u32 %p9, %r0, 96; @%p9 bra LEAVE; wgmma.fence";
    let body = F16
        .body()
        .replace("wgmma.fence", left)
        .replace("ret;", "LEAVE: ret;");
    F16.with(&body.replace("wgmma.wait_group.sync.aligned 0;", "bar.sync 1, 96;"))
        .finds(Kind::BarrierDivergence, "as many wgmma from the four warps");
}

impl Hopper {
    fn body_then(mut self, from: &str, to: &str) -> Hopper {
        self.body = self.body.replace(from, to);
        self
    }
}

#[test]
fn descriptors_are_checked() {
    // 128 bytes past the start of a pattern.
    changed("wgmma.fence", "add.s64 %s20, %s20, 8; wgmma.fence")
        .finds(Kind::Undefined, "a multiple of 1024 bytes");
    changed("wgmma.fence", "or.b64 %s20, %s20, 0x4000; wgmma.fence")
        .finds(Kind::Undefined, "bits 0x4000 that mean nothing");
    changed("wgmma.fence", "or.b64 %s20, %s20, 0x2000; wgmma.fence")
        .finds(Kind::OutOfBounds, "outside of shared memory");
}

#[test]
fn shapes_and_types_are_checked() {
    let refused = |from: &str, to: &str| {
        let body = F16.body().replace(from, to);
        F16.with(&body).decoded().unwrap_err()
    };
    for shape in ["m64n12k16", "m64n264k16", "m64n16k8", "m128n16k16"] {
        let error = refused("m64n16k16", shape);
        assert!(error.contains("N a multiple of 8"), "{error}");
    }
    assert!(refused("f32.f16.f16", "f16.bf16.bf16").contains("types of D, A and B"));
    assert!(refused("m64n16k16.f32.f16.f16", "m64n40k32.s32.s8.s8").contains("N a multiple of 8"));
    assert!(refused("%p5, 1, 1, 0, 0", "%p5, 1, 2, 0, 0").contains("1 or -1 as imm-scale-b"));
    assert!(refused("%p5, 1, 1, 0, 0", "%p5, 1, 1, 0").contains("0 or 1 as imm-trans-b"));
    assert!(refused("%p5, 1, 1, 0, 0", "%p5, 1, 1, 0, 0, 0").contains("no more operands"));
    assert!(
        refused("wait_group.sync.aligned 0", "wait_group.sync.aligned 8").contains("from 0 to 7")
    );
}
