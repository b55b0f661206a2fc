// cute-lower-layouts: dynamic layouts computed on their leaves.
//
// RUN: cute-opt %s --split-input-file --cute-lower-layouts --cse | FileCheck %s
// RUN: cute-opt %s --split-input-file --cute-lower-layouts=checks=false --cse | FileCheck %s --check-prefix=BARE

// A layout passes as its dynamic leaves: shape before stride. What is static costs nothing.
// CHECK-LABEL: func.func @row_major(
// CHECK-SAME:    %[[M:.*]]: i32, %[[K:.*]]: i32, %[[D:.*]]: i64) -> (i32, i64)
// CHECK-NEXT:    return %[[M]], %[[D]] : i32, i64
func.func @row_major(%l: !cute.layout<"(?,?):(?{i64},1)">) -> !cute.layout<"?:?{i64}"> {
  %r = cute.get<[0]>(%l) : !cute.layout<"(?,?):(?{i64},1)"> -> !cute.layout<"?:?{i64}">
  return %r : !cute.layout<"?:?{i64}">
}

// -----

// mod, div and mul as the layout says; what is known is a constant.
// CHECK-LABEL: func.func @indices(
// CHECK-SAME:    %[[I:.*]]: i32, %[[J:.*]]: i32)
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : i32
// CHECK-DAG:     %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG:     %[[C7:.*]] = arith.constant 7 : i32
// CHECK-DAG:     %[[C23:.*]] = arith.constant 23 : i32
// CHECK-DAG:     %[[MOD:.*]] = arith.remsi %[[I]], %[[C2]] : i32
// CHECK-DAG:     %[[A:.*]] = arith.muli %[[MOD]], %[[C5]] : i32
// CHECK-DAG:     %[[DIV:.*]] = arith.divsi %[[I]], %[[C2]] : i32
// CHECK-DAG:     %[[B:.*]] = arith.muli %[[DIV]], %[[C7]] : i32
// CHECK-DAG:     %[[X:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK-DAG:     %[[IB:.*]] = arith.muli %[[I]], %[[C5]] : i32
// CHECK-DAG:     %[[JB:.*]] = arith.muli %[[J]], %[[C7]] : i32
// CHECK-DAG:     %[[Y:.*]] = arith.addi %[[IB]], %[[JB]] : i32
// CHECK:         return %[[X]], %[[Y]], %[[C23]]
func.func @indices(%i: i32, %j: i32) -> (i32, i32, i32) {
  %l = cute.static : !cute.layout<"(2,3):(5,7)">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %o = cute.crd2idx(%c, %l) : (!cute.coord<"?">, !cute.layout<"(2,3):(5,7)">) -> !cute.int_tuple<"?">
  %x = cute.get_scalars(%o) : !cute.int_tuple<"?">
  %d = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
  %p = cute.layout_eval(%d, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(2,3):(5,7)">) -> !cute.int_tuple<"?">
  %y = cute.get_scalars(%p) : !cute.int_tuple<"?">
  %h = cute.static : !cute.shape<"(8,4)">
  %e = cute.static : !cute.coord<"(7,2)">
  %q = cute.crd2idx(%e, %h) : (!cute.coord<"(7,2)">, !cute.shape<"(8,4)">) -> !cute.int_tuple<"23">
  %z = cute.get_scalars(%q) : !cute.int_tuple<"23">
  return %x, %y, %z : i32, i32, i32
}

// -----

// The conditions under which a composition is right are asserted.
// CHECK-LABEL: func.func @composed(
// CHECK-SAME:    %[[M:.*]]: i32, %[[N:.*]]: i32, %[[D:.*]]: i32)
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[T:.*]] = arith.minsi %[[M]], %[[C8]] : i32
// CHECK-DAG:     %[[R:.*]] = arith.remsi %[[C8]], %[[T]] : i32
// CHECK:         %[[OK:.*]] = arith.cmpi eq, %[[R]], %[[C0]] : i32
// CHECK:         cf.assert %[[OK]], "{{.*}}expected (?,?):(1,?) o 8:1 to be a layout, found that 8 steps of 1 in the mode ?:1
// CHECK:         %[[Q:.*]] = arith.divsi %[[C8]], %[[T]] : i32
// CHECK:         return %[[T]], %[[Q]], %{{.*}} : i32, i32, i32
// BARE-LABEL: func.func @composed(
// BARE-NOT:     cf.assert
// BARE:         return
func.func @composed(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.layout<"(?,?):(1,?)"> {
  %t = cute.static : !cute.shape<"8">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.shape<"8">) -> !cute.layout<"(?,?):(1,?)">
  return %r : !cute.layout<"(?,?):(1,?)">
}

// -----

// A product of 32-bit integers is one of 32 bits: that it fits is asserted. A known layout whose offsets fit needs nothing.
// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[M:.*]]: i32, %[[N:.*]]: i32, %[[W:.*]]: i64)
// CHECK-DAG:     %[[P:.*]] = arith.muli %[[M]], %[[N]] : i32
// CHECK-DAG:     %[[P64:.*]] = arith.extsi %[[P]] : i32 to i64
// CHECK-DAG:     %[[M64:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK-DAG:     %[[N64:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK-DAG:     %[[Q:.*]] = arith.muli %[[M64]], %[[N64]] : i64
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[P64]], %[[Q]] : i64
// CHECK:         cf.assert %[[SAME]], "'cute.size' op expected values that fit 32 bits, found an overflow
// CHECK-NOT:     cf.assert
// CHECK:         return
// BARE-LABEL: func.func @sizes(
// BARE-NOT:     cf.assert
// BARE:         return
func.func @sizes(%s: !cute.shape<"(?,?)">, %w: !cute.shape<"?{i64}">) -> (i32, i64, i32) {
  %p = cute.size(%s) : (!cute.shape<"(?,?)">) -> !cute.int_tuple<"?">
  %x = cute.get_scalars(%p) : !cute.int_tuple<"?">
  %q = cute.size(%w) : (!cute.shape<"?{i64}">) -> !cute.int_tuple<"?{i64}">
  %y = cute.get_scalars(%q) : !cute.int_tuple<"?{i64}">
  %l = cute.static : !cute.layout<"(1024,1024):(1024,1)">
  %c = cute.make_coord(%x, %x) : (i32, i32) -> !cute.coord<"(?,?)">
  %o = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(1024,1024):(1024,1)">) -> !cute.int_tuple<"?">
  %z = cute.get_scalars(%o) : !cute.int_tuple<"?">
  return %x, %y, %z : i32, i64, i32
}

// -----

// So it is of a known layout whose offsets need more.
// CHECK-LABEL: func.func @far(
// CHECK:         cf.assert %{{.*}}, "'cute.layout_eval' op expected values that fit 32 bits
func.func @far(%c: !cute.coord<"(?,?)">) -> !cute.int_tuple<"?"> {
  %l = cute.static : !cute.layout<"(65536,65536):(65536,1)">
  %o = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(65536,65536):(65536,1)">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}

// -----

// Loops, branches and calls carry leaves.
// CHECK-LABEL: func.func private @outside(i32, i32) -> (i32, i32)
func.func private @outside(!cute.coord<"(?,?)">) -> !cute.coord<"(?,?)">
// CHECK-LABEL: func.func @carried(
// CHECK-SAME:    %[[C0:.*]]: i32, %[[C1:.*]]: i32, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[P:.*]]: i1, %[[E:.*]]: index) -> (i32, i32)
// CHECK:         %[[F:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %[[E]] step %{{.*}} iter_args(%[[A:.*]] = %[[C0]], %[[B:.*]] = %[[C1]]) -> (i32, i32) {
// CHECK:           scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK:         %[[G:.*]]:2 = scf.if %[[P]] -> (i32, i32) {
// CHECK:           %[[K:.*]]:2 = func.call @outside(%[[F]]#0, %[[F]]#1) : (i32, i32) -> (i32, i32)
// CHECK:           scf.yield %[[K]]#0, %[[K]]#1
// CHECK:         } else {
// CHECK:           scf.yield %[[F]]#0, %[[F]]#1
// CHECK:         cf.cond_br %[[P]], ^bb1(%[[G]]#0, %[[G]]#1 : i32, i32), ^bb2(%[[F]]#0, %[[F]]#1, %[[E]] : i32, i32, index)
// CHECK:       ^bb1(%[[X:.*]]: i32, %[[Y:.*]]: i32):
// CHECK:         cf.br ^bb2(%[[X]], %[[Y]], %[[E]] : i32, i32, index)
// CHECK:       ^bb2(%[[Z:.*]]: i32, %[[W:.*]]: i32, %{{.*}}: index):
// CHECK:         %[[S0:.*]] = arith.select %[[P]], %[[Z]], %[[C0]]
// CHECK:         %[[S1:.*]] = arith.select %[[P]], %[[W]], %[[C1]]
// CHECK:         return %[[S0]], %[[S1]]
func.func @carried(%c: !cute.coord<"(?,?)">, %s: !cute.shape<"(?,?)">, %p: i1, %n: index) -> !cute.coord<"(?,?)"> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %l = scf.for %i = %zero to %n step %one iter_args(%x = %c) -> (!cute.coord<"(?,?)">) {
    %y = cute.increment_coord(%x, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,?)">) -> !cute.coord<"(?,?)">
    scf.yield %y : !cute.coord<"(?,?)">
  }
  %b = scf.if %p -> (!cute.coord<"(?,?)">) {
    %o = func.call @outside(%l) : (!cute.coord<"(?,?)">) -> !cute.coord<"(?,?)">
    scf.yield %o : !cute.coord<"(?,?)">
  } else {
    scf.yield %l : !cute.coord<"(?,?)">
  }
  cf.cond_br %p, ^one(%b : !cute.coord<"(?,?)">), ^two(%l, %n : !cute.coord<"(?,?)">, index)
^one(%x: !cute.coord<"(?,?)">):
  cf.br ^two(%x, %n : !cute.coord<"(?,?)">, index)
^two(%z: !cute.coord<"(?,?)">, %m: index):
  %r = arith.select %p, %z, %c : !cute.coord<"(?,?)">
  return %r : !cute.coord<"(?,?)">
}

// -----

// Comparisons are conditions; widths meet at the wider one.
// CHECK-LABEL: func.func @compared(
// CHECK-SAME:    %[[A:.*]]: i32, %[[B:.*]]: i64)
// CHECK:         %[[W:.*]] = arith.extsi %[[A]] : i32 to i64
// CHECK:         %[[L:.*]] = arith.cmpi slt, %[[W]], %[[B]] : i64
// CHECK:         return %[[L]] : i1
func.func @compared(%a: !cute.coord<"(?,1)">, %b: !cute.shape<"(?{i64},2)">) -> i1 {
  %r = cute.elem_less(%a, %b) : (!cute.coord<"(?,1)">, !cute.shape<"(?{i64},2)">) -> i1
  return %r : i1
}

// -----

// On the GPU printing is gpu.printf; a launch passes leaves too.
// CHECK-LABEL: gpu.func @show(
// CHECK-SAME:    %[[A:.*]]: i32, %[[B:.*]]: i64) kernel
// CHECK:         gpu.printf "(%d,4):(%lld,1)\0A", %[[A]], %[[B]] : i32, i64
// CHECK:         gpu.printf "S<3,4,3> o 0 o (8,8):(8,1)\0A"
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[N:.*]]: i32, %[[D:.*]]: i64)
// CHECK:         gpu.launch_func @kernels::@show
// CHECK-SAME:    args(%[[N]] : i32, %[[D]] : i64)
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @show(%l: !cute.layout<"(?,4):(?{i64},1)">) kernel {
      cute.print(%l) : !cute.layout<"(?,4):(?{i64},1)">
      %s = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(8,1)">
      cute.print(%s) : !cute.composed_layout<"S<3,4,3> o 0 o (8,8):(8,1)">
      gpu.return
    }
  }
  func.func @host(%l: !cute.layout<"(?,4):(?{i64},1)">) {
    %one = arith.constant 1 : index
    gpu.launch_func @kernels::@show blocks in (%one, %one, %one) threads in (%one, %one, %one)
      args(%l : !cute.layout<"(?,4):(?{i64},1)">)
    return
  }
}

// -----

// Ops on tensors, which are lowered later, keep a coordinate made of the leaves.
// CHECK-LABEL: func.func @tile_of(
// CHECK-SAME:    %{{.*}}: !cute.memref<f16, gmem, "(64,32):(32,1)">, %[[I:.*]]: i32)
// CHECK-DAG:     %[[Q:.*]] = arith.remsi %[[I]], %{{.*}} : i32
// CHECK-DAG:     %[[R:.*]] = arith.divsi %[[I]], %{{.*}} : i32
// CHECK:         %[[C:.*]] = cute.make_coord(%[[Q]], %[[R]]) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK:         cute.local_tile(%{{.*}}, %{{.*}}, %[[C]])
gpu.module @kernels {
  func.func @tile_of(%a: !cute.memref<f16, gmem, "(64,32):(32,1)">, %i: i32) -> !cute.memref<f16, gmem, "(16,16):(32,1)"> {
    %k = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
    %s = cute.static : !cute.shape<"(4,2)">
    %c = cute.idx2crd(%k, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,2)">) -> !cute.coord<"(?,?)">
    %t = cute.static : !cute.tile<"[16:1;16:1]">
    %g = cute.local_tile(%a, %t, %c) : (!cute.memref<f16, gmem, "(64,32):(32,1)">, !cute.tile<"[16:1;16:1]">, !cute.coord<"(?,?)">) -> !cute.memref<f16, gmem, "(16,16):(32,1)">
    return %g : !cute.memref<f16, gmem, "(16,16):(32,1)">
  }
}

// -----

// In a function of the host a view is a pointer that moves, so that a launch knows where it begins.
// CHECK-LABEL: func.func @tile_of_host(
// CHECK-SAME:    %[[A:.*]]: !cute.memref<f16, gmem, "(64,32):(32,1)">, %[[I:.*]]: i32)
// CHECK:         %[[START:.*]] = cute.get_iter(%[[A]])
// CHECK:         %[[FIRST:.*]] = cute.add_offset(%[[START]], %{{.*}})
// CHECK:         cute.make_view(%[[FIRST]]
func.func @tile_of_host(%a: !cute.memref<f16, gmem, "(64,32):(32,1)">, %i: i32) -> !cute.memref<f16, gmem, "(16,16):(32,1)"> {
  %k = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
  %s = cute.static : !cute.shape<"(4,2)">
  %c = cute.idx2crd(%k, %s) : (!cute.int_tuple<"?">, !cute.shape<"(4,2)">) -> !cute.coord<"(?,?)">
  %t = cute.static : !cute.tile<"[16:1;16:1]">
  %g = cute.local_tile(%a, %t, %c) : (!cute.memref<f16, gmem, "(64,32):(32,1)">, !cute.tile<"[16:1;16:1]">, !cute.coord<"(?,?)">) -> !cute.memref<f16, gmem, "(16,16):(32,1)">
  return %g : !cute.memref<f16, gmem, "(16,16):(32,1)">
}

// -----

// A switch's groups of operands are counted in leaves.
// CHECK-LABEL: func.func @switched(
// CHECK-SAME:    %[[F:.*]]: i32, %[[A:.*]]: i32, %[[B:.*]]: i32, %[[C:.*]]: i64)
// CHECK:         default: ^bb1(%[[A]], %[[B]], %[[F]] : i32, i32, i32),
// CHECK-NEXT:    1: ^bb2(%[[C]] : i64),
// CHECK-NEXT:    2: ^bb1(%[[B]], %[[A]], %[[F]] : i32, i32, i32)
// CHECK:       ^bb1(%[[X:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:         return %[[X]] : i32
func.func @switched(%f: i32, %a: !cute.coord<"(?,?)">, %c: !cute.coord<"?{i64}">) -> i32 {
  %i, %j = cute.get_scalars(%a) : !cute.coord<"(?,?)">
  %b = cute.make_coord(%j, %i) : (i32, i32) -> !cute.coord<"(?,?)">
  cf.switch %f : i32, [
    default: ^tuple(%a, %f : !cute.coord<"(?,?)">, i32),
    1: ^one(%c : !cute.coord<"?{i64}">),
    2: ^tuple(%b, %f : !cute.coord<"(?,?)">, i32)
  ]
^tuple(%x: !cute.coord<"(?,?)">, %k: i32):
  %r, %s = cute.get_scalars(%x) : !cute.coord<"(?,?)">
  return %r : i32
^one(%y: !cute.coord<"?{i64}">):
  return %f : i32
}

// -----

// What is said of an argument or a result of a call is said of each of its leaves.
// CHECK-LABEL: func.func @said(
// CHECK:         call @outside({{.*}}) {arg_attrs = [{llvm.noundef}, {llvm.noundef}, {llvm.signext}], res_attrs = [{llvm.noundef}, {llvm.noundef}]}
func.func private @outside(!cute.coord<"(?,?)">, i32) -> !cute.coord<"(?,?)">
func.func @said(%l: !cute.coord<"(?,?)">, %n: i32) -> !cute.coord<"(?,?)"> {
  %r = "func.call"(%l, %n) <{callee = @outside, arg_attrs = [{llvm.noundef}, {llvm.signext}], res_attrs = [{llvm.noundef}]}>
    : (!cute.coord<"(?,?)">, i32) -> !cute.coord<"(?,?)">
  return %r : !cute.coord<"(?,?)">
}

// -----

// A composed layout's text begins with the inner layout, its leaves with the outer one. Equal texts are one string, in the
// module that uses it.
// CHECK-LABEL: module @outer
// CHECK-NOT:     llvm.func
// CHECK:         module @inner
// CHECK:           llvm.mlir.global internal constant @cute_print_format_1("S<3,4,3> o %d o (%d,8):(8,%lld)\0A\00")
// CHECK:           llvm.func @printf(!llvm.ptr, ...) -> i32
// CHECK-NEXT:      llvm.mlir.global internal constant @cute_print_format_0("(%d,2):(%lld,1) o (%d,%d) o (%d,8):(%d@0,%d@1)\0A\00")
// CHECK-NEXT:      func.func @show(
// CHECK-SAME:        %[[M:.*]]: i32, %[[D0:.*]]: i32, %[[D1:.*]]: i32, %[[O0:.*]]: i32, %[[O1:.*]]: i32, %[[N:.*]]: i32, %[[E:.*]]: i64, %[[K:.*]]: i32, %[[D:.*]]: i64, %[[O:.*]]: i32)
// CHECK:             %[[F0:.*]] = llvm.mlir.addressof @cute_print_format_0
// CHECK:             llvm.call @printf(%[[F0]], %[[N]], %[[E]], %[[O0]], %[[O1]], %[[M]], %[[D0]], %[[D1]])
// CHECK:             %[[F1:.*]] = llvm.mlir.addressof @cute_print_format_1
// CHECK:             llvm.call @printf(%[[F1]], %[[O]], %[[K]], %[[D]])
// CHECK:             llvm.call @printf(%[[F1]], %[[O]], %[[K]], %[[D]])
// CHECK-NOT:       llvm.mlir.global
module @outer {
  module @inner {
    func.func @show(%a: !cute.composed_layout<"(?,2):(?{i64},1) o (?,?) o (?,8):(?@0,?@1)">,
                    %b: !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,?{i64})">) {
      cute.print(%a) : !cute.composed_layout<"(?,2):(?{i64},1) o (?,?) o (?,8):(?@0,?@1)">
      cute.print(%b) : !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,?{i64})">
      cute.print(%b) : !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,?{i64})">
      return
    }
  }
}

// -----

// Blocks that nothing reaches go: what is computed there may be used before.
// CHECK-LABEL: func.func @unreached(
// CHECK-NEXT:    return
// CHECK-NEXT:  }
func.func @unreached(%l: !cute.layout<"?:1">) {
  return
^one:
  %a = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
  %n = cute.tuple_add(%b, %a) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  cf.br ^two(%n : !cute.int_tuple<"?">)
^two(%x: !cute.int_tuple<"?">):
  %b = cute.tuple_add(%a, %x) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  %i = cute.get_scalars(%b) : !cute.int_tuple<"?">
  %p = arith.trunci %i : i32 to i1
  scf.if %p {
    %c = cute.tuple_add(%b, %n) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
    cute.print(%c) : !cute.int_tuple<"?">
  }
  cf.br ^one
}

// -----

// An op of another dialect keeps a value, made of the leaves.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[K:.*]]: i32, %[[D:.*]]: i64, %[[O:.*]]: i32)
// CHECK-DAG:     %[[S:.*]] = cute.make_shape(%[[K]])
// CHECK-DAG:     %[[T:.*]] = cute.make_stride(%[[D]])
// CHECK-DAG:     %[[L:.*]] = cute.make_layout(%[[S]], %[[T]])
// CHECK-DAG:     %[[F:.*]] = cute.make_int_tuple(%[[O]])
// CHECK-DAG:     %[[W:.*]] = cute.static : !cute.swizzle<"S<3,4,3>">
// CHECK:         %[[C:.*]] = cute.make_composed_layout(%[[W]], %[[F]], %[[L]])
// CHECK:         builtin.unrealized_conversion_cast %[[C]]
func.func @kept(%l: !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,?{i64})">) -> i32 {
  %i = builtin.unrealized_conversion_cast %l : !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,?{i64})"> to i32
  return %i : i32
}

// A function of the host takes tensors as they are, and returns the values that one consists of.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME:    %[[T:.*]]: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">) -> (!cute.ptr<f32, gmem, align<16>>, i32, i32, i32)
// CHECK-DAG:     %[[P:.*]] = builtin.unrealized_conversion_cast %[[T]] : {{.*}} to !cute.ptr<f32, gmem, align<16>>
// CHECK-DAG:     %[[L:.*]]:3 = builtin.unrealized_conversion_cast %[[T]] : {{.*}} to i32, i32, i32
// CHECK:         return %[[P]], %[[L]]#0, %[[L]]#1, %[[L]]#2
func.func @returned(%m: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">) -> !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)"> {
  return %m : !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
}

// What calls it passes a tensor, and other blocks take the values.
// CHECK-LABEL: func.func @calls_and_branches(
// CHECK-SAME:    %[[T:[a-z0-9]*]]: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)"> {cute.access = "read"}, %{{.*}}: i1)
// CHECK:         %[[R:.*]]:4 = call @returned(%[[T]])
// CHECK:         cf.cond_br %{{.*}}, ^bb1(%[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3 : {{.*}}), ^bb1(
// CHECK:       ^bb1(%[[P:.*]]: !cute.ptr<f32, gmem, align<16>>, %[[A:.*]]: i32, %[[B:.*]]: i32, %[[C:.*]]: i32):
// CHECK:         return %[[P]], %[[A]], %[[B]], %[[C]]
func.func @calls_and_branches(%m: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)"> {cute.access = "read"}, %c: i1) -> !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)"> {
  %r = func.call @returned(%m) : (!cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">) -> !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
  cf.cond_br %c, ^a(%r : !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">), ^a(%m : !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">)
^a(%x: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">):
  return %x : !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
}

// What is said of a tensor is said of its pointer alone, and what is said of a layout of each leaf.
// CHECK: gpu.func @facts(%{{.*}}: !cute.ptr<f32, gmem, align<16>> {cute.noalias}, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32)
gpu.module @facts {
  gpu.func @facts(%m: !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)"> {cute.noalias}, %n: i32) kernel {
    gpu.return
  }
}

// -----

// Where a tile of coordinates starts depends on no extent. What its layout depends on is asserted where somebody asks for that.
!all = !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
!tile = !cute.coord_tensor<"(?{div=64},?{div=32})", "(64,32):(1@0,1@1)">
!tiles = !cute.coord_tensor<"(?{div=64},0)", "(64,32,?):(1@0,1@1,32@1)">
// CHECK-LABEL: func.func @start(
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @start(%m: i32, %k: i32, %i: i32, %j: i32) -> (i32, i32) {
  %shape = cute.make_shape(%m, %k) : (i32, i32) -> !cute.shape<"(?,?)">
  %all = cute.make_identity_tensor(%shape : !cute.shape<"(?,?)">) : !all
  %tile = cute.static : !cute.tile<"[64:1;32:1]">
  %at = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
  %own = cute.local_tile(%all, %tile, %at) : (!all, !cute.tile<"[64:1;32:1]">, !cute.coord<"(?,?)">) -> !tile
  %first = cute.get_iter(%own) : !tile
  %start = cute.deref_arith_tuple_iter(%first) : !cute.arith_tuple_iter<"(?{div=64},?{div=32})">
  %row, %column = cute.get_scalars(%start) : !cute.int_tuple<"(?{div=64},?{div=32})">
  return %row, %column : i32, i32
}
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:    %[[M:.*]]: i32, %[[K:.*]]: i32, %{{.*}}: i32)
// CHECK:         %[[SOME:.*]] = arith.cmpi sle, %{{.*}}, %[[K]] : i32
// CHECK:         cf.assert %[[SOME]], "`ceil_div` expected a divisor of at least 1, found another; make every extent at least 1"
// CHECK:         return
func.func @tiles(%m: i32, %k: i32, %i: i32) -> (i32, i32) {
  %shape = cute.make_shape(%m, %k) : (i32, i32) -> !cute.shape<"(?,?)">
  %all = cute.make_identity_tensor(%shape : !cute.shape<"(?,?)">) : !all
  %tile = cute.static : !cute.tile<"[64:1;32:1]">
  %at = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
  %own = cute.local_tile(%all, %tile, %at) : (!all, !cute.tile<"[64:1;32:1]">, !cute.coord<"(?,_)">) -> !tiles
  %first = cute.get_iter(%own) : !tiles
  %start = cute.deref_arith_tuple_iter(%first) : !cute.arith_tuple_iter<"(?{div=64},0)">
  %row = cute.get_scalars<{only_dynamic}> (%start) : !cute.int_tuple<"(?{div=64},0)">
  %layout = cute.get_layout(%own) : !tiles
  %count = cute.get_scalars<{only_dynamic}> (%layout) : !cute.layout<"(64,32,?):(1@0,1@1,32@1)">
  return %row, %count : i32, i32
}
