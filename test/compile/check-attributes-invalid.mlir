// An attribute of the dialects without its prefix, on an op of another dialect.
//
// RUN: cute-opt %s --cute-check --split-input-file --verify-diagnostics

gpu.module @k {
  gpu.func @loop() kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-error @below {{'scf.for' op has the attribute 'unroll', which nothing reads; did you mean 'cute.unroll'?}}
    scf.for %i = %c0 to %c1 step %c1 : i32 {
    } {unroll}
    gpu.return
  }
}

// -----

gpu.module @k {
  // expected-error @below {{'gpu.func' op has the attribute 'synchronize', which nothing reads; did you mean 'cute.synchronize'?}}
  gpu.func @kernel() kernel attributes {synchronize} {
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @others() kernel attributes {known_block_size = array<i32: 32, 1, 1>, of_nobody} {
    gpu.return
  }
}
