use super::*;

#[test]
fn what_is_not_known_is_an_error() {
    for name in [
        "frobnicate.b32",
        "add",
        "add.s8",
        "add.sat.u32",
        "add.ftz.f64",
        "add.rn.s32",
        "add.rn.rn.f32",
        "sub.s16x2",
        "mul.s32",
        "mad.lo.sat.s32",
        "mad.f32",
        "fma.f32",
        "fma.rz.f16",
        "fma.rn.ftz.bf16",
        "div.f32",
        "div.approx.f64",
        "sin.f32",
        "sin.approx.f64",
        "tanh.approx.ftz.f32",
        "rsqrt.rn.f32",
        "lop3.and.b32",
        "shl.s32",
        "shf.l.b32",
        "prmt.b32.f5e",
        "prmt.b32.f4e.b4e",
        "setp.lt.b32",
        "setp.lo.s32",
        "setp.equ.u32",
        "setp.lt.and.or.f32",
        "setp.lt.ftz.f64",
        "set.lt.s32",
        "set.lt.f16.f16x2",
        "set.lt.u16.f32",
        "set.lt.f16.bf16",
        "cvt.sat.u8.u8",
        "cvt.sat.s32.u16",
        "cvt.rn.sat.bf16.f32",
        "cvt.sat.f32.bf16",
        "cvt.rni.ftz.u32.f16",
        "cvt.rm.relu.f16.f32",
        "cvt.rn.ftz.relu.f16.f32",
        "cvt.rp.satfinite.f16.f32",
        "selp.pred",
        "slct.b32.u32",
        "cvt.f16.f32",
        "cvt.s32.f32",
        "cvt.rn.s32.f32",
        "cvt.rni.s32.s64",
        "cvt.f32.s32",
        "cvt.rm.f16x2.f32",
        "cvt.rn.e4m3x2.f32",
        "cvt.rs.f16x2.f32",
        "cvt.rn.satfinite.e2m1x2.f32",
        "cvt.rn.ftz.f64.f64",
        "addc.u16",
        "abs.u32",
        "min.NaN.f64",
        "min.xorsign.f32",
        "bfe.b32",
        "testp.odd.f32",
    ] {
        let mut parts = name.split('.');
        let opcode = parts.next().unwrap();
        let modifiers: Vec<_> = parts.collect();
        let error = lookup(opcode, &modifiers).expect_err(name);
        assert_eq!(error.instruction, name);
        assert!(error.to_string().contains("expected"), "{error}");
    }
}
