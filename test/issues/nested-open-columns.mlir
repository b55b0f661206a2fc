// Columns of several extents that only a launch knows, reduced: elements are addressed one by one, and no extent has to be a multiple of anything.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-NOT: spill_loads = {{[1-9]}}
// RUN: cute-run %t.cutepkg --device=emulator --layout "E0=((6,10),8,(4,4)):((16,128),2048,(0,1))" --layout "D0=((6,10),8,(4,4)):((128,768),16,(1,4))" --layout "D1=((6,10),8,(4,4)):((128,768),16,(1,4))" | FileCheck %s --check-prefix=RIGHT
// RIGHT: D0 (60,8,16), map: right
// RIGHT: D1 (60,8,16), map: right

!T0 = !cute.memref<f16, gmem, align<8>, "((?{div=2},?{div=2}),8,(4,4)):((?{i64},?),?,(0,?))">
!T1 = !cute.memref<f16, gmem, align<8>, "((?{div=2},?),?,(?{div=4},4)):((?{div=16},?{div=16}),16,(1,4))">
!T2 = !cute.memref<f16, gmem, align<16>, "((?{i64 div=2},?{div=2}),8,(4,4)):((?,?{div=16}),16,(1,4))">
func.func @map(%T0: !T0, %T1: !T1, %T2: !T2) {
  cute.map ins(%T0 : !T0) outs(%T1, %T2 : !T1, !T2) {
  ^bb0(%e0: f16):
    %v0 = arith.mulf %e0, %e0 : f16
    %v1 = cute.all_reduce "minimum" %e0 along [0, 1, 2] : f16
    %v2 = arith.subf %v0, %v1 : f16
    %v3 = arith.constant 0.0625 : f16
    %v4 = arith.mulf %v2, %v3 : f16
    cute.yield %v0, %v4 : f16, f16
  }
  return
}
