// Buffers of loops that are to be pipelined get a place for each stage, and tokens say who waits for whom.
//
// RUN: cute-opt %s --cute-make-rings --split-input-file --verify-diagnostics | FileCheck %s
// RUN: cute-opt %s --cute-make-rings --split-input-file 2>/dev/null | cute-opt --split-input-file | FileCheck %s

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>

// Two rings of their own depth: what is computed from the first stands between their reads.
// CHECK-LABEL: gpu.func @two_rings
// CHECK-SAME:    cute.synchronize
// CHECK-DAG:     cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<16>, "((8,1),1,1,3):((1,0),0,0,8)">
// CHECK-DAG:     cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<16>, "((8,1),1,1,2):((1,0),0,0,8)">
// CHECK:         %[[P:.*]], %[[F:.*]] = cute.pipeline.create : !cute.pipeline<3>
// CHECK:         %[[Q:.*]], %[[E:.*]] = cute.pipeline.create : !cute.pipeline<2>
// CHECK:         scf.for %[[K:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[T1:.*]] = %[[F]], %[[T2:.*]] = %[[F]], %[[T3:.*]] = %[[F]], %[[U1:.*]] = %[[E]], %[[U2:.*]] = %[[E]])
// CHECK:           cute.pipeline.producer_acquire(%[[P]], %[[T3]], %[[K]])
// CHECK:           cute.pipeline.producer_acquire(%[[Q]], %[[U2]], %[[K]])
// CHECK:           cute.atom_copy
// CHECK:           %[[C:.*]] = cute.pipeline.producer_commit(%[[P]])
// CHECK:           cute.atom_copy
// CHECK:           %[[D:.*]] = cute.pipeline.producer_commit(%[[Q]])
// CHECK:           cute.pipeline.consumer_wait(%[[P]], %[[C]], %[[K]])
// CHECK:           cute.atom_load
// CHECK:           %[[R:.*]] = cute.pipeline.consumer_release(%[[P]])
// CHECK:           arith.addf
// CHECK:           cute.pipeline.consumer_wait(%[[Q]], %[[D]], %[[K]])
// CHECK:           cute.atom_load
// CHECK:           %[[O:.*]] = cute.pipeline.consumer_release(%[[Q]])
// CHECK:           scf.yield %{{.*}}, %[[R]], %[[T1]], %[[T2]], %[[O]], %[[U1]]
// CHECK-NOT:     gpu.barrier
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @two_rings(%g: !g, %n: i32, %v: vector<8xf16>) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %read = cute.static : !read
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() {cute.stages = 2 : i64} : !s
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %v) -> (vector<8xf16>) : i32 {
      cute.atom_copy(%copy, %g, %a) at [0, 0, 0] : (!copy, !g, !s)
      cute.atom_copy(%copy, %g, %b) at [0, 0, 0] : (!copy, !g, !s)
      %x = cute.atom_load(%read, %a) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %y = arith.addf %sum, %x : vector<8xf16>
      %z = cute.atom_load(%read, %b) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %w = arith.addf %y, %z : vector<8xf16>
      scf.yield %w : vector<8xf16>
    } {cute.stages = 3 : i64}
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>

// Read side by side they share a pipeline. What stores fill is known to be filled at once. Turns count from 0, whatever the
// loop's counter is.
// CHECK-LABEL: gpu.func @stores
// CHECK-COUNT-1: cute.pipeline.create : !cute.pipeline<2, immediate>
// CHECK-NOT:     cute.pipeline.create
// CHECK:         scf.for %[[K:[a-z0-9]+]] =
// CHECK:           %[[D:.*]] = arith.subi %[[K]],
// CHECK:           %[[T:.*]] = arith.divui %[[D]],
// CHECK:           %[[I:.*]] = arith.index_cast %[[T]] : index to i32
// CHECK:           cute.pipeline.producer_acquire(%{{.*}}, %{{.*}}, %[[I]])
// CHECK:           cute.atom_store
// CHECK:           cute.atom_store
// CHECK:           cute.pipeline.producer_commit
// CHECK:           cute.pipeline.consumer_wait(%{{.*}}, %{{.*}}, %[[I]])
// CHECK:           cute.atom_load
// CHECK:           cute.atom_load
// CHECK:           cute.pipeline.consumer_release
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @stores(%g: !g, %from: index, %n: index, %by: index) kernel attributes {cute.synchronize} {
    %read = cute.static : !read
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    scf.for %k = %from to %n step %by {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] : (!read, !g) -> vector<8xf16>
      cute.atom_store(%read, %x, %a) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      cute.atom_store(%read, %x, %b) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      %y = cute.atom_load(%read, %a) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %z = cute.atom_load(%read, %b) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      cute.atom_store(%read, %y, %g) at [0, 0, 0] : (!read, vector<8xf16>, !g)
      cute.atom_store(%read, %z, %g) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    } {cute.stages = 2 : i64}
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>

// What is no buffer between two parts of a turn keeps its one place, and the author is told why.
// CHECK-LABEL: gpu.func @no_rings
// CHECK-NOT:     cute.pipeline
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_rings(%g: !g, %n: i32, %if: i1) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %read = cute.static : !read
    // expected-warning @below {{gets one place only, though a loop that uses it is to be pipelined: it is used outside of the loop as well}}
    %a = cute.memref.alloca() : !s
    // expected-warning @below {{a turn reads it before it has filled it}}
    %b = cute.memref.alloca() : !s
    // expected-warning @below {{a turn does not both fill and read it}}
    %c = cute.memref.alloca() : !s
    // expected-warning @below {{whether and where a turn fills it depends on the turn}}
    %d = cute.memref.alloca() : !s
    // expected-warning @below {{a turn may fill a part of it twice, in no order}}
    %e = cute.memref.alloca() : !s
    // What was filled before the loop, which only reads it, needs no second place.
    %f = cute.memref.alloca() : !s
    cute.atom_copy(%copy, %g, %f) at [0, 0, 0] : (!copy, !g, !s)
    // expected-note @below {{the loop}}
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] : (!read, !g) -> vector<8xf16>
      cute.atom_store(%read, %x, %a) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      %y = cute.atom_load(%read, %b) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      cute.atom_store(%read, %y, %b) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      cute.atom_store(%read, %x, %c) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      %first = arith.cmpi eq, %k, %c0 : i32
      scf.if %first {
        cute.atom_store(%read, %x, %d) at [0, 0, 0] : (!read, vector<8xf16>, !s)
      }
      %z = cute.atom_load(%read, %d) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      cute.atom_copy(%copy, %g, %e) at [0, 0, 0] : (!copy, !g, !s)
      cute.atom_copy(%copy, %g, %e) at [0, 0, 0] : (!copy, !g, !s)
      %u = cute.atom_load(%read, %e) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %w = cute.atom_load(%read, %a) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %t = cute.atom_load(%read, %f) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
    } {cute.stages = 3 : i64}
    %v = cute.atom_load(%read, %a) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>

// A tensor that each turn makes for itself: its ring stands in front of the loop.
// CHECK-LABEL: gpu.func @within
// CHECK:         %[[RING:.*]] = cute.memref.alloca() {cute.ring}
// CHECK:         scf.for
// CHECK-NOT:       cute.memref.alloca
// CHECK:           cute.pipeline.producer_acquire
// CHECK:           cute.slice(%[[RING]]
// CHECK:           cute.atom_copy
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @within(%g: !g, %h: !g, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %read = cute.static : !read
    scf.for %k = %c0 to %n step %c1 : i32 {
      %a = cute.memref.alloca() : !s
      cute.atom_copy(%copy, %g, %a) at [0, 0, 0] : (!copy, !g, !s)
      %x = cute.atom_load(%read, %a) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      cute.atom_store(%read, %x, %h) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    } {cute.stages = 2 : i64}
    gpu.return
  }
}

// -----

!s = !cute.memref<f16, smem, align<16>, "8:1">

// The place of a ring is recast as the tensor was, by its own layout.
// CHECK-LABEL: gpu.func @recast
// CHECK:         %[[RING:.*]] = cute.memref.alloca() {cute.ring} : !cute.memref<f16, smem, align<16>, "(8,2):(1,8)">
// CHECK:         scf.for
// CHECK:           cute.pipeline.consumer_wait
// CHECK:           %[[PLACE:.*]] = cute.slice(%[[RING]]
// CHECK:           %[[BYTES:.*]] = cute.recast(%[[PLACE]]) to i8 : !cute.memref<f16, smem, align<16>, "(8):(1)"> -> !cute.memref<i8, smem, align<16>, "(16):(1)">
// CHECK:           cute.recast(%[[BYTES]]) : !cute.memref<i8, smem, align<16>, "(16):(1)"> -> !cute.memref<i32, smem, align<16>, "(4):(1)">
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @recast(%h: !cute.memref<i32, gmem, align<16>, "4:1">, %n: i32, %x: f16) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = cute.memref.alloca() : !s
    %b = cute.recast(%s) to i8
    %w = cute.recast(%b) : !cute.memref<i8, smem, align<16>, "16:1"> -> !cute.memref<i32, smem, align<16>, "4:1">
    scf.for %k = %c0 to %n step %c1 : i32 {
      cute.memref.store(%s, (%c0), %x)
      %y = cute.memref.load(%w, (%c1)) -> i32
      cute.memref.store(%h, (%c0), %y)
    } {cute.stages = 2 : i64}
    gpu.return
  }
}
