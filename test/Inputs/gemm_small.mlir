// A GEMM that is emulated in no time.
!a = !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !a, %B: !a, %C: !c) {
  cute.contract ins(%A, %B : !a, !a) outs(%C : !c) accumulate f32
  return
}
