// What distributed shared memory refuses: what was expected, what was found, what to do.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @global(%x: !cute.memref<f32, gmem, "8:1">, %block: i32) {
  // expected-error @+1 {{expected a tensor in smem, which each block of a cluster has at the same place, found one in gmem}}
  %y = cute_nvgpu.arch.map_dsmem(%x, %block)
  return
}

// -----

func.func @open(%x: !cute.memref<f32, smem, "(?,4):(4,1)">, %block: i32) {
  // expected-error @+1 {{expected a tensor of a known layout, found (?,4):(4,1); take its part of the mapped tensor}}
  %y = cute_nvgpu.arch.map_dsmem(%x, %block)
  return
}

// -----

!x = !cute.memref<f32, smem, "8:1">
func.func @other(%x: !x, %block: i32) {
  // expected-error @+1 {{'cute_nvgpu.arch.map_dsmem' op expected the same in dsmem, !cute.memref<f32, dsmem, "8:1">, found !cute.memref<f32, smem, "8:1">}}
  %y = cute_nvgpu.arch.map_dsmem(%x, %block) : (!x, i32) -> !x
  return
}

// -----

!one = !cute.memref<f32, smem, "1:0">
!bars = !cute.memref<i64, dsmem, align<8>, "4:1">
func.func @own(%x: f32, %s: !one, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected a tensor in dsmem without a swizzle, as cute_nvgpu.arch.map_dsmem gives it, found one in smem}}
  cute_nvgpu.st_async(%x, %s) on %bars[%i] : (f32, !one), !bars
  return
}

// -----

!one = !cute.memref<f16, dsmem, "1:0">
!bars = !cute.memref<i64, dsmem, align<8>, "4:1">
func.func @narrow(%x: f16, %s: !one, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected a number or a vector of f16 of 4, 8 or 16 bytes, found f16}}
  cute_nvgpu.st_async(%x, %s) on %bars[%i] : (f16, !one), !bars
  return
}

// -----

!four = !cute.memref<f32, dsmem, align<16>, "4:2">
!bars = !cute.memref<i64, dsmem, align<8>, "4:1">
func.func @apart(%x: vector<4xf32>, %s: !four, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected 4 elements side by side, as many as the value has, found 4:2}}
  cute_nvgpu.st_async(%x, %s) on %bars[%i] : (vector<4xf32>, !four), !bars
  return
}

// -----

!four = !cute.memref<f32, dsmem, align<4>, "4:1">
!bars = !cute.memref<i64, dsmem, align<8>, "4:1">
func.func @unaligned(%x: vector<4xf32>, %s: !four, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected a tensor at a multiple of 16 bytes, found align<4>}}
  cute_nvgpu.st_async(%x, %s) on %bars[%i] : (vector<4xf32>, !four), !bars
  return
}

// -----

!one = !cute.memref<f32, dsmem, "1:0">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @barriers(%x: f32, %s: !one, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected mbarriers, a tensor of i64 in dsmem without a swizzle such as !cute.memref<i64, dsmem, align<8>, "4:1">, found one of i64 in smem}}
  cute_nvgpu.st_async(%x, %s) on %bars[%i] : (f32, !one), !bars
  return
}

// -----

!row = !cute.memref<f32, smem, align<16>, "256:1">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @here(%row: !row, %to: !row, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected a tensor in dsmem without a swizzle, found one in smem}}
  cute_nvgpu.bulk_load(%row, %to) on %bars[%i] : (!row, !row), !bars
  return
}

// -----

!row = !cute.memref<f32, smem, align<16>, "256:1">
!there = !cute.memref<f32, dsmem, align<16>, "256:1">
!bars = !cute.memref<i64, dsmem, align<8>, "4:1">
func.func @policy(%row: !row, %to: !there, %bars: !bars, %i: i32) {
  // expected-error @+1 {{expected no policy of L2, which a copy between blocks does not pass}}
  cute_nvgpu.bulk_load(%row, %to) on %bars[%i] policy "evict_first" : (!row, !there), !bars
  return
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @which(%bars: !bars, %block: i32) {
  // expected-error @+1 {{expected one mbarrier, or the index of one of the 4: write %barriers[%i]}}
  cute_nvgpu.mbarrier_arrive_at %bars, %block : !bars
  return
}

// -----

func.func @clusters(%x: !cute.memref<f32, gmem, "(?,64):(64,1)">, %grid: !cute.shape<"(?,1)">) {
  // expected-error @+1 {{expected three numbers of blocks of a cluster, along x, y and z, of at least 1 and at most 8 in all, found [4, 4, 1]}}
  cute.launch @kernels::@scale clusters [4, 4, 1] blocks(%grid) args(%x)
  return
}
