//! Control flow.

use super::*;

/// `%r0` is the thread, `%s0` where its element of the last tensor lies.
const HEAD: &str = "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4;";

#[test]
fn threads_take_different_ways_and_meet() {
    let run = kernel(&format!(
        "{HEAD} add.s64 %s0, %s90, %s1;
        and.b32 %r1, %r0, 3;
        setp.eq.u32 %p1, %r1, 0; @%p1 bra A;
        setp.eq.u32 %p2, %r1, 1; @%p2 bra B;
        mov.u32 %r2, 30; bra.uni C;
        B: mov.u32 %r2, 20; bra.uni C;
        A: mov.u32 %r2, 10;
        C: activemask.b32 %r3;
        st.global.u32 [%s0], %r2;
        st.global.u32 [%s0+128], %r3; ret;"
    ))
    .output(64);
    let values = run.run().clean(0);
    for thread in 0..32 {
        assert_eq!(values[thread], [10, 20, 30, 30][thread % 4]);
        assert_eq!(values[32 + thread], -1, "all of them are together again");
    }
}

#[test]
fn loops_run_as_often_as_each_thread_asks() {
    let run = kernel(&format!(
        "{HEAD} add.s64 %s0, %s90, %s1;
        mov.u32 %r1, 0; mov.u32 %r2, 0;
        L: setp.ge.u32 %p1, %r1, %r0; @%p1 bra E;
        add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1; bra L;
        E: st.global.u32 [%s0], %r2;"
    ))
    .output(64)
    .block(64);
    let values = run.run().clean(0);
    for (n, value) in (0..64i64).zip(values) {
        assert_eq!(value, n * (n - 1) / 2);
    }
}

#[test]
fn a_table_of_targets_is_followed() {
    let run = kernel(&format!(
        "{HEAD} add.s64 %s0, %s90, %s1; and.b32 %r1, %r0, 1;
        T: .branchtargets A, B;
        brx.idx %r1, T;
        A: mov.u32 %r2, 7; bra E;
        B: mov.u32 %r2, 9;
        E: st.global.u32 [%s0], %r2;"
    ))
    .output(32);
    let values = run.run().clean(0);
    assert!((0..32).all(|i| values[i] == [7, 9][i % 2]));
}

#[test]
fn lanes_that_wait_for_each_other_both_go_on() {
    // Lane 0 spins until lane 1 has written: each must have its turn, whichever is further.
    let run = kernel(
        ".shared .align 4 .b32 flag;
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
        @%p0 bra SKIP; st.volatile.shared.u32 [flag], 0; SKIP: bar.warp.sync 0xffffffff;
        setp.eq.u32 %p1, %r0, 0; @%p1 bra SPIN;
        setp.eq.u32 %p2, %r0, 1; @%p2 bra SET; bra END;
        SPIN: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p3, %r1, 0; @%p3 bra SPIN;
        st.global.u32 [%s90], %r1; bra END;
        SET: mov.u32 %r2, 5; st.volatile.shared.u32 [flag], %r2;
        END: ret;",
    )
    .output(1);
    for seed in 0..5 {
        assert_eq!(run.seeded(seed).unwrap().clean(0), [5]);
    }
}

#[test]
fn an_endless_loop_is_stopped() {
    let ran = kernel("L: bra L;").limit(1000).run();
    let [finding] = ran.report.findings.as_slice() else {
        panic!("{:?}", ran.report.findings);
    };
    assert_eq!(finding.kind, Kind::InstructionLimit);
    assert!(finding.message.contains("1000 instructions"), "{finding}");
}

#[test]
fn instructions_that_are_not_known_are_refused() {
    let error = kernel("ret;\ntensormap.replace.tile.rank.global.b1024.b32 [%s90], 1;").refused();
    assert!(
        error.contains("PTX line 9") && error.contains("tensormap.replace.tile"),
        "{error}"
    );
    let error = kernel("add.s128 %r1, %r2, %r3;").refused();
    assert!(error.contains("add.s128"), "{error}");
    let error = kernel("add.s32 %r1, %r2, %nowhere;").refused();
    assert!(error.contains("%nowhere is not declared"), "{error}");
    let error = kernel("bra NOWHERE;").refused();
    assert!(error.contains("no label NOWHERE"), "{error}");
    let error = kernel("mov.u32 %r1, %envreg3;").refused();
    assert!(error.contains("%envreg3"), "{error}");
}
