// What is simplified is the same on the host: the same numbers are printed with and without cute-simplify-layouts.
//
// RUN: cute-opt %s --cute-lower-layouts \
// RUN:   | mlir-opt --convert-scf-to-cf --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main --entry-point-result=void > %t.without
// RUN: cute-opt %s --cute-simplify-layouts --cute-lower-layouts \
// RUN:   | mlir-opt --convert-scf-to-cf --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main --entry-point-result=void > %t.with
// RUN: diff %t.without %t.with
// RUN: FileCheck %s --input-file=%t.with --match-full-lines --implicit-check-not={{.}}
// RUN: cute-opt %s --cute-simplify-layouts --cute-lower-layouts --cse | FileCheck %s --check-prefix=IR

// Offsets of a tile of a compact layout, at each index of it.
// IR-LABEL: func.func @tile(
// IR-NOT:     cf.assert
// IR:         return
func.func @tile(%m: i32, %n: i32, %i: i32) {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %c = cute.coalesce(%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %t = cute.static : !cute.layout<"(4,2):(2,16)">
  %r = cute.composition(%c, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(4,2):(2,16)">) -> !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">
  %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
  %o = cute.layout_eval(%k, %r) : (!cute.coord<"?">, !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">) -> !cute.int_tuple<"?">
  %g = cute.get<[1]>(%r) : !cute.layout<"((?,?),(?,?)):((2,?),(16,?))"> -> !cute.layout<"(?,?):(16,?)">
  %e = cute.size(%g) : (!cute.layout<"(?,?):(16,?)">) -> !cute.int_tuple<"?">
  cute.print(%o) : !cute.int_tuple<"?">
  cute.print(%e) : !cute.int_tuple<"?">
  return
}

// A row-major layout of other strides: nothing is joined, one mode is taken alone, and sizes are those of its parts.
func.func @modes(%m: i32, %n: i32, %p: i32) {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%p) : (i32) -> !cute.stride<"(?,1)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?):(?,1)">
  %t = cute.static : !cute.tile<"[4:1;2:1]">
  %z = cute.zipped_divide(%l, %t) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:1;2:1]">) -> !cute.layout<"((4,2),(?,?)):((?,1),(?,2))">
  %g = cute.get<[0]>(%z) : !cute.layout<"((4,2),(?,?)):((?,1),(?,2))"> -> !cute.layout<"(4,2):(?,1)">
  %h = cute.get<[1]>(%z) : !cute.layout<"((4,2),(?,?)):((?,1),(?,2))"> -> !cute.layout<"(?,?):(?,2)">
  %e = cute.size(%h) : (!cute.layout<"(?,?):(?,2)">) -> !cute.int_tuple<"?">
  %f = cute.flatten(%z) : (!cute.layout<"((4,2),(?,?)):((?,1),(?,2))">) -> !cute.layout<"(4,2,?,?):(?,1,?,2)">
  %c = cute.cosize(%f) : (!cute.layout<"(4,2,?,?):(?,1,?,2)">) -> !cute.int_tuple<"?">
  cute.print(%g) : !cute.layout<"(4,2):(?,1)">
  cute.print(%e) : !cute.int_tuple<"?">
  cute.print(%c) : !cute.int_tuple<"?">
  return
}

// Swizzles that read nothing.
func.func @swizzled(%m: i32, %x: i32, %i: i32) {
  %y = cute.assume(%x) : (i32) -> !cute.i32<divby 16>
  %s = cute.make_shape(%m, %m) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%y) : (!cute.i32<divby 16>) -> !cute.stride<"(16,?{div=16})">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(16,?{div=16})">) -> !cute.layout<"(?,?):(16,?{div=16})">
  %w = cute.static : !cute.swizzle<"S<2,0,2>">
  %z = cute.static : !cute.int_tuple<"0">
  %c = cute.make_composed_layout(%w, %z, %l) : (!cute.swizzle<"S<2,0,2>">, !cute.int_tuple<"0">, !cute.layout<"(?,?):(16,?{div=16})">) -> !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(16,?{div=16})">
  %k = cute.make_coord(%i, %i) : (i32, i32) -> !cute.coord<"(?,?)">
  %o = cute.layout_eval(%k, %c) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<2,0,2> o 0 o (?,?):(16,?{div=16})">) -> !cute.int_tuple<"?">
  cute.print(%o) : !cute.int_tuple<"?">
  return
}

// A right inverse of open extents is as long as its type shows, and cancels.
func.func @inverse(%m: i32) {
  %s = cute.make_shape(%m) : (i32) -> !cute.shape<"(16,?)">
  %d = cute.static : !cute.stride<"(1,16)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(16,?)">, !cute.stride<"(1,16)">) -> !cute.layout<"(16,?):(1,16)">
  %r = cute.right_inverse(%l) : (!cute.layout<"(16,?):(1,16)">) -> !cute.layout<"(16,?):(1,16)">
  cute.print(%r) : !cute.layout<"(16,?):(1,16)">
  %t = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,16)">
  %e = cute.static : !cute.stride<"(16,1)">
  %k = cute.make_layout(%t, %e) : (!cute.shape<"(?,16)">, !cute.stride<"(16,1)">) -> !cute.layout<"(?,16):(16,1)">
  %q = cute.right_inverse(%k) : (!cute.layout<"(?,16):(16,1)">) -> !cute.layout<"(16,?):(?,1)">
  cute.print(%q) : !cute.layout<"(16,?):(?,1)">
  %z = cute.size(%q) : (!cute.layout<"(16,?):(?,1)">) -> !cute.int_tuple<"?">
  cute.print(%z) : !cute.int_tuple<"?">
  return
}

// CHECK:      0
// CHECK-NEXT: 2
// CHECK-NEXT: 4
// CHECK-NEXT: 2
// CHECK-NEXT: 18
// CHECK-NEXT: 2
// CHECK-NEXT: 22
// CHECK-NEXT: 2
// CHECK-NEXT: (4,2):(20,1)
// CHECK-NEXT: 12
// CHECK-NEXT: 228
// CHECK-NEXT: (4,2):(9,1)
// CHECK-NEXT: 3
// CHECK-NEXT: 101
// CHECK-NEXT: 240
// CHECK-NEXT: (16,5):(1,16)
// CHECK-NEXT: (16,5):(5,1)
// CHECK-NEXT: 80
func.func @main() {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %c9 = arith.constant 9 : i32
  %c12 = arith.constant 12 : i32
  %c16 = arith.constant 16 : i32
  %c20 = arith.constant 20 : i32
  %c64 = arith.constant 64 : i32
  call @tile(%c16, %c8, %c0) : (i32, i32, i32) -> ()
  call @tile(%c8, %c16, %c2) : (i32, i32, i32) -> ()
  call @tile(%c64, %c2, %c5) : (i32, i32, i32) -> ()
  call @tile(%c16, %c16, %c7) : (i32, i32, i32) -> ()
  call @modes(%c12, %c8, %c20) : (i32, i32, i32) -> ()
  call @modes(%c12, %c2, %c9) : (i32, i32, i32) -> ()
  call @swizzled(%c9, %c64, %c3) : (i32, i32, i32) -> ()
  call @inverse(%c5) : (i32) -> ()
  return
}
