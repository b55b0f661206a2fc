// What cute-tile makes of a product and a map is taken as it was printed, and without warnings of regions that it left.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" -o %t.mlir
// RUN: cute-opt %t.mlir --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null 2>&1 | count 0
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// CHECK: arg2 {{.*}}: right
// CHECK: arg3 {{.*}}: right

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @two(%A: !h, %B: !h, %C: !h, %D: !h) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  cute.map ins(%C) outs(%D) {
  ^bb0(%x: f16):
    %y = arith.negf %x : f16
    cute.yield %y : f16
  }
  return
}
