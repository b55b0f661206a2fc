// The plan that an error names under prologue=registers has whole tiles, as such a plan needs, and helps. Where there is none the prologue stores to shared memory.
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 prologue=registers tile=256x256x64" -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=16x64x64 warps=1x4 stages=6 prologue=registers" -o /dev/null
// RUN: not cute-opt %s --cute-tile="arch=sm_80 prologue=registers tile=64x128x128 warps=1x4 stages=3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: sed "s/192/96/g" %s > %t.96.mlir
// RUN: not cute-opt %t.96.mlir --cute-tile="arch=sm_80 prologue=registers tile=256x256x64" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: not cute-opt %t.96.mlir --cute-tile="arch=sm_80 prologue=registers tile=256x256x64" -o /dev/null 2>&1 | sed -n "s/.*can be had; \(.*\) fits/\1/p" > %t.cure
// RUN: %python -c "import subprocess, sys; cure = open(sys.argv[1]).read().strip(); sys.exit(subprocess.call(['cute-opt', sys.argv[2], '--cute-tile=arch=sm_80 ' + cure, '-o', '/dev/null']))" %t.cure %t.96.mlir
//
// CHECK:  1x4 warps on 256x256 need about 922 registers a thread, at most 255 can be had; tile=16x64x64 warps=1x4 stages=6 prologue=registers fits
// The tile that was named before.
// WHOLE:  asks for prologue=registers, where each tile of what the prologue computes has to be whole; expected extents of that factor that are known, and that tile= divides, and no groups of its rows
// WHOLE-SAME: ; tile={{.*}} prologue=registers fits
// SHARED: at most 255 can be had; tile={{.*}} prologue=shared fits

!x = !cute.memref<f16, gmem, align<16>, "(192,192):(192,1)">
!w = !cute.memref<i8, gmem, align<16>, "(192,192):(192,1)">
!c = !cute.memref<f32, gmem, align<16>, "(192,192):(192,1)">
func.func @product(%X: !x, %W: !w, %C: !c) {
  cute.contract ins(%X, %W) outs(%C) accumulate f32 prologue B {
  ^bb0(%w: i8):
    %y = arith.sitofp %w : i8 to f16
    cute.yield %y : f16
  }
  return
}
