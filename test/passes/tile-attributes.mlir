// A product may say how it is cut up, where the pass is not told.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 raster=4" | FileCheck %s --check-prefix=OPTIONS

!t = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">

// CHECK:   cute.plan = #cute.plan<tile = 32x64x32, stages = 2, raster = 2, mma = {{.*}}, atom_layout_MNK = <"(1,2,1):(1,1,0)">
// OPTIONS: cute.plan = #cute.plan<tile = 64x64x32, stages = 2, raster = 4, mma = {{.*}}, atom_layout_MNK = <"(1,2,1):(1,1,0)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.tile = array<i64: 32, 64, 32>, cute.warps = array<i64: 1, 2>, cute.stages = 2 : i64, cute.raster = 2 : i64}
  return
}

// CHECK:   cute.plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 2, mma
// CHECK:   gpu.func @shared_kernel_parts
// OPTIONS: cute.plan = #cute.plan<tile = 64x64x32, stages = 2, raster = 4, split = 2, mma
func.func @shared(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.tile = array<i64: 32, 32, 32>, cute.warps = array<i64: 1, 2>, cute.stages = 2 : i64, cute.split = 2 : i64}
  return
}
