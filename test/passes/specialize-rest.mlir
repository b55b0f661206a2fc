// Loads whose atom may leave rows of the tile out: the barrier expects fewer bytes, and the rows that may be missing are cleared once.
//
// RUN: cute-opt %s --cute-specialize-warps --split-input-file | FileCheck %s

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

// The rows of the rest are computed where all threads see them; a branch skips the clearing where the rest is whole.

// CHECK-LABEL: gpu.func @rest
// CHECK-SAME: %[[LENGTH:[a-z0-9]*]]: i32, %[[MISSING:[a-z0-9]*]]: i32, %[[TURNS:[a-z0-9]*]]: i32,
// CHECK: %[[RING:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
// CHECK: %[[OTHER:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
// CHECK: %[[FULL:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, "2:1">
// CHECK: cute_nvgpu.mbarrier_init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: %[[ROWS:.*]] = arith.remui %[[LENGTH]], %c64_i32
// CHECK: %[[IS_SHORT:.*]] = arith.cmpi slt, %[[ROWS]], %c64_i32
// Eight threads clear a row of 128 bytes, 256 of them 32 rows at once.
// CHECK: %[[COLUMN:.*]] = arith.remui %{{.*}}, %c8_i32
// CHECK: %[[FIRST:.*]] = arith.addi %[[ROWS]], %{{.*}}
// CHECK: scf.if %[[IS_SHORT]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %c64_i32{{.*}} step %c32_i32
// CHECK-COUNT-2: cute.clear(%{{.*}}) : (!cute.memref<f16, smem, align<16>, S<3,4,3>, "(1,8):(64,1)">)
// CHECK-NOT: cute.clear
// CHECK: nvvm.fence.proxy
// CHECK: gpu.barrier
// CHECK: nvvm.elect.sync
// CHECK: %[[BYTES:.*]] = arith.muli %[[MISSING]], %c128_i32
// CHECK: %[[EXPECTED:.*]] = arith.subi %c16384_i32{{.*}}, %[[BYTES]]
// CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]][%{{.*}}], %[[EXPECTED]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL]]
// CHECK-NOT: rest
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL]]
gpu.module @kernels {
  gpu.func @rest(%A: !load, %at: !coords, %i: !at, %length: i32, %missing: i32, %turns: i32, %is: i1) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %s = cute.memref.alloca() : !tile
    %o = cute.memref.alloca() : !tile
    %rows = arith.remui %length, %c64 : i32
    scf.for %k = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) rest(%rows, %missing) : (!load, [!coords], !tile)
      cute_nvgpu.tma_load(%A, [%at], %o) : (!load, [!coords], !tile)
      scf.if %is {
        %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
        %y = cute.memref.load(%o, %i) : (!tile, !at) -> f16
      }
    } {cute.stages = 2}
    gpu.return
  }
}
