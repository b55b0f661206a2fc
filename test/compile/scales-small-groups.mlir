// Scales of groups along K that no tile of numbers of 8 bits divides: f16 is made of these, exactly, as where no tensor core multiplies them.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.90.cutepkg --device=emulator --function of_16 | FileCheck %s
// RUN: cute-run %t.90.cutepkg --device=emulator --function of_48 | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_89 package=%t.89.cutepkg" -o /dev/null
// RUN: cute-run %t.89.cutepkg --device=emulator --function of_16 | FileCheck %s
// RUN: cute-run %t.89.cutepkg --emit ptx --to %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx
//
// CHECK: right; every element compared
// CHECK: no findings
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

!a = !cute.memref<f8E4M3FN, gmem, align<1>, "(33,80):(80,1)">
!b = !cute.memref<f8E4M3FN, gmem, align<1>, "(40,80):(80,1)">
!sa = !cute.memref<f32, gmem, align<4>, "(33,(16,5)):(1,(0,33))">
!sb = !cute.memref<f32, gmem, align<4>, "(40,(16,5)):(5,(0,1))">
!c = !cute.memref<f32, gmem, align<4>, "(33,40):(40,1)">
func.func @of_16(%A: !a, %B: !b, %C: !c, %sA: !sa, %sB: !sb) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%sA) {
  ^bb0(%x: f8E4M3FN, %s: f32):
    cute.yield %x, %s : f8E4M3FN, f32
  } prologue B ins(%sB) {
  ^bb0(%x: f8E4M3FN, %s: f32):
    cute.yield %x, %s : f8E4M3FN, f32
  }
  return
}

!a2 = !cute.memref<f8E4M3FN, gmem, align<1>, "(33,96):(96,1)">
!b2 = !cute.memref<f8E4M3FN, gmem, align<1>, "(40,96):(96,1)">
!sa2 = !cute.memref<f32, gmem, align<4>, "(33,(48,2)):(1,(0,33))">
!sb2 = !cute.memref<f32, gmem, align<4>, "(40,(48,2)):(2,(0,1))">
!c2 = !cute.memref<f32, gmem, align<4>, "(33,40):(40,1)">
func.func @of_48(%A: !a2, %B: !b2, %C: !c2, %sA: !sa2, %sB: !sb2) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%sA) {
  ^bb0(%x: f8E4M3FN, %s: f32):
    cute.yield %x, %s : f8E4M3FN, f32
  } prologue B ins(%sB) {
  ^bb0(%x: f8E4M3FN, %s: f32):
    cute.yield %x, %s : f8E4M3FN, f32
  }
  return
}
