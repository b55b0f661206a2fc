// Blocks of a map that compute one row after another are as many as a multiprocessor is thought to have room for. Where their kernel spills by that, each block computes
// its own rows, as without.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: cute-run --info %t.cutepkg | FileCheck %s


// REMARK: remark: the kernel norm_kernel has too few registers for blocks that compute one row after another; each computes its own in their place
// CHECK:  norm_kernel({{.*}}), grid 20000x1x1,
!rows = !cute.memref<f16, gmem, align<16>, "(20000,4001):(4001,1)">
!line = !cute.memref<f16, gmem, align<16>, "(20000,4001):(0,1)">
func.func @norm(%x: !rows, %weight: !line, %y: !rows) {
  cute.map ins(%x, %weight) outs(%y) {
  ^bb0(%e: f16, %w: f16):
    %wide = arith.extf %e : f16 to f64
    %w64 = arith.extf %w : f16 to f64
    %p = arith.divf %wide, %w64 : f64
    %mean = cute.all_reduce "mean" %p along [1] : f64
    %off = arith.subf %p, %mean : f64
    %sq = arith.mulf %off, %off : f64
    %q = arith.divf %sq, %p : f64
    %var = cute.all_reduce "mean" %q along [1] : f64
    %n = arith.mulf %off, %var : f64
    %s = math.fma %n, %w64, %q : f64
    %out = arith.truncf %s : f64 to f16
    cute.yield %out : f16
  }
  return
}
