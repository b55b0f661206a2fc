// cute-simplify-layouts: less to compute of layouts, tuples and swizzles.
//
// RUN: cute-opt %s --split-input-file --cute-simplify-layouts | FileCheck %s
// RUN: cute-opt %s --split-input-file --cute-simplify-layouts | cute-opt --split-input-file --cute-simplify-layouts | FileCheck %s
// RUN: cute-opt %s --split-input-file --cute-simplify-layouts --cute-lower-layouts --cse | FileCheck %s --check-prefix=LOWERED
// RUN: cute-opt %s --split-input-file --cute-lower-layouts --cse | FileCheck %s --check-prefix=WITHOUT

// A composition has the size of its right side, whatever the left one is. What is known goes back to the type that is asked for.
// CHECK-LABEL: func.func @size(
// CHECK-NEXT:    %[[S:.*]] = cute.static : !cute.int_tuple<"32">
// CHECK-NEXT:    %[[R:.*]] = cute.derefine(%[[S]]) : !cute.int_tuple<"32"> to !cute.int_tuple<"?">
// CHECK-NEXT:    return %[[R]]
// LOWERED-LABEL: func.func @size(
// LOWERED-NOT:     arith.divsi
// LOWERED:         return
// WITHOUT-LABEL: func.func @size(
// WITHOUT:         arith.divsi
func.func @size(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?"> {
  %t = cute.static : !cute.layout<"(4,8):(2,16)">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(4,8):(2,16)">) -> !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">
  %s = cute.size(%r) : (!cute.layout<"((?,?),(?,?)):((2,?),(16,?))">) -> !cute.int_tuple<"?">
  return %s : !cute.int_tuple<"?">
}

// -----

// One value is the extent of a mode and the stride of the next: they are one mode, and its offset is the index.
// CHECK-LABEL: func.func @compact(
// CHECK-SAME:    %{{.*}}: i32, %{{.*}}: i32, %[[I:.*]]: i32)
// CHECK-NEXT:    %[[O:.*]] = cute.make_int_tuple(%[[I]])
// CHECK-NEXT:    return %[[O]]
func.func @compact(%m: i32, %n: i32, %i: i32) -> !cute.int_tuple<"?"> {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %c = cute.coalesce(%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%k, %c) : (!cute.coord<"?">, !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}

// -----

// So a tile of it is static. Other values of the same types are not joined.
// CHECK-LABEL: func.func @tile(
// CHECK-SAME:    %{{.*}}: i32, %{{.*}}: i32, %[[K:.*]]: !cute.coord<"?">)
// CHECK-NEXT:    %[[T:.*]] = cute.static : !cute.layout<"(4,8):(2,16)">
// CHECK-NEXT:    %[[O:.*]] = cute.layout_eval(%[[K]], %[[T]])
// CHECK-NEXT:    return %[[O]]
// LOWERED-LABEL: func.func @tile(
// LOWERED:         arith.divsi
// LOWERED-NOT:     arith.divsi
// LOWERED-LABEL: func.func @no_tile(
// CHECK-LABEL: func.func @no_tile(
// CHECK:         cute.composition
// CHECK:         cute.layout_eval({{.*}}"((?,?),(?,?)):((2,?),(16,?))"
func.func @tile(%m: i32, %n: i32, %k: !cute.coord<"?">) -> !cute.int_tuple<"?"> {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %t = cute.static : !cute.layout<"(4,8):(2,16)">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(4,8):(2,16)">) -> !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">
  %o = cute.layout_eval(%k, %r) : (!cute.coord<"?">, !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}
func.func @no_tile(%m: i32, %n: i32, %p: i32, %k: !cute.coord<"?">) -> !cute.int_tuple<"?"> {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%p) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %t = cute.static : !cute.layout<"(4,8):(2,16)">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(4,8):(2,16)">) -> !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">
  %o = cute.layout_eval(%k, %r) : (!cute.coord<"?">, !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}

// -----

// A mode of a composition is the left side composed with that mode alone.
// CHECK-LABEL: func.func @mode(
// CHECK-SAME:    %[[L:.*]]: !cute.layout<"(?,?):(1,?)">)
// CHECK-NEXT:    %[[T:.*]] = cute.static : !cute.layout<"8:1">
// CHECK-NEXT:    %[[G:.*]] = cute.composition(%[[L]], %[[T]])
// CHECK-NEXT:    return %[[G]] : !cute.layout<"(?,?):(1,?)">
func.func @mode(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.layout<"(?,?):(1,?)"> {
  %t = cute.static : !cute.layout<"(8,4):(1,8)">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(8,4):(1,8)">) -> !cute.layout<"((?,?),(?,?)):((1,?),(8,?))">
  %g = cute.get<[0]>(%r) : !cute.layout<"((?,?),(?,?)):((1,?),(8,?))"> -> !cute.layout<"(?,?):(1,?)">
  return %g : !cute.layout<"(?,?):(1,?)">
}

// -----

// A swizzle that reads no bit of what it is behind does nothing; one that does stays.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME:    %[[L:.*]]: !cute.layout<"(?,?):(16,?{div=16})">, %[[K:.*]]: !cute.coord<"(?,?)">)
// CHECK-NEXT:    %[[O:.*]] = cute.layout_eval(%[[K]], %[[L]])
// CHECK-NEXT:    return %[[O]]
// CHECK-LABEL: func.func @moved(
// CHECK:         cute.make_composed_layout
// CHECK:         cute.layout_eval({{.*}}!cute.composed_layout
func.func @swizzled(%l: !cute.layout<"(?,?):(16,?{div=16})">, %k: !cute.coord<"(?,?)">) -> !cute.int_tuple<"?"> {
  %s = cute.static : !cute.swizzle<"S<2,0,2>">
  %z = cute.static : !cute.int_tuple<"0">
  %c = cute.make_composed_layout(%s, %z, %l) : (!cute.swizzle<"S<2,0,2>">, !cute.int_tuple<"0">, !cute.layout<"(?,?):(16,?{div=16})">) -> !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(16,?{div=16})">
  %o = cute.layout_eval(%k, %c) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(16,?{div=16})">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}
func.func @moved(%l: !cute.layout<"(?,?):(8,?{div=8})">, %k: !cute.coord<"(?,?)">) -> !cute.int_tuple<"?"> {
  %s = cute.static : !cute.swizzle<"S<2,0,2>">
  %z = cute.static : !cute.int_tuple<"0">
  %c = cute.make_composed_layout(%s, %z, %l) : (!cute.swizzle<"S<2,0,2>">, !cute.int_tuple<"0">, !cute.layout<"(?,?):(8,?{div=8})">) -> !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(8,?{div=8})">
  %o = cute.layout_eval(%k, %c) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(8,?{div=8})">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}

// -----

// What a divisor in the type says is known too: a tile of 8 divides an extent that 64 divides.
// CHECK-LABEL: func.func @divided(
// CHECK-SAME:    %[[L:.*]]: !cute.layout<"(?{div=64},?):(1,?)">)
// CHECK-NEXT:    %[[S:.*]] = cute.size (%[[L]])
// CHECK-NEXT:    return %[[S]]
// CHECK-LABEL: func.func @rounded_up(
// CHECK:         cute.zipped_divide
func.func @divided(%l: !cute.layout<"(?{div=64},?):(1,?)">) -> !cute.int_tuple<"?{div=64}"> {
  %t = cute.static : !cute.tile<"[8:1]">
  %d = cute.zipped_divide(%l, %t) : (!cute.layout<"(?{div=64},?):(1,?)">, !cute.tile<"[8:1]">) -> !cute.layout<"((8),(?{div=8},?)):((1),(8,?))">
  %s = cute.size(%d) : (!cute.layout<"((8),(?{div=8},?)):((1),(8,?))">) -> !cute.int_tuple<"?{div=64}">
  return %s : !cute.int_tuple<"?{div=64}">
}
func.func @rounded_up(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?"> {
  %t = cute.static : !cute.tile<"[8:1]">
  %d = cute.zipped_divide(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.tile<"[8:1]">) -> !cute.layout<"((8),(?,?)):((1),(8,?))">
  %s = cute.size(%d) : (!cute.layout<"((8),(?,?)):((1),(8,?))">) -> !cute.int_tuple<"?">
  return %s : !cute.int_tuple<"?">
}

// -----

// In kernels and within regions, also of values from outside. What is asked for in its form stays as it is.
// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:    %[[L:.*]]: !cute.layout<"(?,?):(1,?)">, %[[P:.*]]: i1)
// CHECK:         %[[C:.*]] = cute.composition(%[[L]],
// CHECK:         cute.print(%[[C]])
// CHECK:         scf.if %[[P]] {
// CHECK-NEXT:      %[[S:.*]] = cute.static : !cute.int_tuple<"8">
// CHECK-NEXT:      %[[D:.*]] = cute.derefine(%[[S]])
// CHECK-NEXT:      cute.print(%[[D]])
// CHECK-NEXT:    }
gpu.module @kernels {
  gpu.func @kernel(%l: !cute.layout<"(?,?):(1,?)">, %p: i1) kernel {
    %t = cute.static : !cute.layout<"8:1">
    %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"8:1">) -> !cute.layout<"(?,?):(1,?)">
    cute.print(%r) : !cute.layout<"(?,?):(1,?)">
    scf.if %p {
      %c = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"8:1">) -> !cute.layout<"(?,?):(1,?)">
      %s = cute.size(%c) : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
      cute.print(%s) : !cute.int_tuple<"?">
    }
    gpu.return
  }
}

// -----

// Products that do not wrap are known: a stride that is computed of the extents before it.
// CHECK-LABEL: func.func @three(
// CHECK-SAME:    %[[I:[a-z0-9]+]]: i32)
// CHECK:         %[[O:.*]] = cute.make_int_tuple(%[[I]])
// CHECK-NEXT:    return %[[O]]
// CHECK-LABEL: func.func @wrapping(
// CHECK:         cute.layout_eval
func.func @three(%m: i32, %n: i32, %p: i32, %i: i32) -> !cute.int_tuple<"?"> {
  %mn = arith.muli %m, %n overflow<nsw> : i32
  %s = cute.make_shape(%m, %n, %p) : (i32, i32, i32) -> !cute.shape<"(?,?,?)">
  %d = cute.make_stride(%m, %mn) : (i32, i32) -> !cute.stride<"(1,?,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?,?)">, !cute.stride<"(1,?,?)">) -> !cute.layout<"(?,?,?):(1,?,?)">
  %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%k, %l) : (!cute.coord<"?">, !cute.layout<"(?,?,?):(1,?,?)">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}
func.func @wrapping(%m: i32, %n: i32, %p: i32, %i: i32) -> !cute.int_tuple<"?"> {
  %mn = arith.muli %m, %n : i32
  %s = cute.make_shape(%m, %n, %p) : (i32, i32, i32) -> !cute.shape<"(?,?,?)">
  %d = cute.make_stride(%m, %mn) : (i32, i32) -> !cute.stride<"(1,?,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?,?)">, !cute.stride<"(1,?,?)">) -> !cute.layout<"(?,?,?):(1,?,?)">
  %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%k, %l) : (!cute.coord<"?">, !cute.layout<"(?,?,?):(1,?,?)">) -> !cute.int_tuple<"?">
  return %o : !cute.int_tuple<"?">
}

// -----

// A shape in a branch says nothing of its extents elsewhere: there they may be 0.
// CHECK-LABEL: func.func @guarded(
// CHECK:         cute.tuple_mod
// CHECK:         scf.if
// CHECK-LABEL: func.func @always(
// CHECK-NOT:     cute.tuple_mod
// CHECK:         %[[Z:.*]] = cute.static : !cute.int_tuple<"0">
// CHECK:         cute.derefine(%[[Z]])
func.func @guarded(%m: i32, %p: i1) -> !cute.int_tuple<"?"> {
  %x = cute.make_int_tuple(%m) : (i32) -> !cute.int_tuple<"?">
  %r = cute.tuple_mod(%x, %x) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  scf.if %p {
    %s = cute.make_shape(%m) : (i32) -> !cute.shape<"?">
    cute.print(%s) : !cute.shape<"?">
  }
  return %r : !cute.int_tuple<"?">
}
func.func @always(%m: i32) -> !cute.int_tuple<"?"> {
  %s = cute.make_shape(%m) : (i32) -> !cute.shape<"?">
  %x = cute.to_int_tuple(%s) : !cute.shape<"?"> -> !cute.int_tuple<"?">
  %r = cute.tuple_mod(%x, %x) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}
