//! Clusters of two blocks: each reaches the other's shared memory, and one copy may be for both.

use super::*;

pub(super) const MEET: &str = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";

/// Each thread writes to its block's shared memory, and reads what the other block's thread wrote.
fn exchange(between: &str, end: &str) -> Hopper {
    let body = format!(
        "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r0; mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s0, %s1;
        st.shared.u32 [%s2], %r3; {between}
        xor.b32 %r4, %r1, 1; mapa.shared::cluster.u64 %s3, %s2, %r4; ld.shared::cluster.u32 %r5, [%s3]; {end}
        mul.wide.u32 %s4, %r3, 4; add.s64 %s4, %s90, %s4; st.global.u32 [%s4], %r5; ret;"
    );
    let mut run = hopper(&body).output(512);
    run.grid = 2;
    run.cluster(2)
}

#[test]
fn blocks_reach_each_others_shared_memory() {
    let run = exchange(MEET, MEET);
    assert_eq!(run.grid, 4);
    let expected: Vec<u32> = (0..128).map(|i| i ^ 32).collect();
    assert_eq!(words(&run.clean(0)), expected);
    // By generic addresses.
    let mut run = exchange(MEET, MEET);
    run.body = run.body.replace(
        "mapa.shared::cluster.u64 %s3, %s2, %r4; ld.shared::cluster.u32 %r5, [%s3];",
        "cvta.shared.u64 %s5, %s2; mapa.u64 %s3, %s5, %r4; ld.u32 %r5, [%s3];",
    );
    assert_eq!(words(&run.clean(0)), expected);
}

#[test]
fn addresses_have_the_rank_of_their_block() {
    // Of the other block's shared memory, and of the thread's own by an address without a rank.
    for (of, other) in [
        ("getctarank.shared::cluster.u32 %r5, %r7;", "%s3"),
        ("getctarank.u64 %r5, %s6;", "%s3"),
    ] {
        let body = format!(
            "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r0; xor.b32 %r4, %r1, 1;
            mapa.shared::cluster.u64 {other}, %s0, %r4; cvt.u32.u64 %r7, {other}; cvta.shared::cluster.u64 %s6, {other}; {of}
            getctarank.shared::cluster.u64 %r8, %s0; mad.lo.u32 %r5, %r5, 2, %r8;
            mul.wide.u32 %s4, %r3, 4; add.s64 %s4, %s90, %s4; st.global.u32 [%s4], %r5; ret;"
        );
        let mut run = hopper(&body).output(512);
        run.grid = 2;
        let run = run.cluster(2);
        let expected: Vec<u32> = (0..128)
            .map(|i| if i / 32 % 2 == 0 { 2 } else { 1 })
            .collect();
        assert_eq!(words(&run.clean(0)), expected, "{of}");
    }
}

#[test]
fn a_block_that_the_cluster_does_not_have_is_told_first() {
    let body = "mov.u32 %r1, 7; mapa.shared::cluster.u64 %s3, %s0, %r1; st.shared::cluster.u32 [%s3], %r0;
        ld.shared.u32 %r5, [%s0]; mul.wide.u32 %s4, %r0, 4; add.s64 %s4, %s90, %s4; st.global.u32 [%s4], %r5; ret;";
    let mut run = hopper(body).output(256);
    run.grid = 2;
    let run = run.cluster(2);
    run.finds(
        Kind::OutsideCluster,
        "which is below 2, found 7; launch it with larger clusters",
    );
    let found = run.seeded(0).findings;
    let kinds: Vec<Kind> = found.iter().map(|finding| finding.kind).collect();
    assert!(
        kinds.len() > 1 && kinds[0] == Kind::OutsideCluster,
        "{kinds:?}"
    );
}

#[test]
fn clusters_that_were_asked_for_are_known() {
    let body = "mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r0;
        mul.wide.u32 %s4, %r3, 4; add.s64 %s4, %s90, %s4; st.global.u32 [%s4], %r1; ret;";
    let mut run = hopper(body).output(512);
    run.grid = 2;
    assert_eq!(words(&run.cluster(2).clean(0)), [1; 128]);
    let mut run = hopper(body).output(512);
    run.grid = 4;
    assert_eq!(words(&run.clean(0)), [0; 128]);
}

#[test]
fn blocks_of_a_cluster_are_ordered_by_its_barrier() {
    exchange("bar.sync 0;", MEET).finds(Kind::SharedRace, "");
    // A block that ends takes its shared memory with it.
    exchange(MEET, "").finds(Kind::OutOfBounds, "which has ended");
    // Whichever of the two comes first, where one block alone reads.
    let mut run = exchange(MEET, "");
    let read = "ld.shared::cluster.u32 %r5, [%s3];";
    let of_one = format!("setp.eq.u32 %p1, %r1, 0; mov.u32 %r5, 0; @%p1 {read}");
    run.body = run.body.replace(read, &of_one);
    run.finds(Kind::OutOfBounds, "which may have ended by then");
    for seed in 0..20 {
        let found = run.seeded(seed).findings;
        assert!(!found.is_empty(), "seed {seed}");
    }
    let mut run = exchange(MEET, MEET);
    run.body = run.body.replace("xor.b32 %r4, %r1, 1", "mov.u32 %r4, 2");
    run.finds(Kind::OutsideCluster, "below 2, found 2");
}

#[test]
fn ranks_are_those_of_the_cluster() {
    let body = "mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %clusterid.x; mov.u32 %r3, %nclusterid.x; mov.u32 %r4, %cluster_nctarank;
        setp.ne.u32 %p0, %r0, 0; @%p0 bra END; mov.u32 %r5, %ctaid.x; mul.wide.u32 %s1, %r5, 16; add.s64 %s1, %s90, %s1;
        st.global.v4.u32 [%s1], {%r1, %r2, %r3, %r4}; END: ret;";
    let mut run = hopper(body).output(64);
    run.grid = 2;
    let found = words(&run.cluster(2).clean(0));
    assert_eq!(found, [0, 0, 2, 2, 1, 0, 2, 2, 0, 1, 2, 2, 1, 1, 2, 2]);
}

/// The first block's thread copies 128 bytes to both blocks, each of which waits at its own mbarrier.
pub(super) const MULTICAST: &str = "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster;
    ARM READY: CLUSTER
    setp.ne.u32 %p2, %r1, 0; or.pred %p2, %p2, %p0; @%p2 bra WAIT; mov.u16 %h1, MASK;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%s0+128], [%s90], 128, [%s0], %h1;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;
    mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s0, %s1; ld.shared.u32 %r3, [%s2+128];
    mad.lo.u32 %r4, %r1, 32, %r0; mul.wide.u32 %s4, %r4, 4; add.s64 %s4, %s91, %s4; st.global.u32 [%s4], %r3; ret;";

fn multicast(arm: &str, cluster: &str, mask: &str) -> Hopper {
    let body = MULTICAST
        .replace("ARM", arm)
        .replace("CLUSTER", cluster)
        .replace("MASK", mask);
    hopper(&body).input(bytes_of(0..32)).output(256).cluster(2)
}

#[test]
fn a_copy_may_be_for_several_blocks() {
    let arm = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;";
    let both: Vec<u32> = (0..32).chain(0..32).collect();
    assert_eq!(words(&multicast(arm, MEET, "3").clean(1)), both);
    // Only one block is meant: the other waits for ever.
    multicast(arm, MEET, "1").finds(Kind::Deadlock, "128 bytes");
    multicast(arm, MEET, "5").finds(Kind::OutsideCluster, "which has 2, found 0x5");
    // What follows from it is told behind it: the bytes do not come.
    let kinds = multicast(arm, MEET, "5").kinds();
    assert_eq!(kinds.first(), Some(&Kind::OutsideCluster));
    assert!(kinds.contains(&Kind::Deadlock), "{kinds:?}");
    let mut alone = multicast(arm, "bar.sync 0;", "3");
    alone.grid = 1;
    alone
        .cluster(1)
        .finds(Kind::OutsideCluster, "launch it with clusters");
    // The second block's object may not be there yet.
    let found = multicast(arm, "bar.sync 0;", "3").kinds();
    assert!(
        found.contains(&Kind::Undefined) || found.contains(&Kind::SharedRace),
        "{found:?}"
    );
    // It expects nothing.
    let half = "setp.ne.u32 %p3, %r1, 0; @%p3 bra READY; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;";
    assert!(multicast(half, MEET, "3").kinds().contains(&Kind::Deadlock));
}

#[test]
fn a_fence_for_objects_and_relaxed_arrivals_order_their_initialization() {
    let relaxed = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;";
    let arm = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s0], 128;";
    let both: Vec<u32> = (0..32).chain(0..32).collect();
    assert_eq!(words(&multicast(arm, relaxed, "3").clean(1)), both);
    // Without the fence, and with another one in its place, nothing is handed on.
    for fence in ["", "fence.proxy.async;"] {
        let mut run = multicast(arm, relaxed, "3");
        let init = "fence.mbarrier_init.release.cluster;";
        assert!(run.body.contains(init));
        run.body = run.body.replace(init, fence);
        let kinds = run.kinds();
        assert!(kinds.contains(&Kind::SharedRace), "{kinds:?}");
    }
    // Only what made an object is: not what else a thread wrote.
    let mut run = exchange(relaxed, MEET);
    run.body = run.body.replace(
        "mapa.shared::cluster.u64 %s3",
        "fence.mbarrier_init.release.cluster; mapa.shared::cluster.u64 %s3",
    );
    run.finds(Kind::SharedRace, "");
}

#[test]
fn arrivals_reach_other_blocks() {
    // The second block hands its number to the first, which waits at its own object.
    let body = |wait: &str| {
        format!(
            "mov.u32 %r1, %cluster_ctarank; setp.ne.u32 %p0, %r0, 0; @%p0 bra READY; mbarrier.init.shared::cta.b64 [%s0], 1;
            fence.mbarrier_init.release.cluster; READY: {MEET} @%p0 bra END; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;
            mapa.shared::cluster.u64 %s1, %s0, 0; st.shared::cluster.u32 [%s1+16], 77; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s1];
            bra END;
            WAIT: {wait}
            ld.shared.u32 %r2, [%s0+16]; st.global.u32 [%s90], %r2; END: {MEET} ret;"
        )
    };
    let wait =
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%s0], 0; @!%p1 bra WAIT;";
    let run = |body: &str| hopper(body).output(4).cluster(2);
    assert_eq!(words(&run(&body(wait)).clean(0)), [77]);
    assert!(
        run(&body(""))
            .kinds()
            .iter()
            .any(|kind| matches!(kind, Kind::SharedRace | Kind::UninitializedShared))
    );
    // Nobody waits at another block's object.
    let remote = body(wait).replace(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s1];",
        "cvta.shared.u64 %s2, %s1; mbarrier.test_wait.parity.b64 %p5, [%s2], 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s1];",
    );
    run(&remote).finds(Kind::Undefined, "expected an mbarrier of the own block");
}

#[test]
fn barriers_and_registers_are_a_blocks_own() {
    let body = "mov.u32 %r1, %cluster_ctarank; setp.eq.u32 %p0, %r1, 0; @%p0 bra END; bar.sync 0; setmaxnreg.dec.sync.aligned.u32 96; bar.sync 0;
        setmaxnreg.inc.sync.aligned.u32 104; END: ret;";
    assert_eq!(hopper(body).block(128).cluster(2).kinds(), []);
    let body = body.replace(
        "END: ret;",
        "ret; END: setmaxnreg.inc.sync.aligned.u32 256; ret;",
    );
    hopper(&body)
        .block(128)
        .cluster(2)
        .finds(Kind::Deadlock, "registers, of which 0 are free");
}
