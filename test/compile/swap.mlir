// Products of few columns by warpgroups that multiply B by A, for the transpose of C.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a swap=true package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function plain | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function regions | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a swap=true tile=64x128x64 warps=4x1 teams=2 package=%t.teams.cutepkg" -o /dev/null
// RUN: cute-run %t.teams.cutepkg --device=emulator --function regions | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a swap=true tile=64x96x64 warps=4x1 split=2 package=%t.split.cutepkg" -o /dev/null
// RUN: cute-run %t.split.cutepkg --device=emulator --function regions | FileCheck %s
//
// RUN: not cute-opt %s --cute-compile="arch=sm_90a swap=true instructions=mma package=%t.none.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MMA
// RUN: not cute-opt %s --cute-compile="arch=sm_80 swap=true package=%t.none.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not cute-opt %s --cute-compile="arch=sm_90a swap=perhaps package=%t.none.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORD
//
// CHECK: right; every element compared
// CHECK: no findings
// MMA: asks for swap=true, by which warpgroups multiply B by A, and for instructions=mma; expected instructions=wgmma
// ARCH: is computed with SM90_64x64x16_F32F16F16_SS<K,K>, which exists on sm_90a alone
// WORD: swap: expected true or false, found 'perhaps'

!a = !cute.memref<f16, gmem, align<16>, "(1000,256):(256,1)">
!b = !cute.memref<f16, gmem, align<16>, "(40,256):(256,1)">
!c = !cute.memref<f16, gmem, align<16>, "(1000,40):(40,1)">
!bias = !cute.memref<f16, gmem, align<16>, "(1000,40):(0,1)">
func.func @plain(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
func.func @regions(%A: !a, %B: !b, %C: !c, %bias: !bias) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%bias) {
  ^bb0(%sum: f32, %b: f16):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %b : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %kept = arith.maximumf %moved, %zero : f32
    %y = arith.truncf %kept : f32 to f16
    cute.yield %y : f16
  }
  return
}
