// A launch in a loop is not in the package's plan: the package would compute less than the
// function. An error says so, at the product or at the launch.
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s
// CHECK: product-in-a-loop.mlir:[[@LINE+10]]:5: error:

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @loop(%A: !t, %B: !t, %C: !t) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  scf.for %i = %c0 to %c3 step %c1 : i32 {
    // Here.
    cute.contract ins(%C, %B : !t, !t) outs(%A : !t) accumulate f32
  }
  return
}
