// Register tensors that are used in a branch are values that the branch yields.
//
// RUN: cute-opt %s --cute-fragments-to-values | FileCheck %s

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @branch(%{{.*}}: f32,
  // CHECK-SAME:    %[[IF:.*]]: i1)
  // CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
  // CHECK:         %[[R:.*]]:2 = scf.if %[[IF]] -> (vector<4xf32>, vector<4xf32>) {
  // CHECK:           %[[NEW:.*]] = vector.insert %{{.*}}, %[[ZERO]] [1]
  // CHECK:           scf.yield %[[NEW]], %[[ZERO]]
  // CHECK:         } else {
  // CHECK:           scf.yield %[[ZERO]], %[[ZERO]]
  // CHECK:         }
  // CHECK:         arith.truncf %[[R]]#0 : vector<4xf32> to vector<4xf16>
  gpu.func @branch(%v: f32, %if: i1) kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    %c = cute.static : !cute.coord<"(1,0)">
    scf.if %if {
      cute.memref.store(%f, %c, %v) : (!f, !cute.coord<"(1,0)">, f32) -> ()
    }
    %h = cute.convert(%f) : (!f) -> !cute.memref<f16, rmem, "(4,2):(1,4)">
    gpu.return
  }
}
