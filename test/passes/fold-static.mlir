// cute-fold-static: what types say whole becomes cute.static, and what is not used then goes.
//
// RUN: cute-opt %s --split-input-file --cute-fold-static | FileCheck %s
// RUN: cute-opt %s --split-input-file --cute-fold-static | cute-opt --split-input-file --cute-fold-static | FileCheck %s

// A chain of ops on known layouts is one constant.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %[[R:.*]] = cute.static : !cute.layout<"((8,4),(2,4)):((1,8),(32,64))">
// CHECK-NEXT:    return %[[R]]
func.func @chain() -> !cute.layout<"((8,4),(2,4)):((1,8),(32,64))"> {
  %s = cute.make_shape() : () -> !cute.shape<"(8,32)">
  %d = cute.make_stride() : () -> !cute.stride<"(1,8)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(8,32)">, !cute.stride<"(1,8)">) -> !cute.layout<"(8,32):(1,8)">
  %c = cute.coalesce(%l) : (!cute.layout<"(8,32):(1,8)">) -> !cute.layout<"256:1">
  %t = cute.static : !cute.layout<"(8,4):(1,8)">
  %z = cute.logical_divide(%c, %t) : (!cute.layout<"256:1">, !cute.layout<"(8,4):(1,8)">) -> !cute.layout<"((8,4),8):((1,8),32)">
  %q = cute.static : !cute.layout<"(2,4):(1,2)">
  %p = cute.logical_product(%t, %q) : (!cute.layout<"(8,4):(1,8)">, !cute.layout<"(2,4):(1,2)">) -> !cute.layout<"((8,4),(2,4)):((1,8),(32,64))">
  return %p : !cute.layout<"((8,4),(2,4)):((1,8),(32,64))">
}

// -----

// What is known of a dynamic layout is a constant too; the rest stays.
// CHECK-LABEL: func.func @part(
// CHECK-SAME:    %[[L:.*]]: !cute.layout<"(?,8):(8,1)">)
// CHECK-DAG:     %[[D:.*]] = cute.static : !cute.stride<"(8,1)">
// CHECK-DAG:     %[[S:.*]] = cute.get_shape(%[[L]])
// CHECK-NOT:     cute.get_stride
// CHECK:         return %[[S]], %[[D]]
func.func @part(%l: !cute.layout<"(?,8):(8,1)">) -> (!cute.shape<"(?,8)">, !cute.stride<"(8,1)">) {
  %s = cute.get_shape(%l) : !cute.layout<"(?,8):(8,1)"> -> !cute.shape<"(?,8)">
  %d = cute.get_stride(%l) : !cute.layout<"(?,8):(8,1)"> -> !cute.stride<"(8,1)">
  return %s, %d : !cute.shape<"(?,8)">, !cute.stride<"(8,1)">
}

// -----

// Comparisons of known values are constants; of others they stay. Equality is of what is written.
// CHECK-LABEL: func.func @compared(
// CHECK-SAME:    %[[C:.*]]: !cute.coord<"(?,1)">)
// CHECK-DAG:     arith.constant false
// CHECK-DAG:     arith.constant true
// CHECK-DAG:     %[[X:.*]] = cute.elem_less(%[[C]],
// CHECK:         return %{{true.*}}, %{{false.*}}, %{{false.*}}, %[[X]]
func.func @compared(%c: !cute.coord<"(?,1)">) -> (i1, i1, i1, i1) {
  %a = cute.static : !cute.coord<"(1,2)">
  %s = cute.static : !cute.shape<"(2,3)">
  %b = cute.static : !cute.coord<"(2,2)">
  %t = cute.elem_less(%a, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(2,3)">) -> i1
  %f = cute.elem_less(%b, %s) : (!cute.coord<"(2,2)">, !cute.shape<"(2,3)">) -> i1
  %e = cute.equal(%a, %b) : (!cute.coord<"(1,2)">, !cute.coord<"(2,2)">) -> i1
  %x = cute.elem_less(%c, %s) : (!cute.coord<"(?,1)">, !cute.shape<"(2,3)">) -> i1
  return %t, %f, %e, %x : i1, i1, i1, i1
}

// -----

// Within regions, and with what prints left alone.
// CHECK-LABEL: func.func @regions(
// CHECK:         scf.if
// CHECK-NEXT:      %[[S:.*]] = cute.static : !cute.int_tuple<"32">
// CHECK-NEXT:      cute.print(%[[S]])
// CHECK-NOT:     cute.size
// CHECK:         return
func.func @regions(%p: i1) {
  %l = cute.static : !cute.layout<"(8,4):(1,8)">
  scf.if %p {
    %s = cute.size(%l) : (!cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"32">
    cute.print(%s) : !cute.int_tuple<"32">
    %unused = cute.flatten(%l) : (!cute.layout<"(8,4):(1,8)">) -> !cute.layout<"(8,4):(1,8)">
  }
  return
}
