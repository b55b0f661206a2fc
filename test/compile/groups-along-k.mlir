// Scales of groups along K that no tile suits: of 50, of 12 and of 2 elements, each element has its coordinates.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function fifty | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function twelve | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function pairs | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function both | FileCheck %s
// CHECK-COUNT-2: C (33,40), sums of {{.*}}: right; every element compared
// CHECK-NOT: not compared
!c = !cute.memref<f16, gmem, align<16>, "(33,40):(40,1)">
!a_50 = !cute.memref<f16, gmem, align<8>, "(33,100):(100,1)">
!b_50 = !cute.memref<i8, gmem, align<4>, "(40,100):(100,1)">
!s_50 = !cute.memref<f16, gmem, align<2>, "(40,(50,2)):(2,(0,1))">
func.func @fifty(%A: !a_50, %B: !b_50, %C: !c, %scales: !s_50) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%scales) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
!a_12 = !cute.memref<f16, gmem, align<16>, "(33,192):(192,1)">
!b_12 = !cute.memref<i8, gmem, align<16>, "(40,192):(192,1)">
!s_12 = !cute.memref<f16, gmem, align<16>, "(40,(12,16)):(1,(0,40))">
func.func @twelve(%A: !a_12, %B: !b_12, %C: !c, %scales: !s_12) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%scales) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
!a_12b = !cute.memref<f16, gmem, align<16>, "(40,192):(192,1)">
!s_2 = !cute.memref<f16, gmem, align<2>, "(33,(2,96)):(96,(0,1))">
func.func @pairs(%A: !a_12, %B: !a_12b, %C: !c, %scales: !s_2) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%scales) {
  ^bb0(%a: f16, %s: f16):
    %x = arith.mulf %a, %s : f16
    cute.yield %x : f16
  }
  return
}
// Beside groups that tiles suit.
!s_64 = !cute.memref<f16, gmem, align<2>, "(40,(64,3)):(3,(0,1))">
func.func @both(%A: !a_12, %B: !b_12, %C: !c, %scales: !s_12, %more: !s_64) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%scales, %more) {
  ^bb0(%b: i8, %s: f16, %t: f16):
    %f = arith.sitofp %b : i8 to f16
    %y = arith.mulf %f, %s : f16
    %x = arith.mulf %y, %t : f16
    cute.yield %x : f16
  }
  return
}
