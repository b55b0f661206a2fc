// Rows of A and C further apart than they are long; extents that are no powers of two.
//
// GPU: arch=sm_90a
// GPU: arch=sm_90a tile=96x128x64 warps=2x2 stages=2
// GPU: arch=sm_90a tile=64x64x64 warps=2x2 stages=3 swizzle=none

!A = !cute.memref<f16, gmem, align<16>, "(384,192):(200,1)">
!B = !cute.memref<f16, gmem, align<16>, "(640,192):(192,1)">
!C = !cute.memref<f16, gmem, align<16>, "(384,640):(648,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
