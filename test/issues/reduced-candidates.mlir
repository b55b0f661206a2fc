// Candidates for a product whose second output is reduced: each finishes what blocks have of a line.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 candidates=3 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a candidates=3 package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator | FileCheck %s
// CHECK-COUNT-2: D1 {{.*}}: right
// RUN: cute-run %t.80.cutepkg --device=emulator --tune --tune-by instructions | FileCheck %s --check-prefix=TUNE
// TUNE-COUNT-3: | right |

!a = !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(256,256):(256,1)">
!r = !cute.memref<f32, gmem, align<4>, "(256,256):(1,0)">
func.func @largest_of_rows(%A: !a, %B: !a, %C: !c, %R: !r) {
  cute.contract ins(%A, %B) outs(%C, %R reduce maximum) accumulate f32 epilogue {
  ^bb0(%s: f32):
    cute.yield %s, %s : f32, f32
  }
  return
}
