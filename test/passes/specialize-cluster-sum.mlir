// The blocks of a cluster that share a tile: each sends the share of another block by stores that arrive there, and adds to its own what it gets.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-tile{arch=sm_90a instructions=wgmma tile=64x64x64 warps=4x1 cluster=1x1x2},cute-partition)" | FileCheck %s --check-prefix=PARTITION
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-tile{arch=sm_90a instructions=wgmma tile=64x64x64 warps=4x1 cluster=1x1x2},cute-partition,cute-specialize-warps)" | FileCheck %s

// A thread has 32 sums, 16 of each block's share; a block has room for those of the other one.
// PARTITION:      gpu.func @gemm_kernel
// PARTITION-SAME:   cluster_k = 2
// PARTITION:      %[[ROOM:.*]] = cute.memref.alloca() : !cute.memref<f32, smem, align<128>, "((4,4),128,1):((1,512),4,2048)">
// PARTITION:      %[[RANK:.*]] = arith.remui
// PARTITION:      %[[OWN:.*]] = cute.slice(%[[ROOM]], %{{.*}}) : !cute.memref<f32, smem, align<128>, "((4,4),128,1):((1,512),4,2048)">
// PARTITION:      cute.block.cluster_sum(%{{.*}}, %[[OWN]], %{{.*}}) : (!cute.memref<f32, rmem, align<128>, "((2,2,8),1,1):((1,2,4),0,0)">
// A part of C goes out where it is of the block's share.
// PARTITION:      %[[OWNER:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// PARTITION:      %[[IS:.*]] = arith.cmpi eq, %[[OWNER]], %[[RANK]] : i32
// PARTITION:      scf.if %[[IS]]

// The first of the two mbarriers counts an arrival and bytes, the second the other block's four warps.
// CHECK:      %[[FULL:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, "1:1">
// CHECK:      %[[EMPTY:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, "1:1">
// CHECK:      cute_nvgpu.mbarrier_init %[[FULL]][%{{.*}}], %[[ONE:.*]] :
// CHECK:      cute_nvgpu.mbarrier_init %[[EMPTY]][%{{.*}}], %[[FOUR:.*]] :
// CHECK:      nvvm.fence.mbarrier.init
// CHECK:      cute_nvgpu.wgmma_wait_group 0
// CHECK:      %[[ME:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK:      cute_nvgpu.mbarrier_wait %[[EMPTY]]
// CHECK:      cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]]
// CHECK:      arith.cmpi ne, %[[ME]], %{{.*}}
// CHECK:      %[[THERE:.*]] = cute_nvgpu.arch.map_dsmem
// CHECK:      %[[BAR:.*]] = cute_nvgpu.arch.map_dsmem(%[[FULL]], %{{.*}})
// CHECK:      cute_nvgpu.st_async(%{{.*}}, %{{.*}}) on %[[BAR]][%{{.*}}] : (vector<4xf32>
// CHECK:      cute_nvgpu.mbarrier_wait %[[FULL]]
// CHECK:      arith.cmpi eq, %[[ME]], %{{.*}}
// CHECK:      arith.addf %{{.*}} : vector<4xf32>
// CHECK:      nvvm.bar.warp.sync
// CHECK:      cute_nvgpu.mbarrier_arrive_at %[[EMPTY]]

!A = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
!C = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !A, %B: !A, %C: !C) {
  cute.contract ins(%A, %B : !A, !A) outs(%C : !C) accumulate f32
  return
}
