// Rows that are further apart than the offsets within a tile have bits for: a launch says so of the arguments, and what to compile; strides of 64 bits have no such bound.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: not cute-run %t.cutepkg --device=emulator --function narrow --layout "A=(1,64):(2147483640,1)" --layout "B=(40,64):(64,1)" --layout "C=(1,40):(40,1)" 2>&1 | FileCheck %s
// CHECK: error: {{.*}}function narrow: expected ({{[0-9]+}} * A.stride[0]) to fit 32 bits, as what is computed of extents and strides of 32 bits has no more, found a number beyond; compile for 64: write ?{i64 div=8} for A.stride[0] in the layout of the argument
// RUN: cute-run %t.cutepkg --device=emulator --function wide --layout "A=(1,64):(2147483648,1)" --layout "B=(40,64):(64,1)" --layout "C=(1,40):(40,1)" | FileCheck %s --check-prefix=WIDE
// WIDE: C (1,40), sums of 64: right
!n = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!w = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
func.func @narrow(%A: !n, %B: !n, %C: !n) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
func.func @wide(%A: !w, %B: !n, %C: !n) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
