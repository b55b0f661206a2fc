// Sums that a turn reads before its product, so that the product of the turn before is waited for at the end of that; and the same behind an inner loop.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-specialize-warps)))" | FileCheck %s
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-specialize-warps,cute-lower-algorithms,cute-fragments-to-values)))" -o /dev/null

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">

// CHECK-LABEL: gpu.func @read_before
// CHECK: cute.memref.load(
// CHECK: cute_nvgpu.wgmma_fence
// CHECK-NEXT: cute.gemm
// CHECK-NEXT: cute_nvgpu.wgmma_commit_group
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: scf.yield

// CHECK-LABEL: gpu.func @read_in_a_loop
// CHECK: cute.gemm
// CHECK-NEXT: cute_nvgpu.wgmma_commit_group
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: scf.for
// CHECK: cute.memref.load(
gpu.module @kernels {
  gpu.func @read_before(%A: !load, %at_A: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0)
    %third = cute.static coord "3"
    %sA = cute.memref.alloca() : !tile
    %mma = cute.static : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t)
    %b = cute.tiled.mma.partition B (%mma, %sA, %t)
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    scf.for %k = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA)
      %x = cute.memref.load(%acc, %third)
      %y = arith.addf %x, %x : f32
      cute.memref.store(%acc, %third, %y)
      cute.gemm(%mma, %acc, %a, %b, %acc)
    } {cute.stages = 3}
    gpu.return
  }

  gpu.func @read_in_a_loop(%A: !load, %at_A: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0)
    %third = cute.static coord "3"
    %sA = cute.memref.alloca() : !tile
    %mma = cute.static : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t)
    %b = cute.tiled.mma.partition B (%mma, %sA, %t)
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    scf.for %k = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA)
      cute.gemm(%mma, %acc, %a, %b, %acc)
      scf.for %j = %c0 to %k step %c1 : i32 {
        %x = cute.memref.load(%acc, %third)
        %y = arith.addf %x, %x : f32
        cute.memref.store(%acc, %third, %y)
      }
    } {cute.stages = 3}
    gpu.return
  }
}
