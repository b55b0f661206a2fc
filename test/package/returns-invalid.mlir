// A function of a package returns nothing: what it returned would be lost.
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s
// CHECK: returns-invalid.mlir:[[@LINE+6]]:3: error: expected a function that returns nothing, as a package's results are the tensors that its launches write, found a result of type f32; write it into a tensor that is an argument

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @f(%A: !t, %B: !t, %C: !t) -> f32 {
  %x = arith.constant 1.0 : f32
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return %x : f32
}
