// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=128x128x128" --split-input-file | FileCheck %s --check-prefix=TILE
// RUN: cute-opt %s --cute-tile="arch=sm_90a" --split-input-file | FileCheck %s --check-prefix=CHOSEN

// The loop along K has two turns in one where their number is even and a thread has registers for two sets of sums: the second's products go on while the sums of the first are added. Two
// teams, of which one would wait while the other adds, are not chosen.

// CHOSEN-NOT: teams = 2

// TILE: gpu.func @even_kernel
// TILE: cute.block.gemm(%{{[0-9]+}}, %{{[0-9]+}}, %[[FIRST:[0-9]+]]) {overwrite}
// TILE-NOT: cute.block.promote
// TILE: cute.block.gemm(%{{[0-9]+}}, %{{[0-9]+}}, %[[SECOND:[0-9]+]]) {overwrite}
// TILE: cute.block.promote(%[[FIRST]],
// TILE: cute.block.promote(%[[SECOND]],
// TILE: cute.stages = 3
func.func @even(%A: !cute.memref<f8E4M3FN, gmem, align<16>, "(2048,1536):(1536,1)">, %B: !cute.memref<f8E4M3FN, gmem, align<16>, "(4096,1536):(1536,1)">,
    %C: !cute.memref<bf16, gmem, align<16>, "(2048,4096):(4096,1)">, %of_A: !cute.memref<f32, gmem, align<4>, "(2048,(128,12)):(1,(0,2048))">) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%of_A) {
  ^bb0(%a: f8E4M3FN, %scale: f32):
    cute.yield %a, %scale : f8E4M3FN, f32
  }
  return
}

// -----

// TILE: gpu.func @odd_kernel
// TILE: cute.block.gemm(%{{[0-9]+}}, %{{[0-9]+}}, %[[SUMS:[0-9]+]]) {overwrite}
// TILE-NOT: cute.block.gemm
// TILE: cute.block.promote(%[[SUMS]],
// TILE-NOT: cute.block.promote
// TILE: cute.stages = 6
func.func @odd(%A: !cute.memref<f8E4M3FN, gmem, align<16>, "(2048,1664):(1664,1)">, %B: !cute.memref<f8E4M3FN, gmem, align<16>, "(4096,1664):(1664,1)">,
    %C: !cute.memref<bf16, gmem, align<16>, "(2048,4096):(4096,1)">, %of_A: !cute.memref<f32, gmem, align<4>, "(2048,(128,13)):(1,(0,2048))">) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%of_A) {
  ^bb0(%a: f8E4M3FN, %scale: f32):
    cute.yield %a, %scale : f8E4M3FN, f32
  }
  return
}
