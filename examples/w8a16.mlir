// Weights of 8 bits with a scale for each column of the product, as one kernel: C = A (s W)^T, A (M,K) the inputs, W (N,K) the weights.
//
//     cute-opt examples/w8a16.mlir --cute-compile="arch=sm_90a package=w8a16.cutepkg" -o /dev/null
//     cute-run w8a16.cutepkg --bench
//
// What is multiplied is said by a region, which the threads that multiply compute in registers: half of the bytes of f16 weights are read, and nothing
// is written in between. `cute-run` verifies by the same region.
!inputs = !cute.memref<f16, gmem, align<16>, "(16,8192):(8192,1)">
!weights = !cute.memref<i8, gmem, align<16>, "(8192,8192):(8192,1)">
// The same along K: a stride of 0.
!scales = !cute.memref<f16, gmem, align<16>, "(8192,8192):(1,0)">

func.func @w8a16(%A: !inputs, %W: !weights, %C: !inputs, %scale: !scales) {
  cute.contract ins(%A, %W) outs(%C) accumulate f32 prologue B ins(%scale) {
  ^bb0(%w: i8, %s: f16):
    %f = arith.sitofp %w : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
