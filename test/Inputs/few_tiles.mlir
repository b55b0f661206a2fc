// A product with 25 tiles of 32x32, for test/compile/stream-k.test.
!t = !cute.memref<f16, gmem, align<16>, "(160,96):(96,1)">
!c = !cute.memref<f16, gmem, align<16>, "(160,160):(160,1)">
func.func @gemm(%A: !t, %B: !t, %C: !c) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}
