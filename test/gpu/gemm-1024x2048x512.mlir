// Three different extents.
//
// GPU: arch=sm_90a
// GPU: arch=sm_90a tile=128x64x64 warps=2x2 stages=3
// GPU: arch=sm_90a tile=64x256x32 warps=1x4 stages=3 raster=3
// GPU: arch=sm_90a tile=128x128x32 warps=2x2 stages=4 simplify=false

!A = !cute.memref<f16, gmem, align<16>, "(1024,512):(512,1)">
!B = !cute.memref<f16, gmem, align<16>, "(2048,512):(512,1)">
!C = !cute.memref<f16, gmem, align<16>, "(1024,2048):(2048,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
