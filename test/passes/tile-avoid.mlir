// A plan that is avoided is not chosen: by its name, or with all of which a thread has as many elements. Where nothing is left, what has the fewest is.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: tile = 128x256x64
// RUN: cute-opt %s --cute-tile="avoid=128x256x64-2x4-3-1 arch=sm_80" | FileCheck %s --check-prefix=NAMED
// NAMED-NOT: tile = 128x256x64, stages = 3
// RUN: cute-opt %s --cute-tile="avoid=128x256x64-2x4-3-1+224held arch=sm_80" | FileCheck %s --check-prefix=HELD
// HELD: tile = 128x128x32
// RUN: cute-opt %s --cute-tile="avoid=96held arch=sm_80" | FileCheck %s --check-prefix=FEWER
// FEWER: tile = 64x64x32
// RUN: cute-opt %s --cute-tile="avoid=1held arch=sm_80" | FileCheck %s --check-prefix=LEAST
// LEAST: tile = 16x16x16
// RUN: %python %inputs/status.py 1 cute-opt %s --cute-tile="avoid=0held arch=sm_80" 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: cute-tile: avoid: expected tile, warps, stages and split of plans, such as 128x256x64-2x4-3-1, or a number of elements of a thread, such as 64held, or stays, joined by +, found '0held'

!A = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
!C = !cute.memref<f32, gmem, align<16>, "(4096,4096):(4096,1)">
func.func @gemm(%A: !A, %B: !A, %C: !C) {
  cute.contract ins(%A, %B : !A, !A) outs(%C : !C) accumulate f32
  return
}
