// Clusters whose blocks share tiles along K, of sums that are not sent so.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma cluster=1x1x2" --verify-diagnostics

!A = !cute.memref<f16, gmem, align<16>, "(256,128):(128,1)">
!C = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @half(%A: !A, %B: !A, %C: !C) {
  // expected-error @+1 {{expected sums of 32 bits where blocks of a cluster share a tile along K}}
  cute.contract ins(%A, %B : !A, !A) outs(%C : !C) accumulate f16
  return
}
