// A plan that an error names is one for any launch: what is asked for is one kernel, whose lines may begin anywhere.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma" --split-input-file --verify-diagnostics
// RUN: sed 's/expected-error/no-error/' %s > %t.mlir
// RUN: cute-opt %t.mlir --cute-tile="arch=sm_90a tile=64x64x32 warps=2x2 stages=4 instructions=mma" --split-input-file -o /dev/null

!a = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=16},1)">
!b = !cute.memref<f16, gmem, align<2>, "(383,255,8):(1,383,97665)">
!c = !cute.memref<f16, gmem, align<16>, "(?,383):(384,1)">
!g = !cute.memref<i64, gmem, align<8>, "(8):(2)">
func.func @groups(%A: !a, %B: !b, %C: !c, %G: !g) {
  // expected-error @below {{as TMA asks; tile=64x64x32 warps=2x2 stages=4 instructions=mma fits}}
  cute.contract ins(%A, %B) outs(%C) accumulate f16 groups M(%G)
  return
}
