// Pointers, views, recasts, alignment and swizzles, spelled as CuTe DSL prints them.
// Alignments that equal the element's own size are not written; a swizzle follows the alignment.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @iter_gmem(
// CHECK: cute.get_iter({{%.+}}) : !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">
// CHECK: return {{%.+}} : !cute.ptr<f16, gmem, align<16>>
func.func @iter_gmem(%m: !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">) -> !cute.ptr<f16, gmem, align<16>> {
  %iter = cute.get_iter(%m) : !cute.memref<f16, gmem, align<16>, "(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})">
  return %iter : !cute.ptr<f16, gmem, align<16>>
}

// -----

// CHECK-LABEL: func.func @layout_of(
// CHECK: cute.get_layout({{%.+}}) : !cute.memref<f32, gmem, "(16,128):(128,1)">
// CHECK: return {{%.+}} : !cute.layout<"(16,128):(128,1)">
func.func @layout_of(%m: !cute.memref<f32, gmem, "(16,128):(128,1)">) -> !cute.layout<"(16,128):(128,1)"> {
  %lay = cute.get_layout(%m) : !cute.memref<f32, gmem, "(16,128):(128,1)">
  return %lay : !cute.layout<"(16,128):(128,1)">
}

// -----

// CHECK-LABEL: func.func @view_one_operand(
// CHECK: cute.make_view({{%.+}}) : !cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">
func.func @view_one_operand(%p: !cute.ptr<f32, rmem, align<32>>) {
  %view = cute.make_view(%p) : !cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">
  return
}

// -----

// CHECK-LABEL: func.func @view_static(
// CHECK: cute.static : !cute.layout<"(128,8):(8,1)">
// CHECK: cute.make_view({{%.+}}, {{%.+}}) : !cute.memref<f16, smem, align<1024>, "(128,8):(8,1)">
func.func @view_static(%p: !cute.ptr<f16, smem, align<1024>>) {
  %0 = cute.static : !cute.layout<"(128,8):(8,1)">
  %view = cute.make_view(%p, %0) : !cute.memref<f16, smem, align<1024>, "(128,8):(8,1)">
  return
}

// -----

// CHECK-LABEL: func.func @view_dynamic(
// CHECK: cute.make_view({{%.+}}, {{%.+}}) : !cute.memref<bf16, gmem, align<16>, "(?,4096):(4096,1)">
func.func @view_dynamic(%p: !cute.ptr<bf16, gmem, align<16>>, %lay: !cute.layout<"(?,4096):(4096,1)">) {
  %view = cute.make_view(%p, %lay) : !cute.memref<bf16, gmem, align<16>, "(?,4096):(4096,1)">
  return
}

// -----

// CHECK-LABEL: func.func @view_swizzled_layout(
// CHECK: cute.make_view({{%.+}}, {{%.+}}) : !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
func.func @view_swizzled_layout(%p: !cute.ptr<f16, smem, align<1024>>, %l: !cute.composed_layout<"S<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">) {
  %view = cute.make_view(%p, %l) : !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
  return
}

// -----

// CHECK-LABEL: func.func @view_swizzled_pointer(
// CHECK: cute.make_view({{%.+}}, {{%.+}}) : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,16),(64,1)):((64,512),(1,0))">
func.func @view_swizzled_pointer(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, %l: !cute.layout<"((8,16),(64,1)):((64,512),(1,0))">) {
  %view = cute.make_view(%p, %l) : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,16),(64,1)):((64,512),(1,0))">
  return
}

// -----

// CHECK-LABEL: func.func @dynamic_swizzle_offset(
// What slices of swizzled views carry once offsets are explicit.
func.func @dynamic_swizzle_offset(%m: !cute.memref<f16, smem, "S<3,3,3> o ?{div=16} o (8,4):(1,64)">, %n: !cute.memref<bf16, smem, S<3,4,3>, "(2,2):(1,8)">) {
  return
}

// -----

// CHECK-LABEL: func.func @offset_static(
// CHECK: cute.make_int_tuple() : () -> !cute.int_tuple<"1">
// CHECK: cute.add_offset({{%.+}}, {{%.+}}) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"1">) -> !cute.ptr<i64, smem>
// CHECK: return {{%.+}} : !cute.ptr<i64, smem>
func.func @offset_static(%p: !cute.ptr<i64, smem, align<1024>>) -> !cute.ptr<i64, smem> {
  %int_tuple = cute.make_int_tuple() : () -> !cute.int_tuple<"1">
  %ptr = cute.add_offset(%p, %int_tuple) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"1">) -> !cute.ptr<i64, smem>
  return %ptr : !cute.ptr<i64, smem>
}

// -----

// CHECK-LABEL: func.func @offset_divisible(
// CHECK: cute.add_offset({{%.+}}, {{%.+}}) : (!cute.ptr<bf16, smem, align<1024>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<bf16, smem, align<16>>
// CHECK: return {{%.+}} : !cute.ptr<bf16, smem, align<16>>
func.func @offset_divisible(%p: !cute.ptr<bf16, smem, align<1024>>, %o: !cute.int_tuple<"?{div=8}">) -> !cute.ptr<bf16, smem, align<16>> {
  %ptr = cute.add_offset(%p, %o) : (!cute.ptr<bf16, smem, align<1024>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<bf16, smem, align<16>>
  return %ptr : !cute.ptr<bf16, smem, align<16>>
}

// -----

// CHECK-LABEL: func.func @offset_wide(
// CHECK: cute.add_offset({{%.+}}, {{%.+}}) : (!cute.ptr<f16, gmem, align<32>>, !cute.int_tuple<"?{i64 div=8192}">) -> !cute.ptr<f16, gmem, align<32>>
// CHECK: return {{%.+}} : !cute.ptr<f16, gmem, align<32>>
func.func @offset_wide(%p: !cute.ptr<f16, gmem, align<32>>, %o: !cute.int_tuple<"?{i64 div=8192}">) -> !cute.ptr<f16, gmem, align<32>> {
  %ptr = cute.add_offset(%p, %o) : (!cute.ptr<f16, gmem, align<32>>, !cute.int_tuple<"?{i64 div=8192}">) -> !cute.ptr<f16, gmem, align<32>>
  return %ptr : !cute.ptr<f16, gmem, align<32>>
}

// -----

// CHECK-LABEL: func.func @offset_swizzled(
// CHECK: cute.add_offset({{%.+}}, {{%.+}}) : (!cute.ptr<f16, smem, align<1024>, S<2,4,3>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, smem, align<16>, S<2,4,3>>
// CHECK: return {{%.+}} : !cute.ptr<f16, smem, align<16>, S<2,4,3>>
func.func @offset_swizzled(%p: !cute.ptr<f16, smem, align<1024>, S<2,4,3>>, %o: !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, smem, align<16>, S<2,4,3>> {
  %ptr = cute.add_offset(%p, %o) : (!cute.ptr<f16, smem, align<1024>, S<2,4,3>>, !cute.int_tuple<"?{div=8}">) -> !cute.ptr<f16, smem, align<16>, S<2,4,3>>
  return %ptr : !cute.ptr<f16, smem, align<16>, S<2,4,3>>
}

// -----

// CHECK-LABEL: func.func @recast(
// CHECK: cute.recast_iter({{%.+}}) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<f16, smem, align<1024>>
// CHECK: return {{%.+}} : !cute.ptr<f16, smem, align<1024>>
func.func @recast(%p: !cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>> {
  %iter = cute.recast_iter(%p) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<f16, smem, align<1024>>
  return %iter : !cute.ptr<f16, smem, align<1024>>
}

// -----

// CHECK-LABEL: func.func @recast_adds_swizzle(
// CHECK: cute.recast_iter({{%.+}}) : !cute.ptr<i8, smem, align<128>> to !cute.ptr<tf32, smem, align<128>, S<3,4,3>>
// CHECK: return {{%.+}} : !cute.ptr<tf32, smem, align<128>, S<3,4,3>>
func.func @recast_adds_swizzle(%p: !cute.ptr<i8, smem, align<128>>) -> !cute.ptr<tf32, smem, align<128>, S<3,4,3>> {
  %iter = cute.recast_iter(%p) : !cute.ptr<i8, smem, align<128>> to !cute.ptr<tf32, smem, align<128>, S<3,4,3>>
  return %iter : !cute.ptr<tf32, smem, align<128>, S<3,4,3>>
}

// -----

// CHECK-LABEL: func.func @recast_wide(
// CHECK: cute.recast_iter({{%.+}}) : !cute.ptr<f16, smem, align<16>> to !cute.ptr<i128, smem>
// CHECK: return {{%.+}} : !cute.ptr<i128, smem>
func.func @recast_wide(%p: !cute.ptr<f16, smem, align<16>>) -> !cute.ptr<i128, smem> {
  %iter = cute.recast_iter(%p) : !cute.ptr<f16, smem, align<16>> to !cute.ptr<i128, smem>
  return %iter : !cute.ptr<i128, smem>
}

// -----

// CHECK-LABEL: func.func @integers(
// CHECK: cute.assume({{%.+}}) : (i64) -> !cute.i64<divby 128>
// CHECK: cute.inttoptr({{%.+}}) : !cute.i64<divby 128> to !cute.ptr<i8, smem, align<128>>
// CHECK: cute.ptrtoint({{%.+}}) : !cute.ptr<i8, smem, align<128>> to i32
func.func @integers(%i: i64) -> i32 {
  %iv = cute.assume(%i) : (i64) -> !cute.i64<divby 128>
  %0 = cute.inttoptr(%iv) : !cute.i64<divby 128> to !cute.ptr<i8, smem, align<128>>
  %1 = cute.ptrtoint(%0) : !cute.ptr<i8, smem, align<128>> to i32
  return %1 : i32
}

// -----

// CHECK-LABEL: func.func @gmem_integer(
// CHECK: cute.ptrtoint({{%.+}}) : !cute.ptr<f16, gmem> to i64
func.func @gmem_integer(%p: !cute.ptr<f16, gmem>) -> i64 {
  %0 = cute.ptrtoint(%p) : !cute.ptr<f16, gmem> to i64
  return %0 : i64
}

// -----

// CHECK-LABEL: func.func @forget_alignment(
// CHECK: cute.derefine({{%.+}}) : !cute.ptr<i64, smem, align<64>> to !cute.ptr<i64, smem>
// CHECK: return {{%.+}} : !cute.ptr<i64, smem>
func.func @forget_alignment(%p: !cute.ptr<i64, smem, align<64>>) -> !cute.ptr<i64, smem> {
  %dyn = cute.derefine(%p) : !cute.ptr<i64, smem, align<64>> to !cute.ptr<i64, smem>
  return %dyn : !cute.ptr<i64, smem>
}

// -----

// CHECK-LABEL: func.func private @elements(
// Every element type seen behind a pointer.
func.func private @elements(!cute.ptr<i4, gmem, align<128>>, !cute.ptr<f4E2M1FN, gmem, align<16>>, !cute.ptr<i8, rmem>, !cute.ptr<f8E4M3FN, gmem, align<16>>, !cute.ptr<f16, rmem, align<32>>, !cute.ptr<bf16, rmem, align<32>>, !cute.ptr<tf32, smem, align<1024>>, !cute.ptr<f32, generic>, !cute.ptr<i32, smem, align<8>>, !cute.ptr<i64, gmem>, !cute.ptr<i128, gmem>)
