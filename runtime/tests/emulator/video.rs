//! Video instructions and others that one compiler or another prints.

use super::session::{refused, words};

/// The result of an instruction of three sources on these, with `%r9` for the result.
fn one(instruction: &str, [a, b, c]: [u32; 3]) -> u32 {
    let body = format!(
        "mov.u32 %r1, {a}; mov.u32 %r2, {b}; mov.u32 %r3, {c}; mov.u32 %r9, 0;\n{instruction}\nst.global.u32 [%s1], %r9;"
    );
    let (found, findings) = words("", &body);
    assert_eq!(findings, [], "{instruction}");
    found[17]
}

#[test]
fn scalar_video_instructions_compute_on_parts() {
    let x = [0x8001_f0ff, 0x0002_7f01, 100];
    for (instruction, expected) in [
        ("vadd.u32.u32.u32 %r9, %r1.b0, %r2.h1;", 0x101),
        ("vadd.s32.s32.s32 %r9, %r1.b0, %r2.h1;", 1),
        ("vadd.u32.s32.s32.sat %r9, %r1.h1, %r2.b0;", 0),
        ("vadd.s32.u32.u32.sat %r9, %r1, %r2;", 0x7fff_ffff),
        ("vsub.u32.u32.u32 %r9, %r2.b0, %r2.h1;", 0xffff_ffff),
        ("vsub.u32.u32.u32.sat %r9, %r2.b0, %r2.h1;", 0),
        ("vabsdiff.u32.s32.s32 %r9, %r1.h0, %r2.b0;", 0xf02),
        ("vmin.s32.s32.s32.add %r9, %r1.b1, %r2.b1, %r3;", 84),
        ("vmax.u32.u32.u32.min %r9, %r1.b1, %r2.b1, %r3;", 100),
        ("vadd.u32.u32.u32 %r9.b1, %r1.b0, %r2.b0, %r3;", 0x0064),
        ("vadd.u32.u32.u32.sat %r9.b1, %r1.b0, %r2.b0, %r3;", 0xff64),
        ("vshl.u32.u32.u32.clamp %r9, %r2.b0, %r3;", 0),
        ("vshl.u32.u32.u32.wrap %r9, %r2.b0, %r3;", 16),
        ("vshr.s32.s32.u32.wrap %r9, %r1, %r3;", 0xf800_1f0f),
        (
            "vmad.s32.s32.s32 %r9, %r1.b1, %r2.b1, %r3;",
            (-16i32 * 127 + 100) as u32,
        ),
        (
            "vmad.u32.u32.u32.shr7 %r9, %r1.b0, %r2.b1, %r3;",
            (255 * 127 + 100) >> 7,
        ),
        ("vset.s32.s32.lt %r9, %r1.b1, %r2.b1;", 1),
        ("vset.u32.u32.lt %r9, %r1.b1, %r2.b1;", 0),
    ] {
        assert_eq!(one(instruction, x), expected, "{instruction}");
    }
}

#[test]
fn packed_video_instructions_compute_lane_by_lane() {
    let x = [0x80ff_0110, 0x01ff_7f20, 0x1000];
    for (instruction, expected) in [
        ("vadd4.u32.u32.u32 %r9, %r1, %r2, %r3;", 0x81fe_8030),
        ("vadd4.u32.u32.u32.sat %r9, %r1, %r2, %r3;", 0x81ff_8030),
        ("vadd4.s32.s32.s32.sat %r9, %r1, %r2, %r3;", 0x81fe_7f30),
        ("vsub4.u32.u32.u32.sat %r9, %r1, %r2, %r3;", 0x7f00_0000),
        (
            "vabsdiff4.u32.u32.u32.add %r9, %r1, %r2, %r3;",
            0x1000 + 0x7f + 0x7e + 0x10,
        ),
        ("vadd2.u32.u32.u32 %r9, %r1, %r2, %r3;", 0x82fe_8030),
        ("vavrg2.s32.s32.s32 %r9, %r1, %r2, %r3;", 0xc17f_4018),
        ("vavrg4.u32.u32.u32 %r9, %r1, %r2, %r3;", 0x41ff_4018),
        ("vmax2.s32.s32.s32 %r9, %r1, %r2, %r3;", 0x01ff_7f20),
        ("vset4.u32.u32.gt %r9, %r1, %r2, %r3;", 0x0100_0000),
        ("vadd4.u32.u32.u32 %r9.b1, %r1, %r2, %r3;", 0x8000),
        ("vadd2.u32.u32.u32 %r9, %r1.h01, %r2.h33, %r3;", 0x030f_82fe),
    ] {
        assert_eq!(one(instruction, x), expected, "{instruction}");
    }
}

#[test]
fn other_instructions_of_other_compilers() {
    let x = [7, 7, 9];
    for (instruction, expected) in [
        ("match.all.sync.b32 %r9|%p0, %r1, -1;", u32::MAX),
        ("match.all.sync.b32 %r9, %r0, -1;", 0),
        ("brkpt; mov.u32 %r9, 1;", 1),
        (
            "createpolicy.fractional.L2::evict_last.b64 %s2, 1.0; cvt.u32.u64 %r9, %s2;",
            0,
        ),
        (
            "mov.b32 %f0, 0f3f800000; mov.b32 %f1, 0f40000000; max.f32 %f2, %f0, %f1, %f0; mov.b32 %r9, %f2;",
            0x4000_0000,
        ),
        (
            "mov.b32 %f0, 0f3f800000; mov.b32 %f1, 0f40000000; min.NaN.f32 %f2, %f1, %f1, %f0; mov.b32 %r9, %f2;",
            0x3f80_0000,
        ),
    ] {
        assert_eq!(one(instruction, x), expected, "{instruction}");
    }
}

#[test]
fn wrong_forms_are_refused() {
    for (instruction, expected) in [
        (
            "vadd.u32.u32 %r1, %r2, %r3;",
            "does not know the instruction",
        ),
        (
            "vadd.u32.u32.u32.wrap %r1, %r2, %r3;",
            "does not know the instruction",
        ),
        (
            "vavrg.u32.u32.u32 %r1, %r2, %r3;",
            "does not know the instruction",
        ),
        ("vadd.u32.u32.u32 %r1, %r2.b4, %r3;", "expected .b0 to .b3"),
        (
            "vadd4.u32.u32.u32 %r1, %r2.b012, %r3, %r4;",
            "expected a selector of 4 parts",
        ),
        (
            "vadd4.u32.u32.u32 %r1.h0, %r2, %r3, %r4;",
            "expected the lanes of a result",
        ),
        (
            "vadd4.u32.u32.u32 %r1, %r2, %r3;",
            "expected a result and two or three sources",
        ),
        (
            "max.f64 %s1, %s1, %s1, %s1;",
            "does not know the instruction",
        ),
    ] {
        let error = refused("", instruction);
        assert!(error.contains(expected), "{instruction}: {error}");
    }
}

/// The table of docs/emulator-ptx.md.
#[test]
fn what_the_page_says_is_refused() {
    for body in [
        "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%r1, %r2, %r3, %r4}, {%r3, %r4, %r3, %r4}, {%r5, %r6, %r5, %r6}, {%r1, %r2, %r3, %r4}, %r7, 0;",
        "mov.u32 %r1, %reserved_smem_offset_cap;",
        "red.async.relaxed.cluster.global.add.u32 [%r1], %r1;",
        "st.async.weak.shared::cluster.u32 [%r1], %r1, [%r2];",
        "shfl.up.b32 %r1, %r1, 1, 0;",
        "vote.all.pred %p1, %p1;",
        "match.any.b32 %r1, %r1, -1;",
        "multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%s1];",
    ] {
        let error = refused("", body);
        assert!(error.contains("PTX line 7: "), "{body}: {error}");
    }
}
