// A kernel that reads as one thread after another is cut into warps that copy and warps that compute.
//
// RUN: cute-opt %s --cute-specialize-warps --split-input-file | FileCheck %s

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// The ring has a place for each stage; the product of a turn goes on into the next one, where its place is released.

// CHECK-LABEL: gpu.func @products
// CHECK-SAME: %[[TURNS:[a-z0-9]*]]: i32) kernel
// CHECK-NOT: cute.roles
// CHECK: %[[SA:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,3):(64,1,4096)">
// CHECK: %[[SB:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,3):(64,1,4096)">
// CHECK: %[[FULL:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// CHECK: %[[EMPTY:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// One warp's arrival for each of four.
// CHECK: cute_nvgpu.mbarrier_init %[[FULL]][%{{.*}}], %c1_i32
// CHECK: cute_nvgpu.mbarrier_init %[[EMPTY]][%{{.*}}], %c4_i32{{.*}}
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// CHECK-NOT: nvvm.griddepcontrol
// CHECK: cute_nvgpu.arch.make_warp_uniform
// CHECK: scf.if
// CHECK: nvvm.setmaxregister increase 232
// Only when what is before in the stream is done may what is behind start.
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: nvvm.griddepcontrol launch_dependents
// CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[PLACE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) -> (i32, i32, i32)
// CHECK-NOT: tma_load
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL]][%[[PLACE]]], %[[PHASE]]
// CHECK: cute_nvgpu.wgmma_fence
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_commit_group
// CHECK: cute_nvgpu.wgmma_wait_group 1
// CHECK: arith.cmpi sge, %[[BEFORE]]
// CHECK: scf.if
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY]][%[[BEFORE]]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %[[PLACE]]
// The last one is waited for, and its place released, before its sums are touched.
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY]][%[[LOOP]]#2]
// CHECK: cute.convert
// CHECK: } else {
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.elect.sync
// CHECK-NOT: nvvm.griddepcontrol
// Who copies waits when it knows what; there may be no turn.
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[TURNS]] : i32
// CHECK-NEXT: scf.if %[[ANY]] -> (i32, i32)
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK: scf.for {{.*}} iter_args(%[[TO:.*]] = %{{.*}}, %[[ROUND:.*]] = %{{.*}}) -> (i32, i32)
// CHECK: %[[OTHER:.*]] = arith.xori %[[ROUND]]
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY]][%[[TO]]], %[[OTHER]]
// CHECK: %[[BYTES:.*]] = arith.constant 16384
// CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]][%[[TO]]], %[[BYTES]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL]][%[[TO]]] policy "evict_first"
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL]][%[[TO]]]
// CHECK-NOT: cute.gemm
// CHECK: } else {
// CHECK-NEXT: scf.yield
// Nobody ends before what is before in the stream.
// CHECK: {cute.together
// CHECK-NEXT: nvvm.griddepcontrol wait
// CHECK-NEXT: gpu.return
gpu.module @kernels {
  gpu.func @products(%A: !load, %at_A: !coords, %B: !load, %at_B: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0) : (i32) -> !at
    %sA = cute.memref.alloca() : !tile
    %sB = cute.memref.alloca() : !tile
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %b = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    scf.for %k = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA) policy "evict_first" : (!load, [!coords], !tile)
      cute_nvgpu.tma_load(%B, [%at_B], %sB) : (!load, [!coords], !tile)
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part, !part, !acc)
    } {cute.stages = 3}
    %h = cute.convert(%acc) : (!acc) -> !cute.memref<f16, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// As in attention: Q is loaded once and used in every turn; K and V have rings of their own. The first product's sums are touched in
// its turn, behind a wait, where K's place is released; the second product goes on into the next turn.

// CHECK-LABEL: gpu.func @two_products
// CHECK: scf.if
// CHECK: nvvm.setmaxregister increase 240
// Q's only place.
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL_Q:[0-9a-z_]*]]
// CHECK: scf.for
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL_K:[0-9a-z_]*]]
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_commit_group
// What went on from the turn before is over, and V's place free.
// CHECK: cute_nvgpu.wgmma_wait_group 1
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY_V:[0-9a-z_]*]]
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY_K:[0-9a-z_]*]]
// CHECK: cute.convert
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL_V:[0-9a-z_]*]]
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_commit_group
// CHECK: scf.yield
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY_V]]
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY_Q:[0-9a-z_]*]]
// CHECK: } else {
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY_Q]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL_Q]]
// CHECK: scf.for
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY_K]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL_K]]
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY_V]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL_V]]
gpu.module @kernels {
  gpu.func @two_products(%A: !load, %at: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 24, 240>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0) : (i32) -> !at
    %sQ = cute.memref.alloca() : !tile
    %sK = cute.memref.alloca() : !tile
    %sV = cute.memref.alloca() : !tile
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %q = cute.tiled.mma.partition A (%mma, %sQ, %t) : (!mma, !tile, !at) -> !part
    %k = cute.tiled.mma.partition B (%mma, %sK, %t) : (!mma, !tile, !at) -> !part
    %v = cute.tiled.mma.partition B (%mma, %sV, %t) : (!mma, !tile, !at) -> !part
    %s = cute.memref.alloca() : !acc
    %o = cute.memref.alloca() : !acc
    cute.clear(%o) : (!acc)
    cute_nvgpu.tma_load(%A, [%at], %sQ) : (!load, [!coords], !tile)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at], %sK) : (!load, [!coords], !tile)
      cute_nvgpu.tma_load(%A, [%at], %sV) : (!load, [!coords], !tile)
      cute.gemm(%mma, %s, %q, %k, %s) : (!mma, !acc, !part, !part, !acc)
      %p = cute.convert(%s) : (!acc) -> !cute.memref<f16, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
      cute.gemm(%mma, %o, %q, %v, %o) : (!mma, !acc, !part, !part, !acc)
    } {cute.stages = 2}
    %h = cute.convert(%o) : (!acc) -> !cute.memref<f16, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!half = !cute_nvgpu.atom.tma_load<f16, copy_bits = 32768, tma_gbasis = <"(64,32):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!slice = !cute.coord_tensor<"(?,?)", "(32,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!own = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(32,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// Two blocks of a cluster share the loads of B, of which each loads a slice for both. A place is empty when the warps of both have said so, at the
// barriers of both, and a block stays until the other has ended.

// CHECK-LABEL: gpu.func @shared
// CHECK-NOT: cute.cluster
// CHECK: cute_nvgpu.mbarrier_init %[[FULL:.*]][%{{.*}}], %c1_i32
// CHECK: cute_nvgpu.mbarrier_init %[[EMPTY:.*]][%{{.*}}], %c8_i32
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32
// CHECK: cute_nvgpu.wgmma_wait_group 1
// CHECK: %[[ARRIVES:.*]] = arith.cmpi ult, %[[LANE]], %c2_i32
// CHECK: arith.andi %[[ARRIVES]]
// CHECK: cute_nvgpu.mbarrier_arrive_at %[[EMPTY]][%{{.*}}], %[[LANE]]
// CHECK: nvvm.setmaxregister decrease
// All bytes of both tiles arrive at each block.
// CHECK: %[[BYTES:.*]] = arith.constant 16384
// CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]][%[[TO:.*]]], %[[BYTES]]
// CHECK: cute_nvgpu.tma_load({{.*}}) on %[[FULL]][%[[TO]]] :
// CHECK: %[[SLICE:.*]] = cute.local_tile(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(32,64):(64,1)">
// CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %[[SLICE]]) on %[[FULL]][%[[TO]]] multicast(%{{.*}})
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
gpu.module @kernels {
  gpu.func @shared(%A: !load, %at_A: !coords, %B: !half, %at_B: !slice, %turns: i32, %both: i16, %rank: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>, cute.cluster = 2 : i64} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0) : (i32) -> !at
    %sA = cute.memref.alloca() : !tile
    %sB = cute.memref.alloca() : !tile
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %b = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    %rows = cute.static : !cute.tile<"[32:1;64:1]">
    %mine = cute.make_coord(%rank) : (i32) -> !cute.coord<"(?,0)">
    scf.for %k = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA) : (!load, [!coords], !tile)
      %slice = cute.local_tile(%sB, %rows, %mine) : (!tile, !cute.tile<"[32:1;64:1]">, !cute.coord<"(?,0)">) -> !own
      cute_nvgpu.tma_load(%B, [%at_B], %slice) multicast(%both) : (!half, [!slice], !own)
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part, !part, !acc)
    } {cute.stages = 3}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!out = !cute.memref<f32, smem, align<1024>, "(64,64):(64,1)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// Two teams take the tiles in turn. Each has a tensor of its own for what goes out, starts its products behind those of the other, and skips the places of the
// other's turns; the places of a ring are emptied by the warps of one.

// CHECK-LABEL: gpu.func @teams
// CHECK: %[[OUT:.*]] = cute.memref.alloca() : !cute.memref<f32, smem, align<1024>, "(64,64,2):(64,1,4096)">
// CHECK: %[[ORDER:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"2:1">
// CHECK: cute_nvgpu.mbarrier_init %[[EMPTY:.*]][%{{.*}}], %c4_i32
// CHECK: cute_nvgpu.mbarrier_init %[[ORDER]][%{{.*}}], %c4_i32
// CHECK: %[[WARP:.*]] = cute_nvgpu.arch.make_warp_uniform
// CHECK: scf.if
// CHECK: nvvm.setmaxregister increase 232
// CHECK: %[[TEAM:.*]] = arith.divui %[[WARP]], %{{.*}} : i32
// CHECK: cute.slice(%[[OUT]]
// The places of the first team's turns are skipped by the second.
// CHECK: %[[SKIPPED:.*]] = arith.muli %{{.*}}, %[[TEAM]] : i32
// CHECK: arith.divui %{{.*}}, %c3_i32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[PARITY:.*]] = %{{.*}}) -> (i32, i32, i32)
// CHECK: cute_nvgpu.mbarrier_wait %[[ORDER]][%[[TEAM]]], %[[PARITY]]
// CHECK: scf.for
// CHECK: cute.gemm
// CHECK: %[[NEXT:.*]] = arith.remui
// CHECK: cute_nvgpu.mbarrier_arrive %[[ORDER]][%[[NEXT]]]
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: cute.autovec_copy
// CHECK: arith.xori %[[PARITY]]
// CHECK: {cute.teams = 2 : i64}
// CHECK: } else {
// CHECK: nvvm.setmaxregister decrease 40
// CHECK-NOT: cute.teams
// CHECK: cute.together = array<i64: 1, 128, 2>
gpu.module @kernels {
  gpu.func @teams(%A: !load, %at_A: !coords, %B: !load, %at_B: !coords, %tiles: i32, %turns: i32) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = cute.make_coord(%zero) : (i32) -> !at
    %sA = cute.memref.alloca() : !tile
    %sB = cute.memref.alloca() : !tile
    %out = cute.memref.alloca() : !out
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %b = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %x = gpu.thread_id x
    %thread = arith.index_cast %x : index to i32
    %own = cute.make_coord(%thread) : (i32) -> !at
    %to = cute.tiled.mma.partition C (%mma, %out, %own)
    scf.for %tile = %zero to %tiles step %one : i32 {
      %acc = cute.memref.alloca() : !acc
      cute.clear(%acc) : (!acc)
      scf.for %turn = %zero to %turns step %one : i32 {
        cute_nvgpu.tma_load(%A, [%at_A], %sA) : (!load, [!coords], !tile)
        cute_nvgpu.tma_load(%B, [%at_B], %sB) : (!load, [!coords], !tile)
        cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part, !part, !acc)
      } {cute.stages = 3}
      cute.autovec_copy(%acc, %to)
    } {cute.teams = 2}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// A ring of one place: the next turn's load waits for it, so that a product is over before its turn is.

// CHECK-LABEL: gpu.func @one_place
// CHECK: cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,1):(64,1,4096)">
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.for {{.*}} iter_args(%[[PLACE:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, i32)
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_commit_group
// CHECK: cute_nvgpu.wgmma_wait_group 0
// CHECK: cute_nvgpu.mbarrier_arrive %{{.*}}[%[[PLACE]]]
// CHECK: scf.yield
gpu.module @kernels {
  gpu.func @one_place(%A: !load, %at_A: !coords, %B: !load, %at_B: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0) : (i32) -> !at
    %sA = cute.memref.alloca() : !tile
    %sB = cute.memref.alloca() : !tile
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %a = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %b = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    scf.for %turn = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA) : (!load, [!coords], !tile)
      cute_nvgpu.tma_load(%B, [%at_B], %sB) : (!load, [!coords], !tile)
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part, !part, !acc)
    }
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!at = !cute.coord<"?">

// Two rings of one place each. What the second product reads is loaded behind what the next turn begins with: it goes on until then.

// CHECK-LABEL: gpu.func @loaded_behind
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}) -> (i32, i32, i32, i32, i32)
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_wait_group 1
// CHECK: arith.cmpi sge, %[[BEFORE]]
// CHECK: cute.gemm
// CHECK: cute_nvgpu.wgmma_wait_group 1
// CHECK: scf.yield
gpu.module @kernels {
  gpu.func @loaded_behind(%A: !load, %at_A: !coords, %B: !load, %at_B: !coords, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %t = cute.make_coord(%c0) : (i32) -> !at
    %sA = cute.memref.alloca() : !tile
    %sB = cute.memref.alloca() : !tile
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %aA = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %bA = cute.tiled.mma.partition B (%mma, %sA, %t) : (!mma, !tile, !at) -> !part
    %aB = cute.tiled.mma.partition A (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %bB = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !tile, !at) -> !part
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    scf.for %turn = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at_A], %sA) : (!load, [!coords], !tile)
      cute.gemm(%mma, %acc, %aA, %bA, %acc) : (!mma, !acc, !part, !part, !acc)
      cute_nvgpu.tma_load(%B, [%at_B], %sB) : (!load, [!coords], !tile)
      cute.gemm(%mma, %acc, %aB, %bB, %acc) : (!mma, !acc, !part, !part, !acc)
    }
    gpu.return
  }
}
