//! Kernels: their instructions, registers and inputs. All that they do is defined, and the same in every order of threads.

use super::program::Program;
use super::registers::{self, E, F, H, P, R, S, THREADS, WORDS_IN};
use super::table::ROWS;
use super::warp;
use crate::random::Random;
use std::fmt::Write;

/// Words at which something may change, as integers or as numbers of 32 or twice 16 bits.
const ODD: [u32; 24] = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xffff_fffe,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0x0000_0400,
    0x007f_ffff,
    0x7f7f_ffff,
    0x3c00_bc00,
    0x7c00_fc01,
    0x4f00_0000,
];

/// Instructions that are never guarded: ptxas 13.0 forgets the guard, or a part of it (docs/fuzzing.md).
const UNGUARDED: [&str; 2] = ["testp.", "set."];

/// The words that a kernel reads: some odd ones, numbers of common size, and any.
pub fn inputs(seed: u64, index: u64) -> Vec<u32> {
    let mut random = Random::of(seed ^ 0x5eed, index);
    let word = |_| match random.below(4) {
        0 => *random.pick(&ODD),
        1 => ((random.range(-4000, 4000) as f32) / 16.0).to_bits(),
        2 => random.below(256) as u32,
        _ => random.next() as u32,
    };
    (0..WORDS_IN).map(word).collect()
}

/// Tells whether a kernel diverges: those of odd numbers do.
pub fn diverges(index: u64) -> bool {
    index % 2 == 1
}

/// The kernel of that number.
pub fn kernel(seed: u64, index: u64) -> Program {
    let mut text = Text {
        program: Program::default(),
        random: Random::of(seed, index),
        labels: 0,
        counters: 0,
        masks: 0,
        mask: None,
    };
    registers::fill(&mut text.program, &mut text.random);
    if diverges(index) {
        text.mask = Some(0);
        text.step("mov.b32 %m0, -1");
        text.block(0, 40);
    } else {
        for _ in 0..60 + text.random.below(60) {
            text.instruction();
        }
    }
    registers::store(&mut text.program);
    text.program
}

struct Text {
    program: Program,
    random: Random,
    labels: usize,
    /// Registers that a loop counts with.
    counters: usize,
    /// Registers with masks.
    masks: usize,
    /// The register that holds which lanes of the warp are here; none where all are.
    mask: Option<usize>,
}

impl Text {
    fn plain(&mut self, line: impl Into<String>) {
        self.program.plain(line);
    }

    fn step(&mut self, line: impl Into<String>) {
        self.program.step(line);
    }

    /// Instructions, branches and loops, nested. Each part knows which lanes of the warp are in it.
    fn block(&mut self, depth: usize, length: usize) {
        for _ in 0..length {
            match self.random.below(12) {
                0 | 1 if depth < 4 => self.branch(depth, length),
                2 if depth < 3 => self.turns(depth, length),
                _ => self.instruction(),
            }
        }
    }

    fn branch(&mut self, depth: usize, length: usize) {
        let (p, label) = (self.random.below(P), self.label());
        // By what the thread computed, by its place, or by its parity.
        match self.random.below(4) {
            0 => {
                let bound = self.random.below(THREADS as usize);
                self.step(format!("setp.lt.u32 %p{p}, %a0, {bound}"));
            }
            1 => {
                let bits = 1 << self.random.below(6);
                self.step(format!("and.b32 %a5, %a0, {bits}"));
                self.step(format!("setp.ne.u32 %p{p}, %a5, 0"));
            }
            _ => {}
        }
        let outer = self.mask;
        let around = outer.unwrap_or(0);
        let (there, here) = (self.mask(), self.mask());
        self.step(format!("vote.sync.ballot.b32 %m{there}, %p{p}, %m{around}"));
        self.step(format!("xor.b32 %m{here}, %m{there}, %m{around}"));
        self.plain(format!("@%p{p} bra ELSE{label};"));
        self.mask = Some(here);
        self.block(depth + 1, length / 3);
        if self.random.chance(50) {
            self.plain(format!("bra END{label};\nELSE{label}:"));
            self.mask = Some(there);
            self.block(depth + 1, length / 3);
            self.plain(format!("END{label}:"));
        } else {
            self.plain(format!("ELSE{label}:"));
        }
        self.mask = outer;
    }

    /// A loop, around which each thread goes as often as its own register says, up to seven times.
    fn turns(&mut self, depth: usize, length: usize) {
        let (r, label) = (self.random.below(R), self.label());
        let outer = self.mask;
        let around = outer.unwrap_or(0);
        let count = self.counters;
        self.counters += 1;
        let inside = self.mask();
        self.step(format!("and.b32 %i{count}, %r{r}, 7"));
        self.step(format!("mov.b32 %m{inside}, %m{around}"));
        self.plain(format!("LOOP{label}:"));
        self.mask = Some(inside);
        self.block(depth + 1, length / 4);
        self.step(format!("sub.s32 %i{count}, %i{count}, 1"));
        self.step(format!("setp.gt.s32 %q0, %i{count}, 0"));
        self.step(format!("vote.sync.ballot.b32 %m{inside}, %q0, %m{inside}"));
        self.plain(format!("@%q0 bra LOOP{label};"));
        self.mask = outer;
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn mask(&mut self) -> usize {
        self.masks += 1;
        self.masks
    }

    fn instruction(&mut self) {
        let guard = match self.random.below(8) {
            0 => format!("@%p{} ", self.random.below(P)),
            1 => format!("@!%p{} ", self.random.below(P)),
            _ => String::new(),
        };
        match self.random.below(20) {
            0 | 1 => return self.memory(&guard),
            2 => {
                let mask = self.mask.map(|mask| format!("%m{mask}"));
                return warp::emit(&mut self.program, &mut self.random, mask.as_deref());
            }
            3 => return self.carry(),
            _ => {}
        }
        let row = *self.random.pick(ROWS);
        let mut words = row.split(' ');
        let name = words.next().unwrap_or_default();
        let guard = if UNGUARDED.iter().any(|one| name.starts_with(one)) {
            ""
        } else {
            guard.as_str()
        };
        let mut line = format!("{guard}{name}");
        let mut rest = Vec::new();
        for (at, kind) in words.enumerate() {
            let operand = self.operand(kind);
            // The first one is written, whatever its kind.
            let _ = write!(line, "{} {operand}", if at == 0 { "" } else { "," });
            if at == 0 {
                rest = decide(kind, &operand);
            }
        }
        rest.insert(0, line);
        self.program.together(rest);
    }

    fn operand(&mut self, kind: &str) -> String {
        let random = &mut self.random;
        match kind {
            "r" | "T" => format!("%r{}", random.below(R)),
            "s" => format!("%s{}", random.below(S)),
            "f" | "F" => format!("%f{}", random.below(F)),
            "e" | "E" => format!("%e{}", random.below(E)),
            "h" => format!("%h{}", random.below(H)),
            "p" => format!("%p{}", random.below(P)),
            "i" => format!("{}", *random.pick(&ODD) as i32),
            "n" => random.below(64).to_string(),
            "m" => random.below(32).to_string(),
            "b" => self.byte("%a5"),
            "c" => self.byte("%a6"),
            "#f" => {
                let register = format!("%f{}", random.below(F));
                self.program
                    .together(without_nan("f32", "f32", &register, "0f3F800000"));
                register
            }
            "/r" => self.divisor(("b32", "r", "%a5"), R),
            "/s" => self.divisor(("b64", "s", "%x5"), S),
            other => other.into(),
        }
    }

    /// A register's low byte, in a register that nothing else is in.
    fn byte(&mut self, scratch: &str) -> String {
        let from = self.random.below(R);
        self.step(format!("and.b32 {scratch}, %r{from}, 255"));
        scratch.into()
    }

    /// A divisor that is neither 0 nor -1: one bit is set, and another one is not.
    fn divisor(&mut self, (bits, letter, scratch): (&str, &str, &str), count: usize) -> String {
        let (set, clear) = *self.random.pick(&[(1, -3), (2, -2), (4, -2), (256, -17)]);
        let from = self.random.below(count);
        self.step(format!("or.{bits} {scratch}, %{letter}{from}, {set}"));
        self.step(format!("and.{bits} {scratch}, {scratch}, {clear}"));
        scratch.into()
    }

    /// An access of the thread's own places, of those of another one between barriers, or of the input.
    fn memory(&mut self, guard: &str) {
        let (r, s) = (self.random.below(R), self.random.below(S));
        let (shared, own) = (4 * self.random.below(4), 4 * self.random.below(16));
        let (a, b, c) = ((r + 1) % R, (r + 2) % R, (r + 5) % R);
        let line = match self.random.below(18) {
            0 => format!("st.shared.b32 [%a3+{shared}], %r{r}"),
            1 => format!("ld.shared.b32 %r{r}, [%a3+{shared}]"),
            2 => format!("ld.shared.s8 %r{r}, [%a3+{}]", shared + 1),
            3 => format!("st.shared.b8 [%a3+{}], %r{r}", shared + 3),
            4 => format!("ld.shared.v2.b32 {{%r{r}, %r{a}}}, [%a3+8]"),
            5 => format!("st.local.b32 [%x3+{own}], %r{r}"),
            6 => format!("ld.local.s16 %r{r}, [%x3+{}]", own + 2),
            7 => format!("ld.local.b64 %s{s}, [%x3+{}]", own / 8 * 8),
            8 => format!("atom.shared.cas.b32 %r{r}, [%a3+{shared}], %r{a}, %r{b}"),
            9 => format!("red.shared.max.s32 [%a3+{shared}], %r{r}"),
            10..15 => {
                let name = self.random.pick(&[
                    "add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "inc.u32",
                    "dec.u32", "exch.b32",
                ]);
                format!("atom.shared.{name} %r{r}, [%a3+{shared}], %r{c}")
            }
            // All threads come to barriers that are in no branch and no loop.
            15 if self.mask.unwrap_or(0) == 0 => {
                self.plain("bar.sync 0;");
                self.step(format!("ld.shared.b32 %r{r}, [%a7+{shared}]"));
                return self.plain("bar.sync 0;");
            }
            _ => {
                let bytes = 4 * (WORDS_IN - 1);
                self.step(format!("and.b32 %a5, %r{r}, {bytes}"));
                self.plain("mul.wide.u32 %x5, %a5, 1;\nadd.s64 %x5, %x0, %x5;");
                format!("ld.global.b32 %r{}, [%x5]", (r + 3) % R)
            }
        };
        self.step(format!("{guard}{line}"));
    }

    /// Sums or differences with a carry, which follow each other: a borrow is no carry.
    fn carry(&mut self) {
        let (wide, count) = *self.random.pick(&[("u32", R), ("s32", R), ("u64", S)]);
        let letter = if count == R { 'r' } else { 's' };
        let (first, next, sources) = *self.random.pick(&[
            ("add", "addc", 2),
            ("sub", "subc", 2),
            ("mad.lo", "madc.hi", 3),
            ("mad.hi", "addc", 3),
            ("add", "madc.lo", 2),
        ]);
        let start = self.random.below(count);
        let length = 2 + self.random.below(2);
        let mut lines = Vec::new();
        for at in 0..length {
            let name = if at == 0 { first } else { next };
            let flag = if at + 1 < length { ".cc" } else { "" };
            let sources = match name {
                "madc.hi" | "madc.lo" => 3,
                "addc" | "subc" => 2,
                _ => sources,
            };
            let mut line = format!("{name}{flag}.{wide} %{letter}{}", (start + at) % count);
            for _ in 0..sources {
                let _ = write!(line, ", %{letter}{}", self.random.below(count));
            }
            lines.push(line);
        }
        self.program.together(lines);
    }
}

/// The lines that put another number in the place of a NaN in a register.
fn without_nan(ty: &str, bits: &str, register: &str, other: &str) -> Vec<String> {
    vec![
        format!("testp.notanumber.{ty} %q1, {register}"),
        format!("@%q1 mov.{bits} {register}, {other}"),
    ]
}

/// The lines that decide what PTX leaves open of a result, such as the bits of a NaN.
fn decide(kind: &str, result: &str) -> Vec<String> {
    let nan = |ty: &str, bits: &str, nan: &str| without_nan(ty, bits, result, nan);
    match kind {
        "E" => nan("f64", "f64", "0dFFF8000000000000"),
        "F" => nan("f32", "f32", "0f7FFFFFFF"),
        // The 13 low bits of a tf32 are nobody's.
        "T" => {
            let mut lines = nan("f32", "b32", "0x7fffe000");
            lines.insert(0, format!("and.b32 {result}, {result}, 0xffffe000"));
            lines
        }
        _ => Vec::new(),
    }
}
