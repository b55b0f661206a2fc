// Parts of values, and values of one kind as another: out and in again.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

// CHECK-LABEL: func.func @parts(
func.func @parts(%l: !cute.layout<"(?,(2,4)):(1,(?,0))">, %c: !cute.composed_layout<"S<2,4,3> o ? o (4,?):(?,1)">,
                 %a: !cute.composed_layout<"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)">, %t: !cute.tile<"[4:1;[?:2;(2,2):(1,8)]]">) {
  // CHECK: cute.get_shape(%{{.*}}) : !cute.layout<"(?,(2,4)):(1,(?,0))"> -> !cute.shape<"(?,(2,4))">
  %0 = cute.get_shape(%l) : !cute.layout<"(?,(2,4)):(1,(?,0))"> -> !cute.shape<"(?,(2,4))">
  // CHECK: cute.get_shape(%{{.*}}) : !cute.composed_layout<"S<2,4,3> o ? o (4,?):(?,1)"> -> !cute.shape<"(4,?)">
  %1 = cute.get_shape(%c) : !cute.composed_layout<"S<2,4,3> o ? o (4,?):(?,1)"> -> !cute.shape<"(4,?)">
  // CHECK: cute.get_shape(%{{.*}}) : !cute.tile<"[4:1;[?:2;(2,2):(1,8)]]"> -> !cute.shape<"(4,(?,(2,2)))">
  %2 = cute.get_shape(%t) : !cute.tile<"[4:1;[?:2;(2,2):(1,8)]]"> -> !cute.shape<"(4,(?,(2,2)))">
  // CHECK: cute.get_stride(%{{.*}}) : <"(?,(2,4)):(1,(?,0))"> -> !cute.stride<"(1,(?,0))">
  %3 = cute.get_stride(%l) : !cute.layout<"(?,(2,4)):(1,(?,0))"> -> !cute.stride<"(1,(?,0))">
  // CHECK: cute.composed_get_inner(%{{.*}}) : <"S<2,4,3> o ? o (4,?):(?,1)"> -> !cute.swizzle<"S<2,4,3>">
  %4 = cute.composed_get_inner(%c) : !cute.composed_layout<"S<2,4,3> o ? o (4,?):(?,1)"> -> !cute.swizzle<"S<2,4,3>">
  // CHECK: cute.composed_get_inner(%{{.*}}) : <"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)"> -> !cute.layout<"(8,8):(8,1)">
  %5 = cute.composed_get_inner(%a) : !cute.composed_layout<"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)"> -> !cute.layout<"(8,8):(8,1)">
  // CHECK: cute.composed_get_offset(%{{.*}}) : <"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)"> -> !cute.int_tuple<"(1,2)">
  %6 = cute.composed_get_offset(%a) : !cute.composed_layout<"(8,8):(8,1) o (1,2) o (2,3):(1@0,1@1)"> -> !cute.int_tuple<"(1,2)">
  // CHECK: cute.composed_get_outer(%{{.*}}) : <"S<2,4,3> o ? o (4,?):(?,1)"> -> <"(4,?):(?,1)">
  %7 = cute.composed_get_outer(%c) : !cute.composed_layout<"S<2,4,3> o ? o (4,?):(?,1)"> -> !cute.layout<"(4,?):(?,1)">
  return
}

// As many results as there are leaves; their types follow from the operand's.
// CHECK-LABEL: func.func @leaves(
func.func @leaves(%s: !cute.shape<"(4,(?,8))">, %t: !cute.tile<"[4:1;[_;?:2]]">) -> (!cute.shape<"?">, !cute.layout<"?:2">, !cute.layout<"4:1">) {
  // CHECK: cute.get_leaves(%{{.*}}) : !cute.shape<"(4,(?,8))">
  %a, %b, %c = cute.get_leaves(%s) : !cute.shape<"(4,(?,8))">
  // CHECK: cute.get_leaves(%{{.*}}) : !cute.tile<"[4:1;[_;?:2]]">
  %d:3 = cute.get_leaves(%t) : !cute.tile<"[4:1;[_;?:2]]">
  // CHECK: cute.get_layouts_from_tile(%{{.*}}) : <"[4:1;[_;?:2]]">
  %e:2 = cute.get_layouts_from_tile(%t) : !cute.tile<"[4:1;[_;?:2]]">
  return %b, %d#2, %e#0 : !cute.shape<"?">, !cute.layout<"?:2">, !cute.layout<"4:1">
}

// An integer for each leaf, as wide as the leaf; a static one as wide as it needs.
// CHECK-LABEL: func.func @scalars(
func.func @scalars(%l: !cute.layout<"(?,4):(1,?{i64})">, %c: !cute.coord<"(_,?,3)">, %n: !cute.int_tuple<"(2147483647,2147483648)">,
                   %b: !cute.stride<"(?@0,2@1)">, %w: !cute.swizzle<"S<3,4,3>">) -> (i32, i32, i32, i64, i32, i64) {
  // CHECK: cute.get_scalars (%{{.*}}) : !cute.layout<"(?,4):(1,?{i64})">
  %0:4 = cute.get_scalars (%l) : !cute.layout<"(?,4):(1,?{i64})">
  // CHECK: cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.layout<"(?,4):(1,?{i64})">
  %1:2 = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?,4):(1,?{i64})">
  // CHECK: cute.get_scalars (%{{.*}}) : !cute.coord<"(_,?,3)">
  %2:2 = cute.get_scalars (%c) : !cute.coord<"(_,?,3)">
  // CHECK: cute.get_scalars (%{{.*}}) : !cute.int_tuple<"(2147483647,2147483648)">
  %3:2 = cute.get_scalars (%n) : !cute.int_tuple<"(2147483647,2147483648)">
  // CHECK: cute.get_scalars (%{{.*}}) : !cute.stride<"(?@0,2@1)">
  %4:4 = cute.get_scalars (%b) : !cute.stride<"(?@0,2@1)">
  // CHECK: cute.get_scalars (%{{.*}}) : !cute.swizzle<"S<3,4,3>">
  %5:3 = cute.get_scalars (%w) : !cute.swizzle<"S<3,4,3>">
  // CHECK: cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.swizzle<"S<3,4,3>">
  cute.get_scalars <{only_dynamic}>(%w) : !cute.swizzle<"S<3,4,3>">
  return %0#0, %0#1, %0#2, %0#3, %1#0, %3#1 : i32, i32, i32, i64, i32, i64
}

// CHECK-LABEL: func.func @modes(
func.func @modes(%l: !cute.layout<"((2,?),8):((1,2),?)">, %t: !cute.tile<"[4:1;[_;?:2]]">, %c: !cute.composed_layout<"S<2,4,3> o 0 o (4,8):(8,1)">) {
  // CHECK: cute.get<[0, 1]> (%{{.*}}) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"?:2">
  %0 = cute.get<[0, 1]>(%l) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"?:2">
  // CHECK: cute.get (%{{.*}}) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"((2,?),8):((1,2),?)">
  %1 = cute.get(%l) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"((2,?),8):((1,2),?)">
  // CHECK: cute.get<[1]> (%{{.*}}) : !cute.tile<"[4:1;[_;?:2]]"> -> !cute.tile<"[_;?:2]">
  %2 = cute.get<[1]>(%t) : !cute.tile<"[4:1;[_;?:2]]"> -> !cute.tile<"[_;?:2]">
  // CHECK: cute.get<[1]> (%{{.*}}) : !cute.composed_layout<"S<2,4,3> o 0 o (4,8):(8,1)"> -> !cute.composed_layout<"S<2,4,3> o 0 o 8:1">
  %3 = cute.get<[1]>(%c) : !cute.composed_layout<"S<2,4,3> o 0 o (4,8):(8,1)"> -> !cute.composed_layout<"S<2,4,3> o 0 o 8:1">
  // CHECK: cute.select<[1, 0, 1]> (%{{.*}}) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"(8,(2,?),8):(?,(1,2),?)">
  %4 = cute.select<[1, 0, 1]>(%l) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"(8,(2,?),8):(?,(1,2),?)">
  // CHECK: cute.select<[0]> (%{{.*}}) : !cute.tile<"[4:1;[_;?:2]]"> -> !cute.tile<"[4:1]">
  %5 = cute.select<[0]>(%t) : !cute.tile<"[4:1;[_;?:2]]"> -> !cute.tile<"[4:1]">
  return
}

// CHECK-LABEL: func.func @kinds(
func.func @kinds(%c: !cute.coord<"(1,(?,2))">, %d: !cute.stride<"(0,4)">, %t: !cute.int_tuple<"(0,?{i64})">) {
  // CHECK: cute.to_int_tuple(%{{.*}}) : !cute.coord<"(1,(?,2))"> -> !cute.int_tuple<"(1,(?,2))">
  %0 = cute.to_int_tuple(%c) : !cute.coord<"(1,(?,2))"> -> !cute.int_tuple<"(1,(?,2))">
  // CHECK: cute.to_int_tuple(%{{.*}}) : !cute.stride<"(0,4)"> -> !cute.int_tuple<"(0,4)">
  %1 = cute.to_int_tuple(%d) : !cute.stride<"(0,4)"> -> !cute.int_tuple<"(0,4)">
  // CHECK: cute.to_shape(%{{.*}}) : !cute.int_tuple<"(0,?{i64})"> -> !cute.shape<"(0,?{i64})">
  %2 = cute.to_shape(%t) : !cute.int_tuple<"(0,?{i64})"> -> !cute.shape<"(0,?{i64})">
  // CHECK: cute.to_stride(%{{.*}}) : !cute.int_tuple<"(0,?{i64})"> -> !cute.stride<"(0,?{i64})">
  %3 = cute.to_stride(%t) : !cute.int_tuple<"(0,?{i64})"> -> !cute.stride<"(0,?{i64})">
  // CHECK: cute.to_coord(%{{.*}}) : !cute.int_tuple<"(0,?{i64})"> -> !cute.coord<"(0,?{i64})">
  %4 = cute.to_coord(%t) : !cute.int_tuple<"(0,?{i64})"> -> !cute.coord<"(0,?{i64})">
  return
}
