// Rows of as many columns as the threads of a block have vectors of, at a stride that vectors do not divide: the last vector of a row that begins between two of them reached over its end.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function twice --layout "E0=(4096,3):(1,4097)" --layout "D0=(4096,3):(1,4097)" | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function same --layout "E0=(4096,2):(0,1)" --layout "D0=(4096,2):(1,4099)" | FileCheck %s
//
// CHECK: D0 (4096,{{[23]}}), map: right
// CHECK: no findings

!t = !cute.memref<i32, gmem, align<16>, "(4096,?):(1,?)">
!n = !cute.memref<i32, gmem, align<16>, "(4096,?):(0,1)">

func.func @twice(%X: !t, %Y: !t) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: i32):
    %y = arith.addi %x, %x : i32
    cute.yield %y : i32
  }
  return
}

func.func @same(%X: !n, %Y: !t) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: i32):
    cute.yield %x : i32
  }
  return
}
