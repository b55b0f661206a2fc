// Products with prologues of 8-bit floating-point numbers, for test/compile/prologues.test.

!a = !cute.memref<f16, gmem, align<16>, "(40,72):(72,1)">
!e4 = !cute.memref<f8E4M3FN, gmem, align<16>, "(56,72):(72,1)">
!c = !cute.memref<f16, gmem, align<16>, "(40,56):(56,1)">
!rows = !cute.memref<f16, gmem, align<16>, "(56,72):(1,0)">
func.func @e4m3(%A: !a, %B: !e4, %C: !c, %scale: !rows) {
  cute.contract ins(%A, %B : !a, !e4) outs(%C : !c) accumulate f32 prologue B ins(%scale : !rows) {
  ^bb0(%b: f8E4M3FN, %s: f16):
    %f = arith.extf %b : f8E4M3FN to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

// Of elements one by one, and scales of 8 bits.
!a1 = !cute.memref<bf16, gmem, "(33,37):(37,1)">
!e5 = !cute.memref<f8E5M2, gmem, "(35,37):(37,1)">
!c1 = !cute.memref<f32, gmem, "(33,35):(35,1)">
!s1 = !cute.memref<f8E4M3FN, gmem, "(35,37):(1,0)">
func.func @e5m2(%A: !a1, %B: !e5, %C: !c1, %scale: !s1) {
  cute.contract ins(%A, %B : !a1, !e5) outs(%C : !c1) accumulate f32 prologue B ins(%scale : !s1) {
  ^bb0(%b: f8E5M2, %s: f8E4M3FN):
    %f = arith.extf %b : f8E5M2 to f32
    %g = arith.extf %s : f8E4M3FN to f32
    %y = arith.mulf %f, %g : f32
    %x = arith.truncf %y : f32 to bf16
    cute.yield %x : bf16
  }
  return
}
