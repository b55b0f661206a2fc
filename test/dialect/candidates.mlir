// The choice among candidates, in functions that launch.
//
// RUN: cute-opt %s --verify-roundtrip -o /dev/null
// RUN: cute-opt %s --cse --canonicalize | FileCheck %s

// Two products of one shape have a choice each.
// CHECK-LABEL: func.func @two
// CHECK:         cute.candidates of(%arg0, %arg0, %arg0, %arg0) plans ["tile=64x64x64", "tile=32x32x64"] problems ["f16", "f16"] generation 1 take(%arg0, %arg0)
// CHECK:         cute.candidates of(%arg0, %arg0, %arg0, %arg0) plans ["tile=64x64x64", "tile=32x32x64"] problems ["f16", "f16"] generation 1 take(%arg0, %arg0)
func.func @two(%n: index) -> (index, index) {
  %a = cute.candidates of(%n, %n, %n, %n) plans ["tile=64x64x64", "tile=32x32x64"] problems ["f16", "f16"] generation 1 take(%n, %n)
  %b = cute.candidates of(%n, %n, %n, %n) plans ["tile=64x64x64", "tile=32x32x64"] problems ["f16", "f16"] generation 1 take(%n, %n)
  return %a, %b : index, index
}

// One plan is a candidate for two kinds of product.
// CHECK-LABEL: func.func @kinds
// CHECK:         take(%arg0, %arg0) {left_out = array<i64: 1>}
func.func @kinds(%n: index) -> index {
  %a = cute.candidates of(%n, %n, %n, %n) plans ["tile=64x64x64", "tile=64x64x64"] problems ["f16", "bf16"] generation 1 take(%n, %n) {left_out = array<i64: 1>}
  return %a : index
}
