//! Registers that warps hand over, named barriers, the cluster of one block, `mbarrier` objects.

use super::*;

#[test]
fn warps_take_registers_that_others_gave_up() {
    // 256 threads begin with 248 registers at most: the second warpgroup waits for those of the first.
    let body = |less: u32, more: u32| {
        format!(
            "setp.ge.u32 %p0, %r0, 128; @%p0 bra MORE; setmaxnreg.dec.sync.aligned.u32 {less}; ret;
            MORE: setmaxnreg.inc.sync.aligned.u32 {more}; ret;"
        )
    };
    let run = |threads, less, more| hopper(&body(less, more)).block(threads).kinds();
    assert_eq!(run(256, 240, 256), []);
    assert_eq!(run(256, 248, 256), [Kind::Deadlock]);
    assert_eq!(run(512, 40, 152), []);
    assert_eq!(run(512, 40, 168), [Kind::Deadlock]);
    let body = body(120, 200);
    hopper(&body.replace("%p0, %r0, 128", "%p0, %r0, 256"))
        .block(512)
        .finds(Kind::Deadlock, "registers, of which");
    let error = hopper("setmaxnreg.inc.sync.aligned.u32 20; ret;")
        .decoded()
        .unwrap_err();
    assert!(error.contains("a multiple of 8 from 24 to 256"), "{error}");
    // More than the launch gave is no decrease.
    hopper("setmaxnreg.dec.sync.aligned.u32 256; ret;")
        .block(128)
        .finds(Kind::Undefined, "below the 248");
    // One warp of four.
    hopper("setp.ge.u32 %p0, %r0, 32; @%p0 bra END; setmaxnreg.dec.sync.aligned.u32 64; END: ret;")
        .block(128)
        .finds(Kind::Undefined, "from all warps of a warpgroup");
}

#[test]
fn threads_of_a_cluster_of_one_meet() {
    let body = |arrive: &str, wait: &str| {
        format!(
            "mul.wide.u32 %s1, %r0, 4; add.s64 %s2, %s0, %s1; st.shared.u32 [%s2], %r0; {arrive} {wait}
            xor.b32 %r1, %r0, 63; mul.wide.u32 %s3, %r1, 4; add.s64 %s3, %s0, %s3; ld.shared.u32 %r2, [%s3]; add.s64 %s4, %s90, %s1;
            st.global.u32 [%s4], %r2; ret;"
        )
    };
    let run = |arrive: &str, wait: &str| hopper(&body(arrive, wait)).output(256).block(64);
    let arrive = "barrier.cluster.arrive.aligned;";
    let wait = "barrier.cluster.wait.aligned;";
    assert_eq!(
        words(&run(arrive, wait).clean(0)),
        (0..64).rev().collect::<Vec<_>>()
    );
    let again = format!("{arrive} {wait} {arrive}");
    assert_eq!(words(&run(&again, wait).clean(0))[0], 63);
    assert_eq!(
        run("barrier.cluster.arrive.relaxed;", wait).kinds(),
        [Kind::SharedRace]
    );
    run("", wait).finds(Kind::Undefined, "barrier.cluster.arrive before");
    run(&format!("{arrive} {arrive}"), wait)
        .finds(Kind::Undefined, "between two barrier.cluster.arrive");
    let split = "setp.ge.u32 %p0, %r0, 32; @%p0 bra LATE; barrier.cluster.arrive; barrier.cluster.wait; LATE: bar.sync 0;";
    run(split, "").finds(Kind::Deadlock, "32 of 64 arrived");
    // Threads that have ended are not waited for.
    let ended = "setp.ge.u32 %p0, %r0, 32; @%p0 bra END; barrier.cluster.arrive; barrier.cluster.wait; END: ret;";
    assert_eq!(hopper(ended).block(64).kinds(), []);
}

#[test]
fn the_cluster_of_one_has_one_rank() {
    let body = "mov.u32 %r1, %cluster_ctarank; mapa.shared::cluster.u64 %s1, %s0, %r1; mov.u32 %r2, %cluster_nctarank;
        st.shared.u32 [%s1], %r2; ld.shared.u32 %r3, [%s0]; setp.ne.u32 %p0, %r0, 0; @%p0 bra END; st.global.u32 [%s90], %r3; END: ret;";
    let run = |body: &str| hopper(body).output(4).block(1);
    assert_eq!(words(&run(body).clean(0)), [1]);
    run(&body.replace("%s0, %r1", "%s0, 1")).finds(Kind::OutsideCluster, "below 1, found 1");
    let text = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n";
    let mut session = Session::empty(Config::default()).unwrap();
    let module = session.add_module(text).unwrap();
    let facts = session.facts(module, "k").unwrap();
    assert_eq!(facts.cluster, Some([2, 1, 1]));
}

#[test]
fn grids_follow_each_other() {
    let body =
        "griddepcontrol.wait; griddepcontrol.launch_dependents; prefetch.tensormap [%s0]; ret;";
    assert_eq!(hopper(body).kinds(), []);
    assert!(
        hopper("griddepcontrol.stay;")
            .decoded()
            .unwrap_err()
            .contains("does not know")
    );
}

#[test]
fn one_lane_is_elected() {
    let body = "mov.u32 %r5, 0; elect.sync %r1|%p1, 0xffffffff; @!%p1 bra END; st.global.u32 [%s90], %r1; END: ret;";
    assert_eq!(words(&hopper(body).output(4).clean(0)), [0]);
}

const INIT: &str = "setp.ne.u32 %p0, %r0, 0; @%p0 bra READY; mbarrier.init.shared::cta.b64 [%s0], 2; READY: bar.sync 0; @%p0 bra END; BODY END: ret;";

fn object(body: &str) -> Hopper {
    hopper(&INIT.replace("BODY", body)).output(16)
}

#[test]
fn states_hold_pending_counts() {
    let run = object(
        "mbarrier.arrive.noComplete.release.cta.shared::cta.b64 %s1, [%s0], 1; mbarrier.pending_count.b64 %r1, %s1;
        mbarrier.arrive.release.cluster.shared::cta.b64 %s2, [%s0]; mbarrier.pending_count.b64 %r2, %s2;
        mbarrier.test_wait.acquire.cluster.shared::cta.b64 %p1, [%s0], %s1; selp.u32 %r3, 1, 0, %p1;
        mbarrier.arrive_drop.shared::cta.b64 _, [%s0]; mbarrier.arrive.shared::cluster.b64 _, [%s0];
        mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [%s0], 1, 1000; selp.u32 %r4, 1, 0, %p2;
        st.global.v4.u32 [%s90], {%r1, %r2, %r3, %r4};",
    );
    assert_eq!(words(&run.clean(0)), [2, 1, 1, 1]);
}

#[test]
fn misuse_of_objects_is_found() {
    let stored = "mov.u32 %r1, 0; st.global.v4.u32 [%s90], {%r1, %r1, %r1, %r1};";
    let run = |body: &str| object(&format!("{body} {stored}"));
    run("mbarrier.arrive.noComplete.shared::cta.b64 _, [%s0], 2;")
        .finds(Kind::Undefined, ".noComplete");
    run("mbarrier.init.shared::cta.b64 [%s0], 2;").finds(Kind::Undefined, "found a live one");
    assert_eq!(
        run("mbarrier.inval.shared::cta.b64 [%s0]; mbarrier.init.shared::cta.b64 [%s0], 2;")
            .kinds(),
        []
    );
    let round = "mbarrier.arrive.shared::cta.b64 _, [%s0], 2;";
    // A parity that has come round again.
    let late = format!(
        "{round} mbarrier.test_wait.parity.shared::cta.b64 %p1, [%s0], 0; {round} {round} mbarrier.test_wait.parity.shared::cta.b64 %p1, [%s0], 1;"
    );
    run(&late).finds(Kind::Undefined, "found one for a phase that ended earlier");
    let in_time = late.replacen(&format!("{round} {round}"), round, 1);
    assert_eq!(run(&in_time).kinds(), []);
    let state = "mbarrier.arrive.shared::cta.b64 %s1, [%s0], 2;";
    run(&format!(
        "{state} {round} mbarrier.test_wait.shared::cta.b64 %p1, [%s0], %s1;"
    ))
    .finds(Kind::Undefined, "a phase that ended earlier");
    let error = object("mbarrier.arrive.noComplete.shared::cta.b64 _, [%s0];")
        .decoded()
        .unwrap_err();
    assert!(error.contains("number of arrivals"), "{error}");
}

#[test]
fn deadlocks_say_who_waits_where() {
    let body = "setp.ge.u32 %p0, %r0, 32; @%p0 bra OTHER; bar.sync 1, 64; ret;
        OTHER: setp.ne.u32 %p1, %r0, 32; @%p1 bra WAIT; mbarrier.init.shared::cta.b64 [%s0], 1; WAIT: bar.warp.sync 0xffffffff;
        SPIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s0], 0; @!%p2 bra SPIN; ret;";
    let run = hopper(body).block(64);
    run.finds(Kind::Deadlock, "warps 1 wait at mbarrier.try_wait.parity");
    run.finds(Kind::Deadlock, "warps 0 wait at bar.sync");
}
