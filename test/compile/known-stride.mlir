// Rows of C are a known number of elements apart, and only a launch knows how long they are: longer ones would overlap, and are refused.

// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape A=16x64 --shape B=64x64 --shape C=16x64
// RUN: cute-run %t.cutepkg --device=emulator --shape A=1x64 --shape B=104x64 --shape C=1x104
// RUN: %python %inputs/status.py 2 cute-run %t.cutepkg --device=emulator --shape A=16x64 --shape B=104x64 --shape C=16x104 2>&1 | FileCheck %s

// CHECK: expected elements of C that do not overlap: a stride of mode 0 that is at least the extent of mode 1
func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">, %B: !cute.memref<f16, gmem, align<16>, "(?{div=8},?{div=8}):(?{div=8},1)">,
                %C: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(64,1)">) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
