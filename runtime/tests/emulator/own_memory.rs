//! Memory of a thread's own: bytes that nothing wrote on their way, and memory that `alloca` gives.

use super::session::{refused, words};
use cute_runtime::emulator::Kind;

/// A structure of a byte and a word at `from`, copied to `to`; the three bytes between the two are padding. `%s2` and `%s3` are their
/// addresses, `%s4` and `%s5` the generic ones.
const STRUCTURE: &str = ".local .align 8 .b8 from[16]; .local .align 8 .b8 to[16];\n\
    mov.u64 %s2, from; mov.u64 %s3, to; cvta.local.u64 %s4, %s2; cvta.local.u64 %s5, %s3;\n\
    st.local.u8 [%s2], 7; add.u32 %r1, %r0, 100; st.local.u32 [%s2+4], %r1;";

/// Adds up the structure at `%s3`.
const SUM: &str = "ld.local.u8 %r8, [%s3]; ld.local.u32 %r9, [%s3+4]; add.u32 %r9, %r8, %r9; st.global.u32 [%s1], %r9;";

/// The bytes of the structure, one after the other.
fn bytes(load: &str, store: &str) -> String {
    let one = |i| format!("{load} %r2, [%s2+{i}]; {store} [%s3+{i}], %r2;\n");
    (0..8).map(one).collect()
}

#[test]
fn padding_may_be_copied() {
    let generic = bytes("ld.u8", "st.u8")
        .replace("%s2", "%s4")
        .replace("%s3", "%s5");
    let call = ".param .align 4 .b8 p[8]; .param .align 4 .b8 q[8];";
    let pass = |name: &str| {
        let into: String = (0..8)
            .map(|i| format!("ld.local.b8 %r2, [%s2+{i}]; st.param.b8 [p+{i}], %r2;\n"))
            .collect();
        let out: String = (0..8)
            .map(|i| format!("ld.param.b8 %r2, [q+{i}]; st.local.b8 [%s3+{i}], %r2;\n"))
            .collect();
        format!("{{ {call} {into} call (q), {name}, (p); {out} }}")
    };
    let whole = "ld.local.v2.u32 {%r2, %r3}, [%s2]; st.local.v2.u32 [%s3], {%r2, %r3};";
    let copies = [
        bytes("ld.local.u8", "st.local.u8"),
        bytes("ld.local.s8", "st.local.b8"),
        generic,
        whole.into(),
        "ld.local.u64 %s6, [%s2]; st.local.u64 [%s3], %s6;".into(),
        "ld.local.u64 %s6, [%s2]; mov.b64 {%r2, %r3}, %s6; mov.b64 %s7, {%r2, %r3}; mov.u64 %s6, %s7; st.local.u64 [%s3], %s6;".into(),
        // The byte that is there, out of a word.
        "ld.local.u32 %r2, [%s2]; and.b32 %r2, %r2, 255; st.local.u8 [%s3], %r2; ld.local.u32 %r3, [%s2+4]; st.local.u32 [%s3+4], %r3;".into(),
        pass("same"),
        pass("again"),
    ];
    // Both hand on what they get, the second one by a recursion that is decoded once.
    let hand = |from: &str, to: &str| -> String {
        (0..8)
            .map(|i| format!("ld.param.b8 %x, [{from}+{i}]; st.param.b8 [{to}+{i}], %x;\n"))
            .collect()
    };
    let module = format!(
        ".func (.param .align 4 .b8 o[8]) same(.param .align 4 .b8 i[8]) {{ .reg .b32 %x; {} ret; }}\n\
         .func (.param .align 4 .b8 o[8]) again(.param .align 4 .b8 i[8]) {{ .reg .b32 %x; .reg .b32 %v; .reg .pred %d;\n\
         ld.param.u8 %v, [i]; setp.eq.u32 %d, %v, 7; @%d bra down; {} ret;\n\
         down: {{ .param .align 4 .b8 p[8]; .param .align 4 .b8 q[8]; {} st.param.b8 [p], 8; call (q), again, (p); {} st.param.b8 [o], 7; }} ret; }}",
        hand("i", "o"),
        hand("i", "o"),
        hand("i", "p"),
        hand("q", "o"),
    );
    for copy in copies {
        let (found, findings) = words(&module, &format!("{STRUCTURE}\n{copy}\n{SUM}"));
        assert_eq!(findings, [], "{copy}");
        assert_eq!(found, (107..171).collect::<Vec<u32>>(), "{copy}");
    }
}

#[test]
fn padding_that_is_used_is_found_at_the_load_that_brought_it() {
    let uses = [
        "add.u32 %r3, %r2, 1;",
        "mov.u32 %r4, %r2; mul.lo.u32 %r3, %r4, 3;",
        "mov.b32 {%h1, %h2}, %r2; cvt.rn.f32.u16 %f1, %h1;",
        "shl.b32 %r3, %r2, 4; add.u32 %r3, %r3, 1;",
        "st.global.u8 [%s1], %r2;",
        "st.shared.u8 [word], %r2;",
        "setp.eq.u32 %p1, %r2, 0; @%p1 add.u32 %r3, %r0, 1;",
        "setp.eq.u32 %p1, %r2, 0; @%p1 bra fin; fin:",
        "cvt.u64.u32 %s6, %r2; add.u64 %s6, %s6, %s1; st.global.u32 [%s6], 1;",
        "setp.eq.u32 %p1, %r0, 99; selp.u32 %r3, 1, %r2, %p1; add.u32 %r3, %r3, 1;",
        "atom.global.add.u32 %r3, [%s1], %r2;",
    ];
    let module = ".shared .align 4 .u32 word;";
    for used in uses {
        let body = format!(".reg .b16 %h<3>; {STRUCTURE}\nld.local.u8 %r2, [%s2+1];\n{used}");
        let (_, findings) = words(module, &body);
        let of = findings
            .iter()
            .find(|f| f.kind == Kind::UninitializedMemory);
        let of = of.unwrap_or_else(|| panic!("{used}: {findings:?}"));
        assert_eq!(
            of.site.as_ref().unwrap().instruction,
            "ld.local.u8",
            "{used}"
        );
        assert_eq!(of.count, 64, "{used}");
        assert!(of.address.as_ref().unwrap().contains("byte 1"), "{of}");
        assert!(
            !findings
                .iter()
                .any(|f| f.kind == Kind::UninitializedRegister),
            "{used} {findings:?}"
        );
    }
    // Once it has been copied, the load from the copy brings it.
    let body = format!(
        "{STRUCTURE}\n{}\nld.local.u32 %r5, [%s3];\nadd.u32 %r5, %r5, 1;",
        bytes("ld.local.u8", "st.local.u8")
    );
    let (_, findings) = words("", &body);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, Kind::UninitializedMemory);
    assert_eq!(
        findings[0].site.as_ref().unwrap().instruction,
        "ld.local.u32"
    );
    // A value that nothing reads at all is told at once, and so is one whose register was written by half of a warp alone.
    let (_, findings) = words("", &format!("{STRUCTURE}\nld.local.u8 %r2, [%s2+1];"));
    assert_eq!(findings[0].kind, Kind::UninitializedMemory);
    let body = format!(
        "{STRUCTURE}\nsetp.lt.u32 %p1, %r0, 8; @%p1 ld.local.u8 %r2, [%s2+1];\nadd.u32 %r3, %r2, 1;"
    );
    let (_, findings) = words("", &body);
    let count = |kind| {
        findings
            .iter()
            .filter(|f| f.kind == kind)
            .map(|f| f.count)
            .sum::<u64>()
    };
    assert_eq!(count(Kind::UninitializedMemory), 8, "{findings:?}");
    assert!(count(Kind::UninitializedRegister) > 0, "{findings:?}");
}

#[test]
fn a_place_is_written_again_by_what_is_defined() {
    let body = format!(
        "{STRUCTURE}\nld.local.u64 %s6, [%s2]; st.local.u64 [%s3], %s6;\nst.local.v2.u16 [%s3], {{%h1, %h1}};\n\
         ld.local.u32 %r5, [%s3]; st.global.u32 [%s1], %r5;"
    );
    let (found, findings) = words("", &format!(".reg .b16 %h<3>; mov.b16 %h1, 3; {body}"));
    assert_eq!(findings, []);
    assert_eq!(found[0], 0x0003_0003);
    // And what is defined is gone where something undefined is stored over it.
    let body = format!(
        "{STRUCTURE}\nld.local.u8 %r2, [%s2+1]; st.local.u8 [%s2+4], %r2;\nld.local.u32 %r5, [%s2+4]; add.u32 %r5, %r5, 1; st.global.u32 [%s1], %r5;"
    );
    let (_, findings) = words("", &body);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, Kind::UninitializedMemory);
}

#[test]
fn what_the_system_is_given_is_used() {
    let module = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
        .global .b8 format[4] = {37, 117, 10, 0};";
    let calls = [
        "{ .param .b64 n; .param .b64 r; ld.local.u64 %s6, [%s3]; st.param.b64 [n], %s6; call (r), malloc, (n); }",
        "{ .param .b64 a; .param .b64 b; .param .b32 r; mov.u64 %s6, format; cvta.global.u64 %s6, %s6; st.param.b64 [a], %s6; st.param.b64 [b], %s5;\n\
         call (r), vprintf, (a, b); }",
    ];
    for call in calls {
        let (_, findings) = words(module, &format!("{STRUCTURE}\n{call}"));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].kind, Kind::UninitializedMemory);
        assert_eq!(findings[0].site.as_ref().unwrap().instruction, "call");
    }
}

/// The sum of 0 to `%r2`, by way of an array of so many elements and one more.
const TRIANGLE: &str = "add.u32 %r3, %r2, 1; mul.wide.u32 %s2, %r3, 4; alloca.u64 %s3, %s2, 16; mov.u32 %r4, 0;\n\
    fill: mul.wide.u32 %s4, %r4, 4; add.u64 %s4, %s3, %s4; st.local.u32 [%s4], %r4; add.u32 %r4, %r4, 1;\n\
    setp.lt.u32 %p1, %r4, %r3; @%p1 bra fill; mov.u32 %r5, 0; cvta.local.u64 %s5, %s3;\n\
    sum: sub.u32 %r4, %r4, 1; mul.wide.u32 %s4, %r4, 4; add.u64 %s4, %s5, %s4; ld.u32 %r6, [%s4]; add.u32 %r5, %r5, %r6;\n\
    setp.ne.u32 %p1, %r4, 0; @%p1 bra sum;";

fn triangles() -> Vec<u32> {
    (0..64).map(|n| n * (n + 1) / 2).collect()
}

#[test]
fn arrays_may_be_of_any_size() {
    let body = format!("mov.u32 %r2, %r0; {TRIANGLE} st.global.u32 [%s1], %r5;");
    let (found, findings) = words("", &body);
    assert_eq!(findings, []);
    assert_eq!(found, triangles());
    // Addresses of 32 bits, and the alignment that there is where nothing is said.
    let body = "alloca.u32 %r1, 12; alloca.u32 %r2, 5; st.local.u32 [%r1+8], 7; st.local.u8 [%r2+4], 9; ld.local.u32 %r3, [%r1+8];\n\
        ld.local.u8 %r4, [%r2+4]; add.u32 %r3, %r3, %r4; and.b32 %r1, %r1, 7; and.b32 %r2, %r2, 7; add.u32 %r3, %r3, %r1; add.u32 %r3, %r3, %r2;\n\
        st.global.u32 [%s1], %r3;";
    let (found, findings) = words("", body);
    assert_eq!(findings, []);
    assert_eq!(found, [16; 64]);
    // The alignment that is asked for.
    let body = "alloca.u64 %s2, 24, 256; and.b64 %s3, %s2, 255; cvt.u32.u64 %r1, %s3; st.global.u32 [%s1], %r1;";
    assert_eq!(words("", body), (vec![0; 64], vec![]));
}

#[test]
fn what_is_restored_is_given_again() {
    // 1,000 times 1 KiB, of which there is not as much.
    let turn = "mov.u32 %r2, 0; again: stacksave.u64 %s2; alloca.u64 %s3, 1024, 8;\n\
        st.local.u32 [%s3], %r0; ld.local.u32 %r3, [%s3]; stackrestore.u64 %s2;\n\
        add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 1000; @%p1 bra again; st.global.u32 [%s1], %r3;";
    let (found, findings) = words("", turn);
    assert_eq!(findings, []);
    assert_eq!(found, (0..64).collect::<Vec<u32>>());
    let (_, findings) = words("", &turn.replace("stackrestore.u64 %s2;", ""));
    assert_eq!(findings[0].kind, Kind::OutOfBounds);
    assert!(findings[0].message.contains("overflows"), "{}", findings[0]);
    assert_eq!(findings[0].site.as_ref().unwrap().instruction, "alloca.u64");
}

#[test]
fn a_function_gives_back_what_it_allocated() {
    // In place of its calls, and by recursion: n + f(n - 1), each with 4 KiB while those below it run one after the other.
    let inline = format!(
        ".func (.param .b32 o) f(.param .b32 n) {{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>; ld.param.u32 %r2, [n];\n\
         alloca.u64 %s9, 4096; {TRIANGLE} st.param.b32 [o], %r5; ret; }}"
    );
    let recur = ".func (.param .b32 o) f(.param .b32 n) { .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %s<32>; ld.param.u32 %r2, [n];\n\
        mov.u32 %r5, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra done; alloca.u64 %s3, 64; st.local.u32 [%s3+60], %r2;\n\
        sub.u32 %r3, %r2, 1; { .param .b32 p; .param .b32 q; st.param.b32 [p], %r3; call (q), f, (p); ld.param.b32 %r5, [q]; }\n\
        ld.local.u32 %r4, [%s3+60]; add.u32 %r5, %r5, %r4; done: st.param.b32 [o], %r5; ret; }";
    let call = "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r0; call (q), f, (p); ld.param.b32 %r5, [q]; }";
    let calls = format!("{}st.global.u32 [%s1], %r5;", call.repeat(12));
    for module in [inline.as_str(), recur] {
        let (found, findings) = words(module, &calls);
        assert_eq!(findings, [], "{module}");
        assert_eq!(found, triangles(), "{module}");
    }
}

#[test]
fn what_is_not_allocated_is_out_of_bounds() {
    let only = |body: &str, kind: Kind| {
        let (_, findings) = words("", body);
        assert_eq!(findings.len(), 1, "{body} {findings:?}");
        assert_eq!(findings[0].kind, kind, "{body}");
    };
    only(
        "alloca.u64 %s2, 16; st.local.u32 [%s2-4], 1;",
        Kind::OutOfBounds,
    );
    only(
        "alloca.u64 %s2, 16; st.local.u32 [%s2+16], 1;",
        Kind::OutOfBounds,
    );
    only(
        "stacksave.u64 %s3; alloca.u64 %s2, 16; st.local.u32 [%s2], 1; stackrestore.u64 %s3; ld.local.u32 %r1, [%s2];",
        Kind::OutOfBounds,
    );
    only(
        "alloca.u64 %s2, 16; ld.local.u32 %r1, [%s2+4]; add.u32 %r1, %r1, 1;",
        Kind::UninitializedMemory,
    );
    // Given back and allocated again, it holds nothing.
    only(
        "stacksave.u64 %s3; alloca.u64 %s2, 16; st.local.u32 [%s2], 1; stackrestore.u64 %s3; alloca.u64 %s2, 16; ld.local.u32 %r1, [%s2]; add.u32 %r1, %r1, 1;",
        Kind::UninitializedMemory,
    );
    // Stack pointers of nobody, and one from before what is given back.
    only("mov.u64 %s2, 64; stackrestore.u64 %s2;", Kind::Undefined);
    only(
        "stacksave.u64 %s2; add.u64 %s2, %s2, 8; stackrestore.u64 %s2;",
        Kind::Undefined,
    );
    only(
        "stacksave.u64 %s3; alloca.u64 %s2, 16; stacksave.u64 %s4; stackrestore.u64 %s3; stackrestore.u64 %s4;",
        Kind::Undefined,
    );
    only("alloca.u64 %s2, %s9;", Kind::UninitializedRegister);
    only("mov.u64 %s2, -1; alloca.u64 %s3, %s2;", Kind::OutOfBounds);
    for (body, reason) in [
        ("alloca.u64 %s2, 16, 24;", "a power of two"),
        ("alloca.u64 %s2, 16, 16777216;", "a power of two"),
        ("alloca.u16 %r2, 16;", "does not know"),
        ("stacksave.u64;", "does not know"),
        (
            "multimem.ld_reduce.global.add.u32 %r1, [%s1];",
            "several GPUs",
        ),
    ] {
        let error = refused("", body);
        assert!(
            error.contains(reason) && error.contains("line 7"),
            "{body}: {error}"
        );
    }
}

#[test]
fn an_overrun_of_one_array_into_another_is_found() {
    let arrays = ".local .align 4 .b8 one[16]; .local .align 4 .b8 two[16]; mov.u64 %s2, one; mov.u64 %s3, two; cvta.local.u64 %s4, %s2;";
    let given = "alloca.u64 %s3, 16; alloca.u64 %s2, 16; cvta.local.u64 %s4, %s2;";
    for (start, what) in [(arrays, "variables"), (given, "alloca")] {
        for access in [
            "st.local.u32 [%s2+16], 1;",
            "st.u32 [%s4+16], 1;",
            "st.local.u32 [%s3-4], 1;",
            // The last of its bytes lie beyond the end.
            "st.local.v2.u32 [%s2+8], {%r0, %r0}; ld.local.u8 %r1, [%s2+16];",
            "mov.u64 %s5, 20; add.u64 %s5, %s5, %s2; st.local.u8 [%s5], 1;",
        ] {
            let (_, findings) = words("", &format!("{start}\n{access}"));
            assert_eq!(findings.len(), 1, "{what}: {access}: {findings:?}");
            assert_eq!(findings[0].kind, Kind::OutOfBounds, "{what}: {access}");
            let message = &findings[0].message;
            assert!(
                message.contains("between two arrays in local memory"),
                "{message}"
            );
            assert_eq!(findings[0].count, 64);
        }
        let right = "st.local.v4.u32 [%s2], {%r0, %r0, %r0, %r0}; st.local.v4.u32 [%s3], {%r0, %r0, %r0, %r0}; ld.u32 %r1, [%s4+12]; st.global.u32 [%s1], %r1;";
        let right = right
            .replace(".v4.u32", ".v2.u32")
            .replace("{%r0, %r0, %r0, %r0}", "{%r0, %r0}");
        let right = right.replace("[%s4+12]", "[%s4+4]");
        let (found, findings) = words("", &format!("{start}\n{right}"));
        assert_eq!((findings, found[9]), (vec![], 9), "{what}");
    }
    // What is given back and allocated again in other sizes has its ends elsewhere.
    let again = "stacksave.u64 %s5; alloca.u64 %s2, 16; stackrestore.u64 %s5; alloca.u64 %s2, 64; st.local.u32 [%s2], %r0;\n\
        st.local.u32 [%s2+44], %r0; st.local.u32 [%s2+60], %r0; ld.local.u32 %r1, [%s2+44]; st.global.u32 [%s1], %r1;";
    assert_eq!(words("", again).1, []);
}
