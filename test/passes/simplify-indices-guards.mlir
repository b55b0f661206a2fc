// What the condition of a branch says is used within the branch, for addresses and predicates, and nowhere else.
//
// RUN: cute-opt %s --cute-simplify-indices --cse | FileCheck %s
// RUN: cute-opt %s --cute-simplify-indices=explain=16 -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

gpu.module @kernels {
  // A place below the number of places is its own remainder. The other branch and what follows divide.
  // CHECK-LABEL: gpu.func @remainder
  gpu.func @remainder(%p: !llvm.ptr<3>, %i: i32) kernel {
    %c24 = arith.constant 24 : i32
    // CHECK: %[[BELOW:.*]] = arith.cmpi ult, %arg1, %c24_i32
    // CHECK: scf.if %[[BELOW]] {
    // CHECK-NEXT: llvm.store %arg1
    %is_below = arith.cmpi ult, %i, %c24 : i32
    scf.if %is_below {
      %a = arith.remui %i, %c24 : i32
      llvm.store %a, %p : i32, !llvm.ptr<3>
    // CHECK: } else {
    // CHECK-NEXT: %[[PLACES:.*]] = arith.divui %arg1, %c24_i32
    // CHECK-NEXT: %[[WHOLE:.*]] = arith.muli %[[PLACES]], %c24_i32
    // CHECK-NEXT: %[[LEFT:.*]] = arith.subi %arg1, %[[WHOLE]]
    // CHECK-NEXT: llvm.store %[[LEFT]]
    } else {
      %a = arith.remui %i, %c24 : i32
      llvm.store %a, %p : i32, !llvm.ptr<3>
    }
    gpu.return
  }
  // WHY: :16:{{.*}} in one step
  // WHY-NEXT: (% x0 24)
  // WHY-NEXT: = x0 by rem-small
  // WHY-NEXT: x0 is argument
  // WHY-NEXT: it is used where (ult x0 24) holds

  // The facts do not leave the branch: what is stored behind it is a remainder still.
  // CHECK-LABEL: gpu.func @behind
  // CHECK: scf.if
  // CHECK: }
  // CHECK: arith.divui %arg1, %c24_i32
  // CHECK: %[[LEFT:.*]] = arith.subi %arg1
  // CHECK: llvm.store %[[LEFT]]
  gpu.func @behind(%p: !llvm.ptr<3>, %i: i32) kernel {
    %c24 = arith.constant 24 : i32
    %is_below = arith.cmpi ult, %i, %c24 : i32
    scf.if %is_below {
      llvm.store %i, %p : i32, !llvm.ptr<3>
    }
    %a = arith.remui %i, %c24 : i32
    llvm.store %a, %p : i32, !llvm.ptr<3>
    gpu.return
  }

  // The threads of one warp are fewer than 32; those of the others are not.
  // CHECK-LABEL: gpu.func @warps
  // CHECK: scf.if
  // CHECK-NEXT: llvm.getelementptr %arg0[%[[T:[0-9a-z_]+]]]
  // CHECK-NEXT: llvm.store
  // CHECK-NEXT: } else {
  // CHECK: arith.andi %[[T]], %c31_i32
  gpu.func @warps(%p: !llvm.ptr<3>) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c96 = arith.constant 96 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %warp = arith.divui %t, %c32 : i32
    %is_first = arith.cmpi eq, %warp, %c0 : i32
    scf.if %is_first {
      %lane = arith.remui %t, %c32 : i32
      %row = arith.muli %warp, %c96 : i32
      %at = arith.addi %row, %lane : i32
      %q = llvm.getelementptr %p[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.store %c0, %q : i32, !llvm.ptr<3>
    } else {
      %lane = arith.remui %t, %c32 : i32
      %row = arith.muli %warp, %c96 : i32
      %at = arith.addi %row, %lane : i32
      %q = llvm.getelementptr %p[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      llvm.store %c32, %q : i32, !llvm.ptr<3>
    }
    gpu.return
  }

  // Below n, n - i is positive: it needs no sign, is not 0, and no maximum with 1. Both conditions of a conjunction are known, and those of
  // the branches around.
  // CHECK-LABEL: gpu.func @difference
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK-NOT: arith.cmpi
  // CHECK-NOT: arith.maxsi
  // CHECK-NOT: arith.extsi
  // CHECK: %[[REST:.*]] = arith.subi %arg2, %arg1
  // CHECK: arith.extui %[[REST]]
  // CHECK: gpu.return
  gpu.func @difference(%p: !llvm.ptr<3>, %i: i32 {cute.least = 0 : i64}, %n: i32 {cute.least = 0 : i64}, %m: i32, %other: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %is_there = arith.cmpi slt, %i, %n : i32
    %is_five = arith.cmpi eq, %m, %c5 : i32
    %both = arith.andi %is_there, %is_five : i1
    scf.if %both {
      %any = arith.cmpi sge, %other, %c1 : i32
      scf.if %any {
        %rest = arith.subi %n, %i : i32
        %most = arith.maxsi %rest, %c1 : i32
        %wide = arith.extsi %most : i32 to i64
        %is_other = arith.cmpi sge, %i, %n : i32
        %five = arith.select %is_other, %c1, %m : i32
        llvm.store %wide, %p : i64, !llvm.ptr<3>
        llvm.store %five, %p : i32, !llvm.ptr<3>
      }
    }
    gpu.return
  }

  // The counter of a loop is below its bound in the loop, and not behind it.
  // CHECK-LABEL: gpu.func @turn
  // CHECK: scf.for
  // CHECK-NOT: arith.cmpi
  // CHECK-NOT: arith.extsi
  // CHECK: }
  // CHECK: arith.cmpi slt, %c0_i32, %arg1
  // CHECK: gpu.return
  gpu.func @turn(%p: !llvm.ptr<3>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %is_there = arith.cmpi slt, %k, %n : i32
      llvm.store %is_there, %p : i1, !llvm.ptr<3>
      %rest = arith.subi %n, %k : i32
      %wide = arith.extsi %rest : i32 to i64
      llvm.store %wide, %p : i64, !llvm.ptr<3>
    }
    %any = arith.cmpi slt, %c0, %n : i32
    llvm.store %any, %p : i1, !llvm.ptr<3>
    gpu.return
  }

  // A branch within a loop: what a turn knows is not known in the next one.
  // CHECK-LABEL: gpu.func @turns
  // CHECK: scf.for
  // CHECK: arith.divui
  // CHECK: llvm.store
  // CHECK: scf.if
  // CHECK-NEXT: llvm.store %arg2
  gpu.func @turns(%p: !llvm.ptr<3>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c24 = arith.constant 24 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %some = llvm.load %p : !llvm.ptr<3> -> i32
      %before = arith.addi %some, %k : i32
      %a = arith.remui %before, %c24 : i32
      llvm.store %a, %p : i32, !llvm.ptr<3>
      %is_early = arith.cmpi slt, %k, %c24 : i32
      scf.if %is_early {
        %b = arith.remui %k, %c24 : i32
        llvm.store %b, %p : i32, !llvm.ptr<3>
      }
    }
    gpu.return
  }

  // The rank of a block stays below 2 outside of the branch as well: LLVM computes addresses ahead of branches, and there are two blocks.
  // CHECK-LABEL: gpu.func @early
  // CHECK: scf.if
  // CHECK-NEXT: %[[RANK:.*]] = arith.andi %arg1, %c1_i32
  // CHECK-NEXT: nvvm.mapa %arg0, %[[RANK]]
  gpu.func @early(%p: !llvm.ptr<3>, %i: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %is_below = arith.cmpi ult, %i, %c2 : i32
    scf.if %is_below {
      %rank = arith.remui %i, %c2 : i32
      %there = nvvm.mapa %p, %rank : !llvm.ptr<3> -> !llvm.ptr<7>
      llvm.store %c1, %there : i32, !llvm.ptr<7>
    }
    gpu.return
  }
}
