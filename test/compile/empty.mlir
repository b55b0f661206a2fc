// Tensors without elements, said in types: as those that a launch brings, nothing is launched for what has no elements, sums of nothing are 0, and what is
// computed of them is computed.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=2 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a variants=2 package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function no_k | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function no_rows | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function no_columns | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function no_batch | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function bias | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function no_k_reduced | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function gathered | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function convolved | FileCheck %s
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function grouped | FileCheck %s
// CHECK-COUNT-2: {{ C .*}}: right; every element compared
// CHECK-NOT: not compared
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function elements | FileCheck %s --check-prefix=MAP
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function softmax | FileCheck %s --check-prefix=MAP
// MAP-COUNT-2: D0 {{.*}}: right; every element compared
// A package says so, and takes nothing else.
// RUN: cute-run %t.80.cutepkg --info --function no_rows | FileCheck %s --check-prefix=INFO
// INFO: | A | f16 | (0,16):(16,1)
// RUN: not cute-run %t.80.cutepkg --device=emulator --function no_rows --layout "A=(1,16):(16,1)" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: shape[0] is 1, and was compiled for 0
// RUN: not cute-run %t.80.cutepkg --device=emulator --function no_rows --shape A=1x16 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: mode 0 has 1 elements, and was compiled for none

!c = !cute.memref<f16, gmem, align<2>, "(5,7):(7,1)">

!a_k = !cute.memref<f16, gmem, align<2>, "(5,0):(1,1)">
!b_k = !cute.memref<f16, gmem, align<2>, "(7,0):(1,1)">
func.func @no_k(%A: !a_k, %B: !b_k, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!a = !cute.memref<f16, gmem, align<16>, "(5,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(7,16):(16,1)">
!a_m = !cute.memref<f16, gmem, align<16>, "(0,16):(16,1)">
!c_m = !cute.memref<f16, gmem, align<2>, "(0,7):(7,1)">
func.func @no_rows(%A: !a_m, %B: !b, %C: !c_m) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!c_n = !cute.memref<f16, gmem, align<2>, "(5,0):(1,1)">
func.func @no_columns(%A: !a, %B: !a_m, %C: !c_n) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!a_l = !cute.memref<f16, gmem, align<16>, "(5,16,(0,3)):(16,1,(80,80))">
!b_l = !cute.memref<f16, gmem, align<16>, "(7,16,(0,3)):(16,1,(0,112))">
!c_l = !cute.memref<f16, gmem, align<2>, "(5,7,(0,3)):(7,1,(35,35))">
func.func @no_batch(%A: !a_l, %B: !b_l, %C: !c_l) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!bias = !cute.memref<f16, gmem, align<2>, "(5,7):(0,1)">
func.func @bias(%A: !a_k, %B: !b_k, %C: !c, %bias: !bias) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%bias) {
  ^bb0(%sum: f32, %of: f16):
    %w = arith.extf %of : f16 to f32
    %x = arith.addf %sum, %w : f32
    %y = arith.truncf %x : f32 to f16
    cute.yield %y : f16
  }
  return
}

// Whose rows are reduced as well.
!r = !cute.memref<f32, gmem, align<4>, "(5,7):(1,0)">
func.func @no_k_reduced(%A: !a_k, %B: !b_k, %C: !c, %R: !r) {
  cute.contract ins(%A, %B) outs(%C, %R reduce add) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %one = arith.constant 1.0 : f32
    %y = arith.truncf %sum : f32 to f16
    cute.yield %y, %one : f16, f32
  }
  return
}
!none = !cute.memref<i32, gmem, align<4>, "0:1">
func.func @gathered(%A: !a, %B: !b, %C: !c_m, %rows: !none) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 gather A(%rows)
  return
}

// A convolution of no pictures.
!x = !cute.memref<f16, gmem, align<16>, "(16,14,10,0):(1,16,224,2240)">
!f = !cute.memref<f16, gmem, align<16>, "(24,(16,3,3)):(144,(1,16,48))">
!y = !cute.memref<f16, gmem, align<16>, "((14,10,0),24):((24,336,3360),1)">
!at = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,?{div=0}),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @convolved(%X: !x, %F: !f, %C: !y) {
  %none = arith.constant 0 : i32
  %corner = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %shape = cute.make_shape(%none) : (i32) -> !cute.shape<"((14,10,?{div=0}),(16,3,3))">
  %stride = cute.static : !cute.stride<"((1@1,1@2,1@3),(1@0,1@1,1@2))">
  %places = cute.make_layout(%shape, %stride) : (!cute.shape<"((14,10,?{div=0}),(16,3,3))">, !cute.stride<"((1@1,1@2,1@3),(1@0,1@1,1@2))">) -> !cute.layout<"((14,10,?{div=0}),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
  %iter = cute.make_arith_tuple_iter(%corner) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%iter, %places) : (!cute.arith_tuple_iter<"(0,-1,-1,0)">, !cute.layout<"((14,10,?{div=0}),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">) -> !at
  cute.contract ins(%X, %F) outs(%C) accumulate f32 at A(%at)
  return
}

!b_g = !cute.memref<f16, gmem, align<16>, "(7,16,2):(16,1,112)">
!ends = !cute.memref<i32, gmem, align<4>, "2:1">
func.func @grouped(%A: !a_m, %B: !b_g, %C: !c_m, %ends: !ends) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 groups M(%ends)
  return
}

!m = !cute.memref<f32, gmem, align<4>, "(5,0):(1,1)">
func.func @elements(%X: !m, %Y: !m) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    cute.yield %y : f32
  }
  return
}
!m_m = !cute.memref<f32, gmem, align<4>, "(0,40):(40,1)">
func.func @softmax(%X: !m_m, %Y: !m_m) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    %m = cute.all_reduce "maximum" %x along [1] : f32
    %d = arith.subf %x, %m : f32
    %e = math.exp %d : f32
    %s = cute.all_reduce "add" %e along [1] : f32
    %y = arith.divf %e, %s : f32
    cute.yield %y : f32
  }
  return
}
