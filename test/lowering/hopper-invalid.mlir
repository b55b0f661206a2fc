// What an architecture has not, and kernels that are ordered by two, said where it stands.
//
// RUN: cute-opt %s --cute-compile=arch=sm_80 --split-input-file --verify-diagnostics

!bars = !cute.memref<i64, smem, align<8>, "1:0">
!row = !cute.memref<f32, gmem, align<16>, "256:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @kernels {
  gpu.func @bulk(%row: !row, %i: i32) kernel {
    %r = cute.memref.alloca() : !srow
    %bars = cute.memref.alloca() : !bars
    // expected-error @+1 {{'cute_nvgpu.bulk_load' op is an instruction, which exists on sm_90 and later; the kernel is compiled for sm_80: compile it for arch=sm_90a}}
    cute_nvgpu.bulk_load(%row, %r) on %bars[%i] : (!row, !srow), !bars
    gpu.return
  }
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @kernels {
  // expected-note @+1 {{the attribute is here}}
  gpu.func @two_orders(%row: !row) kernel attributes {cute.synchronize} {
    %r = cute.memref.alloca() : !srow
    // expected-error @+1 {{'cute_nvgpu.bulk_store' op stands in a kernel that leaves synchronisation to the compiler, which does not order it}}
    cute_nvgpu.bulk_store(%r, %row) : (!srow, !row)
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!mat = !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">
!tile = !cute.layout<"(128,64):(64,1)">
gpu.module @kernels {
  gpu.func @in_a_kernel(%A: !mat) kernel {
    %t = cute.static : !tile
    // expected-error @+1 {{stands in a kernel; expected it in the function that launches, which passes the atom and the coordinates to the kernel}}
    %a, %c = cute_nvgpu.atom.make_tma_load(%A, %t) : (!mat, !tile) -> (!load, !cute.coord_tensor<"(0,0)", "(256,64):(1@1,1@0)">)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @registers_of_roles(%i: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @+1 {{'nvvm.setmaxregister' op is an instruction, which exists on sm_90a, sm_100f, sm_100a, sm_103f, sm_103a, sm_110f, sm_110a, sm_120f, sm_120a, sm_121f, sm_121a alone; the kernel is compiled for sm_80: compile it for arch=sm_90a}}
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
    }
    role(%t, %warp) warps 4 registers 232 {
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @elected(%i: i32) kernel {
    // expected-error @+1 {{'nvvm.elect.sync' op is an instruction, which exists on sm_90 and later; the kernel is compiled for sm_80: compile it for arch=sm_90a}}
    %leader = nvvm.elect.sync -> i1
    gpu.return
  }
}
