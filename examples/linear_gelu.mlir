// A linear layer with its activation, as one kernel: C = gelu(A B^T + bias), A (M,K) the inputs, B (N,K) the weights, a bias for each column.
//
//     cute-opt examples/linear_gelu.mlir --cute-compile="arch=sm_90a package=linear_gelu.cutepkg" -o /dev/null
//     cute-run linear_gelu.cutepkg --bench
//
// GELU is 0.5 x (1 + erf(x / sqrt(2))). What is stored is said once: `cute-run` verifies it by the same region.
!matrix = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
// The same for all rows: a stride of 0.
!bias = !cute.memref<f16, gmem, align<16>, "(4096,4096):(0,1)">

func.func @linear_gelu(%A: !matrix, %B: !matrix, %C: !matrix, %bias: !bias) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%bias) {
  ^bb0(%sum: f32, %b: f16):
    %half = arith.constant 0.5 : f32
    %root = arith.constant 0.70710678 : f32
    %wide = arith.extf %b : f16 to f32
    %x = arith.addf %sum, %wide : f32
    %u = arith.mulf %x, %root : f32
    %e = math.erf %u : f32
    %h = arith.mulf %x, %half : f32
    %y = math.fma %h, %e, %h : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c : f16
  }
  return
}
