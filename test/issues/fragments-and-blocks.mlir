// A kernel of several blocks: an error, no crash.
//
// XFAIL: *
// RUN: not cute-opt %s --cute-fragments-to-values 2>&1 | FileCheck %s
// CHECK: fragments-and-blocks.mlir:{{[0-9]+}}:{{[0-9]+}}: error:

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @blocks() kernel {
    %f = cute.memref.alloca() : !f
    cf.br ^next
  ^next:
    cute.clear(%f) : (!f)
    gpu.return
  }
}
