// Bytes of B that lie two apart, up to the tensor's end: LLVM loads them as vectors where PTX can say which bytes of a vector are used (8.3 on), and the emulator reads no others.
//
// RUN: cute-opt %s --cute-compile="arch=sm_120 package=%t.120.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90 package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.120.cutepkg %t.90.cutepkg --device=emulator | FileCheck %s
// CHECK-COUNT-2: C (385,256), sums of 192: right
// RUN: cute-run %t.120.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// PTX: .pragma "used_bytes_mask 0x5555";

!A = !cute.memref<f8E4M3FN, gmem, align<2>, "(385,192):(192,1)">
!B = !cute.memref<f8E4M3FN, gmem, align<32>, "(256,192):(2,512)">
!C = !cute.memref<f32, gmem, align<16>, "(385,256):(256,1)">
!PA0 = !cute.memref<f32, gmem, align<16>, "(385,(64,3)):(1,(0,385))">
!PA1 = !cute.memref<f32, gmem, align<16>, "(385,(64,3)):(1,(0,385))">
func.func @gemm(%A: !A, %B: !B, %C: !C, %PA0: !PA0, %PA1: !PA1) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 prologue A ins(%PA0, %PA1 : !PA0, !PA1) {
  ^bb0(%x: f8E4M3FN, %e0: f32, %e1: f32):
    %v0 = arith.mulf %e0, %e1 : f32
    cute.yield %x, %v0 : f8E4M3FN, f32
  }
  return
}
