// An output that is reduced: a thread reduces its own elements, those of a warp that share a number exchange what they have, and the first of them
// leaves it in shared memory, from where a thread for each number reduces and stores it.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=1x2 stages=2" --cute-partition --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=1x2 stages=2" --cute-partition --split-input-file | cute-opt --split-input-file | FileCheck %s

// 16 threads have a row together: each step of rows has numbers of its own.
// CHECK-LABEL: gpu.func @rows_kernel
// CHECK:         %[[ALL:.*]] = cute.memref.alloca() : !cute.memref<f32, smem, "(64,1):(1,0)">
// CHECK:         cute.make_view(%{{.*}}, %{{.*}}) : !cute.memref<f32, smem, "(64,64):(1,0)">
// CHECK:         scf.for
// CHECK:           cute.tiled.copy.partition_D
// CHECK:           %[[SUMS:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "8:1">
// CHECK:           cute.fill(%[[SUMS]], %{{.*}})
// CHECK:           arith.maximumf
// CHECK:           gpu.subgroup_reduce maximumf %{{.*}} cluster(size = 16) : (f32) -> f32
// CHECK:           scf.if
// CHECK:             cute.memref.store({{.*}}) : (!cute.memref<f32, smem
// CHECK-NOT:     scf.for
// CHECK:         cute.memref.load(%[[ALL]]
// CHECK:         cute.memref.store(%{{.*}}) : (!cute.memref<f32, gmem, "(64,64):(1,0)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<4>, "(64,64):(1,0)">
func.func @rows(%A: !t, %B: !t, %C: !t, %most: !r) {
  cute.contract ins(%A, %B : !t, !t) outs(%C, %most reduce maximum : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

// A thread has the same four columns in all steps, of which it carries the sums; two warps have them together. What is not there counts for
// nothing.
// CHECK-LABEL: gpu.func @columns_kernel
// CHECK:         cute.memref.alloca() : !cute.memref<f32, smem, "(64,2):(1,64)">
// CHECK:         %[[SUMS:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "4:1">
// CHECK:         scf.for
// CHECK:           %[[LESS:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[LESS]] : f32
// CHECK:         gpu.subgroup_reduce add %{{.*}} cluster(size = 2, stride = 16) : (f32) -> f32
// CHECK:         scf.if
// CHECK:         arith.addf
// CHECK:         cute.memref.store
!a = !cute.memref<f16, gmem, align<16>, "(60,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<4>, "(60,64):(0,1)">
func.func @columns(%A: !a, %B: !b, %C: !a, %sums: !r) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %sums reduce add : !a, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

// All of a warp have one number.
// CHECK-LABEL: gpu.func @all_kernel
// CHECK:         cute.memref.alloca() : !cute.memref<i32, smem, "(1,2):(0,1)">
// CHECK:         %[[SUMS:.*]] = cute.memref.alloca() : !cute.memref<i32, rmem, "1:{{[01]}}">
// CHECK:         gpu.subgroup_reduce add %{{.*}} : (i32) -> i32
!t = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<i32, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<i32, gmem, align<4>, "(64,64):(0,0)">
func.func @all(%A: !t, %B: !t, %C: !c, %sum: !r) {
  cute.contract ins(%A, %B : !t, !t) outs(%C, %sum reduce add : !c, !r) accumulate i32 epilogue {
  ^bb0(%sum_of: i32):
    cute.yield %sum_of, %sum_of : i32, i32
  }
  return
}
