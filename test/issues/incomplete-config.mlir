// An attribute with an empty list where a number is expected: an error at the kernel.
//
// RUN: cute-opt %s --cute-partition --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{expected the attribute cute.config on the kernel}}
  gpu.func @empty() kernel attributes {
      cute.config = {arch = "sm_80", raster = array<i64>, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    gpu.return
  }
}
