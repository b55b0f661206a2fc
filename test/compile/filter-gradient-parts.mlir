// The gradient of a filter by tiles that reach over several of its elements: each load brings channels of one of them into a part of a tile in shared memory.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x128x64 warps=8x1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=64x256x64 warps=4x1 teams=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x128x64 warps=8x1 cluster=2x1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x128x64 warps=8x1 split=3 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=256x128x64 warps=8x1 swap=true cluster=1x2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator | FileCheck %s
//
// CHECK: right; every element compared
// CHECK: no findings

!x = !cute.memref<f16, gmem, align<16>, "(64,14,10,2):(1,64,896,8960)">
!dy = !cute.memref<f16, gmem, align<16>, "(96,280):(1,96)">
!df = !cute.memref<f32, gmem, align<16>, "(96,576):(576,1)">
!taps = !cute.coord_tensor<"(0,-1,-1,0)", "((64,3,3),(14,10,2)):((1@0,1@1,1@2),(1@1,1@2,1@3))">
func.func @filter(%dY: !dy, %X: !x, %dF: !df) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !taps
  cute.contract ins(%dY, %X : !dy, !x) outs(%dF : !df) accumulate f32 at B(%at : !taps)
  return
}
