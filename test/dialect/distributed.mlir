// Shared memory of other blocks: read, and printed as it was; types that may be left out.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --strip-types | cute-opt | FileCheck %s

!sum = !cute.memref<f32, smem, align<16>, "(4,4):(4,1)">
!sum_there = !cute.memref<f32, dsmem, align<16>, "(4,4):(4,1)">
!four = !cute.memref<f32, dsmem, align<16>, "4:1">
!one = !cute.memref<f32, dsmem, "1:0">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
!bars_there = !cute.memref<i64, dsmem, align<8>, "4:1">
!swizzled = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!row = !cute.memref<f32, smem, align<16>, "256:1">
!row_there = !cute.memref<f32, dsmem, align<16>, "256:1">
// CHECK-LABEL: func.func @stores
func.func @stores(%sum: !sum, %bars: !bars, %block: i32, %i: i32, %x: f32, %v: vector<4xf32>) {
  // CHECK: cute_nvgpu.arch.map_dsmem(%{{.*}}, %{{.*}}) : (!cute.memref<f32, smem, align<16>, "(4,4):(4,1)">, i32) -> !cute.memref<f32, dsmem, align<16>, "(4,4):(4,1)">
  %there = cute_nvgpu.arch.map_dsmem(%sum, %block)
  // CHECK: cute_nvgpu.arch.map_dsmem(%{{.*}}, %{{.*}}) : (!cute.memref<i64, smem, "4:1">, i32) -> !cute.memref<i64, dsmem, "4:1">
  %full = cute_nvgpu.arch.map_dsmem(%bars, %block) : (!bars, i32) -> !bars_there
  %at = cute.make_coord(%i, _)
  %row = cute.slice(%there, %at)
  // CHECK: cute_nvgpu.st_async(%{{.*}}, %{{.*}}) on %{{.*}}[%{{.*}}] : (vector<4xf32>, !cute.memref<f32, dsmem, align<16>, "(4):(1)">), !cute.memref<i64, dsmem, "4:1">
  cute_nvgpu.st_async(%v, %row) on %full[%i]
  %at_one = cute.make_coord(%i, %i)
  %element = cute.slice(%there, %at_one)
  // CHECK: cute_nvgpu.st_async(%{{.*}}, %{{.*}}) on %{{.*}}[%{{.*}}] : (f32, !cute.memref<f32, dsmem, "1:0">)
  cute_nvgpu.st_async(%x, %element) on %full[%i]
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%s: !swizzled, %p: !cute.ptr<f16, smem, align<32>>, %row: !row, %bars: !bars, %block: i32, %i: i32) {
  // CHECK: -> !cute.memref<f16, dsmem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
  %a = cute_nvgpu.arch.map_dsmem(%s, %block)
  // CHECK: (!cute.ptr<f16, smem, align<32>>, i32) -> !cute.ptr<f16, dsmem, align<32>>
  %q = cute_nvgpu.arch.map_dsmem(%p, %block)
  %full = cute_nvgpu.arch.map_dsmem(%bars, %block)
  %there = cute_nvgpu.arch.map_dsmem(%row, %block)
  // CHECK: cute_nvgpu.bulk_load(%{{.*}}, %{{.*}}) on %{{.*}}[%{{.*}}] : (!cute.memref<f32, smem, align<16>, "256:1">, !cute.memref<f32, dsmem, align<16>, "256:1">), !cute.memref<i64, dsmem, "4:1">
  cute_nvgpu.bulk_load(%row, %there) on %full[%i]
  // CHECK: cute_nvgpu.cp_async_mbarrier_arrive %{{.*}}[%{{.*}}] noinc : !cute.memref<i64, smem, "4:1">
  cute_nvgpu.cp_async_mbarrier_arrive %bars[%i] noinc : !bars
  // CHECK: cute_nvgpu.cp_async_mbarrier_arrive %{{.*}}[%{{.*}}] : !cute.memref<i64, smem, "4:1">
  cute_nvgpu.cp_async_mbarrier_arrive %bars[%i] : !bars
  return
}
