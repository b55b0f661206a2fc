// RUN: cute-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-handed-pipelines)),canonicalize)" | FileCheck %s
//
// Pipelines with mbarriers: counts of arrivals, bytes of a place, phases, and fences where threads read what bulk copies fill.

!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!ring = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>

gpu.module @products {
  // Read by products of warpgroups alone: no fence, and the lanes of a warp need not meet. Both blocks send half of what a place of the second load brings.
  // CHECK-LABEL: gpu.func @product
  // CHECK: %[[FULL:.*]] = cute.memref.alloca() {{.*}} : !cute.memref<i64, smem, "4:1">
  // CHECK: %[[EMPTY:.*]] = cute.memref.alloca() {{.*}} : !cute.memref<i64, smem, "4:1">
  // CHECK: scf.if
  // CHECK: cute_nvgpu.mbarrier_init %[[FULL]][%{{.*}}], %c1_i32
  // CHECK: cute_nvgpu.mbarrier_init %[[EMPTY]][%{{.*}}], %c16_i32
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.cluster.arrive.relaxed
  // CHECK-NEXT: nvvm.cluster.wait
  // CHECK: scf.if
  // CHECK: %[[PLACE:.*]] = arith.remui %[[I:.*]], %c4_i32
  // CHECK: %[[ROUND:.*]] = arith.divui %[[I]], %c4_i32
  // CHECK: %[[PARITY:.*]] = arith.andi %[[ROUND]], %c1_i32
  // CHECK: %[[OTHER:.*]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY]][%[[PLACE]]], %[[OTHER]]
  // CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]][%[[PLACE]]], %c49152_i32
  // CHECK: cute_nvgpu.tma_load{{.*}} on %[[FULL]][%[[PLACE]]] :
  // CHECK: cute_nvgpu.tma_load{{.*}} on %[[FULL]][%[[PLACE]]] multicast(%c3_i16)
  // CHECK: } else {
  // CHECK: cute_nvgpu.mbarrier_wait %[[FULL]][%[[AT:.*]]], %
  // CHECK: cute.slice(%{{.*}}, %
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK-NOT: nvvm.bar.warp.sync
  // CHECK: %[[TELLS:.*]] = arith.cmpi ult, %[[LANE:.*]], %c2_i32
  // CHECK-NEXT: scf.if %[[TELLS]] {
  // CHECK-NEXT: cute_nvgpu.mbarrier_arrive_at %[[EMPTY]][%{{.*}}], %[[LANE]]
  gpu.func @product(%tma: !tma, %A: !coords, %i: i32, %produces: i1) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %both = arith.constant 3 : i16
    %s = cute.memref.alloca() : !ring
    %q = cute.memref.alloca() : !ring
    %p = cute_nvgpu.pipeline.create warps 8 blocks 2 : !cute.pipeline<4, mbarrier>
    scf.if %produces {
      %place = cute_nvgpu.pipeline.producer_acquire(%p, %i) : !cute.pipeline<4, mbarrier>
      %at = cute.make_coord(%i, %i)
      %g = cute.local_tile(%A, "[128:1;64:1]", %at)
      %to = cute.make_coord(_, _, %place)
      %x = cute.slice(%s, %to)
      %y = cute.slice(%q, %to)
      cute_nvgpu.tma_load(%tma, [%g], %x) on %p[%place]
      cute_nvgpu.tma_load(%tma, [%g], %y) on %p[%place] multicast(%both)
    } else {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      %t = cute.make_coord(%i)
      %mma = cute.static : !mma
      %acc = cute.mma.make_fragment C (%mma, "((2,2,16),1,1)")
      cute.clear(%acc)
      %A0 = cute.tiled.mma.partition A (%mma, %s, %t)
      %B0 = cute.tiled.mma.partition B (%mma, %q, %t)
      %now = cute.make_coord(_, _, _, %place)
      %a = cute.slice(%A0, %now)
      %b = cute.slice(%B0, %now)
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 0 (%acc)
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "(256,?):(1,256)">
!rows = !cute.memref<f32, smem, align<16>, "(256,3):(1,256)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(64,4):(4,1)">, tiler_mn = <"[256:1]">>

gpu.module @copies {
  // Read by threads: what they read is fenced and the lanes of a warp have met before one of them says so. Two pipelines are made together.
  // CHECK-LABEL: gpu.func @read
  // CHECK-COUNT-4: cute.memref.alloca() {{.*}} : !cute.memref<i64
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD:.*]], %c0_i32
  // CHECK-NEXT: scf.if %[[FIRST]]
  // CHECK-COUNT-10: cute_nvgpu.mbarrier_init
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK-NEXT: }
  // CHECK-NEXT: gpu.barrier
  // CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %{{.*}}, %c1024_i32
  // CHECK: cute_nvgpu.bulk_load
  // CHECK: cute_nvgpu.mbarrier_wait
  // CHECK: cute.copy
  // CHECK: nvvm.fence.proxy
  // CHECK-NEXT: nvvm.bar.warp.sync
  // CHECK: scf.if
  // CHECK-NEXT: cute_nvgpu.mbarrier_arrive %
  gpu.func @read(%X: !row, %i: i32, %produces: i1) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %s = cute.memref.alloca() : !rows
    %p = cute_nvgpu.pipeline.create warps 2 : !cute.pipeline<3, mbarrier>
    %other = cute_nvgpu.pipeline.create warps 1 threads 64 : !cute.pipeline<2, mbarrier>
    scf.if %produces {
      %place = cute_nvgpu.pipeline.producer_acquire(%p, %i)
      %from = cute.make_coord(_, %i)
      %to = cute.make_coord(_, %place)
      %x = cute.slice(%X, %from)
      %y = cute.slice(%s, %to)
      cute_nvgpu.bulk_load(%x, %y) on %p[%place]
      %full = cute_nvgpu.pipeline.consumer_wait(%other, %i)
      cute_nvgpu.pipeline.consumer_release(%other, %i)
    } else {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      %t = cute.make_coord(%i)
      %to = cute.make_coord(_, %place)
      %y = cute.slice(%s, %to)
      %copy = cute.static : !copy
      %part = cute.tiled.copy.partition_S(%copy, %y, %t)
      %frag = cute.make_fragment_like(%part)
      cute.copy(%copy, %part, %frag)
      cute_nvgpu.pipeline.consumer_release(%p, %i)
      // By copies of threads: a wait alone acquires, and a commit arrives when they are there.
      // CHECK: cute_nvgpu.mbarrier_wait
      // CHECK-NOT: expect_tx
      // CHECK: cute_nvgpu.cp_async_mbarrier_arrive %{{.*}} noinc
      %free = cute_nvgpu.pipeline.producer_acquire(%other, %i)
      cute_nvgpu.pipeline.producer_commit(%other, %i)
    }
    gpu.return
  }
}
