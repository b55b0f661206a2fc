// Sizes, and coordinates to indices and back: out and in again.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// CHECK-LABEL: func.func @sizes(
func.func @sizes(%l: !cute.layout<"((2,4),?{i64}):((1,4),32)">, %s: !cute.shape<"(3,(2,0))">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, %b: !cute.layout<"(4,3):(1@0,2@1)">) {
  // CHECK: cute.size (%{{.*}}) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"?{i64}">
  %0 = cute.size(%l) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"?{i64}">
  // CHECK: cute.size<[0]> (%{{.*}}) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"8">
  %1 = cute.size<[0]>(%l) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"8">
  // CHECK: cute.size<[0, 1]> (%{{.*}}) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"4">
  %2 = cute.size<[0, 1]>(%l) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"4">
  // CHECK: cute.size (%{{.*}}) : (!cute.shape<"(3,(2,0))">) -> !cute.int_tuple<"0">
  %3 = cute.size(%s) : (!cute.shape<"(3,(2,0))">) -> !cute.int_tuple<"0">
  // CHECK: cute.size (%{{.*}}) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">) -> !cute.int_tuple<"64">
  %4 = cute.size(%c) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">) -> !cute.int_tuple<"64">
  // CHECK: cute.cosize<[0]> (%{{.*}}) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"14">
  %5 = cute.cosize<[0]>(%l) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"14">
  // CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"?{i64}">
  %6 = cute.cosize(%l) : (!cute.layout<"((2,4),?{i64}):((1,4),32)">) -> !cute.int_tuple<"?{i64}">
  // CHECK: cute.cosize (%{{.*}}) : (!cute.layout<"(4,3):(1@0,2@1)">) -> !cute.int_tuple<"20">
  %7 = cute.cosize(%b) : (!cute.layout<"(4,3):(1@0,2@1)">) -> !cute.int_tuple<"20">
  return
}

// CHECK-LABEL: func.func @products(
func.func @products(%s: !cute.shape<"(2,(3,?))">, %t: !cute.int_tuple<"(2,(3,5))">) {
  // CHECK: cute.tuple_product(%{{.*}}) : (!cute.shape<"(2,(3,?))">) -> !cute.shape<"?">
  %0 = cute.tuple_product(%s) : (!cute.shape<"(2,(3,?))">) -> !cute.shape<"?">
  // CHECK: cute.tuple_product(%{{.*}}) : (!cute.int_tuple<"(2,(3,5))">) -> !cute.int_tuple<"30">
  %1 = cute.tuple_product(%t) : (!cute.int_tuple<"(2,(3,5))">) -> !cute.int_tuple<"30">
  // CHECK: cute.tuple_product_each(%{{.*}}) : (!cute.shape<"(2,(3,?))">) -> !cute.shape<"(2,?)">
  %2 = cute.tuple_product_each(%s) : (!cute.shape<"(2,(3,?))">) -> !cute.shape<"(2,?)">
  // CHECK: cute.tuple_product_each(%{{.*}}) : (!cute.int_tuple<"(2,(3,5))">) -> !cute.int_tuple<"(2,15)">
  %3 = cute.tuple_product_each(%t) : (!cute.int_tuple<"(2,(3,5))">) -> !cute.int_tuple<"(2,15)">
  return
}

// 17 of the layout (3,(2,3)):(3,(12,1)) lies at index 16, at (1,5) and at (1,(1,2)).
// CHECK-LABEL: func.func @coordinates(
func.func @coordinates(%a: !cute.coord<"16">, %b: !cute.coord<"(1,5)">, %c: !cute.coord<"(1,(1,2))">, %d: !cute.coord<"(?,(1,2))">,
                       %l: !cute.layout<"(3,(2,3)):(3,(12,1))">, %s: !cute.shape<"(3,(2,3))">) {
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"16">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  %0 = cute.layout_eval(%a, %l) : (!cute.coord<"16">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,5)">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  %1 = cute.layout_eval(%b, %l) : (!cute.coord<"(1,5)">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,(1,2))">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  %2 = cute.layout_eval(%c, %l) : (!cute.coord<"(1,(1,2))">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"17">
  // CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,(1,2))">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"?">
  %3 = cute.crd2idx(%d, %l) : (!cute.coord<"(?,(1,2))">, !cute.layout<"(3,(2,3)):(3,(12,1))">) -> !cute.int_tuple<"?">
  // CHECK: cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(1,5)">, !cute.shape<"(3,(2,3))">) -> !cute.int_tuple<"16">
  %4 = cute.crd2idx(%b, %s) : (!cute.coord<"(1,5)">, !cute.shape<"(3,(2,3))">) -> !cute.int_tuple<"16">
  // CHECK: cute.static : !cute.int_tuple<"16">
  %i = cute.static : !cute.int_tuple<"16">
  // CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"16">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(1,(1,2))">
  %5 = cute.idx2crd(%i, %s) : (!cute.int_tuple<"16">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(1,(1,2))">
  // CHECK: cute.static : !cute.int_tuple<"(1,5)">
  %j = cute.static : !cute.int_tuple<"(1,5)">
  // CHECK: cute.idx2crd(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"(1,5)">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(1,(1,2))">
  %6 = cute.idx2crd(%j, %s) : (!cute.int_tuple<"(1,5)">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(1,(1,2))">
  return
}

// Of a swizzle in a composed layout: 8 * 9 = 0b1001000, bit 7 of which is not set; and 16 * 9 = 0b10010000, of which it is.
// CHECK-LABEL: func.func @swizzled(
func.func @swizzled(%a: !cute.coord<"9">, %c: !cute.composed_layout<"S<1,4,3> o 0 o 16:8">, %d: !cute.composed_layout<"S<1,4,3> o 0 o 16:16">) {
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"9">, !cute.composed_layout<"S<1,4,3> o 0 o 16:8">) -> !cute.int_tuple<"72">
  %0 = cute.layout_eval(%a, %c) : (!cute.coord<"9">, !cute.composed_layout<"S<1,4,3> o 0 o 16:8">) -> !cute.int_tuple<"72">
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}}) : (!cute.coord<"9">, !cute.composed_layout<"S<1,4,3> o 0 o 16:16">) -> !cute.int_tuple<"128">
  %1 = cute.layout_eval(%a, %d) : (!cute.coord<"9">, !cute.composed_layout<"S<1,4,3> o 0 o 16:16">) -> !cute.int_tuple<"128">
  return
}

// The last leaf does not start again, so the coordinate behind the last one is none.
// CHECK-LABEL: func.func @increments(
func.func @increments(%a: !cute.coord<"(2,(1,0))">, %b: !cute.coord<"(2,(1,2))">, %d: !cute.coord<"(?,(0,1))">, %s: !cute.shape<"(3,(2,3))">) {
  // CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(2,(1,0))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(0,(0,1))">
  %0 = cute.increment_coord(%a, %s) : (!cute.coord<"(2,(1,0))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(0,(0,1))">
  // CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(2,(1,2))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(0,(0,3))">
  %1 = cute.increment_coord(%b, %s) : (!cute.coord<"(2,(1,2))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(0,(0,3))">
  // CHECK: cute.increment_coord(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,(0,1))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(?,(?,?))">
  %2 = cute.increment_coord(%d, %s) : (!cute.coord<"(?,(0,1))">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(?,(?,?))">
  return
}

// CHECK-LABEL: func.func @ranks(
func.func @ranks(%s: !cute.shape<"(4,8)">, %e: !cute.shape<"1">, %l: !cute.layout<"4:1">, %m: !cute.layout<"2:8">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">)
    -> (!cute.shape<"(4,8,1,1)">, !cute.shape<"(1,4,8)">, !cute.layout<"(4,2):(1,8)">, !cute.composed_layout<"S<2,4,3> o 0 o (2,8,8):(8,8,1)">) {
  // CHECK: cute.append_to_rank<4> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,8)">, !cute.shape<"1">
  %0 = cute.append_to_rank<4>(%s, %e) : !cute.shape<"(4,8)">, !cute.shape<"1">
  // CHECK: cute.prepend_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.shape<"(4,8)">, !cute.shape<"1">
  %1 = cute.prepend_to_rank<3>(%s, %e) : !cute.shape<"(4,8)">, !cute.shape<"1">
  // CHECK: cute.append_to_rank<2> (%{{.*}}, %{{.*}}) : !cute.layout<"4:1">, !cute.layout<"2:8">
  %2 = cute.append_to_rank<2>(%l, %m) : !cute.layout<"4:1">, !cute.layout<"2:8">
  // CHECK: cute.prepend_to_rank<3> (%{{.*}}, %{{.*}}) : !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.layout<"2:8">
  %3 = cute.prepend_to_rank<3>(%c, %m) : !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.layout<"2:8">
  return %0, %1, %2, %3 : !cute.shape<"(4,8,1,1)">, !cute.shape<"(1,4,8)">, !cute.layout<"(4,2):(1,8)">, !cute.composed_layout<"S<2,4,3> o 0 o (2,8,8):(8,8,1)">
}
