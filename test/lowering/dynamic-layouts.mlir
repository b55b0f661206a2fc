// Dynamic layouts, computed on the host: what is printed is the static answer, which is printed below it.
//
// RUN: cute-opt %s --cute-lower-layouts \
// RUN:   | mlir-opt --convert-scf-to-cf --convert-arith-to-llvm --convert-cf-to-llvm --convert-func-to-llvm --reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main --entry-point-result=void | FileCheck %s --match-full-lines --implicit-check-not={{.}}

// CHECK:      ((8,4),(16,3)):((48,4),(384,16))
// CHECK-NEXT: ((8,4),(16,3)):((48,4),(384,16))
func.func @zipped_divide(%l: !cute.layout<"(?,?):(?,4)">) {
  %t = cute.static : !cute.tile<"[8:1;4:1]">
  %r = cute.zipped_divide(%l, %t) : (!cute.layout<"(?,?):(?,4)">, !cute.tile<"[8:1;4:1]">) -> !cute.layout<"((8,4),(?,?)):((?,4),(?,16))">
  cute.print(%r) : !cute.layout<"((8,4),(?,?)):((?,4),(?,16))">
  %x = cute.static : !cute.layout<"(128,12):(48,4)">
  %y = cute.zipped_divide(%x, %t) : (!cute.layout<"(128,12):(48,4)">, !cute.tile<"[8:1;4:1]">) -> !cute.layout<"((8,4),(16,3)):((48,4),(384,16))">
  cute.print(%y) : !cute.layout<"((8,4),(16,3)):((48,4),(384,16))">
  return
}

// The mode that is not divided is there with a size of 1.
// CHECK-NEXT: (32,1):(12,1)
// CHECK-NEXT: (8,4):(1,8)
// CHECK-NEXT: 32:12
func.func @composition(%a: !cute.layout<"(?,?):(?,1)">, %k: !cute.shape<"?">) {
  %r = cute.composition(%a, %k) : (!cute.layout<"(?,?):(?,1)">, !cute.shape<"?">) -> !cute.layout<"(?,?):(?,?)">
  cute.print(%r) : !cute.layout<"(?,?):(?,?)">
  %c = cute.static : !cute.layout<"(8,8):(1,8)">
  %q = cute.composition(%c, %k) : (!cute.layout<"(8,8):(1,8)">, !cute.shape<"?">) -> !cute.layout<"?:1">
  %d = cute.static : !cute.layout<"8:1">
  %s = cute.logical_divide(%q, %d) : (!cute.layout<"?:1">, !cute.layout<"8:1">) -> !cute.layout<"(8,?):(1,8)">
  cute.print(%s) : !cute.layout<"(8,?):(1,8)">
  %x = cute.static : !cute.layout<"(128,12):(12,1)">
  %y = cute.static : !cute.shape<"32">
  %z = cute.composition(%x, %y) : (!cute.layout<"(128,12):(12,1)">, !cute.shape<"32">) -> !cute.layout<"32:12">
  cute.print(%z) : !cute.layout<"32:12">
  return
}

// CHECK-NEXT: ((4,5),(3,1)):((1,36),(4,0))
// CHECK-NEXT: ((4,5),(3,1)):((1,36),(4,0))
func.func @product(%t: !cute.layout<"?:3">) {
  %b = cute.static : !cute.layout<"(4,3):(1,4)">
  %r = cute.blocked_product(%b, %t) : (!cute.layout<"(4,3):(1,4)">, !cute.layout<"?:3">) -> !cute.layout<"((4,?),(3,1)):((1,36),(4,0))">
  cute.print(%r) : !cute.layout<"((4,?),(3,1)):((1,36),(4,0))">
  %u = cute.static : !cute.layout<"5:3">
  %s = cute.blocked_product(%b, %u) : (!cute.layout<"(4,3):(1,4)">, !cute.layout<"5:3">) -> !cute.layout<"((4,5),(3,1)):((1,36),(4,0))">
  cute.print(%s) : !cute.layout<"((4,5),(3,1)):((1,36),(4,0))">
  return
}

// Index 41 in (5,(3,4)), back, one on, and through strides of 64 bits.
// CHECK-NEXT: (1,(2,2))
// CHECK-NEXT: 41
// CHECK-NEXT: (2,(2,2))
// CHECK-NEXT: 8589934642
// CHECK-NEXT: (1,(2,2))
// CHECK-NEXT: 41
// CHECK-NEXT: (2,(2,2))
// CHECK-NEXT: 8589934642
func.func @coordinates(%i: !cute.int_tuple<"?">, %s: !cute.shape<"(?,(?,4))">, %d: !cute.stride<"(?,(?{i64},1))">) {
  %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(?,(?,4))">) -> !cute.coord<"(?,(?,?))">
  cute.print(%c) : !cute.coord<"(?,(?,?))">
  %k = cute.crd2idx(%c, %s) : (!cute.coord<"(?,(?,?))">, !cute.shape<"(?,(?,4))">) -> !cute.int_tuple<"?">
  cute.print(%k) : !cute.int_tuple<"?">
  %n = cute.increment_coord(%c, %s) : (!cute.coord<"(?,(?,?))">, !cute.shape<"(?,(?,4))">) -> !cute.coord<"(?,(?,?))">
  cute.print(%n) : !cute.coord<"(?,(?,?))">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,(?,4))">, !cute.stride<"(?,(?{i64},1))">) -> !cute.layout<"(?,(?,4)):(?,(?{i64},1))">
  %o = cute.layout_eval(%n, %l) : (!cute.coord<"(?,(?,?))">, !cute.layout<"(?,(?,4)):(?,(?{i64},1))">) -> !cute.int_tuple<"?{i64}">
  cute.print(%o) : !cute.int_tuple<"?{i64}">

  %i2 = cute.static : !cute.int_tuple<"41">
  %s2 = cute.static : !cute.shape<"(5,(3,4))">
  %d2 = cute.static : !cute.stride<"(24,(4294967296,1))">
  %c2 = cute.idx2crd(%i2, %s2) : (!cute.int_tuple<"41">, !cute.shape<"(5,(3,4))">) -> !cute.coord<"(1,(2,2))">
  cute.print(%c2) : !cute.coord<"(1,(2,2))">
  %k2 = cute.crd2idx(%c2, %s2) : (!cute.coord<"(1,(2,2))">, !cute.shape<"(5,(3,4))">) -> !cute.int_tuple<"41">
  cute.print(%k2) : !cute.int_tuple<"41">
  %n2 = cute.increment_coord(%c2, %s2) : (!cute.coord<"(1,(2,2))">, !cute.shape<"(5,(3,4))">) -> !cute.coord<"(2,(2,2))">
  cute.print(%n2) : !cute.coord<"(2,(2,2))">
  %l2 = cute.make_layout(%s2, %d2) : (!cute.shape<"(5,(3,4))">, !cute.stride<"(24,(4294967296,1))">) -> !cute.layout<"(5,(3,4)):(24,(4294967296,1))">
  %o2 = cute.layout_eval(%n2, %l2) : (!cute.coord<"(2,(2,2))">, !cute.layout<"(5,(3,4)):(24,(4294967296,1))">) -> !cute.int_tuple<"8589934642">
  cute.print(%o2) : !cute.int_tuple<"8589934642">
  return
}

// A swizzled offset, and a whole composed layout in print.
// CHECK-NEXT: 73
// CHECK-NEXT: 73
// CHECK-NEXT: S<3,3,3> o 0 o (12,8):(8,1)
func.func @swizzled(%l: !cute.layout<"(?,8):(8,1)">, %c: !cute.coord<"(?,?)">) {
  %z = cute.static : !cute.swizzle<"S<3,3,3>">
  %o = cute.static : !cute.int_tuple<"0">
  %s = cute.make_composed_layout(%z, %o, %l) : (!cute.swizzle<"S<3,3,3>">, !cute.int_tuple<"0">, !cute.layout<"(?,8):(8,1)">) -> !cute.composed_layout<"S<3,3,3> o 0 o (?,8):(8,1)">
  %i = cute.layout_eval(%c, %s) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,3,3> o 0 o (?,8):(8,1)">) -> !cute.int_tuple<"?">
  cute.print(%i) : !cute.int_tuple<"?">
  %s2 = cute.static : !cute.composed_layout<"S<3,3,3> o 0 o (12,8):(8,1)">
  %c2 = cute.static : !cute.coord<"(8,1)">
  %i2 = cute.layout_eval(%c2, %s2) : (!cute.coord<"(8,1)">, !cute.composed_layout<"S<3,3,3> o 0 o (12,8):(8,1)">) -> !cute.int_tuple<"73">
  cute.print(%i2) : !cute.int_tuple<"73">
  cute.print(%s) : !cute.composed_layout<"S<3,3,3> o 0 o (?,8):(8,1)">
  return
}

func.func @main() {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c24 = arith.constant 24 : i32
  %c32 = arith.constant 32 : i32
  %c41 = arith.constant 41 : i32
  %c48 = arith.constant 48 : i32
  %c128 = arith.constant 128 : i32
  %wide = arith.constant 4294967296 : i64

  %s = cute.make_shape(%c128, %c12) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%c48) : (i32) -> !cute.stride<"(?,4)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(?,4)">) -> !cute.layout<"(?,?):(?,4)">
  call @zipped_divide(%l) : (!cute.layout<"(?,?):(?,4)">) -> ()

  %e = cute.make_stride(%c12) : (i32) -> !cute.stride<"(?,1)">
  %r = cute.make_layout(%s, %e) : (!cute.shape<"(?,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?):(?,1)">
  %k = cute.make_shape(%c32) : (i32) -> !cute.shape<"?">
  call @composition(%r, %k) : (!cute.layout<"(?,?):(?,1)">, !cute.shape<"?">) -> ()

  %ts = cute.make_shape(%c5) : (i32) -> !cute.shape<"?">
  %td = cute.static : !cute.stride<"3">
  %t = cute.make_layout(%ts, %td) : (!cute.shape<"?">, !cute.stride<"3">) -> !cute.layout<"?:3">
  call @product(%t) : (!cute.layout<"?:3">) -> ()

  %i = cute.make_int_tuple(%c41) : (i32) -> !cute.int_tuple<"?">
  %n = cute.make_shape(%c5, %c3) : (i32, i32) -> !cute.shape<"(?,(?,4))">
  %w = cute.make_stride(%c24, %wide) : (i32, i64) -> !cute.stride<"(?,(?{i64},1))">
  call @coordinates(%i, %n, %w) : (!cute.int_tuple<"?">, !cute.shape<"(?,(?,4))">, !cute.stride<"(?,(?{i64},1))">) -> ()

  %ss = cute.make_shape(%c12) : (i32) -> !cute.shape<"(?,8)">
  %sd = cute.static : !cute.stride<"(8,1)">
  %sl = cute.make_layout(%ss, %sd) : (!cute.shape<"(?,8)">, !cute.stride<"(8,1)">) -> !cute.layout<"(?,8):(8,1)">
  %at = cute.make_coord(%c8, %c1) : (i32, i32) -> !cute.coord<"(?,?)">
  call @swizzled(%sl, %at) : (!cute.layout<"(?,8):(8,1)">, !cute.coord<"(?,?)">) -> ()
  return
}
