// A multiple of both a vector's elements and this divisor has no 64 bits: there is no case of rows of whole vectors.
// RUN: cute-opt %s --cute-tile=arch=sm_80 | FileCheck %s
!x = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=9223372036854775807},1)">
!y = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
// CHECK-LABEL: func.func @copy
// CHECK:         gpu.launch_func
func.func @copy(%X: !x, %Y: !y) {
  cute.map ins(%X : !x) outs(%Y : !y) {
  ^bb0(%x: f16):
    cute.yield %x : f16
  }
  return
}
