// RUN: cute-opt %s --cute-make-rings --split-input-file --verify-diagnostics

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @barrier(%n: i32, %if: i1) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-note @below {{the loop}}
    scf.for %k = %c0 to %n step %c1 : i32 {
      scf.if %if {
        // expected-error @below {{'gpu.barrier' op stands in a loop that is to be pipelined, where the compiler puts what orders its threads; remove it, or cute.stages from the loop}}
        gpu.barrier
      }
    } {cute.stages = 3 : i64}
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-note @below {{the kernel}}
  gpu.func @unsaid(%n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-error @below {{'scf.for' op has cute.stages, but its kernel does not leave synchronisation to the compiler; expected cute.synchronize among the attributes of the kernel, or no cute.stages and waits and barriers of its own}}
    scf.for %k = %c0 to %n step %c1 : i32 {
    } {cute.stages = 3 : i64}
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @stages(%n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-error @below {{expected cute.stages = an integer from 1 to}}
    scf.for %k = %c0 to %n step %c1 : i32 {
    } {cute.stages = 0 : i64}
    gpu.return
  }
}

// -----

// expected-error @below {{expected a pipeline of `immediate` or `mbarrier` completion, or nothing for groups of asynchronous copies, found group}}
func.func @completion(%p: !cute.pipeline<2, group>)
