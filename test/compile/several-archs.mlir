// One package for several architectures: the plan fits all of them, and each has an image of its own.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a,sm_80,sm_86 package=%t.cutepkg" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --arch=sm_86 | FileCheck %s --check-prefix=SM86
// RUN: not cute-opt %s --cute-compile="arch=sm_90a,sm_75" 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not cute-opt %s --cute-compile="arch=sm_90a,sm_90a" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not cute-opt %s --cute-compile="arch=sm_90a,sm_86 tile=128x256x64 warps=2x4 stages=3" 2>&1 | FileCheck %s --check-prefix=ROOM

// CHECK: gpu.binary @gemm_kernels
// CHECK-SAME: chip = "sm_90a"
// CHECK-SAME: chip = "sm_80"
// CHECK-SAME: chip = "sm_86"
// INFO: image sm_80: PTX of {{.*}} cubin of
// INFO: image sm_86: PTX of {{.*}} cubin of
// INFO: image sm_90a: PTX of {{.*}} cubin of
// SM86: {{.*}}gemm, sm_86 PTX
// SM86: C (64,64), sums of 64: right
// LACKS: error: 'cute.contract' op is computed with SM80_CP_ASYNC_16, which exists on sm_80 and later; found arch=sm_75
// TWICE: arch: expected each architecture once, found sm_90a twice
// ROOM: 3 stages of 128x256x64 need 147456 bytes of shared memory, sm_86 has 101376: 49152 by A, 98304 by B, then 65536 by C; tile=128x256x64 warps=2x4 stages=2 fits
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
