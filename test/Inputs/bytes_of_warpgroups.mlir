// Weights of bytes with a scale for each column of the product, small enough to be run often: for lowering/tests/mutants.
func.func @bytes(%A: !cute.memref<f16, gmem, align<16>, "(48,640):(640,1)">, %W: !cute.memref<i8, gmem, align<16>, "(128,640):(656,1)">,
                 %C: !cute.memref<f16, gmem, align<16>, "(48,128):(128,1)">, %scale: !cute.memref<f16, gmem, align<16>, "(128,640):(1,0)">) {
  cute.contract ins(%A, %W) outs(%C) accumulate f32 prologue B ins(%scale) {
  ^bb0(%w: i8, %s: f16):
    %f = arith.sitofp %w : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
