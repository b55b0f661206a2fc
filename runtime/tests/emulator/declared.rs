//! Declarations: names that a scope has once, registers of the types of instructions, initial values.

use super::session::{refused, words};
use cute_runtime::emulator::{Config, Grid, Session};

#[test]
fn registers_have_the_width_of_the_instruction() {
    let declared = ".reg .b16 %h<4>; .reg .u32 %u<4>; .reg .f32 %f<4>; .reg .f64 %d<4>;";
    for (wrong, says) in [
        (
            "add.u32 %r1, %s2, 1;",
            "expected a register of 32 bits, found %s2 of 64",
        ),
        ("add.u32 %s2, %r1, 1;", "found %s2 of 64"),
        ("add.u32 %r1, %h1, 1;", "found %h1 of 16"),
        (
            "mul.wide.u32 %r1, %r2, %r3;",
            "expected a register of 64 bits, found %r1 of 32",
        ),
        ("add.f32 %f1, %d1, %f2;", "found %d1 of 64"),
        ("add.f32 %f1, %u1, %f2;", "found %u1 of .u32"),
        ("mov.u32 %r1, %s2;", "found %s2 of 64"),
        ("mov.b64 {%r1, %h1}, %s2;", "found %r1 beside %h1"),
        (
            "shl.b64 %s1, %s2, %s3;",
            "expected a register of 32 bits, found %s3 of 64",
        ),
        (
            "cvt.u32.u64 %r1, %r2;",
            "expected a register of 64 bits or more, found %r2 of 32",
        ),
        (
            "st.global.u32 [%s1], %h1;",
            "expected a register of 32 bits or more, found %h1 of 16",
        ),
        ("setp.eq.u32 %p1, %s1, 1;", "found %s1 of 64"),
        ("atom.global.add.u32 %s2, [%s1], %r1;", "found %s2 of 64"),
        ("shfl.sync.idx.b32 %s2, %r1, 0, 31, -1;", "found %s2 of 64"),
    ] {
        let error = refused("", &format!("{declared}\n{wrong}"));
        assert!(error.contains(says), "{wrong}: {error}");
        assert!(error.contains("PTX line 8"), "{wrong}: {error}");
    }
    // Wider registers of loads, stores and conversions, and bits for numbers of any kind.
    let right = ".reg .b16 %h<4>; .reg .f64 %d<4>;\nmov.u64 %s2, 0x100000007; st.global.u32 [%s1], %s2; ld.global.u8 %s3, [%s1]; cvt.u32.u64 %s4, %s3;\n\
        cvt.u32.u32 %r2, %s4; mov.b32 %f1, %r2; and.b32 %r3, %f1, 255; cvt.u8.u32 %h1, %r3; add.f32 %r4, %f1, 0f00000000; st.global.u16 [%s1+2], %h1; mov.u16 %h2, %tid.x;";
    let (found, findings) = words("", right);
    assert_eq!(findings, []);
    assert_eq!(found[0], 0x0007_0007);
}

#[test]
fn names_are_declared_once_in_a_scope() {
    for (module, body, line) in [
        (".global .u32 x;\n.global .u32 x;", "", 5),
        (".shared .u32 x;\n.global .u32 x;", "mov.u32 %r1, x;", 5),
        ("", ".reg .b32 %a;\n.reg .b64 %a;", 8),
        ("", ".reg .b32 %a<4>; .reg .b32 %a<8>;", 7),
        ("", ".reg .b32 %a<4>;\n.reg .b64 %a3;", 8),
        ("", ".reg .b32 %a3;\n.reg .b64 %a<4>;", 8),
        ("", "L:\nL: ret;", 8),
        ("", ".shared .u32 s;\n.local .u32 s;", 8),
    ] {
        let error = refused(module, body);
        assert!(
            error.contains("expected names that a scope declares once"),
            "{module}{body}: {error}"
        );
        assert!(
            error.contains(&format!("PTX line {line}:")),
            "{module}{body}: {error}"
        );
    }
    let apart = ".reg .b32 %a<4>; .reg .b64 %a4; mov.u64 %a4, 1; { .reg .b64 %a1; .shared .u32 s; L: mov.u64 %a1, 2; }\n\
        .shared .u32 s; L: mov.u32 %a1, 3; st.global.u32 [%s1], %a1;";
    let module = ".extern .shared .b8 d[]; .extern .shared .b8 d[]; .extern .global .u32 g; .extern .global .u32 g; .visible .global .u32 g;";
    let (found, findings) = words(module, apart);
    assert_eq!(findings, []);
    assert_eq!(found[0], 3);
}

#[test]
fn initial_values_fit_their_variable() {
    for (module, says) in [
        (
            "\n.global .u32 x[2] = {1, 2, 3};",
            "at most 2 initial values of x, found 3",
        ),
        (
            "\n.global .v2 .u32 x[2] = {{1, 2}, {3, 4}, {5, 6}};",
            "at most 4 initial values of x, found 6",
        ),
        ("\n.global .b8 x[4294967297];", "2^32 bytes"),
        ("\n.global .b8 x[67108865];", "67108864 bytes of variables"),
    ] {
        let error = refused(module, "");
        assert!(
            error.contains(says) && error.contains("PTX line 5"),
            "{module}: {error}"
        );
    }
    for (body, says) in [
        (".reg .b32 %a<2000000>;", "registers, found more"),
        (".local .b8 a[1000000];", "bytes of local memory"),
    ] {
        let error = refused("", &format!("ret;\n{body}"));
        assert!(
            error.contains(says) && error.contains("PTX line 8"),
            "{body}: {error}"
        );
    }
    let module = ".global .f32 f[2] = {1.5, 0f40000000}; .global .f64 d = 0f3F800000; .global .u32 open[] = {7, 1+8};";
    let body = "ld.global.u32 %r1, [f]; ld.global.u32 %r2, [f+4]; ld.global.u64 %s2, [d]; ld.global.u32 %r3, [open+4];\n\
        shr.u64 %s2, %s2, 32; cvt.u32.u64 %r4, %s2; xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r4; add.u32 %r1, %r1, %r3; st.global.u32 [%s1], %r1;";
    let (found, findings) = words(module, body);
    assert_eq!(findings, []);
    assert_eq!(found[0], (0x3fc0_0000 ^ 0x4000_0000 ^ 0x3ff0_0000) + 9);
}

#[test]
fn constant_expressions_are_operands() {
    let body = "st.shared.u32 [s+4*2], 1<<4;\nld.shared.u32 %r1, [s+8]; add.u32 %r1, (%r1+0), 0;";
    // Registers are no constants.
    assert!(Session::new(&super::session::text("", body), Config::default()).is_err());
    let body = "mov.u32 %r9, s; st.shared.u32 [s+4*2], 1<<4; ld.shared.u32 %r1, [s+8]; add.u32 %r1, %r1, -(-5); mov.u32 %r2, (3);\n\
        mad.lo.u32 %r1, %r2, WARP_SZ*2, %r1; st.global.u32 [%s1+0*4], %r1;";
    let dynamic = ".extern .shared .align 4 .b8 d[];";
    let of_dynamic =
        "mov.u32 %r1, d+8; mov.u32 %r2, d; sub.u32 %r1, %r1, %r2; st.global.u32 [%s1], %r1;";
    assert_eq!(words(dynamic, of_dynamic).0[3], 8);
    let text = super::session::text(".shared .align 4 .b8 s[64];", body);
    let mut session = Session::new(&text, Config::default()).unwrap();
    let out = session
        .allocate("out", cute_runtime::emulator::Memory::uninitialized(4))
        .unwrap();
    session.launch("k", Grid::new(1, 1), &[out.into()]).unwrap();
    assert_eq!(session.findings(), []);
    assert_eq!(session.read(out), (16u32 + 5 + 3 * 64).to_le_bytes());
}
