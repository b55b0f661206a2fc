// The image of a package holds all of its kernels, not those of the last GPU module only.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --emit ptx --to %t.ptx %t.cutepkg
// RUN: FileCheck %s --input-file=%t.ptx
// CHECK-DAG: .entry first_kernel(
// CHECK-DAG: .entry second_kernel(

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @first(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
func.func @second(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
