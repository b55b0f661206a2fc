// Infinities as constants of regions, which are how scores are masked: a package has them, and what follows from them is verified.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function attention | FileCheck %s --check-prefix=ATTENTION
// ATTENTION-COUNT-2: D0 {{.*}}: right; every element compared
// ATTENTION-NOT: not compared
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function largest | FileCheck %s --check-prefix=LARGEST
// LARGEST-COUNT-2: D0 {{.*}}: right; every element compared
// RUN: cute-run --info %t.80.cutepkg | FileCheck %s --check-prefix=INFO
// INFO: select(E3(i,j,k,l) > 0, {{.*}}, -inf)

!q = !cute.memref<f16, gmem, align<16>, "(20,150,64,64):(64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(20,150,64,64):(0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(20,150,64,64):(0,64,0,1)">
!m = !cute.memref<f32, gmem, align<4>, "(20,150,64,64):(150,1,0,0)">
!o = !cute.memref<f32, gmem, align<16>, "(20,150,64,64):(64,0,0,1)">
func.func @attention(%Q: !q, %K: !k, %V: !v, %M: !m, %O: !o) {
  cute.map ins(%Q, %K, %V, %M) outs(%O) {
  ^bb0(%q: f16, %k: f16, %v: f16, %mask: f32):
    %zero = arith.constant 0.0 : f32
    %masked = arith.constant 0xFF800000 : f32
    %wide_q = arith.extf %q : f16 to f32
    %wide_k = arith.extf %k : f16 to f32
    %product = arith.mulf %wide_q, %wide_k : f32
    %all = cute.all_reduce "add" %product along [2] : f32
    %is = arith.cmpf ogt, %mask, %zero : f32
    %score = arith.select %is, %all, %masked : f32
    %most = cute.all_reduce "maximum" %score along [1] : f32
    %less = arith.subf %score, %most : f32
    %power = math.exp %less : f32
    %sum = cute.all_reduce "add" %power along [1] : f32
    %narrow = arith.truncf %power : f32 to f16
    %p = arith.extf %narrow : f16 to f32
    %wide_v = arith.extf %v : f16 to f32
    %weighted = arith.mulf %p, %wide_v : f32
    %mean = cute.all_reduce "add" %weighted along [1] : f32
    %o = arith.divf %mean, %sum : f32
    cute.yield %o : f32
  }
  return
}

!x = !cute.memref<f32, gmem, align<16>, "(8,64):(64,1)">
!i = !cute.memref<i8, gmem, align<16>, "(8,64):(64,1)">
!s = !cute.memref<f32, gmem, align<4>, "(8,64):(1,0)">
func.func @largest(%X: !x, %M: !i, %S: !s) {
  cute.map ins(%X, %M) outs(%S) {
  ^bb0(%x: f32, %m: i8):
    %none = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0 : i8
    %is = arith.cmpi sgt, %m, %zero : i8
    %v = arith.select %is, %x, %none : f32
    %r = cute.all_reduce "maximum" %v along [1] : f32
    cute.yield %r : f32
  }
  return
}
