// Slices, tiles, divisions, groups and compositions of tensors and layouts.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @slice_gmem(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(_,_,?)">
// CHECK: cute.slice({{%.+}}, {{%.+}}) : !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">, !cute.coord<"(_,_,?)">
// CHECK: return {{%.+}} : !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">
func.func @slice_gmem(%m: !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">, %b: i32) -> !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})"> {
  %coord = cute.make_coord(%b) : (i32) -> !cute.coord<"(_,_,?)">
  %slice = cute.slice(%m, %coord) : !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">, !cute.coord<"(_,_,?)">
  return %slice : !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">
}

// -----

// CHECK-LABEL: func.func @slice_rmem(
// CHECK: cute.make_coord() : () -> !cute.coord<"(_,_,0)">
// CHECK: cute.slice({{%.+}}, {{%.+}}) : !cute.memref<f16, rmem, align<32>, "((8,1),4,2):((1,0),8,32)">, !cute.coord<"(_,_,0)">
func.func @slice_rmem(%m: !cute.memref<f16, rmem, align<32>, "((8,1),4,2):((1,0),8,32)">) {
  %coord = cute.make_coord() : () -> !cute.coord<"(_,_,0)">
  %slice = cute.slice(%m, %coord) : !cute.memref<f16, rmem, align<32>, "((8,1),4,2):((1,0),8,32)">, !cute.coord<"(_,_,0)">
  return
}

// -----

// CHECK-LABEL: func.func @slice_nested(
// CHECK: cute.make_coord({{%.+}}, {{%.+}}) : (i32, i32) -> !cute.coord<"((_,_),(?,?))">
// CHECK: cute.slice({{%.+}}, {{%.+}}) : !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((128,1),(2048,128))">, !cute.coord<"((_,_),(?,?))">
func.func @slice_nested(%m: !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((128,1),(2048,128))">, %x: i32, %y: i32) {
  %coord = cute.make_coord(%x, %y) : (i32, i32) -> !cute.coord<"((_,_),(?,?))">
  %slice = cute.slice(%m, %coord) : !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((128,1),(2048,128))">, !cute.coord<"((_,_),(?,?))">
  return
}

// -----

// CHECK-LABEL: func.func @tile_projected(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1;32:1]">
// CHECK: cute.make_coord({{%.+}}, {{%.+}}) : (i32, i32) -> !cute.coord<"(?,?,_)">
// CHECK: cute.local_tile({{%.+}}, {{%.+}}, {{%.+}}) {proj = #cute.coord<"(1,_,1)">} : (!cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">, !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,?):(1,?{i64 div=8},?{i64 div=256})">
// CHECK: return {{%.+}} : !cute.memref<f16, gmem, align<16>, "(128,32,?):(1,?{i64 div=8},?{i64 div=256})">
func.func @tile_projected(%m: !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">, %x: i32, %y: i32) -> !cute.memref<f16, gmem, align<16>, "(128,32,?):(1,?{i64 div=8},?{i64 div=256})"> {
  %tile = cute.make_tile() : () -> !cute.tile<"[128:1;128:1;32:1]">
  %coord = cute.make_coord(%x, %y) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %tiled_view = cute.local_tile(%m, %tile, %coord, "(1,_,1)") : (!cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">, !cute.tile<"[128:1;128:1;32:1]">, !cute.coord<"(?,?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,?):(1,?{i64 div=8},?{i64 div=256})">
  return %tiled_view : !cute.memref<f16, gmem, align<16>, "(128,32,?):(1,?{i64 div=8},?{i64 div=256})">
}

// -----

// CHECK-LABEL: func.func @tile_plain(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1]">
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(?,0)">
// CHECK: cute.local_tile({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, !cute.tile<"[128:1;128:1]">, !cute.coord<"(?,0)">) -> !cute.memref<bf16, gmem, align<16>, "(128,128):(?{i64 div=8},1)">
func.func @tile_plain(%m: !cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, %x: i32) {
  %tile = cute.make_tile() : () -> !cute.tile<"[128:1;128:1]">
  %coord = cute.make_coord(%x) : (i32) -> !cute.coord<"(?,0)">
  %tiled_view = cute.local_tile(%m, %tile, %coord) : (!cute.memref<bf16, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">, !cute.tile<"[128:1;128:1]">, !cute.coord<"(?,0)">) -> !cute.memref<bf16, gmem, align<16>, "(128,128):(?{i64 div=8},1)">
  return
}

// -----

// CHECK-LABEL: func.func @divide(
// CHECK: cute.make_tile() : () -> !cute.tile<"[16:1;128:1]">
// CHECK: cute.zipped_divide({{%.+}}, {{%.+}}) : (!cute.memref<f32, gmem, align<16>, "(?,?):(?{i64},1)">, !cute.tile<"[16:1;128:1]">) -> !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((?{i64},1),(?{i64 div=16},128))">
// CHECK: return {{%.+}} : !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((?{i64},1),(?{i64 div=16},128))">
func.func @divide(%m: !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64},1)">) -> !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((?{i64},1),(?{i64 div=16},128))"> {
  %tile = cute.make_tile() : () -> !cute.tile<"[16:1;128:1]">
  %div = cute.zipped_divide(%m, %tile) : !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64},1)">, !cute.tile<"[16:1;128:1]">
  return %div : !cute.memref<f32, gmem, align<16>, "((16,128),(?,?)):((?{i64},1),(?{i64 div=16},128))">
}

// -----

// CHECK-LABEL: func.func @divide_logical(
// CHECK: cute.logical_divide({{%.+}}, {{%.+}}) : (!cute.memref<f16, rmem, align<32>, "((2,2),4):((1,2),4)">, !cute.layout<"2:1">) -> !cute.memref<f16, rmem, align<32>, "(2,8):(1,2)">
func.func @divide_logical(%m: !cute.memref<f16, rmem, align<32>, "((2,2),4):((1,2),4)">, %l: !cute.layout<"2:1">) {
  %div = cute.logical_divide(%m, %l) : !cute.memref<f16, rmem, align<32>, "((2,2),4):((1,2),4)">, !cute.layout<"2:1">
  return
}

// -----

// CHECK-LABEL: func.func @divide_flat(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1]">
// CHECK: cute.flat_divide({{%.+}}, {{%.+}}) : (!cute.memref<f32, gmem, "(128,256):(256,1)">, !cute.tile<"[128:1;128:1]">) -> !cute.memref<f32, gmem, "(128,128,1,2):(256,1,32768,128)">
func.func @divide_flat(%m: !cute.memref<f32, gmem, "(128,256):(256,1)">) {
  %tile = cute.make_tile() : () -> !cute.tile<"[128:1;128:1]">
  %div = cute.flat_divide(%m, %tile) : !cute.memref<f32, gmem, "(128,256):(256,1)">, !cute.tile<"[128:1;128:1]">
  return
}

// -----

// CHECK-LABEL: func.func @divide_layout(
// CHECK: cute.make_tile() : () -> !cute.tile<"[1:0]">
// CHECK: cute.tiled_divide({{%.+}}, {{%.+}}) : (!cute.layout<"(1,1,1):(0,0,0)">, !cute.tile<"[1:0]">) -> !cute.layout<"((1),1,1,1):((0),0,0,0)">
func.func @divide_layout(%l: !cute.layout<"(1,1,1):(0,0,0)">) {
  %tile = cute.make_tile() : () -> !cute.tile<"[1:0]">
  %div = cute.tiled_divide(%l, %tile) : !cute.layout<"(1,1,1):(0,0,0)">, !cute.tile<"[1:0]">
  return
}

// -----

// CHECK-LABEL: func.func @group(
// CHECK: cute.group_modes<1, 3> ({{%.+}}) : (!cute.memref<f16, smem, align<16>, "((8,1),4,2):((1,0),512,64)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4,2)):((1,0),(512,64))">
// CHECK: return {{%.+}} : !cute.memref<f16, smem, align<16>, "((8,1),(4,2)):((1,0),(512,64))">
func.func @group(%m: !cute.memref<f16, smem, align<16>, "((8,1),4,2):((1,0),512,64)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4,2)):((1,0),(512,64))"> {
  %grouped = cute.group_modes(%m) <1, 3> : (!cute.memref<f16, smem, align<16>, "((8,1),4,2):((1,0),512,64)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4,2)):((1,0),(512,64))">
  return %grouped : !cute.memref<f16, smem, align<16>, "((8,1),(4,2)):((1,0),(512,64))">
}

// -----

// CHECK-LABEL: func.func @group_one(
// CHECK: cute.group_modes<1, 2> ({{%.+}}) : (!cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(512))">
func.func @group_one(%m: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) {
  %grouped = cute.group_modes(%m) <1, 2> : (!cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(512))">
  return
}

// -----

// CHECK-LABEL: func.func @compose_view(
// CHECK: cute.composition({{%.+}}, {{%.+}}) : (!cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">, !cute.layout<"((64,4),(4,16)):((256,16),(64,1))">) -> !cute.memref<f32, gmem, align<16>, "((64,4),(4,16)):((4,4096),(1,256))">
func.func @compose_view(%m: !cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">, %l: !cute.layout<"((64,4),(4,16)):((256,16),(64,1))">) {
  %0 = cute.composition(%m, %l) : (!cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">, !cute.layout<"((64,4),(4,16)):((256,16),(64,1))">) -> !cute.memref<f32, gmem, align<16>, "((64,4),(4,16)):((4,4096),(1,256))">
  return
}

// -----

// CHECK-LABEL: func.func @compose_tile(
// CHECK: cute.make_tile() : () -> !cute.tile<"[_;(16,4):(4,1)]">
// CHECK: cute.composition({{%.+}}, {{%.+}}) : (!cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">, !cute.tile<"[_;(16,4):(4,1)]">) -> !cute.memref<f32, gmem, align<16>, "(64,(16,4)):(256,(4,1))">
func.func @compose_tile(%m: !cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">) {
  %tile = cute.make_tile() : () -> !cute.tile<"[_;(16,4):(4,1)]">
  %0 = cute.composition(%m, %tile) : (!cute.memref<f32, gmem, align<16>, "(64,256):(256,1)">, !cute.tile<"[_;(16,4):(4,1)]">) -> !cute.memref<f32, gmem, align<16>, "(64,(16,4)):(256,(4,1))">
  return
}

// -----

// CHECK-LABEL: func.func @size_of_view(
// CHECK: cute.size<[1]> ({{%.+}}) : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) -> !cute.int_tuple<"?">
// CHECK: cute.get_leaves({{%.+}}) : !cute.int_tuple<"?">
// CHECK: cute.get_scalars ({{%.+}}) : !cute.int_tuple<"?">
func.func @size_of_view(%m: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) -> i32 {
  %sz = cute.size(%m) <{mode = [1]}> : (!cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">) -> !cute.int_tuple<"?">
  %e0 = cute.get_leaves(%sz) : !cute.int_tuple<"?">
  %0 = cute.get_scalars(%e0) : !cute.int_tuple<"?">
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @blocks(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1;1:0]">
// CHECK: cute.ceil_div({{%.+}}, {{%.+}}) : (!cute.int_tuple<"(?{div=8},?{div=8},?)">, !cute.tile<"[128:1;128:1;1:0]">) -> !cute.int_tuple<"(?,?,?)">
// CHECK: cute.get_leaves({{%.+}}) : !cute.int_tuple<"(?,?,?)">
func.func @blocks(%a: !cute.int_tuple<"(?{div=8},?{div=8},?)">) {
  %tile = cute.make_tile() : () -> !cute.tile<"[128:1;128:1;1:0]">
  %shp = cute.ceil_div(%a, %tile) : !cute.int_tuple<"(?{div=8},?{div=8},?)">, !cute.tile<"[128:1;128:1;1:0]">
  %e0, %e1, %e2 = cute.get_leaves(%shp) : !cute.int_tuple<"(?,?,?)">
  return
}

// -----

// CHECK-LABEL: func.func @forget_strides(
// CHECK: cute.derefine({{%.+}}) : !cute.memref<f16, gmem, align<16>, "(128,32):(1,64)"> to !cute.memref<f16, gmem, align<16>, "(?,?):(1,?)">
func.func @forget_strides(%m: !cute.memref<f16, gmem, align<16>, "(128,32):(1,64)">) {
  %dyn = cute.derefine(%m) : !cute.memref<f16, gmem, align<16>, "(128,32):(1,64)"> to !cute.memref<f16, gmem, align<16>, "(?,?):(1,?)">
  return
}

// -----

// A coordinate has modes behind those of the projection for modes of the tensor that no tile has.
//
// CHECK-LABEL: func.func @local_tile_behind(
// CHECK: cute.local_tile(%{{.+}}, %{{.+}}, %{{.+}}) {proj = #cute.coord<"(1,_,1)">} : (!cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">, !cute.tile<"[128:1;128:1;64:1]">, !cute.coord<"(?,?,_,?)">) -> !cute.coord_tensor<"(0,?{div=128},?)", "(128,64,?):(1@1,1@0,64@0)">
func.func @local_tile_behind(%m: !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">, %tile: !cute.tile<"[128:1;128:1;64:1]">, %c: !cute.coord<"(?,?,_,?)">) {
  %0 = cute.local_tile(%m, %tile, %c) {proj = #cute.coord<"(1,_,1)">} : (!cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">, !cute.tile<"[128:1;128:1;64:1]">, !cute.coord<"(?,?,_,?)">) -> !cute.coord_tensor<"(0,?{div=128},?)", "(128,64,?):(1@1,1@0,64@0)">
  return
}
