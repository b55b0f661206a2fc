// Types that follow are left out: the module is the same, and is printed in full, or by --strip-types as short as it can be.
//
// RUN: cute-opt %s -o %t.full
// RUN: FileCheck %s --input-file %t.full
// RUN: cute-opt %s --strip-types -o %t.short
// RUN: FileCheck %s --check-prefix SHORT --input-file %t.short
// RUN: cute-opt %t.short -o %t.again
// RUN: diff %t.full %t.again
// RUN: cute-opt %t.full --strip-types -o %t.short-again
// RUN: diff %t.short %t.short-again

!A = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>

// CHECK-LABEL: func.func @views
// SHORT-LABEL: func.func @views
func.func @views(%A: !A, %i: i32, %j: i64, %k: !cute.i32<divby 8>) {
  // CHECK: cute.static : !cute.tile<"[128:1;64:1]">
  // SHORT: cute.static tile "[128:1;64:1]"
  %tile = cute.static "[128:1;64:1]"
  // CHECK: cute.static : !cute.coord<"(_,0)">
  // SHORT: cute.static coord "(_,0)"
  %at0 = cute.static coord "(_,0)"
  // CHECK: cute.static : !cute.layout<"(4,8):(8,1)">
  %l = cute.static "(4,8):(8,1)"
  // CHECK: cute.static : !cute.swizzle<"S<3,4,3>">
  %s = cute.static "S<3,4,3>"
  // CHECK: cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
  %c = cute.static "S<3,4,3> o 0 o (8,64):(64,1)"
  // A tuple is written out, with values in it.
  // CHECK: cute.make_coord(%{{.*}}, %{{.*}}) : (i32, i64) -> !cute.coord<"(?,(_,?{i64}),0)">
  // SHORT: cute.make_coord(%{{.*}}, (_, %{{.*}}), 0)
  %deep = cute.make_coord(%i, (_, %j), 0)
  // CHECK: cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"?">
  %one = cute.make_coord(%i)
  // CHECK: cute.make_coord(%{{.*}}, %{{.*}}) : (i32, i32) -> !cute.coord<"(?,?)">
  %two = cute.make_coord(%i, %i)
  // CHECK: cute.make_int_tuple(%{{.*}}) : (!cute.i32<divby 8>) -> !cute.int_tuple<"(?{div=8},-4)">
  %tuple = cute.make_int_tuple(%k, -4)
  // A promise that no operand makes has to be written.
  // CHECK: cute.make_shape(%{{.*}}) : (i32) -> !cute.shape<"(?{div=4},8)">
  // SHORT: cute.make_shape(%{{.*}}) -> !cute.shape<"(?{div=4},8)">
  %promise = cute.make_shape(%i) -> !cute.shape<"(?{div=4},8)">
  %shape = cute.make_shape(%i, 8)
  %stride = cute.make_stride(1, %i)
  // CHECK: cute.make_layout({{.*}}) : (!cute.shape<"(?,8)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,8):(1,?)">
  // SHORT: cute.make_layout(%{{[0-9]+}}, %{{[0-9]+}}){{$}}
  %layout = cute.make_layout(%shape, %stride)
  %p = cute.get_iter(%A)
  // CHECK: cute.make_view({{.*}}) : !cute.memref<f16, gmem, align<16>, "(?,8):(1,?)">
  // SHORT: cute.make_view(%{{[0-9]+}}, %{{[0-9]+}}){{$}}
  %view = cute.make_view(%p, %layout)
  // CHECK: cute.make_identity_tensor({{.*}}) : !cute.coord_tensor<"(0,0)", "(?,8):(1@0,1@1)">
  %id = cute.make_identity_tensor(%shape)
  // CHECK: cute.local_tile({{.*}}) {proj = #cute.coord<"(1,1)">} : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(128,64):(?{div=8},1)">
  // SHORT: cute.local_tile({{.*}}) {proj = #cute.coord<"(1,1)">}{{$}}
  %gA = cute.local_tile(%A, %tile, %two, "(1,1)")
  %column = cute.slice(%gA, %at0)
  %copy = cute.static : !copy
  // CHECK: cute.tiled.copy.partition_S({{.*}}) -> !cute.memref<f16, gmem, align<16>, "((8,1),8,1):((1,0),?{div=128},0)">
  %tA = cute.tiled.copy.partition_S(%copy, %gA, %one)
  // CHECK: cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),8,1):((1,0),8,0)">
  // SHORT: cute.memref.alloca() : !cute.memref<f16, rmem
  %frag = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),8,1):((1,0),8,0)">
  // CHECK: cute.copy({{.*}}) : (!cute.tiled_copy<
  // SHORT: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}){{$}}
  cute.copy(%copy, %tA, %frag)
  // CHECK: cute.recast({{.*}}) : !cute.memref<f16, rmem, align<16>, {{.*}} -> !cute.memref<i32, rmem, align<16>
  // SHORT: cute.recast(%{{[0-9]+}}) -> !cute.memref<i32
  %words = cute.recast(%frag) -> !cute.memref<i32, rmem, align<16>, "((4,1),8,1):((1,0),4,0)">
  // CHECK: cute.memref.load_vec {{.*}} : !cute.memref<f16, rmem
  // SHORT: cute.memref.load_vec %{{[0-9]+}}{{$}}
  %v = cute.memref.load_vec %frag
  // CHECK: cute.memref.store_vec {{.*}} : vector<64xf16>, !cute.memref
  cute.memref.store_vec %v, %frag
  %whole = cute.get_layout(%A)
  // SHORT: cute.get_scalars<{only_dynamic}> (%{{[0-9]+}}){{$}}
  %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%whole)
  return
}

// CHECK-LABEL: func.func @regions
// SHORT-LABEL: func.func @regions
func.func @regions(%i: !cute.memref<f16, rmem, "8:1">, %o: !cute.memref<f16, rmem, "8:1">, %zero: f16) -> f16 {
  // CHECK: cute.transform(%{{.*}}, %{{.*}}) : (!cute.memref<f16, rmem, "8:1">, !cute.memref<f16, rmem, "8:1">) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f16):
  // SHORT: cute.transform(%{{.*}}, %{{.*}}) (%[[X:.*]]) {
  // SHORT-NEXT: arith.addf %[[X]], %[[X]]
  // SHORT-NEXT: cute.yield %{{[0-9]+}}{{$}}
  cute.transform(%i, %o) (%x) {
    %y = arith.addf %x, %x : f16
    cute.yield %y
  }
  // CHECK: cute.reduce({{.*}}) {kind = "add"} : ({{.*}}, f16) -> f16
  // SHORT: cute.reduce({{.*}}) {kind = "add"}{{$}}
  %sum = cute.reduce(%o, %zero) {kind = "add"}
  // SHORT: cute.reduce(%{{.*}}, %{{.*}}) (%{{.*}}, %{{.*}}) {
  %most = cute.reduce(%o, %sum) (%a, %b: f16) {
    %c = arith.maximumf %a, %b : f16
    cute.yield %c
  }
  return %most : f16
}

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">

// Operands in groups, of which some may be missing; numbers have no types to write.
// CHECK-LABEL: func.func @groups
// SHORT-LABEL: func.func @groups
func.func @groups(%atom: !tma, %tile: !tile, %sA: !sA, %full: !bars, %i: i32, %both: i16) {
  // CHECK: cute_nvgpu.tma_load({{.*}}) on %{{.*}}[%{{.*}}] : (!cute_nvgpu.atom.tma_load<{{.*}}>, [!cute.coord_tensor<{{.*}}>], !cute.memref<f16, smem, {{.*}}>), !cute.memref<i64, smem, "4:1">
  // SHORT: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %{{.*}}) on %{{.*}}[%{{[a-z0-9]+}}]{{$}}
  cute_nvgpu.tma_load(%atom, [%tile], %sA) on %full[%i]
  // CHECK: multicast(%{{.*}}) : (!cute_nvgpu.atom.tma_load<{{.*}}), !cute.memref<i64
  // SHORT: multicast(%{{[a-z0-9]+}}){{$}}
  cute_nvgpu.tma_load(%atom, [%tile], %sA) on %full[%i] multicast(%both)
  // CHECK: cute_nvgpu.tma_load({{.*}}) multicast(%{{.*}}) : (!cute_nvgpu.atom.tma_load<{{.*}}, !cute.memref<f16, {{.*}}>){{$}}
  // SHORT: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %{{[a-z0-9]+}}) multicast(%{{[a-z0-9]+}}){{$}}
  cute_nvgpu.tma_load(%atom, [%tile], %sA) multicast(%both)
  // CHECK: policy "evict_first" : (!cute_nvgpu.atom.tma_load<{{.*}}>, [i32, i32], !cute.memref<f16, smem
  // SHORT: cute_nvgpu.tma_load(%{{.*}}, [%[[I:.*]], %[[I]]], %{{.*}}) on %{{.*}} policy "evict_first"{{$}}
  cute_nvgpu.tma_load(%atom, [%i, %i], %sA) on %full[%i] policy "evict_first"
  return
}

!x = !cute.memref<f32, gmem, "(64,32):(32,1)">
!m = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
!line = !cute.memref<f16, gmem, align<16>, "(256,256):(0,1)">
// CHECK-LABEL: func.func @whole
// SHORT-LABEL: func.func @whole
func.func @whole(%x: !x, %y: !x, %A: !m, %B: !m, %C: !m, %bias: !line) {
  // CHECK: cute.map ins(%{{.*}} : !cute.memref<{{.*}}>) outs(%{{.*}} : !cute.memref<{{.*}}>) {
  // SHORT: cute.map ins(%{{[a-z0-9]+}}) outs(%{{[a-z0-9]+}}) {
  cute.map ins(%x) outs(%y) {
  ^bb0(%a: f32):
    cute.yield %a
  }
  // Some are written and some not.
  // SHORT: cute.map ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) outs(%{{[a-z0-9]+}}) {
  cute.map ins(%x, %y) outs(%y : !x) {
  ^bb0(%a: f32, %b: f32):
    cute.yield %a
  }
  // CHECK: cute.contract ins(%{{.*}}, %{{.*}} : !cute.memref<{{.*}}>, !cute.memref<{{.*}}>) outs(%{{.*}} : !cute.memref<{{.*}}>) accumulate f32 {cute.stages = 3 : i64} prologue B {
  // SHORT: cute.contract ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) outs(%{{[a-z0-9]+}}) accumulate f32 {cute.stages = 3 : i64} prologue B {
  // CHECK: epilogue ins(%{{.*}} : !cute.memref<f16, gmem, align<16>, "(256,256):(0,1)">) {
  // SHORT: epilogue ins(%{{[a-z0-9]+}}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 {cute.stages = 3} prologue B {
  ^bb0(%b: f16):
    cute.yield %b
  } epilogue ins(%bias) {
  ^bb0(%s: f32, %b: f16):
    %h = arith.truncf %s : f32 to f16
    cute.yield %h
  }
  return
}

// The type of elements says that of the tensor.
// CHECK-LABEL: func.func @recast
// SHORT-LABEL: func.func @recast
func.func @recast(%f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">) {
  // CHECK: cute.recast(%{{.*}}) to i32 : !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)"> -> !cute.memref<i32, rmem, "(1,4):(1,1)">
  // SHORT: cute.recast(%{{[a-z0-9]+}}) to i32{{$}}
  %w = cute.recast(%f) to i32
  return
}
