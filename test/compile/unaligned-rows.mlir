// Maps of rows that begin anywhere in memory: on the emulator, compared with their regions in f64.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
//
// Rows of whole vectors, of a few elements, of one vector and some, of all kernels; tensors whose rows begin alike, though gaps are others, and not alike:
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --layout "E0=(11,1003):(1003,1)" --shape E1=11x1003 --layout "D0=(11,1003):(1011,1)"
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --layout "E0=(11,1003):(1003,1)" --shape E1=11x1003 --layout "D0=(11,1003):(1004,1)"
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x7 --shape E1=9x7 --shape D0=9x7
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x9 --shape E1=9x9 --shape D0=9x9
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x15 --shape E1=9x15 --shape D0=9x15
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x17 --shape E1=9x17 --shape D0=9x17
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --layout "E0=(9,24):(25,1)" --shape E1=9x24 --layout "D0=(9,24):(33,1)"
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x2047 --shape E1=9x2047 --shape D0=9x2047
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=9x8191 --shape E1=9x8191 --shape D0=9x8191
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function norm --shape E0=2x12345 --shape E1=2x12345 --shape D0=2x12345
//
// Two weights, each read in two vectors; by bytes, by elements of 8 bytes, with types that have other vectors, of a batch of rows, in place, and without a reduction:
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function bytes | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function doubles | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function mixed | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function nested | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function in_place | FileCheck %s
// CHECK-COUNT-2: map: right; every element compared
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function scaled --shape E0=9x5003 --shape E1=9x5003 --shape D0=9x5003
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function scaled --shape E0=7x1 --shape E1=7x1 --shape D0=7x1
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function scaled --shape E0=3x13 --shape E1=3x13 --shape D0=3x13
//
// Vectors of 16 bytes move all but one element a thread.
//
// RUN: cute-run %t.80.cutepkg --info | FileCheck %s --check-prefix=INFO
// INFO: | in_place_kernel | {{.*}} 8 x 16 B, 1 x 4 B | 8 x 16 B, 1 x 4 B |

!open = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!line = !cute.memref<f16, gmem, align<16>, "(?,?):(0,1)">
func.func @norm(%X: !open, %W: !line, %Y: !open) {
  cute.map ins(%X, %W) outs(%Y) {
  ^bb0(%x: f16, %w: f16):
    %wide = arith.extf %x : f16 to f32
    %sum = cute.all_reduce "add" %wide along [1] : f32
    %most = cute.all_reduce "maximum" %wide along [1] : f32
    %off = arith.subf %wide, %most : f32
    %w32 = arith.extf %w : f16 to f32
    %all = math.fma %off, %w32, %sum : f32
    %y = arith.truncf %all : f32 to f16
    cute.yield %y : f16
  }
  return
}

func.func @scaled(%X: !open, %W: !line, %Y: !open) {
  cute.map ins(%X, %W) outs(%Y) {
  ^bb0(%x: f16, %w: f16):
    %y = arith.mulf %x, %w : f16
    cute.yield %y : f16
  }
  return
}

!bytes = !cute.memref<i8, gmem, align<16>, "(5,1021):(1021,1)">
!byte_line = !cute.memref<i8, gmem, align<16>, "(5,1021):(0,1)">
func.func @bytes(%X: !bytes, %W: !byte_line, %V: !byte_line, %Y: !bytes) {
  cute.map ins(%X, %W, %V) outs(%Y) {
  ^bb0(%x: i8, %w: i8, %v: i8):
    %most = cute.all_reduce "maximum" %x along [1] : i8
    %less = arith.subi %most, %x : i8
    %some = arith.addi %less, %w : i8
    %y = arith.subi %some, %v : i8
    cute.yield %y : i8
  }
  return
}

!doubles = !cute.memref<f64, gmem, align<16>, "(5,515):(515,1)">
!double_line = !cute.memref<f64, gmem, align<16>, "(5,515):(0,1)">
func.func @doubles(%X: !doubles, %W: !double_line, %Y: !doubles) {
  cute.map ins(%X, %W) outs(%Y) {
  ^bb0(%x: f64, %w: f64):
    %sum = cute.all_reduce "add" %x along [1] : f64
    %off = arith.subf %x, %sum : f64
    %y = arith.mulf %off, %w : f64
    cute.yield %y : f64
  }
  return
}

!halves = !cute.memref<bf16, gmem, align<16>, "(6,1001):(1001,1)">
!words = !cute.memref<f32, gmem, align<16>, "(6,1001):(1005,1)">
!half_line = !cute.memref<bf16, gmem, align<16>, "(6,1001):(0,1)">
!numbers = !cute.memref<f32, gmem, align<16>, "(6,1001):(1,0)">
func.func @mixed(%X: !halves, %R: !words, %W: !half_line, %N: !numbers, %Y: !words, %S: !numbers) {
  cute.map ins(%X, %R, %W, %N) outs(%Y, %S) {
  ^bb0(%x: bf16, %r: f32, %w: bf16, %n: f32):
    %wide = arith.extf %x : bf16 to f32
    %sum = arith.addf %wide, %r : f32
    %all = cute.all_reduce "add" %sum along [1] : f32
    %w32 = arith.extf %w : bf16 to f32
    %some = arith.mulf %sum, %w32 : f32
    %y = arith.addf %some, %n : f32
    cute.yield %y, %all : f32, f32
  }
  return
}

!nested = !cute.memref<f16, gmem, align<16>, "((3,2),777):((777,2331),1)">
!column = !cute.memref<f16, gmem, align<16>, "((3,2),777):((0,0),2)">
func.func @nested(%X: !nested, %W: !column, %Y: !nested) {
  cute.map ins(%X, %W) outs(%Y) {
  ^bb0(%x: f16, %w: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %less = arith.subf %x, %most : f16
    %y = arith.addf %less, %w : f16
    cute.yield %y : f16
  }
  return
}

!rows = !cute.memref<f32, gmem, align<16>, "(7,1023):(1023,1)">
func.func @in_place(%X: !rows) {
  cute.map ins(%X) outs(%X) {
  ^bb0(%x: f32):
    %most = cute.all_reduce "maximum" %x along [1] : f32
    %less = arith.subf %x, %most : f32
    cute.yield %less : f32
  }
  return
}
