// What cannot be partitioned.
//
// RUN: cute-opt %s --cute-partition --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{expected the attribute cute.config on the kernel, as cute-tile leaves it: {arch, tile, warps, stages, raster, swizzle}}}
  gpu.func @no_config(%a: !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">, %s: !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">) kernel {
    cute.copy(%a, %s) : (!cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">, !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected the attribute cute.config on the kernel}}
  gpu.func @half_a_config() kernel attributes {cute.config = {arch = "sm_80", tile = array<i64: 32, 32, 32>}} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{unsupported architecture 'sm_10': expected one of sm_75}}
  gpu.func @old() kernel attributes {
      cute.config = {arch = "sm_10", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @no_way(%a: !g, %b: !g) kernel attributes {
      cute.config = {arch = "sm_80", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    // expected-error @below {{no way to copy a tile from gmem to gmem}}
    cute.copy(%a, %b) : (!g, !g)
    gpu.return
  }
}

// -----

!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @foreign_registers(%acc: !acc) kernel attributes {
      cute.config = {arch = "sm_80", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    // expected-error @below {{expected a register tensor that this block allocates}}
    cute.clear(%acc) : (!acc)
    gpu.return
  }
}

// -----

// 24 rows are no multiple of what the warps multiply.
!acc = !cute.memref<f32, rmem, "(24,32):(32,1)">
gpu.module @kernels {
  gpu.func @rows() kernel attributes {
      cute.config = {arch = "sm_80", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    // expected-error @below {{expected a register tensor that cute.config's warps can divide, as an accumulator of the block's tile, found (24,32):(32,1)}}
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    gpu.return
  }
}

// -----

// A thread's vector of a transposed tile does not lie in one place.
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(1,64)">
!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @transposed(%a: !g) kernel attributes {
      cute.config = {arch = "sm_80", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    %s = cute.memref.alloca() : !s
    // expected-error @below {{'cute.copy' op failed to vectorize: the values of a thread in the source lie at 8:64, expected places side by side; the contiguous mode of (32,32):(1,64) is another one: use thread layout (4,8):(1,4) with value layout (8,1)}}
    cute.copy(%a, %s) : (!g, !s)
    gpu.return
  }
}

// -----

// The pass says what the verifier would say of what it makes.
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(1,32)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  gpu.func @other_major(%A: !g) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.config = {arch = "sm_80", raster = 8 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    %sa = cute.memref.alloca() : !s
    // expected-error @below {{'cute.copy' op failed to vectorize}}
    cute.copy(%A, %sa) : (!g, !s)
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{expected known_block_size of 32, 1, 1, the threads of the 1x1 warps of cute.config, found 2, 1, 1}}
  gpu.func @fewer_threads(%A: !g) kernel attributes {known_block_size = array<i32: 2, 1, 1>, cute.config = {arch = "sm_80", raster = 8 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}} {
    %sa = cute.memref.alloca() : !s
    cute.copy(%A, %sa) : (!g, !s)
    gpu.return
  }
}
