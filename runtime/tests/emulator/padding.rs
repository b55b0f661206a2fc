//! Bytes and bits of shared and global memory that nothing wrote, beside others that something did.

use super::session::words;
use super::*;

/// The address of a structure of 16 bytes of each thread in shared memory is `%r9`, in global memory `%s9`; its second word is written, and of its first one
/// the lowest byte. Two lines.
const STRUCTURE: &str = "mov.u32 %r9, tile; shl.b32 %r10, %r0, 4; add.u32 %r9, %r9, %r10; mov.u64 %s9, memory; cvta.global.u64 %s9, %s9; cvt.u64.u32 %s8, %r10;\
    add.s64 %s9, %s9, %s8; st.shared.u8 [%r9], 7; st.shared.u32 [%r9+4], %r0; st.u8 [%s9], 7; st.u32 [%s9+4], %r0;\n";
const MODULE: &str =
    ".shared .align 16 .b8 tile[1024]; .extern .global .align 16 .b8 memory[1024];";

/// Memory of both kinds, by the load and the store of it, and what is found where it is used.
const SPACES: [(&str, &str, Kind); 2] = [
    ("shared", "%r9", Kind::UninitializedShared),
    ("global", "%s9", Kind::UninitializedMemory),
];

#[test]
fn what_lies_beside_what_was_written_is_copied() {
    for (space, at, kind) in SPACES {
        let behind = |text: &str| {
            let text = text.replace("SPACE", space).replace("AT", at);
            format!("{STRUCTURE}{text}\n")
        };
        for copy in [
            "ld.SPACE.v2.u32 {%r2, %r3}, [AT]; st.SPACE.v2.u32 [AT+8], {%r2, %r3};",
            "ld.SPACE.u64 %s2, [AT]; st.SPACE.u64 [AT+8], %s2;",
            "ld.SPACE.u64 %s2, [AT]; mov.b64 {%r2, %r3}, %s2; st.SPACE.u32 [AT+8], %r2; st.SPACE.u32 [AT+12], %r3;",
            // Of all of a vector, and of its last register, nothing is used.
            "ld.SPACE.v4.u32 {%r2, %r3, %r4, %r5}, [AT]; st.SPACE.v2.u32 [AT+8], {%r2, %r3};",
        ] {
            let copied = behind(copy);
            let load = |ty: &str, offset: u32| format!("ld.{space}.{ty} %r6, [{at}+{offset}];");
            let body = format!(
                "{copied}{} mov.u32 %r7, %r6; {} mad.lo.u32 %r6, %r6, 10, %r7; st.global.u32 [%s1], %r6;",
                load("u8", 8),
                load("u32", 12)
            );
            let (found, findings) = words(MODULE, &body);
            assert_eq!(findings, [], "{copy}");
            assert_eq!(found, (0..64).map(|t| 10 * t + 7).collect::<Vec<u32>>());
            // The padding of the copy is the padding.
            for used in [
                "add.u32 %r6, %r6, 1; st.global.u32 [%s1], %r6;",
                "setp.eq.u32 %p1, %r6, 0; @%p1 bra E; E:",
                "bfe.u32 %r6, %r6, 8, 8; shl.b32 %r6, %r6, 1; add.u32 %r6, %r6, 1; st.global.u32 [%s1], %r6;",
            ] {
                let (_, findings) = words(MODULE, &format!("{copied}{}\n{used}", load("u32", 8)));
                assert_eq!(findings.len(), 1, "{copy} {used} {findings:?}");
                assert_eq!(
                    (findings[0].kind, findings[0].count),
                    (kind, 64),
                    "{copy} {used}"
                );
            }
        }
        // A value of which nothing was written, and one that is made of some, are no copies.
        for stored in [
            "ld.SPACE.u8 %r6, [AT+1]; st.SPACE.u8 [AT+8], %r6;",
            "ld.SPACE.u32 %r6, [AT+8]; st.SPACE.u32 [AT+12], %r6;",
            "ld.SPACE.v2.u32 {%r2, %r3}, [AT]; add.u32 %r2, %r2, 1; st.SPACE.v2.u32 [AT+8], {%r2, %r3};",
            "ld.SPACE.v4.u32 {%r2, %r3, %r4, %r5}, [AT];",
        ] {
            let (_, findings) = words(MODULE, &behind(stored));
            assert_eq!(findings.len(), 1, "{stored} {findings:?}");
            assert_eq!(findings[0].kind, kind, "{stored}");
        }
    }
}

#[test]
fn bits_are_set_one_after_another() {
    // Three fields, of 3, 5 and 24 bits.
    let set =
        |field: &str| format!("ld.SPACE.u32 %r2, [AT+8];\n{field} st.SPACE.u32 [AT+8], %r2;\n");
    let fields = [
        set("and.b32 %r2, %r2, -8; or.b32 %r2, %r2, 1;"),
        set("bfi.b32 %r2, 2, %r2, 3, 5;"),
        set("and.b32 %r2, %r2, 255; shl.b32 %r3, %r0, 8; lop3.b32 %r2, %r2, %r3, 0, 0xfc;"),
    ];
    for (space, at, kind) in SPACES {
        let run = |count: usize, used: &str| {
            let fields = fields[..count].concat();
            let body = format!("{STRUCTURE}{fields}ld.SPACE.u32 %r4, [AT+8];\n{used}");
            words(MODULE, &body.replace("SPACE", space).replace("AT", at))
        };
        let sum = "bfe.u32 %r5, %r4, 0, 3; bfe.u32 %r6, %r4, 3, 5; mad.lo.u32 %r5, %r6, 10, %r5; shr.u32 %r6, %r4, 8; mad.lo.u32 %r5, %r6, 100, %r5; st.global.u32 [%s1], %r5;";
        let (found, findings) = run(3, sum);
        assert_eq!(findings, []);
        assert_eq!(found, (0..64).map(|t| 100 * t + 21).collect::<Vec<u32>>());
        let first = "and.b32 %r5, %r4, 7; add.u32 %r5, %r5, 1; st.global.u32 [%s1], %r5;";
        assert_eq!(run(1, first).1, []);
        let second = "and.b32 %r5, %r4, 15; add.u32 %r5, %r5, 1; st.global.u32 [%s1], %r5;";
        let findings = run(1, second).1;
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].kind, kind);
    }
}

#[test]
fn bytes_that_a_pragma_leaves_out_are_not_read() {
    // Bytes at a distance of two, up to the end of a variable, and one that comes along behind it.
    let module = ".global .align 16 .b8 bytes[15] = {1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6, 9, 7, 9, 8};";
    let load = |pragma: &str, at: &str| {
        let body = format!(
            "mov.u64 %s9, bytes; cvta.global.u64 %s9, %s9;\n{pragma}\nld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [{at}];\n\
             and.b32 %r2, %r2, 255; bfe.u32 %r5, %r5, 16, 8; mad.lo.u32 %r5, %r5, 10, %r2; st.global.u32 [%s1], %r5;"
        );
        words(module, &body)
    };
    let used = ".pragma \"used_bytes_mask 0x5555\";";
    assert_eq!(load(used, "%s9"), (vec![81; 64], Vec::new()));
    for (pragma, at, kind) in [
        ("", "%s9", Kind::OutOfBounds),
        (
            ".pragma \"used_bytes_mask 0xd555\";",
            "%s9",
            Kind::OutOfBounds,
        ),
        // It is of the load behind it alone.
        (
            ".pragma \"used_bytes_mask 0x5555\"; mov.u32 %r2, 0;",
            "%s9",
            Kind::OutOfBounds,
        ),
        (used, "%s9+4", Kind::Misaligned),
    ] {
        let (_, findings) = load(pragma, at);
        assert_eq!(findings.len(), 1, "{pragma} {at} {findings:?}");
        assert_eq!(findings[0].kind, kind, "{pragma} {at}");
    }
    // Another thread writes the bytes between those that this one reads.
    let race = |pragma: &str| {
        let body = format!(
            "{STRUCTURE}xor.b32 %r11, %r0, 32; shl.b32 %r11, %r11, 4; mov.u32 %r12, tile; add.u32 %r11, %r11, %r12; st.shared.u8 [%r11+1], %r0;\n\
             {pragma}\nld.shared.u32 %r2, [%r9];\nand.b32 %r2, %r2, 255;\nst.global.u32 [%s1], %r2;"
        );
        words(MODULE, &body).1
    };
    assert_eq!(race(".pragma \"used_bytes_mask 0x1\";"), []);
}

#[test]
fn what_comes_along_with_a_vector_is_not_read() {
    // Three words at the end of a variable, and a fourth that a compiler lets come along.
    let module = ".global .align 16 .b32 three[3] = {1, 2, 3};";
    let load = |at: &str, used: &str| {
        let body = format!(
            "mov.u64 %s9, three; cvta.global.u64 %s9, %s9;\nld.global.v4.u32 {{%r2, %r3, %r4, %r5}}, [{at}];\nst.global.u32 [%s1], {used};"
        );
        words(module, &body)
    };
    assert_eq!(load("%s9", "%r4"), (vec![3; 64], Vec::new()));
    for (at, used, kind) in [
        ("%s9", "%r5", Kind::OutOfBounds),
        ("%s9+4", "%r3", Kind::Misaligned),
    ] {
        let (_, findings) = load(at, used);
        assert_eq!(findings.len(), 1, "{at} {used} {findings:?}");
        assert_eq!(findings[0].kind, kind, "{at} {used}");
    }
    // Another thread writes the last word of what this one reads the second word of.
    let race = |used: &str| {
        let body = format!(
            "{STRUCTURE}xor.b32 %r11, %r0, 32; shl.b32 %r11, %r11, 4; mov.u32 %r12, tile; add.u32 %r11, %r11, %r12; st.shared.u32 [%r11+12], %r0;\n\
             ld.shared.v4.u32 {{%r2, %r3, %r4, %r5}}, [%r9];\nst.global.u32 [%s1], {used};"
        );
        words(MODULE, &body).1
    };
    assert_eq!(race("%r3"), []);
    assert_eq!(race("%r5")[0].kind, Kind::SharedRace);
}
