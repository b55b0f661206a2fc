// Where a plan spills registers, no plan is tried that shares the sums of a tile in other parts alone: it would spill as well.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a variants=4 package=%t.cutepkg" -o %t.mlir 2>&1 | FileCheck %s
// CHECK-COUNT-2: remark: the kernel gemm_kernel_{{[0-3]}} has too few registers by tile=64x64x32 warps=2x2 stages=4; another plan is chosen in its place
// CHECK-NOT: remark
// CHECK-NOT: error
// RUN: cute-run %t.cutepkg --device=emulator --shape A=104x129 --shape B=479x129 --shape C=104x479 --shape A1=104x129

!A = !cute.memref<bf16, gmem, align<4>, "(?{div=8},?):(133,1)">
!B = !cute.memref<f16, gmem, align<32>, "(?,?):(1,503)">
!C = !cute.memref<f32, gmem, align<16>, "(?{div=8},479):(1,104)">
!PA0 = !cute.memref<f16, gmem, align<32>, "(104,129):(258,2)">
!PA1 = !cute.memref<bf16, gmem, align<16>, "(?,?):(0,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %PA0: !PA0, %PA1: !PA1) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 prologue A ins(%PA0, %PA1 : !PA0, !PA1) {
  ^bb0(%x: bf16, %e0: f16, %e1: bf16):
    %v0 = arith.extf %x : bf16 to f32
    %v1 = arith.truncf %v0 : f32 to f16
    %v2 = arith.mulf %v1, %e0 : f16
    %v3 = arith.extf %e1 : bf16 to f32
    %v4 = arith.truncf %v3 : f32 to f16
    %v5 = arith.subf %v2, %v4 : f16
    %v6 = arith.constant 1.5 : f16
    %v7 = arith.addf %v5, %v6 : f16
    cute.yield %v7 : f16
  }
  return
}
