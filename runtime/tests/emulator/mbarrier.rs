//! `mbarrier` objects: the object lies at byte 0 of shared memory, data from byte 16 on.

use super::*;

/// Thread 0 makes an object for `COUNT` arrivals; warp 0 fills, arrives and ends, warp 1 waits and reads.
const BODY: &str = "mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31; mul.wide.u32 %s1, %r1, 4; mov.u64 %s0, smem; add.s64 %s2, %s0, %s1;
    setp.ne.u32 %p0, %r0, 0; @%p0 bra READY; mbarrier.init.shared.b64 [%s0], COUNT; READY: AFTER_INIT
    setp.ge.u32 %p1, %r0, 32; @%p1 bra USE;
    FILL ret;
    USE: WAIT
    READ ld.shared.u32 %r3, [%s2+16]; add.s64 %s3, %s90, %s1; st.global.u32 [%s3], %r3; ret;";
const FILL: &str = "st.shared.u32 [%s2+16], %r0; mbarrier.arrive.shared.b64 %s5, [%s0];";
const WAIT: &str = "mbarrier.try_wait.parity.shared.b64 %p2, [%s0], 0; @!%p2 bra USE;";

fn run(count: &str, after_init: &str, fill: &str, wait: &str) -> Run {
    let body = BODY
        .replace("COUNT", count)
        .replace("AFTER_INIT", after_init)
        .replace("FILL", fill)
        .replace("WAIT", wait)
        .replace("READ", "");
    kernel(&body).block(64).smem(256).output(32)
}

fn kinds(run: &Run) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = (0..6)
        .flat_map(|seed| run.seeded(seed).unwrap().kinds())
        .map(|(kind, _)| kind)
        .filter(|kind| *kind != Kind::NeverWritten)
        .collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

#[test]
fn arrivals_hand_data_on() {
    for (count, fill) in [
        ("32", FILL),
        (
            "64",
            "st.shared.u32 [%s2+16], %r0; mbarrier.arrive.release.cta.shared::cta.b64 _, [%s0], 2;",
        ),
        (
            "1",
            "st.shared.u32 [%s2+16], %r0; bar.warp.sync 0xffffffff; @!%p0 mbarrier.arrive.shared.b64 _, [%s0];",
        ),
        (
            "32",
            "st.shared.u32 [%s2+16], %r0; mbarrier.arrive.expect_tx.shared.b64 _, [%s0], 8; mbarrier.complete_tx.shared.b64 [%s0], 8;",
        ),
    ] {
        for wait in [WAIT, &WAIT.replace("try_wait", "test_wait")] {
            let run = run(count, "bar.sync 0;", fill, wait);
            for seed in 0..6 {
                let values = run.seeded(seed).unwrap().clean(0);
                assert_eq!(values, (0..32).collect::<Vec<i64>>());
            }
        }
    }
}

#[test]
fn states_name_the_phase_that_was_arrived_at() {
    let run = kernel(
        "mov.u64 %s0, smem; mbarrier.init.shared.b64 [%s0], 1;
        mbarrier.arrive.shared.b64 %s1, [%s0]; mbarrier.test_wait.shared.b64 %p1, [%s0], %s1;
        mbarrier.test_wait.parity.shared.b64 %p2, [%s0], 0; mbarrier.test_wait.parity.shared.b64 %p3, [%s0], 1;
        selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;
        st.global.u32 [%s90], %r1; st.global.u32 [%s90+4], %r2; st.global.u32 [%s90+8], %r3; mbarrier.inval.shared.b64 [%s0];",
    )
    .block(1)
    .smem(8)
    .output(3);
    assert_eq!(run.run().clean(0), [1, 1, 0]);
}

#[test]
fn what_is_missing_is_found() {
    // No barrier between the initialisation and its use.
    let found = kinds(&run("32", "", FILL, WAIT));
    assert!(
        found.contains(&Kind::SharedRace) || found.contains(&Kind::Undefined),
        "{found:?}"
    );
    // Nobody waits; one arrival too few; one too many; relaxed, which hands nothing on.
    let found = kinds(&run("32", "bar.sync 0;", FILL, ""));
    assert!(found.contains(&Kind::SharedRace), "{found:?}");
    assert_eq!(
        kinds(&run("33", "bar.sync 0;", FILL, WAIT)),
        [Kind::Deadlock]
    );
    let found = kinds(&run("31", "bar.sync 0;", FILL, WAIT));
    assert!(found.contains(&Kind::SharedRace), "{found:?}");
    let relaxed = FILL.replace("arrive", "arrive.relaxed.cta");
    assert_eq!(
        kinds(&run("32", "bar.sync 0;", &relaxed, WAIT)),
        [Kind::SharedRace]
    );
    let twice = format!("{FILL} mbarrier.arrive.shared.b64 _, [%s0], 40;");
    assert!(kinds(&run("32", "bar.sync 0;", &twice, WAIT)).contains(&Kind::Undefined));
    // Bytes that never come.
    let fill = FILL
        .replace("arrive", "arrive.expect_tx")
        .replace("[%s0]", "[%s0], 4");
    assert_eq!(
        kinds(&run("32", "bar.sync 0;", &fill, WAIT)),
        [Kind::Deadlock]
    );
    let run = kernel("mov.u64 %s0, smem; mbarrier.arrive.shared.b64 _, [%s0];")
        .smem(8)
        .block(1);
    assert_eq!(kinds(&run), [Kind::Undefined]);
}

/// The message of the first finding, and the instruction that it says made the object.
fn first(run: &Run) -> (String, Option<String>) {
    let ran = run.run();
    let finding = ran.report.findings.first().expect("a finding");
    assert_eq!(finding.kind, Kind::Deadlock);
    let made = finding.other.as_ref().map(|site| site.instruction.clone());
    (finding.message.clone(), made)
}

#[test]
fn a_number_of_arrivals_that_is_wrong_is_named() {
    let init = Some("mbarrier.init.shared.b64".to_owned());
    // More than there are threads that arrive.
    let (message, made) = first(&run("40", "bar.sync 0;", FILL, WAIT));
    assert!(
        message.contains("made for 40 arrivals a phase, 32 came, and no thread is left that could arrive: initialise it with 32, or let 8 more arrive"),
        "{message}"
    );
    assert_eq!(made, init);
    // Nobody arrives, or bytes are missing: it is not the number.
    let (message, made) = first(&run("32", "bar.sync 0;", "", WAIT));
    assert!(
        message.ends_with("lacks 32 of 32 arrivals and 0 bytes"),
        "{message}"
    );
    assert_eq!(made, None);
    let bytes = FILL
        .replace("arrive", "arrive.expect_tx")
        .replace("[%s0]", "[%s0], 4");
    assert_eq!(first(&run("32", "bar.sync 0;", &bytes, WAIT)).1, None);
    // Who is at another barrier may be to arrive yet: warp 0 arrives, warp 1 waits, warp 2 is elsewhere.
    let apart = "mov.u32 %r0, %tid.x; mov.u64 %s0, smem; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY; mbarrier.init.shared.b64 [%s0], 64;
        READY: bar.sync 0; setp.ge.u32 %p1, %r0, 64; @%p1 bra APART; setp.ge.u32 %p1, %r0, 32; @%p1 bra USE;
        mbarrier.arrive.shared.b64 _, [%s0]; ret;
        USE: mbarrier.try_wait.parity.shared.b64 %p2, [%s0], 0; @!%p2 bra USE; ret;
        APART: bar.sync 1, 64; ret;";
    let ran = kernel(apart).block(96).smem(8).output(1).run();
    let findings = ran.report.findings.iter();
    let stuck: Vec<_> = findings
        .filter(|finding| finding.kind == Kind::Deadlock)
        .collect();
    assert_eq!(stuck.len(), 2);
    assert!(
        stuck.iter().all(|finding| finding.other.is_none()),
        "{stuck:#?}"
    );
    // Fewer: a phase ends for each warp.
    let both = |count: &str| {
        let body = "mov.u32 %r0, %tid.x; mov.u64 %s0, smem; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
            mbarrier.init.shared.b64 [%s0], COUNT; READY: bar.sync 0; mbarrier.arrive.shared.b64 _, [%s0]; bar.sync 0;
            USE: mbarrier.try_wait.parity.shared.b64 %p2, [%s0], 0; @!%p2 bra USE;
            mul.wide.u32 %s1, %r0, 4; add.s64 %s3, %s90, %s1; st.global.u32 [%s3], %r0; ret;";
        kernel(&body.replace("COUNT", count))
            .block(64)
            .smem(8)
            .output(64)
    };
    assert_eq!(both("64").run().clean(0), (0..64).collect::<Vec<i64>>());
    let (message, made) = first(&both("32"));
    assert!(
        message.contains("made for 32 arrivals a phase and 64 threads arrive at it, so that phases ended before a thread had seen the one before, 1 times"),
        "{message}"
    );
    assert_eq!(made, init);
}

#[test]
fn copies_arrive_when_they_have_landed() {
    let copy = |arrive: &str| {
        let fill = format!(
            "add.s64 %s6, %s91, %s1; cp.async.ca.shared.global [%s2+16], [%s6], 4; {arrive}"
        );
        run("32", "bar.sync 0;", &fill, WAIT).input(100..132)
    };
    let noinc = copy("cp.async.mbarrier.arrive.noinc.shared.b64 [%s0];");
    for seed in 0..8 {
        let values = noinc.seeded(seed).unwrap().clean(0);
        assert_eq!(values, (100..132).collect::<Vec<i64>>());
    }
    assert_eq!(
        kinds(&copy("mbarrier.arrive.shared.b64 _, [%s0];")),
        [Kind::MissingWait]
    );
    // With the increment, the phase needs 32 arrivals more.
    assert_eq!(
        kinds(&copy("cp.async.mbarrier.arrive.shared.b64 [%s0];")),
        [Kind::Deadlock]
    );
}
