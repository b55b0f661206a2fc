// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-number-barriers)))" | FileCheck %s
//
// Named barriers get numbers that nothing else has: 0 is gpu.barrier's, 1 and 3 are written, so that three side by side begin at 4 and one is 2.

gpu.module @m {
  // CHECK-LABEL: gpu.func @numbered
  gpu.func @numbered(%group: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c64 = arith.constant 64 : i32
    // CHECK: %[[THREE:.*]] = arith.constant 4 : i32
    // CHECK: %[[ONE:.*]] = arith.constant 2 : i32
    // CHECK-NOT: cute_nvgpu.named_barriers
    %three = cute_nvgpu.named_barriers 3
    %one = cute_nvgpu.named_barriers 1
    nvvm.barrier id = %c1 number_of_threads = %c64
    nvvm.barrier.arrive id = %c3 number_of_threads = %c64
    // CHECK: %[[OWN:.*]] = arith.addi %[[THREE]], %{{.*}} : i32
    %own = arith.addi %three, %group : i32
    // CHECK: nvvm.barrier id = %[[OWN]]
    nvvm.barrier id = %own number_of_threads = %c64
    // CHECK: nvvm.barrier id = %[[ONE]]
    nvvm.barrier id = %one number_of_threads = %c64
    gpu.barrier
    gpu.return
  }
}
