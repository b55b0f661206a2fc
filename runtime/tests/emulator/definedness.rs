//! Registers of which some bytes hold something and others nothing.

use super::*;

/// Runs a body, and on the next line what it is followed by.
fn followed(body: &str, by: &str) -> Ran {
    kernel(&format!("{body}\n{by}"))
        .in_out([0; 4])
        .block(1)
        .run()
}

/// `%r1` is 0x????1234, as LLVM packs a half with nothing.
const HALF: &str = "mov.b16 %h1, 0x1234; mov.b32 %r1, {%h1, %h2};";

#[test]
fn halves_of_a_pair_are_defined_each_for_itself() {
    let ran = followed(
        HALF,
        "mov.b32 {%h3, %h4}, %r1; st.global.u16 [%s90], %h3; st.global.u16 [%s90+4], %r1;",
    );
    assert_eq!(ran.clean(0)[0], 0x1234);
    for store in [
        "st.global.u32 [%s90], %r1;",
        "mov.b32 {%h3, %h4}, %r1; st.global.u16 [%s90], %h4;",
        "st.global.v2.u32 [%s90], {%r2, %r1};",
        "atom.global.add.u32 %r5, [%s90], %r1;",
        "add.u32 %r5, %r1, 1;",
        "setp.eq.u32 %p1, %r1, 1; selp.u32 %r5, 1, 2, %p1;",
    ] {
        let kinds = followed(&format!("mov.u32 %r2, 0; {HALF}"), store).kinds();
        assert!(!kinds.is_empty(), "{store}");
        assert!(
            kinds
                .iter()
                .all(|(kind, _)| *kind == Kind::UninitializedRegister),
            "{store} {kinds:?}"
        );
    }
}

#[test]
fn what_moves_bytes_carries_what_is_undefined() {
    // Each leaves 0x1234 in the lower half of %r9, and all of it defined.
    let whole = [
        "mov.b32 {%h3, _}, %r1; mov.b16 %h4, 0; mov.b32 %r9, {%h3, %h4};",
        "prmt.b32 %r9, %r1, 0, 0x7610;",
        "and.b32 %r9, %r1, 0xffff;",
        "shl.b32 %r2, %r1, 16; shr.u32 %r9, %r2, 16;",
        "bfe.u32 %r9, %r1, 0, 16;",
        "mov.u32 %r2, 0; bfi.b32 %r9, %r1, %r2, 0, 16;",
        "lop3.b32 %r9, %r1, 0xffff, 0, 0xc0;",
        "cvt.u16.u32 %h3, %r1; cvt.u32.u16 %r9, %h3;",
        "shf.l.wrap.b32 %r2, %r1, 0, 16; shl.b32 %r2, %r1, 16; shf.l.wrap.b32 %r9, %r2, 0, 16;",
        "setp.eq.u32 %p1, 0, 0; selp.b32 %r2, %r1, 7, %p1; and.b32 %r9, %r2, 65535;",
        "shfl.sync.idx.b32 %r2, %r1, 0, 31, 1; and.b32 %r9, %r2, 65535;",
        "mov.b64 %s1, {%r1, %r3}; shl.b64 %s1, %s1, 48; shr.u64 %s1, %s1, 48; cvt.u32.u64 %r9, %s1;",
        "xor.b32 %r2, %r1, 0x00ff00ff; xor.b32 %r2, %r2, 0x00ff00ff; prmt.b32 %r9, %r2, 0, 0x4410;",
    ];
    for body in whole {
        let body = body.replace(
            "shf.l.wrap.b32 %r9, %r2, 0, 16",
            "shf.r.wrap.b32 %r9, %r2, 0, 16",
        );
        let ran = followed(
            &format!("{HALF} {body}"),
            "and.b32 %r9, %r9, 0xffff; add.u32 %r9, %r9, 0; st.global.u32 [%s90], %r9;",
        );
        assert_eq!(ran.clean(0)[0], 0x1234, "{body}");
    }
    // Each leaves something undefined in %r9.
    let lacking = [
        "mov.u32 %r9, %r1;",
        "prmt.b32 %r9, %r1, 0, 0x7620;",
        "and.b32 %r9, %r1, 0x1ffff;",
        "or.b32 %r9, %r1, 0xffff;",
        "xor.b32 %r9, %r1, %r1;",
        "shr.u32 %r9, %r1, 8;",
        "shl.b32 %r9, %r1, 8;",
        "bfe.s32 %r9, %r1, 8, 9;",
        "setp.eq.u32 %p1, 0, 0; selp.b32 %r9, %r1, 7, %p1;",
        "shfl.sync.idx.b32 %r9, %r1, 0, 31, 1;",
        "shl.b32 %r2, %r1, 8; shr.s32 %r9, %r2, 24;",
        "not.b32 %r9, %r1;",
    ];
    for body in lacking {
        let ran = followed(&format!("{HALF} {body}"), "st.global.u32 [%s90], %r9;");
        assert_eq!(
            ran.kinds(),
            [(Kind::UninitializedRegister, 1)],
            "{body} {:#?}",
            ran.report.findings
        );
    }
    // An undefined half that is not chosen does not matter.
    let ran = followed(
        &format!("{HALF} setp.eq.u32 %p1, 0, 1; selp.b32 %r9, %r1, 7, %p1;"),
        "st.global.u32 [%s90], %r9;",
    );
    assert_eq!(ran.clean(0)[0], 7);
    let ran = followed(
        &format!(
            "{HALF} and.b32 %r2, %r1, 0xffff; or.b32 %r3, %r1, 0xffff0000; xor.b32 %r9, %r2, %r3;"
        ),
        "st.global.u32 [%s90], %r9;",
    );
    assert_eq!(ran.clean(0)[0], -65536);
}

#[test]
fn packed_arithmetic_is_of_halves() {
    let add = "mov.b16 %h5, 0x3c00; mov.b32 %r1, {%h5, %h6}; mov.b32 %r2, {%h5, %h5}; add.rn.f16x2 %r3, %r1, %r2;";
    let ran = followed(
        add,
        "mov.b32 {%h7, %h8}, %r3; st.global.u16 [%s90], %h7; mov.u32 %r4, 0;",
    );
    assert_eq!(ran.clean(0)[0], 0x4000);
    let ran = followed(add, "mov.b32 {%h7, %h8}, %r3; st.global.u16 [%s90], %h8;");
    assert_eq!(ran.kinds(), [(Kind::UninitializedRegister, 1)]);
}

#[test]
fn a_predicated_load_of_halves_into_a_cleared_fragment_is_right() {
    // What the compiler makes of a copy of halves under predicates: pairs are taken apart, one half is replaced, and they are put
    // together with nothing in between.
    let body = "mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 5; mov.b16 %h1, 0; mov.b16 %h2, 0; mov.b32 %r1, {%h1, %h3};\n\
                @!%p1 bra SKIP; ld.global.u16 %h1, [%s90]; mov.b32 %r1, {%h1, %h3};\n\
                SKIP: prmt.b32 %r2, %r1, 0, 0x5410; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s91, %s1; st.global.u32 [%s1], %r2;";
    let ran = kernel(body).input([77]).output(8).block(8).run();
    assert_eq!(ran.clean(1), [77, 77, 77, 77, 77, 0, 0, 0]);
}

#[test]
fn what_is_computed_of_nothing_may_be_thrown_away() {
    // %r1 is written in the upper half of the warp alone; %p1 holds there.
    let start = "mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 16; @%p1 mov.u32 %r1, 7; mul.wide.u32 %s1, %r0, 4; add.s64 %s1, %s90, %s1;\n";
    let sums = [
        "add.u32 %r2, %r1, %r0;",
        "mul.lo.u32 %r2, %r1, 1; mad.lo.u32 %r2, %r0, 1, %r2;",
        "shl.b32 %r2, 1, %r1; shr.u32 %r2, %r2, 7; mad.lo.u32 %r2, %r2, 7, %r0;",
        "cvt.rn.f32.u32 %f1, %r1; cvt.rzi.u32.f32 %r2, %f1; add.u32 %r2, %r2, %r0;",
        "setp.eq.u32 %p2, %r1, 7; selp.u32 %r2, 7, 8, %p2; add.u32 %r2, %r2, %r0;",
        "min.s32 %r2, %r1, 9; sub.u32 %r2, %r2, 0; add.u32 %r2, %r2, %r0;",
    ];
    for sum in sums {
        let run = |end: &str| kernel(&format!("{start}{sum}\n{end}")).output(32).run();
        let ran = run("selp.b32 %r9, %r2, %r0, %p1; st.global.u32 [%s1], %r9;");
        let expected = (0..32).map(|lane| lane + if lane < 16 { 0 } else { 7 });
        assert_eq!(ran.clean(0), expected.collect::<Vec<i64>>(), "{sum}");
        for used in [
            "st.global.u32 [%s1], %r2;",
            "mov.u32 %r9, 1; setp.eq.u32 %p3, %r2, 1; @%p3 mov.u32 %r9, 2; st.global.u32 [%s1], %r9;",
            "mul.wide.u32 %s2, %r2, 0; add.s64 %s1, %s1, %s2; st.global.u32 [%s1], %r0;",
            "shl.b32 %r3, %r2, 3; shfl.sync.idx.b32 %r3, %r3, 0, 31, -1; st.global.u32 [%s1], %r3;",
        ] {
            let ran = run(used);
            let found = &ran.report.findings[0];
            assert_eq!(found.kind, Kind::UninitializedRegister, "{sum} {used}");
            // It is told where the value was made.
            assert_eq!(found.site.as_ref().unwrap().ptx_line, 9, "{sum} {used}");
        }
    }
}

#[test]
fn predicates_are_defined_where_what_is_undefined_decides_nothing() {
    // %p1 is what a comparison with something undefined gives, %p2 was never written, %p3 holds and %p4 does not.
    let start = "setp.lt.s32 %p1, %r1, 1; setp.eq.u32 %p3, 0, 0; setp.eq.u32 %p4, 0, 1;";
    let stores = "selp.u32 %r9, 1, 2, %p5; st.global.u32 [%s90], %r9;";
    for (logic, expected) in [
        ("and.pred %p5, %p1, %p4;", 2),
        ("and.pred %p5, %p4, %p2;", 2),
        ("or.pred %p5, %p1, %p3;", 1),
        (
            "not.pred %p6, %p1; or.pred %p7, %p6, %p3; not.pred %p5, %p7;",
            2,
        ),
        ("setp.lt.and.s32 %p5, %r1, 1, %p4;", 2),
        ("setp.lt.or.s32 %p5, %r1, 1, !%p4;", 1),
        ("setp.eq.and.u32 %p5, 0, 1, %p2;", 2),
    ] {
        let ran = followed(&format!("{start} {logic}"), stores);
        assert_eq!(ran.clean(0)[0], expected, "{logic}");
    }
    for logic in [
        "and.pred %p5, %p1, %p3;",
        "or.pred %p5, %p2, %p4;",
        "xor.pred %p5, %p1, %p4;",
        "mov.pred %p5, %p1;",
        "setp.lt.and.s32 %p5, %r1, 1, %p3;",
        "setp.eq.and.u32 %p5, 0, 0, %p2;",
    ] {
        let ran = followed(&format!("{start} {logic}"), stores);
        assert_eq!(ran.kinds(), [(Kind::UninitializedRegister, 1)], "{logic}");
    }
    // What decides is told there.
    for use_ in [
        "@%p1 bra E; E:",
        "vote.sync.ballot.b32 %r9, %p1, 1;",
        "@!%p2 st.global.u32 [%s90], 0;",
    ] {
        let kinds = followed(start, use_).kinds();
        assert_eq!(kinds, [(Kind::UninitializedRegister, 1)], "{use_}");
    }
}
