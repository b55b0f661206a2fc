// Of five warpgroups a launch gives each thread 96 registers, so that 480 of the 512 for a thread of each are theirs. Four that multiply had asked for 120 each beside the
// 32 of the one that loads, and waited for ever: on a GPU, too.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x64x64 warps=8x1 teams=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 | FileCheck %s
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// CHECK: C (384,192), sums of 128: right
// CHECK: no findings
// INFO: block 640x1x1

!A = !cute.memref<f16, gmem, align<16>, "(384,128):(128,1)">
!B = !cute.memref<f16, gmem, align<16>, "(192,128):(128,1)">
!C = !cute.memref<f16, gmem, align<16>, "(384,192):(192,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
