//! The reports of runs, against counts made by hand.

use super::kernel;
use cute_runtime::emulator::{Counts, Passes, Traffic};
use cute_runtime::ptx::Class;

fn counts(warps: u64, threads: u64) -> Counts {
    Counts {
        warps,
        threads,
        ..Counts::default()
    }
}

fn shared(warps: u64, threads: u64, [actual, banks, ideal]: [u64; 3]) -> Counts {
    Counts {
        shared: Passes {
            actual,
            banks,
            ideal,
        },
        ..counts(warps, threads)
    }
}

fn global(warps: u64, threads: u64, [requests, sectors, ideal]: [u64; 3]) -> Counts {
    Counts {
        global: Traffic {
            requests,
            sectors,
            ideal,
        },
        ..counts(warps, threads)
    }
}

/// Two warps. Each thread has 128 bytes of shared memory, so that all of a warp conflict; of the stores, the second warp
/// has no part. Tensors begin 16 bytes behind a multiple of 32.
const BODY: &str = "
    mov.u32 %r0, %tid.x; mul.wide.u32 %s0, %r0, 4; add.s64 %s1, %s90, %s0;
    ld.global.u32 %r1, [%s1];
    shl.b32 %r2, %r0, 7; mov.u32 %r3, smem; add.u32 %r3, %r3, %r2;
    st.shared.u32 [%r3], %r1;
    bar.sync 0;
    ld.shared.u32 %r4, [%r3];
    add.s64 %s2, %s91, %s0; setp.lt.u32 %p0, %r0, 16;
    @%p0 st.global.u32 [%s2], %r4;
    ret;";

#[test]
fn instructions_and_memory_by_kind() {
    let run = kernel(BODY)
        .input(0..64)
        .output(16)
        .block(64)
        .smem(8192)
        .run();
    assert_eq!(run.clean(1), (0..16).collect::<Vec<_>>());
    let launch = &run.report.launches[0];
    let expected = [
        (Class::GlobalLoad, global(2, 64, [2, 8, 8])),
        (Class::GlobalStore, global(2, 16, [1, 2, 2])),
        (Class::SharedLoad, shared(2, 64, [64, 64, 2])),
        (Class::SharedStore, shared(2, 64, [64, 64, 2])),
        (Class::Sync, counts(2, 64)),
        (Class::Integer, counts(12, 384)),
        (Class::Control, counts(2, 64)),
        // Two moves and two parameters.
        (Class::Other, counts(8, 256)),
    ];
    assert_eq!(launch.instructions, expected.into());
    assert_eq!(
        (launch.warp_instructions, launch.thread_instructions),
        (32, 976)
    );
    assert_eq!(
        (launch.multiply_adds, launch.lines.len(), launch.steps.len()),
        (0, 4, 4)
    );
    let conflicts = launch.instructions[&Class::SharedLoad].shared.conflicts();
    assert_eq!(conflicts, 62);
    // 9 KB with the system's, of 164 KB.
    let occupancy = &launch.occupancy;
    assert_eq!(
        (occupancy.arch.as_str(), occupancy.registers),
        ("sm_80", None)
    );
    assert_eq!(
        (occupancy.blocks, occupancy.warps, occupancy.most_warps),
        (18, 36, 64)
    );
    assert_eq!(occupancy.limited_by, ["shared memory"]);
    assert_eq!(occupancy.percent, 56.25);
    let json = serde_json::to_value(&run.report).unwrap();
    let loads = &json["launches"][0]["instructions"]["shared_load"];
    assert_eq!(loads["shared"]["actual"], 64);
    assert_eq!(json["launches"][0]["occupancy"]["percent"], 56.25);
    assert_eq!(json["launches"][0]["lines"][0]["ptx_line"], 10);
    assert_eq!(json["launches"][0]["steps"][0]["class"], "global_load");
}

#[test]
fn lines_of_a_step_are_one_row() {
    let run = kernel(
        "mov.u32 %r0, %tid.x; shl.b32 %r2, %r0, 3; mov.u32 %r3, smem; add.u32 %r3, %r3, %r2;
         .loc 1 5 3, function_name $S0, inlined_at 1 5 3
         st.shared.u32 [%r3], %r0;
         .loc 1 5 3, function_name $S1, inlined_at 1 5 3
         ld.shared.u32 %r4, [%r3];
         .loc 1 5 3, function_name $S0, inlined_at 1 5 3
         st.shared.u32 [%r3 + 4], %r0;
         ld.shared.v2.u32 {%r4, %r5}, [%r3];
         ret;\n}\n.file 1 \"g.mlir\"\n.section .debug_str\n{\n$S0:\n.b8 99,0\n$S1:\n.b8 100,0\n",
    )
    .smem(256)
    .run();
    assert_eq!(run.report.findings, []);
    let steps = run.report.launches[0].steps.iter();
    let steps: Vec<_> = steps
        .map(|step| {
            let source = step.source.as_ref().unwrap().to_string();
            (source, step.class, step.ptx_lines.clone(), step.counts)
        })
        .collect();
    let (c, d) = ("g.mlir:5:3 (c)".to_string(), "g.mlir:5:3 (d)".to_string());
    assert_eq!(
        steps,
        [
            // Every second bank.
            (
                c.clone(),
                Class::SharedStore,
                vec![10, 14],
                shared(2, 64, [4, 4, 2])
            ),
            (d, Class::SharedLoad, vec![12], shared(1, 32, [2, 2, 1])),
            (c, Class::SharedLoad, vec![15], shared(1, 32, [2, 2, 2])),
        ]
    );
    assert_eq!(run.report.launches[0].lines.len(), 4);
}

#[test]
fn copies_wait_for_their_sources_too() {
    // Rows of 64 bytes, 256 bytes apart; lanes of odd rows read nothing the second time.
    let run = kernel(
        "mov.u32 %r0, %tid.x; shl.b32 %r2, %r0, 4; mov.u32 %r3, smem; add.u32 %r3, %r3, %r2;
         shr.u32 %r4, %r0, 2; mul.wide.u32 %s0, %r4, 256; and.b32 %r5, %r2, 48; cvt.u64.u32 %s1, %r5;
         add.s64 %s2, %s90, %s0; add.s64 %s2, %s2, %s1; and.b32 %r6, %r4, 1; setp.eq.u32 %p0, %r6, 1;
         cp.async.cg.shared.global [%r3], [%s2], 16;
         cp.async.cg.shared.global [%r3 + 512], [%s2], 16, %p0;
         cp.async.wait_all;
         ret;",
    )
    .input(0..512)
    .smem(1024)
    .run();
    assert_eq!(run.report.findings, []);
    let lines: Vec<_> = run.report.launches[0]
        .lines
        .iter()
        .map(|line| (line.counts.shared, line.counts.global))
        .collect();
    let passes = |actual| Passes {
        actual,
        banks: 4,
        ideal: 4,
    };
    let traffic = |sectors| Traffic {
        requests: 1,
        sectors,
        ideal: sectors,
    };
    assert_eq!(lines, [(passes(8), traffic(16)), (passes(4), traffic(8))]);
}

#[test]
fn products_of_matrices_are_counted_with_their_size() {
    let run = kernel(
        "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.f32 %f0, 0f00000000;
         mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r0, %r1}, {%r2}, {%f0, %f0, %f0, %f0};
         ret;",
    )
    .block(64)
    .run();
    assert_eq!(run.report.findings, []);
    let launch = &run.report.launches[0];
    assert_eq!(launch.instructions[&Class::Mma], counts(2, 64));
    assert_eq!(launch.multiply_adds, 2 * 16 * 8 * 8);
}
