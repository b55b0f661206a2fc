// Which ops are pure, and what the others do to memory, as CSE and dead code elimination see it.
//
// RUN: cute-opt %s --cse --canonicalize --split-input-file | FileCheck %s

!gmem = !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">

// Two equal slices are one, and so are what they are made of.
// CHECK-LABEL: func.func @slices
// CHECK:         %[[C:.*]] = cute.make_coord
// CHECK-NOT:     cute.make_coord
// CHECK:         %[[S:.*]] = cute.slice(%{{.*}}, %[[C]])
// CHECK-NOT:     cute.slice
// CHECK:         return %[[S]], %[[S]]
func.func @slices(%t: !gmem, %k: i32) -> (!tile, !tile) {
  %c = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
  %s = cute.slice(%t, %c) : !gmem, !cute.coord<"(_,_,?)">
  %d = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
  %u = cute.slice(%t, %d) : !gmem, !cute.coord<"(_,_,?)">
  return %s, %u : !tile, !tile
}

// -----

!gmem = !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">

// Two at different coordinates are two.
// CHECK-LABEL: func.func @different_slices
// CHECK:         %[[S:.*]] = cute.slice
// CHECK:         %[[T:.*]] = cute.slice
// CHECK:         return %[[S]], %[[T]]
func.func @different_slices(%t: !gmem) -> (!tile, !tile) {
  %c = cute.static : !cute.coord<"(_,_,0)">
  %s = cute.slice(%t, %c) : !gmem, !cute.coord<"(_,_,0)">
  %d = cute.static : !cute.coord<"(_,_,1)">
  %u = cute.slice(%t, %d) : !gmem, !cute.coord<"(_,_,1)">
  return %s, %u : !tile, !tile
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">

// Pure ops that nobody uses are gone.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    return
func.func @dead(%t: !tile, %i: i32) {
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %l = cute.static : !cute.layout<"(8,4):(1,8)">
  %o = cute.crd2idx(%c, %l) : (!cute.coord<"?">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  %s = cute.get_scalars(%o) : !cute.int_tuple<"?">
  %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %v = cute.make_tiled_copy(%a) : !vectors
  %p = cute.tiled.copy.partition_S(%v, %t, %c) : (!vectors, !tile, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
  %b = cute.static : !cute.tile<"[16:1;16:1]">
  %d = cute.static : !cute.coord<"(0,1)">
  %g = cute.local_tile(%t, %b, %d) : (!tile, !cute.tile<"[16:1;16:1]">, !cute.coord<"(0,1)">) -> !cute.memref<f16, gmem, align<16>, "(16,16):(64,1)">
  return
}

// -----

// Two allocations are two places, and stay so.
// CHECK-LABEL: func.func @allocations
// CHECK:         %[[A:.*]] = cute.memref.alloca
// CHECK:         %[[B:.*]] = cute.memref.alloca
// CHECK:         return %[[A]], %[[B]]
func.func @allocations() -> (!cute.memref<f16, smem, "8:1">, !cute.memref<f16, smem, "8:1">) {
  %a = cute.memref.alloca() : !cute.memref<f16, smem, "8:1">
  %b = cute.memref.alloca() : !cute.memref<f16, smem, "8:1">
  return %a, %b : !cute.memref<f16, smem, "8:1">, !cute.memref<f16, smem, "8:1">
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">

// A load is repeated only where something was written in between.
// CHECK-LABEL: func.func @loads
// CHECK:         %[[A:.*]] = cute.atom_load
// CHECK-NOT:     cute.atom_load
// CHECK:         cute.atom_store(%{{.*}}, %[[A]], %{{.*}}) at [0, 1, 0]
// CHECK:         %[[C:.*]] = cute.atom_load
// CHECK:         return %[[A]], %[[A]], %[[C]]
func.func @loads(%v: !vectors, %p: !part) -> (vector<8xf16>, vector<8xf16>, vector<8xf16>) {
  %a = cute.atom_load(%v, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xf16>
  %b = cute.atom_load(%v, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xf16>
  cute.atom_store(%v, %b, %p) at [0, 1, 0] : (!vectors, vector<8xf16>, !part)
  %c = cute.atom_load(%v, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xf16>
  return %a, %b, %c : vector<8xf16>, vector<8xf16>, vector<8xf16>
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>

// An MMA on values is a function of its operands.
// CHECK-LABEL: func.func @mma
// CHECK:         %[[D:.*]] = cute.atom_mma
// CHECK-NOT:     cute.atom_mma
// CHECK:         return %[[D]], %[[D]]
func.func @mma(%m: !mma, %a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %d = cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  %e = cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return %d, %e : vector<4xf32>, vector<4xf32>
}

// -----

!t = !cute.memref<f16, gmem, "(8,8):(1,8)">
!r = !cute.memref<f32, rmem, "(8,8):(1,8)">

// What writes stays, however often it is written.
// CHECK-LABEL: func.func @writes
// CHECK-COUNT-2: cute.block.copy
// CHECK-COUNT-2: cute.contract
// CHECK-COUNT-2: cute.clear
// CHECK:         return
func.func @writes(%a: !t, %b: !t, %r: !r) {
  cute.block.copy A (%a, %b) : (!t, !t)
  cute.block.copy A (%a, %b) : (!t, !t)
  cute.contract ins(%a, %a : !t, !t) outs(%b : !t) accumulate f32
  cute.contract ins(%a, %a : !t, !t) outs(%b : !t) accumulate f32
  cute.clear(%r) : (!r)
  cute.clear(%r) : (!r)
  return
}

// -----

// CHECK-LABEL: func.func @pipelines
// CHECK-COUNT-2: cute.pipeline.producer_acquire
// CHECK-COUNT-2: cute.pipeline.producer_commit
// CHECK-COUNT-2: cute.pipeline.consumer_wait
// CHECK-COUNT-2: cute.pipeline.consumer_release
func.func @pipelines(%p: !cute.pipeline<2>, %t: !cute.token, %k: i32) {
  %a = cute.pipeline.producer_acquire(%p, %t, %k) : !cute.pipeline<2>
  %b = cute.pipeline.producer_acquire(%p, %t, %k) : !cute.pipeline<2>
  %c = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
  %d = cute.pipeline.producer_commit(%p) : !cute.pipeline<2>
  %e = cute.pipeline.consumer_wait(%p, %t, %k) : !cute.pipeline<2>
  %f = cute.pipeline.consumer_wait(%p, %t, %k) : !cute.pipeline<2>
  %g = cute.pipeline.consumer_release(%p) : !cute.pipeline<2>
  %h = cute.pipeline.consumer_release(%p) : !cute.pipeline<2>
  return
}
