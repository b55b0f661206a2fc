// RUN: cute-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-handed-pipelines,cute-lower-warp-specialize)))"

gpu.module @m {
  // expected-note @below {{the kernel}}
  gpu.func @other_threads() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error @below {{'cute.warp_specialize' op has roles of 12 warps, 384 threads, in blocks of 256 x 1 x 1; expected known_block_size = array<i32: 384, 1, 1>, or roles for all of its warps}}
    cute.warp_specialize
    role(%t, %warp) warps 4 {
    }
    role(%t, %warp) warps 8 {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @in_a_branch(%c: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    scf.if %c {
      // expected-error @below {{'cute.warp_specialize' op stands within a loop or a branch; expected it in the kernel's own block, where all threads come by}}
      cute.warp_specialize
      role(%t, %warp) warps 2 {
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @twice() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // expected-note @below {{the first}}
    cute.warp_specialize
    role(%t, %warp) warps 2 {
    }
    // expected-error @below {{'cute.warp_specialize' op gives warps roles that they have already; expected one in a kernel}}
    cute.warp_specialize
    role(%t, %warp) warps 2 {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_many_registers() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    // expected-error @below {{'cute.warp_specialize' op asks for 1 x 56 + 2 x 232 = 520 registers for one thread of each warpgroup; a block of 3 has 504, take fewer}}
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 56 {
    }
    role(%t, %warp) warps 8 registers 232 {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @two_blocks() kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 2 : i32} {
    // expected-error @below {{asks for 1 x 40 + 2 x 104 = 248 registers for one thread of each warpgroup; a block of 3 has 240, where 2 are to run at once, take fewer}}
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
    }
    role(%t, %warp) warps 8 registers 104 {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-note @below {{the kernel}}
  gpu.func @too_few_at_entry() kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.maxnreg = 128 : i32} {
    // expected-error @below {{asks for 504 registers for one thread of each warpgroup, and the block begins with 3 x 128 by nvvm.maxnreg, so that roles wait for ever; expected at least nvvm.maxnreg = 168, or none}}
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
    }
    role(%t, %warp) warps 8 registers 232 {
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @barrier_of_all() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    cute.warp_specialize
    role(%t, %warp) warps 1 {
      // expected-error @below {{'gpu.barrier' op waits for all threads of the block within a role of 1 of its warps, so that it waits for ever; expected a barrier of the role, nvvm.barrier id = %b number_of_threads = %n of cute_nvgpu.named_barriers}}
      gpu.barrier
    }
    role(%t, %warp) warps 1 {
    }
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, "64:1">
gpu.module @m {
  gpu.func @nothing_orders(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %s = cute.memref.alloca() : !s
    cute.warp_specialize
    role(%t, %warp) warps 1 {
      // expected-note @below {{the other role does so here}}
      cute.memref.store(%s, (%t), %x)
    }
    role(%t, %warp) warps 1 {
      // expected-error @below {{'cute.memref.load' op touches a tensor in shared memory that another role writes, and nothing orders the two; expected a cute_nvgpu.pipeline that both use, an mbarrier, or a named barrier}}
      %y = cute.memref.load(%s, (%t))
      cute.memref.store(%s, (%t), %y)
    }
    gpu.return
  }
}

// -----

!coords = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
gpu.module @m {
  gpu.func @too_few_release(%tma: !tma, %A: !coords, %i: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %s = cute.memref.alloca() : !s
    // expected-note @below {{the pipeline}}
    %p = cute_nvgpu.pipeline.create warps 12 : !cute.pipeline<1, mbarrier>
    cute.warp_specialize
    role(%t, %warp) warps 4 {
      %first = nvvm.elect.sync -> i1
      scf.if %first {
        %place = cute_nvgpu.pipeline.producer_acquire(%p, %i)
        cute_nvgpu.tma_load(%tma, [%A], %s) on %p[%place]
      }
    }
    role(%t, %warp) warps 8 {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      // expected-error @below {{'cute_nvgpu.pipeline.consumer_release' op: the roles that release a place have 8 warps, and the pipeline is made for 12, for which others wait for ever; expected as many}}
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}

// -----

!coords = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
gpu.module @m {
  gpu.func @too_many_release(%tma: !tma, %A: !coords, %i: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %s = cute.memref.alloca() : !s
    // expected-note @below {{the pipeline}}
    %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<1, mbarrier>
    cute.warp_specialize
    role(%t, %warp) warps 4 {
      %first = nvvm.elect.sync -> i1
      scf.if %first {
        %place = cute_nvgpu.pipeline.producer_acquire(%p, %i)
        cute_nvgpu.tma_load(%tma, [%A], %s) on %p[%place]
      }
    }
    role(%t, %warp) warps 8 {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      // expected-error @below {{'cute_nvgpu.pipeline.consumer_release' op: all 8 warps of the role release a place, and the pipeline is made for 4, so that a phase is over before all are done; expected as many}}
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}

// -----

!coords = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
gpu.module @m {
  gpu.func @all_acquire(%tma: !tma, %A: !coords, %i: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %s = cute.memref.alloca() : !s
    %p = cute_nvgpu.pipeline.create warps 8 : !cute.pipeline<1, mbarrier>
    cute.warp_specialize
    role(%t, %warp) warps 4 {
      // expected-error @below {{'cute_nvgpu.pipeline.producer_acquire' op is for one thread, which starts the loads of the place, and all threads of the role come here; expected it where nvvm.elect.sync of one warp holds}}
      %place = cute_nvgpu.pipeline.producer_acquire(%p, %i)
      cute_nvgpu.tma_load(%tma, [%A], %s) on %p[%place]
    }
    role(%t, %warp) warps 8 {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @too_few_fill(%i: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    // expected-note @below {{the pipeline}}
    %p = cute_nvgpu.pipeline.create warps 8 threads 256 : !cute.pipeline<1, mbarrier>
    cute.warp_specialize
    role(%t, %warp) warps 4 {
      %place = cute_nvgpu.pipeline.producer_acquire(%p, %i)
      // expected-error @below {{'cute_nvgpu.pipeline.producer_commit' op: the roles that fill a place have 128 threads, and the pipeline is made for 256, for which others wait for ever; expected as many}}
      cute_nvgpu.pipeline.producer_commit(%p, %i)
    }
    role(%t, %warp) warps 8 {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i)
      cute_nvgpu.pipeline.consumer_release(%p, %i)
    }
    gpu.return
  }
}
