// The PTX of a gpu.binary is assembled: the cubin joins it, with what the kernels use.
//
// RUN: cute-opt %s --cute-assemble -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// What came out is read again, bytes and all; what is assembled already stays.
// RUN: cute-opt %t.mlir | FileCheck %s

// CHECK:      gpu.binary @kernels
// CHECK-SAME:   [#gpu.object<#nvvm.target<chip = "sm_80">, properties = {copy = {dynamic_smem = 256 : i32
// CHECK-SAME:   registers = {{[1-9][0-9]*}} : i32, spill_loads = 0 : i32, spill_stores = 0 : i32, stack = 0 : i32, static_smem = 1024 : i32}
// CHECK-SAME:   none = {dynamic_smem = 0 : i32
// CHECK-SAME:   bin = "\7FELF
// CHECK-SAME:   #gpu.object<#nvvm.target<chip = "sm_80">, properties = {copy = {dynamic_smem = 256 : i32}}, assembly = "
// CHECK-SAME:   #gpu.object<#nvvm.target<chip = "sm_90">, bin = "assembled by others">
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">, properties = {copy = {dynamic_smem = 256 : i32}}, assembly = ".version 8.0\0A.target sm_80\0A.address_size 64\0A.visible .entry copy(.param .u64 p) .maxntid 64, 1, 1 {\0A .reg .b64 %rd<2>; .reg .b32 %r<3>; .shared .align 4 .b8 s[1024];\0A ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; st.volatile.shared.u32 [s], %r1; ld.volatile.shared.u32 %r2, [s]; st.global.u32 [%rd1], %r2; ret;\0A}\0A.visible .entry none() { ret; }\0A">,
  #gpu.object<#nvvm.target<chip = "sm_90">, bin = "assembled by others">
]
