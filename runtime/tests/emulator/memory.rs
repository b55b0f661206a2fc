//! Loads, stores, atomics, and copies that go right.

use super::*;

const HEAD: &str = "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s90, %s1; add.s64 %s3, %s91, %s1;";

#[test]
fn values_go_through_all_spaces() {
    let run = kernel(&format!(
        ".local .align 8 .b8 own[16]; .shared .align 4 .b8 all[128];
        {HEAD} ld.global.u32 %r1, [%s2];
        st.local.u32 [own+4], %r1; ld.local.u32 %r2, [own+4];
        cvta.local.u64 %s4, own; mov.u64 %s5, own; cvta.local.u64 %s5, %s5; ld.u32 %r3, [%s5+4];
        cvt.u32.u64 %r9, %s1; mov.u64 %s6, all; add.s64 %s6, %s6, %s1; st.shared.u32 [%s6], %r3;
        cvta.shared.u64 %s7, %s6; ld.u32 %r4, [%s7]; add.u32 %r4, %r4, %r2; st.global.u32 [%s3], %r4;"
    ))
    .input((0..32).map(|i| i * i))
    .output(32);
    let run = Run {
        body: run.body.replace("cvta.local.u64 %s4, own;", ""),
        ..run
    };
    let values = run.run().clean(1);
    assert!((0..32).all(|i| values[i as usize] == 2 * i * i));
}

#[test]
fn narrow_loads_extend_as_their_type_says() {
    let run = kernel(
        "ld.global.s8 %r1, [%s90]; st.global.u32 [%s91], %r1; ld.global.u8 %r2, [%s90]; st.global.u32 [%s91+4], %r2;
        ld.global.s16 %s4, [%s90]; st.global.u32 [%s91+8], %s4; ld.global.v2.u16 {%h1, %h2}, [%s90];
        st.global.v2.u16 [%s91+12], {%h2, %h1};",
    )
    .input([0x1234_80ff])
    .output(4)
    .block(1);
    assert_eq!(
        run.run().clean(1),
        [
            -1,
            255,
            0xffff_80ffu32 as i32 as i64,
            0x80ff_1234u32 as i32 as i64
        ]
    );
}

#[test]
fn wide_variables_are_initialised_with_constants_of_64_bits() {
    // As ptxas does it: -1 is 64 bits of ones, and zeros above.
    let run = kernel(
        ".global .align 16 .b128 wide[2] = {5, -1}; mov.u64 %s1, wide; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%s1];
        ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%s1+16]; st.global.v4.u32 [%s90], {%r1, %r2, %r3, %r4};
        st.global.v4.u32 [%s90+16], {%r5, %r6, %r7, %r8};",
    )
    .output(8)
    .block(1);
    assert_eq!(run.run().clean(0), [5, 0, 0, 0, -1, -1, 0, 0]);
}

#[test]
fn atomics_of_all_blocks_add_up() {
    let run = kernel("atom.global.add.u32 %r1, [%s90], 2; red.global.max.s32 [%s90+4], %r1;")
        .in_out([5, -9])
        .grid(40)
        .block(64);
    let values = run.run().clean(0);
    assert_eq!(values[0], 5 + 2 * 40 * 64);
    assert_eq!(values[1], 5 + 2 * (40 * 64 - 1));
}

/// `atom.cas` returns what was there before, whether it swaps or not: each of the values that a counter takes goes to one thread.
#[test]
fn a_swap_returns_the_old_value() {
    let run = kernel(
        ".shared .align 4 .b8 word[4]; mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 8; add.s64 %s1, %s90, %s1; setp.eq.u32 %p0, %r0, 0;
        mov.u32 %r1, 7; @%p0 st.shared.u32 [word], %r1; bar.sync 0; atom.shared.cas.b32 %r2, [word], 6, 100; st.global.u32 [%s1], %r2; bar.sync 0;
        LOOP: add.u32 %r3, %r1, 1; atom.shared.cas.b32 %r4, [word], %r1, %r3; setp.ne.u32 %p1, %r4, %r1; mov.u32 %r1, %r4; @%p1 bra LOOP;
        st.global.u32 [%s1+4], %r1;",
    )
    .output(128)
    .block(64);
    for seed in 0..4 {
        let values = run.seeded(seed).unwrap().clean(0);
        assert!(values.iter().step_by(2).all(|&old| old == 7), "{values:?}");
        let mut old: Vec<i64> = values.into_iter().skip(1).step_by(2).collect();
        old.sort_unstable();
        assert_eq!(old, (7..71).collect::<Vec<_>>());
    }
}

/// Sums, differences and products of more than 32 bits, from parts; all ones are -1, and 2^32 - 1.
#[test]
fn a_flag_goes_from_line_to_line() {
    let rows = [
        ("add.cc.u32 %r3, %r1, 1; addc.u32 %r4, %r2, %r2;", [0, 1]),
        ("sub.cc.u32 %r3, %r2, %r1; subc.u32 %r4, 5, %r2;", [1, 4]),
        ("sub.cc.u32 %r3, %r1, %r2; subc.u32 %r4, 5, %r2;", [-1, 5]),
        // (2^32 - 1)^2 = 2^64 - 2^33 + 1, and 2^32 - 1 more than that.
        (
            "mad.lo.cc.u32 %r3, %r1, %r1, %r1; madc.hi.u32 %r4, %r1, %r1, 0;",
            [0, -1],
        ),
        // As signed numbers (-1)^2 = 1.
        (
            "mad.lo.cc.s32 %r3, %r1, %r1, %r1; madc.hi.s32 %r4, %r1, %r1, 0;",
            [0, 1],
        ),
        // Through three lines, and past one that has no flag.
        (
            "add.cc.u32 %r5, %r1, %r1; addc.cc.u32 %r3, %r1, %r2; add.u32 %r6, %r2, %r2; addc.u32 %r4, %r2, 1;",
            [0, 2],
        ),
    ];
    for (lines, expected) in rows {
        let run = kernel(&format!(
            "mov.u32 %r1, -1; mov.u32 %r2, 0; {lines} st.global.v2.u32 [%s90], {{%r3, %r4}};"
        ))
        .output(2)
        .block(1);
        assert_eq!(run.run().clean(0), expected, "{lines}");
    }
}

/// Each element of a vector is atomic by itself, and threads that add to one are no race.
#[test]
fn reductions_of_vectors_add_up() {
    let one = i64::from(1f32.to_bits());
    let body = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f40400000; mov.f32 %f4, 0f40800000;
        red.global.add.v4.f32 [%s90], {%f1, %f2, %f3, %f4}; red.relaxed.gpu.global.add.v2.f32 [%s90+8], {%f1, %f2};
        mov.u32 %r1, 0x40003c00; red.global.add.noftz.v2.f16x2 [%s90+16], {%r1, %r1};";
    let run = kernel(body).in_out([one, 0, 0, 0, 0, 0]).grid(3).block(64);
    let values = run.run().clean(0);
    let float = |i: usize| f32::from_bits(values[i] as u32);
    let n = 3.0 * 64.0;
    assert_eq!(
        [0, 1, 2, 3].map(float),
        [1.0 + n, 2.0 * n, 3.0 * n + n, 4.0 * n + 2.0 * n]
    );
    // 192 and 384 in f16.
    assert_eq!(values[4..], [0x5e00_5a00, 0x5e00_5a00]);
    let apart = kernel("mov.f32 %f1, 0f3F800000;\nred.global.add.v2.f32 [%s90+4], {%f1, %f1};")
        .in_out([0, 0, 0, 0])
        .block(1);
    assert_eq!(apart.run().kinds(), [(Kind::Misaligned, 1)]);
}

#[test]
fn atomics_of_vectors_give_what_was_there() {
    let one = i64::from(1f32.to_bits());
    let body = "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f40000000;
        atom.global.add.v2.f32 {%f3, %f4}, [%s90], {%f1, %f2}; st.global.v2.f32 [%s90+8], {%f3, %f4};
        atom.relaxed.gpu.global.v2.f32.add {%f3, _}, [%s90], {%f1, %f2}; st.global.f32 [%s90+16], %f3;
        mov.u32 %r1, 0x40003c00; mov.u32 %r2, 0x3c004000; atom.global.max.noftz.v2.f16x2 {%r3, %r4}, [%s90+24], {%r1, %r2};
        red.global.min.noftz.v2.bf16x2 [%s90+32], {%r1, %r2};";
    let run = kernel(body).in_out([one, 0, 9, 9, 9, 9, 0x3c00_3c00, 0, 0x3f80_4040, 0x4000_4000]);
    let values = run.block(1).run().clean(0);
    let float = |i: usize| f32::from_bits(values[i] as u32);
    assert_eq!([0, 1, 2, 3, 4].map(float), [3.0, 4.0, 1.0, 0.0, 2.0]);
    assert_eq!(values[6..8], [0x4000_3c00, 0x3c00_4000]);
    assert_eq!(values[8..], [0x3f80_3c00, 0x3c00_4000]);
}

#[test]
fn asynchronous_copies_bring_data_and_zeros() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; mul.wide.u32 %s1, %r0, 16; add.s64 %s2, %s90, %s1; mov.u64 %s3, smem; add.s64 %s3, %s3, %s1;
        setp.lt.u32 %p1, %r0, 16; selp.b32 %r1, 16, 4, %p1;
        cp.async.cg.shared.global [%s3], [%s2], 16, %r1;
        cp.async.commit_group; cp.async.wait_group 0;
        ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%s3]; add.s64 %s4, %s91, %s1;
        st.global.v4.u32 [%s4], {%r2, %r3, %r4, %r5};",
    )
    .input(1..129)
    .output(128)
    .smem(512);
    for seed in 0..4 {
        let values = run.seeded(seed).unwrap().clean(1);
        for (i, value) in values.into_iter().enumerate() {
            let kept = i / 4 < 16 || i % 4 == 0;
            assert_eq!(value, if kept { i as i64 + 1 } else { 0 });
        }
    }
}

#[test]
fn what_kernels_print_comes_in_the_order_of_blocks() {
    let text = b"block %d: %s %*.*f|\n\0";
    let bytes: Vec<String> = text.iter().map(u8::to_string).collect();
    let word: Vec<String> = b"ok\0".iter().map(u8::to_string).collect();
    let mut run = kernel(
        "mov.u32 %r1, %ctaid.x; st.local.u32 [args], %r1; mov.u64 %s1, word; cvta.global.u64 %s1, %s1;
        st.local.u64 [args+8], %s1; mov.u32 %r3, 5; st.local.u32 [args+16], %r3; mov.u32 %r3, 2; st.local.u32 [args+20], %r3;
        mov.f64 %s2, 0d4004000000000000; st.local.u64 [args+24], %s2;
        mov.u64 %s3, args; cvta.local.u64 %s3, %s3; mov.u64 %s4, format; cvta.global.u64 %s4, %s4;
        { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %s4; st.param.b64 [b], %s3;
        call.uni (c), vprintf, (a, b); ld.param.b32 %r2, [c]; }",
    )
    .block(1)
    .grid(3);
    run.body = format!(
        ".local .align 8 .b8 args[32]; .global .b8 format[{}] = {{{}}}; .global .b8 word[3] = {{{}}};\n{}",
        bytes.len(),
        bytes.join(","),
        word.join(","),
        run.body
    );
    let ran = run.run();
    assert_eq!(ran.report.findings, []);
    assert_eq!(
        ran.report.printed,
        "block 0: ok  2.50|\nblock 1: ok  2.50|\nblock 2: ok  2.50|\n"
    );
}

#[test]
fn zeros_are_stored_in_bulk() {
    use super::session::{refused, words};
    let module = ".shared .align 16 .b8 all[256];";
    let fill = "mov.u64 %s2, all; mul.wide.u32 %s3, %r0, 4; add.s64 %s3, %s2, %s3; st.shared.u32 [%s3], %r0; bar.sync 0; setp.eq.u32 %p1, %r0, 9;";
    let read = "bar.sync 0; ld.shared.u32 %r1, [%s3]; st.global.u32 [%s1], %r1;";
    let expected: Vec<u32> = (0..64)
        .map(|t| if (4..10).contains(&t) { 0 } else { t })
        .collect();
    for bulk in [
        "@%p1 st.bulk.weak.shared::cta [%s2+16], 24, 0;",
        "@%p1 st.bulk.shared::cta [%s2+16], 24, 0;",
        "cvta.shared.u64 %s4, %s2; mov.u64 %s5, 24; @%p1 st.bulk [%s4+16], %s5, 0;",
        "mov.u64 %s5, 24; @%p1 st.bulk.weak.shared::cta [all+16], %s5, 0;",
    ] {
        let (found, findings) = words(module, &format!("{fill} {bulk} {read}"));
        assert_eq!(findings, [], "{bulk}");
        assert_eq!(found, expected, "{bulk}");
    }
    for (bulk, kind) in [
        (
            "st.bulk.weak.shared::cta [%s2+16], 24, 0;",
            Kind::EqualWrites,
        ),
        (
            "@%p1 st.bulk.weak.shared::cta [%s2+240], 24, 0;",
            Kind::OutOfBounds,
        ),
        (
            "@%p1 st.bulk.weak.shared::cta [%s2+4], 8, 0;",
            Kind::Misaligned,
        ),
        (
            "@%p1 st.bulk.weak.shared::cta [%s2], 20, 0;",
            Kind::Undefined,
        ),
        (
            "mov.u64 %s5, -8; @%p1 st.bulk.weak.shared::cta [%s2], %s5, 0;",
            Kind::Undefined,
        ),
        ("@%p1 st.bulk [%s1], 8, 0;", Kind::Undefined),
        (
            "@%p1 st.bulk.weak.shared::cta [%s2], %s9, 0;",
            Kind::UninitializedRegister,
        ),
    ] {
        let (_, findings) = words(module, &format!("{fill} {bulk} bar.sync 0;"));
        let kinds: Vec<Kind> = findings.iter().map(|finding| finding.kind).collect();
        assert!(kinds.contains(&kind), "{bulk}: {findings:?}");
    }
    for bulk in [
        "st.bulk.weak.shared::cta [%s1], 8, 1;",
        "st.bulk.weak.shared::cta [%s1], 8;",
        "st.bulk.weak.global [%s1], 8, 0;",
    ] {
        assert!(refused("", bulk).contains("st.bulk"), "{bulk}");
    }
}
