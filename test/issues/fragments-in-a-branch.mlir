// Register tensors that are used in a branch: an error, or values that the branch yields; no crash.
//
// RUN: cute-opt %s --cute-fragments-to-values --verify-diagnostics

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @branch(%if: i1) kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    // expected-error @below {{register}}
    scf.if %if {
      cute.clear(%f) : (!f)
    }
    %h = cute.convert(%f) : (!f) -> !cute.memref<f16, rmem, "(4,2):(1,4)">
    gpu.return
  }
}
