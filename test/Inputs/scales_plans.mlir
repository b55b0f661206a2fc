// A product with scales by whatever plan is asked for, for test/compile/scales.test.

!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(136,1024):(1024,1)">
!b = !cute.memref<f8E4M3FN, gmem, align<16>, "(256,1024):(1024,1)">
!sa = !cute.memref<f32, gmem, align<4>, "(136,(128,8)):(1,(0,136))">
!sb = !cute.memref<f32, gmem, align<4>, "((128,2),(128,8)):((0,8),(0,1))">
!c = !cute.memref<bf16, gmem, align<16>, "(136,256):(256,1)">
func.func @scaled(%A: !a, %B: !b, %C: !c, %sA: !sa, %sB: !sb) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 prologue A ins(%sA : !sa) {
  ^bb0(%a: f8E4M3FN, %s: f32):
    cute.yield %a, %s : f8E4M3FN, f32
  } prologue B ins(%sB : !sb) {
  ^bb0(%b: f8E4M3FN, %s: f32):
    cute.yield %b, %s : f8E4M3FN, f32
  }
  return
}
