// RUN: cute-opt %s --cute-expand-pipeline --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @two_beginnings(%n: i32, %a: f32, %b: f32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-error @below {{found arguments 0 and 1, which begin differently and go on alike}}
    %r:2 = scf.for %k = %zero to %n step %one iter_args(%x = %a, %y = %b) -> (f32, f32) : i32 {
      %z = arith.addf %x, %y {cute.stage = 0 : i32, cute.order = 0 : i32} : f32
      scf.yield %z, %z : f32, f32
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

// -----

gpu.module @kernels {
  gpu.func @too_early_in_a_branch(%c: i1) kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    scf.for %k = %zero to %four step %one : i32 {
      %full = cute.pipeline.producer_commit(%p) {cute.stage = 1 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      // expected-error @below {{'scf.if' is scheduled before a value that it uses is made}}
      scf.if %c {
        %slot = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<2>
      } {cute.stage = 0 : i32, cute.order = 1 : i32}
    }
    gpu.return
  }
}

// -----

// The counter goes on for as many turns as there may be stages.
gpu.module @kernels {
  gpu.func @counter() kernel {
    %zero = arith.constant 0 : i32
    %most = arith.constant 2147483647 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{expected a pipelined loop whose counter, up to 1024 iterations after the last, stays below the largest i32, 2147483647; found bounds 0 to 2147483647 in steps of 1}}
    scf.for %k = %zero to %most step %one : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %free, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_loop(%k: i32) kernel {
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{'cute.pipeline.producer_acquire' has a cute.stage outside of a loop}}
    %slot = cute.pipeline.producer_acquire(%p, %free, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @change_places() kernel {
    %zero = arith.constant 0 : i32
    %five = arith.constant 5 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %q, %other = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{found arguments that only change places from turn to turn}}
    %r:2 = scf.for %k = %zero to %five step %one iter_args(%t = %free, %u = %other) -> (!cute.token, !cute.token) : i32 {
      %s = cute.pipeline.producer_acquire(%p, %t, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      scf.yield %u, %t : !cute.token, !cute.token
    }
    gpu.return
  }
}
