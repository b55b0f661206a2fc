// Maps to numbers of 8 bits: rounded to the nearest, and beyond the largest to that one.
//
// RUN: cute-opt %s --cute-compile="arch=sm_89 package=%t.89.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function rows | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function beyond --shape E0=70x144 --shape D0=70x144 | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function transpose | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function again | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function numbers | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function half | FileCheck %s
// CHECK-COUNT-2: D0 {{.*}}: right; every element compared
// CHECK-NOT: not compared
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: converts to f8E4M3FN, for which there are instructions from sm_89 on

!x = !cute.memref<f16, gmem, align<16>, "(300,1024):(1024,1)">
!y = !cute.memref<f8E4M3FN, gmem, align<16>, "(300,1024):(1024,1)">
!s = !cute.memref<f32, gmem, align<4>, "(300,1024):(1,0)">
func.func @rows(%X: !x, %Y: !y, %S: !s) {
  cute.map ins(%X) outs(%Y, %S) {
  ^bb0(%x: f16):
    %most = arith.constant 448.0 : f32
    %least = arith.constant 1.0e-12 : f32
    %w = arith.extf %x : f16 to f32
    %a = math.absf %w : f32
    %m = cute.all_reduce "maximum" %a along [1] : f32
    %n = arith.maximumf %m, %least : f32
    %scale = arith.divf %n, %most : f32
    %q = arith.divf %w, %scale : f32
    %y = arith.truncf %q : f32 to f8E4M3FN
    cute.yield %y, %scale : f8E4M3FN, f32
  }
  return
}
!xo = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{div=8},1)">
!yo = !cute.memref<f8E5M2, gmem, align<16>, "(?,?):(?{div=16},1)">
func.func @beyond(%X: !xo, %Y: !yo) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: bf16):
    %w0 = arith.extf %x : bf16 to f32
    %k = arith.constant 1.0e6 : f32
    %w = arith.mulf %w0, %k : f32
    %y = arith.truncf %w : f32 to f8E5M2
    cute.yield %y : f8E5M2
  }
  return
}
!xt = !cute.memref<f16, gmem, align<16>, "(128,257):(1,128)">
!yt = !cute.memref<f8E4M3FN, gmem, align<1>, "(128,257):(257,1)">
func.func @transpose(%X: !xt, %Y: !yt) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f16):
    %w = arith.extf %x : f16 to f32
    %y = arith.truncf %w : f32 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}
!z = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,64):(64,1)">
func.func @again(%X: !z, %Y: !z) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f8E4M3FN):
    cute.yield %x : f8E4M3FN
  }
  return
}
!g = !cute.memref<f8E4M3FN, gmem, align<4>, "(40,64):(1,0)">
!zz = !cute.memref<f16, gmem, align<16>, "(40,64):(64,1)">
func.func @numbers(%X: !zz, %Y: !g) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f16):
    %w = arith.extf %x : f16 to f32
    %m = cute.all_reduce "maximum" %w along [1] : f32
    %y = arith.truncf %m : f32 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}
!c1 = !cute.memref<f16, gmem, align<16>, "(40,64):(64,1)">
!c2 = !cute.memref<f8E4M3FN, gmem, align<16>, "(40,64):(64,1)">
func.func @half(%X: !c1, %Y: !c2) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f16):
    %y = arith.truncf %x : f16 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}
