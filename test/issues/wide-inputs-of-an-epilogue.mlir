// An epilogue of sums of f16 reads f32: eight of them are wider than any access.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// CHECK: C (128,64), sums of 88: right

!A = !cute.memref<f16, gmem, align<16>, "(128,88):(88,1)">
!B = !cute.memref<f16, gmem, align<16>, "(64,88):(88,1)">
!C = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!E = !cute.memref<f32, gmem, align<32>, "(128,64):(64,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %E: !E) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f16 epilogue ins(%E : !E) {
  ^bb0(%sum: f16, %e: f32):
    %wide = arith.extf %sum : f16 to f32
    %moved = arith.addf %wide, %e : f32
    %out = arith.truncf %moved : f32 to f16
    cute.yield %out : f16
  }
  return
}
