//! Bulk copies and their completion: the mbarrier lies at byte 0 of shared memory, data from byte 128 on.

use super::*;

/// Thread 0 makes an mbarrier and copies 256 bytes; all wait, read and store.
const LOAD: &str = "setp.ne.u32 %p0, %r0, 0; mul.wide.u32 %s2, %r0, 4; add.s64 %s1, %s0, 128; add.s64 %s3, %s1, %s2; BEFORE
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%s0], 1; INIT_FENCE
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], BYTES;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s1], [%s90], 256, [%s0];
    READY: bar.sync 0;
    WAIT: AWAIT
    ld.shared.u32 %r1, [%s3]; add.s64 %s4, %s91, %s2; st.global.u32 [%s4], %r1;
    bar.sync 0; @%p0 bra END; END_WAIT mbarrier.inval.shared::cta.b64 [%s0]; END: ret;";
const FENCE: &str = "fence.mbarrier_init.release.cluster;";
const AWAIT: &str = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;";

fn load(before: &str, fence: &str, bytes: &str, wait: &str) -> Hopper {
    let body = LOAD
        .replace("BEFORE", before)
        .replace("INIT_FENCE", fence)
        .replace("BYTES", bytes)
        .replace("AWAIT", wait)
        .replace("END_WAIT", "");
    hopper(&body).input(bytes_of(0..64)).output(256).block(64)
}

#[test]
fn a_load_is_there_once_its_phase_has_ended() {
    for wait in [AWAIT, &AWAIT.replace("try_wait", "test_wait")] {
        let done = load("", FENCE, "256", wait).clean(1);
        assert_eq!(words(&done), (0..64).collect::<Vec<_>>());
    }
}

#[test]
fn bytes_may_be_expected_after_the_copy() {
    let body = LOAD
        .replace("BEFORE", "")
        .replace("INIT_FENCE", FENCE)
        .replace("AWAIT", AWAIT)
        .replace("END_WAIT", "")
        .replace("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], BYTES;", "")
        .replace(
            "READY:",
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%s0], 256; mbarrier.arrive.shared::cta.b64 _, [%s0]; READY:",
        );
    let run = hopper(&body).input(bytes_of(0..64)).output(256).block(64);
    assert_eq!(words(&run.clean(1)), (0..64).collect::<Vec<_>>());
}

#[test]
fn a_load_that_is_not_waited_for_is_found() {
    let run = load("", FENCE, "256", "");
    run.finds(
        Kind::MissingWait,
        "bulk copies that complete at the mbarrier at byte 0 may still write",
    );
    // A relaxed wait hands nothing on.
    let relaxed = AWAIT.replace("parity", "parity.relaxed.cta");
    load("", FENCE, "256", &relaxed).finds(Kind::MissingWait, "wait for their completion");
    // Nor does the end of another phase: that of an object that no copy completes at.
    let other = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0+64], 0; @!%p1 bra WAIT;";
    let init = format!(
        "mbarrier.init.shared::cta.b64 [%s0+64], 1; {FENCE} mbarrier.arrive.shared::cta.b64 _, [%s0+64];"
    );
    load("", &init, "256", other).finds(Kind::MissingWait, "byte 0");
}

#[test]
fn wrong_numbers_of_bytes_are_found() {
    load("", FENCE, "128", AWAIT).finds(Kind::Deadlock, "lacks 0 of 1 arrivals and -128 bytes");
    load("", FENCE, "272", AWAIT).finds(Kind::Deadlock, "lacks 0 of 1 arrivals and 16 bytes");
    load("", FENCE, "128", "").finds(Kind::MissingWait, "");
    load("", FENCE, "1048576", AWAIT).finds(Kind::Undefined, "at most 2^20 - 1 bytes");
    // Nobody waits, so that the end finds it.
    let body = "setp.ne.u32 %p0, %r0, 0; @%p0 bra END; mbarrier.init.shared::cta.b64 [%s0], 1; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 64; END: ret;";
    hopper(body).finds(Kind::Undefined, "expects 64 bytes more");
    let body = body.replace(
        "arrive.expect_tx.shared::cta.b64 _, [%s0], 64",
        "complete_tx.shared::cta.b64 [%s0], 64",
    );
    hopper(&body).finds(Kind::Undefined, "after 64 bytes more than");
}

#[test]
fn an_object_is_fenced_before_copies_complete_at_it() {
    load("", "", "256", AWAIT).finds(Kind::MissingFence, "fence.mbarrier_init.release.cluster");
    // As CUDA's guide does it.
    let run = load("", "fence.proxy.async.shared::cta;", "256", AWAIT);
    assert_eq!(words(&run.clean(1))[63], 63);
}

#[test]
fn generic_accesses_before_a_load_need_a_proxy_fence() {
    for access in [
        "st.shared.u32 [%s3], %r0;",
        "st.shared.u32 [%s3], %r0; ld.shared.u32 %r2, [%s3];",
    ] {
        let unfenced = format!("{access} bar.sync 0;");
        load(&unfenced, FENCE, "256", AWAIT).finds(Kind::MissingFence, "fence.proxy.async");
        for fence in ["fence.proxy.async;", "fence.proxy.async.shared::cta;"] {
            let fenced = format!("{access} {fence} bar.sync 0;");
            assert_eq!(words(&load(&fenced, FENCE, "256", AWAIT).clean(1))[63], 63);
        }
        // Without a barrier there is no order at all.
        let unordered = format!("{access} fence.proxy.async;");
        assert!(
            load(&unordered, FENCE, "256", AWAIT)
                .kinds()
                .contains(&Kind::SharedRace)
        );
        // A fence before the access is none.
        let early = format!("fence.proxy.async; {access} bar.sync 0;");
        load(&early, FENCE, "256", AWAIT).finds(Kind::MissingFence, "");
    }
}

#[test]
fn sizes_and_addresses_are_aligned() {
    let run = |from: &str, to: &str| {
        let body = LOAD
            .replace(from, to)
            .replace("BEFORE", "")
            .replace("INIT_FENCE", FENCE);
        let body = body
            .replace("BYTES", "256")
            .replace("AWAIT", "")
            .replace("END_WAIT", "");
        hopper(&body).input(bytes_of(0..64)).output(256).block(64)
    };
    run("[%s90], 256", "[%s90], 248").finds(Kind::Misaligned, "multiple of 16, found 248");
    run("[%s90], 256", "[%s90+8], 240").finds(Kind::Misaligned, "multiple of 16");
    run("[%s1], [%s90]", "[%s1+8], [%s90]").finds(Kind::Misaligned, "multiple of 16");
    run("[%s90], 256", "[%s90], 512").finds(Kind::OutOfBounds, "reads 512 bytes");
    run("[%s1], [%s90]", "[%s1+3840], [%s90]").finds(Kind::OutOfBounds, "outside of shared memory");
}

#[test]
fn copies_under_way_at_the_end_are_found() {
    let body = "setp.ne.u32 %p0, %r0, 0; add.s64 %s1, %s0, 128; @%p0 bra END; mbarrier.init.shared::cta.b64 [%s0], 1; fence.proxy.async;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 256;
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s1], [%s90], 256, [%s0]; END: ret;";
    let run = hopper(body).input(bytes_of(0..64));
    run.finds(
        Kind::MissingWait,
        "the block ends while this copy may still write",
    );
}

#[test]
fn two_copies_are_told_apart_by_their_barriers() {
    // The second copy's phase says nothing of the first one's data.
    let body = "setp.ne.u32 %p0, %r0, 0; add.s64 %s1, %s0, 128; mul.wide.u32 %s2, %r0, 4; add.s64 %s3, %s1, %s2; @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%s0], 1; mbarrier.init.shared::cta.b64 [%s0+8], 1; fence.mbarrier_init.release.cluster;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0+8], 128;
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s1], [%s90], 128, [%s0];
        cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s1+128], [%s90+128], 128, [%s0+8];
        READY: bar.sync 0;
        WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0+8], 0; @!%p1 bra WAIT;
        ld.shared.u32 %r1, [%s3+OFFSET];
        LAST: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra LAST;
        add.s64 %s4, %s91, %s2; st.global.u32 [%s4], %r1; ret;";
    let run = |offset: &str| {
        let run = hopper(&body.replace("OFFSET", offset));
        run.input(bytes_of(0..64)).output(128)
    };
    assert_eq!(words(&run("128").clean(1)), (32..64).collect::<Vec<_>>());
    assert_eq!(run("0").kinds(), [Kind::MissingWait]);
}

/// 32 threads write 128 bytes, the first stores them to global memory, and all write them again.
const STORE: &str = "setp.ne.u32 %p0, %r0, 0; mul.wide.u32 %s2, %r0, 4; add.s64 %s3, %s0, %s2; add.u32 %r1, %r0, 7; st.shared.u32 [%s3+128], %r1;
    PROXY bar.sync 0; @%p0 bra STORED;
    add.s64 %s1, %s0, 128; cp.async.bulk.global.shared::cta.bulk_group [%s90], [%s1], 128; COMMIT READ
    STORED: BARRIER st.shared.u32 [%s3+128], %r0; @%p0 bra END; FINISH END: ret;";

fn store(change: &[(&str, &str)]) -> Hopper {
    let mut body = STORE.to_string();
    for (from, to) in change {
        body = body.replace(from, to);
    }
    let body = body
        .replace("PROXY", "fence.proxy.async.shared::cta;")
        .replace("COMMIT", "cp.async.bulk.commit_group;")
        .replace("READ", "cp.async.bulk.wait_group.read 0;")
        .replace("BARRIER", "bar.sync 0;")
        .replace("FINISH", "cp.async.bulk.wait_group 0;");
    hopper(&body).output(128)
}

#[test]
fn a_store_reads_its_source_until_it_is_waited_for() {
    let stored = (7..39).collect::<Vec<_>>();
    assert_eq!(words(&store(&[]).clean(0)), stored);
    assert_eq!(words(&store(&[("FINISH", "")]).clean(0)), stored);
    store(&[("PROXY", "")]).finds(Kind::MissingFence, "fence.proxy.async");
    store(&[("READ", "")]).finds(
        Kind::MissingWait,
        "bulk copies of warp 0, lane 0 may still read",
    );
    // Only the thread that waited knows.
    store(&[("BARRIER", "")]).finds(Kind::MissingWait, "may still read");
    store(&[("COMMIT", "")]).finds(Kind::MissingWait, "is in no group");
    store(&[("READ", ""), ("FINISH", "")])
        .finds(Kind::MissingWait, "may still read its shared memory");
    store(&[("wait_group.read 0", "wait_group.read 1")]).kinds();
    store(&[("READ", "cp.async.bulk.wait_group.read 1;")])
        .finds(Kind::MissingWait, "may still read");
}

#[test]
fn groups_belong_to_the_thread_that_issued_them() {
    // The first thread copies and commits, behind the wait of a turn before.
    let body = "mov.u32 %r5, 0; setp.ne.u32 %p0, %r0, 0; setp.ge.u32 %p1, %r0, 32; FILL AGAIN: GUARD cp.async.bulk.wait_group.read 0; bar.sync 0;
        @%p0 bra NEXT; fence.proxy.async; mul.wide.u32 %s7, %r5, 16; add.s64 %s7, %s7, %s90; cp.async.bulk.global.shared::cta.bulk_group [%s7], [%s0], 16; cp.async.bulk.commit_group;
        NEXT: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, TURNS; @%p3 bra AGAIN; LAST ret;";
    let run = |turns: &str, guard: &str, last: &str| {
        let body = body.replace("TURNS", turns).replace("GUARD", guard);
        let body = body.replace("LAST", last).replace("FILL", FILL);
        hopper(&body).output(48).block(64)
    };
    const LAST: &str = "@!%p0 cp.async.bulk.wait_group 0;";
    // All threads wait, and the others for nothing; in a loop of one turn so does the first.
    for turns in ["1", "3"] {
        assert_eq!(run(turns, "", LAST).kinds(), [], "{turns}");
    }
    // Another warp waits in its place.
    run("3", "@%p1", LAST).finds(
        Kind::MissingWait,
        "groups belong to the thread that issued the copies",
    );
    run("1", "", "bar.sync 0; @%p1 cp.async.bulk.wait_group 0;").finds(
        Kind::MissingWait,
        "groups belong to the thread that issued the copies",
    );
}

/// Thread 0 writes 16 bytes of shared memory.
const FILL: &str = "@!%p0 st.shared.u32 [%s0], %r0; @!%p0 st.shared.u32 [%s0+4], %r0; @!%p0 st.shared.u32 [%s0+8], %r0; @!%p0 st.shared.u32 [%s0+12], %r0;";

#[test]
fn what_a_store_wrote_is_seen_after_its_group() {
    let run = |wait: &str| {
        store(&[(
            "FINISH",
            &format!("{wait} ld.global.u32 %r2, [%s90]; st.global.u32 [%s90+64], %r2;"),
        )])
    };
    assert_eq!(words(&run("cp.async.bulk.wait_group 0;").clean(0))[16], 7);
    run("").finds(Kind::GlobalRace, "bulk copies of warp 0, lane 0");
}

#[test]
fn reductions_add_to_what_is_there() {
    let reduce = |name: &str| {
        let from = "cp.async.bulk.global.shared::cta.bulk_group";
        let to = format!("cp.reduce.async.bulk.global.shared::cta.bulk_group.{name}");
        let body = store(&[(from, to.as_str())]).body;
        hopper(&body).in_out(bytes_of(100..132))
    };
    let expected: Vec<u32> = (0..32).map(|i| 100 + i + 7 + i).collect();
    assert_eq!(words(&reduce("add.u32").clean(0)), expected);
    let expected: Vec<u32> = (7..39).collect();
    assert_eq!(words(&reduce("min.s32").clean(0)), expected);
    let expected: Vec<u32> = (0..32).map(|i| (100 + i) ^ (7 + i)).collect();
    assert_eq!(words(&reduce("xor.b32").clean(0)), expected);
    reduce("inc.u32").clean(0);
    reduce("inc.s32").finds(Kind::Undefined, "found .inc of s32");
}

#[test]
fn generic_writes_of_global_memory_are_fenced_before_a_load_of_them() {
    let body = |fence: &str| {
        format!(
            "setp.ne.u32 %p0, %r0, 0; add.s64 %s1, %s0, 128; mul.wide.u32 %s2, %r0, 4; add.s64 %s3, %s90, %s2; st.global.u32 [%s3], %r0; {fence}
            @%p0 bra READY; mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; READY: bar.sync 0; @%p0 bra WAIT;
            mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;
            cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s1], [%s90], 128, [%s0];
            WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT; ret;"
        )
    };
    let run = |fence| hopper(&body(fence)).in_out(bytes_of(0..32));
    run("fence.proxy.async.global;").clean(0);
    assert_eq!(run("").kinds(), [Kind::GlobalRace]);
}

#[test]
fn prefetches_and_hints_change_nothing() {
    let body = "setp.ne.u32 %p0, %r0, 0; @%p0 bra END; cp.async.bulk.prefetch.L2.global.L2::cache_hint [%s90], 64, %s5; END: ret;";
    hopper(&format!("mov.u64 %s5, 0; {body}"))
        .in_out(bytes_of(0..32))
        .clean(0);
}

#[test]
fn what_is_not_known_is_refused() {
    for (text, says) in [
        (
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u16 [%s0], %h0, [%s0];",
            "4 or 8 bytes",
        ),
        (
            "st.async.weak.shared::cluster.b32 [%s0], %r0, [%s0];",
            "complete_tx",
        ),
        (
            "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0, %r0}], [%s0], {%h0, %h0};",
            "not .im2col::w, which sm_100 has",
        ),
        (
            "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0, %r0, %r0}], [%s0], {%h0, %h0};",
            "not .im2col::w::128, which",
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0}], [%s0], {};",
            ".3d to .5d before .im2col",
        ),
        (
            "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0, %r0, %r0}], [%s0], {%h0};",
            "expected 2 offsets of pixels, two less than coordinates, found 1",
        ),
        (
            "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0, %r0, %r0}], [%s0];",
            "offsets of pixels in braces",
        ),
        (
            "cp.async.bulk.tensor.4d.shared::cta.global.im2col_no_offs.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0, %r0, %r0, %r0}], [%s0];",
            "expected .im2col, as this instruction has it, found .im2col_no_offs",
        ),
        (
            "cp.async.bulk.tensor.4d.global.shared::cta.im2col.bulk_group [%s80, {%r0, %r0, %r0, %r0}], [%s0];",
            "expected .im2col_no_offs, as",
        ),
        (
            "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0}], [%s0];",
            "expected 2 coordinates, found 1",
        ),
        (
            "cp.async.bulk.tensor.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s0], [%s80, {%r0}], [%s0];",
            ".1d to .5d",
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%s0], [%s0];",
            "a size",
        ),
        ("cp.async.bulk.wait_group;", "a number of groups"),
        (
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add [%s0], [%s0], 16;",
            "the type",
        ),
    ] {
        let error = hopper(text).decoded().unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}
