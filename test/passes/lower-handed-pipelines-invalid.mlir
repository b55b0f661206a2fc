// RUN: cute-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-handed-pipelines)))"

gpu.module @m {
  // expected-error @below {{has pipelines and no known_block_size; expected how many threads a block has, known_block_size = array<i32: 384, 1, 1>}}
  gpu.func @unknown_block(%i: i32) kernel {
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{has pipelines and blocks of 64 x 2 x 1 threads; expected threads along x alone}}
  gpu.func @two_modes(%i: i32) kernel attributes {known_block_size = array<i32: 64, 2, 1>} {
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_many_readers(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{makes a pipeline that 8 warps read and 1 thread fills, in blocks of 128 threads; expected no more than there are}}
    %p = cute_nvgpu.pipeline.create warps 8 : !cute.pipeline<4, mbarrier>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @nobody_fills(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{makes a pipeline that nobody fills, so that others wait for ever; expected a cute_nvgpu.pipeline.producer_acquire of it}}
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @nobody_releases(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{makes a pipeline that nobody releases, so that others wait for ever; expected a cute_nvgpu.pipeline.consumer_release of it}}
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @nothing_loaded(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    // expected-error @below {{acquires a place on which nothing is loaded; expected loads `on` the pipeline at this index}}
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @in_a_branch(%i: i32, %c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    scf.if %c {
      // expected-error @below {{makes a pipeline within a loop or a branch; expected it in the kernel's own block, where all threads come by once}}
      %p = cute_nvgpu.pipeline.create warps 4 threads 32 : !cute.pipeline<4, mbarrier>
      %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
      cute_nvgpu.pipeline.producer_commit(%p, %i)
      %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_early(%i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %p = cute_nvgpu.pipeline.create warps 4 threads 32 : !cute.pipeline<4, mbarrier>
    // expected-error @below {{uses a pipeline before the last one is made; expected all uses behind it, where all threads have met}}
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    // expected-note @below {{the last pipeline}}
    %q = cute_nvgpu.pipeline.create warps 4 threads 32 : !cute.pipeline<4, mbarrier>
    cute_nvgpu.pipeline.producer_commit(%p, %i)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    %z = cute_nvgpu.pipeline.producer_acquire(%q, %i)
    cute_nvgpu.pipeline.producer_commit(%q, %i)
    %v = cute_nvgpu.pipeline.consumer_wait(%q, %i)
    cute_nvgpu.pipeline.consumer_release(%q, %i)
    gpu.return
  }
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!rows = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @m {
  gpu.func @elsewhere(%X: !row, %i: i32, %c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !rows
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    scf.if %c {
      // expected-error @below {{loads on no place that this block of operations acquires, so that its bytes are not known; expected the result of a cute_nvgpu.pipeline.producer_acquire beside it as the index}}
      cute_nvgpu.bulk_load(%X, %s) on %p[%x]
    }
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!rows = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @m {
  gpu.func @by_both(%X: !row, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !rows
    %p = cute_nvgpu.pipeline.create warps 4 threads 32 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    // expected-error @below {{loads on a pipeline that `cp.async` of 32 threads fills; expected no `threads` where it is made, or copies by cp.async}}
    cute_nvgpu.bulk_load(%X, %s) on %p[%x]
    cute_nvgpu.pipeline.producer_commit(%p, %i)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!rows = !cute.memref<f32, smem, align<16>, "256:1">
gpu.module @m {
  gpu.func @committed(%X: !row, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !rows
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    cute_nvgpu.bulk_load(%X, %s) on %p[%x]
    // expected-error @below {{commits copies by cp.async to a pipeline that bulk copies fill; expected `threads` where it is made, as many as copy}}
    cute_nvgpu.pipeline.producer_commit(%p, %i)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(128,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
gpu.module @m {
  gpu.func @to_others(%tma: !tma, %A: !coords, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !tile
    %both = arith.constant 3 : i16
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    // expected-error @below {{loads into the blocks of mask 0b11 through a pipeline whose places 1 block fill; expected bits of blocks of the pipeline, `blocks` of cute_nvgpu.pipeline.create}}
    cute_nvgpu.tma_load(%tma, [%A], %s) on %p[%x] multicast(%both)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(128,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
gpu.module @m {
  gpu.func @to_somebody(%tma: !tma, %A: !coords, %i: i32, %mask: i16) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !tile
    %p = cute_nvgpu.pipeline.create warps 4 blocks 2 : !cute.pipeline<4, mbarrier>
    %x = cute_nvgpu.pipeline.producer_acquire(%p, %i)
    // expected-error @below {{loads into blocks of the cluster that only the kernel knows, so that a place's bytes are not known; expected a constant mask}}
    cute_nvgpu.tma_load(%tma, [%A], %s) on %p[%x] multicast(%mask)
    %y = cute_nvgpu.pipeline.consumer_wait(%p, %i)
    cute_nvgpu.pipeline.consumer_release(%p, %i)
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @given_away(%i: i32, %n: i32, %c0: i32, %c1: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %p = cute_nvgpu.pipeline.create warps 4 threads 32 : !cute.pipeline<4, mbarrier>
    // expected-error @below {{'scf.for' op takes a pipeline with mbarriers; expected only operations on pipelines, and loads `on` it}}
    %q = scf.for %k = %c0 to %n step %c1 iter_args(%r = %p) -> (!cute.pipeline<4, mbarrier>) : i32 {
      scf.yield %r : !cute.pipeline<4, mbarrier>
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @with_roles(%i: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
    // expected-error @below {{makes a pipeline in a kernel with cute.roles, whose rings are made for it; expected loads without barriers there, or no cute.roles}}
    %p = cute_nvgpu.pipeline.create warps 8 : !cute.pipeline<4, mbarrier>
    gpu.return
  }
}
