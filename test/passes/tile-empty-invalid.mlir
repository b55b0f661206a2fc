// What is reduced of no elements has no place: outputs have the shape of all.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!m = !cute.memref<f32, gmem, align<4>, "(5,0):(1,1)">
!s = !cute.memref<f32, gmem, align<4>, "(5,0):(1,0)">
func.func @sums(%X: !m, %Y: !s) {
  // expected-error @below {{'cute.map' op reduces along mode 1, which has no elements, so that an output of that shape, (5,0):(1,1), has none either; expected at least one element: what comes of none, as 0 of a sum, is stored by a cute.map of one element along the mode}}
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    %y = cute.all_reduce "add" %x along [1] : f32
    cute.yield %y : f32
  }
  return
}

// -----

!q = !cute.memref<f16, gmem, align<2>, "(33,50,0):(1,0,1)">
!k = !cute.memref<f16, gmem, align<2>, "(33,50,0):(0,1,1)">
!o = !cute.memref<f32, gmem, align<4>, "(33,50,0):(50,1,0)">
func.func @scores(%Q: !q, %K: !k, %O: !o) {
  // expected-error @below {{'cute.map' op reduces along mode 2, which has no elements}}
  cute.map ins(%Q, %K) outs(%O) {
  ^bb0(%q: f16, %k: f16):
    %x = arith.extf %q : f16 to f32
    %y = arith.extf %k : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = cute.all_reduce "add" %p along [2] : f32
    cute.yield %s : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(5,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(0,16):(16,1)">
!c = !cute.memref<f16, gmem, align<2>, "(5,0):(1,1)">
!r = !cute.memref<f32, gmem, align<4>, "(5,0):(1,0)">
func.func @rows(%A: !a, %B: !b, %C: !c, %R: !r) {
  // expected-error @below {{'cute.contract' op reduces along mode 1, which has no elements}}
  cute.contract ins(%A, %B) outs(%C, %R reduce add) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to f16
    cute.yield %y, %sum : f16, f32
  }
  return
}

// -----

// Extents that are known differ, whatever has no elements.
!a = !cute.memref<f16, gmem, align<16>, "(5,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(7,0):(16,1)">
!c = !cute.memref<f16, gmem, align<2>, "(5,7):(7,1)">
func.func @extents(%A: !a, %B: !b, %C: !c) {
  // expected-error @below {{'cute.contract' op expected the same K of A and B, found 16 and 0: A is (5,16), B is (7,?{div=0}), C is (5,7)}}
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
