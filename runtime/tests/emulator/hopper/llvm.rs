//! Instructions as the NVPTX back end of LLVM 22 prints them.

use super::*;

/// The text that `llc -mcpu=sm_90a` makes of the intrinsics, one a line.
const PRINTED: &str = "
mov.b32 %r2, 1;
mov.b32 %r3, 64;
mov.b32 %r4, 0;
mov.b64 %s8, 1024;
mbarrier.init.shared.b64 [%s8], %r2;
fence.mbarrier_init.release.cluster;
fence.proxy.async;
fence.proxy.async.shared::cta;
fence.proxy.async.global;
prefetch.tensormap [%s80];
mbarrier.arrive.shared.b64 %s9, [%s8];
mbarrier.expect_tx.relaxed.cta.shared.b64 [%s8], %r1;
cvta.shared.u64 %s10, %s8;
cvta.to.shared::cluster.u64 %s11, %s10;
mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%s11], %r1;
mbarrier.complete_tx.relaxed.cta.shared.b64 [%s8], %r1;
mbarrier.arrive.shared.b64 %s12, [%s8], %r2;
mbarrier.arrive.release.cluster.shared.b64 %s13, [%s8], %r2;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s11], %r2;
mbarrier.arrive.expect_tx.shared.b64 %s14, [%s8], %r3;
mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%s11], %r3;
mbarrier.arrive.expect_tx.relaxed.cta.shared.b64 %s15, [%s8], %r3;
mbarrier.arrive_drop.shared.b64 %s16, [%s8], %r2;
mbarrier.try_wait.parity.shared.b64 %p2, [%s8], %r4;
mbarrier.try_wait.parity.shared.b64 %p3, [%s8], %r4, %r5;
mbarrier.test_wait.parity.shared.b64 %p4, [%s8], %r4;
mbarrier.test_wait.shared.b64 %p5, [%s8], %s12;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s11], [%s3], %r3, [%s8];
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%s11], [%s3], %r3, [%s8], %h3, %s18;
cp.async.bulk.global.shared::cta.bulk_group [%s4], [%s8], %r3;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
cp.async.bulk.wait_group.read 1;
cp.async.bulk.prefetch.L2.global [%s3], %r3;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s11], [%s5, {%r1, %r4}], [%s8];
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%s11], [%s5, {%r1, %r4}], [%s8], %h3, %s19;
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s8], [%s5, {%r1, %r4}], [%s8];
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%s5, {%r1, %r4}], [%s8];
cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%s5, {%r1}], [%s8];
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%s5, {%r1, %r4}], [%s8];
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%s5, {%r1, %r4}];
elect.sync %r6|%p6, -1;
setmaxnreg.inc.sync.aligned.u32 240;
setmaxnreg.dec.sync.aligned.u32 40;
barrier.cluster.arrive.aligned;
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.aligned;
griddepcontrol.wait;
griddepcontrol.launch_dependents;
mapa.shared::cluster.u64 %s20, %s8, 0;
st.shared::cluster.b32 [%s20], 1;
ld.shared::cluster.b32 %r7, [%s20];
wgmma.fence.sync.aligned;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 1, 128;
bar.arrive 2, 256;
cp.async.mbarrier.arrive.noinc.shared.b64 [%s8];
mov.u32 %r7, %cluster_ctarank;
mov.u32 %r8, %cluster_nctarank;
ret;";

#[test]
fn what_llvm_prints_is_read() {
    let run = hopper(PRINTED).input(vec![0; 64]);
    let kernel = run.decoded().unwrap();
    let lines = PRINTED.lines().filter(|line| !line.is_empty()).count();
    // And what the test's own text begins with.
    let before = hopper("ret;")
        .input(vec![0; 64])
        .decoded()
        .unwrap()
        .instructions;
    assert_eq!(kernel.instructions, before + lines - 1);
}

#[test]
fn a_map_that_was_copied_is_no_map() {
    // Without nvvm.grid_constant LLVM copies a parameter that is passed by value into local memory.
    let body = ".local .align 64 .b8 copy[128]; setp.ne.u32 %p0, %r0, 0; mov.b64 %s5, copy; cvta.local.u64 %s5, %s5; @%p0 bra END;
        cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%s5, {%r0}], [%s0]; END: ret;";
    hopper(body).finds(Kind::Undefined, "an address of shared or local memory");
}
