// More shared memory than there is.
//
// RUN: cute-opt %s --cute-allocate-shared --split-input-file --verify-diagnostics

#config = {arch = "sm_89", raster = 8 : i64, stages = 4 : i64, swizzle = "auto", tile = array<i64: 128, 128, 32>, warps = array<i64: 2, 2>}
!s = !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">
gpu.module @kernels {
  // expected-error @below {{the kernel needs 131072 bytes of shared memory, sm_89 has 101376; tile=128x128x32 warps=2x2 stages=3 fits}}
  gpu.func @too_large() kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.copy(%a, %b) : (!s, !s)
    gpu.return
  }
}

// -----

// One after the other they fit.
#config = {arch = "sm_89", raster = 8 : i64, stages = 4 : i64, swizzle = "auto", tile = array<i64: 128, 128, 32>, warps = array<i64: 2, 2>}
!s = !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">
gpu.module @kernels {
  gpu.func @in_turn() kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.copy(%a, %a) : (!s, !s)
    cute.copy(%b, %b) : (!s, !s)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected the attribute cute.config on the kernel}}
  gpu.func @no_config() kernel {
    gpu.return
  }
}
