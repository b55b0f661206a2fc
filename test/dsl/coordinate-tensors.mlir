// Identity tensors and what is done with them: predicates of copies.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @identity(
// CHECK: cute.make_identity_tensor({{%.+}} : !cute.shape<"(?{div=8},?,?)">) : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">
// CHECK: return {{%.+}} : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">
func.func @identity(%s: !cute.shape<"(?{div=8},?,?)">) -> !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)"> {
  %0 = cute.make_identity_tensor(%s) : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">
  return %0 : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">
}

// -----

// CHECK-LABEL: func.func @identity_layout(
// CHECK: cute.make_identity_layout({{%.+}}) : !cute.shape<"(?,?,?)"> -> !cute.layout<"(?,?,?):(1@0,1@1,1@2)">
// CHECK: return {{%.+}} : !cute.layout<"(?,?,?):(1@0,1@1,1@2)">
func.func @identity_layout(%s: !cute.shape<"(?,?,?)">) -> !cute.layout<"(?,?,?):(1@0,1@1,1@2)"> {
  %0 = cute.make_identity_layout(%s) : !cute.layout<"(?,?,?):(1@0,1@1,1@2)">
  return %0 : !cute.layout<"(?,?,?):(1@0,1@1,1@2)">
}

// -----

// CHECK-LABEL: func.func @slice(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(_,_,?)">
// CHECK: cute.slice({{%.+}}, {{%.+}}) : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">, !cute.coord<"(_,_,?)">
// CHECK: return {{%.+}} : !cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)">
func.func @slice(%c: !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">, %b: i32) -> !cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)"> {
  %coord = cute.make_coord(%b) : (i32) -> !cute.coord<"(_,_,?)">
  %slice = cute.slice(%c, %coord) : !cute.coord_tensor<"(0,0,0)", "(?{div=8},?,?):(1@0,1@1,1@2)">, !cute.coord<"(_,_,?)">
  return %slice : !cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)">
}

// -----

// CHECK-LABEL: func.func @tile(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1;32:1]">
// CHECK: cute.make_coord({{%.+}}, {{%.+}}) : (i32, i32) -> !cute.coord<"(?,?,_)">
// CHECK: cute.local_tile({{%.+}}, {{%.+}}, {{%.+}}) {proj = #cute.coord<"(1,_,1)">} : (!cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)">, !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.coord_tensor<"(?{div=128},0,?)", "(128,32,?):(1@0,1@1,32@1)">
func.func @tile(%c: !cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)">, %x: i32, %y: i32) {
  %tile = cute.make_tile() : () -> !cute.tile<"[128:1;128:1;32:1]">
  %coord = cute.make_coord(%x, %y) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %tiled_view = cute.local_tile(%c, %tile, %coord, "(1,_,1)") : (!cute.coord_tensor<"(0,0,?)", "(?{div=8},?):(1@0,1@1)">, !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.coord_tensor<"(?{div=128},0,?)", "(128,32,?):(1@0,1@1,32@1)">
  return
}

// -----

// CHECK-LABEL: func.func @iterators(
// CHECK: cute.get_iter({{%.+}}) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
// CHECK: cute.deref_arith_tuple_iter({{%.+}}) : !cute.arith_tuple_iter<"(?{div=8},?)">
// CHECK: cute.get_leaves({{%.+}}) : !cute.int_tuple<"(?{div=8},?)">
// CHECK: cute.tuple_add({{%.+}}, {{%.+}}) : (!cute.int_tuple<"(?{div=8},?)">, !cute.int_tuple<"(0,?)">) -> !cute.int_tuple<"(?{div=8},?)">
// CHECK: cute.make_arith_tuple_iter({{%.+}}) : (!cute.int_tuple<"(?{div=8},?)">) -> !cute.arith_tuple_iter<"(?{div=8},?)">
// CHECK: cute.get_layout({{%.+}}) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
// CHECK: cute.make_view({{%.+}}, {{%.+}}) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
func.func @iterators(%c: !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">, %o: !cute.int_tuple<"(0,?)">) {
  %iter = cute.get_iter(%c) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
  %tup = cute.deref_arith_tuple_iter(%iter) : !cute.arith_tuple_iter<"(?{div=8},?)">
  %e0, %e1 = cute.get_leaves(%tup) : !cute.int_tuple<"(?{div=8},?)">
  %add = cute.tuple_add(%tup, %o) : (!cute.int_tuple<"(?{div=8},?)">, !cute.int_tuple<"(0,?)">) -> !cute.int_tuple<"(?{div=8},?)">
  %int_tup_iter = cute.make_arith_tuple_iter(%add) : (!cute.int_tuple<"(?{div=8},?)">) -> !cute.arith_tuple_iter<"(?{div=8},?)">
  %lay = cute.get_layout(%c) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
  %view = cute.make_view(%int_tup_iter, %lay) : !cute.coord_tensor<"(?{div=8},?)", "((8,1),4):((1@0,0),8@1)">
  return
}

// -----

// CHECK-LABEL: func.func @predicate(
// CHECK: cute.get_iter({{%.+}}) : !cute.coord_tensor<"(?{div=8},?)", "():()">
// CHECK: cute.deref_arith_tuple_iter({{%.+}}) : !cute.arith_tuple_iter<"(?{div=8},?)">
// CHECK: cute.get_leaves({{%.+}}) : !cute.int_tuple<"(?{div=8},?)">
// CHECK: cute.make_coord({{%.+}}) : (!cute.int_tuple<"?{div=8}">) -> !cute.coord<"?{div=8}">
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.elem_less({{%.+}}, {{%.+}}) : (!cute.coord<"?{div=8}">, !cute.coord<"?">) -> i1
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(0,?)">
// CHECK: cute.memref.store({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.memref<i8, rmem, align<32>, "(1,4):(1,1)">, !cute.coord<"(0,?)">, i8) -> ()
func.func @predicate(%c: !cute.coord_tensor<"(?{div=8},?)", "():()">, %m: i32, %p: !cute.memref<i8, rmem, align<32>, "(1,4):(1,1)">, %i: i32) {
  %iter = cute.get_iter(%c) : !cute.coord_tensor<"(?{div=8},?)", "():()">
  %tup = cute.deref_arith_tuple_iter(%iter) : !cute.arith_tuple_iter<"(?{div=8},?)">
  %e0, %e1 = cute.get_leaves(%tup) : !cute.int_tuple<"(?{div=8},?)">
  %coord = cute.make_coord(%e0) : (!cute.int_tuple<"?{div=8}">) -> !cute.coord<"?{div=8}">
  %coord_0 = cute.make_coord(%m) : (i32) -> !cute.coord<"?">
  %0 = cute.elem_less(%coord, %coord_0) : !cute.coord<"?{div=8}">, !cute.coord<"?">
  %1 = arith.extui %0 : i1 to i8
  %coord_1 = cute.make_coord(%i) : (i32) -> !cute.coord<"(0,?)">
  cute.memref.store(%p, %coord_1, %1) : (!cute.memref<i8, rmem, align<32>, "(1,4):(1,1)">, !cute.coord<"(0,?)">, i8) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @group(
// CHECK: cute.group_modes<1, 2> ({{%.+}}) : (!cute.coord_tensor<"(?{div=32},?)", "(((32,8),1),1):(((1@0,1@1),0),0)">) -> !cute.coord_tensor<"(?{div=32},?)", "(((32,8),1),(1)):(((1@0,1@1),0),(0))">
func.func @group(%c: !cute.coord_tensor<"(?{div=32},?)", "(((32,8),1),1):(((1@0,1@1),0),0)">) {
  %grouped = cute.group_modes(%c) <1, 2> : (!cute.coord_tensor<"(?{div=32},?)", "(((32,8),1),1):(((1@0,1@1),0),0)">) -> !cute.coord_tensor<"(?{div=32},?)", "(((32,8),1),(1)):(((1@0,1@1),0),(0))">
  return
}

// -----

// CHECK-LABEL: func.func @divide(
// CHECK: cute.make_tile() : () -> !cute.tile<"[16:1;128:1]">
// CHECK: cute.zipped_divide({{%.+}}, {{%.+}}) : (!cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">, !cute.tile<"[16:1;128:1]">) -> !cute.coord_tensor<"(0,0)", "((16,128),(?,?)):((1@0,1@1),(16@0,128@1))">
func.func @divide(%c: !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">) {
  %tile = cute.make_tile() : () -> !cute.tile<"[16:1;128:1]">
  %div = cute.zipped_divide(%c, %tile) : !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">, !cute.tile<"[16:1;128:1]">
  return
}

// -----

// CHECK-LABEL: func.func private @bases(
// Nested and dynamic bases.
func.func private @bases(!cute.layout<"(?,?,((?,?),?)):(1@0,1@1,((1@0@0@2,1@1@0@2),1@1@2))">, !cute.coord_tensor<"(0,0)", "(?{i64},?{i64}):(1@1,?{i64}@0)">)
