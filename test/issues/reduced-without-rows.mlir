// A reduced output of a product without rows has no elements, and is verified as such.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=3 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --shape A=0x64 --shape B=64x64 --shape C=0x64 --shape R=0x64 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --shape A=40x64 --shape B=64x64 --shape C=40x64 --shape R=40x64 | FileCheck %s
// CHECK: C {{.*}}: right
// CHECK: R {{.*}}: right
!a = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!c = !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?):(1,0)">
func.func @f(%A: !a {cute.name="A"}, %B: !a {cute.name="B"}, %C: !c {cute.name="C"}, %R: !r {cute.name="R"}) {
  cute.contract ins(%A, %B) outs(%C, %R reduce maximum) accumulate f32 epilogue {
  ^bb0(%s: f32):
    %o = arith.constant 1.0 : f32
    %z = arith.addf %s, %o : f32
    cute.yield %z, %s : f32, f32
  }
  return
}
