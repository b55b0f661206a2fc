// Tiles, warps, stages and swizzles: each compiles without a spill, with the threads and the shared
// memory that it says. `cute-run --info` reads that back from the package.
//
// RUN: rm -rf %t && mkdir %t
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=128x128x32 warps=2x2 stages=4 package=%t/1.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=128x256x32 warps=2x4 stages=3 package=%t/2.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=64x96x32 warps=2x2 stages=2 package=%t/3.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=32x32x64 warps=1x1 stages=1 package=%t/4.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=16x16x16 warps=1x1 stages=3 package=%t/5.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=64x64x16 warps=2x2 stages=4 swizzle=none package=%t/6.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=64x64x64 warps=4x1 stages=2 swizzle=S<1,4,3> package=%t/7.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=32x128x32 warps=1x4 stages=5 raster=1 package=%t/8.cutepkg" -o /dev/null
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=64x64x32 warps=2x2 stages=3 simplify=false package=%t/9.cutepkg" -o /dev/null
// RUN: cute-run --info %t/1.cutepkg %t/2.cutepkg %t/3.cutepkg %t/4.cutepkg %t/5.cutepkg %t/6.cutepkg %t/7.cutepkg %t/8.cutepkg %t/9.cutepkg | FileCheck %s

// Shared memory: stages x (M + N) x K x 2 bytes, or M x N x 2 for C where that is more.
// CHECK-LABEL: 1.cutepkg
// CHECK: launch 0: gemm_kernel(A, B, C), grid 36x1x1, block 128x1x1, 65536 B of dynamic shared memory
// CHECK: | gemm_kernel | {{ *[0-9]+}} | {{ *}}0 B | {{ *}}65536 B | {{ *}}0 B, 0 B |
// CHECK-LABEL: 2.cutepkg
// CHECK: grid 18x1x1, block 256x1x1, 73728 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 3.cutepkg
// CHECK: grid 96x1x1, block 128x1x1, 20480 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 4.cutepkg
// CHECK: grid 576x1x1, block 32x1x1, 8192 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 5.cutepkg
// CHECK: grid 2304x1x1, block 32x1x1, 3072 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 6.cutepkg
// CHECK: grid 144x1x1, block 128x1x1, 16384 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 7.cutepkg
// CHECK: grid 144x1x1, block 128x1x1, 32768 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 8.cutepkg
// CHECK: grid 144x1x1, block 128x1x1, 51200 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
// CHECK-LABEL: 9.cutepkg
// CHECK: grid 144x1x1, block 128x1x1, 24576 B of dynamic shared memory
// CHECK: | {{ *}}0 B, 0 B |
