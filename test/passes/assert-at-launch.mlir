// What a kernel asserts of its arguments alone, a launch asserts.
//
// RUN: cute-opt %s --cute-assert-at-launch --canonicalize --cse | FileCheck %s

module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: i32, %[[LD:[a-z0-9]+]]: i32, %[[BLOCKS:[a-z0-9]+]]: index
func.func @host(%p: !llvm.ptr<1>, %m: i32, %ld: i32, %blocks: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : i32
  // Of no blocks nothing is asked.
  // CHECK-DAG: %[[NONE:.*]] = arith.cmpi eq, %[[BLOCKS]], %c0
  // CHECK-DAG: %[[WIDE_M:.*]] = arith.extsi %[[M]] : i32 to i64
  // CHECK-DAG: %[[SOME:.*]] = arith.cmpi sge, %[[WIDE_M]], %c1_i64
  // CHECK: %[[HOLDS:.*]] = arith.ori %[[NONE]], %[[SOME]]
  // CHECK-NEXT: cf.assert %[[HOLDS]], "some rows"
  // A product that is the same in 32 bits and in 64 fits 32, where the branch is taken.
  // CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c64_i64
  // CHECK-DAG: arith.cmpi sge, %[[BYTES]], %c-2147483648_i64
  // CHECK-DAG: arith.cmpi sle, %[[BYTES]], %c2147483647_i64
  // CHECK: cf.assert %{{.*}}, "it fits"
  // CHECK-NOT: cf.assert
  // CHECK: gpu.launch_func
  gpu.launch_func @kernels::@kernel blocks in (%blocks, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %c0 args(%p : !llvm.ptr<1>, %m : i32, %ld : i32)
  return
}

gpu.module @kernels {
  // What follows for an argument stands on it.
  // CHECK-LABEL: gpu.func @kernel(
  // CHECK-SAME:    i32 {cute.least = 1 : i64, llvm.range = #llvm.constant_range<i32, 1, -2147483648>}, %{{.*}}: i32)
  gpu.func @kernel(%p: !llvm.ptr<1>, %m: i32, %ld: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %w64 = arith.constant 64 : i64
    %some = arith.cmpi sle, %c1, %m : i32
    // CHECK-NOT: "some rows"
    cf.assert %some, "some rows"
    // It holds for all arguments.
    // CHECK-NOT: "at least one"
    %least = arith.maxsi %ld, %c1 : i32
    %one = arith.cmpi slt, %c0, %least : i32
    cf.assert %one, "at least one"
    %many = arith.cmpi slt, %c64, %m : i32
    scf.if %many {
      // CHECK-NOT: "it fits"
      %bytes = arith.muli %ld, %c64 : i32
      %extended = arith.extsi %bytes : i32 to i64
      %wide = arith.extsi %ld : i32 to i64
      %same = arith.muli %wide, %w64 : i64
      %fits = arith.cmpi eq, %extended, %same : i64
      cf.assert %fits, "it fits"
      scf.for %i = %c0 to %m step %c1 : i32 {
        // It is asked before.
        cf.assert %fits, "it fits"
        llvm.store %i, %p : i32, !llvm.ptr<1>
      }
    }
    // A sum that may wrap is asked about in the kernel, and so is what no launch knows, what a loop asks, and what is not as the numbers are.
    // CHECK: cf.assert %{{.*}}, "a sum"
    %sum = arith.addi %m, %ld : i32
    %positive = arith.cmpi slt, %c0, %sum : i32
    cf.assert %positive, "a sum"
    // CHECK: cf.assert %{{.*}}, "a thread"
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i32
    %first = arith.cmpi slt, %t, %m : i32
    cf.assert %first, "a thread"
    // CHECK: cf.assert %{{.*}}, "a turn"
    %narrow = arith.cmpi slt, %ld, %c64 : i32
    scf.for %i = %c0 to %ld step %c1 : i32 {
      cf.assert %narrow, "a turn"
      llvm.store %i, %p : i32, !llvm.ptr<1>
    }
    // CHECK: cf.assert %{{.*}}, "no signs"
    %unsigned = arith.cmpi ult, %ld, %c64 : i32
    cf.assert %unsigned, "no signs"
    gpu.return
  }

  // Nobody launches it here.
  // CHECK-LABEL: gpu.func @alone
  // CHECK: cf.assert
  gpu.func @alone(%m: i32) kernel {
    %c1 = arith.constant 1 : i32
    %some = arith.cmpi sle, %c1, %m : i32
    cf.assert %some, "some rows"
    gpu.return
  }

  // A product of an argument and a constant that is known to fit is one of 64 bits where it is extended; what is asserted in a branch only stays.
  // CHECK-LABEL: gpu.func @strides(
  // CHECK-SAME:    %[[P:[a-z0-9]+]]: !llvm.ptr<1>, %[[LD:[a-z0-9]+]]: i32, %[[OTHER:[a-z0-9]+]]: i32)
  // CHECK-DAG: %[[WIDE:.*]] = arith.extsi %[[LD]] : i32 to i64
  // CHECK: %[[ROWS:.*]] = arith.muli %[[WIDE]], %c16_i64
  // CHECK: llvm.store %[[ROWS]]
  // CHECK: %[[NARROW:.*]] = arith.muli %[[OTHER]], %c16_i32
  // CHECK: %[[EXTENDED:.*]] = arith.extsi %[[NARROW]]
  // CHECK: llvm.store %[[EXTENDED]]
  gpu.func @strides(%p: !llvm.ptr<1>, %ld: i32, %other: i32) kernel {
    %c16 = arith.constant 16 : i32
    %w16 = arith.constant 16 : i64
    %rows = arith.muli %ld, %c16 : i32
    %extended = arith.extsi %rows : i32 to i64
    %wide = arith.extsi %ld : i32 to i64
    %same = arith.muli %wide, %w16 : i64
    %fits = arith.cmpi eq, %extended, %same : i64
    cf.assert %fits, "rows fit"
    %again = arith.muli %ld, %c16 : i32
    %offset = arith.extsi %again : i32 to i64
    llvm.store %offset, %p : i64, !llvm.ptr<1>
    %of_other = arith.muli %other, %c16 : i32
    %unknown = arith.extsi %of_other : i32 to i64
    llvm.store %unknown, %p : i64, !llvm.ptr<1>
    gpu.return
  }
}

// CHECK-LABEL: func.func @host_of_strides
// CHECK: cf.assert %{{.*}}, "rows fit"
func.func @host_of_strides(%p: !llvm.ptr<1>, %ld: i32, %other: i32) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : i32
  gpu.launch_func @kernels::@strides blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    dynamic_shared_memory_size %c0 args(%p : !llvm.ptr<1>, %ld : i32, %other : i32)
  return
}
}
