// Sums of a part of K go straight from registers to global memory, as the tiled MMA holds them, and are added by vectors as C is stored.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 split=2" --cute-partition | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 split=2" --cute-partition | cute-opt | FileCheck %s

// A thread has pairs along N.
// CHECK-LABEL: gpu.func @whole_kernel(
// CHECK:         %[[SUMS:.*]] = cute.mma.make_fragment C
// CHECK:         cute.gemm
// CHECK:         %[[TILE:.*]] = cute.make_view({{.*}}) : !cute.memref<f32, gmem, align<256>, "(64,64):(64,1)">
// CHECK:         %[[PART:.*]] = cute.tiled.mma.partition C (%{{.*}}, %[[TILE]], %{{.*}})
// CHECK:         cute.autovec_copy(%[[SUMS]], %[[PART]]) : (!cute.memref<f32, rmem, align<16>, "((2,2),2,4):((1,2),4,8)">, !cute.memref<f32, gmem, align<8>, "((2,2),2,4):((1,512),2048,16)">)
// CHECK-NOT:     cute.block

// Of half a tile a thread has four vectors of each part, all of which it loads before it adds; of the bias, which is the same for all
// rows, one.
// CHECK-LABEL: gpu.func @whole_kernel_parts(
// CHECK-NOT:     scf.for
// CHECK:         %[[FIRST:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "((4,1),4,1):((1,0),4,0)">
// CHECK-NEXT:    cute.autovec_copy(%{{.*}}, %[[FIRST]]) : (!cute.memref<f32, gmem, align<16>, "((4,1),4,1):((1,0),512,0)">
// CHECK:         %[[SECOND:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "((4,1),4,1):((1,0),4,0)">
// CHECK:         %[[BIAS:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((4,1),4,1):((1,0),0,0)">
// CHECK:         %[[C:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((4,1),4,1):((1,0),4,0)">
// CHECK-NEXT:    cute.transform(%[[FIRST]], %[[SECOND]], %[[BIAS]], %[[C]])
// CHECK:         cute.autovec_copy(%[[C]], %{{.*}}) : ({{.*}}, !cute.memref<f16, gmem, align<8>, "((4,1),4,1):((1,0),512,0)">)
!a = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
!c = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!v = !cute.memref<f16, gmem, align<16>, "(128,64):(0,1)">
func.func @whole(%A: !a, %B: !b, %C: !c, %bias: !v) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 epilogue ins(%bias : !v) {
  ^bb0(%sum: f32, %b: f16):
    %x = arith.truncf %sum : f32 to f16
    %y = arith.addf %x, %b : f16
    cute.yield %y : f16
  }
  return
}
