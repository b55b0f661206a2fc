// A sum over all of a product, whose place is known but for its address: the launch that adds its parts takes the pointer of an argument.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --shape B=72x16 --shape C=64x72 | FileCheck %s
// CHECK: D1 (64,72), sums of 16: right
// CHECK: no findings

!A = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!B = !cute.memref<f16, gmem, align<16>, "(?,16):(16,1)">
!C = !cute.memref<f16, gmem, align<16>, "(64,?):(1,64)">
!S = !cute.memref<f32, gmem, align<4>, "(64,72):(0,0)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %S: !S) {
  cute.contract ins(%A, %B : !A, !B) outs(%C, %S reduce add : !C, !S) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}
