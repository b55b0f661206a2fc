// Products of tensors at coordinates, of rows by index, and of modes of several leaves: a block is given the whole matrix and the coordinates
// of a tile.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x16 warps=1x2 stages=2" | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x16 warps=1x2 stages=2" | cute-opt --cute-partition | FileCheck %s --check-prefix=PART

!x = !cute.memref<f16, gmem, align<16>, "(16,14,10,2):(1,16,224,2240)">
!f = !cute.memref<f16, gmem, align<16>, "(32,(16,3,3)):(144,(1,16,48))">
!y = !cute.memref<f16, gmem, align<16>, "(280,32):(32,1)">
!im2col = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
// The filter's columns lie side by side, so that its tiles are tiles.
// CHECK-LABEL: func.func @same(
// CHECK-SAME:    cute.computes = [{accumulate = f32, at_a = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">, gemm = array<i64: 0, 1, 2>}]
func.func @same(%X: !x, %F: !f, %Y: !y) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !im2col
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !im2col)
  return
}
!a = !cute.memref<f16, gmem, align<16>, "((12,10),64):((64,1000),1)">
!c = !cute.memref<f16, gmem, align<16>, "((10,12),(16,6)):((2000,20000),(1,128))">
!b = !cute.memref<f16, gmem, align<16>, "(96,64):(64,1)">
// CHECK-LABEL: func.func @nested(
func.func @nested(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}
!t = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
!idx = !cute.memref<i32, gmem, align<4>, "70:1">
!r = !cute.memref<f16, gmem, align<16>, "(70,96):(96,1)">
// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    rows_a = array<i64: 3>
func.func @gather(%T: !t, %B: !b, %C: !r, %I: !idx) {
  cute.contract ins(%T, %B : !t, !b) outs(%C : !r) accumulate f32 gather A(%I : !idx)
  return
}
!xo = !cute.memref<f16, gmem, align<16>, "(16,?):(1,?{div=8})">
!yo = !cute.memref<f16, gmem, align<16>, "(?,32):(32,1)">
!fo = !cute.memref<f16, gmem, align<16>, "(32,48):(48,1)">
!wo = !cute.coord_tensor<"(0,?)", "(?,(16,3)):(2@1,(1@0,1@1))">
// The launch passes what it knows of the coordinates, and leaves it for the verification.
// CHECK-LABEL: func.func @open(
// CHECK:         %[[PAD:.*]] = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.int_tuple<"(0,?)">
// CHECK:         %[[Q:.*]] = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.layout<"(?,(16,3)):(2@1,(1@0,1@1))">
// CHECK:         cf.assert %{{.*}}, "expected mode 0 of A to have the extent of mode 0 of C"
// CHECK:         gpu.launch_func {{.*}} args(%{{.*}} : !cute.memref<{{.*}}>, %[[PAD]] : i32, %[[Q]] : i32, %{{.*}} : !cute.memref
// CHECK:         cute.compute_values(%[[PAD]], %[[Q]]) of 0 "at_a" : i32, i32
func.func @open(%X: !xo, %F: !fo, %Y: !yo, %pad: i32, %q: i32) {
  %o = cute.make_int_tuple(%pad) : (i32) -> !cute.int_tuple<"(0,?)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
  %shape = cute.make_shape(%q) : (i32) -> !cute.shape<"(?,(16,3))">
  %stride = cute.static : !cute.stride<"(2@1,(1@0,1@1))">
  %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(?,(16,3))">, !cute.stride<"(2@1,(1@0,1@1))">) -> !cute.layout<"(?,(16,3)):(2@1,(1@0,1@1))">
  %at = cute.make_view(%i, %layout) : !wo
  cute.contract ins(%X, %F : !xo, !fo) outs(%Y : !yo) accumulate f32 at A(%at : !wo)
  return
}

// The matrix starts before the tensor, by the padding. What has a limit is compared; channels and images are always inside.
// CHECK-LABEL: gpu.func @same_kernel(
// CHECK:         %[[START:.*]] = cute.add_offset({{.*}}) : (!cute.ptr<f16, gmem, align<16>>, !cute.int_tuple<"-240">) -> !cute.ptr<f16, gmem, align<16>>
// CHECK:         %[[X:.*]] = cute.make_view(%[[START]], %{{.*}}) : !cute.memref<f16, gmem, align<16>, "((14,10,2),(16,3,3)):((16,224,2240),(1,16,224))">
// CHECK:         %[[PLACES:.*]] = cute.make_view(%{{.*}}) : !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
// CHECK:         %[[LIMITS:.*]] = cute.make_coord() : () -> !cute.coord<"(_,14,10,_)">
// CHECK:         scf.for
// CHECK:           cute.block.copy A (%[[X]], %{{.*}}) within(%{{.*}}) bounds(%[[PLACES]], %[[LIMITS]] : {{.*}}) {whole = array<i64: 0>}
// CHECK:           cute.block.copy B (%{{.*}}, %{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(32,16):(144,1)">

// A thread copies vectors of 8, each from where its first coordinate leads; both coordinates are compared, and the row with the end.
// PART-LABEL: gpu.func @same_kernel(
// PART:         scf.for
// PART:           %[[AT:.*]] = cute.memref.load(%{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.coord<"(?,?{div=8})">
// PART:           %[[END:.*]] = cute.elem_less
// PART:           %[[PLACE:.*]] = cute.memref.load(%{{.*}}, %{{.*}}) : (!cute.coord_tensor<"(0,-1,-1,0)", {{.*}}) -> !cute.coord<"(?,?,?,?)">
// PART:           %[[W:.*]] = arith.cmpi ult
// PART:           %[[H:.*]] = arith.cmpi ult
// PART:           %[[ELEMENT:.*]] = cute.slice(%{{.*}}, %{{.*}}) : !cute.memref<f16, gmem, align<16>, "((14,10,2),(16,3,3)):((16,224,2240),(1,16,224))">
// PART:           cute.recast_iter(%{{.*}}) : !cute.ptr<f16, gmem> to !cute.ptr<f16, gmem, align<16>>
// PART:           %[[ONE:.*]] = arith.andi %[[END]], %[[W]]
// PART:           arith.andi %[[ONE]], %[[H]]
// PART:           cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>

// Modes that are one are one.
// CHECK-LABEL: gpu.func @nested_kernel(
// CHECK:         %[[C:.*]] = cute.make_view({{.*}}) : !cute.memref<f16, gmem, align<16>, "(120,(16,6)):(2000,(1,128))">
// CHECK:         scf.for
// CHECK:           cute.block.copy A (%arg0, %{{.*}}) within(%{{.*}}, %{{.*}} : !cute.coord_tensor<"(?{div=32},?{div=16})", "(32,16):(1@0,1@1)">, !cute.coord<"(120,_)">) {whole = array<i64: 0>}
// CHECK:         cute.block.copy C (%{{.*}}, %[[C]]) within(%{{.*}}) {whole = array<i64: 1>}

// Indices are loaded before the loop.
// CHECK-LABEL: gpu.func @gather_kernel(
// CHECK:         %[[I:.*]] = cute.memref.alloca() : !cute.memref<i32, rmem, "(32,16):(1,0)">
// CHECK:         cute.block.copy A (%{{.*}}, %[[I]]) within
// CHECK:         scf.for
// CHECK:           cute.block.copy A (%arg0, %{{.*}}) within(%{{.*}}) rows(%[[I]] : !cute.memref<i32, rmem, "(32,16):(1,0)">) {whole = array<i64: 0>}

// PART-LABEL: gpu.func @gather_kernel(
// PART:         %[[ROWS:.*]] = cute.memref.alloca() : !cute.memref<i32, rmem, "((8,1),1,1):((0,0),0,0)">
// PART:         scf.for
// PART:           %[[ROW:.*]] = cute.memref.load(%[[ROWS]], %{{.*}}) : {{.*}} -> i32
// PART:           arith.cmpi ult, %[[ROW]], %{{.*}} : i32
// PART:           cute.make_coord(%[[ROW]], %{{.*}}) : (i32, i32)

// Strides are steps times those of the tensor, where that is known only to the launch.
// CHECK-LABEL: gpu.func @open_kernel(
// CHECK:         %[[BEFORE:.*]] = cute.make_int_tuple(%{{.*}}) : (i64) -> !cute.int_tuple<"?{i64 div=8}">
// CHECK:         cute.add_offset(%{{.*}}, %[[BEFORE]])
// CHECK:         cute.make_view({{.*}}) : !cute.memref<f16, gmem, align<16>, "(?,(16,3)):(?{i64 div=16},(1,?{div=8}))">
// CHECK:         cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(_,?)">

// The report says of the rows of a table that it does not know them, and goes on.
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x16 warps=1x2 stages=2" | cute-opt --cute-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: kernel same_kernel:
// REPORT: kernel gather_kernel:
// REPORT: cp.async {{ *}}16 {{ *}}{{[0-9]+ *}}?
// REPORT: kernel open_kernel:
