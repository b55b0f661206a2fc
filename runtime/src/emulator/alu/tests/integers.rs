use super::super::*;
use crate::emulator::LANES;

/// What a [`Kind::Value`] gives for operands that all lanes have.
fn value(name: &str, operands: &[u64]) -> u64 {
    let mut parts = name.split('.');
    let opcode = parts.next().unwrap();
    let modifiers: Vec<_> = parts.collect();
    let alu = lookup(opcode, &modifiers).unwrap();
    assert_eq!(alu.sources.len(), operands.len(), "{name}");
    let row = |at: usize| [operands.get(at).copied().unwrap_or(0xdead_beef_dead_beef); LANES];
    let mut d = [0; LANES];
    match alu.kind {
        Kind::Value(f) => f(&mut d, &row(0), &row(1), &row(2)),
        Kind::Value4(f) => f(&mut d, &row(0), &row(1), &row(2), &row(3)),
        _ => panic!("{name} is no value"),
    }
    assert!(d.iter().all(|x| *x == d[0]));
    d[0]
}

#[test]
fn a_few_that_are_known() {
    assert_eq!(value("add.s64", &[!0, 2]), 1);
    assert_eq!(value("mad.lo.s32", &[3, 5, !0]), 14);
    assert_eq!(value("mul.wide.u32", &[!0, !0]), 0xffff_fffe_0000_0001);
    assert_eq!(value("shl.b32", &[1, 32]), 0);
    assert_eq!(
        value("fma.rn.f32", &[0x3f80_0000, 0x4000_0000, 0x4040_0000]),
        0x40a0_0000
    );
    assert_eq!(
        value("cvt.rn.f16x2.f32", &[0x3f80_0000, 0x4000_0000]),
        0x3c00_4000
    );
    assert_eq!(
        value("lop3.b32", &[0xf0f0, 0xcccc, 0xaaaa, 0x96]),
        0xf0f0 ^ 0xcccc ^ 0xaaaa
    );
}
