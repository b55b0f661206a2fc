// Bits of integers in regions: a map of them, and weights of 4 bits, two in a byte, that a prologue takes apart.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function words | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function bytes | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function nibbles | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function from_the_middle | FileCheck %s
// CHECK-COUNT-2: {{C|D0}} {{.*}}: right; every element compared
// CHECK-NOT: not compared
// RUN: cute-run %t.80.cutepkg --info --function nibbles | FileCheck %s --check-prefix=INFO
// INFO: shift_right(shift_left(
!i = !cute.memref<i32, gmem, align<16>, "(33,40):(40,1)">
func.func @words(%X: !i, %Y: !i) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: i32):
    %five = arith.constant 5 : i32
    %mask = arith.constant 3855 : i32
    %low = arith.andi %x, %mask : i32
    %up = arith.shli %low, %five : i32
    %down = arith.shrui %x, %five : i32
    %signs = arith.shrsi %x, %five : i32
    %a = arith.ori %up, %signs : i32
    %b = arith.xori %a, %down : i32
    %seven = arith.constant 7 : i32
    %q = arith.divsi %x, %seven : i32
    %r = arith.remsi %x, %seven : i32
    %c = arith.addi %q, %r : i32
    %y = arith.xori %b, %c : i32
    cute.yield %y : i32
  }
  return
}
!b = !cute.memref<i8, gmem, align<16>, "(33,48):(48,1)">
func.func @bytes(%X: !b, %Y: !b) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: i8):
    %four = arith.constant 4 : i8
    %three = arith.constant 3 : i8
    %low = arith.shli %x, %four : i8
    %high = arith.shrui %x, %four : i8
    %swapped = arith.ori %low, %high : i8
    %q = arith.divsi %swapped, %three : i8
    %r = arith.remsi %swapped, %three : i8
    %is = arith.cmpi slt, %q, %r : i8
    %both = arith.cmpi sgt, %x, %three : i8
    %either = arith.xori %is, %both : i1
    %y = arith.select %either, %q, %swapped : i8
    cute.yield %y : i8
  }
  return
}
// B's columns 2k and 2k+1 are the lower and the upper half of byte k.
!a = !cute.memref<f16, gmem, align<16>, "(33,128):(128,1)">
!w = !cute.memref<i8, gmem, align<16>, "(40,(2,64)):(64,(0,1))">
!p = !cute.memref<i8, gmem, align<1>, "(40,(2,64)):(0,(1,0))">
!c = !cute.memref<f16, gmem, align<16>, "(33,40):(40,1)">
func.func @nibbles(%A: !a, %B: !w, %C: !c, %upper: !p) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%upper) {
  ^bb0(%b: i8, %is: i8):
    %zero = arith.constant 0 : i8
    %four = arith.constant 4 : i8
    %low = arith.cmpi eq, %is, %zero : i8
    %by = arith.select %low, %four, %zero : i8
    %up = arith.shli %b, %by : i8
    %n = arith.shrsi %up, %four : i8
    %y = arith.sitofp %n : i8 to f16
    cute.yield %y : f16
  }
  return
}

// Bytes without a sign count from 128: the least number with a sign, as a constant, turns them.
!x3 = !cute.memref<f16, gmem, align<16>, "(24,64):(64,1)">
!w3 = !cute.memref<ui8, gmem, align<16>, "(40,64):(64,1)">
!c3 = !cute.memref<f16, gmem, align<16>, "(24,40):(40,1)">
func.func @from_the_middle(%A: !x3, %B: !w3, %C: !c3) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins() {
  ^bb0(%b: i8):
    %middle = arith.constant -128 : i8
    %signed = arith.xori %b, %middle : i8
    %w = arith.sitofp %signed : i8 to f16
    cute.yield %w : f16
  }
  return
}
