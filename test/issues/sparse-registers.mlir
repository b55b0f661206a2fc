// A register tensor whose layout leaves large gaps: an error, not the memory of the machine.
//
// RUN: not cute-opt %s --cute-fragments-to-values 2>&1 | FileCheck %s
// CHECK: sparse-registers.mlir:{{[0-9]+}}:{{[0-9]+}}: error:

gpu.module @kernels {
  gpu.func @sparse() kernel {
    %f = cute.memref.alloca() : !cute.memref<f16, rmem, "(4,2):(8,100000000000)">
    gpu.return
  }
}
