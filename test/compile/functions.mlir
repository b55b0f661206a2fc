// Whole modules: several products in a function, several functions, rows further apart than they are
// long.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 stages=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --info %t.cutepkg | FileCheck %s

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!wide = !cute.memref<f16, gmem, align<16>, "(64,64):(96,1)">

// What one launch writes and the next one reads is an argument that is read and written.
// CHECK:      function chain
// CHECK:      | arg0     | f16     | (64,64):(64,1) | 16 B  | read           |
// CHECK-NEXT: | arg1     | f16     | (64,64):(64,1) | 16 B  | read and write |
// CHECK-NEXT: | arg2     | f16     | (64,64):(96,1) | 16 B  | write          |
// CHECK:      computes arg1(m,n) = sum over k of arg0(m,k) * arg0(n,k), accumulated in f32
// CHECK-NEXT: computes arg2(m,n) = sum over k of arg1(m,k) * arg0(n,k), accumulated in f32
// CHECK-NEXT: launch 0: chain_0_kernel(arg0, arg1), grid 4x1x1, block 64x1x1
// What a launch writes has no byte in common with what it reads; what it only reads may be one tensor.
// CHECK-NEXT:   requires that arg0 and arg1 do not overlap
// CHECK-NEXT: launch 1: chain_1_kernel(arg1, arg0, arg2), grid 4x1x1, block 64x1x1
// CHECK-NEXT:   requires that arg0 and arg2 do not overlap
// CHECK-NEXT:   requires that arg1 and arg2 do not overlap
func.func @chain(%A: !t, %B: !t, %C: !wide) {
  cute.contract ins(%A, %A : !t, !t) outs(%B : !t) accumulate f32
  cute.contract ins(%B, %A : !t, !t) outs(%C : !wide) accumulate f32
  return
}

// CHECK:      function single
// CHECK:      launch 0: single_kernel(A, B, C)
func.func @single(%A: !t, %B: !wide, %C: !t) {
  cute.contract ins(%A, %B : !t, !wide) outs(%C : !t) accumulate f32
  return
}

// CHECK:      image sm_80
// CHECK:      | chain_0_kernel |
// CHECK:      | chain_1_kernel |
// CHECK:      | single_kernel |
