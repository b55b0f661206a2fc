// A map of one column: an output whose value is computed for that column has elements for the columns of products along columns.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// CHECK: D0 (3,40,1,24,64), map: right
// CHECK: D1 (3,40,1,24,64), map: right
// CHECK: D2 (3,40,1,24,64), map: right

!q = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(1536,0,0,64,1)">
!k = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(64,0,64,0,1)">
!v = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(0,1,40,0,0)">
!wide = !cute.memref<f32, gmem, align<16>, "(3,40,1,24,64):(960,1,0,40,0)">
!half = !cute.memref<f16, gmem, align<16>, "(3,40,1,24,64):(960,1,0,40,0)">
!column = !cute.memref<f32, gmem, align<16>, "(3,40,1,24,64):(24,0,24,1,0)">
func.func @spread(%Q: !q, %K: !k, %V: !v, %O: !wide, %S: !half, %C: !column) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O, %S, %C : !wide, !half, !column) {
  ^bb0(%q: bf16, %k: bf16, %v: bf16):
    %qw = arith.extf %q : bf16 to f32
    %kw = arith.extf %k : bf16 to f32
    %vw = arith.extf %v : bf16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %score = cute.all_reduce "add" %qk along [4] : f32
    %short = arith.truncf %score : f32 to f16
    %p = arith.truncf %score : f32 to bf16
    %pw = arith.extf %p : bf16 to f32
    %pv = arith.mulf %pw, %vw : f32
    %o = cute.all_reduce "add" %pv along [2] : f32
    cute.yield %o, %short, %score : f32, f16, f32
  }
  return
}
