// A slice of a tensor has the modes that a slice of its layout has: what is left of a nested coordinate stands beside the other modes,
// and one mode is a mode (CuTe's slice, underscore.hpp).
//
// RUN: cute-opt %s | FileCheck %s

!layout = !cute.layout<"((2,2),4,8):((1,2),4,16)">
!tensor = !cute.memref<f32, gmem, "((2,2),4,8):((1,2),4,16)">
!coords = !cute.coord_tensor<"(0,0,0)", "((2,2),4,8):((1@0,2@0),1@1,1@2)">

// CHECK-LABEL: func.func @nested
func.func @nested(%l: !layout, %t: !tensor) {
  %c = cute.static : !cute.coord<"((_,0),0,_)">
  %a = cute.slice(%l, %c) : !layout, !cute.coord<"((_,0),0,_)">
  // CHECK: cute.print({{.*}}) : !cute.layout<"(2,8):(1,16)">
  cute.print(%a) : !cute.layout<"(2,8):(1,16)">
  %s = cute.slice(%t, %c) : !tensor, !cute.coord<"((_,0),0,_)">
  // CHECK: cute.get_layout({{.*}}) : !cute.memref<f32, gmem, "(2,8):(1,16)">
  %b = cute.get_layout(%s) : !cute.memref<f32, gmem, "(2,8):(1,16)">
  return
}

// CHECK-LABEL: func.func @coordinates
func.func @coordinates(%t: !coords) {
  %c = cute.static : !cute.coord<"((_,0),0,_)">
  %s = cute.slice(%t, %c) : !coords, !cute.coord<"((_,0),0,_)">
  // CHECK: cute.get_layout({{.*}}) : !cute.coord_tensor<"(0,0,0)", "(2,8):(1@0,1@2)">
  %b = cute.get_layout(%s) : !cute.coord_tensor<"(0,0,0)", "(2,8):(1@0,1@2)">
  return
}

// One mode that has modes itself is one mode of the result, and not two.
// CHECK-LABEL: func.func @one_mode
func.func @one_mode(%l: !layout, %t: !tensor) {
  %c = cute.static : !cute.coord<"(_,3,1)">
  %a = cute.slice(%l, %c) : !layout, !cute.coord<"(_,3,1)">
  // CHECK: cute.print({{.*}}) : !cute.layout<"((2,2)):((1,2))">
  cute.print(%a) : !cute.layout<"((2,2)):((1,2))">
  %s = cute.slice(%t, %c) : !tensor, !cute.coord<"(_,3,1)">
  // CHECK: cute.get_layout({{.*}}) : !cute.memref<f32, gmem, "((2,2)):((1,2))">
  %b = cute.get_layout(%s) : !cute.memref<f32, gmem, "((2,2)):((1,2))">
  %d = cute.static : !cute.coord<"(0,_,1)">
  %e = cute.slice(%t, %d) : !tensor, !cute.coord<"(0,_,1)">
  // CHECK: cute.get_layout({{.*}}) : !cute.memref<f32, gmem, "(4):(4)">
  %f = cute.get_layout(%e) : !cute.memref<f32, gmem, "(4):(4)">
  return
}
