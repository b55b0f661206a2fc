// Distributed shared memory becomes mapa once for each tensor and instructions on what it gives; swizzles act on offsets as in the own shared memory.
//
// RUN: cute-opt %s --cute-to-nvvm | FileCheck %s

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!there = !cute.memref<i64, dsmem, align<8>, "4:1">
!row = !cute.memref<f32, smem, align<16>, "256:1">
!row_there = !cute.memref<f32, dsmem, align<16>, "256:1">
!four = !cute.memref<f32, dsmem, align<16>, "4:1">
!one = !cute.memref<f32, dsmem, "1:0">
!pair = !cute.memref<f16, dsmem, align<4>, "2:1">
!long = !cute.memref<i64, dsmem, align<8>, "1:0">
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!s_there = !cute.memref<f16, dsmem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // CHECK-LABEL: gpu.func @distributed
  // CHECK-SAME:    %[[BLOCK:[a-z0-9]*]]: i32, %[[I:[a-z0-9]*]]: i32,
  gpu.func @distributed(%block: i32, %i: i32, %x: f32, %v: vector<4xf32>, %h: vector<2xf16>, %l: i64) kernel {
    %bars = cute.memref.alloca() {offset = 0 : i64} : !bars
    %row = cute.memref.alloca() {offset = 1024 : i64} : !row
    %s = cute.memref.alloca() {offset = 2048 : i64} : !s
    // CHECK: %[[BARS:.*]] = nvvm.mapa %{{.*}}, %[[BLOCK]] : !llvm.ptr<3> -> !llvm.ptr<7>
    %there = cute_nvgpu.arch.map_dsmem(%bars, %block)
    // CHECK: %[[ROW:.*]] = nvvm.mapa
    %row_there = cute_nvgpu.arch.map_dsmem(%row, %block)
    %at = cute.make_coord(%i)
    %parts = cute.static "[4:1]"
    %four = cute.local_tile(%row_there, %parts, %at)
    %one = cute.slice(%row_there, %at)
    // CHECK: llvm.inline_asm has_side_effects "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [$0], {$2, $3, $4, $5}, [$1];", "l,l,r,r,r,r,~{memory}"
    cute_nvgpu.st_async(%v, %four) on %there[%i]
    // CHECK: "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0], $2, [$1];", "l,l,r,~{memory}"
    cute_nvgpu.st_async(%x, %one) on %there[%i]
    // CHECK: llvm.bitcast %{{.*}} : i64 to vector<2xi32>
    // CHECK: "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [$0], {$2, $3}, [$1];"
    %long = cute.slice(%there, %at)
    cute_nvgpu.st_async(%l, %long) on %there[%i]
    // CHECK: "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];", "l,l,r,l,~{memory}" %[[TO:.*]], %{{.*}}, %{{.*}}, %{{.*}} :
    cute_nvgpu.bulk_load(%row, %row_there) on %there[%i]
    // A swizzled element: the offset is swizzled, and added to the mapped start.
    // CHECK: %[[S:.*]] = nvvm.mapa
    %s_there = cute_nvgpu.arch.map_dsmem(%s, %block)
    // CHECK: arith.xori
    // CHECK: llvm.getelementptr %[[S]][%{{.*}}] : (!llvm.ptr<7>, i32) -> !llvm.ptr<7>, i8
    // CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<7> -> f16
    %two = cute.make_coord(%i, %i)
    %y = cute.memref.load(%s_there, %two)
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<7>
    cute.memref.store(%s_there, %two, %y)
    // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} {noinc = true} : !llvm.ptr<3>
    cute_nvgpu.cp_async_mbarrier_arrive %bars[%i] noinc : !bars
    // CHECK: nvvm.cp.async.mbarrier.arrive %{{.*}} : !llvm.ptr<3>
    cute_nvgpu.cp_async_mbarrier_arrive %bars[%i] : !bars
    gpu.return
  }
}
