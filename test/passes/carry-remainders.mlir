// Remainders of loop counters as values that loops carry.
//
// RUN: cute-opt %s --cute-carry-remainders --canonicalize --cse | FileCheck %s

gpu.module @kernels {
  // The place of a ring of three: what it is in the first turn, then one more or 0 again.
  // CHECK-LABEL: gpu.func @ring
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i32
  // CHECK: scf.for %{{.*}} = %[[TWO]] to %{{.*}} step %[[ONE]] iter_args(%[[SLOT:.*]] = %[[TWO]])
  // CHECK-NEXT: llvm.store %[[SLOT]]
  // CHECK-NEXT: %[[MORE:.*]] = arith.addi %[[SLOT]], %[[ONE]]
  // CHECK-NEXT: %[[WRAPS:.*]] = arith.cmpi eq, %[[MORE]], %[[THREE]]
  // CHECK-NEXT: %[[NEXT:.*]] = arith.select %[[WRAPS]], %[[ZERO]], %[[MORE]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  gpu.func @ring(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    scf.for %i = %c2 to %n step %c1 : i32 {
      %slot = arith.remui %i, %c3 : i32
      llvm.store %slot, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Remainders that are a step apart hand each other on. The loop carried a value already, which stays the first.
  // CHECK-LABEL: gpu.func @handed_on
  // CHECK: %[[SUM:.*]]:3 = scf.for {{.*}} iter_args(%[[OWN:.*]] = %{{.*}}, %[[READ:.*]] = %{{.*}}, %[[WRITTEN:.*]] = %{{.*}})
  // CHECK: %[[NEW:.*]] = arith.addi %[[OWN]], %[[WRITTEN]]
  // CHECK-NEXT: %[[MORE:.*]] = arith.addi %[[WRITTEN]], %{{.*}}
  // CHECK-NEXT: arith.cmpi
  // CHECK-NEXT: %[[NEXT:.*]] = arith.select
  // CHECK-NEXT: scf.yield %[[NEW]], %[[WRITTEN]], %[[NEXT]]
  // CHECK: llvm.store %[[SUM]]#0
  gpu.func @handed_on(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %sum = scf.for %i = %c4 to %n step %c1 iter_args(%s = %c0) -> i32 : i32 {
      %before = arith.subi %i, %c1 : i32
      %written = arith.remui %i, %c5 : i32
      %read = arith.remui %before, %c5 : i32
      llvm.store %read, %p : i32, !llvm.ptr<1>
      %next = arith.addi %s, %written : i32
      scf.yield %next : i32
    }
    llvm.store %sum, %p : i32, !llvm.ptr<1>
    gpu.return
  }

  // Where a round of remainders is complete, nothing is computed at all.
  // CHECK-LABEL: gpu.func @all_three
  // CHECK: iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
  // CHECK-NOT: arith
  // CHECK: scf.yield %[[B]], %[[C]], %[[A]]
  gpu.func @all_three(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    scf.for %i = %c3 to %n step %c1 : i32 {
      %b = arith.addi %i, %c1 : i32
      %c = arith.addi %c2, %i : i32
      %x = arith.remui %i, %c3 : i32
      %y = arith.remui %b, %c3 : i32
      %z = arith.remui %c, %c3 : i32
      llvm.store %x, %p : i32, !llvm.ptr<1>
      llvm.store %y, %p : i32, !llvm.ptr<1>
      llvm.store %z, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // A step of several, in a branch: the sum may pass the divisor by more than nothing.
  // CHECK-LABEL: gpu.func @wide_steps
  // CHECK-DAG: %[[FIVE:.*]] = arith.constant 5 : i32
  // CHECK-DAG: %[[SIX:.*]] = arith.constant 6 : i32
  // CHECK-DAG: %[[LEAP:.*]] = arith.constant -1 : i32
  // CHECK: iter_args(%[[SLOT:.*]] = %{{.*}})
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %[[SLOT]]
  // CHECK: %[[MORE:.*]] = arith.addi %[[SLOT]], %[[FIVE]]
  // CHECK-NEXT: %[[WRAPS:.*]] = arith.cmpi uge, %[[MORE]], %[[SIX]]
  // CHECK-NEXT: %[[LESS:.*]] = arith.addi %[[SLOT]], %[[LEAP]]
  // CHECK-NEXT: %[[NEXT:.*]] = arith.select %[[WRAPS]], %[[LESS]], %[[MORE]]
  // CHECK-NEXT: scf.yield %[[NEXT]]
  gpu.func @wide_steps(%p: !llvm.ptr<1>, %n: i32, %is: i1) kernel {
    %c0 = arith.constant 0 : i32
    %c6 = arith.constant 6 : i32
    %c11 = arith.constant 11 : i32
    scf.for %i = %c0 to %n step %c11 : i32 {
      scf.if %is {
        %slot = arith.remui %i, %c6 : i32
        llvm.store %slot, %p : i32, !llvm.ptr<1>
      }
    }
    gpu.return
  }

  // What stays: a power of two; a start that is not known; what is below 0 in the first turn, and a large number without a sign;
  // a counter without a sign, which may pass 2^31; a loop's own carried value.
  // CHECK-LABEL: gpu.func @others
  // CHECK-COUNT-5: arith.remui
  // CHECK-NOT: iter_args({{.*}}, {{.*}})
  gpu.func @others(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c6 = arith.constant 6 : i32
    scf.for %i = %n to %c6 step %c1 : i32 {
      %slot = arith.remui %i, %c3 : i32
      llvm.store %slot, %p : i32, !llvm.ptr<1>
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      %before = arith.subi %i, %c1 : i32
      %slot = arith.remui %before, %c3 : i32
      llvm.store %slot, %p : i32, !llvm.ptr<1>
    }
    scf.for unsigned %i = %c0 to %n step %c1 : i32 {
      %slot = arith.remui %i, %c3 : i32
      llvm.store %slot, %p : i32, !llvm.ptr<1>
    }
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%s = %n) -> i32 : i32 {
      %slot = arith.remui %s, %c3 : i32
      %next = arith.addi %slot, %i : i32
      scf.yield %next : i32
    }
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %slot = arith.remui %i, %c4 : i32
      llvm.store %slot, %p : i32, !llvm.ptr<1>
    }
    llvm.store %last, %p : i32, !llvm.ptr<1>
    gpu.return
  }

  // The number of a turn, where the step is no constant, is one more each turn; what is another distance, or divided by something else, stays.
  // CHECK-LABEL: gpu.func @number
  // CHECK-SAME: %{{.*}}, %[[FROM:[a-z0-9]+]]: i32, %[[TO:[a-z0-9]+]]: i32, %[[STEP:[a-z0-9]+]]: i32)
  // CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %[[STEP]] iter_args(%[[NUMBER:.*]] = %{{.*}})
  // CHECK-NEXT: %[[AWAY:.*]] = arith.subi %[[I]], %[[FROM]]
  // CHECK-NEXT: llvm.store %[[NUMBER]]
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %[[NUMBER]]
  // CHECK: arith.divui %[[I]], %[[STEP]]
  // CHECK: arith.divui %[[AWAY]], %[[TO]]
  // CHECK: %[[NEXT:.*]] = arith.addi %[[NUMBER]], %{{.*}}
  // CHECK-NEXT: scf.yield %[[NEXT]]
  gpu.func @number(%p: !llvm.ptr<1>, %from: i32, %to: i32, %step: i32) kernel {
    scf.for %i = %from to %to step %step : i32 {
      %away = arith.subi %i, %from : i32
      %number = arith.divui %away, %step : i32
      llvm.store %number, %p : i32, !llvm.ptr<1>
      %is_step = arith.cmpi eq, %i, %step : i32
      scf.if %is_step {
        %same = arith.divui %away, %step : i32
        llvm.store %same, %p : i32, !llvm.ptr<1>
      }
      %from_zero = arith.divui %i, %step : i32
      llvm.store %from_zero, %p : i32, !llvm.ptr<1>
      %by_another = arith.divui %away, %to : i32
      llvm.store %by_another, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @number_from_zero
  // CHECK: iter_args(%[[NUMBER:.*]] = %{{.*}})
  // CHECK-NEXT: llvm.store %[[NUMBER]]
  // CHECK-NOT: arith.divui
  gpu.func @number_from_zero(%p: !llvm.ptr<1>, %to: i32, %step: i32) kernel {
    %c0 = arith.constant 0 : i32
    scf.for unsigned %i = %c0 to %to step %step : i32 {
      %number = arith.divui %i, %step : i32
      llvm.store %number, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}
