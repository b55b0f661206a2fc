//! Wrong kernels with `wmma`, and what is found.

use super::*;
use cute_runtime::emulator::Kind;

/// A product of halves in shared memory, or in global memory, with other texts in place of some that it has.
fn changed(shared: bool, changes: &[(&str, &str)]) -> Ran {
    threads(32, shared, changes)
}

fn threads(threads: u32, shared: bool, changes: &[(&str, &str)]) -> Ran {
    let case = case(shared);
    let mut text = format!("{HEAD}{}", case.kernel("k"));
    for (from, to) in changes {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replacen(from, to, 1);
    }
    let operands = [0, 1, 2, 3].map(|operand| case.matrix(operand, small(operand)));
    let [a, b, c, d] = &operands;
    run(&text, threads, &[a, b, c, d])
}

fn case(shared: bool) -> Case {
    Case {
        gap: Some(0),
        space: SPACES[usize::from(shared)],
        ..Case::new(
            "m16n16k16",
            ["f32", "f16", "f16", "f32"],
            ["row", "col", "row", "row"],
        )
    }
}

#[track_caller]
fn finds(ran: &Ran, kind: Kind, text: &str) {
    let says = |finding: &Finding| finding.kind == kind && finding.message.contains(text);
    assert!(ran.findings.iter().any(says), "{:#?}", ran.findings);
}

/// Registers of a kernel, and predicates beside them.
const REGISTERS: &str = ".reg .b32 %r<9>;";
const PREDICATES: &str = ".reg .b32 %r<9>; .reg .pred %p<2>;";

#[test]
fn what_is_right_has_no_findings() {
    for shared in [false, true] {
        assert_eq!(changed(shared, &[]).findings, []);
    }
}

#[test]
fn all_lanes_take_part() {
    let whole = case(true);
    let texts = [0, 1, 2, 3].map(|operand| whole.moved(operand));
    for text in texts.into_iter().chain([whole.product()]) {
        let branch = format!("setp.lt.u32 %p0, %r0, 16; @%p0 bra OVER; {text} OVER:");
        let ran = changed(true, &[(REGISTERS, PREDICATES), (&text, &branch)]);
        finds(&ran, Kind::BarrierDivergence, "");
        let site = ran.findings[0].site.as_ref().unwrap();
        assert!(text.starts_with(&site.instruction), "{site}");
    }
    // A block of fewer threads has a warp that is none.
    finds(&threads(16, true, &[]), Kind::BarrierDivergence, "");
}

#[test]
fn rows_begin_where_the_fragment_is_aligned() {
    let [a, _, c, d] = [0, 1, 2, 3].map(|operand| case(false).moved(operand));
    let start = "at a multiple of its 32 bytes";
    let apart = "lines a multiple of 16 bytes apart";
    for (text, from, to, words) in [
        (&a, "[%s0]", "[%s0+16]", start),
        (&c, "[%s2]", "[%s2+16]", start),
        (&d, "[%s3]", "[%s3+4]", start),
        (&a, ", 16;", ", 18;", apart),
        (&d, ", 16;", ", 17;", apart),
    ] {
        let ran = changed(false, &[(text, &text.replace(from, to))]);
        finds(&ran, Kind::Misaligned, words);
    }
    // Lines of 4 bits and less begin at whole registers.
    for (load, found) in [
        ("load.a.sync.aligned.row.m8n8k32.s4", "and 16.5 bytes"),
        ("load.b.sync.aligned.col.m8n8k128.b1", "and 4.125 bytes"),
    ] {
        let body = format!("wmma.{load} {{%a0}}, [%s0], 33;");
        let ran = changed(false, &[(&a, &body)]);
        finds(&ran, Kind::Misaligned, "lines a multiple of 4 bytes apart");
        finds(&ran, Kind::Misaligned, found);
    }
    // CUDA allows lines of 24 halves.
    let ran = changed(
        true,
        &[(
            &case(true).moved(0),
            &case(true).moved(0).replace(", 16;", ", 24;"),
        )],
    );
    let kinds: Vec<Kind> = ran.findings.iter().map(|finding| finding.kind).collect();
    // The lines at the end are beyond the matrix, where nothing was written.
    assert_eq!(kinds, [Kind::UninitializedShared]);
}

#[test]
fn matrices_lie_inside_of_their_memory() {
    let [a, _, _, d] = [0, 1, 2, 3].map(|operand| case(false).moved(operand));
    let ran = changed(false, &[(&a, &a.replace("[%s0]", "[%s0+32]"))]);
    finds(&ran, Kind::OutOfBounds, "reads 4 bytes outside");
    let ran = changed(false, &[(&d, &d.replace(", 16;", ", 20;"))]);
    finds(&ran, Kind::OutOfBounds, "writes 8 bytes outside");
}

#[test]
fn lanes_agree_on_the_matrix() {
    let a = case(false).moved(0);
    let each = format!("add.s64 %s0, %s0, %s4; {a}");
    finds(
        &changed(false, &[(&a, &each)]),
        Kind::Undefined,
        "one address in all lanes",
    );
    let each = format!("shl.b32 %r2, %r0, 3; {}", a.replace(", 16;", ", %r2;"));
    finds(
        &changed(false, &[(&a, &each)]),
        Kind::Undefined,
        "one stride in all lanes",
    );
}

#[test]
fn matrices_lie_in_global_or_shared_memory() {
    let generic = Case {
        space: SPACES[2],
        ..case(false)
    };
    let text = generic.moved(0);
    let own = "mov.u64 %s7, own; cvta.local.u64 %s7, %s7;";
    let ran = changed(
        false,
        &[
            (
                ".reg .b32 %r<9>;",
                ".reg .b32 %r<9>; .local .align 32 .b8 own[512];",
            ),
            (
                &case(false).moved(0),
                &format!("{own} {}", text.replace("%s0", "%s7")),
            ),
        ],
    );
    finds(&ran, Kind::Undefined, "another space");
}

#[test]
fn what_nobody_wrote_is_found_where_it_is_used() {
    let whole = case(true);
    let is_at = |ran: &Ran, name: &str| {
        let site = ran.findings[0].site.as_ref().unwrap();
        site.instruction.starts_with(name)
    };
    // Shared memory that nothing was copied to.
    let ran = changed(true, &[(&whole.copies(1), "")]);
    finds(&ran, Kind::UninitializedShared, "");
    // Fragments that nothing was loaded to.
    for operand in 0..3 {
        let ran = changed(true, &[(&whole.moved(operand), "")]);
        finds(&ran, Kind::UninitializedRegister, "");
        assert!(is_at(&ran, "wmma.mma"));
    }
    let ran = changed(true, &[(&whole.product(), "")]);
    finds(&ran, Kind::UninitializedRegister, "");
    assert!(is_at(&ran, "wmma.store"));
}

#[test]
fn matrices_race_as_single_accesses_do() {
    // Before the barrier, or without the one behind.
    let ran = changed(true, &[("bar.sync 0;", "")]);
    finds(&ran, Kind::SharedRace, "");
    let store = case(true).moved(3);
    let ran = changed(true, &[(&format!("{store}\nbar.sync 0;"), &store)]);
    finds(&ran, Kind::SharedRace, "");
    // One warp stores while the other one reads.
    let two = |barrier: &str| {
        let zeros: String = (0..8).map(|at| format!("mov.b32 %r{at}, 0; ")).collect();
        let text = format!(
            "{HEAD}.visible .entry k() {{ .reg .pred %p; .reg .b32 %r<20>; .shared .align 32 .b8 mem[1024];
            mov.u32 %r10, %tid.x; setp.ge.u32 %p, %r10, 32; @%p bra READ; {zeros}
            wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [mem], {{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}};
            READ: {barrier} @!%p bra END; mov.u32 %r11, mem; mad.lo.u32 %r11, %r10, 4, %r11; ld.shared.b32 %r12, [%r11];
            END: ret; }}"
        );
        let kernel = Session::new(&text, Config::default());
        let mut session = kernel.unwrap();
        session.launch("k", Grid::new(1, 64), &[]).unwrap();
        session.findings()
    };
    let found = two("");
    let between = [Kind::SharedRace, Kind::UninitializedShared];
    assert!(found.iter().all(|finding| between.contains(&finding.kind)));
    let raced = found
        .iter()
        .find(|finding| finding.kind == Kind::SharedRace);
    let names = raced.map(|race| [&race.site, &race.other].map(|site| site.as_ref().unwrap()));
    let mut names = names.unwrap().map(|site| site.instruction.as_str());
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "ld.shared.b32",
            "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32"
        ]
    );
    assert_eq!(two("bar.sync 0;"), []);
}

#[test]
fn registers_that_stand_for_the_same_elements_hold_the_same() {
    let product = case(true).product();
    for (letter, at) in [("a", 5), ("b", 3)] {
        let ran = changed(
            true,
            &[(
                &product,
                &format!("add.u32 %{letter}{at}, %{letter}{at}, 1; {product}"),
            )],
        );
        finds(
            &ran,
            Kind::Undefined,
            &format!("of {} to hold the same", letter.to_uppercase()),
        );
    }
    // All in one way.
    let all: Vec<String> = (0..8)
        .map(|at| format!("xor.b32 %a{at}, %a{at}, 0x80008000;"))
        .collect();
    assert_eq!(
        changed(true, &[(&product, &format!("{} {product}", all.join(" ")))]).findings,
        []
    );
}

#[test]
fn what_is_only_read_stays() {
    let case = case(false);
    let text = format!("{HEAD}{}", case.kernel("k"));
    let mut session = Session::new(&text, Config::default()).unwrap();
    let arguments = [0, 1, 2, 3].map(|operand| {
        let bytes = case.matrix(operand, |_, _| 0);
        let memory = Memory::holding(&bytes).read_only();
        session.allocate("T", memory).unwrap().into()
    });
    session.launch("k", Grid::new(1, 32), &arguments).unwrap();
    let kinds: Vec<Kind> = session
        .findings()
        .iter()
        .map(|finding| finding.kind)
        .collect();
    assert_eq!(kinds, [Kind::WriteToInput]);
}

#[test]
fn a_product_takes_fragments_as_they_were_loaded() {
    let whole = case(true);
    let product = whole.product();
    for (from, to, words) in [
        (
            ".row.col.",
            ".col.col.",
            "expected A as its wmma.load has it, .row.m16n16k16 of f16, found .col.m16n16k16 of f16",
        ),
        (
            ".row.col.",
            ".row.row.",
            "expected B as its wmma.load has it, .col.",
        ),
        (".m16n16k16.", ".m32n8k16.", "found .row.m32n8k16 of f16"),
    ] {
        assert!(product.contains(from), "{product}");
        let ran = changed(true, &[(&product, &product.replacen(from, to, 1))]);
        finds(&ran, Kind::Undefined, words);
        let finding = ran
            .findings
            .iter()
            .find(|finding| finding.message.contains(words));
        let other = finding.unwrap().other.as_ref().unwrap();
        assert!(other.instruction.starts_with("wmma.load."), "{other}");
    }
}
