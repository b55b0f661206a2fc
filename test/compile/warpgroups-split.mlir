// Products of whole tensors by warpgroups, several of which share each tile's sums, a range of K each: right on the emulator, which fills the workspace with
// garbage, also where ranges are not as long as each other or empty, and where what is stored is computed of the sums.
//
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a instructions=wgmma split=2 package=%t-2.cutepkg" -o /dev/null
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a instructions=wgmma split=3 package=%t-3.cutepkg" -o /dev/null
// RUN: cute-run %t-3.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t-2.cutepkg --function along_k --device=emulator --sms 3 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function along_m_n --device=emulator --sms 3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function columns --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function integers --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function bytes --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function tf32 --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function batch --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function odd --device=emulator --sms 3 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function epilogue --device=emulator --sms 3 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function open --device=emulator --sms 2 --shape A=200x136 --shape B=264x136 --shape C=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function open --device=emulator --sms 2 --shape A=64x0 --shape B=72x0 --shape C=64x72 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-3.cutepkg --function open --device=emulator --sms 2 --shape A=0x64 --shape B=264x64 --shape C=0x264 | FileCheck %s --check-prefix=RIGHT
//
// INFO: launch 1: along_k_kernel_parts(
//
// RIGHT: : right;
// RIGHT: no findings
//
// A few rows and columns of very long sums are shared by as many blocks as there are multiprocessors, if nothing is asked for.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a sms=132" | FileCheck %s
//
// CHECK-LABEL: gpu.func @long_sums_kernel(
// CHECK: cute_nvgpu.tma_load
// CHECK-LABEL: gpu.func @long_sums_kernel_parts(
//
// Clusters are of blocks that compute tiles of their own.
//
// RUN: not cute-opt %s --cute-tile="arch=sm_90a split=2 cluster=2x1" 2>&1 | FileCheck %s --check-prefix=CLUSTER
//
// CLUSTER: error: 'cute.contract' op expected clusters of one block where K is split, found 2x1x1 and split = 2

!long = !cute.memref<f16, gmem, align<16>, "(256,32768):(32768,1)">
!C = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @long_sums(%A: !long {cute.name = "A"}, %B: !long {cute.name = "B"}, %C: !C {cute.name = "C"}) {
  cute.contract ins(%A, %B : !long, !long) outs(%C : !C) accumulate f32
  return
}
