// The tensor of a TMA atom begins where an argument does, and may have other modes than it, such as nested ones of C made one: its map has the sizes of the view.
// test/lowering/tensor-maps.mlir has atoms by hand.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function nested | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --shape B=48x32 --layout "C=((288,2),48):((48,13824),1)" | FileCheck %s
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// CHECK: C ({{576|\(288,2\)}},{{.*}}), sums of 32: right
// CHECK: no findings
// INFO: map of C (48 x 576)

!A = !cute.memref<f16, gmem, align<16>, "(576,32):(32,1)">
!B = !cute.memref<f16, gmem, align<16>, "(48,32):(32,1)">
!C = !cute.memref<f16, gmem, align<16>, "((288,2),(8,6)):((48,13824),(1,8))">
func.func @nested(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}

!N = !cute.memref<f16, gmem, align<16>, "(?{div=16},32):(32,1)">
!O = !cute.memref<f16, gmem, align<16>, "((288,2),?{div=16}):((48,13824),1)">
func.func @open(%A: !A, %B: !N, %C: !O) {
  cute.contract ins(%A, %B : !A, !N) outs(%C : !O) accumulate f32
  return
}
