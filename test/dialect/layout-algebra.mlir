// Functions of layouts: out and in again, with the results that they have.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// CHECK-LABEL: func.func @composition(
func.func @composition(%a: !cute.layout<"(6,2):(8,2)">, %b: !cute.layout<"(4,3):(3,1)">, %d: !cute.layout<"(?,8):(1,?)">,
                       %t: !cute.tile<"[2:1;_]">, %s: !cute.shape<"(3,2)">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">) {
  // CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,2):(8,2)">, !cute.layout<"(4,3):(3,1)">) -> !cute.layout<"((2,2),3):((24,2),8)">
  %0 = cute.composition(%a, %b) : (!cute.layout<"(6,2):(8,2)">, !cute.layout<"(4,3):(3,1)">) -> !cute.layout<"((2,2),3):((24,2),8)">
  // CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(6,2):(8,2)">, !cute.shape<"(3,2)">) -> !cute.layout<"(3,2):(8,2)">
  %1 = cute.composition(%a, %s) : (!cute.layout<"(6,2):(8,2)">, !cute.shape<"(3,2)">) -> !cute.layout<"(3,2):(8,2)">
  // CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"(?,8):(1,?)">, !cute.tile<"[2:1;_]">) -> !cute.layout<"(2,8):(1,?)">
  %2 = cute.composition(%d, %t) : (!cute.layout<"(?,8):(1,?)">, !cute.tile<"[2:1;_]">) -> !cute.layout<"(2,8):(1,?)">
  // CHECK: cute.composition(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(3,2)">) -> !cute.composed_layout<"S<2,4,3> o 0 o (3,2):(8,1)">
  %3 = cute.composition(%c, %s) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(3,2)">) -> !cute.composed_layout<"S<2,4,3> o 0 o (3,2):(8,1)">
  return
}

// With a profile, modes stay apart.
// CHECK-LABEL: func.func @coalesce(
func.func @coalesce(%l: !cute.layout<"((2,4),(1,6)):((1,2),(7,8))">, %d: !cute.layout<"(?,(2,2)):(?,(1,2))">, %p: !cute.coord<"(0,0)">) {
  // CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"((2,4),(1,6)):((1,2),(7,8))">) -> !cute.layout<"48:1">
  %0 = cute.coalesce(%l) : (!cute.layout<"((2,4),(1,6)):((1,2),(7,8))">) -> !cute.layout<"48:1">
  // CHECK: cute.coalesce(%{{.*}}, %{{.*}}) : (!cute.layout<"((2,4),(1,6)):((1,2),(7,8))">, !cute.coord<"(0,0)">) -> !cute.layout<"(8,6):(1,8)">
  %1 = cute.coalesce(%l, %p) : (!cute.layout<"((2,4),(1,6)):((1,2),(7,8))">, !cute.coord<"(0,0)">) -> !cute.layout<"(8,6):(1,8)">
  // CHECK: cute.coalesce(%{{.*}}) : (!cute.layout<"(?,(2,2)):(?,(1,2))">) -> !cute.layout<"(?,4):(?,1)">
  %2 = cute.coalesce(%d) : (!cute.layout<"(?,(2,2)):(?,(1,2))">) -> !cute.layout<"(?,4):(?,1)">
  return
}

// CHECK-LABEL: func.func @flatten(
func.func @flatten(%l: !cute.layout<"((2,?),8):((1,2),?)">, %s: !cute.shape<"7">, %t: !cute.tile<"[4:1;[_;?:2]]">) {
  // CHECK: cute.flatten(%{{.*}}) : (!cute.layout<"((2,?),8):((1,2),?)">) -> !cute.layout<"(2,?,8):(1,2,?)">
  %0 = cute.flatten(%l) : (!cute.layout<"((2,?),8):((1,2),?)">) -> !cute.layout<"(2,?,8):(1,2,?)">
  // CHECK: cute.flatten(%{{.*}}) : (!cute.shape<"7">) -> !cute.shape<"7">
  %1 = cute.flatten(%s) : (!cute.shape<"7">) -> !cute.shape<"7">
  // CHECK: cute.flatten(%{{.*}}) : (!cute.tile<"[4:1;[_;?:2]]">) -> !cute.tile<"[4:1;_;?:2]">
  %2 = cute.flatten(%t) : (!cute.tile<"[4:1;[_;?:2]]">) -> !cute.tile<"[4:1;_;?:2]">
  return
}

// CHECK-LABEL: func.func @complement(
func.func @complement(%a: !cute.layout<"(2,2):(1,6)">, %s: !cute.shape<"48">, %l: !cute.layout<"(4,6):(1,4)">, %b: !cute.layout<"4:2@0">) {
  // CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(1,6)">, !cute.shape<"48">) -> !cute.layout<"(3,4):(2,12)">
  %0 = cute.complement(%a, %s) : (!cute.layout<"(2,2):(1,6)">, !cute.shape<"48">) -> !cute.layout<"(3,4):(2,12)">
  // CHECK: cute.complement(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,2):(1,6)">, !cute.layout<"(4,6):(1,4)">) -> !cute.layout<"(3,2):(2,12)">
  %1 = cute.complement(%a, %l) : (!cute.layout<"(2,2):(1,6)">, !cute.layout<"(4,6):(1,4)">) -> !cute.layout<"(3,2):(2,12)">
  // CHECK: cute.complement(%{{.*}}) : (!cute.layout<"(2,2):(1,6)">) -> !cute.layout<"(3,1):(2,12)">
  %2 = cute.complement(%a) : (!cute.layout<"(2,2):(1,6)">) -> !cute.layout<"(3,1):(2,12)">
  // CHECK: cute.complement(%{{.*}}) : (!cute.layout<"4:2@0">) -> !cute.layout<"((2,1)):((1@0,8@0))">
  %3 = cute.complement(%b) : (!cute.layout<"4:2@0">) -> !cute.layout<"((2,1)):((1@0,8@0))">
  return
}

// CHECK-LABEL: func.func @group_modes(
func.func @group_modes(%l: !cute.layout<"(2,3,?):(1,2,6)">) {
  // CHECK: cute.group_modes<0, 2> (%{{.*}}) : (!cute.layout<"(2,3,?):(1,2,6)">) -> !cute.layout<"((2,3),?):((1,2),6)">
  %0 = cute.group_modes<0, 2>(%l) : (!cute.layout<"(2,3,?):(1,2,6)">) -> !cute.layout<"((2,3),?):((1,2),6)">
  // CHECK: cute.group_modes<1, 2> (%{{.*}}) : (!cute.layout<"(2,3,?):(1,2,6)">) -> !cute.layout<"(2,(3),?):(1,(2),6)">
  %1 = cute.group_modes<1, 2>(%l) : (!cute.layout<"(2,3,?):(1,2,6)">) -> !cute.layout<"(2,(3),?):(1,(2),6)">
  return
}

// 16 bits as 8, as 64, and 24 as 16 by way of 8; a swizzle moves by as many bits as the ratio has.
// CHECK-LABEL: func.func @recast(
func.func @recast(%l: !cute.layout<"(8,4):(1,16)">, %m: !cute.layout<"(6,4):(1,6)">, %d: !cute.layout<"(8,?):(1,?)">,
                  %c: !cute.composed_layout<"S<2,3,3> o 0 o (8,8):(8,1)">) {
  // CHECK: cute.recast_layout<8, 16> (%{{.*}}) : !cute.layout<"(8,4):(1,16)"> -> !cute.layout<"(16,4):(1,32)">
  %0 = cute.recast_layout<8, 16>(%l) : !cute.layout<"(8,4):(1,16)"> -> !cute.layout<"(16,4):(1,32)">
  // CHECK: cute.recast_layout<64, 16> (%{{.*}}) : !cute.layout<"(8,4):(1,16)"> -> !cute.layout<"(2,4):(1,4)">
  %1 = cute.recast_layout<64, 16>(%l) : !cute.layout<"(8,4):(1,16)"> -> !cute.layout<"(2,4):(1,4)">
  // CHECK: cute.recast_layout<24, 16> (%{{.*}}) : !cute.layout<"(6,4):(1,6)"> -> !cute.layout<"(4,4):(1,4)">
  %2 = cute.recast_layout<24, 16>(%m) : !cute.layout<"(6,4):(1,6)"> -> !cute.layout<"(4,4):(1,4)">
  // CHECK: cute.recast_layout<32, 16> (%{{.*}}) : !cute.layout<"(8,?):(1,?)"> -> !cute.layout<"(4,?):(1,?)">
  %3 = cute.recast_layout<32, 16>(%d) : !cute.layout<"(8,?):(1,?)"> -> !cute.layout<"(4,?):(1,?)">
  // CHECK: cute.recast_layout<8, 16> (%{{.*}}) : !cute.composed_layout<"S<2,3,3> o 0 o (8,8):(8,1)"> -> !cute.composed_layout<"S<2,4,3> o 0 o (8,16):(16,1)">
  %4 = cute.recast_layout<8, 16>(%c) : !cute.composed_layout<"S<2,3,3> o 0 o (8,8):(8,1)"> -> !cute.composed_layout<"S<2,4,3> o 0 o (8,16):(16,1)">
  return
}

// The type of the result follows; an offset takes up what was sliced away.
// CHECK-LABEL: func.func @slices(
func.func @slices(%l: !cute.layout<"((2,4),3):((1,2),8)">, %k: !cute.coord<"((_,1),_)">, %s: !cute.shape<"(4,5,6)">, %m: !cute.coord<"(_,?,2)">,
                  %c: !cute.composed_layout<"(8,8):(8,1) o 3 o (4,2):(2,16)">, %n: !cute.coord<"(1,_)">)
    -> (!cute.layout<"(2,3):(1,8)">, !cute.layout<"(4):(2)">, !cute.shape<"(4)">, !cute.shape<"(5,6)">, !cute.composed_layout<"(8,8):(8,1) o 5 o (2):(16)">) {
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.layout<"((2,4),3):((1,2),8)">, !cute.coord<"((_,1),_)">
  %0 = cute.slice(%l, %k) : !cute.layout<"((2,4),3):((1,2),8)">, !cute.coord<"((_,1),_)">
  // CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.layout<"((2,4),3):((1,2),8)">, !cute.coord<"((_,1),_)">
  %1 = cute.dice(%l, %k) : !cute.layout<"((2,4),3):((1,2),8)">, !cute.coord<"((_,1),_)">
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.shape<"(4,5,6)">, !cute.coord<"(_,?,2)">
  %2 = cute.slice(%s, %m) : !cute.shape<"(4,5,6)">, !cute.coord<"(_,?,2)">
  // CHECK: cute.static : !cute.coord<"(_,0,2)">
  %o = cute.static : !cute.coord<"(_,0,2)">
  // CHECK: cute.dice(%{{.*}}, %{{.*}}) : !cute.shape<"(4,5,6)">, !cute.coord<"(_,0,2)">
  %3 = cute.dice(%s, %o) : !cute.shape<"(4,5,6)">, !cute.coord<"(_,0,2)">
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : !cute.composed_layout<"(8,8):(8,1) o 3 o (4,2):(2,16)">, !cute.coord<"(1,_)">
  %4 = cute.slice(%c, %n) : !cute.composed_layout<"(8,8):(8,1) o 3 o (4,2):(2,16)">, !cute.coord<"(1,_)">
  return %0, %1, %2, %3, %4 : !cute.layout<"(2,3):(1,8)">, !cute.layout<"(4):(2)">, !cute.shape<"(4)">, !cute.shape<"(5,6)">, !cute.composed_layout<"(8,8):(8,1) o 5 o (2):(16)">
}

// A right inverse goes as far as there is no gap; a left one passes over gaps by modes of stride 0. Of basis strides they
// take coordinates.
// CHECK-LABEL: func.func @inverses(
func.func @inverses(%l: !cute.layout<"(4,8):(8,1)">, %g: !cute.layout<"(4,2):(2,16)">, %d: !cute.layout<"(2,4):(?,1)">, %b: !cute.layout<"(6,5):(1@1,1@0)">) {
  // CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  %0 = cute.right_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  // CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(2,4):(?,1)">) -> !cute.layout<"4:2">
  %1 = cute.right_inverse(%d) : (!cute.layout<"(2,4):(?,1)">) -> !cute.layout<"4:2">
  // CHECK: cute.right_inverse(%{{.*}}) : (!cute.layout<"(6,5):(1@1,1@0)">) -> !cute.layout<"(5,6):(6,1)">
  %2 = cute.right_inverse(%b) : (!cute.layout<"(6,5):(1@1,1@0)">) -> !cute.layout<"(5,6):(6,1)">
  // CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  %3 = cute.left_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
  // CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"(4,2):(2,16)">) -> !cute.layout<"(2,8,2):(0,1,4)">
  %4 = cute.left_inverse(%g) : (!cute.layout<"(4,2):(2,16)">) -> !cute.layout<"(2,8,2):(0,1,4)">
  // CHECK: cute.left_inverse(%{{.*}}) : (!cute.layout<"(6,5):(1@1,1@0)">) -> !cute.layout<"(5,6):(6,1)">
  %5 = cute.left_inverse(%b) : (!cute.layout<"(6,5):(1@1,1@0)">) -> !cute.layout<"(5,6):(6,1)">
  return
}
