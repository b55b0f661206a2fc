// Every op, out and in again: as text, in the generic form, and as bytecode.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

!mma_atom = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!mma = !cute.tiled_mma<!mma_atom, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!async_atom = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!async = !cute.tiled_copy<!async_atom, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!vector_atom = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!vectors = !cute.tiled_copy<!vector_atom, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!ldsm_atom = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldsm = !cute.tiled_copy<!ldsm_atom, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>

!gtile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!stile = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!gpart = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!spart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!frgA = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
!frgB = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
!lpart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,2):((1,16),512,16)">
!rpart = !cute.memref<f16, rmem, "((8,1),2,2):((1,0),16,8)">

//===----------------------------------------------------------------------===//
// Layout values
//===----------------------------------------------------------------------===//

// A static value, of every type that can say one whole.
// CHECK-LABEL: func.func @static
func.func @static() {
  // CHECK-NEXT: cute.static : !cute.int_tuple<"(1,2)">
  cute.static : !cute.int_tuple<"(1,2)">
  // CHECK-NEXT: cute.static : !cute.shape<"(4,8)">
  cute.static : !cute.shape<"(4,8)">
  // CHECK-NEXT: cute.static : !cute.stride<"(1@0,4@1)">
  cute.static : !cute.stride<"(1@0,4@1)">
  // CHECK-NEXT: cute.static : !cute.coord<"(1,2)">
  cute.static : !cute.coord<"(1,2)">
  // CHECK-NEXT: %{{.*}} = cute.static : !cute.layout<"(2,3):(1,2)">
  %l = cute.static : !cute.layout<"( 2, 3 ) : (1,2)">
  // CHECK-NEXT: cute.static : !cute.tile<"[128:1;_]">
  cute.static : !cute.tile<"[128;_]">
  // CHECK-NEXT: cute.static : !cute.swizzle<"S<3,4,3>">
  cute.static : !cute.swizzle<"S<3,4,3>">
  // CHECK-NEXT: cute.static : !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
  cute.static : !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
  // CHECK-NEXT: cute.static : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  cute.static : !vector_atom
  // CHECK-NEXT: cute.static : !cute.tiled_copy<
  cute.static : !vectors
  // CHECK-NEXT: cute.static : !cute.tiled_mma<
  cute.static : !mma
  // CHECK-NEXT: return
  return
}

// CHECK-LABEL: func.func @coordinates(
// CHECK-SAME:    %[[I:.*]]: i32, %[[J:.*]]: i64
func.func @coordinates(%i: i32, %j: i64) -> (i32, i32, i32, i64) {
  // CHECK: %[[C:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,_)">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"( ? , _ )">
  // Leaves are given left to right, whatever the nesting; i64 for ?{i64}.
  // CHECK: %[[D:.*]] = cute.make_coord(%[[I]], %[[J]]) : (i32, i64) -> !cute.coord<"(?,(1,?{i64}))">
  %d = cute.make_coord(%i, %j) : (i32, i64) -> !cute.coord<"(?,(1,?{i64}))">
  // CHECK: cute.make_coord() : () -> !cute.coord<"(1,_)">
  %e = cute.make_coord() : () -> !cute.coord<"(1,_)">
  %x = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %l = cute.static : !cute.layout<"(8,4):(1,0)">
  // CHECK: %[[O:.*]] = cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"?">, !cute.layout<"(8,4):(1,0)">) -> !cute.int_tuple<"?">
  %o = cute.crd2idx(%x, %l) : (!cute.coord<"?">, !cute.layout<"(8,4):(1,0)">) -> !cute.int_tuple<"?">
  // CHECK: cute.get_scalars (%[[O]]) : !cute.int_tuple<"?">
  %s = cute.get_scalars(%o) : !cute.int_tuple<"?">
  // A static coordinate into a static layout gives a static offset; a shape stands for its
  // column-major layout.
  %y = cute.static : !cute.coord<"(3,2)">
  %h = cute.static : !cute.shape<"(8,4)">
  // CHECK: %[[P:.*]] = cute.crd2idx(%{{.*}}, %{{.*}}) : (!cute.coord<"(3,2)">, !cute.shape<"(8,4)">) -> !cute.int_tuple<"19">
  %p = cute.crd2idx(%y, %h) : (!cute.coord<"(3,2)">, !cute.shape<"(8,4)">) -> !cute.int_tuple<"19">
  // CHECK: cute.get_scalars (%[[P]]) : !cute.int_tuple<"19">
  %t = cute.get_scalars(%p) : !cute.int_tuple<"19">
  return %s, %t, %i, %j : i32, i32, i32, i64
}

// One integer for each leaf, as wide as the leaf.
// CHECK-LABEL: func.func @scalars
func.func @scalars(%t: !cute.int_tuple<"(?,(?{i64},4))">) -> (i32, i64, i32) {
  // CHECK: %[[S:.*]]:3 = cute.get_scalars (%{{.*}}) : !cute.int_tuple<"(?,(?{i64},4))">
  %s:3 = cute.get_scalars(%t) : !cute.int_tuple<"(?,(?{i64},4))">
  // CHECK: return %[[S]]#0, %[[S]]#1, %[[S]]#2 : i32, i64, i32
  return %s#0, %s#1, %s#2 : i32, i64, i32
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @views
func.func @views(%A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, %i: i32, %k: i32)
    -> (!cute.memref<f16, gmem, align<16>, "(128,32):(64,1)">, !cute.memref<f16, gmem, "1:0">) {
  %t = cute.static : !cute.tile<"[128:1;32:1]">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
  // CHECK: cute.local_tile(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">
  %g = cute.local_tile(%A, %t, %c) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,_)">)
    -> !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">
  %d = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
  // The type of a slice is inferred: the first two modes stay.
  // CHECK: %[[S:.*]] = cute.slice(%{{.*}}, %{{.*}}) : !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">, !cute.coord<"(_,_,?)">
  %s = cute.slice(%g, %d) : !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">, !cute.coord<"(_,_,?)">
  // One element is left, and an alignment of one element is all that is known of its place.
  %e = cute.make_coord(%i, %k) : (i32, i32) -> !cute.coord<"(?,?)">
  // CHECK: %[[E:.*]] = cute.slice(%{{.*}}, %{{.*}}) : !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, !cute.coord<"(?,?)">
  %f = cute.slice(%A, %e) : !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, !cute.coord<"(?,?)">
  // CHECK: return %[[S]], %[[E]] : !cute.memref<f16, gmem, align<16>, "(128,32):(64,1)">, !cute.memref<f16, gmem, "1:0">
  return %s, %f : !cute.memref<f16, gmem, align<16>, "(128,32):(64,1)">, !cute.memref<f16, gmem, "1:0">
}

// CHECK-LABEL: func.func @alloca
func.func @alloca() {
  // CHECK-NEXT: cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32):(32,1)">
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32):(32,1)">
  // CHECK-NEXT: cute.memref.alloca() {offset = 1024 : i64} : !cute.memref<f16, smem, align<512>, S<2,4,3>, "8:1">
  %t = cute.memref.alloca() {offset = 1024 : i64} : !cute.memref<f16, smem, align<512>, S<2,4,3>, "8:1">
  // CHECK-NEXT: cute.memref.alloca() : !cute.memref<f32, rmem, "4:1">
  %r = cute.memref.alloca() : !cute.memref<f32, rmem, "4:1">
  return
}

//===----------------------------------------------------------------------===//
// Atoms, partitions, algorithms
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @whole_tiles
func.func @whole_tiles(%g: !gtile, %s: !stile, %t: !stile, %r: !cute.memref<f32, rmem, "(32,32):(32,1)">) {
  // CHECK: cute.block.copy A (%{{.*}}, %{{.*}}) : (!cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">, !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">)
  cute.block.copy A (%g, %s) : (!gtile, !stile)
  // CHECK: cute.clear(%{{.*}}) : (!cute.memref<f32, rmem, "(32,32):(32,1)">)
  cute.clear(%r) : (!cute.memref<f32, rmem, "(32,32):(32,1)">)
  // CHECK: cute.block.gemm(%{{.*}}, %{{.*}}, %{{.*}}) : (
  cute.block.gemm(%s, %t, %r) : (!stile, !stile, !cute.memref<f32, rmem, "(32,32):(32,1)">)
  // CHECK: cute.contract ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : {{.*}}) accumulate f32 {cute.stages = 3 : i64}
  cute.contract ins(%g, %g : !gtile, !gtile) outs(%g : !gtile) accumulate f32 {cute.stages = 3}
  // CHECK: cute.convert(%{{.*}}) : (!cute.memref<f32, rmem, "(32,32):(32,1)">) -> !cute.memref<f16, rmem, "(32,32):(32,1)">
  %h = cute.convert(%r) : (!cute.memref<f32, rmem, "(32,32):(32,1)">) -> !cute.memref<f16, rmem, "(32,32):(32,1)">
  return
}

// CHECK-LABEL: func.func @partitions
func.func @partitions(%g: !gtile, %s: !stile, %i: i32) {
  %tid = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  // CHECK: %[[ATOM:.*]] = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  %mma_atom = cute.make_atom() : () -> !mma_atom
  // CHECK: cute.make_tiled_mma(%[[ATOM]]) : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
  %mma = cute.make_tiled_mma(%mma_atom) : !mma
  // CHECK: %[[ASYNC:.*]] = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
  %async_atom = cute.make_atom() : () -> !async_atom
  // CHECK: cute.make_tiled_copy(%[[ASYNC]]) : !cute.tiled_copy<
  %async = cute.make_tiled_copy(%async_atom) : !async
  %ldsm_atom = cute.make_atom() : () -> !ldsm_atom
  %ldsm = cute.make_tiled_copy(%ldsm_atom) : !ldsm

  // CHECK: cute.tiled.copy.partition_S(%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
  %gp = cute.tiled.copy.partition_S(%async, %g, %tid) : (!async, !gtile, !cute.coord<"?">) -> !gpart
  // CHECK: cute.tiled.copy.partition_D(%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"?">) -> !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
  %sp = cute.tiled.copy.partition_D(%async, %s, %tid) : (!async, !stile, !cute.coord<"?">) -> !spart
  // CHECK: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.tiled_copy<{{.*}}>, !cute.memref<f16, gmem, {{.*}}>, !cute.memref<f16, smem, {{.*}}>)
  cute.copy(%async, %gp, %sp) : (!async, !gpart, !spart)

  // CHECK: cute.tiled.mma.partition A (%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2,2),2,2):((1,256,8),512,16)">
  %pA = cute.tiled.mma.partition A (%mma, %s, %tid) : (!mma, !stile, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2,2),2,2):((1,256,8),512,16)">
  // CHECK: cute.tiled.mma.partition B (%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2),2,2):((1,8),512,16)">
  %pB = cute.tiled.mma.partition B (%mma, %s, %tid) : (!mma, !stile, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2),2,2):((1,8),512,16)">
  // CHECK: cute.tiled.mma.partition C (%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, gmem, align<4>, "((2,2),2,2):((1,512),1024,16)">
  %pC = cute.tiled.mma.partition C (%mma, %g, %tid) : (!mma, !gtile, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<4>, "((2,2),2,2):((1,512),1024,16)">
  // CHECK: cute.mma.make_fragment A (%{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
  %fA = cute.mma.make_fragment A (%mma, %pA) : (!mma, !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2,2),2,2):((1,256,8),512,16)">) -> !frgA
  // CHECK: cute.mma.make_fragment B (%{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
  %fB = cute.mma.make_fragment B (%mma, %pB) : (!mma, !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2),2,2):((1,8),512,16)">) -> !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
  %shape = cute.static : !cute.shape<"(32,32)">
  // CHECK: cute.tiled.mma.partition_shape C (%{{.*}}, %{{.*}}) : ({{.*}}, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
  %pshape = cute.tiled.mma.partition_shape C (%mma, %shape) : (!mma, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
  // From a shape as from a tensor; in the accumulator's type.
  // CHECK: cute.mma.make_fragment C (%{{.*}}, %{{.*}}) : ({{.*}}, !cute.shape<"((2,2),2,2)">) -> !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
  %fC = cute.mma.make_fragment C (%mma, %pshape) : (!mma, !cute.shape<"((2,2),2,2)">) -> !acc

  // CHECK: cute.tiled.copy.partition_S(%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,2):((1,16),512,16)">
  %lp = cute.tiled.copy.partition_S(%ldsm, %s, %tid) : (!ldsm, !stile, !cute.coord<"?">) -> !lpart
  // CHECK: cute.tiled.copy.retile(%{{.*}}, %{{.*}}) : ({{.*}}) -> !cute.memref<f16, rmem, "((8,1),2,2):((1,0),16,8)">
  %rp = cute.tiled.copy.retile(%ldsm, %fA) : (!ldsm, !frgA) -> !rpart
  cute.copy(%ldsm, %lp, %rp) : (!ldsm, !lpart, !rpart)
  // CHECK: cute.gemm(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute.tiled_mma<
  cute.gemm(%mma, %fC, %fA, %fB, %fC) : (!mma, !acc, !frgA, !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">, !acc)
  return
}

// A static thread index is as good as a dynamic one.
// CHECK-LABEL: func.func @static_thread
func.func @static_thread(%copy: !async, %g: !gtile) {
  %tid = cute.static : !cute.coord<"5">
  // CHECK: cute.tiled.copy.partition_S(%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"5">) -> !cute.memref<
  %gp = cute.tiled.copy.partition_S(%copy, %g, %tid) : (!async, !gtile, !cute.coord<"5">) -> !gpart
  return
}

// CHECK-LABEL: func.func @atoms_on_values(
// CHECK-SAME:    %[[IF:[a-z0-9]+]]: i1)
func.func @atoms_on_values(%async: !async, %vectors: !vectors, %ldsm: !ldsm, %mma: !mma, %g: !gpart, %s: !spart,
                           %l: !lpart, %b: vector<4xf16>, %c: vector<4xf32>, %if: i1) -> vector<4xf32> {
  // CHECK: cute.atom_copy(%{{.*}}, %{{.*}}, %{{.*}}) at [0, 1, 0] : ({{(!cute.tiled_copy)?}}<!cute_nvgpu.atom.simt_async_copy<{{.*}}>, !cute.memref<f16, gmem, {{.*}}>, !cute.memref<f16, smem, {{.*}}>)
  cute.atom_copy(%async, %g, %s) at [0, 1, 0] : (!async, !gpart, !spart)
  // CHECK: cute.atom_copy(%{{.*}}, %{{.*}}, %{{.*}}) at [0, 0, 0] if %[[IF]] : (
  cute.atom_copy(%async, %g, %s) at [0, 0, 0] if %if : (!async, !gpart, !spart)
  // CHECK: %[[A:.*]] = cute.atom_load(%{{.*}}, %{{.*}}) at [0, 1, 1] : (!cute.tiled_copy<{{.*}}>, !cute.memref<f16, smem, {{.*}}>) -> vector<8xf16>
  %a = cute.atom_load(%ldsm, %l) at [0, 1, 1] : (!ldsm, !lpart) -> vector<8xf16>
  // CHECK: cute.atom_store(%{{.*}}, %[[A]], %{{.*}}) at [0, 0, 0] : (!cute.tiled_copy<{{.*}}>, vector<8xf16>, !cute.memref<f16, gmem, {{.*}}>)
  cute.atom_store(%vectors, %a, %g) at [0, 0, 0] : (!vectors, vector<8xf16>, !gpart)
  // CHECK: cute.atom_mma(%{{.*}}, %[[A]], %{{.*}}, %{{.*}}) : (!cute.tiled_mma<{{.*}}>, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  %d = cute.atom_mma(%mma, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

//===----------------------------------------------------------------------===//
// Roles of warps
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @roles(
func.func @roles(%f: !cute.memref<f32, rmem, "4:1">) {
  // CHECK: cute.warp_specialize
  // CHECK-NEXT: role(%[[T:.*]], %[[WARP:.*]]) warps 4 registers 40 {
  // CHECK-NEXT: arith.addi %[[T]], %[[WARP]] : i32
  // CHECK-NEXT: }
  // CHECK-NEXT: role(%{{.*}}, %{{.*}}) warps 8 registers 232 {
  // CHECK-NEXT: cute.clear
  // CHECK-NEXT: }
  cute.warp_specialize
  role(%t, %warp) warps 4 registers 40 {
    %sum = arith.addi %t, %warp : i32
  }
  role(%t, %warp) warps 8 registers 232 {
    cute.clear(%f)
  }
  // CHECK: cute.warp_specialize
  // CHECK-NEXT: role(%{{.*}}, %{{.*}}) warps 1 {
  // CHECK-NEXT: }
  cute.warp_specialize
  role(%t, %warp) warps 1 {
  }
  return
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @pipeline(
// CHECK-SAME:    %[[K:.*]]: i32
func.func @pipeline(%k: i32) -> (i32, i32) {
  // CHECK: %[[P:.*]], %[[FREE:.*]] = cute.pipeline.create : !cute.pipeline<3>, !cute.token
  %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
  // CHECK: %[[A:.*]] = cute.pipeline.producer_acquire(%[[P]], %[[FREE]], %[[K]]) : !cute.pipeline<3>
  %a = cute.pipeline.producer_acquire(%p, %free, %k) : !cute.pipeline<3>
  // CHECK: %[[FULL:.*]] = cute.pipeline.producer_commit(%[[P]]) : !cute.pipeline<3>
  %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
  // CHECK: %[[W:.*]] = cute.pipeline.consumer_wait(%[[P]], %[[FULL]], %[[K]]) : !cute.pipeline<3>
  %w = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<3>
  // CHECK: cute.pipeline.consumer_release(%[[P]]) : !cute.pipeline<3>
  %r = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
  // CHECK: cute.pipeline.producer_tail(%[[P]]) : !cute.pipeline<3>
  cute.pipeline.producer_tail(%p) : !cute.pipeline<3>
  // CHECK: return %[[A]], %[[W]]
  return %a, %w : i32, i32
}
