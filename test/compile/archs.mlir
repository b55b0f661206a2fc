// One GEMM for every architecture. ptxas assembles each; its warnings and spills are errors.
//
// RUN: rm -rf %t && mkdir %t
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t/sm_80.cutepkg" -o %t/sm_80.mlir
// RUN: FileCheck %s --input-file=%t/sm_80.mlir -DARCH=sm_80
// RUN: cute-opt %s --cute-compile="arch=sm_89 package=%t/sm_89.cutepkg" -o %t/sm_89.mlir
// RUN: FileCheck %s --input-file=%t/sm_89.mlir -DARCH=sm_89
// RUN: cute-opt %s --cute-compile="arch=sm_90 package=%t/sm_90.cutepkg" -o %t/sm_90.mlir
// RUN: FileCheck %s --input-file=%t/sm_90.mlir -DARCH=sm_90
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t/sm_90a.cutepkg" -o %t/sm_90a.mlir
// RUN: FileCheck %s --input-file=%t/sm_90a.mlir -DARCH=sm_90a
// RUN: cute-opt %s --cute-compile="arch=sm_120 package=%t/sm_120.cutepkg" -o %t/sm_120.mlir
// RUN: FileCheck %s --input-file=%t/sm_120.mlir -DARCH=sm_120
//
// RUN: cute-run --info %t/sm_80.cutepkg %t/sm_89.cutepkg %t/sm_90.cutepkg %t/sm_90a.cutepkg %t/sm_120.cutepkg | FileCheck %s --check-prefix=INFO
//
// The same input gives the same package, byte by byte.
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t/again.cutepkg" -o /dev/null
// RUN: cmp %t/sm_90a.cutepkg %t/again.cutepkg

!t = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">

// CHECK:      func.func @gemm(
// CHECK:      gpu.launch_func @gemm_kernels::@gemm_kernel
// CHECK-NOT:  gpu.module
// CHECK:      gpu.binary @gemm_kernels
// CHECK-SAME:   #nvvm.target<O = 3, chip = "[[ARCH]]",
// CHECK-SAME:   spill_loads = 0 : i32, spill_stores = 0 : i32, stack = 0 : i32
// CHECK-SAME:   bin = "\7FELF
// CHECK-SAME:   .target [[ARCH]]\0A
// CHECK-SAME:   cp.async.cg.shared.global
// CHECK-SAME:   ldmatrix.sync.aligned.m8n8.x4
// CHECK-SAME:   mma.sync.aligned.m16n8k16
// 16 bytes at a time; newer architectures count them in 64 bits.
// CHECK-SAME:   st.global.v{{4.b32|2.b64}}

// INFO: image sm_80: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |
// INFO: image sm_89: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |
// INFO: image sm_90: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |
// INFO: image sm_90a: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |
// INFO: image sm_120: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.gemm(%A, %B, %C) accumulate f32 : (!t, !t, !t)
  return
}
