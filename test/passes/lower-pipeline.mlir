// Wait counts and barriers from the ages of tokens, the least one over all ways there.
//
// RUN: cute-opt %s --cute-lower-pipeline --split-input-file | FileCheck %s

// CHECK-LABEL: gpu.func @counts
// CHECK-NOT: !cute.token
// A buffer that was never used needs no barrier.
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-3: nvvm.cp.async.commit.group
// Two commits came after the first one.
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: gpu.barrier
// No barrier has passed since the release.
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// One has, by now: no other.
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.return
gpu.module @kernels {
  gpu.func @counts(%k: i32) kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %s0 = cute.pipeline.producer_acquire(%p, %free, %zero) : !cute.pipeline<3>
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    %f1 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    %f2 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    %r0 = cute.pipeline.consumer_wait(%p, %f0, %zero) : !cute.pipeline<3>
    %d0 = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
    %s3 = cute.pipeline.producer_acquire(%p, %d0, %zero) : !cute.pipeline<3>
    %r1 = cute.pipeline.consumer_wait(%p, %f1, %zero) : !cute.pipeline<3>
    %s4 = cute.pipeline.producer_acquire(%p, %d0, %zero) : !cute.pipeline<3>
    cute.pipeline.producer_tail(%p) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// The token of the first iteration has one commit after it, those of later ones none: none it is.
// CHECK-LABEL: gpu.func @least
// CHECK: scf.for %[[K:[a-z0-9]*]] =
// CHECK-NOT: iter_args
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: arith.remui %[[K]], %{{.*}} : i32
gpu.module @kernels {
  gpu.func @least() kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
    %f1 = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
    %last = scf.for %k = %zero to %four step %one iter_args(%f = %f0) -> (!cute.token) : i32 {
      %slot = cute.pipeline.consumer_wait(%p, %f, %k) : !cute.pipeline<2>
      %next = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
      scf.yield %next : !cute.token
    }
    gpu.return
  }
}
