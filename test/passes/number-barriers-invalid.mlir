// RUN: cute-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-number-barriers)))"

gpu.module @m {
  gpu.func @many(%t: i32) kernel {
    %c8 = arith.constant 8 : i32
    nvvm.barrier id = %c8 number_of_threads = %t
    // expected-error @below {{needs 8 barriers side by side, but a block has 16, of which the kernel uses 0, 8; expected fewer}}
    %b = cute_nvgpu.named_barriers 8
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @unknown(%t: i32, %i: i32) kernel {
    // expected-note @below {{the named barriers}}
    %b = cute_nvgpu.named_barriers 2
    // expected-error @below {{is a barrier whose number only the kernel knows, in one with named barriers; expected a constant, or a number that cute_nvgpu.named_barriers gives}}
    nvvm.barrier id = %i number_of_threads = %t
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @in_a_branch(%t: i32, %c: i1) kernel {
    scf.if %c {
      // expected-error @below {{makes barriers within a loop or a branch; expected it in the kernel's own block, where all threads have the same ones}}
      %b = cute_nvgpu.named_barriers 2
      nvvm.barrier id = %b number_of_threads = %t
    }
    gpu.return
  }
}
