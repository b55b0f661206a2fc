// Negated numbers among minima: ptxas for sm_90 would take one as it was before. PTX counts the turned bits up by one instead; that of sm_80 negates.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg --emit ptx --to %t.80.ptx && FileCheck %s --check-prefix=NEG < %t.80.ptx
//
// CHECK:   D0 (63,1024), map: right
// PTX-NOT: neg.s32
// PTX:     not.b32 	%r[[TO:[0-9]+]], %r{{[0-9]+}}; add.s32 	%r[[TO]], %r[[TO]], 1;
// PTX-NOT: neg.s32
// PTX:     min.s32
// NEG:     neg.s32
// NEG:     min.s32

!x = !cute.memref<i8, gmem, align<16>, "(63,1024):(1024,1)">
!y = !cute.memref<i32, gmem, align<16>, "(63,1024):(1024,1)">
func.func @map(%X: !x, %Y: !y, %Z: !y) {
  cute.map ins(%X : !x) outs(%Y, %Z : !y, !y) {
  ^bb0(%x: i8):
    %zero = arith.constant 0 : i32
    %wide = arith.extsi %x : i8 to i32
    %negated = arith.subi %zero, %wide : i32
    %least = cute.all_reduce "minimum" %negated along [1] : i32
    cute.yield %least, %negated : i32, i32
  }
  return
}
