// Numbers that overflow are refused as others are that do not fit, not with an internal error.
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 stages=9223372036854775807" -o /dev/null 2>&1 | FileCheck %s
// RUN: not cute-opt %s --cute-tile="arch=sm_80 warps=9223372036854775807x2" -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: internal error
// CHECK:     error: 'cute.gemm' op

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.gemm(%A, %B, %C) accumulate f32 : (!t, !t, !t)
  return
}
