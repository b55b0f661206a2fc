// Loads by the threads of a warp, beside those of TMA: a ring of their own, whose places are full when all threads' copies are there.
//
// RUN: cute-opt %s --cute-specialize-warps | FileCheck %s

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!rows = !cute.memref<f32, gmem, align<4>, "(64,64):(?,0)">
!one = !cute.memref<f32, gmem, align<4>, "(64,64):(0,0)">
!room = !cute.memref<f32, smem, align<4>, "(64,64):(1,0)">
!room_1 = !cute.memref<f32, smem, align<4>, "(64,64):(0,0)">
!places = !cute.coord_tensor<"(?,?)", "(64,64):(1@0,1@1)">
!end = !cute.coord<"(?,_)">
!at = !cute.coord<"(?,?)">

// CHECK-LABEL: gpu.func @scales
// CHECK: %[[FULL:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// CHECK: %[[EMPTY:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// CHECK: cute.memref.alloca() {cute.ring} : !cute.memref<f32, smem, "(64,64,3):(1,0,64)">
// CHECK: cute.memref.alloca() {cute.ring} : !cute.memref<f32, smem, "(64,64,3):(0,0,1)">
// CHECK: %[[FULL_1:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// CHECK: %[[EMPTY_1:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<i64, smem, {{.*}}"3:1">
// One arrival and the bytes of TMA; an arrival of each thread of a warp.
// CHECK: cute_nvgpu.mbarrier_init %[[FULL]][%{{.*}}], %c1_i32
// CHECK: cute_nvgpu.mbarrier_init %[[FULL_1]][%{{.*}}], %c32_i32

// Those who compute: both rings are waited for, and threads that read what others of their proxy wrote need no fence of proxies.
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL]]
// CHECK: cute_nvgpu.mbarrier_wait %[[FULL_1]]
// CHECK-NOT: fence.proxy
// CHECK: nvvm.bar.warp.sync
// CHECK: cute_nvgpu.mbarrier_arrive %[[EMPTY_1]]
// CHECK: } else {

// Those who copy: the whole warp waits, one thread starts what is TMA's, and all threads copy. Of one number the first thread does.
// CHECK: %[[LEADS:.*]] = nvvm.elect.sync
// CHECK: scf.for
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY]]
// CHECK: scf.if %[[LEADS]]
// CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %[[FULL]]
// CHECK: scf.if %[[LEADS]]
// CHECK: cute_nvgpu.tma_load
// CHECK: cute_nvgpu.mbarrier_wait %[[EMPTY_1]]
// CHECK-COUNT-2: cute.copy({{.*}}!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %{{.*}}, %c1_i32{{.*}}
// CHECK: scf.if %[[FIRST]]
// CHECK: cute.copy({{.*}}!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
// CHECK: cute_nvgpu.cp_async_mbarrier_arrive %[[FULL_1]][%{{.*}}] noinc
gpu.module @kernels {
  gpu.func @scales(%A: !load, %at: !coords, %g: !rows, %h: !one, %places: !places, %end: !end, %i: !at, %turns: i32) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !room
    %s = cute.memref.alloca() : !room_1
    scf.for %turn = %zero to %turns step %one : i32 {
      cute_nvgpu.tma_load(%A, [%at], %t) : (!load, [!coords], !tile)
      cute.block.warp_load (%g, %r) within(%places, %end : !places, !end) : (!rows, !room)
      cute.block.warp_load (%h, %s) : (!one, !room_1)
      %x = cute.memref.load(%t, %i) : (!tile, !at) -> f16
      %y = cute.memref.load(%r, %i) : (!room, !at) -> f32
      %z = cute.memref.load(%s, %i) : (!room_1, !at) -> f32
    } {cute.stages = 3}
    gpu.return
  }
}
