// Products and divides: out and in again. Where the modes go is what tells them apart.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// CHECK-LABEL: func.func @products(
func.func @products(%a: !cute.layout<"(2,5):(5,1)">, %b: !cute.layout<"(3,4):(1,3)">, %d: !cute.layout<"(?,2):(2,1)">) {
  // CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  %0 = cute.logical_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  // CHECK: cute.zipped_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  %1 = cute.zipped_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),(3,4)):((5,1),(10,30))">
  // CHECK: cute.tiled_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),3,4):((5,1),10,30)">
  %2 = cute.tiled_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,5),3,4):((5,1),10,30)">
  // CHECK: cute.flat_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"(2,5,3,4):(5,1,10,30)">
  %3 = cute.flat_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"(2,5,3,4):(5,1,10,30)">
  // CHECK: cute.blocked_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,3),(5,4)):((5,10),(1,30))">
  %4 = cute.blocked_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((2,3),(5,4)):((5,10),(1,30))">
  // CHECK: cute.raked_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((3,2),(4,5)):((10,5),(30,1))">
  %5 = cute.raked_product(%a, %b) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(3,4):(1,3)">) -> !cute.layout<"((3,2),(4,5)):((10,5),(30,1))">
  // How often and how far apart may be known at run time only.
  // CHECK: cute.logical_product(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(?,2):(2,1)">) -> !cute.layout<"((2,5),(?,2)):((5,1),(20,10))">
  %6 = cute.logical_product(%a, %d) : (!cute.layout<"(2,5):(5,1)">, !cute.layout<"(?,2):(2,1)">) -> !cute.layout<"((2,5),(?,2)):((5,1),(20,10))">
  return
}

// CHECK-LABEL: func.func @divides(
func.func @divides(%l: !cute.layout<"(9,(4,8)):(59,(13,1))">, %t: !cute.tile<"[3:3;(2,4):(1,8)]">, %v: !cute.layout<"24:3">, %k: !cute.layout<"4:2">,
                   %d: !cute.layout<"(?,?):(?,1)">, %s: !cute.shape<"(128,32)">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, %h: !cute.shape<"(2,4)">) {
  // CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))">
  %0 = cute.logical_divide(%l, %t) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))">
  // CHECK: cute.zipped_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))">
  %1 = cute.zipped_divide(%l, %t) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))">
  // CHECK: cute.tiled_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))">
  %2 = cute.tiled_divide(%l, %t) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))">
  // CHECK: cute.flat_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))">
  %3 = cute.flat_divide(%l, %t) : (!cute.layout<"(9,(4,8)):(59,(13,1))">, !cute.tile<"[3:3;(2,4):(1,8)]">) -> !cute.layout<"(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))">
  // CHECK: cute.logical_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"24:3">, !cute.layout<"4:2">) -> !cute.layout<"(4,(2,3)):(6,(3,24))">
  %4 = cute.logical_divide(%v, %k) : (!cute.layout<"24:3">, !cute.layout<"4:2">) -> !cute.layout<"(4,(2,3)):(6,(3,24))">
  // CHECK: cute.zipped_divide(%{{.*}}, %{{.*}}) : (!cute.layout<"(?,?):(?,1)">, !cute.shape<"(128,32)">) -> !cute.layout<"((128,32),(?,?)):((?,1),(?,32))">
  %5 = cute.zipped_divide(%d, %s) : (!cute.layout<"(?,?):(?,1)">, !cute.shape<"(128,32)">) -> !cute.layout<"((128,32),(?,?)):((?,1),(?,32))">
  // CHECK: cute.tiled_divide(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(2,4)">) -> !cute.composed_layout<"S<2,4,3> o 0 o ((2,4),4,2):((8,1),16,4)">
  %6 = cute.tiled_divide(%c, %h) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(2,4)">) -> !cute.composed_layout<"S<2,4,3> o 0 o ((2,4),4,2):((8,1),16,4)">
  return
}

// CHECK-LABEL: func.func @tilings(
func.func @tilings(%l: !cute.layout<"(2,4):(4,1)">, %s: !cute.shape<"(4,8)">, %o: !cute.int_tuple<"(1,0)">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, %t: !cute.shape<"(16,8)">) {
  // CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">) -> !cute.layout<"((2,2),(4,2)):((4,8),(1,16))">
  %0 = cute.tile_to_shape(%l, %s) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">) -> !cute.layout<"((2,2),(4,2)):((4,8),(1,16))">
  // CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),(4,2)):((4,16),(1,8))">
  %1 = cute.tile_to_shape(%l, %s, %o) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),(4,2)):((4,16),(1,8))">
  // CHECK: cute.tile_to_shape(%{{.*}}, %{{.*}}) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(16,8)">) -> !cute.composed_layout<"S<2,4,3> o 0 o ((8,2),(8,1)):((8,64),(1,0))">
  %2 = cute.tile_to_shape(%c, %t) : (!cute.composed_layout<"S<2,4,3> o 0 o (8,8):(8,1)">, !cute.shape<"(16,8)">) -> !cute.composed_layout<"S<2,4,3> o 0 o ((8,2),(8,1)):((8,64),(1,0))">
  return
}
