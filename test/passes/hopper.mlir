// Tiles become boxes at coordinates, and accumulators values that fences, products and waits hand on.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-algorithms,cute-fragments-to-values)))" --split-input-file | FileCheck %s

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?{div=128},7)", "(64,128):(1@1,1@0)">
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2)):(64,(1,4096))">
!bar = !cute.memref<i64, smem, align<8>, "1:0">
gpu.module @tiles attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // Two boxes side by side: the second begins 64 columns on, and 8192 bytes.
  // CHECK-LABEL: gpu.func @boxes
  gpu.func @boxes(%load: !load, %t: !tile, %i: i32) kernel {
    %s = cute.memref.alloca() : !s
    %bar = cute.memref.alloca() : !bar
    // CHECK-DAG: %[[C7:.*]] = arith.constant 7 : i32
    // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK-DAG: %[[X:.*]] = cute.get_scalars
    // CHECK-DAG: %[[Y:.*]] = arith.addi %[[X]], %[[C64]]
    // CHECK-DAG: cute.static : !cute.int_tuple<"4096">
    // CHECK:     cute_nvgpu.tma_load(%{{.*}}, [%[[X]], %[[C7]]], %{{.*}}) on
    // CHECK:     cute_nvgpu.tma_load(%{{.*}}, [%[[Y]], %[[C7]]], %{{.*}}) on
    // CHECK-NEXT: gpu.return
    cute_nvgpu.tma_load(%load, [%t], %s) on %bar[%i] : (!load, [!tile], !s), !bar
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,4):((64,1),4096,16)">
!partB = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),2,1):((1,2,4),32,0)">
gpu.module @products attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // CHECK-LABEL: gpu.func @in_a_loop
  gpu.func @in_a_loop(%n: i32, %at: index) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = cute.memref.alloca() : !part
    %b = cute.memref.alloca() : !partB
    %atom = cute.make_atom() : () -> !wgmma
    %mma = cute.make_tiled_mma(%atom) : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    // CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}) -> (vector<32xf32>, vector<32xf32>)
    scf.for %k = %c0 to %n step %c1 : i32 {
      // CHECK: %[[F:.*]]:2 = cute_nvgpu.wgmma_fence(%[[X]], %[[Y]])
      cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
      // CHECK: %[[P:.*]] = cute_nvgpu.atom_wgmma(%{{.*}}, %{{.*}}, %{{.*}}, %[[F]]#0) at [0, 0]
      // CHECK: %[[Q:.*]] = cute_nvgpu.atom_wgmma(%{{.*}}, %{{.*}}, %{{.*}}, %[[F]]#1) at [1, 0]
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part, !partB, !acc)
      // CHECK: cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_commit_group
      // CHECK: %[[W:.*]]:2 = cute_nvgpu.wgmma_wait_group 1(%[[P]], %[[Q]])
      cute_nvgpu.wgmma_wait_group 1 (%acc) : (!acc) -> ()
      // CHECK: scf.yield %[[W]]#0, %[[W]]#1
    }
    // CHECK: cute_nvgpu.wgmma_wait_group 0(%[[L]]#0, %[[L]]#1)
    cute_nvgpu.wgmma_wait_group 0 (%acc) : (!acc) -> ()
    gpu.return
  }
}
