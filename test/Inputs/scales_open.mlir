// A product with scales of groups along K, for test/compile/scales.test. It is compiled by itself, as one of its many plans spills and all is compiled once more then.

// Sizes that only a launch knows, with K of no group as well.
!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?{div=16}):(?{div=16},1)">
!b = !cute.memref<f8E5M2, gmem, align<16>, "(?,?{div=16}):(?{div=16},1)">
!sa = !cute.memref<f32, gmem, align<4>, "(?,(128,?)):(?,(0,1))">
!sb = !cute.memref<f32, gmem, align<4>, "(?,(128,?)):(1,(0,?))">
!c = !cute.memref<f32, gmem, align<4>, "(?,?):(?,1)">
func.func @open(%A: !a, %B: !b, %C: !c, %sA: !sa, %sB: !sb) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 prologue A ins(%sA : !sa) {
  ^bb0(%a: f8E4M3FN, %s: f32):
    cute.yield %a, %s : f8E4M3FN, f32
  } prologue B ins(%sB : !sb) {
  ^bb0(%b: f8E5M2, %s: f32):
    cute.yield %b, %s : f8E5M2, f32
  }
  return
}
