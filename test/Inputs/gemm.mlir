// A GEMM that every configuration of the tests divides.
!t = !cute.memref<f16, gmem, align<16>, "(768,768):(768,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.gemm(%A, %B, %C) accumulate f32 : (!t, !t, !t)
  return
}
