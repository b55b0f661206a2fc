// A batch of no products: nothing is launched, and nothing is wrong.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --shape A=8x16x0 --shape B=8x16x0 --shape C=8x8x0 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --shape A=8x16x2 --shape B=8x16x2 --shape C=8x8x2
// CHECK: C (0,8), sums of 16: right
!a = !cute.memref<f16, gmem, align<16>, "(8,16,?):(16,1,128)">
!c = !cute.memref<f16, gmem, align<16>, "(8,8,?):(8,1,64)">
func.func @gemm(%A: !a, %B: !a, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
