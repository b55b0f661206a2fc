// Launches whose clusters lack a block that the kernel reaches, or have more than there may be.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "8192:1">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
module attributes {gpu.container_module} {
  gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
    gpu.func @multicast(%load: !load, %x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %s = cute.memref.alloca() {offset = 0 : i64} : !s
      %bars = cute.memref.alloca() {offset = 17408 : i64} : !bars
      %mask = arith.constant 5 : i16
      // expected-note @below {{which is reached here}}
      cute_nvgpu.tma_load(%load, [%x, %x], %s) on %bars[%x] multicast(%mask) : (!load, [i32, i32], !s), !bars
      gpu.return
    }
  }
  func.func @launch(%load: !load, %x: i32) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    // expected-error @below {{expected clusters of at least 3 blocks, as the kernel reaches block 2 of its cluster, found 2; write `clusters` with as many}}
    gpu.launch_func @kernels::@multicast clusters in (%two, %one, %one) blocks in (%two, %one, %one) threads in (%one, %one, %one)
      dynamic_shared_memory_size %c0 args(%load : !load, %x : i32)
    return
  }
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
module attributes {gpu.container_module} {
  gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
    gpu.func @arrives(%x: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bars = cute.memref.alloca() {offset = 0 : i64} : !bars
      %c1 = arith.constant 1 : i32
      // expected-note @below {{which is reached here}}
      cute_nvgpu.mbarrier_arrive_at %bars[%x], %c1 : !bars
      gpu.return
    }
  }
  func.func @launch(%x: i32) {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    // expected-error @below {{expected clusters of at least 2 blocks, as the kernel reaches block 1 of its cluster, found 1}}
    gpu.launch_func @kernels::@arrives blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %c0 args(%x : i32)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
    gpu.func @alone() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @launch() {
    %one = arith.constant 1 : index
    %many = arith.constant 32 : index
    // expected-error @below {{expected a cluster of at most 16 blocks, found 32; a launch takes no more}}
    gpu.launch_func @kernels::@alone clusters in (%many, %one, %one) blocks in (%many, %one, %one) threads in (%one, %one, %one)
    return
  }
}
