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
    let error = kernel("ret;\ntensormap.replace.im2col.rank.global.b1024.b32 [%s90], 1;").refused();
    assert!(
        error.contains("PTX line 9") && error.contains("tensormap.replace.im2col"),
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

#[test]
fn names_that_are_not_declared_are_refused() {
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.func (.param .b32 r) f(.param .b32 a) { ret; }\n\
        .visible .entry k(.param .u64 p) {\n.reg .b64 %s<2>;\nmov.b64 %s1, f;\nret;\n}\n";
    kernel(text).module().in_out([0]).run();
    let error = kernel(&text.replace("%s1, f;", "%s1, g;"))
        .module()
        .in_out([0])
        .refused();
    assert!(error.contains("g is not declared"), "{error}");
}

#[test]
fn modifiers_stand_where_ptxas_takes_them() {
    // 2^-149 is flushed to 0, which is not above 0; an integer is never tiny.
    let body = "mov.f32 %f1, 0f00000001; mov.f32 %f2, 0f00000000; setp.eq.u32 %p1, 0, 0; setp.gtu.ftz.and.f32 %p2, %f1, %f2, %p1;
        setp.gtu.and.ftz.f32 %p3, %f1, %f2, %p1; setp.gtu.and.f32 %p4, %f1, %f2, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;
        selp.u32 %r4, 1, 0, %p4; mov.u64 %s1, 3; cvt.rz.ftz.f32.u64 %f3, %s1; mov.b32 %r5, %f3; st.global.v4.u32 [%s90], {%r2, %r3, %r4, %r5};";
    let ran = kernel(body).output(4).block(1).run();
    assert_eq!(ran.clean(0), [0, 0, 1, 0x4040_0000]);
}

#[test]
fn functions_take_and_give_registers() {
    let text = |call: &str| {
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .func (.reg .b32 %sum, .reg .b64 %wide) f(.reg .b32 %a, .reg .b32 %b) {{ .reg .pred %p<2>; setp.eq.u32 %p1, %a, 0; @%p1 mov.u32 %b, 9;\n\
             add.u32 %sum, %a, %b; mul.wide.u32 %wide, %a, %b; mov.u32 %a, 77; @%p1 ret; add.u32 %sum, %sum, 100; ret; }}\n\
             .visible .entry k(.param .u64 p) {{\n.reg .b32 %r<9>; .reg .b64 %s<9>; ld.param.u64 %s1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, 5;\n\
             {call}\n cvt.u32.u64 %r5, %s2; add.u32 %r3, %r3, %r1; mul.wide.u32 %s3, %r1, 8; add.s64 %s1, %s1, %s3;\n\
             st.global.v2.u32 [%s1], {{%r3, %r5}}; ret; }}\n"
        )
    };
    let run = |call| kernel(&text(call)).module().in_out([0; 6]).block(3);
    let ran = run("call (%r3, %s2), f, (%r1, %r2);").run();
    assert_eq!(ran.clean(0), [9, 0, 107, 5, 109, 10]);
    let ran =
        run("mov.u64 %s2, 0; call (%r3, _), f, (%r1, 6); call.uni (_, %s2), f, (%r3, 1);").run();
    assert_eq!(ran.clean(0), [9, 9, 108, 107, 110, 108]);
    assert!(
        run("call (%r3), f, (%r1, %r2);")
            .refused()
            .contains("f takes 2 arguments and gives 2 results, found 2 and 1")
    );
    let predicate =
        text("call (%r3, %s2), f, (%r1, %r2);").replace(".reg .b32 %b)", ".reg .pred %b)");
    let error = kernel(&predicate).module().in_out([0; 6]).refused();
    assert!(error.contains("for parameter %b"), "{error}");
}
