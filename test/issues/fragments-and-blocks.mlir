// A kernel of several blocks: an error that says so, no crash.
//
// RUN: cute-opt %s --cute-fragments-to-values --verify-diagnostics

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  // expected-error @below {{one block}}
  gpu.func @blocks(%if: i1) kernel {
    %f = cute.memref.alloca() : !f
    cf.br ^next
  ^next:
    cute.clear(%f) : (!f)
    gpu.return
  }
}
