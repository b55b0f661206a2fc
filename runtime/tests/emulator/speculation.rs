//! Loads whose values may not matter, as compilers move them above the condition that guards their use.

use super::*;
use cute_runtime::emulator::Finding;

/// The beginning of all kernels: %r1 is the address of the thread's own word of shared memory, %r3 that of the other half's, %s1 that of
/// its word of the result; %p1 holds, and %p2 does not. Two lines.
const START: &str = "mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, smem; add.u32 %r1, %r1, %r2; setp.eq.u32 %p1, 0, 0; setp.eq.u32 %p2, 0, 1;\n\
    st.shared.u32 [%r1], %r0; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s90, %s1; bar.sync 0;\n";
/// The end of all kernels.
const END: &str = "\nst.global.u32 [%s1], %r9;";
/// A write and a read that nothing orders, in either order; lines 2 and 3.
const WRITE_THEN_READ: &str = "st.shared.u32 [%r1], 7;\nld.shared.u32 %r4, [%r3];\n";
const READ_THEN_WRITE: &str = "ld.shared.u32 %r4, [%r3];\nst.shared.u32 [%r1], 7;\n";
/// The same with what happens to the value in between.
const READ_USE_WRITE: &str = "ld.shared.u32 %r4, [%r3];\n{} st.shared.u32 [%r1], 7;\n";

/// Ways to throw %r4 away, so that %r9 is 5.
const DROPPED: [&str; 20] = [
    "setp.lt.u32 %p3, %r4, %r0; selp.b32 %r5, %r4, %r0, %p3; selp.b32 %r9, %r5, 5, %p2;",
    "setp.gt.u32 %p3, %r4, 9; selp.b32 %r5, 1, 2, !%p3; add.u32 %r6, %r5, 1; selp.b32 %r9, 5, %r6, %p1;",
    "selp.b32 %r9, %r4, 5, %p2;",
    "selp.b32 %r9, 5, %r4, %p1;",
    "mov.u32 %r5, %r4; selp.b32 %r9, %r5, 5, %p2;",
    "add.u32 %r5, %r4, 1; selp.b32 %r9, %r5, 5, %p2;",
    "add.u32 %r5, %r4, 1; mul.lo.u32 %r6, %r5, %r4; selp.b32 %r7, %r6, %r5, %p1; selp.b32 %r9, %r7, 5, %p2;",
    "mov.u32 %r9, 5; @%p2 mov.u32 %r9, %r4;",
    "mov.u32 %r9, 5; @%p2 add.u32 %r9, %r4, 1;",
    "mov.u32 %r9, 5; @%p2 st.global.u32 [%s1], %r4;",
    "mov.u32 %r9, 5; @!%p2 bra D; mov.u32 %r9, %r4; D:",
    "mov.u32 %r9, 5; @%p1 bra D; setp.eq.u32 %p3, %r4, 1; selp.b32 %r9, 1, 2, %p3; D:",
    "mov.b64 %s2, {%r4, %r4}; mov.b64 {%r5, %r6}, %s2; and.b32 %r5, %r6, 255; selp.b32 %r9, %r5, 5, %p2;",
    "setp.gt.u32 %p3, %r4, 9; and.pred %p4, %p3, %p2; selp.b32 %r9, 1, 5, %p4;",
    "setp.gt.and.u32 %p4, %r4, 9, %p2; mov.u32 %r9, 5; @%p4 mov.u32 %r9, 6;",
    "setp.gt.u32 %p3, %r4, 9; not.pred %p4, %p3; or.pred %p5, %p4, %p1; mov.pred %p6, %p5; mov.u32 %r9, 6; @%p6 mov.u32 %r9, 5;",
    "setp.gt.u32 %p3, %r4, 9; mov.u32 %r9, 5; @!%p2 bra D; selp.b32 %r9, 1, 2, %p3; D:",
    "setp.gt.u32 %p3, %r4, 9; setp.lt.u32 %p4, %r4, 2; and.pred %p5, %p3, %p4; and.pred %p5, %p5, %p2; mov.u32 %r9, 5; @%p5 bra D; D:",
    "add.u32 %r5, %r4, 1; setp.gt.u32 %p3, %r5, 9; selp.b32 %r6, %r5, %r4, %p2; and.pred %p4, %p3, %p2; selp.b32 %r9, %r6, 5, %p4;",
    "mov.u32 %r7, 0; L: add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 3; @%p3 bra L; selp.b32 %r9, %r4, 5, %p2;",
];

/// Ways to use it, of which the emulator cannot know before that they do; the first is any use.
const USED: [&str; 21] = [
    "mov.u32 %r9, %r4;",
    "setp.lt.u32 %p3, %r4, %r0; selp.b32 %r5, %r4, %r0, %p3; selp.b32 %r9, %r5, 5, %p1;",
    "setp.gt.u32 %p3, %r4, 9; selp.b32 %r5, 1, 2, !%p3; selp.b32 %r9, 5, %r5, %p2;",
    "selp.b32 %r9, %r4, 5, %p1;",
    "selp.b32 %r9, 5, %r4, %p2;",
    "mov.u32 %r5, %r4; selp.b32 %r6, %r5, 5, %p1; shfl.sync.idx.b32 %r9, %r6, 0, 31, -1;",
    "add.u32 %r5, %r4, 1; selp.b32 %r9, %r5, 5, %p1;",
    "mov.u32 %r9, 5; @%p1 mov.u32 %r9, %r4;",
    "mov.u32 %r9, 5; @%p1 st.global.u32 [%s1], %r4;",
    "mov.u32 %r9, 5; selp.b32 %r5, %r4, 5, %p1; setp.gt.u32 %p3, %r5, 9; @%p3 mov.u32 %r9, 6;",
    "mov.u32 %r9, 5; selp.b32 %r5, %r4, 5, %p1; and.b32 %r5, %r5, 4; add.u32 %r5, %r5, %r2; shl.b32 %r6, %r0, 3; add.u32 %r5, %r5, %r6; st.shared.u32 [%r5+1024], %r0;",
    "selp.b32 %r5, %r4, 5, %p1; st.shared.u32 [%r1+512], %r5; mov.u32 %r9, 5;",
    "mov.u32 %r9, 5; @%p2 bra D; mov.u32 %r9, %r4; D:",
    "mov.b64 %s2, {%r0, %r4}; mov.b64 {%r5, %r6}, %s2; and.b32 %r5, %r6, 255; add.u32 %r5, %r5, 1; selp.b32 %r9, %r5, 5, %p1;",
    "selp.b32 %r5, %r4, 0, %p1; mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\
     mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r0}, {%r0}, {%f1, %f2, %f3, %f4}; mov.b32 %r9, %f1;",
    "setp.gt.u32 %p3, %r4, 9; and.pred %p4, %p3, %p1; selp.b32 %r9, 1, 5, %p4;",
    "setp.gt.and.u32 %p4, %r4, 9, %p1; mov.u32 %r9, 5; @%p4 mov.u32 %r9, 6;",
    "setp.gt.u32 %p3, %r4, 9; not.pred %p4, %p3; or.pred %p5, %p4, %p2; mov.pred %p6, %p5; mov.u32 %r9, 6; @%p6 mov.u32 %r9, 5;",
    "setp.gt.u32 %p3, %r4, 9; mov.u32 %r9, 5; @!%p1 bra D; selp.b32 %r9, 1, 2, %p3; D:",
    "setp.gt.u32 %p3, %r4, 9; setp.lt.u32 %p4, %r4, 200; xor.pred %p5, %p3, %p4; and.pred %p5, %p5, %p1; mov.u32 %r9, 5; @%p5 bra D; D:",
    "setp.gt.u32 %p3, %r4, 9; and.pred %p4, %p3, %p1; vote.sync.ballot.b32 %r9, %p4, -1;",
];

/// A kernel whose threads are those of one warp: lanes read what lanes of the other half write.
fn of_lanes(body: &str) -> Run {
    kernel(&format!("{START}xor.b32 %r3, %r1, 64; {body}{END}"))
        .output(32)
        .smem(2048)
}

/// The same of two warps.
fn of_warps(body: &str) -> Run {
    kernel(&format!("{START}xor.b32 %r3, %r1, 128; {body}{END}"))
        .output(64)
        .block(64)
        .smem(2048)
}

/// Findings as they are printed, but for who of many it was: that is told of the first one.
fn told(findings: &[Finding]) -> Vec<String> {
    let nobody = |text: &str| {
        let (mut all, mut rest) = (String::new(), text);
        while let Some(at) = ["lane ", "at byte "]
            .iter()
            .find_map(|word| Some(rest.find(word)? + word.len()))
        {
            all += &rest[..at];
            rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit());
        }
        all + rest
    };
    findings
        .iter()
        .map(|finding| nobody(&finding.to_string()))
        .collect()
}

#[test]
fn what_is_thrown_away_is_no_race() {
    for seed in 0..6 {
        for (accesses, dropped) in [WRITE_THEN_READ, READ_THEN_WRITE]
            .into_iter()
            .flat_map(|accesses| DROPPED.map(|dropped| (accesses, dropped)))
        {
            for run in [of_lanes, of_warps] {
                let ran = run(&format!("{accesses}{dropped}")).seeded(seed).unwrap();
                assert!(ran.clean(0).iter().all(|&value| value == 5), "{dropped}");
            }
        }
        for dropped in DROPPED {
            let body = READ_USE_WRITE.replace("{}", dropped);
            of_warps(&body).seeded(seed).unwrap().clean(0);
        }
    }
}

#[test]
fn what_is_used_is_the_race_that_it_is_at_any_load() {
    for accesses in [
        format!("{WRITE_THEN_READ}{{}}"),
        format!("{READ_THEN_WRITE}{{}}"),
        READ_USE_WRITE.into(),
    ] {
        let expected = of_lanes(&accesses.replace("{}", USED[0])).run();
        let expected = told(&expected.report.findings);
        assert_eq!(expected.len(), 1);
        assert!(expected[0].contains("32 times"), "{}", expected[0]);
        for used in USED {
            let ran = of_lanes(&accesses.replace("{}", used)).run();
            assert_eq!(told(&ran.report.findings), expected, "{accesses} {used}");
        }
    }
}

#[test]
fn what_is_used_is_found_whichever_warp_comes_first() {
    let mut first = [false; 2];
    for seed in 0..8 {
        for accesses in [
            format!("{WRITE_THEN_READ}{{}}"),
            format!("{READ_THEN_WRITE}{{}}"),
            READ_USE_WRITE.into(),
        ] {
            for used in USED {
                let ran = of_warps(&accesses.replace("{}", used))
                    .seeded(seed)
                    .unwrap();
                let found = &ran.report.findings;
                let lines = |finding: &Finding| {
                    let sites = [&finding.site, &finding.other];
                    sites.map(|site| site.as_ref().unwrap().ptx_line)
                };
                assert!(!found.is_empty(), "{accesses} {used} {seed}");
                for finding in found {
                    assert_eq!(finding.kind, Kind::SharedRace);
                    let lines = lines(finding);
                    assert!(lines == [10, 11] || lines == [11, 10], "{lines:?}");
                    first[usize::from(lines == [10, 11])] = true;
                }
                // Each thread's read is a race.
                let count: u64 = found.iter().map(|finding| finding.count).sum();
                assert_eq!(count, 64, "{accesses} {used} {seed}");
            }
        }
    }
    assert_eq!(first, [true; 2]);
}

#[test]
fn lanes_decide_each_for_itself() {
    let body = format!(
        "{READ_THEN_WRITE}setp.lt.u32 %p3, %r0, 3; add.u32 %r5, %r4, 1; selp.b32 %r9, %r5, 5, %p3;"
    );
    let ran = of_lanes(&body).run();
    assert_eq!(ran.report.findings.len(), 1);
    assert_eq!(ran.report.findings[0].count, 3);
    assert_eq!(ran.values(0)[..5], [17, 18, 19, 5, 5]);
}

#[test]
fn a_load_that_nothing_uses_is_no_speculated_one() {
    for accesses in [WRITE_THEN_READ, READ_THEN_WRITE] {
        let ran = of_lanes(&format!("{accesses}mov.u32 %r9, 5;")).run();
        assert_eq!(ran.report.findings.len(), 1);
    }
}

#[test]
fn what_nobody_wrote_is_told_where_its_value_matters() {
    for (load, kind) in [
        ("ld.shared.u32 %r4, [%r1+512];", Kind::UninitializedShared),
        ("ld.global.u32 %r4, [%s1];", Kind::UninitializedMemory),
        (
            "cvt.u64.u32 %s3, %r1; cvta.shared.u64 %s3, %s3; ld.u32 %r4, [%s3+512];",
            Kind::UninitializedShared,
        ),
    ] {
        for dropped in DROPPED {
            let ran = of_lanes(&format!("{load}\n{dropped}")).run();
            assert_eq!(ran.clean(0)[0], 5, "{load} {dropped}");
        }
        for used in USED {
            let ran = of_lanes(&format!("{load}\n{used}")).run();
            assert_eq!(ran.kinds(), [(kind, 2)], "{load} {used}");
            assert_eq!(ran.report.findings[0].count, 32);
        }
    }
}

#[test]
fn global_memory_that_was_written_before_is_read_for_nothing() {
    let body = "xor.b32 %r5, %r0, 16; mul.wide.u32 %s2, %r5, 4; add.s64 %s2, %s90, %s2; st.global.u32 [%s1], %r0;\nld.global.u32 %r4, [%s2];\n";
    let run = |then: &str| {
        kernel(&format!("{START}{body}{then}"))
            .output(32)
            .smem(2048)
            .run()
    };
    run("@%p2 st.shared.u32 [%r1], %r4;").clean(0);
    let used = run("@%p1 st.shared.u32 [%r1], %r4;");
    let any = run("st.shared.u32 [%r1], %r4;");
    assert_eq!(used.kinds(), [(Kind::GlobalRace, 3)]);
    assert_eq!(told(&used.report.findings), told(&any.report.findings));
}

#[test]
fn a_value_may_matter_much_later() {
    // The value of each turn is used in the next one, after the write that races with it; that of the last turn never is.
    let body = |turns: u32, step: &str| {
        format!(
            "mov.u32 %r4, 0; mov.u32 %r9, 0; mov.u32 %r7, 0;\nL: add.u32 %r9, %r9, %r4; bar.sync 0;\n\
             ld.shared.u32 %r4, [%r3];\n{step} st.shared.u32 [%r1], %r0;\n\
             bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, {turns}; @%p3 bra L;"
        )
    };
    for seed in 0..4 {
        for (turns, count) in [(1, 0), (2, 64), (700, 699 * 64)] {
            let ran = of_warps(&body(turns, "")).seeded(seed).unwrap();
            let found: u64 = ran.report.findings.iter().map(|found| found.count).sum();
            assert_eq!(found, count, "{turns} {:?}", ran.report.findings);
        }
        of_warps(&body(700, "bar.sync 0;"))
            .seeded(seed)
            .unwrap()
            .clean(0);
    }
}

#[test]
fn a_sum_of_many_values_that_may_not_matter_does() {
    // %r5 is made of more loads than are kept for one value.
    let body = |pred: &str| {
        format!(
            "mov.u32 %r5, 0; mov.u32 %r7, 0;\nL: ld.shared.u32 %r4, [%r3];\nxor.b32 %r5, %r5, %r4; add.u32 %r7, %r7, 1;\n\
             setp.lt.u32 %p3, %r7, 3000; @%p3 bra L; st.shared.u32 [%r1], 7;\nselp.b32 %r9, %r5, 5, {pred};"
        )
    };
    let found = |pred: &str| {
        let findings = of_lanes(&body(pred)).run().report.findings;
        findings
            .iter()
            .map(|finding| finding.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("%p1"), [Kind::SharedRace]);
    // Where it is too much to keep, a value counts as used.
    assert_eq!(found("%p2"), [Kind::SharedRace]);
}

#[test]
fn what_a_function_gets_is_used_and_what_its_caller_keeps_is_not() {
    let module = |first: &str, with: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n\
             .func (.param .b32 back) down(.param .b32 n, .param .b32 a)\n{{\n.reg .b32 %r<9>; .reg .pred %p<3>;\n\
             ld.param.u32 %r1, [n]; ld.param.u32 %r2, [a]; ld.shared.u32 %r3, [%r2]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r5, 5; setp.eq.u32 %p2, 0, 1; @%p1 bra E;\n\
             add.u32 %r1, %r1, -1; {{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], %r1; st.param.b32 [y], %r2;\n\
             call (z), down, (x, y); ld.param.b32 %r5, [z]; }}\nE: selp.b32 %r5, %r3, %r5, {with}; st.param.b32 [back], %r5; ret;\n}}\n\
             .visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<9>; .reg .b64 %s<4>;\n\
             mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, smem; add.u32 %r1, %r1, %r2; xor.b32 %r3, %r1, 64;\n\
             st.shared.u32 [%r1], %r0; bar.sync 0; {first}\n\
             {{ .param .b32 x; .param .b32 y; .param .b32 z; st.param.b32 [x], 3; st.param.b32 [y], %r3;\n\
             call (z), down, (x, y); ld.param.b32 %r5, [z]; }}\n\
             ld.param.u64 %s0, [out]; mul.wide.u32 %s1, %r0, 4; add.s64 %s0, %s0, %s1; st.global.u32 [%s0], %r5; ret;\n}}\n"
        )
    };
    let run = |first: &str, with: &str| {
        let text = module(first, with);
        kernel(&text).module().output(32).smem(2048).run()
    };
    // The outer activations keep a load over a call, where it counts as used.
    let kinds = |ran: Ran| {
        let found = ran.report.findings.into_iter();
        found.map(|finding| finding.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(run("", "%p2")), []);
    let race = "st.shared.u32 [%r1], 7;";
    assert_eq!(kinds(run(race, "%p1")), [Kind::SharedRace]);
    assert_eq!(kinds(run(race, "%p2")), [Kind::SharedRace]);
}

#[test]
fn what_predicates_of_loads_make_keeps_its_value() {
    // Comparisons of values from shared memory, joined before any of them is used.
    let body = "mov.u32 %r2, 7; mov.u32 %r3, sm; st.shared.u32 [%r3], %r2; st.shared.u32 [%r3+4], %r2; bar.sync 0;\n\
        ld.shared.u32 %r4, [%r3]; ld.shared.u32 %r5, [%r3+4];\n\
        setp.eq.u32 %p1, %r4, 7; setp.le.u32 %p2, %r5, 9; setp.gt.u32 %p3, %r4, 7;\n\
        and.pred %p4, %p1, %p2; or.pred %p5, %p3, %p4; xor.pred %p6, %p1, %p3; not.pred %p7, %p3;\n\
        selp.u32 %r6, 1, 0, %p5; selp.u32 %r7, 2, 0, %p6; selp.u32 %r8, 4, 0, %p7; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8;\n\
        st.global.u32 [%s1], %r6;";
    let body = body
        .replace("sm; st", "sm; @%p0 bra over; st")
        .replace("bar.sync", "over: bar.sync");
    let body = format!("setp.ne.u32 %p0, %r0, 0;\n{body}");
    let (found, findings) = super::session::words(".shared .align 8 .b8 sm[8];", &body);
    assert_eq!((findings, found), (vec![], vec![7; 64]));
}
