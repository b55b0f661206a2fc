// What an epilogue computes, a thread does some rows at a time: it loads inputs, then sums, computes and stores.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=1x2 stages=2" --cute-partition --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=1x2 stages=2" --cute-partition --split-input-file | cute-opt --split-input-file | FileCheck %s

// 64 sums of a thread are two steps of 32, by vectors of four; what is the same for all rows is loaded once.
// CHECK-LABEL: gpu.func @whole_kernel
// CHECK:         %[[SUMS:.*]] = cute.memref.alloca() : !cute.memref<f32, smem, {{.*}}, "(64,64):(64,1)">
// CHECK-NOT:     cute.block
// CHECK:         %[[TWO:.*]] = arith.constant 2 : i32
// CHECK:         scf.for %[[STEP:.*]] = %{{.*}} to %[[TWO]]
// CHECK:           %[[BIAS:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((4,1),8,1):((1,0),0,0)">
// CHECK:           cute.autovec_copy(%{{.*}}, %[[BIAS]])
// CHECK:           %[[AT:.*]] = cute.make_coord(%[[STEP]]) : (i32) -> !cute.coord<"(?,0)">
// CHECK:           %[[ROWS:.*]] = cute.local_tile(%[[SUMS]], %{{.*}}, %[[AT]])
// CHECK:           %[[FRAGMENT:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "((4,1),8,1):((1,0),4,0)">
// CHECK:           cute.autovec_copy(%{{.*}}, %[[FRAGMENT]])
// CHECK:           %[[RESULT:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((4,1),8,1):((1,0),4,0)">
// CHECK:           cute.transform(%[[FRAGMENT]], %[[BIAS]], %[[RESULT]])
// CHECK:           cute.autovec_copy(%[[RESULT]], %{{.*}})
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!v = !cute.memref<f16, gmem, align<16>, "(64,64):(0,1)">
func.func @whole(%A: !t, %B: !t, %C: !t, %bias: !v) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue ins(%bias : !v) {
  ^bb0(%sum: f32, %b: f16):
    %x = arith.truncf %sum : f32 to f16
    %y = arith.addf %x, %b : f16
    cute.yield %y : f16
  }
  return
}

// -----

// What may not be there is copied where it is: by vectors if they lie so, and else by elements with the vector's predicate.
// CHECK-LABEL: gpu.func @edges_kernel
// CHECK:         scf.for
// CHECK:           %[[THERE:.*]] = cute.memref.alloca() : !cute.memref<i1, rmem, "(8,1):(1,0)">
// CHECK:           cute.transform(%{{.*}}, %[[THERE]])
// CHECK:           cute.clear
// CHECK:           cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 64 b>
// CHECK:           %[[ROWS:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "((4,1),8,1):((0,0),1,0)">
// CHECK:           cute.clear(%[[ROWS]])
// CHECK:           cute.copy_if(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.memref<i1, rmem, "(8,1):(1,0)">, !cute.memref<f32, gmem, {{.*}}>, !cute.memref<f32, rmem, "(8,1):(1,0)">)
// CHECK:           cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 64 b>, !cute.memref<f16, rmem
!e = !cute.memref<f16, gmem, align<16>, "(60,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<4>, "(60,64):(1,0)">
func.func @edges(%A: !e, %B: !b, %C: !e, %scale: !r) {
  cute.contract ins(%A, %B : !e, !b) outs(%C : !e) accumulate f32 epilogue ins(%C, %scale : !e, !r) {
  ^bb0(%sum: f32, %c: f16, %s: f32):
    %x = arith.mulf %sum, %s : f32
    %y = arith.truncf %x : f32 to f16
    %z = arith.addf %y, %c : f16
    cute.yield %z : f16
  }
  return
}
