// RUN: cute-opt %s --cute-lower-pipeline --verify-diagnostics

gpu.module @kernels {
  gpu.func @nothing_fills() kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{waits for a buffer that nothing fills}}
    %slot = cute.pipeline.consumer_wait(%p, %free, %zero) : !cute.pipeline<2>
    gpu.return
  }
}
