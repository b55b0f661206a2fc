// An op whose types name a parameter that nothing declares is refused before a pass that runs alone meets it.
// RUN: cute-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-synchronize)))" --verify-diagnostics

gpu.module @kernels {
  gpu.func @k() kernel {
    // expected-error @below {{'cute.memref.alloca' op expected types without parameters, as nothing around it declares any, found D; declare it in cute.parameters of the function or module}}
    %s = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "$D:1">
    gpu.return
  }
}

// -----

// An element's type is a part of the tensor's.
func.func @element(%to: !cute.memref<f16, gmem, align<16>, "8:1">) {
  // expected-error @below {{'cute.memref.alloca' op expected types without parameters, as nothing around it declares any, found U; declare it in cute.parameters of the function or module}}
  %s = cute.memref.alloca() : !cute.memref<!cute.param<"U">, smem, align<8>, "8:1">
  return
}
