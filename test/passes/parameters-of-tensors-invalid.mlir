// A pass that runs alone says of a tensor whose type names a parameter that nothing declares.
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-synchronize)))" --verify-diagnostics

gpu.module @kernels {
  gpu.func @k() kernel {
    // expected-error @below {{'cute.memref.alloca' op makes a tensor of type !cute.memref<f16, smem, align<16>, "$D:1">, whose parameters have no values yet; declare them in cute.parameters, and run cute-instantiate before}}
    %s = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "$D:1">
    gpu.return
  }
}
