//! Rare forms of instructions.

use super::session::{refused, words};
use cute_runtime::emulator::Kind;

#[test]
fn lop3_gives_a_predicate() {
    // (d != 0) BoolOp q, for all four of both; the result is kept, or not.
    let body = |combine: &str, dest: &str| {
        format!(
            "and.b32 %r1, %r0, 1; and.b32 %r2, %r0, 2; setp.ne.u32 %p1, %r2, 0; mov.u32 %r3, 1; mov.u32 %r5, 0;\n\
             lop3.{combine}.b32 {dest}|%p2, %r1, %r3, 0xffffffff, 0x80, %p1;\n\
             selp.u32 %r4, 16, 0, %p2; add.u32 %r4, %r4, %r5; st.global.u32 [%s1], %r4;"
        )
    };
    type Combine = fn(bool, bool) -> bool;
    let cases: [(&str, Combine); 2] = [("or", |d, q| d | q), ("and", |d, q| d & q)];
    for (name, combine) in cases {
        for dest in ["%r5", "_"] {
            let wanted = (0..64).map(|t: u32| {
                let (d, q) = (t & 1, t & 2 != 0);
                16 * u32::from(combine(d != 0, q)) + if dest == "_" { 0 } else { d }
            });
            let expected = (wanted.collect::<Vec<u32>>(), vec![]);
            assert_eq!(words("", &body(name, dest)), expected, "{name} {dest}");
        }
    }
    // Lanes that the guard leaves out keep both; and the predicate may be the one that it is combined with.
    let guarded = "setp.lt.u32 %p1, %r0, 8; setp.ge.u32 %p2, %r0, 4; mov.u32 %r4, 9;\n\
        @%p1 lop3.and.b32 %r4|%p2, %r0, 6, 0, 0xc0, %p2;\n\
        selp.u32 %r5, 16, 0, %p2; add.u32 %r4, %r4, %r5; st.global.u32 [%s1], %r4;";
    let expected = (0..64).map(|t: u32| match t {
        0..8 => (t & 6) + 16 * u32::from(t >= 4),
        _ => 9 + 16,
    });
    assert_eq!(words("", guarded), (expected.collect(), vec![]));
    // What the result is made of must be there.
    let unwritten = "setp.lt.u32 %p1, %r0, 8; lop3.or.b32 _|%p2, %r9, %r0, 0, 0xf0, %p1; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%s1], %r4;";
    assert_eq!(words("", unwritten).1[0].kind, Kind::UninitializedRegister);
    let error = refused("", "lop3.or.b32 %r1, %r2, %r3, 0, 0xf0, %p1;");
    assert!(
        error.contains("expected a register and a predicate"),
        "{error}"
    );
    let error = refused("", "lop3.xor.b32 %r1|%p2, %r2, %r3, 0, 0xf0, %p1;");
    assert!(error.contains("unknown instruction"), "{error}");
}
