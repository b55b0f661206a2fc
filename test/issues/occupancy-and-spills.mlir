// ptxas prefers more blocks of a multiprocessor to registers, and spills for them, unless it is told
// that one block is enough.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=64x64x64 warps=4x1 stages=3 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --emit ptx --to %t.ptx %t.cutepkg
// RUN: FileCheck %s --input-file=%t.ptx
// CHECK: .visible .entry gemm_kernel(
// CHECK: .minnctapersm 1
// CHECK: ret;

!t = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
