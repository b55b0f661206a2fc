//! Texts that nobody would write: whatever they are, an error says what to do or a finding what is wrong.
//! Nothing panics, hangs or takes memory without bound.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::races_oracle::programs;
use super::*;
use crate::random::SplitMix;

/// Bodies with most kinds of instructions.
const BODIES: [&str; 8] = [
    "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; ld.global.u32 %r1, [%s2];
    L: setp.ge.u32 %p1, %r1, 7; @%p1 bra E; add.u32 %r1, %r1, 1; bra.uni L;
    E: and.b32 %r2, %r0, 3; T: .branchtargets A, B, A, B; brx.idx %r2, T; A: mul.lo.s32 %r1, %r1, 3; B: add.s64 %s3, %s91, %s1; st.global.u32 [%s3], %r1; ret;",
    "mov.u32 %r0, %tid.x; mov.u64 %s2, smem; mul.wide.u32 %s1, %r0, 16; add.s64 %s3, %s2, %s1; add.s64 %s4, %s90, 16;
    cp.async.cg.shared.global [%s3], [%s4], 16; cp.async.ca.shared.global.L2::128B [%s3+-0], [%s90], 4, 2; cp.async.commit_group; cp.async.wait_group 0;
    bar.sync 0; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%s2]; bar.warp.sync 0xffffffff; st.shared.v4.b32 [%s3], {%r1, %r2, %r1, %r2};
    bar.red.popc.u32 %r3, 1, 64, %p0; barrier.cta.sync 2; bar.arrive 3, 64; fence.acq_rel.cta; ld.volatile.shared.s8 %r5, [%s2+3];",
    "mov.u32 %r0, %tid.x; shfl.sync.up.b32 %r1|%p1, %r0, 1, 0, 0xffffffff; shfl.sync.idx.b32 %r2, %r0, %r1, 6175, -1; vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
    redux.sync.add.s32 %r4, %r0, -1; match.any.sync.b32 %r5, %r0, -1; activemask.b32 %r6; elect.sync %r7|%p2, -1; @%p1 exit; vote.sync.any.pred %p3, %p1, %r6; trap;",
    ".local .align 8 .b8 x[64]; .shared .align 8 .b64 m; mov.u64 %s0, m; mov.u64 %s3, x; mbarrier.init.shared.b64 [%s0], 40; bar.sync 0; mbarrier.arrive.expect_tx.shared.b64 %s1, [%s0], 8;
    mbarrier.complete_tx.shared.b64 [%s0], 8; W: mbarrier.try_wait.parity.shared.b64 %p1, [%s0], 0; @!%p1 bra W; cp.async.mbarrier.arrive.noinc.shared.b64 [%s0];
    mbarrier.test_wait.shared.b64 %p2, [%s0], %s1; st.local.u64 [%s3+8], %s1; cvta.local.u64 %s4, %s3; ld.v2.u32 {%r1, %r2}, [%s4+8]; mbarrier.inval.shared.b64 [%s0];",
    "mov.f32 %f0, 0f3F800000; cvt.rn.f16.f32 %h0, %f0; cvt.rzi.s32.f32 %r1, %f0; mov.b32 %r2, {%h0, %h0}; mov.b32 {%h1, %h2}, %r2; mov.b64 %s1, {%r1, %r2}; fma.rn.f32 %f1, %f0, %f0, %f0;
    div.s32 %r3, %r1, 3; rem.u32 %r4, %r2, 0; shl.b32 %r5, %r1, 40; prmt.b32 %r6, %r1, %r2, 0x7531; bfe.u32 %r7, %r1, 3, 99; lop3.b32 %r8, %r1, %r2, %r3, 0x96; sqrt.rn.f32 %f2, %f1; ex2.approx.f32 %f3, %f0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f0, %f1, %f2, %f3}; selp.b32 %r9, %r1, %r2, %p0; clz.b32 %r9, %r9; brev.b64 %s2, %s1;",
    "mov.u64 %s1, smem; atom.shared.add.u32 %r1, [%s1], 1; atom.global.cas.b32 %r2, [%s91], 0, 5; red.global.max.s32 [%s91+4], %r2; atom.shared.exch.b64 %s2, [%s1+8], %s1; atom.global.add.f32 %f1, [%s91+8], 0f40000000;
    add.cc.u32 %r3, %r1, %r2; addc.u32 %r4, %r3, 0; cvta.shared.u64 %s3, %s1; isspacep.shared %p1, %s3; @%p1 st.u32 [%s3], %r1; membar.gl; ld.acquire.gpu.global.u32 %r5, [%s91]; nanosleep.u32 20;",
    ".reg .b64 q; { .param .b64 a; .param .b64 b; .param .b32 c; mov.u64 q, 0; st.param.b64 [a], %s90; st.param.b64 [b+0], q; call.uni (c), vprintf, (a, b); ld.param.b32 %r1, [c]; }
    mov.u32 %r2, %ntid.x; mov.u32 %r3, %clock; mov.u32 %r4, %lanemask_lt; popc.b32 %r5, %r4; vote.sync.all.pred %p1, 1, 0xffffffff; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s90], {%r5};",
    ".local .align 8 .b8 y[32]; mov.u64 %s0, y; stacksave.u64 %s1; alloca.u64 %s2, 24, 16; st.local.u32 [%s2+8], 5; ld.local.v2.u32 {%r1, %r2}, [%s2+8]; st.local.v2.u32 [%s0], {%r1, %r2};
    ld.local.s8 %r3, [%s0+5]; setp.eq.u32 %p1, %r3, 3; @%p1 st.global.u32 [%s90], %r3; stackrestore.u64 %s1; mov.u64 %s3, smem; st.bulk.weak.shared::cta [%s3], 64, 0; alloca.u32 %r4, %r1; prmt.b32 %r5, %r2, %r2, 0x4321;",
];

const NUMBERS: [&str; 22] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "15",
    "16",
    "31",
    "32",
    "33",
    "255",
    "4095",
    "65536",
    "1048576",
    "2147483647",
    "4294967295",
    "4294967296",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "0xffffffffffffffff",
    "4611686018427387904",
];

const WORDS: [&str; 40] = [
    ".u8",
    ".s8",
    ".b8",
    ".u16",
    ".s16",
    ".b16",
    ".u32",
    ".s32",
    ".b32",
    ".u64",
    ".s64",
    ".b64",
    ".b128",
    ".f16",
    ".f32",
    ".f64",
    ".pred",
    ".v2",
    ".v4",
    ".v8",
    ".shared",
    ".global",
    ".local",
    ".param",
    ".const",
    ".volatile",
    ".relaxed",
    ".release",
    ".cta",
    "%p0",
    "%p1",
    "%r0",
    "%r99",
    "%r100",
    "%s0",
    "%s90",
    "%h0",
    "%f0",
    "%tid.x",
    "_",
];

fn tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || "_%.$:".contains(c) => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = 2;
    for (at, c) in text.char_indices() {
        let now = class(c);
        // Modifiers are tokens of their own.
        if at != start && (now != last || now == 2 || c == '.' && !text[..at].ends_with(':')) {
            tokens.push(&text[start..at]);
            start = at;
        }
        last = now;
    }
    tokens.push(&text[start..]);
    tokens
}

fn mutated(text: &str, random: &mut SplitMix) -> String {
    let mut tokens = tokens(text);
    for _ in 0..1 + random.below(3) {
        let words: Vec<usize> = (0..tokens.len())
            .filter(|&at| !tokens[at].trim().is_empty())
            .collect();
        let mut any = || words[random.below(words.len() as u64) as usize];
        let (at, other) = (any(), any());
        let numbers: Vec<usize> = words
            .iter()
            .copied()
            .filter(|&at| tokens[at].starts_with(|c: char| c.is_ascii_digit()))
            .collect();
        match random.below(8) {
            0 => tokens[at] = "",
            1 => tokens.insert(at, tokens[other]),
            2 => tokens.swap(at, other),
            3 | 4 if !numbers.is_empty() => {
                let at = numbers[random.below(numbers.len() as u64) as usize];
                tokens[at] = NUMBERS[random.below(NUMBERS.len() as u64) as usize];
            }
            5 | 6 => {
                // Something of the same kind.
                let head = |token: &str| token.chars().next();
                let same: Vec<&str> = WORDS
                    .into_iter()
                    .chain(tokens.iter().copied())
                    .filter(|token| head(token) == head(tokens[at]))
                    .collect();
                tokens[at] = same[random.below(same.len() as u64) as usize];
            }
            _ => tokens[at] = tokens[other],
        }
    }
    tokens.concat()
}

/// Runs a body, or the text of a whole module, and says whether it could be run.
fn survives(body: &str, whole: bool) -> bool {
    let mut run = kernel(body)
        .input(0..64)
        .output(64)
        .block(40)
        .smem(1024)
        .grid(2)
        .limit(3000);
    if whole {
        run = run.module();
    }
    let start = Instant::now();
    let ran = catch_unwind(AssertUnwindSafe(|| run.seeded(1)));
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "it takes {:?}:\n{body}",
        start.elapsed()
    );
    match ran {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            assert!(error.to_string().len() > 20, "{error}");
            false
        }
        Err(_) => panic!("a panic:\n{body}"),
    }
}

#[test]
fn texts_with_mistakes_are_refused_or_run() {
    let cases = std::env::var("CUTE_ORACLE_MUTANTS")
        .ok()
        .and_then(|n| n.parse().ok());
    let mut random = SplitMix(7);
    for body in BODIES {
        assert!(
            survives(body, false),
            "{}",
            kernel(body).input(0..64).output(64).refused()
        );
    }
    let mut ran = 0;
    let cases = cases.unwrap_or(20_000);
    for case in 0..cases {
        let made;
        let body = match case % 8 {
            7 => {
                made = programs::text(&programs::random(case / 50)).0;
                &made
            }
            at => BODIES[at as usize],
        };
        ran += u64::from(survives(&mutated(body, &mut random), false));
    }
    // Both happen often.
    assert!(
        ran > cases / 20 && ran < cases - cases / 20,
        "{ran} of {cases} could be run"
    );
}

#[test]
fn modules_with_mistakes_are_refused_or_run() {
    let text = kernel(BODIES[0]).input(0..64).output(64).text();
    let mut random = SplitMix(8);
    let mut ran = 0;
    for _ in 0..3000 {
        ran += u32::from(survives(&mutated(&text, &mut random), true));
    }
    assert!(ran > 100, "{ran}");
}

/// Refused with a text that says what is expected.
fn refused(body: &str, text: &str) {
    let error = kernel(body).input(0..64).output(64).refused();
    assert!(error.contains(text), "{error}\n{body}");
}

#[test]
fn what_is_too_large_is_refused() {
    refused(".shared .b8 x[4000000000]; ret;", "shared memory");
    refused(".shared .b8 x[18446744073709551615]; ret;", "2^32");
    refused(".shared .b64 x[4294967296][4294967296]; ret;", "2^32");
    refused(".local .b8 x[4294967296]; ret;", "local memory");
    refused(
        ".local .b8 x[400000]; .local .b8 y[400000]; ret;",
        "local memory",
    );
    refused(".reg .b32 %x<4000000000>; ret;", "registers");
    refused(".reg .pred %x<4294967295>; ret;", "registers");
    let module = |variable: &str| {
        let text = kernel("ret;").input(0..64).output(64).text();
        kernel(&text.replace(".extern", &format!("{variable} .extern")))
            .input(0..64)
            .output(64)
            .module()
            .refused()
    };
    for variable in [
        ".global .b8 x[4000000000];",
        ".const .b64 x[500000000];",
        ".global .b32 x[10000000], y[10000000];",
    ] {
        assert!(
            module(variable).contains("variables"),
            "{}",
            module(variable)
        );
    }
    for limits in [
        "4294967295, 4294967295, 4294967295",
        "18446744073709551615, 18446744073709551615, 2",
        "0",
        "16",
    ] {
        let text = kernel("ret;")
            .text()
            .replace("k()\n{", &format!("k() .maxntid {limits} {{"));
        let run = kernel(&text).module();
        match limits {
            "0" | "16" => assert!(
                run.refused().contains("threads in a block"),
                "{}",
                run.refused()
            ),
            _ => drop(run.run()),
        }
    }
    let error = kernel("ret;").grid(0x7fff_ffff).refused();
    assert!(error.contains("grid"), "{error}");
}

#[test]
fn odd_operands_are_findings() {
    let found = |body: &str| {
        let ran = kernel(body)
            .input(0..64)
            .output(64)
            .block(40)
            .smem(64)
            .limit(3000)
            .run();
        ran.kinds()
            .into_iter()
            .map(|(kind, _)| kind)
            .filter(|kind| *kind != Kind::NeverWritten)
            .collect::<Vec<_>>()
    };
    for (body, kind) in [
        (
            "mov.u64 %s1, 18446744073709551612; ld.global.u32 %r1, [%s1];",
            Kind::OutOfBounds,
        ),
        (
            "mov.u64 %s1, -4; ld.shared.u32 %r1, [%s1];",
            Kind::OutOfBounds,
        ),
        (
            "mov.u64 %s1, -16; st.shared.v4.u32 [%s1+4], {%r0, %r0, %r0, %r0};",
            Kind::Misaligned,
        ),
        (
            "mov.u32 %r0, 0; mov.u64 %s1, -16; st.local.v2.u64 [%s1], {%s1, %s1};",
            Kind::OutOfBounds,
        ),
        (
            "ld.global.u32 %r1, [%s90+-9223372036854775808];",
            Kind::OutOfBounds,
        ),
        (
            "mov.u64 %s1, 9223372036854775808; ld.u32 %r1, [%s1+-9223372036854775808];",
            Kind::OutOfBounds,
        ),
        (
            "cp.async.cg.shared.global [%s90], [%s91], 16;",
            Kind::OutOfBounds,
        ),
        ("bar.sync 16;", Kind::Undefined),
        ("bar.sync 4294967295, 64;", Kind::Undefined),
        ("bar.sync 1, 0;", Kind::Undefined),
        ("bar.sync 1, 4294967295;", Kind::Deadlock),
        (
            "mov.u64 %s1, smem; mbarrier.init.shared.b64 [%s1], 4294967295;",
            Kind::Undefined,
        ),
        (
            "mov.u64 %s1, smem; mbarrier.init.shared.b64 [%s1], 0; mbarrier.arrive.shared.b64 _, [%s1], 4294967295;",
            Kind::Undefined,
        ),
        (
            "mov.u32 %r1, 5; T: .branchtargets A; brx.idx %r1, T; A: ret;",
            Kind::Undefined,
        ),
        (
            "mov.u32 %r1, 0; shfl.sync.idx.b32 %r2, %r1, 4294967295, 4294967295, 0;",
            Kind::Undefined,
        ),
        (
            "mov.u32 %r1, 0; vote.sync.any.pred %p1, 1, 0x100;",
            Kind::Undefined,
        ),
        ("L: bra L; E:", Kind::InstructionLimit),
    ] {
        assert!(found(body).contains(&kind), "{:?}\n{body}", found(body));
    }
    // An empty body, and a label at its end.
    for body in ["", "E:", "bra E; E:", "{ }"] {
        assert_eq!(found(body), []);
    }
    refused("T: .branchtargets ; brx.idx %r1, T;", "expected");
    refused("brx.idx %r1, T;", "branchtargets");
    refused("mov.b128 %s1, {%s2, %s3};", "expected");
}
