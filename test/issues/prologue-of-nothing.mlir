// Prologues of a product without elements along K: factors that are the same along K have no elements either, and nothing is read. An extent of 0 is a multiple of a tile,
// and predicates were left out as of one.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90 simplify=false tile=96x64x32 warps=1x4 stages=3 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// CHECK: C (17,14), sums of 0: right
// CHECK: no findings

!A = !cute.memref<f32, gmem, align<8>, "(17,0):(2,1)">
!B = !cute.memref<i8, gmem, align<32>, "(14,0):(1,14)">
!C = !cute.memref<f16, gmem, align<16>, "(17,14):(1,17)">
!Factor = !cute.memref<ui8, gmem, align<16>, "(17,0):(1,0)">
!Offset = !cute.memref<f16, gmem, align<16>, "(14,0):(0,0)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %Factor: !Factor, %Offset: !Offset) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 prologue A ins(%Factor : !Factor) {
  ^bb0(%x: f32, %f: i8):
    %wide = arith.uitofp %f : i8 to f32
    %scaled = arith.mulf %x, %wide : f32
    cute.yield %scaled : f32
  } prologue B ins(%Offset : !Offset) {
  ^bb0(%x: i8, %o: f16):
    %wide = arith.sitofp %x : i8 to f32
    %offset = arith.extf %o : f16 to f32
    %moved = arith.subf %wide, %offset : f32
    cute.yield %moved : f32
  }
  return
}
