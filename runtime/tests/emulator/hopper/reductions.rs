//! `red.async`: reductions in the shared memory of other blocks, which complete at `mbarrier` objects there.

use super::*;

const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
const AWAIT: &str = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;";
const NAME: &str = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes";

/// Four places of 8 bytes in each block, that begin as `first`. Each thread of each block reduces one of the next block's, by an operand of its
/// number, and each block waits and stores what came of its own.
fn reduce(
    op: &str,
    ty: &str,
    blocks: u32,
    first: u64,
    operand: &str,
    change: &[(&str, &str)],
) -> Hopper {
    let wide = ty.ends_with("64");
    let (register, bytes) = if wide { ("%s8", 8) } else { ("%r8", 4) };
    let mut body = format!(
        "mov.u32 %r1, %cluster_ctarank; add.u32 %r2, %r1, 1; rem.u32 %r2, %r2, {blocks}; and.b32 %r3, %r0, 3; mul.wide.u32 %s1, %r3, 8; add.s64 %s2, %s0, %s1;
        mov.b64 %s3, {first}; setp.gt.u32 %p2, %r0, 3; @%p2 bra FILLED; st.shared.b64 [%s2+128], %s3; FILLED:
        mad.lo.u32 %r8, %r1, 32, %r0; {operand} cvt.u64.u32 %s8, %r8; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], {};
        READY: {MEET}
        mapa.shared::cluster.u64 %s4, %s2, %r2; mapa.shared::cluster.u64 %s5, %s0, %r2;
        {NAME}.{op}.{ty} [%s4+128], {register}, [%s5];
        WAIT: {AWAIT}
        ld.shared.b64 %s6, [%s2+128]; {MEET}
        mul.wide.u32 %s7, %r1, 32; add.s64 %s7, %s7, %s1; add.s64 %s7, %s90, %s7; @%p2 bra END; st.global.b64 [%s7], %s6; END: ret;",
        32 * bytes
    );
    for (from, to) in change {
        assert!(body.contains(from), "{from}");
        body = body.replacen(from, to, 1);
    }
    let bytes = 32 * blocks as usize;
    hopper(&body).output(bytes).cluster(blocks)
}

/// The sums of two blocks.
fn sums(change: &[(&str, &str)]) -> Hopper {
    reduce("add", "u32", 2, 5, "", change)
}

/// The values that the places of a number of blocks have in the end, where each operand is the number of the thread.
fn expected(blocks: u64, first: u64, f: impl Fn(u64, u64) -> u64) -> Vec<u32> {
    let places = (0..blocks).flat_map(|block| {
        let from = (block + blocks - 1) % blocks * 32;
        let f = &f;
        (0..4).map(move |place| {
            let threads = (0..32).filter(|thread| thread % 4 == place);
            threads.map(|thread| from + thread).fold(first, f)
        })
    });
    let halves = |value: u64| [value as u32, (value >> 32) as u32];
    places.flat_map(halves).collect()
}

#[test]
fn every_reduction_arrives() {
    // Of 32 bits, the upper half of a place stays as it is.
    let low = |f: fn(u32, u32) -> u32| {
        move |place: u64, operand: u64| {
            place >> 32 << 32 | u64::from(f(place as u32, operand as u32))
        }
    };
    let most = 0xffff_fff0u64;
    let signed = |f: fn(i32, i32) -> i32| {
        move |place: u64, operand: u64| u64::from(f(place as i32, operand as i32) as u32)
    };
    for (op, ty, first, expected) in [
        (
            "add",
            "u32",
            most,
            expected(2, most, low(u32::wrapping_add)),
        ),
        (
            "add",
            "s32",
            most,
            expected(2, most, low(u32::wrapping_add)),
        ),
        ("add", "u64", most, expected(2, most, u64::wrapping_add)),
        ("add", "s64", most, expected(2, most, u64::wrapping_add)),
        ("min", "u32", most, expected(2, most, low(u32::min))),
        ("min", "s32", most, expected(2, most, signed(i32::min))),
        ("max", "u32", most, expected(2, most, low(u32::max))),
        ("max", "s32", most, expected(2, most, signed(i32::max))),
        ("and", "b32", 62, expected(2, 62, low(|a, b| a & b))),
        ("or", "b32", 64, expected(2, 64, low(|a, b| a | b))),
        ("xor", "b32", 7, expected(2, 7, low(|a, b| a ^ b))),
    ] {
        let found = reduce(op, ty, 2, first, "", &[]).clean(0);
        assert_eq!(words(&found), expected, "{op}.{ty}");
    }
    // Eight times around a circle of five.
    for (op, expected) in [("inc", (3 + 8) % 5), ("dec", (3 + 5 * 8 - 8) % 5)] {
        let found = reduce(op, "u32", 2, 3, "mov.u32 %r8, 4;", &[]).clean(0);
        let places: Vec<u32> = words(&found).into_iter().step_by(2).collect();
        assert_eq!(places, [expected; 8], "{op}");
    }
}

#[test]
fn reductions_need_no_order_among_each_other() {
    // From three other blocks at once, all to the first one, and from its own threads by an atomic operation.
    let all = reduce(
        "add",
        "u32",
        4,
        5,
        "",
        &[
            ("rem.u32 %r2, %r2, 4;", "mov.u32 %r2, 0;"),
            (", 128;\n", ", 384;\n"),
            (
                "@%p0 bra READY;",
                "or.b32 %r4, %r0, %r1; setp.ne.u32 %p0, %r4, 0; @%p0 bra READY;",
            ),
            (
                &format!("{NAME}.add"),
                &format!(
                    "setp.eq.u32 %p3, %r1, 0; @%p3 red.relaxed.cluster.shared.add.u32 [%s2+128], %r8; @!%p3 {NAME}.add"
                ),
            ),
            ("WAIT:", "@!%p3 bra OVER; WAIT:"),
            (
                &format!("[%s2+128]; {MEET}"),
                &format!("[%s2+128]; OVER: {MEET}"),
            ),
            ("@%p2 bra END;", "@%p2 bra END; @!%p3 bra END;"),
            // Its own are done when all of the warp has come here.
            ("WAIT: ", "bar.warp.sync -1; WAIT: "),
        ],
    );
    let sum: u64 = (0..128).filter(|thread| thread % 4 == 1).sum();
    assert_eq!(words(&all.clean(0))[2], 5 + sum as u32);
    // But with a plain store, and with an operation of another size.
    for other in [
        "st.shared.u32 [%s2+128], %r0;",
        "red.relaxed.cluster.shared.add.u64 [%s2+128], %s8;",
    ] {
        let kinds = sums(&[("WAIT:", &format!("{other} WAIT:"))]).kinds();
        assert!(
            kinds.contains(&Kind::MissingWait) || kinds.contains(&Kind::SharedRace),
            "{other} {kinds:?}"
        );
    }
}

#[test]
fn what_a_reduction_brings_is_waited_for() {
    sums(&[(AWAIT, "")]).finds(Kind::MissingWait, "red.async");
    sums(&[("[%s0], 128;", "[%s0], 132;")]).finds(Kind::Deadlock, "4 bytes");
    assert!(!sums(&[("[%s0], 128;", "[%s0], 124;")]).kinds().is_empty());
    // A wait of another thread, which tells nobody.
    sums(&[
        ("WAIT:", "@%p0 bra PAST; WAIT:"),
        ("ld.shared.b64", "PAST: ld.shared.b64"),
    ])
    .finds(Kind::MissingWait, "red.async");
}

#[test]
fn places_are_of_another_block_and_hold_something() {
    let line = "[%s4+128], %r8, [%s5];";
    sums(&[(line, "[%s4+128], %r8, [%s0];")]).finds(Kind::Undefined, "in one block");
    sums(&[(line, "[%s2+128], %r8, [%s0];")]).finds(Kind::Undefined, "of another block");
    sums(&[(line, "[%s4+130], %r8, [%s5];")]).finds(Kind::Misaligned, "");
    sums(&[(line, "[%s4+1048576], %r8, [%s5];")]).finds(Kind::OutOfBounds, "changes 4 bytes");
    sums(&[(line, "[%s4+128], %r99, [%s5];")]).finds(Kind::UninitializedRegister, "");
    sums(&[("st.shared.b64 [%s2+128], %s3;", "")]).finds(Kind::UninitializedShared, "");
    // What is not handed over before.
    let kinds = sums(&[(&format!("READY: {MEET}"), "READY:")]).kinds();
    assert!(!kinds.is_empty());
}

/// Results are the generic proxy's, as those of `st.async` are.
#[test]
fn reductions_are_of_the_generic_proxy() {
    let out = |fence: &str| {
        let text = format!(
            "[%s2+128]; {fence} bar.warp.sync 0xffffffff; @%p0 bra OVER; mul.wide.u32 %s7, %r1, 32; add.s64 %s7, %s90, %s7;
            cp.async.bulk.global.shared::cta.bulk_group [%s7], [%s0+128], 32; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; OVER:"
        );
        sums(&[
            ("[%s2+128];", &text),
            ("@%p2 bra END; st.global.b64 [%s7], %s6;", ""),
        ])
    };
    assert_eq!(
        words(&out("fence.proxy.async.shared::cta;").clean(0)),
        words(&sums(&[]).clean(0))
    );
    out("").finds(Kind::MissingFence, "fence.proxy.async");
}

/// A reduction behind a fence is a release pattern, for who sees its result by a strong read.
#[test]
fn a_fence_before_a_reduction_hands_on_what_came_before() {
    let flag = |fence: &str| {
        let send = format!(
            "st.shared::cluster.u32 [%s4+256], %r8; {fence} {NAME}.or.b32 [%s4+128], 64, [%s5]; mov.u32 %r9, 0;
            SEE: ld.acquire.cluster.shared.u32 %r10, [%s2+128]; and.b32 %r10, %r10, 64; setp.eq.u32 %p4, %r10, 0; @%p4 bra SEE; ld.shared.u32 %r11, [%s2+256];"
        );
        // Four threads of each block, with a place for each.
        reduce(
            "or",
            "b32",
            2,
            1,
            "",
            &[
                ("@%p2 bra FILLED;", "@%p2 bra OVER;"),
                (&format!("{NAME}.or.b32 [%s4+128], %r8, [%s5];"), &send),
                ("[%s0], 128;", "[%s0], 16;"),
                (
                    &format!("READY: {MEET}"),
                    &format!("bra READY; OVER: {MEET} {MEET} ret; READY: {MEET}"),
                ),
            ],
        )
    };
    flag("fence.acq_rel.cluster;").clean(0);
    let kinds = flag("").kinds();
    assert!(kinds.contains(&Kind::SharedRace), "{kinds:?}");
}

#[test]
fn forms_without_an_object_are_refused() {
    for (name, words) in [
        (
            "red.async.release.gpu.global.add.u32 [%s1], %r1;",
            "found `.release`",
        ),
        (
            "red.async.mmio.release.sys.global.add.u32 [%s1], %r1;",
            "`.mmio`",
        ),
        (
            "red.async.relaxed.cluster.shared::cluster.add.u32 [%s1], %r1, [%s2];",
            "mbarrier::complete_tx::bytes",
        ),
        (
            "red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s1], %r1, [%s2];",
            "red.async.relaxed",
        ),
        (
            &format!("{NAME}.add.u32 [%s1], %r1;"),
            "an mbarrier after red.async",
        ),
        (
            &format!("{NAME}.min.u64 [%s1], %s3, [%s2];"),
            "found `.min.u64`",
        ),
        (
            &format!("{NAME}.add.f32 [%s1], %f1, [%s2];"),
            "found `.add.f32`",
        ),
        (
            &format!("{NAME}.v2.add.u32 [%s1], {{%r1, %r2}}, [%s2];"),
            "found `.v2.add.u32`",
        ),
    ] {
        let refused = hopper(name).decoded().unwrap_err();
        assert!(refused.contains(words), "{name}: {refused}");
    }
    // A generic address, and modifiers in another order.
    for name in [
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%s1], %r1, [%s2];",
        "red.async.mbarrier::complete_tx::bytes.relaxed.cluster.shared::cluster.add.u32 [%s1], 7, [%s2+8];",
    ] {
        hopper(&format!("{name} ret;")).decoded().unwrap();
    }
}
