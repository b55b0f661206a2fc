//! Results worked out by hand from the text of the PTX ISA 9.0.

use super::*;

fn all(rows: &[(&str, &[u64], u64)]) {
    for (name, operands, expected) in rows {
        let found = value(name, operands);
        assert_eq!(
            found, *expected,
            "{name} {operands:x?}: {found:x} {expected:x}"
        );
    }
}

/// -0 is less than +0, a NaN loses unless `.NaN` asks for it, and is 0x7fff or 0x7fffffff then.
#[test]
fn extrema_of_zeros_and_nans() {
    all(&[
        ("max.NaN.f16x2", &[0x3c00_7e01, 0x7c00_3c00], 0x7c00_7fff),
        ("max.NaN.f16x2", &[0x3cbf_fd00, 0x0000_3598], 0x3cbf_7fff),
        ("max.f16x2", &[0x3c00_7e01, 0x7c00_3c00], 0x7c00_3c00),
        ("max.NaN.f16x2", &[0x8000_0001, 0x0000_8001], 0x0000_0001),
        ("min.f16x2", &[0x8000_0000, 0x0000_8000], 0x8000_8000),
        ("min.f16x2", &[0x7e01_fe01, 0x7d00_7d00], 0x7fff_7fff),
        ("min.NaN.f16", &[0xfc00, 0xfe00], 0x7fff),
        ("max.ftz.f16", &[0x83ff, 0x0001], 0x0000),
        ("min.ftz.f16", &[0x83ff, 0x0001], 0x8000),
        ("max.NaN.bf16x2", &[0x7f81_3f80, 0x3f80_4000], 0x7fff_4000),
        ("min.bf16x2", &[0x7f81_3f80, 0x3f80_ffff], 0x3f80_3f80),
        (
            "min.xorsign.abs.f32",
            &[0xc000_0000, 0x4040_0000],
            0xc000_0000,
        ),
        (
            "min.xorsign.abs.f32",
            &[0xc000_0000, 0xc040_0000],
            0x4000_0000,
        ),
        (
            "max.NaN.xorsign.abs.f32",
            &[0xffc0_0000, 0x3f80_0000],
            0x7fff_ffff,
        ),
        ("max.xorsign.abs.bf16", &[0xbf80, 0x4000], 0xc000),
        ("max.ftz.f32", &[0x807f_ffff, 0x8000_0000], 0x8000_0000),
        ("min.NaN.f32", &[0x7f80_0001, 0], 0x7fff_ffff),
    ]);
}

/// `.lo` takes bytes 0 and 1 of b, `.hi` bytes 2 and 3.
#[test]
fn dot_products_of_halves_and_bytes() {
    all(&[
        // 2 * 3 + 65535 * -1 + 10
        (
            "dp2a.lo.u32.s32",
            &[0xffff_0002, 0x7f80_ff03, 10],
            0xffff_0011,
        ),
        // 2 * -128 + 65535 * 127 + 10
        (
            "dp2a.hi.u32.s32",
            &[0xffff_0002, 0x7f80_ff03, 10],
            0x007e_fe8b,
        ),
        // 2 * 128 + -1 * 127 + 10
        ("dp2a.hi.s32.u32", &[0xffff_0002, 0x7f80_ff03, 10], 139),
        // 3 * 1 + 2 * 127 + 1 * -1 + 255 * -128
        ("dp4a.u32.s32", &[0xff01_0203, 0x80ff_7f01, 0], 0xffff_8180),
        // The sum wraps.
        ("dp4a.u32.u32", &[1, 1, 0xffff_ffff], 0),
    ]);
}

#[test]
fn bytes_by_selectors() {
    let (a, b) = (0x3322_1100, 0x7766_5544);
    all(&[
        ("prmt.b32", &[a, b, 0x7531], 0x7755_3311),
        ("prmt.b32", &[0x80, 0, 0x0008], 0x8080_80ff),
        ("prmt.b32", &[a, b, 0xffff_3210], a),
        ("prmt.b32.f4e", &[a, b, 3], 0x6655_4433),
        ("prmt.b32.f4e", &[a, b, 5], 0x4433_2211),
        ("prmt.b32.b4e", &[a, b, 1], 0x6677_0011),
        ("prmt.b32.rc8", &[a, b, 2], 0x2222_2222),
        ("prmt.b32.ecl", &[a, b, 2], 0x3322_2222),
        ("prmt.b32.ecr", &[a, b, 1], 0x1111_1100),
        ("prmt.b32.rc16", &[a, b, 1], 0x3322_3322),
    ]);
}

/// Positions and lengths are the low 8 bits; fields may reach over the end.
#[test]
fn fields_over_the_end() {
    let a = 0x89ab_cdef;
    all(&[
        ("bfe.u32", &[a, 4, 8], 0xde),
        ("bfe.u32", &[a, 0x104, 8], 0xde),
        ("bfe.u32", &[a, 28, 8], 8),
        ("bfe.u32", &[a, 32, 8], 0),
        ("bfe.u32", &[a, 0, 255], a),
        ("bfe.s32", &[a, 4, 8], 0xffff_ffde),
        ("bfe.s32", &[a, 28, 8], 0xffff_fff8),
        ("bfe.s32", &[a, 32, 8], 0xffff_ffff),
        ("bfe.s32", &[a, 40, 0], 0),
        ("bfe.s64", &[1 << 63, 63, 9], u64::MAX),
        ("bfi.b32", &[0xff, 0x0123_4567, 28, 8], 0xf123_4567),
        ("bfi.b32", &[0xff, 0x0123_4567, 32, 8], 0x0123_4567),
        ("bfi.b32", &[0xff, 0x0123_4567, 4, 0], 0x0123_4567),
        ("bfi.b32", &[0xff, 0x0123_4567, 0, 255], 0xff),
        ("bfi.b64", &[u64::MAX, 0, 60, 8], 0xf << 60),
    ]);
}

#[test]
fn one_rounding_in_each_direction() {
    let (one, tiny) = (0x3f80_0000, 0x3080_0000); // 1 and 2^-30
    all(&[
        // (1 + 2^-23) (1 - 2^-23) - 1 = -2^-46, of which a rounded product has nothing.
        (
            "fma.rn.f32",
            &[0x3f80_0001, 0x3f7f_fffe, 0xbf80_0000],
            0xa880_0000,
        ),
        ("fma.rn.f32", &[one, one, tiny], one),
        ("fma.rp.f32", &[one, one, tiny], one + 1),
        ("fma.rm.f32", &[one, one, tiny | 1 << 31], one - 1),
        ("fma.rz.f32", &[one, one, tiny | 1 << 31], one - 1),
        ("fma.rn.sat.f32", &[0x7fc0_0000, one, one], 0),
        ("fma.rn.sat.f32", &[0x4000_0000, one, one], one),
        (
            "fma.rn.ftz.f32",
            &[0x807f_ffff, 0x4000_0000, 0x8000_0000],
            0x8000_0000,
        ),
        ("fma.rm.f32", &[one, one, 0xbf80_0000], 0x8000_0000),
    ]);
}

#[test]
fn conversions_in_each_direction() {
    let nan64 = 0x7ff8_0000_0000_0000;
    all(&[
        ("cvt.rni.s32.f32", &[0x4020_0000], 2),
        ("cvt.rni.s32.f32", &[0x4060_0000], 4),
        ("cvt.rmi.s32.f32", &[0xc020_0000], 0xffff_fffd),
        ("cvt.rpi.s32.f32", &[0xc020_0000], 0xffff_fffe),
        ("cvt.rzi.s32.f32", &[0xc020_0000], 0xffff_fffe),
        ("cvt.rmi.ftz.s32.f32", &[0x8000_0001], 0),
        ("cvt.rmi.s32.f32", &[0x8000_0001], 0xffff_ffff),
        ("cvt.rzi.s32.f32", &[0x4f00_0000], 0x7fff_ffff),
        ("cvt.rzi.u32.f32", &[0xbf80_0000], 0),
        // NaN is 0 where neither side has 64 bits, else the highest bit.
        ("cvt.rzi.s32.f32", &[0x7fc0_0000], 0),
        ("cvt.rzi.s64.f32", &[0x7fc0_0000], 1 << 63),
        ("cvt.rzi.u32.f64", &[nan64], 1 << 31),
        // 65520 is half way between the largest f16 and what would follow.
        ("cvt.rn.f16.f32", &[0x477f_f000], 0x7c00),
        ("cvt.rz.f16.f32", &[0x477f_f000], 0x7bff),
        ("cvt.rn.f16.f32", &[0x3300_0000], 0),
        ("cvt.rn.f16.f32", &[0x3300_0001], 1),
        ("cvt.rn.bf16.f32", &[0x3f80_8000], 0x3f80),
        ("cvt.rn.bf16.f32", &[0x3f81_8000], 0x3f82),
        ("cvt.rz.bf16.f32", &[0x3f81_8000], 0x3f81),
        ("cvt.rp.f32.s32", &[0xfeff_ffff], 0xcb80_0000),
        ("cvt.rm.f32.s32", &[0xfeff_ffff], 0xcb80_0001),
        ("cvt.sat.s8.s32", &[0x80], 0x7f),
    ]);
}

/// Zeros are normal numbers for `testp`.
#[test]
fn zeros_are_normal_numbers() {
    for (name, bits, expected) in [
        ("testp.normal.f32", 0, true),
        ("testp.normal.f32", 0x8000_0000, true),
        ("testp.normal.f32", 1, false),
        ("testp.normal.f32", 0x0080_0000, true),
        ("testp.normal.f32", 0x7f80_0000, false),
        ("testp.normal.f64", 1 << 63, true),
        ("testp.normal.f64", 1, false),
        ("testp.subnormal.f32", 0, false),
        ("testp.subnormal.f64", 1 << 63, false),
        ("testp.subnormal.f64", 1 << 51, true),
    ] {
        let (_, mask) = run(&alu(name), &[[bits; LANES]], 0);
        assert_eq!(
            mask,
            if expected { Mask::MAX } else { 0 },
            "{name} {bits:x}"
        );
    }
}
