// Sums, quotients and comparisons of tuples: out and in again.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// The shorter tuple goes on with zeros.
// CHECK-LABEL: func.func @sums(
func.func @sums(%a: !cute.int_tuple<"(1,?,(3,4))">, %b: !cute.int_tuple<"(10,20)">, %z: !cute.int_tuple<"0">, %s: !cute.shape<"(8,?{i64})">, %t: !cute.shape<"(2,?)">) {
  // CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,?,(3,4))">, !cute.int_tuple<"(10,20)">) -> !cute.int_tuple<"(11,?,(3,4))">
  %0 = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?,(3,4))">, !cute.int_tuple<"(10,20)">) -> !cute.int_tuple<"(11,?,(3,4))">
  // CHECK: cute.tuple_add(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,?,(3,4))">) -> !cute.int_tuple<"(1,?,(3,4))">
  %1 = cute.tuple_add(%z, %a) : (!cute.int_tuple<"0">, !cute.int_tuple<"(1,?,(3,4))">) -> !cute.int_tuple<"(1,?,(3,4))">
  // CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,?,(3,4))">, !cute.int_tuple<"(10,20)">) -> !cute.int_tuple<"(-9,?,(3,4))">
  %2 = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(1,?,(3,4))">, !cute.int_tuple<"(10,20)">) -> !cute.int_tuple<"(-9,?,(3,4))">
  // CHECK: cute.tuple_sub(%{{.*}}, %{{.*}}) : (!cute.shape<"(8,?{i64})">, !cute.shape<"(2,?)">) -> !cute.shape<"(6,?{i64})">
  %3 = cute.tuple_sub(%s, %t) : (!cute.shape<"(8,?{i64})">, !cute.shape<"(2,?)">) -> !cute.shape<"(6,?{i64})">
  return
}

// CHECK-LABEL: func.func @quotients(
func.func @quotients(%a: !cute.shape<"(6,?,8)">, %b: !cute.shape<"(2,4,16)">, %c: !cute.shape<"12">, %t: !cute.tile<"[4:1;(2,2):(1,8)]">, %i: !cute.int_tuple<"(10,32)">, %d: !cute.shape<"(6,8)">) {
  // CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(6,?,8)">, !cute.shape<"(2,4,16)">) -> !cute.shape<"(3,?,1)">
  %0 = cute.shape_div(%a, %b) : (!cute.shape<"(6,?,8)">, !cute.shape<"(2,4,16)">) -> !cute.shape<"(3,?,1)">
  // CHECK: cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(6,8)">, !cute.shape<"12">) -> !cute.shape<"(1,4)">
  %1 = cute.shape_div(%d, %c) : (!cute.shape<"(6,8)">, !cute.shape<"12">) -> !cute.shape<"(1,4)">
  // CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(6,?,8)">, !cute.shape<"(2,4,16)">) -> !cute.shape<"(3,?,1)">
  %2 = cute.ceil_div(%a, %b) : (!cute.shape<"(6,?,8)">, !cute.shape<"(2,4,16)">) -> !cute.shape<"(3,?,1)">
  // By a tile, what a divide by it leaves: of 32 elements in blocks of 2 at distance 8, 4 a distance, 2 times.
  // CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(10,32)">, !cute.tile<"[4:1;(2,2):(1,8)]">) -> !cute.int_tuple<"(3,(4,2))">
  %3 = cute.ceil_div(%i, %t) : (!cute.int_tuple<"(10,32)">, !cute.tile<"[4:1;(2,2):(1,8)]">) -> !cute.int_tuple<"(3,(4,2))">
  return
}

// elem_less compares across kinds, equal within one.
// CHECK-LABEL: func.func @comparisons(
func.func @comparisons(%a: !cute.coord<"(?,(1,2))">, %s: !cute.shape<"(4,(2,?))">, %l: !cute.layout<"(4,?):(1,4)">, %m: !cute.layout<"8:1">) {
  // CHECK: cute.elem_less(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,(1,2))">, !cute.shape<"(4,(2,?))">) -> i1
  %0 = cute.elem_less(%a, %s) : (!cute.coord<"(?,(1,2))">, !cute.shape<"(4,(2,?))">) -> i1
  // CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"(4,?):(1,4)">) -> i1
  %1 = cute.equal(%l, %l) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"(4,?):(1,4)">) -> i1
  // CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"8:1">) -> i1
  %2 = cute.equal(%l, %m) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"8:1">) -> i1
  return
}
