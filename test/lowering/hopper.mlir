// Barriers, TMA and products of warpgroups become instructions.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file | FileCheck %s

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "8192:1">
!row = !cute.memref<f32, gmem, align<16>, "256:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // A map is passed by value: the passes behind take its pointer for that.
  // CHECK-LABEL: gpu.func @copies
  // CHECK-SAME:    (%[[MAP:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr, %[[X:.*]]: i32, %[[ROW:.*]]: !llvm.ptr<1>
  // CHECK-SAME:    cute.tensor_maps = array<i64: 0, 1>
  gpu.func @copies(%load: !load, %store: !store, %x: i32, %row: !row, %mask: i16) kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    %r = cute.memref.alloca() {offset = 16384 : i64} : !srow
    %bars = cute.memref.alloca() {offset = 17408 : i64} : !bars
    // The barrier of an index is 8 bytes on for each.
    // CHECK: %[[O:.*]] = arith.muli %[[X]], %{{.*}} : i32
    // CHECK: llvm.getelementptr %{{.*}}[%[[O]]]
    // CHECK: nvvm.mbarrier.init
    cute_nvgpu.mbarrier_init %bars[%x], %x : !bars
    // CHECK: nvvm.mbarrier.arrive.expect_tx
    cute_nvgpu.mbarrier_arrive_and_expect_tx %bars[%x], %x : !bars
    // CHECK: nvvm.mbarrier.expect_tx
    cute_nvgpu.mbarrier_expect_tx %bars[%x], %x : !bars
    // CHECK: nvvm.mbarrier.arrive %
    cute_nvgpu.mbarrier_arrive %bars[%x] : !bars
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4}], [$2];", "l,l,l,r,r,~{memory}" %{{.*}}, %[[MAP]], %{{.*}}, %[[X]], %[[X]]
    cute_nvgpu.tma_load(%load, [%x, %x], %s) on %bars[%x] : (!load, [i32, i32], !s), !bars
    // To several blocks of the cluster, and an arrival at one of another.
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [$0], [$1, {$3, $4}], [$2], $5;", "l,l,l,r,r,h,~{memory}" %{{.*}}, %[[MAP]], %{{.*}}, %[[X]], %[[X]], %{{.*}}
    cute_nvgpu.tma_load(%load, [%x, %x], %s) on %bars[%x] multicast(%mask) : (!load, [i32, i32], !s), !bars
    // CHECK: %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[X]] : !llvm.ptr<3> -> !llvm.ptr<7>
    // CHECK: nvvm.mbarrier.arrive %[[THERE]] : !llvm.ptr<7>
    cute_nvgpu.mbarrier_arrive_at %bars[%x], %x : !bars
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "l,l,r,l,~{memory}"
    cute_nvgpu.bulk_load(%row, %r) on %bars[%x] : (!row, !srow), !bars
    // Attempts, one after another.
    // CHECK: scf.while
    // CHECK:   %[[T:.*]] = nvvm.mbarrier.try_wait
    // CHECK:   scf.condition
    cute_nvgpu.mbarrier_wait %bars[%x], %x : !bars
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [$0, {$2, $3}], [$1];", "l,l,r,r,~{memory}" %[[TO]]
    cute_nvgpu.tma_store(%store, %s, [%x, %x]) : (!store, !s, [i32, i32])
    // CHECK: llvm.inline_asm has_side_effects "cp.async.bulk.global.shared::cta.bulk_group [$0], [$1], $2;"
    cute_nvgpu.bulk_store(%r, %row) : (!srow, !row)
    // A policy of L2 is an operand behind all others.
    // CHECK: %[[P:.*]] = llvm.inline_asm "createpolicy.fractional.L2::evict_first.b64 $0, 1.0;", "=l" : () -> i64
    // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1, {$3, $4}], [$2], $5;", "l,l,l,r,r,l,~{memory}" %{{.*}}, %[[MAP]], %{{.*}}, %[[X]], %[[X]], %[[P]]
    cute_nvgpu.tma_load(%load, [%x, %x], %s) on %bars[%x] policy "evict_first" : (!load, [i32, i32], !s), !bars
    // CHECK: "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [$0], [$1, {$3, $4}], [$2], $5, $6;", "l,l,l,r,r,h,l,~{memory}"
    cute_nvgpu.tma_load(%load, [%x, %x], %s) on %bars[%x] multicast(%mask) policy "evict_last" : (!load, [i32, i32], !s), !bars
    // CHECK: "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [$0, {$2, $3}], [$1], $4;", "l,l,r,r,l,~{memory}" %[[TO]]
    cute_nvgpu.tma_store(%store, %s, [%x, %x]) policy "evict_first" : (!store, !s, [i32, i32])
    // CHECK: "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.L2::cache_hint [$0, {$2, $3}], [$1], $4;"
    cute_nvgpu.tma_store(%store, %s, [%x, %x]) reduce "add" policy "evict_last" : (!store, !s, [i32, i32])
    // CHECK: "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [$0], [$1], $2, [$3], $4;", "l,l,r,l,l,~{memory}"
    cute_nvgpu.bulk_load(%row, %r) on %bars[%x] policy "evict_unchanged" : (!row, !srow), !bars
    // CHECK: "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [$0], [$1], $2, $3;", "l,l,r,l,~{memory}"
    cute_nvgpu.bulk_store(%r, %row) policy "evict_normal" : (!srow, !row)
    // CHECK: "cp.async.bulk.prefetch.tensor.2d.L2.global [$0, {$1, $2}];", "l,r,r,~{memory}" %[[MAP]], %[[X]], %[[X]]
    cute_nvgpu.tma_prefetch(%load, [%x, %x]) : (!load, [i32, i32])
    // CHECK: "cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint [$0, {$1, $2}], $3;", "l,r,r,l,~{memory}"
    cute_nvgpu.tma_prefetch(%load, [%x, %x]) policy "evict_last" : (!load, [i32, i32])
    // CHECK: "cp.async.bulk.prefetch.L2.global [$0], $1;", "l,r,~{memory}"
    cute_nvgpu.bulk_prefetch(%row) : !row
    // CHECK: "cp.async.bulk.prefetch.L2.global.L2::cache_hint [$0], $1, $2;", "l,r,l,~{memory}"
    cute_nvgpu.bulk_prefetch(%row) policy "evict_last" : !row
    // CHECK: nvvm.shfl.sync  idx
    %w = cute_nvgpu.arch.make_warp_uniform(%x) : i32
    // CHECK: nvvm.mbarrier.inval
    cute_nvgpu.mbarrier_inval %bars[%w] : !bars
    gpu.return
  }
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!a = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,2):((64,1),4096,16)">
!b = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,16),1,2):((64,1),0,16)">
gpu.module @products attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // CHECK-LABEL: gpu.func @product
  gpu.func @product(%adds: i1, %c: vector<4xf32>) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !a
    %b = cute.memref.alloca() {offset = 16384 : i64} : !b
    %atom = cute.make_atom(%adds) : (i1) -> !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    %mma = cute.make_tiled_mma(%atom) : !mma
    // CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
    %f = cute_nvgpu.wgmma_fence(%c) : (vector<4xf32>) -> vector<4xf32>
    // Two steps of K, of which the first one is told whether C is added; 128 bytes of swizzle, 1024 from eight rows to the next. The
    // second atom of A is 8192 bytes on: 512 granules. A step is 32 bytes.
    // CHECK-DAG: arith.constant 4611686293305360384 : i64
    // CHECK-DAG: arith.constant 512 : i32
    // CHECK-DAG: arith.constant 514 : i32
    // CHECK-DAG: arith.constant 2 : i32
    // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred p, q;\0Asetp.ne.b32 p, 1, 0;\0Asetp.ne.b32 q, $12, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $8, $9, q, 1, 1, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $10, $11, p, 1, 1, 0, 0;\0A}", "=f,=f,=f,=f,0,1,2,3,l,l,l,l,r,~{memory}"
    %d = cute_nvgpu.atom_wgmma(%mma, %a, %b, %f) at [1, 0] : (!mma, !a, !b, vector<4xf32>) -> vector<4xf32>
    // CHECK: nvvm.wgmma.commit.group.sync.aligned
    cute_nvgpu.wgmma_commit_group
    // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
    %e = cute_nvgpu.wgmma_wait_group 0 (%d) : (vector<4xf32>) -> vector<4xf32>
    // Nothing may be called where products are under way: a condition that does not hold ends the kernel.
    // CHECK: llvm.inline_asm has_side_effects "trap;"
    // CHECK-NOT: cf.assert
    cf.assert %adds, "expected to add"
    gpu.return
  }
}
