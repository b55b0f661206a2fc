// Passes that need values in the places of parameters say so, at what declares them.
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-synchronize)))" --verify-diagnostics
// RUN: cute-opt %s --cute-report --verify-diagnostics

// expected-error @+1 {{expects values in the places of parameters, found D, T declared here; run cute-instantiate and cute-inline before it}}
module attributes {gpu.container_module, cute.parameters = {D = 64, T = "type"}} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      %frag = cute.memref.alloca() : !cute.memref<f32, smem, align<16>, "$D:1">
      gpu.return
    }
  }
}
