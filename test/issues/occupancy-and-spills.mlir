// ptxas may prefer more blocks of a multiprocessor to registers, and spill; `.minnctapersm 1` keeps it
// from that.
//
// XFAIL: *
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=64x64x64 warps=4x1 stages=3" -o /dev/null

!t = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.gemm(%A, %B, %C) accumulate f32 : (!t, !t, !t)
  return
}
