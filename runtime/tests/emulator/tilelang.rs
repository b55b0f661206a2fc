//! Races and missing waits that were reported of code that TileLang generated: kernels of the same shape, written for this. Each is found
//! as it was reported, and is clean once mended. Numbers are those of issues and pull requests of github.com/tile-ai/tilelang.

use super::hopper::{Hopper, bytes_of, hopper, words};
use cute_runtime::emulator::Kind;

/// The addresses of a thread's word: `%s1` in shared memory, `%s3` in the last tensor.
fn threads(count: u32, body: &str) -> String {
    format!(
        "mul.wide.u32 %s2, %r0, 4; add.s64 %s1, %s0, %s2; add.s64 %s3, %s9{count}, %s2;\n{body}"
    )
}

/// Asserts that a kernel is clean with what was missing, and that without it something of that kind is found; gives its results.
fn reported(kernel: impl Fn(&str) -> Hopper, missing: &str, instead: &str, kind: Kind) -> Vec<u32> {
    let broken = kernel(instead);
    assert!(broken.kinds().contains(&kind), "{:#?}", broken.found());
    let last = kernel(missing).tensors() - 1;
    words(&kernel(missing).clean(last))
}

/// 1257: no barrier between `atomicAdd` to shared memory and a read of a neighbour's sum.
#[test]
fn a_sum_is_read_behind_a_barrier() {
    let kernel = |barrier: &str| {
        let body = format!(
            "xor.b32 %r1, %r0, 1; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; st.shared.u32 [%s4], 0; bar.sync 0;\n\
             atom.shared.add.u32 %r2, [%s1], 1; {barrier} ld.shared.u32 %r3, [%s4]; st.global.u32 [%s3], %r3; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let sums = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    assert_eq!(sums, [1; 64]);
}

/// 1604: a barrier of the warp that writes alone, where all warps read.
#[test]
fn a_barrier_is_of_those_who_read_as_well() {
    let kernel = |barrier: &str| {
        let body = format!(
            "setp.ge.u32 %p1, %r0, 32; @%p1 bra ALL; st.shared.u32 [%s1], %r0; bar.sync 1, 32; ALL: {barrier}\n\
             and.b32 %r1, %r0, 31; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r2, [%s4]; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(2048).block(512)
    };
    let read = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    assert_eq!(read, (0..512).map(|t| t % 32).collect::<Vec<u32>>());
}

/// 2556: no barrier for 48 threads, as they are no whole warps.
#[test]
fn a_part_of_a_warp_needs_the_barrier_too() {
    let kernel = |between: &str| {
        let body = format!(
            "setp.ge.u32 %p1, %r0, 48; @!%p1 st.shared.u32 [%s1], %r0; {between} @%p1 bra END;\n\
             sub.u32 %r1, 47, %r0; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r2, [%s4]; st.global.u32 [%s3], %r2; END: ret;"
        );
        hopper(&threads(0, &body)).output(192).block(64)
    };
    let read = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    assert_eq!(read, (0..48).rev().collect::<Vec<u32>>());
}

/// 2612: the barrier of a loop under a condition on the thread is moved before the condition.
#[test]
fn a_barrier_of_a_loop_is_not_moved_out_of_it() {
    let kernel = |inside: &str| {
        let body = format!(
            "and.b32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0; add.u32 %r2, %r0, 4; and.b32 %r2, %r2, 63; mul.wide.u32 %s4, %r2, 4; add.s64 %s4, %s0, %s4;\n\
             mov.u32 %r3, %r0; mov.u32 %r4, 0; bar.sync 0;\n\
             TURN: @%p1 st.shared.u32 [%s1], %r3; {inside} @%p1 ld.shared.u32 %r3, [%s4]; {inside}\n\
             add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 3; @%p2 bra TURN; st.global.u32 [%s3], %r3; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let turned = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    let expected = (0..64).map(|t| if t % 4 == 0 { (t + 12) % 64 } else { t });
    assert_eq!(turned, expected.collect::<Vec<u32>>());
}

/// 3042 (mended by 3085): a barrier of the other side of a branch is moved before the branch, where it orders nothing of that side.
#[test]
fn a_barrier_of_one_side_is_not_moved_before_the_branch() {
    let kernel = |between: &str| {
        let body = format!(
            "setp.eq.u32 %p1, %r0, 0; setp.gt.or.u32 %p1, %r0, 32, %p1; mov.u32 %r2, 0; bar.sync 0;\n\
             @!%p1 st.shared.u32 [%s1], %r0; {between} @%p1 bra JOIN;\n\
             sub.u32 %r1, 33, %r0; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r2, [%s4];\n\
             JOIN: st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(512).block(128)
    };
    let read = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    let expected = (0..128).map(|t| if (1..=32).contains(&t) { 33 - t } else { 0 });
    assert_eq!(read, expected.collect::<Vec<u32>>());
}

/// 2698: no barrier between a copy into shared memory and a fill of a part that begins elsewhere than at its start.
#[test]
fn a_fill_comes_after_the_copy() {
    let kernel = |barrier: &str| {
        let body = format!(
            "add.s64 %s4, %s90, %s2; ld.global.u32 %r1, [%s4]; st.shared.u32 [%s1], %r1; {barrier}\n\
             setp.lt.u32 %p1, %r0, 6; @%p1 st.shared.u32 [%s1+40], 0; bar.sync 0;\n\
             ld.shared.u32 %r2, [%s1]; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(1, &body))
            .input(bytes_of(1..65))
            .output(256)
            .block(64)
    };
    let filled = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    let expected = (0..64).map(|t| if (10..16).contains(&t) { 0 } else { t + 1 });
    assert_eq!(filled, expected.collect::<Vec<u32>>());
}

/// 2699: memory that others still read is cleared by `st.bulk`, as another buffer has been put there.
#[test]
fn a_buffer_is_cleared_after_its_last_read() {
    let kernel = |barrier: &str| {
        let body = format!(
            "st.shared.u32 [%s1], %r0; bar.sync 0; xor.b32 %r1, %r0, 63; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4;\n\
             ld.shared.u32 %r2, [%s4]; {barrier} setp.eq.u32 %p1, %r0, 0; @%p1 st.bulk.weak.shared::cta [%s0], 256, 0; bar.sync 0;\n\
             ld.shared.u32 %r3, [%s1]; add.u32 %r2, %r2, %r3; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let read = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    assert_eq!(read, (0..64).rev().collect::<Vec<u32>>());
}

/// 2703: a buffer is filled while another thread clears it by `st.bulk`.
#[test]
fn a_buffer_is_filled_after_it_is_cleared() {
    let kernel = |barrier: &str| {
        let body = format!(
            "setp.eq.u32 %p1, %r0, 0; @%p1 st.bulk.weak.shared::cta [%s0], 256, 0; {barrier}\n\
             setp.lt.u32 %p2, %r0, 40; @%p2 st.shared.u32 [%s1], 7; bar.sync 0;\n\
             xor.b32 %r1, %r0, 63; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r2, [%s4]; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let read = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    let expected = (0..64).map(|t| if t >= 24 { 7 } else { 0 });
    assert_eq!(read, expected.collect::<Vec<u32>>());
}

/// 2416: with barriers left to the program, a buffer is put where another one is still read.
#[test]
fn memory_that_is_used_again_needs_a_barrier() {
    let kernel = |barrier: &str| {
        let body = format!(
            "st.shared.u32 [%s1], %r0; bar.sync 0; xor.b32 %r1, %r0, 63; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4;\n\
             ld.shared.u32 %r2, [%s4]; {barrier} mul.lo.u32 %r3, %r0, 100; st.shared.u32 [%s1], %r3; bar.sync 0;\n\
             ld.shared.u32 %r3, [%s4]; add.u32 %r2, %r2, %r3; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let sums = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    assert_eq!(sums, (0..64).rev().map(|t| 101 * t).collect::<Vec<u32>>());
}

/// 1026: a barrier within a branch that half of a warp takes.
#[test]
fn a_barrier_is_not_for_half_of_a_warp() {
    let kernel = |place: &str| {
        let (before, inside) = if place == "before" {
            ("bar.sync 0;", "")
        } else {
            ("", "bar.sync 0;")
        };
        let body = format!(
            "st.shared.u32 [%s1], %r0; and.b32 %r1, %r0, 1; setp.ne.u32 %p1, %r1, 0; {before} @%p1 bra END;\n\
             {inside} ld.shared.u32 %r2, [%s1+4]; st.shared.u32 [%s1], %r2; END: bar.sync 0;\n\
             ld.shared.u32 %r2, [%s1]; st.global.u32 [%s3], %r2; ret;"
        );
        hopper(&threads(0, &body)).output(128).block(32)
    };
    let read = reported(kernel, "before", "inside", Kind::BarrierDivergence);
    assert_eq!(read, (0..32).map(|t| t | 1).collect::<Vec<u32>>());
}

/// 2524: workspaces of a reduction of two batches lie as close as if half of the threads took part in each.
#[test]
fn workspaces_of_batches_lie_apart() {
    let kernel = |distance: &str| {
        let body = format!(
            "add.u32 %r1, %r0, 100; st.shared.u32 [%s1], %r0; st.shared.u32 [%s1+{distance}], %r1; bar.sync 0;\n\
             xor.b32 %r2, %r0, 1; mul.wide.u32 %s4, %r2, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r3, [%s4]; ld.shared.u32 %r4, [%s4+{distance}];\n\
             add.u32 %r3, %r3, %r4; st.global.u32 [%s3], %r3; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let sums = reported(kernel, "256", "128", Kind::SharedRace);
    let expected = (0..64u32).map(|t| 2 * (t ^ 1) + 100);
    assert_eq!(sums, expected.collect::<Vec<u32>>());
}

/// 2777: a barrier of a reduction counts all threads of the block, where half of them take part.
#[test]
fn a_barrier_counts_those_who_take_part() {
    let kernel = |threads_of_barrier: &str| {
        let body = format!(
            "setp.ge.u32 %p1, %r0, 64; @%p1 bra END; st.shared.u32 [%s1], %r0; bar.sync 1, {threads_of_barrier};\n\
             xor.b32 %r1, %r0, 63; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; ld.shared.u32 %r2, [%s4]; st.global.u32 [%s3], %r2; END: ret;"
        );
        hopper(&threads(0, &body)).output(256).block(128)
    };
    let read = reported(kernel, "64", "128", Kind::Deadlock);
    assert_eq!(read, (0..64).rev().collect::<Vec<u32>>());
}

/// 2668: the copy that overwrites a buffer at the end of a turn is issued before the turn reads it, and is not waited for.
#[test]
fn a_copy_comes_after_the_reads_of_its_turn() {
    let kernel = |order: &str| {
        let copy = "add.s64 %s5, %s5, 256; cp.async.ca.shared.global [%s1], [%s5], 4; cp.async.commit_group;";
        let read = "ld.shared.u32 %r3, [%s4]; add.u32 %r4, %r4, %r3;";
        let turn = match order {
            "copy first" => format!("{copy} {read} bar.sync 0;"),
            _ => format!("{read} bar.sync 0; {copy} cp.async.wait_group 0; bar.sync 0;"),
        };
        let body = format!(
            "xor.b32 %r1, %r0, 63; mul.wide.u32 %s4, %r1, 4; add.s64 %s4, %s0, %s4; add.s64 %s5, %s90, %s2; mov.u32 %r2, 0; mov.u32 %r4, 0;\n\
             cp.async.ca.shared.global [%s1], [%s5], 4; cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n\
             TURN: {turn} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3; @%p1 bra TURN; cp.async.wait_all; st.global.u32 [%s3], %r4; ret;"
        );
        hopper(&threads(1, &body))
            .input(bytes_of(0..256))
            .output(256)
            .block(64)
    };
    let sums = reported(kernel, "read first", "copy first", Kind::MissingWait);
    assert_eq!(
        sums,
        (0..64).rev().map(|t| 3 * t + 192).collect::<Vec<u32>>()
    );
}

/// 1405 of github.com/tile-ai/TileOPs: a tile is staged in the order of accumulators and read in that of rows, with no barrier of those who
/// do both.
#[test]
fn a_staged_tile_is_read_behind_a_barrier() {
    let kernel = |barrier: &str| {
        let body = format!(
            "mul.wide.u32 %s4, %r0, 8; add.s64 %s4, %s0, %s4; mul.lo.u32 %r1, %r0, 2; add.u32 %r2, %r1, 1;\n\
             st.shared.v2.u32 [%s4], {{%r1, %r2}}; {barrier} ld.shared.u32 %r3, [%s1]; ld.shared.u32 %r4, [%s1+256];\n\
             add.u32 %r3, %r3, %r4; st.global.u32 [%s3], %r3; ret;"
        );
        hopper(&threads(0, &body)).output(256).block(64)
    };
    let sums = reported(kernel, "bar.sync 3, 64;", "", Kind::SharedRace);
    assert_eq!(sums, (0..64).map(|t| 2 * t + 64).collect::<Vec<u32>>());
}

/// An accumulator of 64 by 8 by 16, whose operands are at `%s20` and `%s21`; those of the layout without a swizzle that has them row by
/// row of core matrices.
const PRODUCT: &str = "wgmma.fence.sync.aligned;\n\
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %s20, %s21, %p5, 1, 1, 0, 0;\n\
    wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";

/// Stores that accumulator.
const ACCUMULATOR: &str = "mul.wide.u32 %s5, %r0, 16; add.s64 %s5, %s90, %s5; st.global.v4.f32 [%s5], {%f0, %f1, %f2, %f3}; ret;";

/// The descriptor of an operand at a byte of shared memory.
fn descriptor(register: &str, byte: u32) -> String {
    format!(
        "add.s64 {register}, %s0, {byte}; shr.u64 {register}, {register}, 4; mov.b64 %s24, {}; or.b64 {register}, {register}, %s24;",
        (128u64 >> 4) << 16 | (256u64 >> 4) << 32
    )
}

/// 2634: no fence between writes of shared memory and a product that reads them. There it is a sparse one, whose operands need the fence
/// as those of a dense one do.
#[test]
fn operands_are_fenced() {
    let kernel = |fence: &str| {
        let body = format!(
            "mov.u32 %r1, 0x3c003c00; mul.wide.u32 %s4, %r0, 16; add.s64 %s4, %s0, %s4; st.shared.v4.u32 [%s4], {{%r1, %r1, %r1, %r1}};\n\
             setp.lt.u32 %p1, %r0, 16; @%p1 st.shared.v4.u32 [%s4+2048], {{%r1, %r1, %r1, %r1}}; {fence} bar.sync 0;\n\
             {} {} setp.ne.u32 %p5, %r0, %r0; {PRODUCT} {ACCUMULATOR}",
            descriptor("%s20", 0),
            descriptor("%s21", 2048),
        );
        hopper(&body).output(2048).block(128)
    };
    let sums = reported(
        kernel,
        "fence.proxy.async.shared::cta;",
        "",
        Kind::MissingFence,
    );
    assert_eq!(sums, [16f32.to_bits(); 512]);
}

/// 2613: two warpgroups read one operand, each waits for its own products, and the next turn writes the operand without a barrier.
#[test]
fn an_operand_of_two_warpgroups_is_written_behind_a_barrier() {
    let kernel = |barrier: &str| {
        let body = format!(
            "mov.u32 %r2, 0; mul.wide.u32 %s4, %r0, 8; add.s64 %s4, %s0, %s4; mul.wide.u32 %s5, %r0, 4; add.s64 %s5, %s0, %s5;\n\
             setp.lt.u32 %p1, %r0, 128; selp.u32 %r3, 2048, 2304, %p1; cvt.u64.u32 %s6, %r3;\n\
             {} add.s64 %s21, %s0, %s6; shr.u64 %s21, %s21, 4; or.b64 %s21, %s21, %s24;\n\
             shr.u32 %r4, %r0, 7; shl.b32 %r5, %r4, 8; and.b32 %r6, %r0, 127; shl.b32 %r6, %r6, 2; add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, 2048;\n\
             cvt.u64.u32 %s7, %r5; add.s64 %s7, %s0, %s7; setp.lt.u32 %p2, %r6, 256;\n\
             TURN: shl.b32 %r1, %r2, 10; add.u32 %r1, %r1, 0x3c00; shl.b32 %r7, %r1, 16; or.b32 %r1, %r1, %r7;\n\
             st.shared.v2.u32 [%s4], {{%r1, %r1}}; @%p2 st.shared.u32 [%s7], 0x3c003c00; fence.proxy.async.shared::cta; bar.sync 0;\n\
             setp.ne.u32 %p5, %r2, 0; @!%p1 bra SECOND; {PRODUCT} bra DONE; SECOND: {PRODUCT} DONE: {barrier}\n\
             add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 2; @%p3 bra TURN; {ACCUMULATOR}",
            descriptor("%s20", 0),
        );
        hopper(&body).output(4096).block(256)
    };
    let sums = reported(kernel, "bar.sync 0;", "", Kind::SharedRace);
    // 16 products of ones, and 16 of a two and a one.
    assert_eq!(sums, [48f32.to_bits(); 1024]);
}

/// 3087: a wait at an object that ends a phase in each turn asks for the parity of a ring of two.
#[test]
fn a_wait_asks_for_the_phase_of_its_turn() {
    let kernel = |parity: &str| {
        let body = format!(
            "mul.wide.u32 %s2, %r0, 4; setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%s0], 32; @%p0 mbarrier.init.shared::cta.b64 [%s0+8], 32;\n\
             bar.sync 0; mov.u32 %r2, 0; mov.u32 %r5, 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra READER; add.s64 %s1, %s0, %s2;\n\
             WRITE: add.u32 %r3, %r2, %r0; st.shared.u32 [%s1+128], %r3; mbarrier.arrive.shared::cta.b64 _, [%s0]; {parity}\n\
             DONE: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s0+8], %r4; @!%p2 bra DONE;\n\
             add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 4; @%p3 bra WRITE; ret;\n\
             READER: sub.u32 %r6, 63, %r0; mul.wide.u32 %s4, %r6, 4; add.s64 %s4, %s0, %s4;\n\
             READ: and.b32 %r4, %r2, 1; FULL: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s0], %r4; @!%p2 bra FULL;\n\
             ld.shared.u32 %r3, [%s4+128]; add.u32 %r5, %r5, %r3; mbarrier.arrive.shared::cta.b64 _, [%s0+8];\n\
             add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 4; @%p3 bra READ; add.s64 %s3, %s90, %s2; st.global.u32 [%s3-128], %r5; ret;"
        );
        hopper(&body).output(128).block(64)
    };
    let each = "and.b32 %r4, %r2, 1;";
    let ring = "shr.u32 %r4, %r2, 1; and.b32 %r4, %r4, 1;";
    let sums = reported(kernel, each, ring, Kind::SharedRace);
    assert_eq!(sums, (0..32).rev().map(|t| 6 + 4 * t).collect::<Vec<u32>>());
}

/// The bulk load of 128 bytes, of which the turn decides which, to byte 128 or 256 of shared memory; thread 0 issues it.
fn load(object: &str, to: &str) -> String {
    format!(
        "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [{object}], 128;\n\
         @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [%s6], 128, [{object}];"
    )
}

/// 2927: each turn has an object of its own, whose first phase it waits for by the parity of the turn.
#[test]
fn an_object_of_one_turn_is_in_its_first_phase() {
    let kernel = |parity: &str| {
        let body = format!(
            "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%s0], 1; @%p0 mbarrier.init.shared::cta.b64 [%s0+8], 1;\n\
             fence.mbarrier_init.release.cluster; bar.sync 0; mov.u32 %r2, 0; mov.u32 %r5, 0; mov.b64 %s6, %s90; mov.b64 %s7, %s0; add.s64 %s8, %s0, 128;\n\
             TURN: {} {parity} WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s7], %r4; @!%p2 bra WAIT;\n\
             mul.wide.u32 %s4, %r0, 4; add.s64 %s4, %s8, %s4; ld.shared.u32 %r3, [%s4]; add.u32 %r5, %r5, %r3;\n\
             add.s64 %s6, %s6, 128; add.s64 %s7, %s7, 8; add.s64 %s8, %s8, 128; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 2; @%p3 bra TURN;\n\
             {}",
            load("%s7", "%s8"),
            "mul.wide.u32 %s2, %r0, 4; add.s64 %s3, %s91, %s2; st.global.u32 [%s3], %r5; ret;",
        );
        hopper(&body).input(bytes_of(0..64)).output(128)
    };
    let sums = reported(
        kernel,
        "mov.u32 %r4, 0;",
        "and.b32 %r4, %r2, 1;",
        Kind::MissingWait,
    );
    assert_eq!(sums, (0..32).map(|t| 2 * t + 32).collect::<Vec<u32>>());
}

/// 2674: the tiles of a block that stays begin with the first parity each, though an odd number of phases has ended.
#[test]
fn phases_go_on_from_tile_to_tile() {
    let kernel = |parity: &str| {
        let body = format!(
            "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared::cta.b64 [%s0], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n\
             mov.u32 %r2, 0; mov.u32 %r5, 0; mov.b64 %s6, %s90; add.s64 %s8, %s0, 128; mul.wide.u32 %s2, %r0, 4; add.s64 %s4, %s8, %s2;\n\
             TILE: {} {parity} WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%s0], %r4; @!%p2 bra WAIT;\n\
             ld.shared.u32 %r3, [%s4]; add.u32 %r5, %r5, %r3; fence.proxy.async.shared::cta; bar.sync 0;\n\
             add.s64 %s6, %s6, 128; add.u32 %r2, %r2, 1; setp.lt.u32 %p3, %r2, 3; @%p3 bra TILE;\n\
             add.s64 %s3, %s91, %s2; st.global.u32 [%s3], %r5; ret;",
            load("%s0", "%s8"),
        );
        hopper(&body).input(bytes_of(0..96)).output(128)
    };
    let sums = reported(
        kernel,
        "and.b32 %r4, %r2, 1;",
        "mov.u32 %r4, 0;",
        Kind::MissingWait,
    );
    assert_eq!(sums, (0..32).map(|t| 3 * t + 96).collect::<Vec<u32>>());
}
