//! Barriers and what warps do in common.

use super::*;

#[test]
fn a_barrier_orders_shared_memory() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; mov.u64 %s2, smem; add.s64 %s3, %s2, %s1;
        st.shared.u32 [%s3], %r0; bar.sync 0;
        sub.u32 %r1, 127, %r0; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s2, %s4; ld.shared.u32 %r2, [%s4];
        add.s64 %s5, %s90, %s1; st.global.u32 [%s5], %r2;",
    )
    .output(128)
    .block(128)
    .smem(512);
    for seed in 0..8 {
        let values = run.seeded(seed).unwrap().clean(0);
        assert!((0..128).all(|i| values[i as usize] == 127 - i));
    }
}

#[test]
fn named_barriers_pass_data_from_producers_to_consumers() {
    // Warp 0 fills and arrives; warp 1 waits for it, and the other two know nothing of it.
    let body = "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; and.b32 %r2, %r0, 31; mul.wide.u32 %s1, %r2, 4;
        mov.u64 %s2, smem; add.s64 %s2, %s2, %s1;
        setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 1; @%p0 bra FILL; @%p1 bra USE; ret;
        FILL: st.shared.u32 [%s2], %r0; bar.arrive 3, 64; ret;
        USE: BARRIER ld.shared.u32 %r3, [%s2]; add.s64 %s3, %s90, %s1; st.global.u32 [%s3], %r3; ret;";
    let run = |barrier: &str| {
        kernel(&body.replace("BARRIER", barrier))
            .output(32)
            .block(128)
            .smem(128)
    };
    for seed in 0..8 {
        let values = run("bar.sync 3, 64;").seeded(seed).unwrap().clean(0);
        assert_eq!(values, (0..32).collect::<Vec<i64>>());
    }
    let ran = run("").run();
    assert!(
        ran.kinds()
            .iter()
            .any(|(kind, _)| matches!(kind, Kind::SharedRace | Kind::UninitializedShared)),
        "{:?}",
        ran.kinds()
    );
}

#[test]
fn barriers_reduce() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1; bar.red.and.pred %p2, 0, %p1;
        bar.red.or.pred %p3, 0, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;
        setp.ne.u32 %p4, %r0, 63; @%p4 ret; st.global.u32 [%s90], %r1; st.global.u32 [%s90+4], %r2; st.global.u32 [%s90+8], %r3;",
    )
    .output(3)
    .block(64);
    assert_eq!(run.run().clean(0), [40, 0, 1]);
}

#[test]
fn shuffles_and_votes_follow_the_ptx_isa() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1;
        shfl.sync.up.b32 %r1|%p1, %r0, 1, 0, 0xffffffff; st.global.u32 [%s2], %r1;
        shfl.sync.down.b32 %r2, %r0, 3, 31, 0xffffffff; st.global.u32 [%s2+128], %r2;
        shfl.sync.bfly.b32 %r3, %r0, 5, 31, 0xffffffff; st.global.u32 [%s2+256], %r3;
        shfl.sync.idx.b32 %r4, %r0, 2, 6175, 0xffffffff; st.global.u32 [%s2+384], %r4;
        setp.gt.u32 %p2, %r0, 29; vote.sync.ballot.b32 %r5, %p2, 0xffffffff; st.global.u32 [%s2+512], %r5;
        selp.u32 %r6, 1, 0, %p1; st.global.u32 [%s2+640], %r6;
        redux.sync.add.s32 %r7, %r0, 0xffffffff; st.global.u32 [%s2+768], %r7;
        shr.u32 %r8, %r0, 4; match.any.sync.b32 %r9, %r8, 0xffffffff; st.global.u32 [%s2+896], %r9;
        match.sync.any.b32 %r10, %r8, 0xffffffff; st.global.u32 [%s2+1024], %r10;",
    )
    .output(288);
    let values = run.run().clean(0);
    // ptxas takes both orders of the words.
    assert_eq!(values[224..256], values[256..]);
    for lane in 0..32i64 {
        let at = |row: i64| values[(row * 32 + lane) as usize];
        assert_eq!(at(0), (lane - 1).max(0));
        assert_eq!(at(1), if lane + 3 < 32 { lane + 3 } else { lane });
        assert_eq!(at(2), lane ^ 5);
        // c = 0x181f: segments of 8 lanes.
        assert_eq!(at(3), lane / 8 * 8 + 2);
        assert_eq!(at(4), 0xc000_0000u32 as i32 as i64);
        assert_eq!(at(5), i64::from(lane != 0));
        assert_eq!(at(6), 31 * 32 / 2);
        assert_eq!(
            at(7),
            if lane < 16 {
                0xffff
            } else {
                0xffff_0000u32 as i32 as i64
            }
        );
    }
}

#[test]
fn releases_and_acquires_order_shared_memory() {
    let body = "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u64 %s2, smem;
        @!%p0 bra WAIT; st.volatile.shared.u32 [%s2], 0; WAIT: bar.sync 0; setp.eq.u32 %p1, %r0, 32; @%p0 bra SEND; @%p1 bra RECEIVE; ret;
        SEND: mov.u32 %r1, 42; st.shared.u32 [%s2+4], %r1; BEFORE st.RELEASE.shared.u32 [%s2], 1; ret;
        RECEIVE: ld.ACQUIRE.shared.u32 %r2, [%s2]; setp.eq.u32 %p2, %r2, 0; @%p2 bra RECEIVE; AFTER ld.shared.u32 %r3, [%s2+4];
        st.global.u32 [%s90], %r3; ret;";
    let run = |release: &str, acquire: &str, fence: &str| {
        let body = body.replace("RELEASE", release).replace("ACQUIRE", acquire);
        kernel(&body.replace("BEFORE", fence).replace("AFTER", fence))
            .output(1)
            .block(64)
            .smem(8)
    };
    for seed in 0..4 {
        assert_eq!(
            run("release.cta", "acquire.cta", "")
                .seeded(seed)
                .unwrap()
                .clean(0),
            [42]
        );
        assert_eq!(
            run("relaxed.cta", "relaxed.cta", "fence.acq_rel.cta;")
                .seeded(seed)
                .unwrap()
                .clean(0),
            [42]
        );
        assert_eq!(
            run("volatile", "volatile", "membar.cta;")
                .seeded(seed)
                .unwrap()
                .clean(0),
            [42]
        );
        let ran = run("relaxed.cta", "relaxed.cta", "").seeded(seed).unwrap();
        assert!(
            ran.kinds()
                .iter()
                .any(|(kind, _)| *kind == Kind::SharedRace),
            "{:?}",
            ran.kinds()
        );
    }
}

#[test]
fn shuffles_wait_for_those_that_have_not_ended() {
    // Lanes 16 to 31 end first; a block of 20 threads has a part of a warp.
    let body = "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 16; @%p0 ret; bar.warp.sync 0xffffffff;
        shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffffffff; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; st.global.u32 [%s2], %r1;";
    for threads in [20, 32] {
        let values = kernel(body).output(16).block(threads).run().clean(0);
        assert!((0..16).all(|i| values[i as usize] == i ^ 1));
    }
    // What an ended lane holds is not defined.
    let other = body.replace("bfly.b32 %r1, %r0, 1,", "bfly.b32 %r1, %r0, 16,");
    let ran = kernel(&other).output(16).run();
    assert_eq!(ran.kinds(), [(Kind::Undefined, 1)]);
}

#[test]
fn a_barrier_of_all_threads_may_say_how_many_they_are() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; @%p0 bra A; bar.sync 0; ret; A: bar.sync 0, 64;",
    )
    .block(64);
    assert_eq!(run.run().report.findings, []);
}
