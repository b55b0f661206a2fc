// RUN: cute-opt %s --cute-lower-pipeline --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @nothing_fills() kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{waits for a buffer that nothing fills}}
    %slot = cute.pipeline.consumer_wait(%p, %free, %zero) : !cute.pipeline<2>
    gpu.return
  }
}

// -----

// A wait has a barrier, which all threads must come to.
gpu.module @kernels {
  gpu.func @some_threads() kernel {
    %zero = arith.constant 0 : i32
    %t = gpu.thread_id x
    %n = arith.constant 32 : index
    %c = arith.cmpi ult, %t, %n : index
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %f = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
    // expected-note @below {{this depends on the thread}}
    scf.if %c {
      // expected-error @below {{needs a barrier of all threads of the block, but not all threads of the block need come here alike; expected it outside of the 'scf.if' around it}}
      %slot = cute.pipeline.consumer_wait(%p, %f, %zero) : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

// So does the number of turns of a loop that depends on what a thread has read for itself.
gpu.module @kernels {
  gpu.func @own_turns(%A: !cute.memref<i32, gmem, "64:1">) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %t = gpu.thread_id x
    %i = arith.index_cast %t : index to i32
    %at = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %n = cute.memref.load(%A, %at) : (!cute.memref<i32, gmem, "64:1">, !cute.coord<"?">) -> i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %d = cute.pipeline.consumer_release(%p) : !cute.pipeline<2>
    // expected-note @below {{this depends on the thread}}
    scf.for %k = %zero to %n step %one : i32 {
      // expected-error @below {{expected it outside of the 'scf.for' around it, or a condition and bounds that are the same for all threads of the block}}
      %slot = cute.pipeline.producer_acquire(%p, %d, %k) : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @other_regions(%n: index) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{'scf.parallel' op has operations on pipelines within; and does not say which way control takes
    scf.parallel (%k) = (%zero) to (%n) step (%one) {
      %f = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @several_blocks(%c: i1) kernel {
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // expected-error @below {{'scf.execute_region' op has operations on pipelines in a region of several blocks}}
    scf.execute_region {
      cf.cond_br %c, ^a, ^b
    ^a:
      %f = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
      cf.br ^b
    ^b:
      scf.yield
    }
    gpu.return
  }
}
