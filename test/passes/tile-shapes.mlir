// Products of any shape: what a tile may reach over is bounded by coordinates, and how a tensor lies decides how it is moved.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file \
// RUN:   | cute-opt --split-input-file | FileCheck %s

// The last tile along M reaches over the end, and no other.
// CHECK-LABEL: gpu.func @rows_kernel
// CHECK-SAME:    known_grid_size = array<i32: 2, 1, 1>
// CHECK:         %[[SHAPE:.*]] = cute.static : !cute.shape<"(100,64)">
// CHECK:         %[[ALL:.*]] = cute.make_identity_tensor(%[[SHAPE]] : !cute.shape<"(100,64)">) : !cute.coord_tensor<"(0,0)", "(100,64):(1@0,1@1)">
// CHECK:         %[[END:.*]] = cute.make_coord() : () -> !cute.coord<"(100,_)">
// CHECK:         %[[TILES:.*]] = cute.local_tile(%[[ALL]]
// CHECK:         scf.for
// CHECK:           %[[AT:.*]] = cute.slice(%[[TILES]]
// CHECK:           cute.block.copy A (%{{.*}}, %{{.*}}) within(%[[AT]], %[[END]] : !cute.coord_tensor<"(?{div=64},?{div=32})", "(64,32):(1@0,1@1)">, !cute.coord<"(100,_)">)
// CHECK:           cute.block.copy B (%{{.*}}, %{{.*}}) : (
// CHECK:         cute.block.copy C ({{.*}}) : (
// CHECK:         cute.block.copy C (%{{.*}}, %{{.*}}) within(
!a = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
func.func @rows(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// Only the launch knows M and K: it counts tiles, and says whether A and C have the same M.
// CHECK-LABEL: func.func @open
// CHECK:         %[[SAME:.*]] = arith.cmpi eq
// CHECK:         cf.assert %[[SAME]], "expected mode 0 of A to have the extent of mode 0 of C"
// CHECK:         cf.assert %{{.*}}, "expected mode 1 of A to have the extent of mode 1 of B"
// CHECK:         %[[M:.*]] = arith.ceildivsi
// CHECK:         %[[K:.*]] = arith.ceildivsi
// CHECK:         %[[BLOCKS:.*]] = arith.muli
// What the tiles of the last group are divided by, as parts of 2^62.
// CHECK:         %[[LAST:.*]] = arith.remsi %[[M]], %c8 : index
// CHECK:         %[[SOME:.*]] = arith.maxsi %[[LAST]], %{{.*}} : index
// CHECK:         %[[ALL:.*]] = arith.constant 4611686018427387904 : index
// CHECK:         %[[PARTS:.*]] = arith.ceildivsi %[[ALL]], %[[SOME]] : index
// CHECK:         %[[RECIPROCAL:.*]] = arith.index_cast %[[PARTS]] : index to i64
// CHECK:         gpu.launch_func @open_kernels::@open_kernel blocks in (%[[BLOCKS]],
// CHECK-SAME:      args({{.*}}, %{{.*}} : i32, %{{.*}} : i32, %[[RECIPROCAL]] : i64)
// CHECK:       gpu.func @open_kernel({{.*}}, %[[ROWS:.*]]: i32, %[[DEPTH:.*]]: i32, %[[RECIPROCAL:.*]]: i64) kernel
// CHECK-NOT:     known_grid_size
// Groups of eight tiles along M, the last of which may be shorter: nothing is divided by what only the launch knows.
// CHECK:         %[[GROUP:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK:         %[[WITHIN:.*]] = arith.remui
// CHECK:         %[[LEFT:.*]] = arith.subi %[[ROWS]], %{{.*}} : i32
// CHECK:         %[[OF_WHOLE:.*]] = arith.divui %[[WITHIN]], %c8_i32 : i32
// CHECK:         %[[WIDE:.*]] = arith.extui %[[WITHIN]] : i32 to i64
// CHECK:         %[[SHIFTED:.*]] = arith.shli %[[WIDE]], %c2_i64 : i64
// CHECK:         %{{.*}}, %[[HIGH:.*]] = arith.mului_extended %[[SHIFTED]], %[[RECIPROCAL]] : i64
// CHECK:         %[[OF_LAST:.*]] = arith.trunci %[[HIGH]] : i64 to i32
// CHECK-NOT:     arith.divui
// CHECK:         %[[IS_WHOLE:.*]] = arith.cmpi uge, %[[LEFT]], %c8_i32 : i32
// CHECK:         arith.select %[[IS_WHOLE]], %[[OF_WHOLE]], %[[OF_LAST]] : i32
// CHECK:         arith.minui %[[LEFT]], %c8_i32 : i32
// CHECK-NOT:     arith.divui
// There are always two turns, of which those behind the end of K copy nothing and add zeros.
// CHECK:         %[[TURNS:.*]] = arith.maxsi %[[DEPTH]], %c2_i32{{.*}} : i32
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[TURNS]]
// CHECK:           cute.block.copy A {{.*}} within({{.*}} !cute.coord<"(?,?)">)
// CHECK:           cute.block.copy B {{.*}} within({{.*}} !cute.coord<"(_,?)">)
!a = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!b = !cute.memref<f16, gmem, align<16>, "(128,?{div=8}):(?{div=8},1)">
!c = !cute.memref<f16, gmem, align<16>, "(?,128):(128,1)">
func.func @open(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// Tiles divide what is known to be a multiple of them: nothing is bounded.
// CHECK-LABEL: gpu.func @divided_kernel
// CHECK-NOT:     within
// CHECK:         gpu.return
!a = !cute.memref<f16, gmem, align<16>, "(?{div=64},?{div=32}):(?{div=8},1)">
!b = !cute.memref<f16, gmem, align<16>, "(128,?{div=32}):(?{div=8},1)">
!c = !cute.memref<f16, gmem, align<16>, "(?{div=64},128):(128,1)">
func.func @divided(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// A lies column by column: so does its tile, which ldmatrix transposes. Rows of B are aligned to four bytes, rows of C to two.
// CHECK-LABEL: gpu.func @lying_kernel
// CHECK-SAME:    A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,32):(1,64)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>, immediate>]
// CHECK-SAME:    B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = always, 32 b>, group, smem = <S<2,4,3>, "(64,32):(32,1)">, buffers = 2>
// CHECK-SAME:    C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, {{.*}}>, <!cute_nvgpu.atom.universal_copy<f16, 16 b>, immediate>]
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(66,1)">
!c = !cute.memref<f16, gmem, align<2>, "(64,64):(64,1)">
func.func @lying(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// C lies column by column: its transpose is the product of B and A.
// CHECK-LABEL: gpu.func @columns_kernel
// CHECK-SAME:    %[[A:.*]]: !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)"> {{.*}}, %[[B:.*]]: !cute.memref<f16, gmem, align<16>, "(128,32):(32,1)"> {{.*}}, %[[C:.*]]: !cute.memref<f32,
// CHECK:         cute.local_tile(%[[B]]
// CHECK:         cute.local_tile(%[[A]]
// CHECK:         %[[T:.*]] = cute.select{{ ?}}<[1, 0]>{{ ?}}(%[[C]])
// CHECK:         cute.local_tile(%[[T]]
// What is summed is what is stored: nothing is rounded.
// CHECK-NOT:     cute.convert
!a = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!b = !cute.memref<f16, gmem, align<16>, "(128,32):(32,1)">
!c = !cute.memref<f32, gmem, align<16>, "(64,128):(1,64)">
func.func @columns(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// Six products of 2 x 1 tiles, one B for all of them.
// CHECK-LABEL: func.func @batch
// CHECK:         %[[BLOCKS:.*]] = arith.constant 12 : index
// CHECK-LABEL: gpu.func @batch_kernel
// CHECK:         %[[L:.*]] = arith.divui
// CHECK:         %[[IN:.*]] = arith.remui
// CHECK:         %[[AT:.*]] = cute.make_coord(%[[L]]) : (i32) -> !cute.coord<"(_,_,?)">
// CHECK:         cute.slice(%{{.*}}, %[[AT]]) : !cute.memref<bf16, gmem, align<16>, "(128,32,(2,3)):(32,1,(4096,8192))">
// CHECK:         cute.slice(%{{.*}}) : !cute.memref<bf16, gmem, align<16>, "(64,32,(2,3)):(32,1,(0,0))">
!a = !cute.memref<bf16, gmem, align<16>, "(128,32,(2,3)):(32,1,(4096,8192))">
!b = !cute.memref<bf16, gmem, align<16>, "(64,32,(2,3)):(32,1,(0,0))">
!c = !cute.memref<bf16, gmem, align<16>, "(128,64,(2,3)):(64,1,(8192,16384))">
func.func @batch(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}
