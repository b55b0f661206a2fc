// A function that is only declared launches nothing, and is no reason to fail.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --info %t.cutepkg | FileCheck %s
// CHECK: function gemm

func.func private @elsewhere()
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
