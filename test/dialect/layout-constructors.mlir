// Values of the layout algebra from their parts: out and in again.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// Dynamic leaves are filled left to right, by integers or by tuples of one leaf.
// CHECK-LABEL: func.func @leaves(
func.func @leaves(%i: i32, %j: i64, %t: !cute.int_tuple<"?">, %s: !cute.int_tuple<"12">, %d: !cute.int_tuple<"?{div=16}">) {
  // CHECK: cute.make_int_tuple(%{{.*}}, %{{.*}}) : (i32, i64) -> !cute.int_tuple<"(?,(8,?{i64}))">
  %a = cute.make_int_tuple(%i, %j) : (i32, i64) -> !cute.int_tuple<"(?,(8,?{i64}))">
  // CHECK: cute.make_shape(%{{.*}}, %{{.*}}) : (!cute.int_tuple<"?">, i32) -> !cute.shape<"((?,4),?)">
  %b = cute.make_shape(%t, %i) : (!cute.int_tuple<"?">, i32) -> !cute.shape<"((?,4),?)">
  // CHECK: cute.make_stride(%{{.*}}) : (i32) -> !cute.stride<"(1,?)">
  %c = cute.make_stride(%i) : (i32) -> !cute.stride<"(1,?)">
  // CHECK: cute.make_stride(%{{.*}}, %{{.*}}) : (i32, i32) -> !cute.stride<"(?@0,?@1)">
  %e = cute.make_stride(%i, %i) : (i32, i32) -> !cute.stride<"(?@0,?@1)">
  // CHECK: cute.make_coord(%{{.*}}) : (i64) -> !cute.coord<"(_,?{i64})">
  %f = cute.make_coord(%j) : (i64) -> !cute.coord<"(_,?{i64})">
  // CHECK: cute.make_tile(%{{.*}}, %{{.*}}, %{{.*}}) : (i32, i32, i32) -> !cute.tile<"[(?,3):(1,?);_;[?:1]]">
  %g = cute.make_tile(%i, %i, %i) : (i32, i32, i32) -> !cute.tile<"[(?,3):(1,?);_;[?:1]]">
  // What is known fills a leaf too, and so does what is known of a divisor.
  // CHECK: cute.make_shape(%{{.*}}) : (!cute.int_tuple<"12">) -> !cute.shape<"?">
  %h = cute.make_shape(%s) : (!cute.int_tuple<"12">) -> !cute.shape<"?">
  // CHECK: cute.make_shape(%{{.*}}) : (!cute.int_tuple<"?{div=16}">) -> !cute.shape<"(?{div=8},2)">
  %k = cute.make_shape(%d) : (!cute.int_tuple<"?{div=16}">) -> !cute.shape<"(?{div=8},2)">
  // CHECK: cute.make_shape() : () -> !cute.shape<"(2,0)">
  %l = cute.make_shape() : () -> !cute.shape<"(2,0)">
  return
}

// CHECK-LABEL: func.func @layouts(
func.func @layouts(%s: !cute.shape<"(?,(2,4))">, %d: !cute.stride<"(1,(?{i64},0))">, %b: !cute.stride<"(1@1,(1@0@0,1@1@0))">) {
  // CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,(2,4))">, !cute.stride<"(1,(?{i64},0))">) -> !cute.layout<"(?,(2,4)):(1,(?{i64},0))">
  %a = cute.make_layout(%s, %d) : (!cute.shape<"(?,(2,4))">, !cute.stride<"(1,(?{i64},0))">) -> !cute.layout<"(?,(2,4)):(1,(?{i64},0))">
  // CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,(2,4))">, !cute.stride<"(1@1,(1@0@0,1@1@0))">) -> !cute.layout<"(?,(2,4)):(1@1,(1@0@0,1@1@0))">
  %c = cute.make_layout(%s, %b) : (!cute.shape<"(?,(2,4))">, !cute.stride<"(1@1,(1@0@0,1@1@0))">) -> !cute.layout<"(?,(2,4)):(1@1,(1@0@0,1@1@0))">
  return
}

// CHECK-LABEL: func.func @composed(
func.func @composed(%w: !cute.swizzle<"S<2,4,3>">, %n: !cute.layout<"(8,8):(8,1)">, %z: !cute.int_tuple<"?">,
                    %p: !cute.int_tuple<"(1,2)">, %o: !cute.layout<"(4,8):(8,1)">, %b: !cute.layout<"(2,3):(1@0,1@1)">) {
  // CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.swizzle<"S<2,4,3>">, <"?">, <"(4,8):(8,1)">) -> <"S<2,4,3> o ? o (4,8):(8,1)">
  %a = cute.make_composed_layout(%w, %z, %o) : (!cute.swizzle<"S<2,4,3>">, !cute.int_tuple<"?">, !cute.layout<"(4,8):(8,1)">) -> !cute.composed_layout<"S<2,4,3> o ? o (4,8):(8,1)">
  // CHECK: cute.make_composed_layout(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(8,8):(8,1)">, <"(1,2)">, <"(2,3):(1@0,1@1)">) -> <"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)">
  %c = cute.make_composed_layout(%n, %p, %b) : (!cute.layout<"(8,8):(8,1)">, !cute.int_tuple<"(1,2)">, !cute.layout<"(2,3):(1@0,1@1)">) -> !cute.composed_layout<"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)">
  return
}

// Strides by a rule: the order of another layout's, a given order, the coordinate itself.
// CHECK-LABEL: func.func @rules(
func.func @rules(%l: !cute.layout<"(4,(2,3)):(6,(0,2))">, %c: !cute.composed_layout<"S<3,4,3> o 0 o (8,2):(2,32)">,
                 %s: !cute.shape<"(4,?,2)">, %o: !cute.int_tuple<"(2,0,1)">, %y: !cute.layout<"(4,?,2):(?,1,0)">) {
  // CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,(2,3)):(6,(0,2))"> -> !cute.layout<"(4,(2,3)):(3,(0,1))">
  %a = cute.make_layout_like(%l) : !cute.layout<"(4,(2,3)):(6,(0,2))"> -> !cute.layout<"(4,(2,3)):(3,(0,1))">
  // CHECK: cute.make_layout_like(%{{.*}}) : !cute.composed_layout<"S<3,4,3> o 0 o (8,2):(2,32)"> -> !cute.layout<"(8,2):(1,8)">
  %b = cute.make_layout_like(%c) : !cute.composed_layout<"S<3,4,3> o 0 o (8,2):(2,32)"> -> !cute.layout<"(8,2):(1,8)">
  // The order of a stride that is not known decides about the others as well.
  // CHECK: cute.make_layout_like(%{{.*}}) : !cute.layout<"(4,?,2):(?,1,0)"> -> !cute.layout<"(4,?,2):(?,?,0)">
  %y0 = cute.make_layout_like(%y) : !cute.layout<"(4,?,2):(?,1,0)"> -> !cute.layout<"(4,?,2):(?,?,0)">
  // CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,?,2)">, !cute.int_tuple<"(2,0,1)">) -> !cute.layout<"(4,?,2):(?,1,?)">
  %d = cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,?,2)">, !cute.int_tuple<"(2,0,1)">) -> !cute.layout<"(4,?,2):(?,1,?)">
  // CHECK: cute.make_identity_layout(%{{.*}}) : !cute.shape<"(4,?,2)"> -> !cute.layout<"(4,?,2):(1@0,1@1,1@2)">
  %e = cute.make_identity_layout(%s) : !cute.shape<"(4,?,2)"> -> !cute.layout<"(4,?,2):(1@0,1@1,1@2)">
  return
}

// CHECK-LABEL: func.func @print(
func.func @print(%a: !cute.int_tuple<"(?,2)">, %b: !cute.tile<"[4:1;_]">, %c: !cute.swizzle<"S<3,4,3>">, %d: !cute.composed_layout<"S<3,4,3> o ? o 8:1">) {
  // CHECK: cute.print(%{{.*}}) : !cute.int_tuple<"(?,2)">
  cute.print(%a) : !cute.int_tuple<"(?,2)">
  // CHECK: cute.print(%{{.*}}) : !cute.tile<"[4:1;_]">
  cute.print(%b) : !cute.tile<"[4:1;_]">
  // CHECK: cute.print(%{{.*}}) : !cute.swizzle<"S<3,4,3>">
  cute.print(%c) : !cute.swizzle<"S<3,4,3>">
  // CHECK: cute.print(%{{.*}}) : !cute.composed_layout<"S<3,4,3> o ? o 8:1">
  cute.print(%d) : !cute.composed_layout<"S<3,4,3> o ? o 8:1">
  return
}
