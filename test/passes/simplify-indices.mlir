// Index arithmetic of a kernel, with what is known of its indices.
//
// RUN: cute-opt %s --cute-simplify-indices --cse | FileCheck %s

gpu.module @kernels {
  // Divisions by powers of two, and those that a thread index below 128 makes pointless.
  // CHECK-LABEL: gpu.func @divisions
  // CHECK-NOT: arith.divui
  // CHECK-NOT: arith.remui
  // CHECK: llvm.getelementptr
  gpu.func @divisions(%p: !llvm.ptr<3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %a = arith.divui %t, %c8 : i32
    %b = arith.remui %a, %c64 : i32
    %c = arith.divui %t, %c128 : i32
    %d = arith.muli %c, %c64 : i32
    %e = arith.addi %b, %d : i32
    %q = llvm.getelementptr %p[%e] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %q : !llvm.ptr<3> -> i8
    llvm.store %v, %p : i8, !llvm.ptr<3>
    gpu.return
  }

  // Without the block's size nothing is known of the thread: the second division stays, as a shift.
  // CHECK-LABEL: gpu.func @unknown
  // CHECK: arith.shrui
  // CHECK: gpu.return
  gpu.func @unknown(%p: !llvm.ptr<3>) kernel {
    %c128 = arith.constant 128 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %c = arith.divui %t, %c128 : i32
    %q = llvm.getelementptr %p[%c] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %q : !llvm.ptr<3> -> i8
    llvm.store %v, %p : i8, !llvm.ptr<3>
    gpu.return
  }

  // Two rows of a swizzled tile: one swizzled base, and a constant in the address.
  // CHECK-LABEL: gpu.func @swizzled
  // CHECK: %[[BASE:.*]] = arith.xori
  // CHECK-NOT: arith.xori
  // CHECK: llvm.getelementptr %{{.*}}[%[[BASE]]]
  // CHECK: llvm.getelementptr %{{.*}}[1024]
  gpu.func @swizzled(%p: !llvm.ptr<3>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c3 = arith.constant 3 : i32
    %c32 = arith.constant 32 : i32
    %c384 = arith.constant 384 : i32
    %c1024 = arith.constant 1024 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %o = arith.muli %t, %c32 : i32
    %m0 = arith.andi %o, %c384 : i32
    %s0 = arith.shrui %m0, %c3 : i32
    %x0 = arith.xori %o, %s0 : i32
    %o1 = arith.addi %o, %c1024 : i32
    %m1 = arith.andi %o1, %c384 : i32
    %s1 = arith.shrui %m1, %c3 : i32
    %x1 = arith.xori %o1, %s1 : i32
    %q0 = llvm.getelementptr %p[%x0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %q1 = llvm.getelementptr %p[%x1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %q0 : !llvm.ptr<3> -> i8
    llvm.store %v, %q1 : i8, !llvm.ptr<3>
    gpu.return
  }

  // What does not change in a loop is computed before it.
  // CHECK-LABEL: gpu.func @hoisted
  // CHECK: arith.andi
  // CHECK: scf.for
  // CHECK-NOT: arith.andi
  // CHECK: gpu.return
  gpu.func @hoisted(%p: !llvm.ptr<3>, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %one = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    scf.for %k = %zero to %four step %one : i32 {
      %a = arith.remui %n, %c64 : i32
      %b = arith.muli %k, %c64 : i32
      %c = arith.addi %a, %b : i32
      %q = llvm.getelementptr %p[%c] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %v = llvm.load %q : !llvm.ptr<3> -> i8
      llvm.store %v, %p : i8, !llvm.ptr<3>
    }
    gpu.return
  }
}
