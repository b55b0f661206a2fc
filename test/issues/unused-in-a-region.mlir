// What nothing uses in the region of a map decides nothing: a value that no registers of a block could hold is no error.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// CHECK: D0 (20,16,40,24), map: right

!q = !cute.memref<f16, gmem, align<16>, "(20,16,40,24):(40,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(20,16,40,24):(0,40,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(20,16,40,24):(0,24,0,1)">
!o = !cute.memref<f32, gmem, align<16>, "(20,16,40,24):(24,0,0,1)">
func.func @attention(%Q: !q, %K: !k, %V: !v, %O: !o) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O : !o) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %score = cute.all_reduce "add" %qk along [2] : f32
    %most = cute.all_reduce "maximum" %score along [1] : f32
    %less = arith.subf %score, %most : f32
    %p = math.exp %less : f32
    %sum = cute.all_reduce "add" %p along [1] : f32
    %narrow = arith.truncf %p : f32 to f16
    %pw = arith.extf %narrow : f16 to f32
    %pv = arith.mulf %pw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %unused = arith.maximumf %p, %o : f32
    %result = arith.divf %o, %sum : f32
    cute.yield %result : f32
  }
  return
}
