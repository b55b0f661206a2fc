// Operands that are tuples of values and integers, written where they are used: coordinates, shapes, strides and int_tuples. They are printed as the ops that make them.
//
// RUN: cute-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: cute-opt %s --strip-types | cute-opt | diff %t.mlir -
// RUN: cute-opt %t.mlir | diff %t.mlir -
// RUN: cute-opt %s --emit-bytecode | cute-opt | diff %t.mlir -

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">

// Behind the last of its values; a tuple without values is a cute.static.
// CHECK-LABEL: func.func @views
// CHECK-SAME: %[[A:[a-z0-9]*]]: !cute.memref{{.*}}, %[[I:[a-z0-9]*]]: i32, %[[X:[a-z0-9]*]]: f32
func.func @views(%A: !m, %i: i32, %x: f32) {
  // CHECK-DAG: cute.static : !cute.coord<"(1,2)">
  // CHECK-DAG: cute.static : !cute.tile<"[32:1;32:1]">
  // CHECK-DAG: cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,_)">
  // CHECK-DAG: cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,3)">
  // CHECK: cute.local_tile(%[[A]], %{{.*}}, %{{.*}}) : ({{.*}}, !cute.tile<"[32:1;32:1]">, !cute.coord<"(?,_)">)
  %a = cute.local_tile(%A, "[32:1;32:1]", (%i, _))
  // A tile by its extents.
  // CHECK: cute.local_tile(%[[A]], %{{.*}}, %{{.*}}) : ({{.*}}, !cute.tile<"[32:1;16:1]">, !cute.coord<"(?,?)">)
  %b = cute.local_tile(%A, (32, 16), (%i, %i))
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : {{.*}}, !cute.coord<"(_,_,?)">
  %s = cute.slice(%a, (_, _, %i))
  // CHECK: cute.memref.load(%[[A]], %{{.*}}) : ({{.*}}, !cute.coord<"(1,2)">) -> f32
  %v = cute.memref.load(%A, (1, 2))
  // CHECK: cute.memref.store(%[[A]], %{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"(?,3)">, f32)
  cute.memref.store(%A, (%i, 3), %x)
  // CHECK: %[[TWICE:.*]] = arith.addi
  %twice = arith.addi %i, %i : i32
  // CHECK: cute.make_coord(%[[TWICE]], %[[I]]) : (i32, i32) -> !cute.coord<"(?,(?,0))">
  // CHECK-NEXT: %[[L:.*]] = cute.static
  %l = cute.static "(4,(4,4)):(1,(4,16))"
  // CHECK-NEXT: cute.crd2idx(%{{.*}}, %[[L]])
  %index = cute.crd2idx((%twice, (%i, 0)), %l)
  // CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,128)">, !cute.stride<"(?,1)">)
  %made = cute.make_layout((%i, 128), (%i, 1))
  // CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,128)">, !cute.shape<"(64,64)">)
  %grid = cute.ceil_div((%twice, 128), "(64,64)")
  // CHECK: cute.make_identity_tensor(%{{.*}} : !cute.shape<"(?,64)">) : !cute.coord_tensor<"(0,0)", "(?,64):(1@0,1@1)">
  %places = cute.make_identity_tensor((%twice, 64))
  // CHECK: cute.size
  %size = cute.size((%twice, 64))
  // The types may be written as well.
  // CHECK: cute.slice(%[[A]], %{{.*}}) : {{.*}}, !cute.coord<"(?,_)">
  %t = cute.slice(%A, (%i, _)) : !m, !cute.coord<"(?,_)">
  return
}

// Of values of several regions, behind the innermost.
// CHECK-LABEL: func.func @regions
func.func @regions(%A: !m, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
  scf.for %i = %zero to %n step %one : i32 {
    // CHECK: scf.for %[[J:.*]] =
    scf.for %j = %zero to %n step %one : i32 {
      // CHECK-NEXT: cute.make_coord(%[[N]], %[[J]])
      // CHECK: cute.memref.load
      %x = cute.memref.load(%A, (%n, %j))
      // CHECK: %[[K:.*]] = arith.addi
      %k = arith.addi %i, %j : i32
      // CHECK-NEXT: cute.make_coord(%[[K]], %[[I]])
      // CHECK-NEXT: cute.memref.load
      %y = cute.memref.load(%A, (%k, %i))
    }
    // CHECK: }
    // CHECK: cute.memref.load(%{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"(?,?)">)
    %z = cute.memref.load(%A, (%i, %n))
  }
  return
}

// CHECK-LABEL: func.func private @open
func.func private @open(%A: !cute.any, %i: i32) {
  // CHECK: cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(?,_)">
  // CHECK: cute.slice
  %s = cute.slice(%A, (%i, _))
  return
}

// A word before it says what it is where its place does not. What no value is beside stands behind the last one before it.
// CHECK-LABEL: gpu.module @words
gpu.module @words {
  func.func private @callee(%x: !cute.any, %y: !cute.any, %z: !cute.any) {
    return
  }
  // CHECK: func.func private @caller(%[[I:.*]]: i32, %[[S:.*]]: !cute.shape<"(?,8)">, %[[L:.*]]: !cute.layout<"8:1">)
  func.func private @caller(%i: i32, %s: !cute.shape<"(?,8)">, %l: !cute.layout<"8:1">) {
    // CHECK-DAG: %[[AT:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,_)">
    // CHECK-DAG: %[[TILE:.*]] = cute.static : !cute.tile<"[128:1;64:1]">
    // CHECK-DAG: %[[SHAPE:.*]] = cute.static : !cute.shape<"(128,64)">
    // CHECK-DAG: %[[STRIDE:.*]] = cute.static : !cute.stride<"(64,1)">
    // CHECK-DAG: %[[LAYOUT:.*]] = cute.static : !cute.layout<"(8,4):(4,1)">
    // CHECK-DAG: %[[TUPLE:.*]] = cute.static : !cute.int_tuple<"(1,2)">
    // CHECK: cute.call @callee(%[[AT]], %[[TILE]], %[[SHAPE]])
    cute.call @callee(coord (%i, _), tile (128, 64), shape "(128,64)")
    // CHECK: cute.call @callee(%[[STRIDE]], %[[LAYOUT]], %[[TUPLE]])
    cute.call @callee(stride (64, 1), layout "(8,4):(4,1)", int_tuple (1, 2))
    // CHECK: cute.equal(%[[S]], %{{.*}}) : (!cute.shape<"(?,8)">, !cute.shape<"(4,8)">) -> i1
    %a = cute.equal(%s, "(4,8)")
    // CHECK: cute.equal(%[[L]], %{{.*}}) : (!cute.layout<"8:1">, !cute.layout<"4:1">) -> i1
    %b = cute.equal(%l, "4:1")
    // CHECK: cute.equal(%{{.*}}, %{{.*}}) : (!cute.coord<"(0,1)">, !cute.coord<"(?,1)">) -> i1
    %c = cute.equal(coord (0, 1), (%i, 1))
    %c0 = arith.constant 0 : i32
    scf.for %j = %c0 to %i step %i : i32 {
      // CHECK: %[[K:.*]] = arith.addi
      %k = arith.addi %i, %j : i32
      // CHECK-NEXT: cute.static : !cute.shape<"(4,8)">
      // CHECK-NEXT: cute.size
      %n = cute.size((4, 8))
    }
    return
  }
}

// CHECK-LABEL: func.func @launch
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @launch(%n: i32) {
    // CHECK: cute.make_shape(%{{.*}}) : (i32) -> !cute.shape<"(?,2)">
    // CHECK: cute.launch @kernels::@kernel blocks(%{{.*}}) args(
    cute.launch @kernels::@kernel blocks((%n, 2)) args(%n)
    return
  }
}
