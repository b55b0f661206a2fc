//! Findings by what is missing.

use super::session::words;
use cute_runtime::emulator::{Cause, Cure, Gap, causes};

/// Lines of the kernel's text: the body begins at line 8.
const FIRST: u32 = 8;

fn of(body: &str) -> Vec<Cause> {
    let module = ".shared .align 4 .b8 w[1024];";
    let start = "mov.u32 %r1, w; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; xor.b32 %r4, %r2, 128; add.u32 %r4, %r1, %r4;\n";
    let (_, findings) = words(module, &format!("{start}{body}"));
    causes(&findings)
}

/// The n-th line of a body, from 0.
fn line(n: u32) -> u32 {
    FIRST + 1 + n
}

#[test]
fn one_barrier_orders_several_pairs() {
    let body = |between: &str| {
        format!(
            "st.shared.u32 [%r3], %r0;\nst.shared.u32 [%r3+256], %r0;\n{between}\nld.shared.u32 %r5, [%r4];\n\
             ld.shared.u32 %r6, [%r4+256];\nst.global.u32 [%s1], %r5;"
        )
    };
    assert_eq!(of(&body("bar.sync 0;")), []);
    let found = of(&body(""));
    assert_eq!(found.len(), 1, "{found:?}");
    let gap = Gap {
        after: line(1),
        before: line(3),
    };
    assert_eq!((found[0].cure, found[0].gap), (Cure::Barrier, Some(gap)));
    assert_eq!(found[0].findings, [0, 1]);
    let text = found[0].to_string();
    assert_eq!(
        text,
        format!(
            "2 findings by a missing barrier (bar.sync) in k: one between PTX lines {} and {} orders them",
            gap.after, gap.before
        )
    );
}

#[test]
fn two_places_are_two_causes() {
    let found = of(
        "st.shared.u32 [%r3], %r0;\nld.shared.u32 %r5, [%r4];\nst.shared.u32 [%r3+256], %r0;\nld.shared.u32 %r6, [%r4+256];",
    );
    let gaps: Vec<_> = found.iter().filter_map(|cause| cause.gap).collect();
    let gap = |after, before| Gap {
        after: line(after),
        before: line(before),
    };
    assert_eq!(gaps, [gap(0, 1), gap(2, 3)]);
}

#[test]
fn turns_of_a_loop_are_ordered_at_its_end() {
    let body = |end: &str| {
        format!(
            "mov.u32 %r8, 0;\nloop:\nst.shared.u32 [%r3], %r8;\nbar.sync 0;\nld.shared.u32 %r5, [%r4];\n{end}\n\
             add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p0, %r8, 4;\n@%p0 bra loop;"
        )
    };
    assert_eq!(of(&body("bar.sync 0;")), []);
    let found = of(&body(""));
    assert_eq!(found.len(), 1, "{found:?}");
    let gap = Gap {
        after: line(4),
        before: line(2),
    };
    assert_eq!((found[0].cure, found[0].gap), (Cure::Barrier, Some(gap)));
    assert!(
        found[0]
            .to_string()
            .contains("of the next turn of the loop")
    );
}

#[test]
fn what_no_order_cures_stands_alone() {
    let found = of("st.global.u32 [%s1+4096], %r0;\nst.global.u32 [%s1+8192], %r0;");
    let cures: Vec<_> = found
        .iter()
        .map(|cause| (cause.cure, cause.findings.len()))
        .collect();
    assert_eq!(cures, [(Cure::None, 1), (Cure::None, 1)]);
}

#[test]
fn races_in_global_memory_within_a_block_have_a_place() {
    let body = |between: &str| {
        format!(
            "xor.b32 %r6, %r0, 32; mul.wide.u32 %s3, %r6, 4; add.s64 %s3, %s0, %s3; st.shared.u32 [%r3], %r0;\n\
             st.global.u32 [%s1], %r0;\n{between}\nld.global.u32 %r5, [%s3];\nld.shared.u32 %r7, [%r4];\n\
             add.u32 %r5, %r5, %r7; st.shared.u32 [%r3+256], %r5;"
        )
    };
    assert_eq!(of(&body("bar.sync 0;")), []);
    let found = of(&body(""));
    let mut barriers = found.iter().filter(|cause| cause.cure == Cure::Barrier);
    let gap = Gap {
        after: line(1),
        before: line(3),
    };
    let cause = barriers.next().unwrap();
    assert_eq!((cause.gap, barriers.next()), (Some(gap), None), "{found:?}");
    // That of shared memory and that of global memory have one cause.
    assert!(cause.findings.len() > 1, "{found:?}");
    // Threads that write one place by one instruction are told as its pair.
    let (_, findings) = words("", "st.global.u32 [%s0], %r0;");
    assert_eq!(findings[0].other, findings[0].site);
}
