// A tensor that begins behind the first element of an argument has no place in a package: the function says nothing of what it computes, and a warning says so.
//
// RUN: cute-opt %s --cute-tile=arch=sm_80 -o %t.mlir 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: FileCheck %s --input-file=%t.mlir
// WARNING: [[@LINE+14]]:3: warning: 'cute.contract' op has a tensor that begins neither with an argument of the function nor with a cute.workspace, so that a package does not say what the function computes
// CHECK: func.func @inside
// CHECK-SAME: cute.computes = []

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @inside(%A: !h, %B: !h, %C: !c, %D: !c) {
  cute.contract ins(%A, %B) outs(%D) accumulate f32
  %start = cute.get_iter(%A)
  %row = cute.static : !cute.int_tuple<"64">
  %second = cute.add_offset(%start, %row)
  %rows = cute.make_view(%second, "(63,64):(64,1)")
  %first = cute.get_iter(%C)
  %stored = cute.make_view(%first, "(63,64):(64,1)")
  cute.contract ins(%rows, %B) outs(%stored) accumulate f32
  return
}
