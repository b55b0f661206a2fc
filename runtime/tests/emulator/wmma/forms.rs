//! Texts of `wmma` that compilers print, and texts that are refused.

use super::*;

/// The lines that clang 22 makes of its `__hmma`, `__imma`, `__bmma`, `__mma` and `__dmma` builtins at `-O2`, but for names and strides.
const PRINTED: &str = "
wmma.load.a.sync.aligned.row.m16n16k16.f16 	{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, [%s0], %r1;
wmma.load.b.sync.aligned.col.m16n16k16.f16 	{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27}, [%s0], %r1;
wmma.load.c.sync.aligned.row.m16n16k16.f32 	{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, [%s0], %r1;
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32
		{%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47},
		{%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17},
		{%r20, %r21, %r22, %r23, %r24, %r25, %r26, %r27},
		{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37};
wmma.store.d.sync.aligned.col.m16n16k16.f32 	[%s1],{%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47}, %r1;
wmma.load.a.sync.aligned.row.m16n16k16.s8 	{%r2, %r3}, [%s0], %r1;
wmma.load.b.sync.aligned.col.m16n16k16.s8 	{%r4, %r5}, [%s0], %r1;
wmma.load.c.sync.aligned.row.m16n16k16.s32 	{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, [%s0], %r1;
wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite
		{%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47},
		{%r2, %r3},
		{%r4, %r5},
		{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37};
wmma.load.a.sync.aligned.row.m16n16k8.tf32 	{%r2, %r3, %r4, %r5}, [%s0], %r1;
wmma.load.b.sync.aligned.col.m16n16k8.tf32 	{%r6, %r7, %r8, %r9}, [%s0], %r1;
wmma.load.c.sync.aligned.row.m16n16k8.f32 	{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37}, [%s0], %r1;
wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32
		{%r40, %r41, %r42, %r43, %r44, %r45, %r46, %r47},
		{%r2, %r3, %r4, %r5},
		{%r6, %r7, %r8, %r9},
		{%r30, %r31, %r32, %r33, %r34, %r35, %r36, %r37};
wmma.load.a.sync.aligned.row.m8n8k4.f64 	{%s2}, [%s0], %r1;
wmma.load.b.sync.aligned.col.m8n8k4.f64 	{%s3}, [%s0], %r1;
wmma.load.c.sync.aligned.row.m8n8k4.f64 	{%s4, %s5}, [%s0], %r1;
wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64
		{%s6, %s7},
		{%s2},
		{%s3},
		{%s4, %s5};
wmma.store.d.sync.aligned.row.m8n8k4.f64 	[%s1],{%s6, %s7}, %r1;
wmma.load.a.sync.aligned.row.m8n8k32.s4 	{%r2}, [%s0], %r3;
wmma.load.b.sync.aligned.col.m8n8k32.s4 	{%r4}, [%s0], %r3;
wmma.load.c.sync.aligned.row.m8n8k32.s32 	{%r5, %r6}, [%s0], %r1;
wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32
		{%r7, %r8},
		{%r2},
		{%r4},
		{%r5, %r6};
wmma.store.d.sync.aligned.row.m8n8k32.s32 	[%s1],{%r7, %r8}, %r1;
wmma.load.a.sync.aligned.row.m8n8k128.b1 	{%r10}, [%s0], %r9;
wmma.load.b.sync.aligned.col.m8n8k128.b1 	{%r11}, [%s0], %r9;
wmma.load.c.sync.aligned.row.m8n8k128.s32 	{%r12, %r13}, [%s0], %r1;
wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32
		{%r14, %r15},
		{%r10},
		{%r11},
		{%r12, %r13};
wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32
		{%r16, %r17},
		{%r10},
		{%r11},
		{%r14, %r15};
wmma.store.d.sync.aligned.row.m8n8k128.s32 	[%s1],{%r16, %r17}, %r1;
";

fn module(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 from, .param .u64 to) {{ .reg .b32 %r<50>; .reg .b64 %s<9>;
        ld.param.u64 %s0, [from]; ld.param.u64 %s1, [to]; mov.b32 %r1, 16; mov.b32 %r3, 32; mov.b32 %r9, 128;\n{body}\nret; }}\n"
    )
}

#[test]
fn what_llvm_prints_is_read() {
    let ran = run(&module(PRINTED), 32, &[&[0; 2048], &[0; 2048]]);
    assert_eq!(ran.findings, []);
    // -0 is no sum of these.
    assert!(ran.memory[1].iter().all(|byte| *byte == 0));
}

/// ptxas takes the modifiers behind `.aligned` in any order.
#[test]
fn modifiers_come_in_any_order() {
    for names in [
        "row.m16n16k16.global.s8",
        "m16n16k16.row.global.s8",
        "row.m16n16k16.s8.global",
        "s8.global.m16n16k16.row",
    ] {
        let text = format!("wmma.load.a.sync.aligned.{names} {{%r2, %r3}}, [%s0];");
        assert_eq!(run(&module(&text), 32, &[&[0; 256], &[]]).findings, []);
    }
}

#[test]
fn what_there_is_not_is_refused() {
    for (text, words) in [
        (
            "wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r2}, [%s0];",
            "`.row` of A and `.col` of B",
        ),
        (
            "wmma.load.b.sync.aligned.row.m8n8k128.b1 {%r2}, [%s0];",
            "`.row` of A and `.col` of B",
        ),
        (
            "wmma.load.a.sync.aligned.row.m8n8k32.b1 {%r2}, [%s0];",
            "a shape with a type that it has",
        ),
        (
            "wmma.load.c.sync.aligned.row.m8n8k32.s4 {%r2, %r3}, [%s0];",
            "a shape with a type that it has",
        ),
        (
            "wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32 {%r2, %r3}, {%r4}, {%r5}, {%r6, %r7};",
            "`.row.col` where elements",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r2, %r3}, {%r4}, {%r5}, {%r6, %r7};",
            "`.xor.popc` or `.and.popc`",
        ),
        (
            "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r2, %r3}, {%r4}, {%r5}, {%r6, %r7};",
            "`.xor.popc` or `.and.popc`",
        ),
        (
            "wmma.mma.or.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r2, %r3}, {%r4}, {%r5}, {%r6, %r7};",
            "`.sync`",
        ),
        (
            "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.satfinite.s32.b1.b1.s32 {%r2, %r3}, {%r4}, {%r5}, {%r6, %r7};",
            "`.satfinite` of integers",
        ),
        (
            "wmma.load.a.sync.row.m16n16k16.s8 {%r2, %r3}, [%s0];",
            "`.aligned`",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.shared::cluster.s8 {%r2, %r3}, [%s0];",
            "`.shared::cluster`",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.row.s8 {%r2, %r3}, [%s0];",
            "each at most once",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16 {%r2, %r3}, [%s0];",
            "a layout, a shape and a type",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k8.s8 {%r2, %r3}, [%s0];",
            "a shape with a type that it has",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.f32 {%r2, %r3}, [%s0];",
            "a shape with a type that it has",
        ),
        (
            "wmma.load.c.sync.aligned.row.m16n16k16.s8 {%r2, %r3}, [%s0];",
            "a shape with a type that it has",
        ),
        (
            "wmma.load.d.sync.aligned.row.m16n16k16.f32 {%r2, %r3}, [%s0];",
            "`.a` or `.b` or `.c`",
        ),
        (
            "wmma.store.c.sync.aligned.row.m16n16k16.f32 [%s0], {%r2, %r3};",
            "`.d`",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r2, %r3, %r4}, [%s0];",
            "2 registers",
        ),
        (
            ".shared .align 32 .b8 mem[256]; wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r2, %r3}, [mem];",
            "the state space of the variable",
        ),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r2, %r3}, [%s0], 16, 16;",
            "at most a stride",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32 {%r2}, {%r2}, {%r2}, {%r2};",
            "a shape with types",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {%r2}, {%r2}, {%r2}, {%r2};",
            "`.satfinite` of integers",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.rz.f32.f32 {%r2}, {%r2}, {%r2}, {%r2};",
            "a rounding of `.f64`",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16.f16.f32 {%r2}, {%r2}, {%r2}, {%r2};",
            "the types of D and C",
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k8.f32.bf16.bf16.f32 {%r2}, {%r2}, {%r2}, {%r2};",
            "a shape with types",
        ),
    ] {
        let mut session = Session::new(&module(text), Config::default()).unwrap();
        let memory = session.allocate("T", Memory::holding(&[0; 256])).unwrap();
        let refused = session.launch("k", Grid::new(1, 32), &[memory.into(), memory.into()]);
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains(words) && refused.contains("line 6"),
            "{text}: {refused}"
        );
    }
}

/// Asks ptxas, if `CUTE_PTXAS` names it, whether the texts are PTX.
#[test]
fn the_assembler_takes_them() {
    let Some(ptxas) = std::env::var_os("CUTE_PTXAS") else {
        eprintln!("not run: CUTE_PTXAS names no ptxas");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let assemble = |text: &str| {
        let file = folder.path().join("text.ptx");
        std::fs::write(&file, text).unwrap();
        let done = std::process::Command::new(&ptxas)
            .args(["-arch=sm_80", "-o", "/dev/null"])
            .arg(&file)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        (done.status.success(), text)
    };
    let rounded = ["", ".rn", ".rz", ".rm", ".rp"].map(|rounding| {
        let mut case = Case::new("m8n8k4", ["f64"; 4], ["row"; 4]);
        case.options = [rounding, ""];
        let behind = Case {
            options: ["", rounding],
            ..case
        };
        [case, behind]
    });
    let mut saturated = Case::new("m16n16k16", ["s32", "u8", "u8", "s32"], ["row"; 4]);
    saturated.options = ["", ".satfinite"];
    let all = cases()
        .into_iter()
        .chain(rounded.concat())
        .chain([saturated]);
    let kernels = all
        .enumerate()
        .map(|(at, case)| case.kernel(&format!("k{at}")));
    let whole = format!("{HEAD}{}", kernels.collect::<String>());
    for text in [whole, module(PRINTED)] {
        let (takes, said) = assemble(&text);
        assert!(takes, "{said}");
    }
}
