// Tuples, layouts and their algebra in the signatures that the DSL prints (conversions in parentheses).
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @constants(
// CHECK: cute.static : !cute.layout<"(128,8):(8,1)">
// CHECK: cute.static : !cute.tile<"[128:1;8:1]">
// CHECK: cute.static : !cute.swizzle<"S<3,3,3>">
// CHECK: cute.static : !cute.shape<"(16,8,16)">
// CHECK: cute.static : !cute.composed_layout<"S<3,4,3> o 0 o ((128,8),1,4,(1,1)):((32,1),0,8,(0,0))">
func.func @constants() {
  %0 = cute.static : !cute.layout<"(128,8):(8,1)">
  %1 = cute.static : !cute.tile<"[128:1;8:1]">
  %2 = cute.static : !cute.swizzle<"S<3,3,3>">
  %3 = cute.static : !cute.shape<"(16,8,16)">
  %4 = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o ((128,8),1,4,(1,1)):((32,1),0,8,(0,0))">
  return
}

// -----

// CHECK-LABEL: func.func @constant_tiled_copy(
// CHECK: cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 32 b>, layout_copy_tv = <"((32,4),(4,4)):((64,4),(16,1))">, tiler_mn = <"[16:1;128:1]">>
func.func @constant_tiled_copy() {
  %0 = cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 32 b>, layout_copy_tv = <"((32,4),(4,4)):((64,4),(16,1))">, tiler_mn = <"[16:1;128:1]">>
  return
}

// -----

// CHECK-LABEL: func.func @tuples(
// CHECK: cute.make_int_tuple({{%.+}}) : (i32) -> !cute.int_tuple<"?">
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"((8,1),1,4,(1,3))">
// CHECK: cute.make_shape({{%.+}}) : (!cute.int_tuple<"?">) -> !cute.shape<"(1,1,?)">
// CHECK: cute.make_stride({{%.+}}, {{%.+}}) : (i32, i32) -> !cute.stride<"(?,?,0)">
// CHECK: cute.make_coord({{%.+}}) : (!cute.int_tuple<"?">) -> !cute.coord<"(0,?,0)">
// CHECK: cute.make_coord() : () -> !cute.coord<"(1,_,1)">
// CHECK: cute.make_coord() : () -> !cute.coord<"-1">
func.func @tuples(%x: i32, %y: i64) {
  %int_tuple = cute.make_int_tuple(%x) : (i32) -> !cute.int_tuple<"?">
  %int_tuple_0 = cute.make_int_tuple() : () -> !cute.int_tuple<"((8,1),1,4,(1,3))">
  %shape = cute.make_shape(%int_tuple) : (!cute.int_tuple<"?">) -> !cute.shape<"(1,1,?)">
  %stride = cute.make_stride(%x, %x) : (i32, i32) -> !cute.stride<"(?,?,0)">
  %coord = cute.make_coord(%int_tuple) : (!cute.int_tuple<"?">) -> !cute.coord<"(0,?,0)">
  %coord_1 = cute.make_coord() : () -> !cute.coord<"(1,_,1)">
  %coord_2 = cute.make_coord() : () -> !cute.coord<"-1">
  return
}

// -----

// CHECK-LABEL: func.func @constrained(
// CHECK: cute.assume({{%.+}}) : (i32) -> !cute.i32<divby 8>
// CHECK: cute.make_int_tuple({{%.+}}) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
// CHECK: return {{%.+}} : !cute.int_tuple<"?{div=8}">
func.func @constrained(%x: i32) -> !cute.int_tuple<"?{div=8}"> {
  %iv = cute.assume(%x) : (i32) -> !cute.i32<divby 8>
  %int_tuple = cute.make_int_tuple(%iv) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
  return %int_tuple : !cute.int_tuple<"?{div=8}">
}

// -----

// CHECK-LABEL: func.func @wide(
// CHECK: cute.assume({{%.+}}) : (i64) -> !cute.i64<divby 64>
// CHECK: cute.make_int_tuple({{%.+}}) : (!cute.i64<divby 64>) -> !cute.int_tuple<"?{i64 div=64}">
// CHECK: cute.get_scalars ({{%.+}}) : !cute.int_tuple<"?{i64 div=64}">
func.func @wide(%x: i64) -> i64 {
  %iv = cute.assume(%x) : (i64) -> !cute.i64<divby 64>
  %int_tuple = cute.make_int_tuple(%iv) : (!cute.i64<divby 64>) -> !cute.int_tuple<"?{i64 div=64}">
  %0 = cute.get_scalars(%int_tuple) : !cute.int_tuple<"?{i64 div=64}">
  return %0 : i64
}

// -----

// CHECK-LABEL: func.func @parts(
// CHECK: cute.get_shape({{%.+}}) : !cute.layout<"(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})"> -> !cute.shape<"(?{div=8},?,?)">
// CHECK: cute.get_stride({{%.+}}) : <"(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})"> -> !cute.stride<"(1,?{i64 div=8},?{i64 div=8})">
// CHECK: cute.get_leaves({{%.+}}) : !cute.shape<"(?{div=8},?,?)">
// CHECK: cute.to_int_tuple({{%.+}}) : !cute.shape<"?{div=8}"> -> !cute.int_tuple<"?{div=8}">
// CHECK: cute.get_scalars ({{%.+}}) : !cute.int_tuple<"?{div=8}">
func.func @parts(%l: !cute.layout<"(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">) -> i32 {
  %0 = cute.get_shape(%l) : (!cute.layout<"(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">) -> !cute.shape<"(?{div=8},?,?)">
  %1 = cute.get_stride(%l) : (!cute.layout<"(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">) -> !cute.stride<"(1,?{i64 div=8},?{i64 div=8})">
  %e0, %e1, %e2 = cute.get_leaves(%0) : !cute.shape<"(?{div=8},?,?)">
  %itup = cute.to_int_tuple(%e0) : !cute.shape<"?{div=8}"> to !cute.int_tuple<"?{div=8}">
  %2 = cute.get_scalars(%itup) : !cute.int_tuple<"?{div=8}">
  return %2 : i32
}

// -----

// CHECK-LABEL: func.func @dynamic_scalars(
// CHECK: cute.get_scalars<{only_dynamic}> ({{%.+}}) : !cute.layout<"(?,4096):(4096,1)">
func.func @dynamic_scalars(%l: !cute.layout<"(?,4096):(4096,1)">) -> i32 {
  %0 = cute.get_scalars(%l) <{only_dynamic}> : !cute.layout<"(?,4096):(4096,1)">
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @parts_of_composed(
// CHECK: cute.composed_get_inner({{%.+}}) : <"S<3,3,3> o 0 o (64,8):(1,64)"> -> !cute.swizzle<"S<3,3,3>">
// CHECK: cute.composed_get_offset({{%.+}}) : <"S<3,3,3> o 0 o (64,8):(1,64)"> -> !cute.int_tuple<"0">
// CHECK: cute.composed_get_outer({{%.+}}) : <"S<3,3,3> o 0 o (64,8):(1,64)"> -> <"(64,8):(1,64)">
func.func @parts_of_composed(%l: !cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">) {
  %0 = cute.composed_get_inner(%l) : (!cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">) -> !cute.swizzle<"S<3,3,3>">
  %1 = cute.composed_get_offset(%l) : (!cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">) -> !cute.int_tuple<"0">
  %2 = cute.composed_get_outer(%l) : (!cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">) -> !cute.layout<"(64,8):(1,64)">
  return
}

// -----

// CHECK-LABEL: func.func @compose(
// CHECK: cute.static : !cute.swizzle<"S<3,3,3>">
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"0">
// CHECK: cute.static : !cute.layout<"(64,8):(1,64)">
// CHECK: cute.make_composed_layout({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.swizzle<"S<3,3,3>">, <"0">, <"(64,8):(1,64)">) -> <"S<3,3,3> o 0 o (64,8):(1,64)">
// CHECK: cute.make_shape() : () -> !cute.shape<"(128,32,3)">
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"(0,1,2)">
// CHECK: cute.tile_to_shape({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">, !cute.shape<"(128,32,3)">, !cute.int_tuple<"(0,1,2)">) -> !cute.composed_layout<"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))">
// CHECK: cute.cosize ({{%.+}}) : (!cute.composed_layout<"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))">) -> !cute.int_tuple<"12288">
func.func @compose() {
  %0 = cute.static : !cute.swizzle<"S<3,3,3>">
  %int_tuple = cute.make_int_tuple() : () -> !cute.int_tuple<"0">
  %1 = cute.static : !cute.layout<"(64,8):(1,64)">
  %lay = cute.make_composed_layout(%0, %int_tuple, %1) : !cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">
  %shape = cute.make_shape() : () -> !cute.shape<"(128,32,3)">
  %int_tuple_0 = cute.make_int_tuple() : () -> !cute.int_tuple<"(0,1,2)">
  %tile_to_shape = cute.tile_to_shape(%lay, %shape, %int_tuple_0) : (!cute.composed_layout<"S<3,3,3> o 0 o (64,8):(1,64)">, !cute.shape<"(128,32,3)">, !cute.int_tuple<"(0,1,2)">) -> !cute.composed_layout<"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))">
  %cosz = cute.cosize(%tile_to_shape) : (!cute.composed_layout<"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))">) -> !cute.int_tuple<"12288">
  return
}

// -----

// CHECK-LABEL: func.func @algebra(
// CHECK: cute.coalesce({{%.+}}) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
// CHECK: cute.right_inverse({{%.+}}) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
// CHECK: cute.left_inverse({{%.+}}) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
// CHECK: cute.get<[1]> ({{%.+}}) : !cute.layout<"(128,4):(4,1)"> -> !cute.layout<"4:1">
// CHECK: cute.select<[1, 0]> ({{%.+}}) : !cute.layout<"(128,4):(4,1)"> -> !cute.layout<"(4,128):(1,4)">
func.func @algebra(%l: !cute.layout<"((2,2),4,8):((1,2),4,16)">, %t: !cute.layout<"(128,4):(4,1)">) {
  %coalesce = cute.coalesce(%l) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
  %rinv = cute.right_inverse(%l) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
  %linv = cute.left_inverse(%l) : (!cute.layout<"((2,2),4,8):((1,2),4,16)">) -> !cute.layout<"128:1">
  %0 = cute.get(%t) <{mode = [1]}> : !cute.layout<"(128,4):(4,1)"> -> !cute.layout<"4:1">
  %1 = cute.select<[1, 0]> (%t) : (!cute.layout<"(128,4):(4,1)">) -> !cute.layout<"(4,128):(1,4)">
  return
}

// -----

// CHECK-LABEL: func.func @filter(
// CHECK: cute.filter({{%.+}}) : !cute.layout<"(1,8):(0,1)">
func.func @filter(%l: !cute.layout<"(1,8):(0,1)">) {
  %filtered = cute.filter(%l) : !cute.layout<"(1,8):(0,1)">
  return
}

// -----

// CHECK-LABEL: func.func @like(
// CHECK: cute.make_layout_like({{%.+}}) : !cute.layout<"((2,2),4,8):((1,2),4,16)"> -> !cute.layout<"((2,2),4,8):((1,2),4,16)">
func.func @like(%l: !cute.layout<"((2,2),4,8):((1,2),4,16)">) {
  %0 = cute.make_layout_like(%l) : !cute.layout<"((2,2),4,8):((1,2),4,16)"> to !cute.layout<"((2,2),4,8):((1,2),4,16)">
  return
}

// -----

// CHECK-LABEL: func.func @recast(
// CHECK: cute.recast_layout<32, 8> ({{%.+}}) : !cute.layout<"(16,16):(16,1)"> -> !cute.layout<"(16,4):(4,1)">
func.func @recast(%l: !cute.layout<"(16,16):(16,1)">) {
  %0 = cute.recast_layout<32, 8> (%l) : !cute.layout<"(16,16):(16,1)"> to !cute.layout<"(16,4):(4,1)">
  return
}

// -----

// CHECK-LABEL: func.func @ranks(
// CHECK: cute.append_to_rank<3> ({{%.+}}, {{%.+}}) : !cute.layout<"((8,1),1):((1,0),0)">, !cute.layout<"1:0">
// CHECK: cute.prepend_to_rank<2> ({{%.+}}, {{%.+}}) : !cute.layout<"(4096):(1)">, !cute.layout<"(2):(0)">
func.func @ranks(%a: !cute.layout<"((8,1),1):((1,0),0)">, %b: !cute.layout<"1:0">, %c: !cute.layout<"(4096):(1)">, %d: !cute.layout<"(2):(0)">) {
  %append = cute.append_to_rank<3> (%a, %b) : !cute.layout<"((8,1),1):((1,0),0)">, !cute.layout<"1:0">
  %prepend = cute.prepend_to_rank<2> (%c, %d) : !cute.layout<"(4096):(1)">, !cute.layout<"(2):(0)">
  return
}

// -----

// CHECK-LABEL: func.func @products(
// CHECK: cute.raked_product({{%.+}}, {{%.+}}) : (!cute.layout<"(16,8):(1,16)">, !cute.layout<"(8,1):(1,0)">) -> !cute.layout<"((8,16),8):((128,1),16)">
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"((8,16),8)">
// CHECK: cute.tuple.product_each({{%.+}}) : (!cute.int_tuple<"((8,16),8)">) -> !cute.int_tuple<"(128,8)">
// CHECK: cute.tuple.product({{%.+}}) : (!cute.int_tuple<"((8,16),8)">) -> !cute.int_tuple<"1024">
func.func @products(%a: !cute.layout<"(16,8):(1,16)">, %b: !cute.layout<"(8,1):(1,0)">) {
  %prod = cute.raked_product(%a, %b) : (!cute.layout<"(16,8):(1,16)">, !cute.layout<"(8,1):(1,0)">) -> !cute.layout<"((8,16),8):((128,1),16)">
  %0 = cute.make_int_tuple() : () -> !cute.int_tuple<"((8,16),8)">
  %res = cute.tuple.product_each(%0) : (!cute.int_tuple<"((8,16),8)">) -> !cute.int_tuple<"(128,8)">
  %res_0 = cute.tuple.product(%0) : (!cute.int_tuple<"((8,16),8)">) -> !cute.int_tuple<"1024">
  return
}

// -----

// CHECK-LABEL: func.func @sizes(
// CHECK: cute.size ({{%.+}}) : (!cute.int_tuple<"((8,1),1,4,(1,3))">) -> !cute.int_tuple<"96">
// CHECK: cute.size<[1]> ({{%.+}}) : (!cute.layout<"((8,16),8):((128,1),16)">) -> !cute.int_tuple<"8">
// CHECK: cute.cosize ({{%.+}}) : (!cute.layout<"((8,16),8):((128,1),16)">) -> !cute.int_tuple<"1024">
func.func @sizes(%l: !cute.layout<"((8,16),8):((128,1),16)">, %i: !cute.int_tuple<"((8,1),1,4,(1,3))">) {
  %sz = cute.size(%i) : (!cute.int_tuple<"((8,1),1,4,(1,3))">) -> !cute.int_tuple<"96">
  %sz_0 = cute.size(%l) <{mode = [1]}> : (!cute.layout<"((8,16),8):((128,1),16)">) -> !cute.int_tuple<"8">
  %cosz = cute.cosize(%l) : (!cute.layout<"((8,16),8):((128,1),16)">) -> !cute.int_tuple<"1024">
  return
}

// -----

// CHECK-LABEL: func.func @index(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(0,?,0)">
// CHECK: cute.crd2idx({{%.+}}, {{%.+}}) : (!cute.coord<"(0,?,0)">, !cute.layout<"(128,32,?):(1,?{div=8},?{div=256})">) -> !cute.int_tuple<"?{div=8}">
func.func @index(%x: i32, %l: !cute.layout<"(128,32,?):(1,?{div=8},?{div=256})">) {
  %coord = cute.make_coord(%x) : (i32) -> !cute.coord<"(0,?,0)">
  %idx = cute.crd2idx(%coord, %l) : (!cute.coord<"(0,?,0)">, !cute.layout<"(128,32,?):(1,?{div=8},?{div=256})">) -> !cute.int_tuple<"?{div=8}">
  return
}

// -----

// CHECK-LABEL: func.func @arithmetic(
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"32">
// CHECK: cute.tuple_mul({{%.+}}, {{%.+}}) : (!cute.int_tuple<"32">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?{div=32}">
// CHECK: cute.tuple_sub({{%.+}}, {{%.+}}) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{div=32}">) -> !cute.int_tuple<"?">
// CHECK: cute.tuple_div({{%.+}}, {{%.+}}) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
// CHECK: cute.tuple_mod({{%.+}}, {{%.+}}) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{div=8}">) -> !cute.int_tuple<"?">
func.func @arithmetic(%a: !cute.int_tuple<"?">, %c: !cute.int_tuple<"?{div=8}">) {
  %0 = cute.make_int_tuple() : () -> !cute.int_tuple<"32">
  %mul = cute.tuple_mul(%0, %a) : (!cute.int_tuple<"32">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?{div=32}">
  %sub = cute.tuple_sub(%a, %mul) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{div=32}">) -> !cute.int_tuple<"?">
  %div = cute.tuple_div(%sub, %a) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  %mod = cute.tuple_mod(%a, %c) : (!cute.int_tuple<"?">, !cute.int_tuple<"?{div=8}">) -> !cute.int_tuple<"?">
  return
}

// -----

// CHECK-LABEL: func.func @shapes(
// CHECK: cute.make_shape() : () -> !cute.shape<"(128,128)">
// CHECK: cute.make_shape() : () -> !cute.shape<"(4,1)">
// CHECK: cute.shape_div({{%.+}}, {{%.+}}) : (!cute.shape<"(128,128)">, !cute.shape<"(4,1)">) -> !cute.shape<"(32,128)">
func.func @shapes() {
  %0 = cute.make_shape() : () -> !cute.shape<"(128,128)">
  %1 = cute.make_shape() : () -> !cute.shape<"(4,1)">
  %2 = cute.shape_div(%0, %1) : !cute.shape<"(128,128)">, !cute.shape<"(4,1)">
  return
}

// -----

// CHECK-LABEL: func.func @ordered(
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"(0,1,2)">
// CHECK: cute.make_ordered_layout({{%.+}}, {{%.+}}) : (!cute.shape<"(?{div=8},?,?)">, !cute.int_tuple<"(0,1,2)">) -> !cute.layout<"(?{div=8},?,?):(1,?{div=8},?{div=8})">
func.func @ordered(%s: !cute.shape<"(?{div=8},?,?)">) {
  %0 = cute.make_int_tuple() : () -> !cute.int_tuple<"(0,1,2)">
  %lay = cute.make_ordered_layout(%s, %0) : (!cute.shape<"(?{div=8},?,?)">, !cute.int_tuple<"(0,1,2)">) -> !cute.layout<"(?{div=8},?,?):(1,?{div=8},?{div=8})">
  return
}

// -----

// CHECK-LABEL: func.func @dice(
// CHECK: cute.dice({{%.+}}) {coord = #cute.coord<"(1,(1,1))">} : !cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">
func.func @dice(%l: !cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">) {
  %dice = cute.dice(%l, "(1,(1,1))") : (!cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">) -> !cute.layout<"((128,8),1,4):((1@0,1@1),0,8@1)">
  return
}

// -----

// CHECK-LABEL: func.func @refined(
// CHECK: cute.derefine({{%.+}}) : !cute.coord<"(0,?,0)"> to !cute.coord<"(?,?,0)">
func.func @refined(%c: !cute.coord<"(0,?,0)">) {
  %dyn = cute.derefine(%c) : !cute.coord<"(0,?,0)"> to !cute.coord<"(?,?,0)">
  return
}
