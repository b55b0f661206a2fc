// Products of warpgroups that are refused where they stand: C of types that sums are not rounded to, and plans that do not fit, with one that does.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a" --split-input-file --verify-diagnostics
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a split=99" 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a cluster=3x5" 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a teams=3" 2>&1 | FileCheck %s --check-prefix=TEAMS
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a tile=128x128x64 teams=3" 2>&1 | FileCheck %s --check-prefix=NONE
// SPLIT: gemm_f16_512.mlir:5:3: error: 'cute.contract' op split is at most 32, found 99; tile={{.*}} instructions=wgmma {{.*}} fits
// CLUSTER: 'cute.contract' op expected rows of whole swizzle patterns for each of 5 blocks of a cluster that share a load, {{.*}}; tile={{.*}} instructions=wgmma {{.*}} fits
// TEAMS: 'cute.contract' op expected 1 or 2 teams, or a tile and its warps for others, found teams=3; tile={{.*}} instructions=wgmma {{.*}} fits
// NONE: 'cute.contract' op expected teams=1 or teams=2, found tile=128x128x64 of 3 teams

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
func.func @bytes(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{sums in f32 are not rounded to i8 here yet: expected C of f32, f16 or bf16, found i8; write another type by an epilogue that converts}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
func.func @sums_of_bytes(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{sums in i32 are not rounded to i8 here yet: expected C of i32, found i8}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate i32
  return
}
