// Cheaper ways to apply the same rules, to compare with: what facts decide is found by all of them.
//
// RUN: cute-opt %s --cute-simplify-indices=rules=eager --cse | FileCheck %s
// RUN: cute-opt %s --cute-simplify-indices=rules=greedy --cse | FileCheck %s
// RUN: cute-opt %s --cute-simplify-indices=rules=saturate --cse | FileCheck %s
// RUN: not cute-opt %s --cute-simplify-indices=rules=some 2>&1 | FileCheck %s --check-prefix=WRONG
//
// WRONG: expected saturate, eager, greedy or mlir, found 'some'

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @divisions
  // CHECK-NOT: arith.divui
  // CHECK-NOT: arith.remui
  // CHECK: gpu.return
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
}
