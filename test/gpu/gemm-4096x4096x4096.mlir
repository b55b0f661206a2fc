// Several waves of blocks.
//
// GPU: arch=sm_90a
// GPU: arch=sm_90a tile=128x256x32 warps=2x4 stages=3
// GPU: arch=sm_90a tile=256x128x32 warps=4x2 stages=3
// GPU: arch=sm_80 tile=128x128x64 warps=2x2 stages=3

!A = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
!B = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
!C = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
