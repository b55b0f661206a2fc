// A tensor in shared memory that nothing uses takes no place from others.
//
// RUN: cute-opt %s --cute-allocate-shared | FileCheck %s
// CHECK: cute.dynamic_smem = 65536 : i64

#config = {arch = "sm_90", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}
!s = !cute.memref<f16, smem, align<128>, "(64,512):(512,1)">
gpu.module @kernels {
  gpu.func @unused() kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.copy(%a, %a) : (!s, !s)
    gpu.return
  }
}
