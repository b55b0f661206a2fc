// C = A B^T on f16, accumulated in f32: A (M,K) and B (N,K) K-major, C (M,N) row-major.
func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">,
                %B: !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">,
                %C: !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
