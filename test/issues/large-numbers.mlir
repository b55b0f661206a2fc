// Numbers that overflow are refused as others are that do not fit, not with an internal error.
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 stages=9223372036854775807" -o /dev/null 2>&1 | FileCheck %s
// RUN: not cute-opt %s --cute-tile="arch=sm_80 warps=9223372036854775807x2" -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: internal error
// CHECK:     error: 'cute.contract' op

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
