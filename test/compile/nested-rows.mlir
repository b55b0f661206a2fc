// Rows of several modes that follow one another are one, also where only a launch knows another extent.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --shape A=64x96 --shape B=64x96 --seeds 2 | FileCheck %s
// CHECK: C (64,64), sums of 96: right
// CHECK: no findings with 2 seeds
!a = !cute.memref<f16, gmem, align<16>, "((4,16),?):((64,256),1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,?):(?,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}
