// What the operations of a loop cost, and when each of them runs.
//
// RUN: cute-opt %s --cute-assign-latencies --split-input-file | FileCheck %s --check-prefix=COST
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule --split-input-file --verify-diagnostics | FileCheck %s
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule --cute-print-schedule --split-input-file -o %t.mlir 2>/dev/null | FileCheck %s --check-prefix=TEXT
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule --cute-print-schedule=format=dot --split-input-file -o %t.mlir 2>/dev/null | FileCheck %s --check-prefix=DOT

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!ring = !cute.memref<f16, smem, align<16>, "((8,1),1,1,3):((1,0),0,0,8)">

// The copies run two turns ahead, the load and the sum do not.
// COST-LABEL: gpu.func @copies
// COST:         cute.pipeline.producer_acquire(%{{.*}}, %{{.*}}, %{{.*}}) : !cute.pipeline<3>
// COST:         cute.atom_copy({{.*}}{cute.cycles = 16 : i32, cute.latency = 500 : i32, cute.unit = "memory"}
// COST:         cute.atom_load({{.*}}{cute.cycles = 16 : i32, cute.latency = 33 : i32, cute.unit = "memory"}
// COST:         arith.addf {{.*}}{cute.cycles = 16 : i32, cute.latency = 4 : i32, cute.unit = "arithmetic"}
// COST:         math.exp {{.*}}{cute.cycles = 64 : i32, cute.latency = 18 : i32, cute.unit = "special"}

// CHECK-LABEL: gpu.func @copies
// CHECK-NOT:     cute.stages
// CHECK:         cute.pipeline.producer_acquire({{.*}}cute.stage = 0
// CHECK:         cute.atom_copy({{.*}}cute.stage = 0
// CHECK:         cute.pipeline.producer_commit({{.*}}cute.stage = 0
// CHECK:         cute.pipeline.consumer_wait({{.*}}cute.stage = 1
// CHECK:         cute.atom_load({{.*}}cute.stage = 1
// CHECK:         cute.pipeline.consumer_release({{.*}}cute.stage = 1
// CHECK:         arith.addf {{.*}}cute.stage = 2
// CHECK:         math.exp {{.*}}cute.stage = 2

// TEXT:      copies, the loop at {{.*}}schedule.mlir:{{[0-9]+}}:{{[0-9]+}}: 3 stages, a turn every 64 cycles at least
// TEXT-NEXT: unit        busy  of a turn
// TEXT-NEXT: issue         26       40 %
// TEXT-NEXT: tensor         0        0 %
// TEXT-NEXT: arithmetic    16       25 %
// TEXT-NEXT: special       64      100 %
// TEXT-NEXT: memory        32       50 %
// TEXT-NEXT: order  stage  unit        cycles  latency  operation
// TEXT-NEXT:     0      0  issue            0        0  cute.pipeline.producer_acquire
// TEXT-NEXT:     1      0  memory          16      500  cute.atom_copy
// TEXT-NEXT:     2      0  issue            0        0  cute.pipeline.producer_commit
// TEXT-NEXT:     3      2  arithmetic      16        4  arith.addf
// TEXT:             1  issue            0        0  cute.pipeline.consumer_wait
// TEXT-NEXT:        1  memory          16       33  cute.atom_load

// DOT:       digraph "copies, the loop at {{.*}}" {
// DOT:         subgraph cluster_0 {
// DOT-NEXT:      label="stage 0";
// DOT-NEXT:      n[[A:[0-9]+]] [label="0: cute.pipeline.producer_acquire"];
// DOT-NEXT:      n[[C:[0-9]+]] [label="1: cute.atom_copy"];
// DOT:         n[[A]] -> n[[C]] [label="0/0"];
// DOT:         n{{[0-9]+}} -> n[[A]] [label="0/3", style=dashed];
// DOT:       }
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @copies(%g: !g, %n: i32, %v: vector<8xf16>) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %read = cute.static : !read
    %ring = cute.memref.alloca() {cute.ring} : !ring
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %v, %a = %free, %b = %free, %c = %free) -> (vector<8xf16>, !cute.token, !cute.token, !cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %c, %k) : !cute.pipeline<3>
      %at = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,_,?)">
      %to = cute.slice(%ring, %at) : !ring, !cute.coord<"(_,_,_,?)">
      cute.atom_copy(%copy, %g, %to) at [0, 0, 0] : (!copy, !g, !s)
      %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
      %place = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<3>
      %here = cute.make_coord(%place) : (i32) -> !cute.coord<"(_,_,_,?)">
      %from = cute.slice(%ring, %here) : !ring, !cute.coord<"(_,_,_,?)">
      %x = cute.atom_load(%read, %from) at [0, 0, 0] : (!read, !s) -> vector<8xf16>
      %done = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
      %y = arith.addf %sum, %x : vector<8xf16>
      %z = math.exp %y : vector<8xf16>
      scf.yield %z, %done, %a, %b : vector<8xf16>, !cute.token, !cute.token, !cute.token
    } {cute.stages = 3 : i64}
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>

// Loads from global memory run ahead where nothing they may see is written: what a turn stores may be what the next one loads,
// unless the tensors are said to be apart. What is there already is believed.
// COST-LABEL: gpu.func @apart
// COST:         cute.atom_load({{.*}}cute.latency = 7 : i32
// CHECK-LABEL: gpu.func @apart
// CHECK:         cute.atom_load({{.*}}cute.stage = 0
// CHECK:         cute.atom_store({{.*}}cute.stage = 1
// CHECK-LABEL: gpu.func @together
// CHECK-NOT:     cute.stage
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @apart(%g: !g {cute.noalias}, %h: !g, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %read = cute.static : !read
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] {cute.latency = 7 : i32} : (!read, !g) -> vector<8xf16>
      cute.atom_store(%read, %x, %h) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    } {cute.stages = 2 : i64}
    gpu.return
  }
  gpu.func @together(%g: !g, %h: !g, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %read = cute.static : !read
    // expected-warning @below {{'scf.for' op is to be pipelined, but nothing of it can run ahead of the rest}}
    scf.for %k = %c0 to %n step %c1 : i32 {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] : (!read, !g) -> vector<8xf16>
      cute.atom_store(%read, %x, %h) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    } {cute.stages = 2 : i64}
    gpu.return
  }
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "1024:1">

// What a loop hands on may be any tensor: also one that is said to be apart from the kernel's other arguments.
// CHECK-LABEL: gpu.func @handed_on
// CHECK-NOT:     cute.stage
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @handed_on(%g: !t {cute.noalias}, %h: !t, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    // expected-warning @below {{nothing of it can run ahead of the rest}}
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%t = %g) -> (!t) : i32 {
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %x = cute.memref.load(%g, %at) : (!t, !cute.coord<"?">) -> f32
      cute.memref.store(%t, %at, %x) : (!t, !cute.coord<"?">, f32) -> ()
      scf.yield %t : !t
    } {cute.stages = 2 : i64}
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,8),8):((64,1),8)">, tiler_mn = <"[8:1;32:1]">>

// A turn that only adds what it loads: what costs nothing behind its last sum is of the same turn, so that the load may be ahead.
// CHECK-LABEL: gpu.func @sums
// CHECK:         cute.atom_load({{.*}}cute.stage = 0
// CHECK:         arith.addf {{.*}}cute.stage = 1
// CHECK:         vector.insert {{.*}}cute.stage = 1
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @sums(%g: !g, %h: !g, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : vector<8xf16>
    %read = cute.static : !read
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (vector<8xf16>) : i32 {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] : (!read, !g) -> vector<8xf16>
      %old = vector.extract %acc[0] : f16 from vector<8xf16>
      %new = vector.extract %x[0] : f16 from vector<8xf16>
      %more = arith.addf %old, %new : f16
      %next = vector.insert %more, %acc [0] : f16 into vector<8xf16>
      scf.yield %next : vector<8xf16>
    } {cute.stages = 2 : i64}
    cute.atom_store(%read, %sum, %h) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    gpu.return
  }
}
