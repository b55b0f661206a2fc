// Numbers for each 8 elements along K beside factors of bytes: vectors are as wide as a group.
//
// RUN: cute-opt %s --cute-tile=arch=sm_80 | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function integers
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function open --shape A=70x192 --shape C=70x64
//
// CHECK:      #cute.plan
// CHECK-SAME: !cute_nvgpu.atom.universal_copy<i8, 64 b>

!t = !cute.memref<i8, gmem, align<16>, "(64,192):(192,1)">
!a = !cute.memref<i8, gmem, align<16>, "(?,192):(192,1)">
!c = !cute.memref<i32, gmem, align<16>, "(64,64):(64,1)">
!d = !cute.memref<i32, gmem, align<16>, "(?,64):(64,1)">
!g = !cute.memref<i8, gmem, align<16>, "(64,(8,24)):(1,(0,64))">

func.func @integers(%A: !t, %B: !t, %C: !c, %scale: !g) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate i32 prologue B ins(%scale : !g) {
  ^bb0(%b: i8, %s: i8):
    %x = arith.xori %b, %s : i8
    cute.yield %x : i8
  }
  return
}

func.func @open(%A: !a {cute.name = "A"}, %B: !t, %C: !d {cute.name = "C"}, %scale: !g) {
  cute.contract ins(%A, %B : !a, !t) outs(%C : !d) accumulate i32 prologue B ins(%scale : !g) {
  ^bb0(%b: i8, %s: i8):
    %x = arith.xori %b, %s : i8
    cute.yield %x : i8
  }
  return
}
