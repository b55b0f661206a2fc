// Quotients by extents of a launch in 64 bits, of numbers that LLVM knows not to be negative: products of 128 bits, of which the upper half is an instruction.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --layout "E0=(7,(1,1),2,4095):(8190,(8190,8190),4095,1)" --layout "D0=(7,(1,1),2,4095):(0,(0,0),0,0)"
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --input-file %t.ptx
// CHECK: mul.hi.s64

!x = !cute.memref<i32, gmem, align<16>, "(?,(?,?),2,4095):(8190,(8190,8190),?,1)">
!most = !cute.memref<f32, gmem, align<16>, "(7,(1,1),2,?):(0,(0,0),0,0)">
!bytes = !cute.memref<i8, gmem, align<4>, "(7,(1,1),2,4095):(8190,(8190,8190),4095,1)">
func.func @map(%X: !x, %MOST: !most, %Y: !bytes) {
  cute.map ins(%X) outs(%MOST, %Y) {
  ^bb0(%x: i32):
    %wide = arith.sitofp %x : i32 to f32
    %most = cute.all_reduce "maximum" %wide along [0, 1, 2, 3] : f32
    %high = arith.constant 127.0 : f32
    %low = arith.constant -128.0 : f32
    %below = arith.minimumf %most, %high : f32
    %between = arith.maximumf %below, %low : f32
    %y = arith.fptosi %between : f32 to i8
    cute.yield %most, %y : f32, i8
  }
  return
}
