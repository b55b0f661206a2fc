// Quotients by a kernel's arguments in loops, by reciprocals that a launch computes.
//
// RUN: cute-opt %s --cute-divide-by-arguments --canonicalize --cse | FileCheck %s

module attributes {gpu.container_module} {
// The first number past 2^62 / d, away from zero, behind the other arguments; one for each divisor.
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[D:[a-z0-9]+]]: i32, %[[BLOCKS:[a-z0-9]+]]: index
func.func @host(%p: !llvm.ptr<1>, %d: i32, %blocks: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : i32
  // CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[D]] : i32 to i64
  // CHECK-DAG: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[WIDE]], %c0_i64
  // CHECK-DAG: %[[DIVISOR:.*]] = arith.select %[[IS_ZERO]], %c1_i64, %[[WIDE]]
  // CHECK-DAG: %[[IS_BELOW:.*]] = arith.cmpi slt, %[[DIVISOR]], %c0_i64
  // CHECK-DAG: %[[FURTHER:.*]] = arith.select %[[IS_BELOW]], %c-1_i64, %c1_i64
  // CHECK-DAG: %[[QUOTIENT:.*]] = arith.divsi %c4611686018427387904_i64, %[[DIVISOR]]
  // CHECK-DAG: %[[RECIPROCAL:.*]] = arith.addi %[[QUOTIENT]], %[[FURTHER]]
  // Without signs, what has the sign's bit is more than any number that it divides.
  // CHECK: %[[UNSIGNED:.*]] = arith.select %[[IS_BELOW]], %c0_i64, %[[RECIPROCAL]]
  // CHECK: arith.maxsi
  // CHECK: gpu.launch_func
  // CHECK-SAME: args(%{{.*}} : !llvm.ptr<1>, %[[D]] : i32, %[[UNSIGNED]] : i64, %[[RECIPROCAL]] : i64, %{{.*}} : i64)
  gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %c0 args(%p : !llvm.ptr<1>, %d : i32)
  return
}

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @kernel(
  // CHECK-SAME:    %[[D:[a-z0-9]+]]: i32 {cute.divisor = 1 : i64}, %[[UNSIGNED:[a-z0-9]+]]: i64, %[[RECIPROCAL:[a-z0-9]+]]: i64, %[[OF_MORE:[a-z0-9]+]]: i64) kernel
  gpu.func @kernel(%p: !llvm.ptr<1>, %d: i32 {cute.divisor = 1 : i64}) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %c9 = arith.constant 9 : i32
    // Outside of a loop it is one division.
    // CHECK: arith.divsi %{{.*}}, %[[D]]
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i32
    %once = arith.divsi %t, %d : i32
    llvm.store %once, %p : i32, !llvm.ptr<1>
    // CHECK: scf.for %[[I:.*]] =
    scf.for %i = %c0 to %c9 step %c1 : i32 {
      // Of a number below 2^31, without signs.
      // CHECK-NEXT: %[[WIDE:.*]] = arith.extsi %[[I]] : i32 to i64
      // CHECK-NEXT: %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %c2_i64
      // CHECK-NEXT: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.nvvm.mulhi.ll"(%[[SHIFTED]], %[[UNSIGNED]])
      // CHECK-NEXT: %[[NARROW:.*]] = arith.trunci %[[HIGH]] : i64 to i32
      // CHECK-NEXT: llvm.store %[[NARROW]]
      // CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[NARROW]], %[[D]]
      // CHECK-NEXT: %[[REST:.*]] = arith.subi %[[I]], %[[BEFORE]]
      // CHECK-NEXT: llvm.store %[[REST]]
      %unsigned = arith.divui %i, %d : i32
      llvm.store %unsigned, %p : i32, !llvm.ptr<1>
      %rest = arith.remui %i, %d : i32
      llvm.store %rest, %p : i32, !llvm.ptr<1>
      // With signs, a quotient below zero is rounded up. The same in 64 bits needs no product more.
      // CHECK-NEXT: %[[SIGNED:.*]] = llvm.call_intrinsic "llvm.nvvm.mulhi.ll"(%[[SHIFTED]], %[[RECIPROCAL]])
      // CHECK-NEXT: %[[SIGN:.*]] = arith.shrui %[[SIGNED]], %c63_i64
      // CHECK-NEXT: %[[QUOTIENT:.*]] = arith.addi %[[SIGNED]], %[[SIGN]]
      // CHECK-NEXT: %[[NARROW_Q:.*]] = arith.trunci %[[QUOTIENT]] : i64 to i32
      // CHECK-NEXT: llvm.store %[[NARROW_Q]]
      // CHECK-NEXT: llvm.store %[[QUOTIENT]]
      %q = arith.divsi %i, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
      %wide = arith.extsi %i : i32 to i64
      %wide_d = arith.extsi %d : i32 to i64
      %wide_q = arith.divsi %wide, %wide_d : i64
      llvm.store %wide_q, %p : i64, !llvm.ptr<1>
      // A quotient of a quotient.
      // CHECK: %[[AGAIN:.*]] = arith.extsi %[[NARROW_Q]] : i32 to i64
      // CHECK: %[[SHIFTED_AGAIN:.*]] = arith.shli %[[AGAIN]], %c2_i64
      // CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ll"(%[[SHIFTED_AGAIN]], %[[RECIPROCAL]])
      %twice = arith.divsi %q, %d : i32
      llvm.store %twice, %p : i32, !llvm.ptr<1>
      // A launch computes what the argument comes to, too.
      // CHECK: llvm.call_intrinsic "llvm.nvvm.mulhi.ll"(%[[SHIFTED]], %[[OF_MORE]])
      %most = arith.maxsi %d, %c8 : i32
      %by_most = arith.divsi %i, %most : i32
      llvm.store %by_most, %p : i32, !llvm.ptr<1>
      // What changes in the loop it does not know, and of numbers of any size without signs it has no reciprocal.
      // CHECK: arith.divsi
      // CHECK: arith.divui
      %more = arith.addi %i, %c1 : i32
      %computed = arith.divsi %d, %more : i32
      llvm.store %computed, %p : i32, !llvm.ptr<1>
      %large = arith.divui %once, %d : i32
      llvm.store %large, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Nobody launches it here.
  // CHECK-LABEL: gpu.func @alone
  // CHECK: arith.divsi
  gpu.func @alone(%p: !llvm.ptr<1>, %d: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c9 = arith.constant 9 : i32
    scf.for %i = %c0 to %c9 step %c1 : i32 {
      %q = arith.divsi %i, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // The blocks of a launch, or those of its clusters, are known to it; so is a product of arguments, as 32 bits have it.
  // CHECK-LABEL: gpu.func @by_blocks
  // CHECK-SAME:    %[[D:[a-z0-9]+]]: i32, %[[OF_BLOCKS:[a-z0-9]+]]: i64, %[[OF_PRODUCT:[a-z0-9]+]]: i64) kernel
  // CHECK-NOT: arith.remui
  // CHECK-NOT: arith.divsi
  gpu.func @by_blocks(%p: !llvm.ptr<1>, %d: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c8 = arith.constant 8 : i32
    %c9 = arith.constant 9 : i32
    %dim = gpu.grid_dim x
    %blocks = arith.index_cast %dim : index to i32
    %clusters = arith.divui %blocks, %c2 : i32
    %product = arith.muli %d, %c8 : i32
    scf.for %i = %c0 to %c9 step %c1 : i32 {
      %own = arith.remui %i, %clusters : i32
      llvm.store %own, %p : i32, !llvm.ptr<1>
      %group = arith.divsi %i, %product : i32
      llvm.store %group, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}

// CHECK-LABEL: func.func @host_of_blocks(
// CHECK-SAME:    %{{.*}}, %[[D:[a-z0-9]+]]: i32, %[[BLOCKS:[a-z0-9]+]]: index
// CHECK-DAG: %[[WIDE:.*]] = arith.index_cast %[[BLOCKS]] : index to i64
// CHECK-DAG: arith.divui %[[WIDE]], %c2_i64
// CHECK-DAG: %[[WIDE_D:.*]] = arith.extsi %[[D]] : i32 to i64
// CHECK-DAG: %[[PRODUCT:.*]] = arith.muli %[[WIDE_D]], %c8_i64
// CHECK-DAG: %[[WRAPPED:.*]] = arith.trunci %[[PRODUCT]] : i64 to i32
// CHECK-DAG: arith.extsi %[[WRAPPED]] : i32 to i64
// CHECK: gpu.launch_func
func.func @host_of_blocks(%p: !llvm.ptr<1>, %d: i32, %blocks: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : i32
  gpu.launch_func @kernels::@by_blocks blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %c0 args(%p : !llvm.ptr<1>, %d : i32)
  return
}
}
