//! Distributed shared memory: stores and bulk copies to the shared memory of other blocks, which complete at `mbarrier` objects there.

use super::*;

const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
const AWAIT: &str = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;";

/// A program with other texts in place of some that it has.
fn changed(mut body: String, change: &[(&str, &str)]) -> String {
    for (from, to) in change {
        assert!(body.contains(from), "{from}");
        body = body.replacen(from, to, 1);
    }
    body
}

/// Each thread sends its number, and that of its block, to the other block, which waits at its own object and stores what came.
fn exchange(change: &[(&str, &str)]) -> Hopper {
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; mul.wide.u32 %s1, %r0, 8; add.s64 %s2, %s0, %s1; xor.b32 %r2, %r1, 1; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 256;
        READY: {MEET}
        mapa.shared::cluster.u64 %s3, %s2, %r2; mapa.shared::cluster.u64 %s4, %s0, %r2;
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%s3+128], {{%r0, %r1}}, [%s4];
        WAIT: {AWAIT}
        ld.shared.v2.u32 {{%r3, %r4}}, [%s2+128]; END
        mad.lo.u32 %r5, %r1, 256, 0; cvt.u64.u32 %s5, %r5; add.s64 %s5, %s5, %s1; add.s64 %s5, %s90, %s5; st.global.v2.u32 [%s5], {{%r3, %r4}}; ret;"
    )
    .replace("END", MEET);
    hopper(&changed(body, change)).output(512).cluster(2)
}

#[test]
fn stores_arrive_at_other_blocks() {
    let expected: Vec<u32> = (0..2)
        .flat_map(|block| (0..32).flat_map(move |thread| [thread, 1 - block]))
        .collect();
    assert_eq!(words(&exchange(&[]).clean(0)), expected);
}

#[test]
fn what_a_store_brings_is_waited_for() {
    exchange(&[(AWAIT, "")]).finds(Kind::MissingWait, "st.async");
    // Fewer bytes than come, and more.
    exchange(&[("[%s0], 256;", "[%s0], 512;")]).finds(Kind::Deadlock, "256 bytes");
    let few = exchange(&[("[%s0], 256;", "[%s0], 248;")]).kinds();
    assert!(!few.is_empty());
    // A block that ends before the other has what it sent.
    let kinds = exchange(&[(&format!("[%s2+128]; {MEET}"), "[%s2+128];"), (AWAIT, "")]).kinds();
    assert!(!kinds.is_empty());
}

#[test]
fn the_object_is_where_the_bytes_go() {
    exchange(&[("{%r0, %r1}, [%s4];", "{%r0, %r1}, [%s0];")])
        .finds(Kind::Undefined, "in one block of the cluster");
    exchange(&[("[%s3+128]", "[%s3+132]")]).finds(Kind::Misaligned, "");
    // What is read there still, from before.
    exchange(&[("READY:", "READY: ld.shared.v2.u32 {%r3, %r4}, [%s2+128];")])
        .finds(Kind::UninitializedShared, "");
    let racing = [(
        "mapa.shared::cluster.u64 %s3",
        "st.shared.v2.u32 [%s2+128], {%r0, %r0}; mapa.shared::cluster.u64 %s3",
    )];
    let kinds = exchange(&racing).kinds();
    let wrong = [Kind::SharedRace, Kind::MissingWait];
    assert!(kinds.iter().any(|kind| wrong.contains(kind)), "{kinds:?}");
}

/// Values that arrive by stores of threads are the generic proxy's: a copy of it out to global memory needs a fence.
#[test]
fn stores_are_of_the_generic_proxy() {
    let out = |fence: &str| {
        let text = format!(
            "[%s2+128]; {fence} bar.warp.sync 0xffffffff; @%p0 bra OVER;
            mul.lo.u32 %r5, %r1, 256; cvt.u64.u32 %s5, %r5; add.s64 %s5, %s90, %s5;
            cp.async.bulk.global.shared::cta.bulk_group [%s5], [%s0+128], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
            OVER: {MEET} ret;"
        );
        exchange(&[("[%s2+128];", &text)])
    };
    out("fence.proxy.async.shared::cta;").clean(0);
    out("").finds(Kind::MissingFence, "fence.proxy.async");
}

/// Each block fills 128 bytes and copies them to the other one.
fn copy(change: &[(&str, &str)]) -> Hopper {
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s0, %s1; xor.b32 %r2, %r1, 1; setp.ne.u32 %p0, %r0, 0;
        mad.lo.u32 %r6, %r1, 100, %r0; st.shared.u32 [%s2+128], %r6; fence.proxy.async.shared::cta; @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;
        READY: {MEET} @%p0 bra WAIT;
        add.s64 %s6, %s0, 256; mapa.shared::cluster.u64 %s3, %s6, %r2; mapa.shared::cluster.u64 %s4, %s0, %r2;
        cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%s3], [%s0+128], 128, [%s4];
        WAIT: {AWAIT}
        ld.shared.u32 %r3, [%s2+256]; END
        mad.lo.u32 %r5, %r1, 128, 0; cvt.u64.u32 %s5, %r5; add.s64 %s5, %s5, %s1; add.s64 %s5, %s90, %s5; st.global.u32 [%s5], %r3; ret;"
    )
    .replace("END", MEET);
    hopper(&changed(body, change)).output(256).cluster(2)
}

#[test]
fn bulk_copies_go_from_block_to_block() {
    let expected: Vec<u32> = (100..132).chain(0..32).collect();
    assert_eq!(words(&copy(&[]).clean(0)), expected);
    copy(&[(AWAIT, "")]).finds(Kind::MissingWait, "bulk copies");
    copy(&[("fence.proxy.async.shared::cta;", "")]).finds(Kind::MissingFence, "");
    copy(&[("128, [%s4];", "128, [%s0];")]).finds(Kind::Undefined, "in one block");
    copy(&[("128, [%s4];", "120, [%s4];")]).finds(Kind::Misaligned, "multiple of 16");
    // The source is read until the bytes are there, which only the other block knows.
    let written = ("WAIT:", "st.shared.u32 [%s0+128], %r6; WAIT:");
    copy(&[written]).finds(Kind::MissingWait, "may still read");
    // It begins in the block that copies.
    copy(&[("[%s3], [%s0+128]", "[%s3], [%s3]")])
        .finds(Kind::Undefined, "of the block that copies");
}

/// Values that `cp.async` brought are the generic proxy's too, however one has learned that they are there.
#[test]
fn asynchronous_copies_of_threads_are_fenced() {
    let run = |wait: &str, fence: &str| {
        let body = format!(
            "mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s0, %s1; add.s64 %s3, %s90, %s1; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
            mbarrier.init.shared::cta.b64 [%s0], 32; READY: bar.sync 0;
            cp.async.ca.shared.global [%s2+128], [%s3], 4; {wait}
            WAIT: {AWAIT} {fence} bar.sync 0; @%p0 bra END;
            cp.async.bulk.global.shared::cta.bulk_group [%s91], [%s0+128], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
            END: ret;"
        );
        hopper(&body).input(bytes_of(0..32)).output(128)
    };
    let by_thread = "cp.async.mbarrier.arrive.noinc.shared.b64 [%s0];";
    let by_wait = "cp.async.wait_all; mbarrier.arrive.shared::cta.b64 _, [%s0];";
    for wait in [by_thread, by_wait] {
        let fenced = run(wait, "fence.proxy.async.shared::cta;");
        assert_eq!(words(&fenced.clean(1)), (0..32).collect::<Vec<_>>());
        run(wait, "").finds(Kind::MissingFence, "fence.proxy.async");
    }
}
