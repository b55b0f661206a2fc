// RUN: cute-opt %s --cute-expand-pipeline --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @dynamic(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{constant bounds}}
    scf.for %k = %zero to %n step %one : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %free, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unscheduled() kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    scf.for %k = %zero to %four step %one : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %free, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      // expected-error @below {{expected cute.stage on 'cute.pipeline.producer_commit'}}
      %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @too_early() kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    scf.for %k = %zero to %four step %one : i32 {
      %full = cute.pipeline.producer_commit(%p) {cute.stage = 1 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      // expected-error @below {{is scheduled before a value that it uses is made}}
      %slot = cute.pipeline.consumer_wait(%p, %full, %k) {cute.stage = 0 : i32, cute.order = 1 : i32} : !cute.pipeline<2>
    }
    gpu.return
  }
}
