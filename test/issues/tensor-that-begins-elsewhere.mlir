// A tensor that is one of two arguments, by a number, has no place in a package: the function says nothing of what it computes, and a warning says so.
//
// RUN: cute-opt %s --cute-tile=arch=sm_80 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: FileCheck %s --input-file=%t.mlir
// WARNING: [[@LINE+9]]:3: warning: 'cute.contract' op has a tensor that begins neither in an argument of the function nor in a cute.workspace, so that a package does not say what the function computes
// CHECK: func.func @chosen
// CHECK-SAME: cute.computes = []

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @chosen(%A: !h, %B: !h, %C: !c, %D: !c, %is: i1) {
  cute.contract ins(%A, %B) outs(%D) accumulate f32
  %one = arith.select %is, %A, %B : !h
  cute.contract ins(%one, %B) outs(%C) accumulate f32
  return
}
