//! The registers of a kernel: how many, what is in them at the start, and where they are stored at the end.

use super::program::Program;
use crate::random::Random;

/// The sizes of the launch.
pub const THREADS: u32 = 64;
pub const BLOCKS: u32 = 2;
/// Words that a kernel reads.
pub const WORDS_IN: usize = 2048;

/// Registers of each kind.
pub const R: usize = 12;
pub const S: usize = 6;
pub const F: usize = 8;
pub const E: usize = 4;
pub const H: usize = 4;
pub const P: usize = 4;

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

/// Fills all registers, and this thread's places in shared and local memory.
pub fn fill(program: &mut Program, random: &mut Random) {
    let other = 1 + random.below(THREADS as usize - 1);
    program.plain(format!(
        "mov.u32 %a0, %tid.x;\nmov.u32 %a1, %ctaid.x;\nmad.lo.u32 %a1, %a1, {THREADS}, %a0;\nld.param.u64 %x0, [from];\nld.param.u64 %x1, [to];\n\
         cvta.to.global.u64 %x0, %x0;\ncvta.to.global.u64 %x1, %x1;\nmul.wide.u32 %x2, %a1, 64;\nadd.s64 %x2, %x0, %x2;\n\
         mov.u32 %a3, tile;\nshl.b32 %a4, %a0, 4;\nxor.b32 %a7, %a0, {other};\nshl.b32 %a7, %a7, 4;\nadd.u32 %a7, %a7, %a3;\nadd.u32 %a3, %a3, %a4;\n\
         mov.u64 %x3, own;"
    ));
    for r in 0..R {
        program.step(format!("ld.global.b32 %r{r}, [%x2+{}]", 4 * r));
    }
    let pick = |random: &mut Random| random.below(R);
    for s in 0..S {
        let (a, b) = (pick(random), pick(random));
        program.step(format!("mov.b64 %s{s}, {{%r{a}, %r{b}}}"));
    }
    for f in 0..F {
        let a = pick(random);
        program.step(format!("mov.b32 %f{f}, %r{a}"));
    }
    for e in 0..E {
        program.step(format!("mov.b64 %e{e}, %s{}", e % S));
    }
    for h in 0..H {
        program.step(format!("cvt.u16.u32 %h{h}, %r{}", h % R));
    }
    for p in 0..P {
        program.step(format!("setp.lt.s32 %p{p}, %r{}, %r{}", p, R - 1 - p));
    }
    for at in 0..4 {
        program.step(format!("st.shared.b32 [%a3+{}], %r{at}", 4 * at));
    }
    for at in 0..16 {
        program.step(format!("st.local.b32 [%x3+{}], %r{}", 4 * at, at % R));
    }
}

/// Stores all registers.
pub fn store(program: &mut Program) {
    let mut slot = 0;
    let mut word = |program: &mut Program, register: String| {
        let threads = THREADS * BLOCKS;
        program.plain(format!(
            "st.global.b32 [%x4+{}], {register};",
            4 * slot * threads
        ));
        slot += 1;
    };
    program.plain("mul.wide.u32 %x4, %a1, 4;\nadd.s64 %x4, %x1, %x4;");
    for r in 0..R {
        word(program, format!("%r{r}"));
    }
    for s in 0..S {
        program.plain(format!("mov.b64 {{%a5, %a6}}, %s{s};"));
        word(program, "%a5".into());
        word(program, "%a6".into());
    }
    for f in 0..F {
        word(program, format!("%f{f}"));
    }
    for e in 0..E {
        program.plain(format!("mov.b64 {{%a5, %a6}}, %e{e};"));
        word(program, "%a5".into());
        word(program, "%a6".into());
    }
    for h in 0..H {
        program.plain(format!("cvt.u32.u16 %a5, %h{h};"));
        word(program, "%a5".into());
    }
    for p in 0..P {
        program.plain(format!("selp.u32 %a5, 1, 0, %p{p};"));
        word(program, "%a5".into());
    }
}
