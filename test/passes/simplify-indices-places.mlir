// Places of what cute-simplify-indices computes: once for all that use it, outside of loops, and not before what keeps it from
// dividing by zero.
//
// RUN: cute-opt %s --cute-simplify-indices --cse | FileCheck %s

gpu.module @kernels {
  // A division that does not change in a loop comes before it; the condition that kept its divisor from being 0 does not.
  // CHECK-LABEL: gpu.func @guarded
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[DIVISOR:.*]] = arith.maxui %arg2, %[[ONE]]
  // CHECK: arith.divui %arg1, %[[DIVISOR]]
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK-NOT: arith.divui
  // CHECK: gpu.return
  gpu.func @guarded(%p: !llvm.ptr<1>, %n: i32, %d: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %some = arith.cmpi ne, %d, %c0 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      scf.if %some {
        %q = arith.divui %n, %d : i32
        llvm.store %q, %p : i32, !llvm.ptr<1>
      }
    }
    gpu.return
  }

  // A divisor that is known not to be 0 is taken as it is.
  // CHECK-LABEL: gpu.func @not_zero
  // CHECK-NOT: arith.maxui
  // CHECK: arith.divui %arg1, %arg2
  // CHECK: scf.for
  gpu.func @not_zero(%p: !llvm.ptr<1>, %n: i32, %d: i32 {cute.least = 1 : i64}) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %q = arith.divui %n, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Where each of two conditions guards the same division, it is made before both.
  // CHECK-LABEL: gpu.func @twice
  // CHECK: arith.maxui
  // CHECK: arith.divui
  // CHECK: scf.if
  // CHECK-NOT: arith.divui
  // CHECK: gpu.return
  gpu.func @twice(%p: !llvm.ptr<1>, %n: i32, %d: i32, %a: i1, %b: i1) kernel {
    scf.if %a {
      %q = arith.divui %n, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    scf.if %b {
      %q = arith.divui %n, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // A division where it stood needs no guard, and one with a sign stays where it stands if its divisor may be 0 or -1.
  // CHECK-LABEL: gpu.func @stays
  // CHECK-NOT: arith.maxui
  // CHECK: scf.if
  // CHECK: arith.divui %arg1, %arg2
  // CHECK: scf.for
  // CHECK: scf.if
  // CHECK: arith.divsi %arg1, %arg2
  gpu.func @stays(%p: !llvm.ptr<1>, %n: i32, %d: i32, %a: i1) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.if %a {
      %q = arith.divui %n, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    scf.for %k = %c0 to %n step %c1 : i32 {
      scf.if %a {
        %q = arith.divsi %n, %d : i32
        llvm.store %q, %p : i32, !llvm.ptr<1>
      }
    }
    gpu.return
  }

  // Both branches of one condition use it: only one is executed, so each makes its own, and nothing is kept in registers before.
  // CHECK-LABEL: gpu.func @either
  // CHECK-NOT: arith.xori
  // CHECK: scf.if
  // CHECK: arith.xori
  // CHECK: } else {
  // CHECK: arith.xori
  // CHECK: gpu.return
  gpu.func @either(%p: !llvm.ptr<1>, %n: i32, %m: i32, %a: i1) kernel {
    scf.if %a {
      %q = arith.xori %n, %m : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    } else {
      %q = arith.xori %n, %m : i32
      llvm.store volatile %q, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Rows of a tile in global memory: the part of the thread is added to the pointer before the loop, the turn once in it, and
  // to that a multiple of the leading dimension a row.
  // CHECK-LABEL: gpu.func @rows
  // CHECK: %[[THREAD:.*]] = llvm.getelementptr %arg0[
  // CHECK: scf.for
  // CHECK: %[[TURN:.*]] = llvm.getelementptr %[[THREAD]][
  // CHECK: %[[ROW:.*]] = llvm.getelementptr %[[TURN]][
  // CHECK: llvm.load volatile %[[TURN]]
  // CHECK: llvm.load volatile %[[ROW]]
  // CHECK: gpu.return
  gpu.func @rows(%p: !llvm.ptr<1>, %n: i32, %ld: i64) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i64
    %c128 = arith.constant 128 : i64
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i64
    scf.for %k = %c0 to %n step %c1 : i32 {
      %w = arith.extsi %k : i32 to i64
      %turn = arith.muli %w, %c128 : i64
      %first = arith.muli %t, %ld : i64
      %a = arith.addi %first, %turn : i64
      %row = arith.addi %t, %c16 : i64
      %second = arith.muli %row, %ld : i64
      %b = arith.addi %second, %turn : i64
      %pa = llvm.getelementptr %p[%a] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %pb = llvm.getelementptr %p[%b] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      %va = llvm.load volatile %pa : !llvm.ptr<1> -> i32
      %vb = llvm.load volatile %pb : !llvm.ptr<1> -> i32
    }
    gpu.return
  }

  // An address from an address.
  // CHECK-LABEL: gpu.func @chain
  // CHECK: %[[A:.*]] = llvm.getelementptr %arg0[
  // CHECK: %[[B:.*]] = llvm.getelementptr %[[A]][
  // CHECK: llvm.store %arg1, %[[B]]
  gpu.func @chain(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c8 = arith.constant 8 : i64
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i64
    %a = arith.muli %t, %c8 : i64
    %b = arith.muli %a, %c8 : i64
    %pa = llvm.getelementptr %p[%a] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    %pb = llvm.getelementptr %pa[%b] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
    llvm.store %n, %pb : i32, !llvm.ptr<1>
    gpu.return
  }

  // Blocks that jump to each other are left alone.
  // CHECK-LABEL: gpu.func @jumps
  // CHECK: arith.divui
  gpu.func @jumps(%p: !llvm.ptr<1>, %n: i32, %a: i1) kernel {
    %c1 = arith.constant 1 : i32
    cf.cond_br %a, ^next, ^end
  ^next:
    %q = arith.divui %n, %c1 : i32
    llvm.store %q, %p : i32, !llvm.ptr<1>
    cf.br ^end
  ^end:
    gpu.return
  }

  // What can be computed while the kernel waits for others stands before the wait: not what is loaded behind it.
  // CHECK-LABEL: gpu.func @ahead_of_wait
  // CHECK: scf.for %[[I:.*]] = {{.*}} {
  // CHECK: %[[Q:.*]] = arith.divui %[[I]], %{{.*}} : i32
  // CHECK: nvvm.griddepcontrol wait
  // CHECK: %[[LOADED:.*]] = llvm.load
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: llvm.store %[[SUM]]
  // CHECK: llvm.store %[[Q]]
  gpu.func @ahead_of_wait(%p: !llvm.ptr<1>, %n: i32, %d: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      nvvm.griddepcontrol wait
      %loaded = llvm.load %p : !llvm.ptr<1> -> i32
      %sum = arith.addi %loaded, %i : i32
      llvm.store %sum, %p : i32, !llvm.ptr<1>
      %q = arith.divui %i, %d : i32
      llvm.store %q, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}
