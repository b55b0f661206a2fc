// A GEMM that every configuration of the tests divides.
!t = !cute.memref<f16, gmem, align<16>, "(768,768):(768,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
