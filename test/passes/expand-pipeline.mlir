// Prologue, steady state, drain and tail, for loops longer and shorter than the pipeline.
//
// RUN: cute-opt %s --cute-expand-pipeline --split-input-file | FileCheck %s

// Five iterations: two intervals of prologue, a loop that runs on while only the producer has run
// out, and the last interval.
// CHECK-LABEL: gpu.func @long
// CHECK: %[[P:.*]], %{{.*}} = cute.pipeline.create
// CHECK: cute.pipeline.producer_acquire(%[[P]], %{{.*}}, %c0_i32
// CHECK: cute.atom_copy
// CHECK: cute.pipeline.producer_commit
// CHECK: cute.pipeline.producer_acquire
// CHECK: cute.atom_copy
// CHECK: cute.pipeline.producer_commit
// CHECK: cute.pipeline.consumer_wait
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %[[END:.*]] step
// CHECK:   cute.pipeline.producer_acquire(%[[P]], %{{.*}}, %[[T]])
// CHECK:   %[[MORE:.*]] = arith.cmpi slt, %[[T]], %{{.*}} : i32
// CHECK:   cute.atom_copy({{.*}}) at [0, 0, 0] if %[[MORE]]
// CHECK:   cute.pipeline.producer_commit
// CHECK:   cute.pipeline.consumer_wait
// CHECK:   cute.pipeline.consumer_release
// CHECK: }
// CHECK-NOT: cute.atom_copy
// CHECK: cute.pipeline.consumer_release
// CHECK: cute.pipeline.producer_tail(%[[P]])

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1,3):((1,0),0,0,8)">
!v = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
gpu.module @kernels {
  gpu.func @long(%g: !g) kernel {
    %lower = arith.constant 0 : i32
    %upper = arith.constant 5 : i32
    %step = arith.constant 1 : i32
    %copy = cute.static : !copy
    %s = cute.memref.alloca() : !s
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %r:3 = scf.for %k = %lower to %upper step %step iter_args(%a = %free, %b = %free, %c = %free) -> (!cute.token, !cute.token, !cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %c, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<3>
      %at = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,_,?)">
      %to = cute.slice(%s, %at) : !s, !cute.coord<"(_,_,_,?)">
      cute.atom_copy(%copy, %g, %to) at [0, 0, 0] {cute.stage = 0 : i32, cute.order = 1 : i32} : (!copy, !g, !v)
      %full = cute.pipeline.producer_commit(%p) {cute.stage = 0 : i32, cute.order = 2 : i32} : !cute.pipeline<3>
      %read = cute.pipeline.consumer_wait(%p, %full, %k) {cute.stage = 1 : i32, cute.order = 3 : i32} : !cute.pipeline<3>
      %done = cute.pipeline.consumer_release(%p) {cute.stage = 2 : i32, cute.order = 4 : i32} : !cute.pipeline<3>
      scf.yield %done, %a, %b : !cute.token, !cute.token, !cute.token
    }
    gpu.return
  }
}

// -----

// One iteration: no loop, no predicate, no tail.
// CHECK-LABEL: gpu.func @short
// CHECK-NOT: scf.for
// CHECK-NOT: producer_tail
// CHECK: cute.pipeline.producer_commit
// CHECK-NOT: cute.pipeline.producer_commit
// CHECK: cute.pipeline.consumer_wait
// CHECK: cute.pipeline.consumer_release
// CHECK-NOT: cute.pipeline.consumer_release
// CHECK: gpu.return

gpu.module @kernels {
  gpu.func @short() kernel {
    %lower = arith.constant 0 : i32
    %upper = arith.constant 1 : i32
    %step = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %r = scf.for %k = %lower to %upper step %step iter_args(%a = %free) -> (!cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %a, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<3>
      %full = cute.pipeline.producer_commit(%p) {cute.stage = 0 : i32, cute.order = 1 : i32} : !cute.pipeline<3>
      %read = cute.pipeline.consumer_wait(%p, %full, %k) {cute.stage = 0 : i32, cute.order = 2 : i32} : !cute.pipeline<3>
      %done = cute.pipeline.consumer_release(%p) {cute.stage = 0 : i32, cute.order = 3 : i32} : !cute.pipeline<3>
      scf.yield %done : !cute.token
    }
    gpu.return
  }
}
