// A C at coordinates, with an extent and a stride that only a launch brings: its tensor's elements must not overlap, which a launch asserts.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=2" | FileCheck %s
// CHECK: cf.assert {{.*}}"expected elements of C that do not overlap: strides of modes [0, 1, 2], each larger than what those of smaller strides reach over"
!A = !cute.memref<f16, gmem, align<2>, "(13,32,3):(32,1,416)">
!B = !cute.memref<f16, gmem, align<16>, "(13,32,3):(33,1,429)">
!C = !cute.memref<f16, gmem, align<32>, "(16,5,?):(1,16,?{div=16})">
!AtC = !cute.coord_tensor<"(13,2,14)", "(?,13,?):(-1@2,-1@0,1@1)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %extent_c_0: i32 {cute.name = "extent_c_0", cute.default = 13 : i32}, %extent_c_1: i32 {cute.name = "extent_c_1", cute.default = 3 : i32}) {
  %int_tuple_c = cute.static : !cute.int_tuple<"(13,2,14)">
  %shape_c = cute.make_shape(%extent_c_0, %extent_c_1) : (i32, i32) -> !cute.shape<"(?,13,?)">
  %stride_c = cute.static : !cute.stride<"(-1@2,-1@0,1@1)">
  %iter_c = cute.make_arith_tuple_iter(%int_tuple_c) : (!cute.int_tuple<"(13,2,14)">) -> !cute.arith_tuple_iter<"(13,2,14)">
  %layout_c = cute.make_layout(%shape_c, %stride_c) : (!cute.shape<"(?,13,?)">, !cute.stride<"(-1@2,-1@0,1@1)">) -> !cute.layout<"(?,13,?):(-1@2,-1@0,1@1)">
  %at_c = cute.make_view(%iter_c, %layout_c) : !AtC
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 at C(%at_c : !AtC)
  return
}
