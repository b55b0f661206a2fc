//! Registers of 128 bits, and registers that are vectors.

use super::session::refused;
use super::{kernel, session};
use cute_runtime::emulator::{Config, Finding, Grid, Kind, Memory, Session};

const DECLARED: &str =
    ".reg .b128 %q<4>; .reg .v4 .u32 v, %w<3>; .reg .v2 .f32 %g; .reg .f32 %x<4>;";

/// The words that one thread stores from `%s1` on, and what is found.
fn one(module: &str, body: &str) -> (Vec<u32>, Vec<Finding>) {
    let text = session::text(module, &format!("{DECLARED}\n{body}"));
    let mut session = Session::new(&text, Config::default()).unwrap();
    let out = session.allocate("out", Memory::uninitialized(256)).unwrap();
    session.launch("k", Grid::new(1, 1), &[out.into()]).unwrap();
    let bytes = session.read(out);
    let words = bytes.chunks_exact(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    (words.collect(), session.findings())
}

/// The same, without findings.
fn stored(body: &str) -> Vec<u32> {
    let (found, findings) = one("", body);
    assert_eq!(findings, [], "{body}");
    found
}

#[test]
fn values_of_128_bits_are_packed_moved_and_unpacked() {
    let body = "mov.u64 %s2, 0x1111111122222222; mov.u64 %s3, 0x3333333344444444; mov.b128 %q1, {%s2, %s3}; mov.b128 %q2, %q1;\n\
        mov.b128 {%s4, %s5}, %q2; st.global.v2.u64 [%s1], {%s4, %s5}; mov.b128 {%r1, %r2, _, %r4}, %q2; st.global.v2.u32 [%s1+16], {%r4, %r1};\n\
        mov.b128 %q3, {%r4, %r1, %r2, 7}; mov.b128 {_, %s6}, %q3; st.global.u64 [%s1+24], %s6; mov.b128 %q0, 9; st.global.b128 [%s1+32], %q0;";
    assert_eq!(
        stored(body)[..12],
        [
            0x2222_2222,
            0x1111_1111,
            0x4444_4444,
            0x3333_3333,
            0x3333_3333,
            0x2222_2222,
            0x1111_1111,
            7,
            9,
            0,
            0,
            0
        ]
    );
}

#[test]
fn loads_and_stores_move_128_bits() {
    let module = ".shared .align 16 .b8 s[32];\n";
    let body = "mov.u64 %s2, 1; mov.u64 %s3, 2; mov.b128 %q1, {%s2, %s3}; st.shared.b128 [s+16], %q1; ld.shared.b128 %q2, [s+16];\n\
        st.global.b128 [%s1], %q2; ld.volatile.global.b128 %q3, [%s1]; st.global.u32 [%s1+16], %q3; ld.global.u32 %q0, [%s1+8]; st.global.b128 [%s1+32], %q0;";
    let (found, findings) = one(module, body);
    assert_eq!(findings, []);
    assert_eq!(found[..5], [1, 0, 2, 0, 1]);
    assert_eq!(found[8..12], [2, 0, 0, 0]);
    // Both halves have to be there, and the address is a multiple of 16.
    let (_, findings) = one("", "st.global.b128 [%s1], %q1;");
    assert_eq!(findings[0].kind, Kind::UninitializedRegister);
    let (_, findings) = one("", "mov.b128 %q1, 1;\nst.global.b128 [%s1+8], %q1;");
    assert_eq!(findings[0].kind, Kind::Misaligned);
}

#[test]
fn atomics_swap_128_bits() {
    let body = "mov.b128 %q0, 5; st.global.b128 [%s1], %q0; mov.u64 %s2, 6; mov.u64 %s3, 7; mov.b128 %q1, {%s2, %s3};\n\
        atom.global.cas.b128 %q2, [%s1], %q1, %q0; st.global.b128 [%s1+16], %q2; atom.global.cas.b128 %q2, [%s1], %q0, %q1; atom.exch.b128 %q3, [%s1], %q0;\n\
        st.global.b128 [%s1+32], %q3; atom.global.exch.b128 _, [%s1+32], %q0;";
    let found = stored(body);
    assert_eq!(found[..12], [5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0]);
    let in_shared = "mov.b128 %q0, 5; st.shared.b128 [s], %q0; mov.u64 %s2, 6; mov.u64 %s3, 7; mov.b128 %q1, {%s2, %s3};\n\
        atom.shared.cas.b128 %q2, [s], %q0, %q1; atom.shared.exch.b128 %q3, [s], %q2; st.global.b128 [%s1], %q3; st.global.b128 [%s1+16], %q2;";
    let (found, findings) = one(".shared .align 16 .b8 s[16];\n", in_shared);
    assert_eq!(findings, []);
    assert_eq!(found[..8], [6, 0, 7, 0, 5, 0, 0, 0]);
}

/// Blocks that count by exchanges of a value and its number of 128 bits.
#[test]
fn a_swap_of_128_bits_is_one_operation_between_blocks() {
    let body = format!(
        "{DECLARED}\nL: ld.relaxed.gpu.global.b128 %q1, [%s90]; mov.b128 {{%s1, %s2}}, %q1; add.u64 %s3, %s1, 1; add.u64 %s4, %s2, 2; mov.b128 %q2, {{%s3, %s4}};\n\
        atom.relaxed.gpu.global.cas.b128 %q3, [%s90], %q1, %q2; mov.b128 {{%s5, %s6}}, %q3; setp.ne.u64 %p1, %s5, %s1; @%p1 bra L;"
    );
    let run = kernel(&body).in_out([0, 0, 0, 0]).grid(8).run();
    assert_eq!(run.clean(0), [256, 0, 512, 0]);
    // A plain read beside it races, and so does a strong one of another size.
    for read in ["ld.global.u32", "ld.relaxed.gpu.global.u64"] {
        let reg = if read.ends_with("64") { "%s1" } else { "%r1" };
        let body = format!(
            "{DECLARED}\nmov.b128 %q1, 1; atom.relaxed.gpu.global.exch.b128 _, [%s90], %q1; {read} {reg}, [%s90];"
        );
        let kinds = kernel(&body).in_out([0, 0, 0, 0]).grid(2).run().kinds();
        assert!(
            kinds.iter().any(|(kind, _)| *kind == Kind::GlobalRace),
            "{read}: {kinds:?}"
        );
    }
}

#[test]
fn registers_may_be_vectors() {
    let body = "mov.v4.u32 v, {1, 2, 3, 4}; st.global.v4.u32 [%s1], v; mov.v4.u32 v, {v.w, v.z, v.y, v.x}; st.global.v4.b32 [%s1+16], v;\n\
        ld.global.v4.u32 %w1, [%s1]; add.u32 %w2.r, %w1.x, %w1.a; add.u32 %w2.y, %w1.g, %w1.b; mov.b64 %s2, {%w2.x, %w2.y}; st.global.u64 [%s1+32], %s2;\n\
        mov.v4.u32 %w0, %ntid; st.global.u32 [%s1+40], %w0.w; mov.b64 %g, 0x400000003f800000; add.f32 %x1, %g.x, %g.y; st.global.f32 [%s1+44], %x1;\n\
        mov.v2.f32 %g, {%x1, 1.0}; mov.v2.f32 {%x2, _}, %g; st.global.v2.f32 [%s1+48], {%x2, %g.y};";
    let three = 3f32.to_bits();
    assert_eq!(
        stored(body)[..14],
        [
            1,
            2,
            3,
            4,
            4,
            3,
            2,
            1,
            5,
            5,
            0,
            three,
            three,
            1f32.to_bits()
        ]
    );
}

#[test]
fn what_ptxas_refuses_of_wide_registers_is_refused() {
    for (body, says) in [
        ("and.b128 %q0, %q1, %q2;", "expected a type, one of"),
        ("selp.b128 %q0, %q1, %q2, %p1;", "expected a type, one of"),
        (
            "atom.global.add.b128 %q0, [%s1], %q1;",
            "does not know the instruction",
        ),
        (
            "ld.global.v2.b128 {%q0, %q1}, [%s1];",
            "does not know the instruction",
        ),
        (
            "mov.b128 %q0, {%s1, %r1};",
            "expected registers of one type in a vector, found %s1 beside %r1",
        ),
        (
            "mov.b128 %q0, {%r1, %r2};",
            "a register of 64 bits, found %r2 of 32",
        ),
        (
            "mov.b128 %q0, %s1;",
            "a register of 128 bits, found %s1 of 64",
        ),
        (
            "mov.b128 %q0, {%s1};",
            "expected 2 or 4 parts of a value of 128 bits, found 1",
        ),
        (
            "mov.b128 %q0, 1.0;",
            "no numbers of 128 bits; put two of 64 together",
        ),
        (
            "mov.b64 %s1, %q0;",
            "a register of 64 bits, found %q0 of 128",
        ),
        (
            "ld.global.u32 %r1, [%q0];",
            "a register of at most 64 bits, found %q0 of 128; unpack it",
        ),
        (
            "cvt.u64.u32 %q0, %r1;",
            "a register of at most 64 bits, found %q0 of 128",
        ),
        (
            "atom.global.exch.b128 %q0, [%s1], %s2;",
            "a register of 128 bits, found %s2 of 64",
        ),
        (
            "atom.global.exch.b128 %q0, [%s1], 1;",
            "expected a register of 128 bits; declare one",
        ),
        ("mov.u32 %r1, v;", "expected a type of bits to take apart"),
        (
            "add.u32 %r1, v, 1;",
            "expected a single register, found v, which is a vector; name an element",
        ),
        (
            "mov.u32 %r1, %g.z;",
            "an element of a vector that is declared, found %g.z",
        ),
        (
            "mov.u32 %r1, %r2.x;",
            "an element of a vector that is declared, found %r2.x",
        ),
        (
            "ld.global.v2.u32 v, [%s1];",
            "expected 2 registers in the vector, found 4",
        ),
        (
            "ld.global.v4.f32 {%x1, %x2}, [%s1];",
            "expected 4 registers in the vector, found 2",
        ),
        ("ld.global.u32 %r1, [v];", "found v, which is a vector"),
        (
            "mov.v2.u32 {%r1, %r2}, %r3;",
            "expected a vector of 2 registers, found %r3",
        ),
        (
            "mov.v2.u32 {%r1, %r2}, v;",
            "expected 2 registers in the vector, found 4",
        ),
        (
            "mov.v4.u64 {%s1, %s2, %s3, %s4}, {%s1, %s2, %s3, %s4};",
            "a vector of at most 128 bits, found .v4 .u64",
        ),
        ("mov.v4.u32 v, %laneid;", "expected a vector, found %laneid"),
        (
            "mov.v4.u16 {%r1, %r2, %r3, %r4}, %tid;",
            "a register of 16 bits",
        ),
    ] {
        let error = refused("", &format!("{DECLARED}\n{body}"));
        assert!(error.contains("PTX line 8: "), "{body}: {error}");
        assert!(error.contains(says), "{body}: {error}");
    }
    for declared in [".reg .v4 .b64 %v;", ".reg .v8 .b16 %v;"] {
        let error = refused("", &format!("ret;\n{declared}"));
        assert!(
            error.contains(
                "PTX line 8: expected vectors of 2 or 4 registers and of at most 128 bits"
            ),
            "{error}"
        );
    }
    // A function gets no register of 128 bits.
    let text = session::text(
        ".func f(.reg .b128 %a) { ret; }",
        &format!("{DECLARED}\ncall f, (%q1);"),
    );
    let mut session = Session::new(&text, Config::default()).unwrap();
    let out = session.allocate("out", Memory::uninitialized(16)).unwrap();
    let error = session
        .launch("k", Grid::new(1, 1), &[out.into()])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("expected a register of at most 64 bits, found %q1 of 128"),
        "{error}"
    );
}
