// A small problem: few blocks, all of a pipeline's prologue and drain.
//
// GPU: arch=sm_90a
// GPU: arch=sm_80 tile=64x64x32 warps=2x2 stages=4
// GPU: arch=sm_90a tile=32x32x64 warps=1x1 stages=1 swizzle=none
// GPU: arch=sm_90a tile=16x16x16 warps=1x1 stages=3 raster=1

!A = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
!B = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
!C = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
