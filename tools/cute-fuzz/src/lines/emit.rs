//! The text of a kernel.

use super::table::ROWS;
use crate::random::Random;
use std::fmt::Write;

/// The sizes of the launch.
pub const THREADS: u32 = 64;
pub const BLOCKS: u32 = 2;
/// Words that a kernel reads.
pub const WORDS_IN: usize = 2048;

/// Registers of each kind.
const R: usize = 12;
const S: usize = 6;
const F: usize = 8;
const E: usize = 4;
const H: usize = 4;
const P: usize = 4;

/// Words that each thread leaves: all of its registers.
const SLOTS: usize = R + 2 * S + F + 2 * E + H + P;

/// Words of the output.
pub fn words_out() -> usize {
    SLOTS * (THREADS * BLOCKS) as usize
}

/// The slot and the thread of a word of the output.
pub fn place(word: usize) -> (usize, usize) {
    let threads = (THREADS * BLOCKS) as usize;
    (word / threads, word % threads)
}

/// The register that a slot holds.
pub fn slot_name(slot: usize) -> String {
    let kinds = [
        ("r", R, 1),
        ("s", S, 2),
        ("f", F, 1),
        ("e", E, 2),
        ("h", H, 1),
        ("p", P, 1),
    ];
    let mut at = slot;
    for (name, count, words) in kinds {
        if at < count * words {
            return format!("%{name}{}", at / words);
        }
        at -= count * words;
    }
    "no register".into()
}

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

struct Text {
    out: String,
    random: Random,
    labels: usize,
    /// Registers that a loop counts with.
    counters: usize,
}

/// The kernel of that number.
pub fn kernel(seed: u64, index: u64) -> String {
    let mut text = Text {
        out: String::new(),
        random: Random::of(seed, index),
        labels: 0,
        counters: 0,
    };
    text.start();
    match index % 2 {
        0 => {
            for _ in 0..60 + text.random.below(60) {
                text.instruction(true);
            }
        }
        _ => text.block(0, 40),
    }
    let body = std::mem::take(&mut text.out);
    text.end();
    let end = text.out;
    format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to)\n.maxntid {THREADS}, 1, 1\n{{\n\
         .reg .pred %p<{P}>;\n.reg .pred %q<2>;\n.reg .b16 %h<{H}>;\n.reg .b32 %r<{R}>;\n.reg .b32 %a<8>;\n.reg .b32 %i<{}>;\n.reg .f32 %f<{F}>;\n\
         .reg .b64 %s<{S}>;\n.reg .b64 %x<8>;\n.reg .f64 %e<{E}>;\n.shared .align 8 .b8 tile[1024];\n.local .align 8 .b8 own[64];\n\
         {body}{end}}}\n",
        text.counters + 1
    )
}

impl Text {
    fn line(&mut self, line: impl AsRef<str>) {
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    /// Fills all registers, and this thread's places in shared and local memory.
    fn start(&mut self) {
        self.line(
            "mov.u32 %a0, %tid.x;\nmov.u32 %a1, %ctaid.x;\nmad.lo.u32 %a1, %a1, 64, %a0;\nld.param.u64 %x0, [from];\nld.param.u64 %x1, [to];\n\
             cvta.to.global.u64 %x0, %x0;\ncvta.to.global.u64 %x1, %x1;\nmul.lo.u32 %a2, %a1, 64;\nmul.wide.u32 %x2, %a2, 1;\nadd.s64 %x2, %x0, %x2;\n\
             mov.u32 %a3, tile;\nshl.b32 %a4, %a0, 4;\nadd.u32 %a3, %a3, %a4;\nmov.u64 %x3, own;",
        );
        for r in 0..R {
            self.line(format!("ld.global.b32 %r{r}, [%x2+{}];", 4 * r));
        }
        let pick = |random: &mut Random| random.below(R);
        for s in 0..S {
            let (a, b) = (pick(&mut self.random), pick(&mut self.random));
            self.line(format!("mov.b64 %s{s}, {{%r{a}, %r{b}}};"));
        }
        for f in 0..F {
            let a = pick(&mut self.random);
            self.line(format!("mov.b32 %f{f}, %r{a};"));
        }
        for e in 0..E {
            self.line(format!("mov.b64 %e{e}, %s{};", e % S));
        }
        for h in 0..H {
            self.line(format!("cvt.u16.u32 %h{h}, %r{};", h % R));
        }
        for p in 0..P {
            self.line(format!("setp.lt.s32 %p{p}, %r{}, %r{};", p, R - 1 - p));
        }
        for at in 0..4 {
            self.line(format!("st.shared.b32 [%a3+{}], %r{at};", 4 * at));
        }
        for at in 0..16 {
            self.line(format!("st.local.b32 [%x3+{}], %r{};", 4 * at, at % R));
        }
    }

    /// Stores all registers.
    fn end(&mut self) {
        let mut slot = 0;
        let mut store = |text: &mut Text, register: String| {
            let threads = THREADS * BLOCKS;
            text.line(format!(
                "st.global.b32 [%x4+{}], {register};",
                4 * slot * threads
            ));
            slot += 1;
        };
        self.line("mul.wide.u32 %x4, %a1, 4;\nadd.s64 %x4, %x1, %x4;");
        for r in 0..R {
            store(self, format!("%r{r}"));
        }
        for s in 0..S {
            self.line(format!("mov.b64 {{%a5, %a6}}, %s{s};"));
            store(self, "%a5".into());
            store(self, "%a6".into());
        }
        for f in 0..F {
            store(self, format!("%f{f}"));
        }
        for e in 0..E {
            self.line(format!("mov.b64 {{%a5, %a6}}, %e{e};"));
            store(self, "%a5".into());
            store(self, "%a6".into());
        }
        for h in 0..H {
            self.line(format!("cvt.u32.u16 %a5, %h{h};"));
            store(self, "%a5".into());
        }
        for p in 0..P {
            self.line(format!("selp.u32 %a5, 1, 0, %p{p};"));
            store(self, "%a5".into());
        }
        self.line("ret;");
    }

    /// Instructions, branches and loops, nested.
    fn block(&mut self, depth: usize, length: usize) {
        for _ in 0..length {
            match self.random.below(12) {
                0 | 1 if depth < 4 => {
                    let (p, label) = (self.random.below(P), self.label());
                    self.line(format!("@%p{p} bra ELSE{label};"));
                    self.block(depth + 1, length / 3);
                    if self.random.chance(50) {
                        self.line(format!("bra END{label};\nELSE{label}:"));
                        self.block(depth + 1, length / 3);
                        self.line(format!("END{label}:"));
                    } else {
                        self.line(format!("ELSE{label}:"));
                    }
                }
                2 if depth < 3 => {
                    // Each thread goes round as often as its own register says, up to seven times.
                    let (r, label) = (self.random.below(R), self.label());
                    self.counters += 1;
                    let count = self.counters;
                    self.line(format!("and.b32 %i{count}, %r{r}, 7;\nLOOP{label}:"));
                    self.block(depth + 1, length / 4);
                    self.line(format!(
                        "sub.s32 %i{count}, %i{count}, 1;\nsetp.gt.s32 %q0, %i{count}, 0;\n@%q0 bra LOOP{label};"
                    ));
                }
                _ => self.instruction(false),
            }
        }
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// One instruction; of those for all lanes together only where all are `together`.
    fn instruction(&mut self, together: bool) {
        let guard = match self.random.below(8) {
            0 => format!("@%p{} ", self.random.below(P)),
            1 => format!("@!%p{} ", self.random.below(P)),
            _ => String::new(),
        };
        match self.random.below(20) {
            0 | 1 => return self.memory(&guard),
            2 if together => return self.warp(),
            3 => return self.carry(),
            _ => {}
        }
        let row = *self.random.pick(ROWS);
        let mut words = row.split(' ');
        let mut line = format!("{guard}{}", words.next().unwrap_or_default());
        for (at, kind) in words.enumerate() {
            let operand = self.operand(kind);
            // The first one is written, whatever its kind.
            let _ = write!(line, "{} {operand}", if at == 0 { "" } else { "," });
        }
        self.line(line + ";");
    }

    fn operand(&mut self, kind: &str) -> String {
        let random = &mut self.random;
        match kind {
            "r" => format!("%r{}", random.below(R)),
            "s" => format!("%s{}", random.below(S)),
            "f" => format!("%f{}", random.below(F)),
            "e" => format!("%e{}", random.below(E)),
            "h" => format!("%h{}", random.below(H)),
            "p" => format!("%p{}", random.below(P)),
            "i" => format!("{}", *random.pick(&ODD) as i32),
            "n" => random.below(64).to_string(),
            other => other.into(),
        }
    }

    /// An access of the thread's own places, or of the input.
    fn memory(&mut self, guard: &str) {
        let (r, s) = (self.random.below(R), self.random.below(S));
        let (shared, own) = (4 * self.random.below(4), 4 * self.random.below(16));
        let line = match self.random.below(12) {
            0 => format!("{guard}st.shared.b32 [%a3+{shared}], %r{r};"),
            1 => format!("{guard}ld.shared.b32 %r{r}, [%a3+{shared}];"),
            2 => format!("{guard}ld.shared.s8 %r{r}, [%a3+{}];", shared + 1),
            3 => format!("{guard}st.shared.b8 [%a3+{}], %r{r};", shared + 3),
            4 => format!(
                "{guard}ld.shared.v2.b32 {{%r{r}, %r{}}}, [%a3+8];",
                (r + 1) % R
            ),
            5 => format!("{guard}st.local.b32 [%x3+{own}], %r{r};"),
            6 => format!("{guard}ld.local.s16 %r{r}, [%x3+{}];", own + 2),
            7 => format!("{guard}ld.local.b64 %s{s}, [%x3+{}];", own / 8 * 8),
            8 => format!(
                "{guard}atom.shared.add.u32 %r{r}, [%a3+{shared}], %r{};",
                (r + 5) % R
            ),
            9 => format!(
                "{guard}atom.shared.cas.b32 %r{r}, [%a3+{shared}], %r{}, %r{};",
                (r + 1) % R,
                (r + 2) % R
            ),
            10 => format!("{guard}red.shared.max.s32 [%a3+{shared}], %r{r};"),
            _ => {
                let bytes = 4 * (WORDS_IN - 1);
                format!(
                    "and.b32 %a5, %r{r}, {bytes};\nmul.wide.u32 %x5, %a5, 1;\nadd.s64 %x5, %x0, %x5;\n{guard}ld.global.b32 %r{}, [%x5];",
                    (r + 3) % R
                )
            }
        };
        self.line(line);
    }

    /// An instruction of all lanes together.
    fn warp(&mut self) {
        let (d, a, b) = (
            self.random.below(R),
            self.random.below(R),
            self.random.below(R),
        );
        let (p, q) = (self.random.below(P), self.random.below(P));
        let line = match self.random.below(9) {
            0 => format!("shfl.sync.bfly.b32 %r{d}|%p{p}, %r{a}, %r{b}, 31, -1;"),
            1 => format!(
                "shfl.sync.up.b32 %r{d}|%p{p}, %r{a}, {}, 0, -1;",
                self.random.below(32)
            ),
            2 => format!(
                "shfl.sync.idx.b32 %r{d}, %r{a}, %r{b}, {}, -1;",
                31 | (256 * [0, 16, 24][self.random.below(3)])
            ),
            3 => format!("vote.sync.ballot.b32 %r{d}, %p{p}, -1;"),
            4 => format!("vote.sync.any.pred %p{p}, %p{q}, -1;"),
            5 => format!("match.any.sync.b32 %r{d}, %r{a}, -1;"),
            6 => format!("match.all.sync.b32 %r{d}|%p{p}, %r{a}, -1;"),
            7 => format!(
                "redux.sync.{} %r{d}, %r{a}, -1;",
                ["add.s32", "min.u32", "max.s32", "and.b32", "xor.b32"][self.random.below(5)]
            ),
            _ => format!("activemask.b32 %r{d};"),
        };
        self.line(line);
    }

    /// Sums with a carry, which follow each other.
    fn carry(&mut self) {
        let mut r = || self.random.below(R);
        let line = format!(
            "add.cc.u32 %r{}, %r{}, %r{};\naddc.cc.u32 %r{}, %r{}, %r{};\nsubc.u32 %r{}, %r{}, %r{};",
            r(),
            r(),
            r(),
            r(),
            r(),
            r(),
            r(),
            r(),
            r()
        );
        self.line(line);
    }
}
