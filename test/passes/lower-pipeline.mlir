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

// -----

// A commit that need not be made counts for nothing: without it the copies of %f0 would still be under way.
// CHECK-LABEL: gpu.func @commit_in_a_branch
// CHECK: scf.if
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
gpu.module @kernels {
  gpu.func @commit_in_a_branch(%k: i32, %c: i1) kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %s0 = cute.pipeline.producer_acquire(%p, %free, %zero) : !cute.pipeline<3>
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    scf.if %c {
      nvvm.cp.async.commit.group
    }
    %r0 = cute.pipeline.consumer_wait(%p, %f0, %zero) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// Commits on both ways count: one at least.
// CHECK-LABEL: gpu.func @commit_in_both_branches
// CHECK: } else {
// CHECK: nvvm.cp.async.wait.group 1
gpu.module @kernels {
  gpu.func @commit_in_both_branches(%k: i32, %c: i1) kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    scf.if %c {
      %f1 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    } else {
      nvvm.cp.async.commit.group
      nvvm.cp.async.commit.group
    }
    %r0 = cute.pipeline.consumer_wait(%p, %f0, %zero) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// A barrier that need not be passed is none: another stands before the buffer is filled again.
// CHECK-LABEL: gpu.func @barrier_in_a_branch
// CHECK: scf.if
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @barrier_in_a_branch(%k: i32, %c: i1) kernel {
    %zero = arith.constant 0 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %s0 = cute.pipeline.producer_acquire(%p, %free, %zero) : !cute.pipeline<3>
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    %r0 = cute.pipeline.consumer_wait(%p, %f0, %zero) : !cute.pipeline<3>
    %d0 = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
    scf.if %c {
      gpu.barrier
    }
    %s1 = cute.pipeline.producer_acquire(%p, %d0, %zero) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// Producers and consumers in the branches of a condition that is the same for all threads; a token comes out of it.
// CHECK-LABEL: gpu.func @roles
// CHECK: %[[V:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.yield %{{.*}} : i32
// CHECK: } else {
// CHECK-NOT: nvvm.cp.async
// CHECK: scf.yield %{{.*}} : i32
// CHECK: }
// The token is of the commit, or of the release: none after either.
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @roles(%k: i32, %c: i1) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %t, %v = scf.if %c -> (!cute.token, i32) {
      %s0 = cute.pipeline.producer_acquire(%p, %free, %zero) : !cute.pipeline<3>
      %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
      scf.yield %f0, %s0 : !cute.token, i32
    } else {
      %d0 = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
      scf.yield %d0, %one : !cute.token, i32
    }
    %r = cute.pipeline.consumer_wait(%p, %t, %v) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// A loop that counts its turns itself carries tokens as one that is counted does.
// CHECK-LABEL: gpu.func @while
// CHECK: nvvm.cp.async.commit.group
// CHECK: %{{.*}} = scf.while (%[[I:.*]] = %{{.*}}) : (i32) -> i32 {
// CHECK:   scf.condition(%{{.*}}) %[[I]] : i32
// CHECK: } do {
// CHECK: ^bb0(%[[J:.*]]: i32):
// The commit of the turn before is the newest.
// CHECK:   nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK:   arith.remui %[[J]]
// CHECK:   nvvm.cp.async.commit.group
// CHECK:   scf.yield %{{.*}} : i32
// CHECK: }
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @while(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    %r, %last = scf.while (%i = %zero, %t = %f0) : (i32, !cute.token) -> (i32, !cute.token) {
      %c = arith.cmpi slt, %i, %n : i32
      scf.condition(%c) %i, %t : i32, !cute.token
    } do {
    ^bb0(%i: i32, %t: !cute.token):
      %s = cute.pipeline.consumer_wait(%p, %t, %i) : !cute.pipeline<3>
      %f = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
      %next = arith.addi %i, %one : i32
      scf.yield %next, %f : i32, !cute.token
    }
    %s = cute.pipeline.consumer_wait(%p, %last, %r) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// A loop may run not at all: what it commits counts for nothing after it.
// CHECK-LABEL: gpu.func @no_turn
// CHECK: scf.for
// CHECK: nvvm.cp.async.commit.group
// CHECK: }
// CHECK: nvvm.cp.async.wait.group 0
gpu.module @kernels {
  gpu.func @no_turn(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    scf.for %k = %zero to %n step %one : i32 {
      %f1 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    }
    %s = cute.pipeline.consumer_wait(%p, %f0, %zero) : !cute.pipeline<3>
    gpu.return
  }
}

// -----

// Branches in loops in branches.
// CHECK-LABEL: gpu.func @nested
// CHECK: scf.if
// CHECK:   scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK-NOT: !cute.token
// CHECK:     nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK:     scf.if
// CHECK:       nvvm.cp.async.commit.group
// CHECK:     } else {
// CHECK-NEXT: nvvm.cp.async.commit.group
// CHECK-NEXT: nvvm.cp.async.commit.group
gpu.module @kernels {
  gpu.func @nested(%n: i32, %c: i1, %d: i1) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    scf.if %c {
      %f0 = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
      %r = scf.for %k = %zero to %n step %one iter_args(%f = %f0) -> (!cute.token) : i32 {
        %s = cute.pipeline.consumer_wait(%p, %f, %k) : !cute.pipeline<3>
        %g = scf.if %d -> (!cute.token) {
          %then = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
          scf.yield %then : !cute.token
        } else {
          %more = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
          %else = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
          scf.yield %else : !cute.token
        }
        scf.yield %g : !cute.token
      }
    }
    gpu.return
  }
}

// -----

// What stores fill needs no group of copies, and one barrier a turn: the wait's, behind which the place that was read before is
// free as well.
// CHECK-LABEL: gpu.func @immediate
// CHECK-NOT: cp.async
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK:   cute.memref.store
// CHECK:   gpu.barrier
// CHECK:   cute.memref.load
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @immediate(%s: !cute.memref<f32, smem, align<16>, "(32,2):(1,32)">, %n: i32, %v: f32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2, immediate>, !cute.token
    %r:2 = scf.for %k = %zero to %n step %one iter_args(%a = %free, %b = %free) -> (!cute.token, !cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %b, %k) : !cute.pipeline<2, immediate>
      %to = cute.make_coord(%slot) : (i32) -> !cute.coord<"(0,?)">
      cute.memref.store(%s, %to, %v) : (!cute.memref<f32, smem, align<16>, "(32,2):(1,32)">, !cute.coord<"(0,?)">, f32) -> ()
      %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<2, immediate>
      %place = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<2, immediate>
      %from = cute.make_coord(%place) : (i32) -> !cute.coord<"(1,?)">
      %x = cute.memref.load(%s, %from) : (!cute.memref<f32, smem, align<16>, "(32,2):(1,32)">, !cute.coord<"(1,?)">) -> f32
      %done = cute.pipeline.consumer_release(%p) : !cute.pipeline<2, immediate>
      scf.yield %done, %a : !cute.token, !cute.token
    }
    gpu.return
  }
}

// -----

// A pipeline that a loop makes anew each turn finds its places as the turn before left them: others may still read.
// CHECK-LABEL: gpu.func @in_a_loop
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
gpu.module @kernels {
  gpu.func @in_a_loop(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    scf.for %k = %zero to %n step %one : i32 {
      %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
      %slot = cute.pipeline.producer_acquire(%p, %free, %zero) : !cute.pipeline<2>
      %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
      %place = cute.pipeline.consumer_wait(%p, %full, %zero) : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

// Two places that are given back without being waited for: in every other turn a barrier is missing, so that the ages at the start of
// a turn never come to rest. From some round on the least of them counts.
// CHECK-LABEL: gpu.func @by_turns
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:     gpu.barrier
gpu.module @kernels {
  gpu.func @by_turns(%n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %free, %b = %free) -> (!cute.token, !cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %a, %k) : !cute.pipeline<2>
      %done = cute.pipeline.consumer_release(%p) : !cute.pipeline<2>
      scf.yield %b, %done : !cute.token, !cute.token
    }
    gpu.return
  }
}
