//! Order that global memory hands on, and what lacks it.

use super::*;

/// Thread 0 of a block does `first`; a thread of another warp, or of another block, waits and does `second`.
#[derive(Clone, Copy)]
struct Handoff {
    /// A store to `%s90`, or to shared memory at `%s4`.
    payload: &'static str,
    raise: &'static str,
    see: &'static str,
    second: &'static str,
}

const ATOMIC: Handoff = Handoff {
    payload: "st.global.u32 [%s90], 1;",
    raise: "fence.acq_rel.gpu; atom.global.exch.b32 %r2, [flag], 1;",
    see: "atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2; fence.acq_rel.gpu;",
    second: "st.global.u32 [%s90], 2;",
};

impl Handoff {
    /// The second thread is thread 32 of the same block, or thread 0 of the next one.
    fn run(&self, blocks: bool) -> Run {
        let Handoff {
            payload,
            raise,
            see,
            second,
        } = *self;
        let (grid, who, other) = match blocks {
            true => (2, "%ctaid.x", 1),
            false => (1, "%tid.x", 32),
        };
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 flag;\n.visible .entry k(.param .u64 p) {{\n\
             .shared .align 4 .b8 sm[16]; .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %s<91>;\n\
             ld.param.u64 %s90, [p]; mov.u64 %s4, sm; mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 31; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n\
             mov.u32 %r1, {who}; setp.eq.u32 %p1, %r1, {other}; @%p1 bra L2; setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n\
             {payload}\n{raise}\nret;\nL2:\n{see}\n{second}\nret;\n}}\n"
        );
        let run = kernel(&text).module().in_out([0; 4]).grid(grid);
        run.block(if blocks { 32 } else { 64 }).limit(50_000_000)
    }

    fn is_order(&self, blocks: bool) {
        for seed in 0..8 {
            self.run(blocks).seeded(seed).unwrap().clean(0);
        }
    }

    /// It is found, as that kind, in every order.
    fn is_none(&self, blocks: bool, kind: Kind) {
        for seed in 0..8 {
            let ran = self.run(blocks).seeded(seed).unwrap();
            let findings = &ran.report.findings;
            assert!(
                findings.len() == 1 && findings[0].kind == kind,
                "seed {seed}: {findings:#?}\n{}",
                self.run(blocks).body
            );
        }
    }
}

/// `.cta` in place of `.gpu` in one of the parts.
fn narrow(text: &'static str) -> &'static str {
    text.replace(".gpu", ".cta").leak()
}

#[test]
fn a_fence_and_an_atomic_hand_order_on() {
    for blocks in [false, true] {
        ATOMIC.is_order(blocks);
        let read = "ld.global.u32 %r4, [%s90]; st.global.u32 [%s90+4], %r4;";
        let reader = Handoff {
            second: read,
            ..ATOMIC
        };
        reader.is_order(blocks);
        let no_release = "atom.global.exch.b32 %r2, [flag], 1;";
        let no_acquire =
            "atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2;";
        for (second, kind) in [
            (ATOMIC.second, Kind::ConflictingWrites),
            (read, Kind::GlobalRace),
        ] {
            let with = Handoff { second, ..ATOMIC };
            Handoff {
                raise: no_release,
                ..with
            }
            .is_none(blocks, kind);
            Handoff {
                see: no_acquire,
                ..with
            }
            .is_none(blocks, kind);
            // The fence comes too late.
            let late = "atom.global.exch.b32 %r2, [flag], 1; fence.acq_rel.gpu;";
            Handoff {
                raise: late,
                ..with
            }
            .is_none(blocks, kind);
        }
    }
}

#[test]
fn fences_of_one_direction_hand_order_on() {
    let see = "atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2;";
    let raise = "atom.global.exch.b32 %r2, [flag], 1;";
    let with = |release: &str, acquire: &str| Handoff {
        raise: format!("{release} {raise}").leak(),
        see: format!("{see} {acquire}").leak(),
        ..ATOMIC
    };
    for blocks in [false, true] {
        with("fence.release.gpu;", "fence.acquire.gpu;").is_order(blocks);
        with("fence.release.sys;", "fence.acq_rel.gpu;").is_order(blocks);
        // Each in the place of the other.
        for (release, acquire) in [
            ("fence.acquire.gpu;", "fence.acquire.gpu;"),
            ("fence.release.gpu;", "fence.release.gpu;"),
        ] {
            with(release, acquire).is_none(blocks, Kind::ConflictingWrites);
        }
    }
    with("fence.release.cta;", "fence.acquire.cta;").is_order(false);
    with("fence.release.cta;", "fence.acquire.gpu;").is_none(true, Kind::ConflictingWrites);
    with("fence.release.gpu;", "fence.acquire.cta;").is_none(true, Kind::ConflictingWrites);
}

#[test]
fn release_and_acquire_hand_order_on() {
    let wait = |load: &str| {
        format!("{load} setp.ne.u32 %p2, %r3, 1; @%p2 bra L2;")
            .leak()
            .to_owned()
            .leak()
    };
    let raises = [
        "st.release.gpu.global.u32 [flag], 1;",
        "atom.global.release.gpu.exch.b32 %r2, [flag], 1;",
        "red.release.gpu.global.add.u32 [flag], 1;",
        "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [flag], 1;",
        "membar.gl; st.volatile.global.u32 [flag], 1;",
        // A strong write after a release operation on the place belongs to the release.
        "st.release.gpu.global.u32 [flag], 7; st.relaxed.gpu.global.u32 [flag], 1;",
    ];
    let sees: [&'static str; 4] = [
        wait("ld.acquire.gpu.global.u32 %r3, [flag];"),
        wait("atom.global.acquire.gpu.add.u32 %r3, [flag], 0;"),
        wait("atom.global.acq_rel.gpu.cas.b32 %r3, [flag], 1, 1;"),
        "ld.relaxed.gpu.global.u32 %r3, [flag]; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2; membar.gl;",
    ];
    for raise in raises {
        for see in sees {
            let both = Handoff {
                raise,
                see,
                ..ATOMIC
            };
            both.is_order(false);
            both.is_order(true);
            // Within a block, every scope will do.
            let near = Handoff {
                raise: narrow(raise),
                see: narrow(see),
                ..ATOMIC
            };
            near.is_order(false);
        }
    }
}

#[test]
fn scopes_must_hold_the_other_thread() {
    // The fence, the write, the fence after the read: each of the block alone.
    let fences = Handoff {
        raise: "fence.acq_rel.cta; atom.global.exch.b32 %r2, [flag], 1;",
        ..ATOMIC
    };
    fences.is_order(false);
    fences.is_none(true, Kind::ConflictingWrites);
    let fences = Handoff {
        see: "atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2; fence.acq_rel.cta;",
        ..ATOMIC
    };
    fences.is_order(false);
    fences.is_none(true, Kind::ConflictingWrites);
    // Where the flag's own accesses are narrow, they race, too.
    let flag = Handoff {
        raise: "fence.acq_rel.gpu; atom.global.cta.exch.b32 %r2, [flag], 1;",
        ..ATOMIC
    };
    flag.is_order(false);
    for seed in 0..4 {
        let ran = flag.run(true).seeded(seed).unwrap();
        let kinds: Vec<Kind> = ran.report.findings.iter().map(|f| f.kind).collect();
        assert!(kinds.contains(&Kind::GlobalRace), "{kinds:?}");
        assert!(kinds.contains(&Kind::ConflictingWrites), "{kinds:?}");
        let message = &ran.report.findings[0].message;
        assert!(
            message.contains("scope is the block alone; use scope .gpu"),
            "{message}"
        );
    }
}

#[test]
fn what_a_thread_was_told_it_hands_on() {
    // Thread 0 of block 0 tells thread 32 of it, that tells block 1, and that tells its thread 32.
    let text = |near: &str, far: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 flag = 0;\n.visible .entry k(.param .u64 p) {{\n\
             .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %s<91>;\n\
             ld.param.u64 %s90, [p]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, 0; @%p1 ret;\n\
             mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 1; shr.u32 %r1, %r1, 5; add.u32 %r1, %r1, %r2;\n\
             WAIT: atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, %r1; @%p2 bra WAIT;\n\
             and.b32 %r4, %r1, 1; setp.eq.u32 %p1, %r4, 1; @%p1 bra NEAR; {far} bra GO; NEAR: {near} GO:\n\
             ld.global.u32 %r5, [%s90]; add.u32 %r5, %r5, 5; st.global.u32 [%s90], %r5;\n\
             @%p1 bra TELL; {near} bra RAISE; TELL: {far} RAISE: atom.global.add.u32 %r3, [flag], 1; ret;\n}}\n"
        )
    };
    let run = |near, far| {
        kernel(&text(near, far))
            .module()
            .in_out([0])
            .grid(2)
            .block(64)
            .limit(50_000_000)
    };
    for seed in 0..8 {
        let ran = run("fence.acq_rel.cta;", "fence.acq_rel.gpu;").seeded(seed);
        assert_eq!(ran.unwrap().clean(0), [20]);
        let ran = run("fence.acq_rel.cta;", "fence.acq_rel.cta;").seeded(seed);
        assert!(!ran.unwrap().report.findings.is_empty());
    }
}

#[test]
fn a_global_flag_orders_shared_memory() {
    let shared = Handoff {
        payload: "st.shared.u32 [%s4], 1;",
        second: "st.shared.u32 [%s4], 2;",
        ..ATOMIC
    };
    shared.is_order(false);
    let unfenced = Handoff {
        raise: "atom.global.exch.b32 %r2, [flag], 1;",
        ..shared
    };
    unfenced.is_none(false, Kind::SharedRace);
}

#[test]
fn a_barrier_hands_on_what_another_block_told() {
    // Thread 0 is told by block 0, and the others of its block by it.
    let text = |barrier: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.global .align 4 .u32 flag;\n.visible .entry k(.param .u64 p) {{\n\
             .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %s<91>;\n\
             ld.param.u64 %s90, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %s1, %r1, 4; add.s64 %s1, %s90, %s1;\n\
             setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 1; @%p1 bra SECOND;\n\
             st.global.u32 [%s1], 1; bar.sync 0; @%p0 fence.acq_rel.gpu; @%p0 red.global.add.u32 [flag], 1; ret;\n\
             SECOND: @!%p0 bra JOIN; WAIT: ld.relaxed.gpu.global.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT;\n\
             fence.acq_rel.gpu; JOIN: {barrier} xor.b32 %r1, %r1, 33; mul.wide.u32 %s1, %r1, 4; add.s64 %s1, %s90, %s1;\n\
             ld.global.u32 %r4, [%s1]; add.u32 %r4, %r4, 1; st.global.u32 [%s1], %r4; ret;\n}}\n"
        )
    };
    let run = |barrier| {
        kernel(&text(barrier))
            .module()
            .in_out([0; 64])
            .grid(2)
            .block(64)
            .limit(50_000_000)
    };
    for seed in 0..8 {
        assert_eq!(run("bar.sync 0;").seeded(seed).unwrap().clean(0), [2; 64]);
        let ran = run("").seeded(seed).unwrap();
        assert!(!ran.report.findings.is_empty());
    }
}

#[test]
fn variables_without_an_initialiser_are_zero() {
    let text = |variable: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n{variable}\n.visible .entry k(.param .u64 p) {{\n\
             .reg .b32 %r<2>; .reg .b64 %s<2>;\n\n\nld.global.u32 %r1, [x];\nld.param.u64 %s1, [p]; st.global.u32 [%s1], %r1; ret;\n}}\n"
        )
    };
    let run = |variable| kernel(&text(variable)).module().in_out([9]).block(1).run();
    assert_eq!(run(".global .align 4 .u32 x;").clean(0), [0]);
    assert_eq!(run(".global .align 4 .u32 x = 3;").clean(0), [3]);
    // Nobody knows what another module puts there.
    assert_eq!(
        run(".extern .global .align 4 .u32 x;").kinds(),
        [(Kind::UninitializedMemory, 1)]
    );
}

#[test]
fn an_atomic_elsewhere_orders_no_blocks() {
    for atomic in ["", "atom.global.add.u32 %r2, [%s90+4], 1;"] {
        let body = format!("mov.u32 %r1, %ctaid.x;\nst.global.u32 [%s90], %r1;\n{atomic}");
        let run = kernel(&body).in_out([0; 2]).grid(4).block(1);
        for seed in 0..8 {
            let ran = run.seeded(seed).unwrap();
            assert_eq!(ran.kinds(), [(Kind::ConflictingWrites, 1)]);
        }
    }
    // Nor the same place, by a plain write of one block and an atomic of another.
    let body = "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n@%p1 st.global.u32 [%s90], 5;\n@!%p1 red.global.add.u32 [%s90], 1;";
    for seed in 0..8 {
        let ran = kernel(body)
            .in_out([0])
            .grid(4)
            .block(1)
            .seeded(seed)
            .unwrap();
        assert!(!ran.kinds().is_empty());
        assert!(
            ran.kinds()
                .iter()
                .all(|(kind, _)| *kind == Kind::GlobalRace)
        );
    }
}

#[test]
fn a_plain_read_beside_an_atomic_races() {
    let body = |load: &str| {
        format!(
            "mov.u32 %r1, %tid.x;\n{load} %r3, [%s90];\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 atom.global.max.u32 %r4, [%s90], %r1;"
        )
    };
    for seed in 0..8 {
        let run = |load| {
            kernel(&body(load))
                .in_out([0])
                .block(64)
                .seeded(seed)
                .unwrap()
        };
        let ran = run("ld.global.u32");
        assert!(!ran.kinds().is_empty());
        assert!(
            ran.kinds()
                .iter()
                .all(|(kind, _)| *kind == Kind::GlobalRace)
        );
        assert_eq!(run("ld.relaxed.gpu.global.u32").clean(0), [63]);
        assert_eq!(run("ld.volatile.global.u32").clean(0), [63]);
    }
    // A barrier between them orders the two.
    let body = "mov.u32 %r1, %tid.x; atom.global.max.u32 %r4, [%s90], %r1; bar.sync 0; ld.global.u32 %r3, [%s90]; setp.eq.u32 %p1, %r3, %r1; \
                bar.sync 0; @%p1 st.global.u32 [%s90], 7; bar.sync 0; atom.global.add.u32 %r4, [%s90], 1;";
    for seed in 0..8 {
        let ran = kernel(body).in_out([0]).block(64).seeded(seed).unwrap();
        assert_eq!(ran.clean(0), [71]);
    }
}

#[test]
fn a_write_after_a_read_of_another_lane_races() {
    let body = |space: &str, between: &str, mask: u32| {
        format!(
            "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; and.b32 %r2, %r2, {mask}; mul.wide.u32 %s2, %r1, 4; mul.wide.u32 %s3, %r2, 4;\n\
             add.s64 %s2, %s90, %s2; add.s64 %s3, %s90, %s3;\nld.{space}.u32 %r3, [%s3];\n{between}\nst.{space}.u32 [%s2], %r3;"
        )
    };
    for threads in [32, 64] {
        for seed in 0..8 {
            let run = |between| {
                kernel(&body("global", between, threads - 1))
                    .in_out(0..i64::from(threads))
                    .block(threads)
                    .seeded(seed)
                    .unwrap()
            };
            let kinds = run("").kinds();
            assert!(!kinds.is_empty());
            assert!(kinds.iter().all(|(kind, _)| *kind == Kind::GlobalRace));
            let rotated = (1..=i64::from(threads)).map(|i| i % i64::from(threads));
            assert_eq!(run("bar.sync 0;").clean(0), rotated.collect::<Vec<_>>());
            if threads == 32 {
                run("bar.warp.sync -1;").clean(0);
            }
        }
    }
}

#[test]
fn an_acquire_that_is_missing_is_named() {
    let see = "atom.global.add.u32 %r3, [flag], 0; setp.ne.u32 %p2, %r3, 1; @%p2 bra L2;";
    let says = |handoff: Handoff, blocks: bool| -> String {
        let ran = handoff.run(blocks).seeded(0).unwrap();
        let messages = ran.report.findings.iter().map(|f| f.message.clone());
        messages.collect()
    };
    for (blocks, fence) in [(false, "fence.acq_rel.cta"), (true, "fence.acq_rel.gpu")] {
        let lacks = Handoff { see, ..ATOMIC };
        let text = says(lacks, blocks);
        let expected = "this thread has seen by a strong read what was written behind that";
        assert!(text.contains(expected) && text.contains(fence), "{text}");
        // Without a release there is nothing to see.
        let raise = "atom.global.exch.b32 %r2, [flag], 1;";
        let text = says(Handoff { raise, ..lacks }, blocks);
        assert!(text.contains("order") && !text.contains(expected), "{text}");
    }
    // A fence that is for the block alone acquires nothing of another one.
    let see = format!("{see} fence.acq_rel.cta;").leak();
    let text = says(Handoff { see, ..ATOMIC }, true);
    assert!(text.contains("put fence.acq_rel.gpu behind"), "{text}");
}
