// Outputs whose elements overlap where only a launch knows: it is refused, and what has one row or column alone runs.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=1 package=%t.cutepkg" -o /dev/null
// RUN: not cute-run %t.cutepkg --device=emulator --function product --shape A=64x64 --shape C=64x64 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: cute-run %t.cutepkg --device=emulator --function product --shape A=1x64 --shape C=1x64 | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function both_one --shape A=64x64 --shape B=64x64 --shape C=64x64 2>&1 | FileCheck %s --check-prefix=MODES
// RUN: cute-run %t.cutepkg --device=emulator --function both_one --shape A=1x64 --shape B=64x64 --shape C=1x64 | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function column --shape A=64x64 --layout "C=(64,1):(0,1)" 2>&1 | FileCheck %s --check-prefix=MODES
// RUN: cute-run %t.cutepkg --device=emulator --function column --shape A=64x64 --layout "C=(64,1):(3,1)" | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function line --shape X=64 --layout "Y=(64):(0)" 2>&1 | FileCheck %s --check-prefix=MODES
// RUN: cute-run %t.cutepkg --device=emulator --function line --shape X=64 --layout "Y=(64):(2)" | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function sums --shape X=64x64x2 --shape Y=64x64x2 2>&1 | FileCheck %s --check-prefix=MODES
// CHECK: right; every element compared
// LINES: expected elements of C that do not overlap: a stride of mode 0 that is at least the extent of mode 1
// MODES: expected elements of {{.*}} that do not overlap: strides of modes

!o = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, gmem, align<16>, "(1,64):(64,1)">
!lines = !cute.memref<f32, gmem, align<16>, "(?,64):(32,1)">
func.func @product(%A: !o {cute.name = "A"}, %B: !h {cute.name = "B"}, %C: !lines {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!ones = !cute.memref<f32, gmem, align<16>, "(?,?):(1,1)">
func.func @both_one(%A: !o {cute.name = "A"}, %B: !o {cute.name = "B"}, %C: !ones {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!column = !cute.memref<f32, gmem, align<16>, "(?,1):(?,1)">
func.func @column(%A: !o {cute.name = "A"}, %B: !r {cute.name = "B"}, %C: !column {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!x = !cute.memref<f32, gmem, align<4>, "(?):(1)">
!y = !cute.memref<f32, gmem, align<4>, "(?):(?)">
func.func @line(%X: !x {cute.name = "X"}, %Y: !y {cute.name = "Y"}) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

!all = !cute.memref<f32, gmem, align<16>, "(?,64,2):(64,1,?)">
!sum = !cute.memref<f32, gmem, align<16>, "(?,64,2):(1,0,1)">
func.func @sums(%X: !all {cute.name = "X"}, %Y: !sum {cute.name = "Y"}) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    %s = cute.all_reduce "add" %x along [1] : f32
    cute.yield %s : f32
  }
  return
}
