// Barriers in shared memory, TMA and products of warpgroups: read, and printed as they were.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!one = !cute.memref<i64, smem, align<8>, "1:0">
// CHECK-LABEL: func.func @barriers
func.func @barriers(%bars: !bars, %bar: !one, %i: i32, %n: i32) -> i1 {
  // CHECK: cute_nvgpu.mbarrier_init %{{.*}}[%{{.*}}], %{{.*}} : !cute.memref<i64, smem, "4:1">
  cute_nvgpu.mbarrier_init %bars[%i], %n : !bars
  // CHECK: cute_nvgpu.mbarrier_arrive %{{.*}}[%{{.*}}] :
  cute_nvgpu.mbarrier_arrive %bars[%i] : !bars
  // The first of one needs no index.
  // CHECK: cute_nvgpu.mbarrier_arrive_and_expect_tx %{{.*}}, %{{.*}} : !cute.memref<i64, smem, "1:0">
  cute_nvgpu.mbarrier_arrive_and_expect_tx %bar, %n : !one
  // CHECK: cute_nvgpu.mbarrier_expect_tx
  cute_nvgpu.mbarrier_expect_tx %bars[%i], %n : !bars
  // CHECK: cute_nvgpu.mbarrier_wait
  cute_nvgpu.mbarrier_wait %bars[%i], %n : !bars
  // CHECK: cute_nvgpu.mbarrier_try_wait
  %is = cute_nvgpu.mbarrier_try_wait %bars[%i], %n : !bars
  // CHECK: cute_nvgpu.mbarrier_inval
  cute_nvgpu.mbarrier_inval %bar : !one
  // CHECK: cute_nvgpu.arch.make_warp_uniform(%{{.*}}) : i32
  %same = cute_nvgpu.arch.make_warp_uniform(%n) : i32
  return %is : i1
}

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 0>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!swizzled = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
!plain = !cute.layout<"(128,64):(64,1)">
// CHECK-LABEL: func.func @atoms
// CHECK:         cute_nvgpu.atom.make_tma_load(%{{.*}}, %{{.*}}) :
// CHECK-SAME:      -> (!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
// CHECK:         cute_nvgpu.atom.make_tma_load(%{{.*}}, %{{.*}}) rest 0 :
// CHECK:         cute_nvgpu.atom.make_tma_store
func.func @atoms(%A: !mat, %s: !swizzled, %p: !plain) {
  %load, %from = cute_nvgpu.atom.make_tma_load(%A, %s) : (!mat, !swizzled) -> (!load, !coords)
  %last, %same = cute_nvgpu.atom.make_tma_load(%A, %s) rest 0 : (!mat, !swizzled) -> (!load, !coords)
  %store, %to = cute_nvgpu.atom.make_tma_store(%A, %p) : (!mat, !plain) -> (!store, !coords)
  return
}

!tile = !cute.coord_tensor<"(?{div=64},?{div=128})", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!sC = !cute.memref<f16, smem, align<128>, "(128,64):(64,1)">
!row = !cute.memref<f32, gmem, align<16>, "256:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
// CHECK-LABEL: func.func @copies
func.func @copies(%load: !load, %store: !store, %t: !tile, %x: i32, %a: !sA, %c: !sC, %bars: !bars, %row: !row, %srow: !srow) {
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %{{.*}}) on %{{.*}}[%{{.*}}] :
  cute_nvgpu.tma_load(%load, [%t], %a) on %bars[%x] : (!load, [!tile], !sA), !bars
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %{{.*}}) rest(%{{.*}}, %{{.*}}) :
  cute_nvgpu.tma_load(%load, [%t], %a) rest(%x, %x) : (!load, [!tile], !sA)
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}, %{{.*}}], %{{.*}}) on
  cute_nvgpu.tma_load(%load, [%x, %x], %a) on %bars[%x] : (!load, [i32, i32], !sA), !bars
  // CHECK: cute_nvgpu.tma_store(%{{.*}}, %{{.*}}, [%{{.*}}]) :
  cute_nvgpu.tma_store(%store, %c, [%t]) : (!store, !sC, [!tile])
  // CHECK: cute_nvgpu.prefetch_tma_desc(%{{.*}}) :
  cute_nvgpu.prefetch_tma_desc(%load) : !load
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}, %{{.*}}], %{{.*}}) on %{{.*}}[%{{.*}}] policy "evict_first" :
  cute_nvgpu.tma_load(%load, [%x, %x], %a) on %bars[%x] policy "evict_first" : (!load, [i32, i32], !sA), !bars
  // CHECK: cute_nvgpu.tma_store(%{{.*}}, %{{.*}}, [%{{.*}}]) policy "evict_first" :
  cute_nvgpu.tma_store(%store, %c, [%t]) policy "evict_first" : (!store, !sC, [!tile])
  // CHECK: cute_nvgpu.tma_prefetch(%{{.*}}, [%{{.*}}]) :
  cute_nvgpu.tma_prefetch(%load, [%t]) : (!load, [!tile])
  // CHECK: cute_nvgpu.tma_prefetch(%{{.*}}, [%{{.*}}, %{{.*}}]) policy "evict_last" :
  cute_nvgpu.tma_prefetch(%load, [%x, %x]) policy "evict_last" : (!load, [i32, i32])
  // CHECK: cute_nvgpu.bulk_prefetch(%{{.*}}) policy "evict_last" :
  cute_nvgpu.bulk_prefetch(%row) policy "evict_last" : !row
  // CHECK: cute_nvgpu.bulk_load(%{{.*}}, %{{.*}}) on %{{.*}}[%{{.*}}] :
  cute_nvgpu.bulk_load(%row, %srow) on %bars[%x] : (!row, !srow), !bars
  // CHECK: cute_nvgpu.bulk_store(%{{.*}}, %{{.*}}) :
  cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
  return
}

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
// CHECK-LABEL: func.func @products
func.func @products(%mma: !mma, %a: !part, %acc: !acc, %v: vector<32xf32>) -> vector<32xf32> {
  // CHECK: cute_nvgpu.wgmma_fence(%{{.*}}) : (!cute.memref<f32, rmem
  cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
  // CHECK: cute_nvgpu.wgmma_commit_group
  cute_nvgpu.wgmma_commit_group
  // CHECK: cute_nvgpu.wgmma_wait_group 1(%{{.*}}) : (!cute.memref<f32, rmem
  cute_nvgpu.wgmma_wait_group 1 (%acc) : (!acc) -> ()
  // CHECK: cute_nvgpu.atom_wgmma(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) at [0, 0] :
  %d = cute_nvgpu.atom_wgmma(%mma, %a, %a, %v) at [0, 0] : (!mma, !part, !part, vector<32xf32>) -> vector<32xf32>
  // CHECK: cute_nvgpu.wgmma_wait_group 0(%{{.*}}) : (vector<32xf32>) -> vector<32xf32>
  %w = cute_nvgpu.wgmma_wait_group 0 (%d) : (vector<32xf32>) -> vector<32xf32>
  return %w : vector<32xf32>
}
