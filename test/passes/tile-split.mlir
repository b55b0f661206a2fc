// Blocks that share a tile of C leave their sums in a workspace, and a second kernel adds them.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 split=3" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 split=3" --split-input-file \
// RUN:   | cute-opt --split-input-file | FileCheck %s

// Two tiles of 64x64 sums for each of three parts; two blocks for each tile that is added.
// CHECK-LABEL: func.func @edges
// CHECK-SAME:    cute.computes = [{accumulate = f32, gemm = array<i64: 0, 1, 2>}]
// CHECK:         %[[TILES:.*]] = arith.constant 2 : index
// CHECK:         %[[EACH:.*]] = arith.constant 49152 : index
// CHECK:         %[[BYTES:.*]] = arith.muli %[[TILES]], %[[EACH]] : index
// CHECK:         %[[WORKSPACE:.*]] = cute.workspace(%[[BYTES]]) : !cute.ptr<f32, gmem, align<256>>
// CHECK:         %[[THREE:.*]] = arith.constant 3 : index
// CHECK:         %[[GRID:.*]] = arith.muli %[[TILES]], %[[THREE]] : index
// CHECK:         gpu.launch_func {{ *}}@edges_kernels::@edges_kernel blocks in (%[[GRID]], {{.*}}%[[WORKSPACE]] : !cute.ptr<f32, gmem, align<256>>)
// CHECK:         gpu.launch_func {{ *}}@edges_kernels::@edges_kernel_parts {{.*}}%[[WORKSPACE]] : !cute.ptr<f32, gmem, align<256>>)
//
// A block's part is that of its index which the tile is not. Four tiles along K: two for the first part, one for each other.
// CHECK-LABEL: gpu.func @edges_kernel(
// CHECK-SAME:    %[[WORKSPACE:[a-z0-9]*]]: !cute.ptr<f32, gmem, align<256>> {cute.noalias}) kernel
// CHECK-SAME:    cute.plan = #cute.plan<tile = 64x64x32, stages = 2, raster = 8, split = 3,
// CHECK-SAME:    C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]
// CHECK-SAME:    known_grid_size = array<i32: 6, 1, 1>
// CHECK:         %[[BLOCK:.*]] = arith.index_cast
// CHECK:         %[[PART:.*]] = arith.divui %[[BLOCK]],
// CHECK:         %[[SUMS:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(64,64):(64,1)">
// CHECK:         %[[EACH:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK:         %[[REST:.*]] = arith.remui
// CHECK:         %[[BEFORE:.*]] = arith.muli %[[PART]], %[[EACH]]
// CHECK:         %[[MORE:.*]] = arith.minui %[[PART]], %[[REST]]
// CHECK:         %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[MORE]]
// CHECK:         %[[TURNS:.*]] = arith.addi %[[EACH]],
// CHECK:         scf.for %[[TURN:.*]] = %{{.*}} to %[[TURNS]] step
// CHECK:           %[[AT:.*]] = arith.addi %[[FIRST]], %[[TURN]]
// CHECK:           cute.make_coord(%[[AT]])
// CHECK:         %[[WIDE:.*]] = arith.extui %[[BLOCK]] : i32 to i64
// CHECK:         %[[OFFSET:.*]] = cute.make_int_tuple(%{{.*}}) : (i64) -> !cute.int_tuple<"?{i64 div=4096}">
// CHECK:         %[[START:.*]] = cute.add_offset(%[[WORKSPACE]], %[[OFFSET]])
// CHECK:         %[[TILE:.*]] = cute.make_view(%[[START]], %{{.*}}) : !cute.memref<f32, gmem, align<256>, "(64,64):(64,1)">
// CHECK:         cute.block.copy C (%[[SUMS]], %[[TILE]]) :
// CHECK-NOT:     cute.block
//
// CHECK-LABEL: gpu.func @edges_kernel_parts(
// CHECK-NOT:     smem, align
// CHECK:         %[[C:.*]] = cute.local_tile(%arg2,
// CHECK:         %[[OWN:.*]] = cute.local_tile(%[[C]],
// CHECK:         cute.block.transform C ins(%{{.*}}, %{{.*}}, %{{.*}} : !cute.memref<f32, gmem, {{.*}}) outs(%[[OWN]] : !cute.memref<f16, gmem, {{.*}}>) within(
// CHECK-NEXT:    ^bb0(%[[ONE:.*]]: f32, %[[TWO:.*]]: f32, %[[THREE:.*]]: f32):
// CHECK-NEXT:      %[[BOTH:.*]] = arith.addf %[[ONE]], %[[TWO]] : f32
// CHECK-NEXT:      %[[ALL:.*]] = arith.addf %[[BOTH]], %[[THREE]] : f32
// CHECK-NEXT:      %[[ROUNDED:.*]] = arith.truncf %[[ALL]] : f32 to f16
// CHECK-NEXT:      cute.yield %[[ROUNDED]] : f16
!a = !cute.memref<f16, gmem, align<16>, "(100,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
!c = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
func.func @edges(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// What an epilogue computes is computed of the sum; parts that share the tiles evenly have as many turns each.
// CHECK-LABEL: func.func @epilogue
// CHECK:         gpu.launch_func {{.*}}@epilogue_kernel_parts {{.*}} args({{.*}}%{{.*}} : f32, %{{.*}} : !cute.ptr<i32
// CHECK-LABEL: gpu.func @epilogue_kernel(
// CHECK:         %[[TURNS:.*]] = arith.constant 2 : i32
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[TURNS]] step
// CHECK-LABEL: gpu.func @epilogue_kernel_parts(
// CHECK-SAME:    %[[SCALE:[a-z0-9]*]]: f32, %{{[a-z0-9]*}}: !cute.ptr<i32, gmem, align<256>> {cute.noalias}) kernel
// CHECK:         cute.block.transform C ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}}, %{{.*}} : {{.*}}) {
// CHECK-NEXT:    ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[BIAS:.*]]: f32):
// CHECK-NEXT:      arith.addi
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi
// CHECK-NEXT:      %[[X:.*]] = arith.sitofp %[[SUM]] : i32 to f32
// CHECK-NEXT:      arith.mulf %[[X]], %[[SCALE]]
!x = !cute.memref<i8, gmem, align<16>, "(64,192):(192,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
!v = !cute.memref<f32, gmem, align<16>, "(64,64):(0,1)">
func.func @epilogue(%A: !x, %B: !x, %C: !y, %D: !y, %bias: !v, %scale: f32) {
  cute.contract ins(%A, %B : !x, !x) outs(%C, %D : !y, !y) accumulate i32 epilogue ins(%bias : !v) {
  ^bb0(%sum: i32, %b: f32):
    %x = arith.sitofp %sum : i32 to f32
    %y = arith.mulf %x, %scale : f32
    %z = arith.addf %y, %b : f32
    cute.yield %y, %z : f32, f32
  }
  return
}

// -----

// Of a batch a product's parts lie one behind the other: the first of a product is behind the two other parts of all products before it.
// CHECK-LABEL: gpu.func @batch_kernel(
// CHECK:         %[[PARTS:.*]] = arith.constant 3 : i32
// CHECK:         %[[TILES:.*]] = arith.constant 2 : i32
// CHECK:         %[[OUTER:.*]] = arith.divui %{{.*}}, %[[TILES]]
// CHECK:         arith.remui %[[OUTER]], %[[PARTS]]
// CHECK:         %[[PRODUCT:.*]] = arith.divui %[[OUTER]], %[[PARTS]]
// CHECK:         cute.make_coord(%[[PRODUCT]]) : (i32) -> !cute.coord<"(_,_,?)">
// CHECK-LABEL: gpu.func @batch_kernel_parts(
// CHECK:         %[[INDEX:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK:         arith.remui
// CHECK:         %[[PRODUCT:.*]] = arith.divui %[[INDEX]],
// CHECK:         %[[TILES:.*]] = arith.constant 2 : i32
// CHECK:         %[[OTHERS:.*]] = arith.muli %[[PRODUCT]], %{{.*}} : i32
// CHECK:         %[[BEFORE:.*]] = arith.muli %[[OTHERS]], %[[TILES]]
// CHECK:         %[[FIRST:.*]] = arith.addi %[[INDEX]], %[[BEFORE]]
// CHECK:         %[[SECOND:.*]] = arith.addi %[[FIRST]], %[[TILES]]
// CHECK:         %[[THIRD:.*]] = arith.addi %[[SECOND]], %[[TILES]]
// CHECK:         arith.extui %[[FIRST]]
// CHECK:         arith.extui %[[SECOND]]
// CHECK:         arith.extui %[[THIRD]]
!s = !cute.memref<f16, gmem, align<16>, "(64,64,5):(64,1,4096)">
!t = !cute.memref<f16, gmem, align<16>, "(128,64,5):(64,1,8192)">
!u = !cute.memref<f16, gmem, align<16>, "(128,64,5):(64,1,8192)">
func.func @batch(%A: !t, %B: !s, %C: !u) {
  cute.contract ins(%A, %B : !t, !s) outs(%C : !u) accumulate f32
  return
}
