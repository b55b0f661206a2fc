//! The instructions that kernels are made of. The first operand is written and the others are read: `r` 32 bits, `s` 64 bits, `f` f32,
//! `e` f64, `h` 16 bits, `p` a predicate, `i` an immediate of 32 bits, `n` one from 0 to 63, `m` one to 31, `b` and `c` bytes in 32 bits, `/r` and `/s` divisors, `#f` f32 but no NaN. Of `E`, `F` and `T` (f64,
//! f32 and tf32) PTX leaves open which NaN is written: lines behind the instruction decide it.

/// Instructions whose results PTX decides to the bit.
#[rustfmt::skip]
pub const ROWS: &[&str] = &[
    // Integers of 32 bits.
    "add.s32 r r r", "add.u32 r r i", "sub.s32 r r r", "add.sat.s32 r r r", "sub.sat.s32 r r r", "mul.lo.s32 r r r", "mul.hi.s32 r r r", "mul.hi.u32 r r r",
    "mad.lo.s32 r r r r", "mad.hi.u32 r r r r", "mad.hi.sat.s32 r r r r", "mul24.lo.s32 r r r", "mul24.hi.u32 r r r", "mad24.lo.u32 r r r r", "sad.s32 r r r r",
    "sad.u32 r r r r", "div.s32 r r /r", "div.u32 r r /r", "rem.s32 r r /r", "rem.u32 r r /r", "abs.s32 r r", "neg.s32 r r", "min.s32 r r r", "max.u32 r r r",
    "popc.b32 r r", "clz.b32 r r", "bfind.u32 r r", "bfind.s32 r r", "bfind.shiftamt.u32 r r", "brev.b32 r r", "bfe.u32 r r r r", "bfe.s32 r r m m",
    "bfi.b32 r r r r r", "bfi.b32 r r r m m", "bfe.s32 r r r r", "mad.hi.s32 r r r r", "mad24.hi.s32 r r r r", "dp4a.u32.u32 r r r r", "dp4a.s32.u32 r r r r", "dp2a.lo.s32.s32 r r r r", "dp2a.hi.u32.s32 r r r r", "dp2a.hi.s32.u32 r r r r", "dp2a.lo.u32.u32 r r r r", "dp4a.s32.s32 r r r r",
    "and.b32 r r r", "or.b32 r r i", "xor.b32 r r r", "not.b32 r r", "cnot.b32 r r", "shl.b32 r r r", "shr.u32 r r n", "shr.s32 r r r",
    "shf.l.wrap.b32 r r r r", "shf.r.clamp.b32 r r r r", "prmt.b32 r r r r", "prmt.b32.f4e r r r r", "prmt.b32.rc8 r r r r", "prmt.b32.ecl r r r r", "prmt.b32.b4e r r r r", "prmt.b32.ecr r r r r", "prmt.b32.rc16 r r r r", "shf.l.clamp.b32 r r r r", "shf.r.wrap.b32 r r r r",
    "lop3.b32 r r r r 0x96", "lop3.b32 r r r r 0xca", "lop3.b32 r r r r 0x1b", "szext.wrap.u32 r r r", "szext.clamp.s32 r r r", "bmsk.clamp.b32 r r r", "bmsk.wrap.b32 r r r",
    // Of 64 bits, and between the two.
    "add.s64 s s s", "sub.s64 s s s", "mul.lo.s64 s s s", "mul.hi.s64 s s s", "mul.hi.u64 s s s", "mad.lo.s64 s s s s", "mul.wide.s32 s r r", "mul.wide.u32 s r r",
    "mad.wide.s32 s r r s", "div.s64 s s /s", "div.u64 s s /s", "rem.s64 s s /s", "rem.u64 s s /s", "abs.s64 s s", "neg.s64 s s", "min.u64 s s s", "max.s64 s s s",
    "popc.b64 r s", "clz.b64 r s", "brev.b64 s s", "bfind.s64 r s", "bfe.s64 s s n n", "bfi.b64 s s s n n", "bfe.u64 s s b c", "bfi.b64 s s s b c", "and.b64 s s s", "xor.b64 s s s", "not.b64 s s",
    "shl.b64 s s r", "shr.s64 s s r", "shr.u64 s s n",
    // Of 16 bits.
    "add.s16 h h h", "sub.u16 h h h", "mul.lo.s16 h h h", "mul.hi.u16 h h h", "mad.lo.u16 h h h h", "mul.wide.s16 r h h", "min.s16 h h h", "max.u16 h h h", "shl.b16 h h r",
    "shr.s16 h h r", "and.b16 h h h", "not.b16 h h", "neg.s16 h h", "abs.s16 h h",
    // Floating point of 32 bits.
    "add.rn.f32 f f f", "add.rz.f32 f f f", "add.rm.ftz.f32 f f f", "add.rp.sat.f32 f f f", "sub.rn.ftz.f32 f f f", "mul.rn.f32 f f f", "mul.rp.f32 f f f",
    "mul.rz.ftz.sat.f32 f f f", "fma.rn.f32 f f f f", "fma.rz.f32 f f f f", "fma.rm.ftz.f32 f f f f", "fma.rp.sat.f32 f f f f", "div.rn.f32 f f f", "div.rz.f32 f f f",
    "div.rp.ftz.f32 f f f", "rcp.rn.f32 f f", "rcp.rm.ftz.f32 f f", "sqrt.rn.f32 f f", "sqrt.rp.f32 f f", "min.f32 F f f", "max.ftz.f32 f f f", "min.NaN.f32 f f f",
    "max.ftz.NaN.f32 f f f", "copysign.f32 f f f",
    // Of 64 bits.
    "add.rn.f64 E e e", "sub.rm.f64 E e e", "mul.rz.f64 E e e", "fma.rn.f64 E e e e", "fma.rp.f64 E e e e", "div.rn.f64 E e e", "div.rm.f64 E e e", "rcp.rn.f64 E e",
    "sqrt.rn.f64 E e", "min.f64 E e e", "max.f64 E e e", "copysign.f64 e e e",
    // Packed and of 16 bits.
    "add.rn.f16x2 r r r", "sub.rn.ftz.f16x2 r r r", "mul.rn.sat.f16x2 r r r", "fma.rn.f16x2 r r r r", "fma.rn.relu.f16x2 r r r r", "min.f16x2 r r r",
    "max.NaN.f16x2 r r r", "max.ftz.f16x2 r r r", "min.ftz.NaN.f16x2 r r r", "fma.rn.ftz.f16x2 r r r r", "fma.rn.ftz.relu.f16x2 r r r r", "min.ftz.f16 h h h", "fma.rn.bf16x2 r r r r", "fma.rn.relu.bf16x2 r r r r", "min.bf16x2 r r r", "max.NaN.bf16x2 r r r", "add.rn.f16 h h h", "mul.rn.ftz.f16 h h h",
    "fma.rn.sat.f16 h h h h", "min.NaN.f16 h h h", "fma.rn.bf16 h h h h", "max.bf16 h h h", "min.NaN.bf16 h h h", "sub.rn.f16 h h h", "fma.rn.relu.f16 h h h h", "fma.rn.relu.bf16 h h h h",
    // Conversions.
    "cvt.rn.f32.s32 f r", "cvt.rz.f32.u32 f r", "cvt.rp.f32.s64 f s", "cvt.rm.f32.u64 f s", "cvt.rni.s32.f32 r f", "cvt.rzi.u32.f32 r f", "cvt.rmi.ftz.s32.f32 r f",
    "cvt.rpi.s64.f32 s f", "cvt.rzi.u64.f32 s f", "cvt.rn.f64.s64 E s", "cvt.rn.f64.u32 E r", "cvt.rzi.s32.f64 r e", "cvt.rni.u64.f64 s e", "cvt.f64.f32 E f",
    "cvt.rn.f32.f64 F e", "cvt.rz.ftz.f32.f64 F e", "cvt.rn.f16.f32 h f", "cvt.rz.f16.f32 h f", "cvt.f32.f16 f h", "cvt.rn.f16.s32 h r", "cvt.rzi.s16.f16 h h",
    "cvt.rn.bf16.f32 h f", "cvt.f32.bf16 F h", "cvt.rn.f16x2.f32 r f f", "cvt.rz.relu.f16x2.f32 r f f", "cvt.rn.bf16x2.f32 r f f", "cvt.rna.tf32.f32 T #f",
    "cvt.s64.s32 s r", "cvt.u64.u32 s r", "cvt.u32.u64 r s", "cvt.sat.s32.s64 r s", "cvt.s32.s16 r h", "cvt.u16.u32 h r", "cvt.sat.u16.s32 h r", "cvt.s32.s8 r r",
    "cvt.rni.f32.f32 f f", "cvt.rmi.ftz.f32.f32 f f", "cvt.rzi.f64.f64 E e", "cvt.sat.f32.f32 f f", "cvt.rmi.u32.f32 r f", "cvt.rpi.ftz.u32.f32 r f", "cvt.rmi.s64.f64 s e", "cvt.rpi.s32.f64 r e", "cvt.rm.f32.s32 f r", "cvt.rm.f32.f64 F e",
    "cvt.rp.sat.f32.f64 f e", "cvt.rz.bf16.f32 h f", "cvt.rn.relu.bf16x2.f32 r f f", "cvt.rz.bf16x2.f32 r f f", "cvt.rpi.f16.f16 h h", "cvt.rm.f64.s64 E s", "cvt.rni.u16.f16 h h",
    "cvt.sat.s8.s32 r r", "cvt.sat.u8.s16 h h", "cvt.sat.u32.s64 r s",
    // Predicates.
    "setp.lt.s32 p r r", "setp.hs.u32 p r r", "setp.ne.s64 p s s", "setp.gtu.f32 p f f", "setp.le.ftz.f32 p f f", "setp.num.f32 p f f", "setp.nan.f64 p e e",
    "setp.eq.f64 p e e", "testp.subnormal.f32 p f", "testp.finite.f64 p e", "testp.notanumber.f32 p f", "testp.normal.f32 p f", "testp.normal.f64 p e", "testp.infinite.f32 p f", "testp.number.f64 p e", "and.pred p p p", "xor.pred p p p", "not.pred p p",
    "selp.b32 r r r p", "selp.b64 s s s p", "selp.f32 f f f p", "slct.s32.s32 r r r r", "slct.f32.f32 f f f f", "set.lt.u32.s32 r r r", "set.geu.f32.f32 f f f",
    // Video.
    "vadd.u32.u32.u32 r r r", "vsub.s32.s32.u32.sat r r r", "vabsdiff.u32.s32.s32 r r r", "vmin.s32.s32.s32 r r r", "vmax.u32.u32.s32.add r r r r",
    "vadd2.s32.s32.s32.sat r r r r", "vadd4.u32.u32.u32 r r r r", "vsub4.u32.u32.u32.sat r r r r", "vavrg2.s32.s32.s32 r r r r", "vavrg4.u32.u32.u32 r r r r",
    "vabsdiff4.u32.u32.u32.add r r r r", "vmin4.s32.s32.s32 r r r r", "vmax2.u32.u32.u32 r r r r", "vset4.u32.u32.lt r r r r", "vset2.s32.s32.ge r r r r",
];
