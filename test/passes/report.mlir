// What copies and partitions cost, told from the layouts alone. The IR stays as it is.
//
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-report{arch=sm_90})' -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s --cute-report 2>/dev/null | FileCheck %s --check-prefix=SAME
// RUN: cute-opt %s --cute-report=json=%t.json -o /dev/null && FileCheck %s --check-prefix=JSON < %t.json

!g = !cute.memref<f16, gmem, align<16>, "(32,64):(256,1)">
!s = !cute.memref<f16, smem, align<16>, "(32,64):(64,1)">
!async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!lines = !cute.tiled_copy<!async, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
!halves = !cute.tiled_copy<!async, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>

// What a product takes.
gpu.module @products {
  gpu.func @product() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %mma = cute.static : !mma
    %part_A = cute.static shape "((2,2,2),2,2)"
    %part_B = cute.static shape "((2,2),2,2)"
    %part_C = cute.static shape "((2,2),2,2)"
    %a = cute.mma.make_fragment A (%mma, %part_A)
    %b = cute.mma.make_fragment B (%mma, %part_B)
    %c = cute.mma.make_fragment C (%mma, %part_C)
    cute.clear(%a)
    cute.clear(%b)
    cute.clear(%c)
    // CHECK: remark: 8 products of 16x8x16 by 32 threads, A in 16 registers, B in 8 registers, C in 16 registers a thread
    cute.gemm(%mma, %c, %a, %b, %c)
    %one = cute.static coord "(_,0,0)"
    %a1 = cute.slice(%a, %one)
    %b1 = cute.slice(%b, %one)
    %c1 = cute.slice(%c, %one)
    // CHECK: remark: 1 product of 16x8x16 by 32 threads, A in 4 registers, B in 2 registers, C in 4 registers a thread
    cute.gemm(%mma, %c1, %a1, %b1, %c1)
    gpu.return
  }
}

// SAME: gpu.func @copies
// SAME: cute.copy
gpu.module @kernels {
  // CHECK: remark: kernel copies: 128 threads, an estimated 0 of 255 registers a thread for live fragments, 4096 of 232448 bytes of shared memory a block (sm_90), 16 blocks a multiprocessor by shared memory and threads
  gpu.func @copies(%A: !g) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %thread = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %s = cute.memref.alloca() : !s
    %atom = cute.make_atom() : () -> !async
    // CHECK: remark: 128 threads, 8 values each, of a tile (16,64)
    %lines = cute.make_tiled_copy(%atom) : !lines
    // CHECK: remark: 128 threads, 16 values each as ((8,1),2,1), of (32,64)
    %a = cute.tiled.copy.partition_S(%lines, %A, %thread) : (!lines, !g, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),4096,64)">
    %b = cute.tiled.copy.partition_D(%lines, %s, %thread) : (!lines, !s, !cute.coord<"?">) -> !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),1024,64)">
    // CHECK: remark: cp.async: 16 bytes a thread, 2 instructions a thread
    // CHECK: remark: cp.async: a warp touches 16 sectors, ideal 16, and 4 lines, ideal 4
    // CHECK: remark: cp.async: 4 wavefronts a warp access, ideal 4
    cute.copy(%lines, %a, %b) : (!lines, !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),4096,64)">, !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),1024,64)">)
    // Four threads a row.
    %halves = cute.make_tiled_copy(%atom) : !halves
    %c = cute.tiled.copy.partition_S(%halves, %A, %thread) : (!halves, !g, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),1,2):((1,8),8192,32)">
    %d = cute.tiled.copy.partition_D(%halves, %s, %thread) : (!halves, !s, !cute.coord<"?">) -> !cute.memref<f16, smem, align<16>, "((8,1),1,2):((1,8),2048,32)">
    // CHECK: remark: cp.async: a warp touches 16 sectors, ideal 16, and 8 lines, ideal 4: each 4 threads read 64 bytes, half a line; use threads (16,8):(8,1) with values (1,8)
    // CHECK: remark: cp.async: 8 wavefronts a warp access, ideal 4
    cute.copy(%halves, %c, %d) : (!halves, !cute.memref<f16, gmem, align<16>, "((8,1),1,2):((1,8),8192,32)">, !cute.memref<f16, smem, align<16>, "((8,1),1,2):((1,8),2048,32)">)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.return
  }
}

// The table comes last.
// CHECK:      {{^}}kernel copies: 128 threads
// CHECK:      place{{ +}}access{{ +}}bytes{{ +}}instr.{{ +}}sectors{{ +}}ideal{{ +}}lines{{ +}}ideal{{ +}}passes/ideal
// CHECK-NEXT: cp.async{{ +}}16{{ +}}2{{ +}}16{{ +}}16{{ +}}4{{ +}}4{{ +}}4/4
// CHECK-NEXT: cp.async{{ +}}16{{ +}}2{{ +}}16{{ +}}16{{ +}}8{{ +}}4{{ +}}8/4

// JSON: "kind":"async_copy"
