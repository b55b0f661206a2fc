// Distributed shared memory where there is none, and where the compiler is to order accesses.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics --cute-compile="arch=sm_80"

gpu.module @kernels {
  gpu.func @old(%out: !cute.memref<f32, gmem, "4:1">, %block: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = cute.memref.alloca() : !cute.memref<f32, smem, "4:1">
    // expected-error @+1 {{'cute_nvgpu.arch.map_dsmem' op is an instruction, which exists on sm_90 and later; the kernel is compiled for sm_80: compile it for arch=sm_90a}}
    %there = cute_nvgpu.arch.map_dsmem(%s, %block)
    cute.autovec_copy(%there, %out)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @ordered(%out: !cute.memref<f32, gmem, "4:1">, %block: i32) kernel attributes {
      // expected-note @-1 {{the attribute is here}}
      known_block_size = array<i32: 32, 1, 1>, cute.synchronize} {
    %s = cute.memref.alloca() : !cute.memref<f32, smem, "4:1">
    // expected-error @+1 {{'cute_nvgpu.arch.map_dsmem' op stands in a kernel that leaves synchronisation to the compiler, which does not order it}}
    %there = cute_nvgpu.arch.map_dsmem(%s, %block)
    cute.autovec_copy(%there, %out)
    gpu.return
  }
}
