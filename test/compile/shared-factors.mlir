// Products of a batch that share a factor: it is no dimension of that factor's map, all along the batch or along a part of it.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --function shared --device=emulator 2>&1 | FileCheck %s
// RUN: cute-run %t.cutepkg --function parts --device=emulator 2>&1 | FileCheck %s
// RUN: cute-run %t.cutepkg --function open --device=emulator --shape A=136x128x5 --shape B=256x128x5 --shape C=136x256x5 2>&1 | FileCheck %s
// INFO: launch 0: shared_kernel({{.*}}map of A (128 x 256 x 6) by boxes of 64 x 64 x 1, swizzled by 128 B, map of B (128 x 256) by boxes of 64 x 64, swizzled by 128 B
// INFO: launch 0: parts_kernel({{.*}}map of A (64 x 128 x 2) by boxes of {{[0-9x ]*}}, swizzled by 128 B, map of B (64 x 256 x 3) by boxes of
// CHECK: right
// CHECK: no findings

func.func @shared(%A: !cute.memref<f16, gmem, align<16>, "(256,128,6):(128,1,32768)"> {cute.name = "A"}, %B: !cute.memref<f16, gmem, align<16>, "(256,128,6):(128,1,0)"> {cute.name = "B"},
                  %C: !cute.memref<f16, gmem, align<16>, "(256,256,6):(256,1,65536)"> {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

// Each of two A by each of three B.
func.func @parts(%A: !cute.memref<f16, gmem, align<16>, "(128,64,(2,3)):(64,1,(8192,0))"> {cute.name = "A"}, %B: !cute.memref<f16, gmem, align<16>, "(256,64,(2,3)):(64,1,(0,16384))"> {cute.name = "B"},
                 %C: !cute.memref<f16, gmem, align<16>, "(128,256,(2,3)):(256,1,(32768,65536))"> {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

func.func @open(%A: !cute.memref<f16, gmem, align<16>, "(?,128,?):(128,1,?{div=64})"> {cute.name = "A"}, %B: !cute.memref<f16, gmem, align<16>, "(256,128,?):(128,1,0)"> {cute.name = "B"},
                %C: !cute.memref<f16, gmem, align<16>, "(?,256,?):(256,1,?{div=64})"> {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
