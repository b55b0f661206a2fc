// Predicates of copied rows: through elements of vectors, what does not change in a loop before it, and what does once for all rows.
//
// RUN: cute-opt %s --cute-simplify-indices --cse | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @rows
  // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %arg1, %arg3
  // CHECK: %[[SECOND:.*]] = arith.cmpi slt, %arg2, %arg3
  // CHECK: scf.for
  // CHECK-NOT: llvm.insertelement
  // CHECK-NOT: llvm.extractelement
  // CHECK-DAG: %[[COLUMN:.*]] = arith.cmpi slt, %arg5, %arg4
  // CHECK-DAG: %[[TURN:.*]] = arith.cmpi eq
  // CHECK: %[[BOTH:.*]] = arith.andi {{%.*}}, {{%.*}} : i1
  // CHECK: %[[A:.*]] = arith.andi %[[FIRST]], %[[BOTH]]
  // CHECK: llvm.store %[[A]]
  // CHECK-NOT: arith.cmpi
  // CHECK: %[[B:.*]] = arith.andi %[[SECOND]], %[[BOTH]]
  // CHECK: llvm.store %[[B]]
  gpu.func @rows(%p: !llvm.ptr<3>, %i: i32, %j: i32, %m: i32, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi slt, %i, %m : i32
    %second = arith.cmpi slt, %j, %m : i32
    %none = llvm.mlir.poison : vector<2xi1>
    scf.for %k = %c0 to %m step %c1 : i32 {
      %column = arith.cmpi slt, %k, %n : i32
      %a = arith.andi %first, %column : i1
      %b = arith.andi %second, %column : i1
      %one = llvm.insertelement %a, %none[%c0 : i32] : vector<2xi1>
      %both = llvm.insertelement %b, %one[%c1 : i32] : vector<2xi1>
      %a2 = llvm.extractelement %both[%c0 : i32] : vector<2xi1>
      %b2 = llvm.extractelement %both[%c1 : i32] : vector<2xi1>
      %loaded = llvm.load %p : !llvm.ptr<3> -> i32
      %turn = arith.cmpi eq, %loaded, %c1 : i32
      %a3 = arith.andi %a2, %turn : i1
      %b3 = arith.andi %b2, %turn : i1
      llvm.store %a3, %p : i1, !llvm.ptr<3>
      llvm.store %b3, %p : i1, !llvm.ptr<3>
    }
    gpu.return
  }

  // An element that was put elsewhere, or at a place that is not known, is not seen through; a vector that is used stays.
  // CHECK-LABEL: gpu.func @elsewhere
  // CHECK: %[[ONE:.*]] = llvm.insertelement %arg2
  // CHECK: %[[SOME:.*]] = llvm.insertelement %arg3, %[[ONE]][%arg1
  // CHECK: llvm.extractelement %[[SOME]]
  // CHECK: llvm.store %[[ONE]]
  gpu.func @elsewhere(%p: !llvm.ptr<3>, %at: i32, %x: i32, %y: i32) kernel {
    %c0 = arith.constant 0 : i32
    %none = llvm.mlir.poison : vector<2xi32>
    %one = llvm.insertelement %x, %none[%c0 : i32] : vector<2xi32>
    %some = llvm.insertelement %y, %one[%at : i32] : vector<2xi32>
    %z = llvm.extractelement %some[%c0 : i32] : vector<2xi32>
    %sum = arith.addi %z, %x : i32
    llvm.store %sum, %p : i32, !llvm.ptr<3>
    llvm.store %one, %p : vector<2xi32>, !llvm.ptr<3>
    gpu.return
  }
}
