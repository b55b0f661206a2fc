// Prologue, steady state, drain and tail, for loops longer and shorter than the pipeline.
//
// RUN: cute-opt %s --cute-expand-pipeline --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule --cute-expand-pipeline --split-input-file | FileCheck %s --check-prefix=BEHIND

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

// -----

// What a branch takes from around it is what its iteration has: the buffer of the interval before.
// CHECK-LABEL: gpu.func @branch
// CHECK: %[[FIRST:.*]] = cute.pipeline.producer_acquire
// CHECK: scf.for %{{.*}} iter_args(%[[SLOT:.*]] = %[[FIRST]]) -> (i32)
// CHECK:   %[[NEXT:.*]] = cute.pipeline.producer_acquire
// CHECK:   %[[K:.*]] = arith.subi
// CHECK:   scf.if
// CHECK:     arith.addi %[[SLOT]], %[[K]] : i32
// CHECK:   scf.yield %[[NEXT]] : i32
// CHECK-NOT: cute.stage
gpu.module @kernels {
  gpu.func @branch(%c: i1, %m: !cute.memref<i32, gmem, "16:1">) kernel {
    %zero = arith.constant 0 : i32
    %n = arith.constant 8 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    scf.for %k = %zero to %n step %one : i32 {
      %s = cute.pipeline.producer_acquire(%p, %free, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      scf.if %c {
        %x = arith.addi %s, %k : i32
        %i = cute.make_coord(%x) : (i32) -> !cute.coord<"?">
        cute.memref.store(%m, %i, %x) : (!cute.memref<i32, gmem, "16:1">, !cute.coord<"?">, i32) -> ()
      } {cute.stage = 1 : i32, cute.order = 1 : i32}
    }
    gpu.return
  }
}

// -----

// A scheduled loop within a scheduled one is expanded wherever it is written out.
// CHECK-LABEL: gpu.func @inner
// CHECK-NOT: cute.stage
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @inner() kernel {
    %zero = arith.constant 0 : i32
    %n = arith.constant 8 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    scf.for %k = %zero to %n step %one : i32 {
      %f = cute.pipeline.producer_commit(%p) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      scf.for %j = %zero to %n step %one : i32 {
        %g = cute.pipeline.producer_commit(%p) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
        %s = cute.pipeline.consumer_wait(%p, %f, %j) {cute.stage = 1 : i32, cute.order = 1 : i32} : !cute.pipeline<2>
      } {cute.stage = 1 : i32, cute.order = 1 : i32}
    }
    gpu.return
  }
}

// -----

// An argument that is handed on unchanged is what it was before the loop.
// CHECK-LABEL: gpu.func @unchanged
// CHECK: %[[P:.*]], %[[FREE:.*]] = cute.pipeline.create
// CHECK: scf.for
// CHECK:   cute.pipeline.producer_acquire(%[[P]], %[[FREE]],
// CHECK: cute.pipeline.consumer_wait(%[[P]], %[[FREE]],
gpu.module @kernels {
  gpu.func @unchanged(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %five = arith.constant 5 : i32
    %one = arith.constant 1 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    %r = scf.for %k = %zero to %five step %one iter_args(%t = %free) -> (!cute.token) : i32 {
      %s = cute.pipeline.producer_acquire(%p, %t, %k) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
      %f = cute.pipeline.producer_commit(%p) {cute.stage = 1 : i32, cute.order = 1 : i32} : !cute.pipeline<2>
      scf.yield %t : !cute.token
    }
    %s = cute.pipeline.consumer_wait(%p, %r, %zero) : !cute.pipeline<2>
    gpu.return
  }
}

// -----

// The number of iterations is not known. The prologue and the drain run the consumer once: a loop of no iteration is not gone
// into. Copies of the second iteration have a predicate, for there may be none; so have those of the loop that runs on.
// CHECK-LABEL: gpu.func @unknown
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[V:[a-z0-9]+]]: vector<8xf16>
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: %[[TRIPS:.*]] = arith.select %[[ANY]], %[[N]]
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge, %[[TRIPS]], %c1
// CHECK: %[[R:[0-9]+]] = scf.if %[[ENOUGH]] -> (vector<8xf16>) {
// CHECK:   cute.atom_copy({{.*}}at [0, 0, 0] :
// CHECK:   %[[SECOND:.*]] = arith.cmpi ugt, %[[TRIPS]], %c1
// CHECK:   cute.atom_copy({{.*}} if %[[SECOND]]
// CHECK:   cute.pipeline.consumer_wait
// CHECK:   %[[FIRST:.*]] = cute.atom_load
// CHECK:   %[[END:.*]] = arith.subi %[[TRIPS]], %c1
// CHECK:   %[[LOOP:.*]]:{{.*}} = scf.for %[[K:.*]] = %c0{{.*}} to %[[END]]
// CHECK:     %[[MORE:.*]] = arith.cmpi slt, %[[K]], %{{.*}}
// CHECK:     cute.atom_copy({{.*}} if %[[MORE]]
// CHECK:     arith.addf
// CHECK:   }
// CHECK-NOT: cute.atom_copy
// CHECK:   %[[SUM:.*]] = arith.addf
// CHECK:   cute.pipeline.producer_tail
// CHECK:   scf.yield %[[SUM]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[V]]

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
!ring = !cute.memref<f16, smem, align<16>, "((8,1),1,1,3):((1,0),0,0,8)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[1:1;8:1]">>
gpu.module @kernels {
  gpu.func @unknown(%g: !g, %n: i32, %v: vector<8xf16>, %out: !g) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %read = cute.static : !read
    %ring = cute.memref.alloca() {cute.ring} : !ring
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    %r:4 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %v, %a = %free, %b = %free, %c = %free) -> (vector<8xf16>, !cute.token, !cute.token, !cute.token) : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %c, %k) {cute.order = 0 : i32, cute.stage = 0 : i32} : !cute.pipeline<3>
      %at = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,_,?)">
      %to = cute.slice(%ring, %at) : !ring, !cute.coord<"(_,_,_,?)">
      cute.atom_copy(%copy, %g, %to) at [0, 0, 0] {cute.order = 1 : i32, cute.stage = 0 : i32} : (!copy, !g, !s)
      %full = cute.pipeline.producer_commit(%p) {cute.order = 2 : i32, cute.stage = 0 : i32} : !cute.pipeline<3>
      %place = cute.pipeline.consumer_wait(%p, %full, %k) {cute.order = 4 : i32, cute.stage = 1 : i32} : !cute.pipeline<3>
      %here = cute.make_coord(%place) : (i32) -> !cute.coord<"(_,_,_,?)">
      %from = cute.slice(%ring, %here) : !ring, !cute.coord<"(_,_,_,?)">
      %x = cute.atom_load(%read, %from) at [0, 0, 0] {cute.order = 5 : i32, cute.stage = 1 : i32} : (!read, !s) -> vector<8xf16>
      %done = cute.pipeline.consumer_release(%p) {cute.order = 6 : i32, cute.stage = 1 : i32} : !cute.pipeline<3>
      %y = arith.addf %sum, %x {cute.order = 3 : i32, cute.stage = 2 : i32} : vector<8xf16>
      scf.yield %y, %done, %a, %b : vector<8xf16>, !cute.token, !cute.token, !cute.token
    }
    cute.atom_store(%read, %r#0, %out) at [0, 0, 0] : (!read, vector<8xf16>, !g)
    gpu.return
  }
}

// -----

// A load from global memory ahead of its use stops at the last iteration, which is there.
// CHECK-LABEL: gpu.func @loads
// CHECK: %[[TRIPS:.*]] = arith.select
// CHECK: %[[ENOUGH:.*]] = arith.cmpi uge, %[[TRIPS]], %c1
// CHECK: scf.if %[[ENOUGH]] {
// CHECK:   cute.memref.load
// CHECK:   scf.for %[[K:[a-z0-9]+]] =
// CHECK:     %[[LAST:.*]] = arith.subi %[[TRIPS]], %c2
// CHECK:     %[[NEXT:.*]] = arith.minsi %[[K]], %[[LAST]]
// CHECK:     arith.addi %[[NEXT]], %c1
// CHECK:     cute.memref.load
// CHECK:     cute.memref.store
// CHECK:   }
// CHECK-NOT: cute.memref
// CHECK: } else {
// CHECK-NEXT: }
!t = !cute.memref<f32, gmem, align<16>, "1024:1">
gpu.module @kernels {
  gpu.func @loads(%g: !t, %h: !t, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %x = cute.memref.load(%g, %at) {cute.order = 0 : i32, cute.stage = 0 : i32} : (!t, !cute.coord<"?">) -> f32
      cute.memref.store(%h, %at, %x) {cute.order = 1 : i32, cute.stage = 1 : i32} : (!t, !cute.coord<"?">, f32) -> ()
    }
    gpu.return
  }
}

// -----

!g = !cute.memref<f32, gmem, align<16>, "((4,1),1,1):((1,0),0,0)">
!read = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[1:1;4:1]">>

// A part of what an operation makes, which only stands behind the loop: it is carried as it is, from the argument's initial value on.
// CHECK-LABEL:  gpu.func @behind
// BEHIND-LABEL: gpu.func @behind
// BEHIND-SAME:    %[[V:[a-z0-9]+]]: vector<2xf32>
// BEHIND:         scf.for {{.*}}= %[[V]]
// BEHIND:         vector.extract_strided_slice
// BEHIND:         scf.yield
// BEHIND:         vector.reduction
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @behind(%g: !g {cute.noalias}, %h: !g, %n: i32, %v: vector<2xf32>) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %two = arith.constant dense<2.0> : vector<4xf32>
    %at = cute.static : !cute.coord<"0">
    %read = cute.static : !read
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%last = %v) -> (vector<2xf32>) : i32 {
      %x = cute.atom_load(%read, %g) at [0, 0, 0] : (!read, !g) -> vector<4xf32>
      %y = arith.mulf %x, %two : vector<4xf32>
      cute.atom_store(%read, %y, %h) at [0, 0, 0] : (!read, vector<4xf32>, !g)
      %z = vector.extract_strided_slice %y {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
      scf.yield %z : vector<2xf32>
    } {cute.stages = 2 : i64}
    %sum = vector.reduction <add>, %r : vector<2xf32> into f32
    cute.memref.store(%h, %at, %sum) : (!g, !cute.coord<"0">, f32) -> ()
    gpu.return
  }
}
