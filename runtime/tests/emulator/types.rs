//! Types of instructions against types of registers: what ptxas (13.0) takes and what it refuses, and no other.

use super::session::{refused, text, words};
use cute_runtime::emulator::{Config, Grid, Memory, Session};

/// Types of registers.
const REGISTERS: &[&str] = &[
    "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "f16x2", "b64",
    "u64", "s64", "f64", "b128",
];

/// Registers that `mov`, arithmetic and comparisons take of a type: those of its width.
const EXACT: &[(&str, &str)] = &[
    ("b16", "b16 u16 s16 f16"),
    ("u16", "b16 u16 s16"),
    ("s16", "b16 u16 s16"),
    ("f16", "b16 f16"),
    ("bf16", "b16"),
    ("b32", "b32 u32 s32 f32 f16x2"),
    ("u32", "b32 u32 s32 f16x2"),
    ("s32", "b32 u32 s32 f16x2"),
    ("f32", "b32 f32"),
    ("f16x2", "b32 f16x2"),
    ("bf16x2", "b32"),
    ("u16x2", "b32 f16x2"),
    ("b64", "b64 u64 s64 f64"),
    ("u64", "b64 u64 s64"),
    ("s64", "b64 u64 s64"),
    ("f64", "b64 f64"),
    ("b128", "b128"),
];

/// Registers that loads and stores take: wider ones, too.
const WIDER: &[(&str, &str)] = &[
    (
        "b8",
        "b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128",
    ),
    (
        "u8",
        "b8 u8 s8 b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64 b128",
    ),
    (
        "b16",
        "b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128",
    ),
    ("u16", "b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64 b128"),
    ("b32", "b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128"),
    ("u32", "b32 u32 s32 f16x2 b64 u64 s64 b128"),
    ("f32", "b32 f32 b64 b128"),
    ("b64", "b64 u64 s64 f64 b128"),
    ("s64", "b64 u64 s64 b128"),
    ("f64", "b64 f64 b128"),
    ("b128", "b128"),
];

/// Tells whether a body is executed, or what is wrong with it; two registers of each type are declared, named by it.
fn takes(body: &str) -> Result<(), String> {
    let declared: String = REGISTERS
        .iter()
        .map(|ty| format!(".reg .{ty} %{ty}_<4>; "))
        .collect();
    let text = text("", &format!("{declared}\n{body}")).replace("sm_80", "sm_90a");
    let text = text.replace(".version 8.0", ".version 8.7");
    let mut session = Session::new(&text, Config::default()).map_err(|error| error.to_string())?;
    let out = session
        .allocate("out", Memory::holding(&[0; 4096]))
        .map_err(|error| error.to_string())?;
    match session.launch("k", Grid::new(1, 1), &[out.into()]) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks that a statement is refused at its line, in words that have some among them.
fn is_refused(statement: &str, says: &str) {
    let error = takes(statement).unwrap_err();
    assert!(
        error.contains("PTX line 9: ") && error.contains(says),
        "{statement}: {error}"
    );
}

/// Checks the instruction that `of` makes of a type and a register's type, for each register.
fn check(table: &[(&str, &str)], types: &str, of: impl Fn(&str, &str) -> String) {
    for ty in types.split(' ') {
        let (_, taken) = table.iter().find(|(name, _)| *name == ty).unwrap();
        for register in REGISTERS {
            let body = of(ty, register);
            let found = takes(&body);
            let expected = taken.split(' ').any(|name| name == *register);
            assert_eq!(found.is_ok(), expected, "{body}: {found:?}");
            if let Err(error) = found {
                assert!(
                    error.contains("PTX line 9: expected a register of"),
                    "{body}: {error}"
                );
                assert!(
                    error.contains(&format!("found %{register}_")),
                    "{body}: {error}"
                );
            }
        }
    }
}

#[test]
fn moves_and_arithmetic_take_registers_of_their_width() {
    let of_all = "b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64";
    check(EXACT, &format!("{of_all} b128"), |ty, r| {
        format!("mov.{ty} %{r}_0, %{r}_1;")
    });
    check(EXACT, of_all, |ty, r| {
        format!("selp.{ty} %{r}_0, %{r}_1, %{r}_2, 1;")
    });
    check(
        EXACT,
        "u16 s16 f16 bf16 u32 s32 f32 f16x2 bf16x2 u16x2 u64 s64 f64",
        |ty, r| format!("add.{ty} %{r}_0, %{r}_1, %{r}_2;"),
    );
    check(EXACT, "b16 b32 b64", |ty, r| {
        format!("and.{ty} %{r}_0, %{r}_1, %{r}_2;")
    });
    check(
        EXACT,
        "b16 u16 f16 bf16 b32 s32 f32 b64 u64 f64",
        |ty, r| format!("setp.eq.{ty} %p1, %{r}_0, %{r}_1;"),
    );
    check(EXACT, "b32 b64", |ty, r| {
        format!("atom.global.exch.{ty} %{r}_0, [%s1], %{r}_1;")
    });
}

#[test]
fn loads_and_stores_take_wider_registers() {
    let types = "b8 u8 b16 u16 b32 u32 f32 b64 s64 f64 b128";
    check(WIDER, types, |ty, r| {
        // A number with a sign in 128 bits is another matter.
        match (ty, r) {
            ("s64", "b128") => "ret;".to_string(),
            _ => format!("ld.global.{ty} %{r}_0, [%s1];"),
        }
    });
    check(WIDER, types, |ty, r| {
        format!("st.global.{ty} [%s1], %{r}_0;")
    });
}

#[test]
fn conversions_take_wider_registers_of_types_that_registers_have() {
    for (body, taken) in [
        (
            "cvt.u16.u32 %R_0, %u32_1;",
            "b16 u16 s16 b32 u32 s32 f16x2 b64 u64 s64",
        ),
        ("cvt.rn.f32.u32 %R_0, %u32_1;", "b32 f32 b64"),
        ("cvt.rn.f16.f32 %R_0, %f32_1;", "b16 f16 b32 b64"),
        ("cvt.rn.bf16.f32 %R_0, %f32_1;", "b16"),
        ("cvt.rn.bf16.f32 %b16_0, %R_1;", "b32 f32"),
        ("cvt.rna.tf32.f32 %R_0, %f32_1;", "b32"),
        ("cvt.rn.satfinite.e4m3x2.f32 %R_0, %f32_1, %f32_2;", "b16"),
        ("cvt.rn.f16x2.e5m2x2 %b32_0, %R_1;", "b16"),
        (
            "cvt.pack.sat.s16.s32 %R_0, %s32_1, %s32_2;",
            "b32 u32 s32 f16x2 b64 u64 s64",
        ),
    ] {
        for register in REGISTERS.iter().filter(|name| **name != "b128") {
            let body = body.replace("%R", &format!("%{register}"));
            let found = takes(&body);
            let expected = taken.split(' ').any(|name| name == *register);
            assert_eq!(found.is_ok(), expected, "{body}: {found:?}");
            if let Err(error) = found {
                assert!(
                    error.contains("PTX line 9: expected a register of"),
                    "{body}: {error}"
                );
            }
        }
    }
}

#[test]
fn neighbours_in_a_vector_go_together() {
    let beside = "expected registers of one type in a vector";
    for (body, wrong) in [
        ("ld.global.v2.u32 {%u32_0, %s32_1}, [%s1];", None),
        ("ld.global.v2.u32 {%b32_0, %f32_1}, [%s1];", None),
        (
            "ld.global.v4.u32 {%f32_0, %b32_1, %u32_2, %b32_3}, [%s1];",
            None,
        ),
        (
            "ld.global.v4.u32 {%b32_0, %f32_1, %u32_2, %b32_3}, [%s1];",
            Some(beside),
        ),
        ("ld.global.v2.b32 {%u32_0, %f32_1}, [%s1];", Some(beside)),
        ("ld.global.v2.u8 {%b16_0, %b32_1}, [%s1];", Some(beside)),
        ("ld.global.v2.u32 {%u32_0, %f16x2_1}, [%s1];", Some(beside)),
        (
            "ld.global.v2.u32 {%f32_0, %f32_1}, [%s1];",
            Some("a type that .u32 takes, found %f32_1 of .f32"),
        ),
        ("ld.global.v2.f32 {%u32_0, %s32_1}, [%s1];", None),
        (
            "ld.global.f32 %u32_0, [%s1];",
            Some("a type that .f32 takes, found %u32_0 of .u32"),
        ),
        (
            "ld.global.v2.u32 {_, _}, [%s1];",
            Some("a register in the vector, found none but `_`"),
        ),
        ("ld.global.v2.u32 {_, %u32_1}, [%s1];", None),
        ("st.global.v2.f32 [%s1], {%f32_0, 0f3f800000};", None),
        (
            "st.global.v2.f32 [%s1], {%f32_0, 1};",
            Some("found %f32_0 beside a number"),
        ),
        ("st.global.v2.u32 [%s1], {%u32_0, 1.0};", Some(beside)),
        ("st.global.v2.u32 [%s1], {%tid.x, %ctaid.y};", None),
        ("mov.b64 %b64_0, {%f32_0, %u32_1};", Some(beside)),
        ("mov.b64 {%u32_0, %s32_1}, %f64_0;", None),
        (
            "mov.u64 %u64_0, {%u32_0, %u32_1};",
            Some("expected a type of bits to take apart or to put together, found .u64"),
        ),
        (
            "mov.b64 {%u32_0, %u32_1}, {%u32_2, %u32_3};",
            Some("a single value on one side of mov"),
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f32_0,%f32_1,%f32_2,%f32_3}, {%u32_0,%u32_1}, {%b32_2}, {%f32_0,%f32_1,%f32_2,%f32_3};",
            Some("a type that .f16x2 takes, found %u32_1 of .u32"),
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%s32_0,%s32_1,%s32_2,%s32_3}, {%b32_0,%b32_1}, {%b32_2}, {%f32_0,%f32_1,%f32_2,%f32_3};",
            Some("a type that .f32 takes, found %s32_0 of .s32"),
        ),
        (
            "atom.global.v2.f32.add {%f32_0,%f32_1}, [%s1], {%f32_0,%u32_1};",
            Some(beside),
        ),
    ] {
        match (takes(body), wrong) {
            (Ok(()), None) => {}
            (Err(error), Some(says)) => assert!(
                error.contains("PTX line 9: ") && error.contains(says),
                "{body}: {error}"
            ),
            (found, _) => panic!("{body}: {found:?}"),
        }
    }
}

#[test]
fn numbers_are_of_the_kind_of_the_type() {
    for (types, right, wrong) in [
        (
            "u16 s32 u64",
            "7 -1 0x10 (1+2) WARP_SZ",
            "1.0 0f3f800000 0d3ff0000000000000",
        ),
        ("b32", "7 0f3f800000", "1.0 0d3ff0000000000000"),
        ("b64", "7 1.0 0d3ff0000000000000", "0f3f800000"),
        (
            "f32 f64",
            "1.0 .5 1. .5E-3 0f3f800000 0d3ff0000000000000",
            "0 -1 WARP_SZ",
        ),
    ] {
        for ty in types.split(' ') {
            for number in right.split(' ') {
                assert_eq!(
                    takes(&format!("mov.{ty} %{ty}_0, {number};")),
                    Ok(()),
                    "{ty} {number}"
                );
            }
            for number in wrong.split(' ') {
                let error = takes(&format!("mov.{ty} %{ty}_0, {number};")).unwrap_err();
                assert!(error.contains("PTX line 9: expected a "), "{error}");
                assert!(error.contains(&format!(".{ty}")), "{error}");
            }
        }
    }
    let error = takes("add.f16 %f16_0, %f16_1, 1.0;").unwrap_err();
    assert!(error.contains("a number that .f16 takes"), "{error}");
}

#[test]
fn what_ptx_defines_is_read_by_mov_and_cvt_alone() {
    for right in [
        "mov.u16 %u16_0, %tid.x;",
        "mov.b32 %f32_0, %tid.x;",
        "mov.u64 %u64_0, %clock64;",
        "mov.u64 %u64_0, %gridid;",
        "cvt.u64.u32 %u64_0, %ctaid.x;",
        "cvt.u32.u64 %u32_0, %globaltimer;",
        "cvt.u32.u16 %u32_0, %tid.x;",
        "mov.b64 %b64_0, {%tid.x, %tid.y};",
    ] {
        assert_eq!(takes(right), Ok(()), "{right}");
    }
    for (wrong, says) in [
        (
            "mov.u64 %u64_0, %tid.x;",
            "a type that %tid.x has, of 16 or 32 bits, found .u64",
        ),
        (
            "mov.u32 %u32_0, %clock64;",
            "a type that %clock64 has, of 64 bits, found .u32",
        ),
        (
            "mov.u16 %u16_0, %laneid;",
            "a type that %laneid has, of 32 bits, found .u16",
        ),
        ("mov.f32 %f32_0, %tid.x;", "a type that %tid.x has"),
        ("cvt.u64.u64 %u64_0, %tid.x;", "a type that %tid.x has"),
        (
            "cvt.rn.f32.u32 %f32_0, %tid.x;",
            "found %tid.x, which mov and cvt alone read",
        ),
        (
            "add.u32 %u32_0, %tid.x, 1;",
            "found %tid.x, which mov and cvt alone read",
        ),
        (
            "st.global.u32 [%s1], %laneid;",
            "found %laneid, which mov and cvt alone read",
        ),
        (
            "shl.b32 %b32_0, %b32_1, %laneid;",
            "found %laneid, which mov and cvt alone read",
        ),
    ] {
        is_refused(wrong, says);
    }
    // Of 16 bits the low ones, and the upper half of a clock that has just begun.
    let body = ".reg .b16 %n; mov.u16 %n, %ctaid.x; cvt.u32.u16 %r1, %n; mov.u32 %r2, %clock_hi; mov.u32 %r3, %globaltimer_hi; add.u32 %r1, %r1, %r2;\n\
        add.u32 %r1, %r1, %r3; st.global.u32 [%s1], %r1;";
    assert_eq!(words("", body).0[0], 0);
}

#[test]
fn modifiers_are_taken_in_any_order() {
    for (body, value) in [
        (
            "mov.u32 %r2, -5; mov.u32 %r3, -7; max.s32.relu %r1, %r2, %r3;",
            0,
        ),
        (
            "mov.u32 %r2, 0xfffb0003; max.s16x2.relu %r1, %r2, 0x00010002;"
                .replace("0x00010002", "%r2")
                .as_str(),
            3,
        ),
        (
            "mov.u32 %r2, 0x7fffffff; add.s32.sat %r1, %r2, 1;",
            0x7fff_ffff,
        ),
        ("mov.u32 %r2, 0x10; bfind.u32.shiftamt %r1, %r2;", 27),
        ("mov.u32 %r2, 0x3fc00000; cvt.s32.rzi.f32 %r1, %r2;", 1),
        (
            "mov.u32 %r2, 1; prmt.rc8.b32 %r1, %r2, %r2, 0;",
            0x0101_0101,
        ),
        ("mov.u32 %r2, 3; shfl.idx.sync.b32 %r1, %r2, 0, 31, -1;", 3),
        ("mov.u32 %r2, 3; redux.add.sync.s32 %r1, %r2, -1;", 96),
    ] {
        let (found, findings) = words("", &format!("{body}\nst.global.u32 [%s1], %r1;"));
        assert_eq!(findings, [], "{body}");
        assert_eq!(found[0], value, "{body}");
    }
    let error = refused("", "mul.u32.lo %r1, %r2, %r3;");
    assert!(
        error.contains("PTX line 7: unknown instruction `mul.u32.lo`"),
        "{error}"
    );
}

#[test]
fn other_operands_have_their_types() {
    for (body, says) in [
        (
            "ld.global.u32 %u32_0, [%f64_0];",
            "integers or of bits as an address, found %f64_0 of .f64",
        ),
        (
            "prefetch.global.L1 [%f64_0];",
            "integers or of bits as an address",
        ),
        (
            "redux.sync.add.s32 %f32_0, %s32_1, -1;",
            "that .s32 takes, found %f32_0",
        ),
        (
            "match.any.sync.b64 %f32_0, %b64_1, -1;",
            "that .u32 takes, found %f32_0",
        ),
        (
            "nanosleep.u32 %u64_0;",
            "a register of 32 bits, found %u64_0 of 64",
        ),
        (
            "mbarrier.pending_count.b64 %b32_0, %f64_1;",
            "that .u64 takes, found %f64_1",
        ),
        (
            "mbarrier.try_wait.shared.b64 %p1, [%r1], %b64_1, %u64_1;",
            "a register of 32 bits, found %u64_1",
        ),
        (
            "ld.global.L2::cache_hint.u32 %u32_0, [%s1], %u32_1;",
            "a register of 64 bits, found %u32_1",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%b64_0}, [%r1];",
            "a register of 32 bits, found %b64_0",
        ),
        (
            "atom.global.add.f16x2 %b32_0, [%s1], %b32_1;",
            "expected .noftz with .f16",
        ),
        (
            "atom.global.add.noftz.f32 %f32_0, [%s1], %f32_1;",
            "leave it out",
        ),
        (
            "atom.global.exch.u32 %u32_0, [%s1], %u32_1;",
            "does not know the instruction `atom.global.exch.u32`",
        ),
        (
            "ld.global.f16 %f16_0, [%s1];",
            "does not know the instruction `ld.global.f16`",
        ),
        (
            "mov.f16 %f16_0, %f16_1;",
            "does not know the instruction `mov.f16`",
        ),
    ] {
        is_refused(body, says);
    }
    for (body, says) in [
        (
            "ld.relaxed.global.u32 %u32_0, [%s1];",
            "expected a scope with .relaxed in ld",
        ),
        (
            "ld.relaxed.gpu.global.cg.u32 %u32_0, [%s1];",
            "expected no .cg beside .relaxed in ld",
        ),
        (
            "st.volatile.global.wb.u32 [%s1], %u32_0;",
            "expected no .wb beside .volatile in st",
        ),
        (
            "ld.volatile.local.u32 %u32_0, [%s1];",
            "expected no .volatile in ld of local memory",
        ),
        (
            "ld.release.gpu.global.u32 %u32_0, [%s1];",
            "expected .acquire in ld and .release in st alone, found it in ld",
        ),
        (
            "st.acquire.gpu.global.u32 [%s1], %u32_0;",
            "expected .acquire in ld and .release in st alone, found it in st",
        ),
        (
            "ld.nc.u32 %u32_0, [%s1];",
            "expected .global beside .nc in ld",
        ),
        (
            "red.acquire.gpu.global.add.u32 [%s1], %u32_0;",
            "does not know the instruction `red.acquire",
        ),
        (
            "red.global.exch.b32 [%s1], %b32_0;",
            "does not know the instruction `red.global.exch",
        ),
        (
            "atom.global.exch.b16 %b16_0, [%s1], %b16_1;",
            "does not know the instruction",
        ),
        (
            "atom.global.add.s64 %s64_0, [%s1], %s64_1;",
            "does not know the instruction",
        ),
        (
            "atom.global.add.L2::cache_hint.u32 %u32_0, [%s1], 1, %u32_1;",
            "a register of 64 bits, found %u32_1",
        ),
        (
            "cp.async.ca.shared.global [%r1], [%s1], 4, 8;",
            "expected at most 4 bytes that cp.async reads, found 8",
        ),
        (
            "bar.sync.aligned 0;",
            "does not know the instruction `bar.sync.aligned`",
        ),
        (
            "mbarrier.arrive.release.shared.b64 _, [%r1];",
            "expected a scope with .release in mbarrier.arrive",
        ),
        (
            "mbarrier.arrive.cta.shared.b64 _, [%r1];",
            "expected an order with .cta in mbarrier.arrive",
        ),
        (
            "mbarrier.arrive.acquire.cta.shared.b64 _, [%r1];",
            "expected an order that mbarrier.arrive has, found .acquire",
        ),
        (
            "mbarrier.arrive.shared.b64 [%r1];",
            "expected a state, or `_`, before the address in mbarrier.arrive",
        ),
        (
            "mbarrier.arrive.shared::cluster.b64 %b64_0, [%r1];",
            "expected `_` in place of the state in mbarrier.arrive of .shared::cluster",
        ),
        (
            "mbarrier.init.shared::cluster.b64 [%r1], 1;",
            "expected an object of this block in mbarrier.init, found .shared::cluster",
        ),
        (
            "mbarrier.test_wait.shared.b64 %p1, [%r1], %b64_0, %u32_0;",
            "does not know the instruction",
        ),
        (
            "setp.eq.f16 %p1|%p2, %f16_0, %f16_1;",
            "expected one predicate from setp of .f16 and .bf16, found two",
        ),
    ] {
        is_refused(body, says);
    }
    // A policy of caches stands last.
    let body = "st.global.u32 [%s1], 3; red.global.add.L2::cache_hint.u32 [%s1], 4, %s2; atom.global.add.L2::cache_hint.u32 %r1, [%s1], 1, %s2; st.global.u32 [%s1], %r1;";
    assert_eq!(words("", body).0[5], 7);
    for ty in ["bf16", "bf16x2", "tf32", "f32x2"] {
        let error = refused("", &format!(".reg .{ty} %x;"));
        assert!(
            error.contains(&format!("expected a type that registers have, found .{ty}")),
            "{error}"
        );
    }
    assert_eq!(
        takes("isspacep.shared %p1, %u32_0;").map_err(|_| ()),
        Ok(())
    );
}
