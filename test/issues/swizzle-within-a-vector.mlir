// A swizzle of bits below 16 bytes takes vectors apart: cp.async and ldmatrix would be misaligned.
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 swizzle=S<3,2,3>" -o /dev/null 2>&1 | FileCheck %s
// CHECK: error: {{.*}}S<3,2,3>

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
