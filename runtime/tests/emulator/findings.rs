//! Every kind of mistake, found where it is.

use super::*;

const HEAD: &str =
    "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; mov.u64 %s2, smem; add.s64 %s2, %s2, %s1;";

/// The only finding of a run, whatever the seed.
fn only(run: Run, kind: Kind, line: i64) -> cute_runtime::emulator::Finding {
    for seed in 0..6 {
        let ran = run.seeded(seed).unwrap();
        assert_eq!(ran.kinds(), [(kind, line)], "{:#?}", ran.report.findings);
    }
    run.run().report.findings[0].clone()
}

#[test]
fn out_of_bounds() {
    let run = kernel("mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1;\nst.global.u32 [%s2], %r0;").output(31);
    let finding = only(run, Kind::OutOfBounds, 1);
    assert_eq!(finding.thread.unwrap().lane, 31);
    assert_eq!(
        finding.address.as_deref(),
        Some("0 bytes past the end of T0")
    );
    let run = kernel("\nld.global.u32 %r1, [%s90+-4];")
        .input([1])
        .block(1);
    assert_eq!(
        only(run, Kind::OutOfBounds, 1).address.as_deref(),
        Some("4 bytes before T0")
    );
    let run = kernel(&format!("{HEAD}\nst.shared.u32 [%s2], %r0;"))
        .block(64)
        .smem(128);
    let finding = only(run, Kind::OutOfBounds, 1);
    assert_eq!((finding.count, finding.thread.unwrap().warp), (32, 1));
    let run = kernel(".local .align 4 .b8 own[4];\nst.local.u32 [own+16], 1;");
    only(run, Kind::OutOfBounds, 1);
    only(
        kernel("mov.u64 %s1, 64;\nld.global.u32 %r1, [%s1];"),
        Kind::OutOfBounds,
        1,
    );
    let run = kernel(&format!(
        "{HEAD}\ncp.async.ca.shared.global [%s2], [%s90], 4;"
    ))
    .input([1; 1])
    .block(32)
    .smem(64);
    only(run, Kind::OutOfBounds, 1);
}

#[test]
fn misaligned() {
    let run = kernel("\nld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%s90+4];")
        .input([1; 8])
        .block(1);
    assert!(
        only(run, Kind::Misaligned, 1)
            .message
            .contains("multiple of 16")
    );
    // Arguments are aligned to 16 bytes and no better.
    let run = kernel("and.b64 %s1, %s90, 31; setp.eq.u64 %p1, %s1, 0;\n@%p1 trap;")
        .input([1; 8])
        .block(1);
    assert_eq!(run.run().report.findings, []);
    let run = kernel("mov.u64 %s1, smem;\nst.shared.u64 [%s1+4], %s1;")
        .smem(64)
        .block(1);
    only(run, Kind::Misaligned, 1);
}

#[test]
fn uninitialised() {
    only(
        kernel("\nadd.u32 %r1, %r2, 1;"),
        Kind::UninitializedRegister,
        1,
    );
    only(
        kernel("\n@%p1 bra L; L: ret;"),
        Kind::UninitializedRegister,
        1,
    );
    // Copies may be of nothing, as long as nobody looks.
    only(
        kernel("mov.u32 %r1, %r2;\nadd.u32 %r1, %r1, 1;"),
        Kind::UninitializedRegister,
        1,
    );
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 7; @%p1 mov.u32 %r1, 3;\nadd.u32 %r2, %r1, 1;",
    );
    assert_eq!(
        only(run, Kind::UninitializedRegister, 1)
            .thread
            .unwrap()
            .lane,
        7
    );
    only(
        kernel(&format!("{HEAD}\nld.shared.u32 %r1, [%s2];")).smem(128),
        Kind::UninitializedShared,
        1,
    );
    only(
        kernel(".local .align 4 .b8 own[4];\nld.local.u32 %r1, [own];"),
        Kind::UninitializedMemory,
        1,
    );
    let run = kernel("\nld.global.u32 %r1, [%s90]; st.global.u32 [%s90], %r1;")
        .output(1)
        .block(1);
    assert_eq!(
        only(run, Kind::UninitializedMemory, 1).address.as_deref(),
        Some("T0 at element (0)")
    );
}

#[test]
fn races() {
    // Read after write, write after read, write after write, in one warp and between warps.
    let body = format!(
        "{HEAD} xor.b32 %r1, %r0, MASK; mul.wide.u32 %s4, %r1, 4; mov.u64 %s3, smem; add.s64 %s3, %s3, %s4;"
    );
    for (mask, members) in [("1", "bar.warp.sync 0xffffffff;"), ("32", "bar.sync 0;")] {
        let body = body.replace("MASK", mask);
        let wrong = kernel(&format!(
            "{body}\nst.shared.u32 [%s2], %r0;\nld.shared.u32 %r2, [%s3];"
        ))
        .block(64)
        .smem(256);
        let ran = wrong.run();
        assert!(
            ran.kinds()
                .iter()
                .all(|(kind, _)| matches!(kind, Kind::SharedRace | Kind::UninitializedShared))
        );
        assert!(
            ran.kinds()
                .iter()
                .any(|(kind, _)| *kind == Kind::SharedRace),
            "{:?}",
            ran.kinds()
        );
        let right =
            format!("{body}\nst.shared.u32 [%s2], %r0; {members}\nld.shared.u32 %r2, [%s3];");
        assert_eq!(kernel(&right).block(64).smem(256).run().report.findings, []);
        let again = format!("{right}\nst.shared.u32 [%s2], %r0;");
        // Which of the two comes first depends on the order of warps.
        for seed in 0..6 {
            let ran = kernel(&again).block(64).smem(256).seeded(seed).unwrap();
            let kinds = ran.kinds();
            assert!(!kinds.is_empty(), "seed {seed}");
            assert!(
                kinds
                    .iter()
                    .all(|(kind, line)| *kind == Kind::SharedRace && matches!(line, 2 | 3)),
                "{kinds:?}"
            );
            let both: Vec<_> = ran
                .report
                .findings
                .iter()
                .map(|finding| finding.other.as_ref().unwrap().instruction.as_str())
                .collect();
            assert!(
                both.contains(&"ld.shared.u32") || both.contains(&"st.shared.u32"),
                "{both:?}"
            );
        }
    }
    let run = kernel("mov.u64 %s2, smem; mov.u32 %r0, %tid.x;\nst.shared.u32 [%s2], %r0;").smem(4);
    only(run, Kind::SharedRace, 1);
}

#[test]
fn waits_that_are_missing_or_too_weak() {
    let copy = "cp.async.ca.shared.global [%s2], [%s90], 4; cp.async.commit_group;
        cp.async.ca.shared.global [%s2+128], [%s90], 4; cp.async.commit_group;";
    let with = |wait: &str, offset: u32| {
        kernel(&format!(
            "{HEAD} {copy} {wait}\nld.shared.u32 %r1, [%s2+{offset}];"
        ))
        .input([7])
        .smem(256)
    };
    assert_eq!(
        with("cp.async.wait_group 0;", 128).run().report.findings,
        []
    );
    assert_eq!(with("cp.async.wait_group 1;", 0).run().report.findings, []);
    assert_eq!(with("cp.async.wait_all;", 128).run().report.findings, []);
    let finding = only(with("cp.async.wait_group 1;", 128), Kind::MissingWait, 2);
    assert_eq!(
        finding.other.unwrap().instruction,
        "cp.async.ca.shared.global"
    );
    only(with("", 0), Kind::MissingWait, 2);
    only(with("cp.async.wait_group 2;", 0), Kind::MissingWait, 2);
    // What is not committed is not waited for.
    let run = kernel(&format!(
        "{HEAD} cp.async.ca.shared.global [%s2], [%s90], 4; cp.async.wait_group 0;\nld.shared.u32 %r1, [%s2];"
    ));
    only(run.input([7]).smem(128), Kind::MissingWait, 1);
    // The thread that copies must wait, not the one that reads; and the barrier comes after the wait.
    let other = |middle: &str| {
        kernel(&format!(
            "{HEAD} cp.async.ca.shared.global [%s2], [%s90], 4; cp.async.commit_group; xor.b32 %r1, %r0, 32; mul.wide.u32 %s3, %r1, 4;
            mov.u64 %s4, smem; add.s64 %s3, %s3, %s4; {middle}\nld.shared.u32 %r2, [%s3];"
        ))
        .input([7])
        .block(64)
        .smem(256)
    };
    assert_eq!(
        other("cp.async.wait_group 0; bar.sync 0;")
            .run()
            .report
            .findings,
        []
    );
    let ran = other("bar.sync 0; cp.async.wait_group 0;").run();
    assert!(
        ran.kinds()
            .iter()
            .all(|(kind, line)| matches!(kind, Kind::MissingWait | Kind::SharedRace) && *line == 2)
    );
    assert!(!ran.kinds().is_empty());
}

#[test]
fn barriers_that_not_all_reach() {
    let run =
        kernel("mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 40; @%p1 bra L; ret; L:\nbar.sync 0;")
            .block(64);
    let ran = run.run();
    assert!(
        ran.kinds()
            .iter()
            .all(|(kind, line)| *kind == Kind::BarrierDivergence && *line == 1),
        "{:?}",
        ran.kinds()
    );
    assert!(!ran.kinds().is_empty());
    // Lanes of a warp at two barriers.
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16; @%p1 bra L;\nbar.sync 0; bra E;\nL: bar.sync 0;\nE: ret;",
    );
    let told = |ran: &super::Ran| {
        assert_eq!(ran.kinds(), [(Kind::BarrierDivergence, 1)]);
        let finding = &ran.report.findings[0];
        for text in ["lanes 16-31 wait", "lanes 0-15 wait"] {
            assert!(finding.message.contains(text), "{finding}");
        }
    };
    told(&run.run());
    // A second warp, which waits for the first one's lanes, is no mistake of its own.
    told(&run.block(64).run());
    // A product of matrices by half a warp.
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16; mov.u32 %r1, 0; @%p1 bra E;
        mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r2,%r3,%r4,%r5}, {%r1,%r1}, {%r1}, {%r1,%r1,%r1,%r1};\nE: ret;",
    );
    assert_eq!(run.run().kinds(), [(Kind::BarrierDivergence, 1)]);
}

#[test]
fn lanes_that_come_one_by_one_to_a_barrier_that_others_miss_are_told_as_ranges() {
    // Each lane below 16 gets there by itself, and so does lane 20.
    let body = "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; mov.u32 %r2, 0; setp.eq.u32 %p1, %r1, 20; setp.lt.or.u32 %p1, %r1, 16, %p1; @!%p1 bra ELSE;\n\
                L: setp.eq.u32 %p2, %r1, %r2; @%p2 bra HERE; add.u32 %r2, %r2, 1; bra L;\n\
                HERE: bar.warp.sync -1; ret;\n\
                ELSE: bar.sync 1; ret;";
    let ran = kernel(body).block(64).run();
    let found = &ran.report.findings;
    assert_eq!(ran.kinds(), [(Kind::BarrierDivergence, 2)]);
    // One for each warp, of both barriers.
    assert_eq!(found[0].count, 2);
    let told = |text: &str| {
        let message = &found[0].message;
        assert!(message.contains(text), "{message}");
    };
    told("lanes 0-15, 20 wait for");
    told("but lanes 16-19, 21-31 wait at bar.sync (PTX line 11);");
}

#[test]
fn deadlocks() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 32; @%p1 bra L;\nbar.sync 1; bar.sync 2; ret;\nL: bar.sync 2; bar.sync 1;",
    )
    .block(64);
    assert_eq!(
        run.run().kinds(),
        [(Kind::Deadlock, 1), (Kind::Deadlock, 2)]
    );
    let run = kernel("mov.u32 %r0, %tid.x;\nbar.sync 1, 96;").block(64);
    assert_eq!(run.run().kinds(), [(Kind::Deadlock, 1)]);
}

/// Two stores of neighbouring blocks meet, of which the one that comes second is told.
#[test]
fn what_is_between_blocks_is_told_the_same_in_every_run() {
    let text = "mov.u32 %r0, %ctaid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1;\n\
                st.global.u32 [%s2], %r0;\nst.global.u32 [%s2 + 4], %r0;";
    let run = || {
        let ran = kernel(text).output(513).block(1).grid(512).run();
        ran.report.findings
    };
    let first = run();
    assert!(!first.is_empty());
    for _ in 0..20 {
        assert_eq!(run(), first);
    }
}

#[test]
fn outputs_that_are_not_written_once() {
    let run = kernel("mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; st.global.u32 [%s2], %r0;").output(40);
    let finding = only(run, Kind::NeverWritten, -1);
    assert_eq!(
        (finding.count, finding.address.as_deref()),
        (8, Some("T0 at element (32)"))
    );
    let run = kernel("mov.u32 %r0, %ctaid.x; add.u32 %r1, %r0, 0;\nst.global.u32 [%s90], %r1;")
        .output(1)
        .block(1)
        .grid(2);
    only(run, Kind::ConflictingWrites, 1);
    let run = kernel("mov.u32 %r0, %tid.x;\nst.global.u32 [%s90], %r0;").output(1);
    only(run, Kind::ConflictingWrites, 1);
    let run = kernel("mov.u32 %r0, 5;\nst.global.u32 [%s90], %r0;")
        .output(1)
        .grid(4);
    assert_eq!(run.run().report.findings, [], "one value by all");
    let run = kernel("\nst.global.u32 [%s90], 1;").input([3]).block(1);
    only(run, Kind::WriteToInput, 1);
    // Reads of what others write need a barrier, be the write or the read first.
    let read = |barrier: &str| {
        kernel(&format!(
            "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; st.global.u32 [%s2], %r0; {barrier}
            xor.b32 %r1, %r0, 32; mul.wide.u32 %s3, %r1, 4; add.s64 %s4, %s90, %s3;\nld.global.u32 %r2, [%s4];"
        ))
        .in_out([0; 64])
        .block(64)
    };
    assert_eq!(read("bar.sync 0;").run().report.findings, []);
    for seed in 0..4 {
        let kinds = read("").seeded(seed).unwrap().kinds();
        let race = |&kind| [(Kind::GlobalRace, 0), (Kind::GlobalRace, 2)].contains(&kind);
        assert!(!kinds.is_empty() && kinds.iter().all(race), "{kinds:?}");
    }
    // Gaps of a layout are nobody's.
    let run = kernel("st.global.u32 [%s90], 1; st.global.u32 [%s90+8], 1;")
        .output_at("2:2")
        .block(1);
    assert_eq!(run.run().report.findings, []);
}

#[test]
fn assertions() {
    let text = |text: &str| {
        text.bytes()
            .chain([0])
            .map(|b| b.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let run = kernel(&format!(
        ".global .b8 m[6] = {{{}}}; .global .b8 e[2] = {{{}}};
        mov.u64 %s1, m; cvta.global.u64 %s1, %s1; mov.u64 %s2, e; cvta.global.u64 %s2, %s2;
        {{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 x; st.param.b64 [a], %s1; st.param.b64 [b], %s2;
        st.param.b32 [c], 12; st.param.b64 [d], %s2; st.param.b64 [x], 1;
        call.uni __assertfail, (a, b, c, d, x); }} trap;",
        text("a > b"), text("f")
    ));
    let ran = run.run();
    assert_eq!(ran.report.findings.len(), 1);
    assert!(
        ran.report.findings[0]
            .message
            .contains("a > b (f:12, in f)"),
        "{}",
        ran.report.findings[0]
    );
    only(kernel("\ntrap;"), Kind::Trap, 1);
}

/// Blocks 1 and 2 of four read behind the end; no block writes what it should.
#[test]
fn a_launch_ends_behind_the_first_block_with_findings_where_that_is_asked_for() {
    let run = || {
        kernel(
            "mov.u32 %r0, %ctaid.x; and.b32 %r1, %r0, 2; shr.u32 %r1, %r1, 1; xor.b32 %r1, %r1, %r0; and.b32 %r1, %r1, 1;\n\
             mul.wide.u32 %s1, %r1, 4; add.s64 %s1, %s90, %s1;\nld.global.u32 %r2, [%s1];",
        )
        .input([7])
        .output(1)
        .grid(4)
    };
    for seed in 0..3 {
        let all = run().seeded(seed).unwrap().report;
        let some = run().stopping().seeded(seed).unwrap().report;
        let found = |report: &Report| -> Vec<(Kind, u64)> {
            let findings = report.findings.iter();
            findings
                .map(|finding| (finding.kind, finding.count))
                .collect()
        };
        assert_eq!(
            found(&all),
            [(Kind::OutOfBounds, 64), (Kind::NeverWritten, 1)]
        );
        assert_eq!(found(&some), [(Kind::OutOfBounds, 32)]);
        assert_eq!((all.halted, some.halted), (false, true));
        let thread = some.findings[0].thread.unwrap();
        assert_eq!(thread.block, [1, 0, 0]);
        // Where nothing is found, nothing is left out.
        let right = kernel(
            "mov.u32 %r0, %ctaid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s90, %s1;\nst.global.u32 [%s1], %r0;",
        );
        let right = right
            .output(4)
            .grid(4)
            .block(1)
            .stopping()
            .seeded(seed)
            .unwrap();
        assert!(right.report.findings.is_empty() && !right.report.halted);
    }
}

#[test]
fn loads_of_what_nothing_may_write() {
    // The address of the word of the other half of the block is %s2.
    let start = "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s90, %s1; xor.b32 %r2, %r0, 32; mul.wide.u32 %s2, %r2, 4; add.s64 %s2, %s90, %s2;";
    let run = |body: &str| {
        kernel(&format!("{start}\n{body}"))
            .in_out([7; 64])
            .block(64)
            .run()
    };
    for body in [
        "st.global.u32 [%s1], %r0; bar.sync 0;\nld.global.nc.u32 %r1, [%s2]; st.global.u32 [%s90+256], %r1;",
        "ld.global.nc.u32 %r1, [%s2]; bar.sync 0;\nst.global.u32 [%s1], %r1;",
        "ld.global.nc.u32 %r1, [%s1];\nst.global.u32 [%s1], %r1;",
        "ld.global.nc.u32 %r1, [%s1];\nred.global.add.u32 [%s1], %r1;",
    ] {
        let body = body.replace(
            " st.global.u32 [%s90+256], %r1;",
            "setp.eq.u32 %p1, %r1, 99; @%p1 trap;",
        );
        let ran = run(&body);
        assert_eq!(ran.kinds(), [(Kind::NonCoherentRead, 2)], "{body}");
        assert_eq!(ran.report.findings[0].count, 64, "{body}");
        run(&body.replace(".nc", "")).clean(0);
    }
    // Without an order it is the race that it is by any load.
    let races = "st.global.u32 [%s1], %r0;\nld.global.nc.u32 %r1, [%s2]; setp.eq.u32 %p1, %r1, 99; @%p1 trap;";
    assert!(
        run(races)
            .kinds()
            .iter()
            .any(|(kind, _)| *kind == Kind::GlobalRace)
    );
    // What was written by the launch before may be read.
    run("ld.global.nc.u32 %r1, [%s2]; setp.eq.u32 %p1, %r1, 99; @%p1 trap;").clean(0);
}
