// C = A B^T as in gemm_f16.mlir, small enough for the emulator.
func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(512,256):(256,1)">,
                %B: !cute.memref<f16, gmem, align<16>, "(512,256):(256,1)">,
                %C: !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
