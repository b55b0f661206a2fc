!X = !cute.memref<f32, gmem, "64:1">
gpu.module @kernels {
  cute.import "outer.mlir"
  cute.import "std/index"
  gpu.func @scale_kernel(%x: !X) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = cute.call @thread()
    %factor = cute.call @factor() -> f32
    %v = cute.memref.load(%x, %thread) -> f32
    %scaled = arith.mulf %v, %factor : f32
    cute.memref.store(%x, %thread, %scaled)
    gpu.return
  }
}
func.func @scale(%x: !X) {
  %grid = cute.static shape "1"
  cute.launch @kernels::@scale_kernel blocks(%grid) args(%x)
  return
}
