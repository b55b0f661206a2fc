// Ops of CuTe DSL, computed on their leaves.
//
// RUN: cute-opt %s --split-input-file --cute-lower-layouts=checks=false --cse | FileCheck %s

// What is assumed is in types alone.
// CHECK-LABEL: func.func @facts(
// CHECK-SAME:    %[[X:.*]]: i32)
// CHECK:         %[[C4:.*]] = arith.constant 4 : i32
// CHECK-NEXT:    %[[D:.*]] = arith.divsi %[[X]], %[[C4]] : i32
// CHECK-NEXT:    %[[M:.*]] = arith.muli %[[D]], %[[X]] : i32
// CHECK-NEXT:    return %[[M]]
func.func @facts(%x: i32) -> i32 {
  %a = cute.assume(%x) : (i32) -> !cute.i32<divby 8>
  %t = cute.make_int_tuple(%a) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
  %four = cute.make_int_tuple() : () -> !cute.int_tuple<"4">
  %d = cute.tuple_div(%t, %four) : (!cute.int_tuple<"?{div=8}">, !cute.int_tuple<"4">) -> !cute.int_tuple<"?{div=2}">
  %m = cute.tuple_mul(%d, %t) : (!cute.int_tuple<"?{div=2}">, !cute.int_tuple<"?{div=8}">) -> !cute.int_tuple<"?{div=16}">
  %s = cute.get_scalars(%m) : !cute.int_tuple<"?{div=16}">
  return %s : i32
}

// -----

// A number that the type says no more is a constant.
// CHECK-LABEL: func.func @derefine(
// CHECK-SAME:    %[[X:.*]]: i32)
// CHECK:         %[[C3:.*]] = arith.constant 3 : i32
// CHECK-NEXT:    return %[[C3]], %[[X]] : i32, i32
func.func @derefine(%x: i32) -> (i32, i32) {
  %c = cute.make_coord(%x) : (i32) -> !cute.coord<"(3,?)">
  %d = cute.derefine(%c) : !cute.coord<"(3,?)"> to !cute.coord<"(?,?)">
  %0, %1 = cute.get_scalars(%d) : !cute.coord<"(?,?)">
  return %0, %1 : i32, i32
}

// -----

// CHECK-LABEL: func.func @size(
// CHECK-SAME:    %[[N:.*]]: i32, %{{.*}}: i32, %{{.*}}: !cute.ptr<f16, gmem>)
// CHECK-NEXT:    return %[[N]] : i32
func.func @size(%l: !cute.layout<"(?,8):(1,?)">, %p: !cute.ptr<f16, gmem>) -> i32 {
  %v = cute.make_view(%p, %l) : !cute.memref<f16, gmem, "(?,8):(1,?)">
  %n = cute.size(%v) <{mode = [0]}> : (!cute.memref<f16, gmem, "(?,8):(1,?)">) -> !cute.int_tuple<"?">
  %s = cute.get_scalars(%n) : !cute.int_tuple<"?">
  return %s : i32
}

// -----

// CHECK-LABEL: gpu.func @text(
// CHECK-SAME:    %[[X:.*]]: i32, %[[F:.*]]: f32)
// CHECK-NEXT:    %[[W:.*]] = arith.extf %[[F]] : f32 to f64
// CHECK-NEXT:    gpu.printf "100%% of (3,%d) and %f %d\0A", %[[X]], %[[W]], %[[X]] : i32, f64, i32
gpu.module @k {
  gpu.func @text(%x: i32, %f: f32) kernel {
    %c = cute.make_coord(%x) : (i32) -> !cute.coord<"(3,?)">
    cute.print("100% of {} and {} {}\0A", %c, %f, %x) : !cute.coord<"(3,?)">, f32, i32
    gpu.return
  }
}
