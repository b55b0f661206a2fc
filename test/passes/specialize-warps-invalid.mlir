// RUN: cute-opt %s --cute-specialize-warps --split-input-file --verify-diagnostics

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{expected cute.roles of multiples of 8 registers, as setmaxnreg takes, found 44}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 44, 232>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{expected known_block_size of whole warpgroups along x, one that copies and at least one that computes, such as 384, 1, 1, found 192, 1, 1}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 192, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{such as 384, 1, 1, found none}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{40 registers for the warpgroup that copies and 232 for each of 3 that compute are 736, a block of so many has 512 for one thread of each; take fewer in cute.roles}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 512, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // A launch gives each of 640 threads 96 registers: what is left of 65536 is nobody's, and whoever asked for it would wait for ever.
  // expected-error @below {{32 registers for the warpgroup that copies and 120 for each of 4 that compute are 512, a block of so many has 480 for one thread of each; take fewer in cute.roles}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 640, 1, 1>, cute.roles = array<i64: 32, 120>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{has cute.roles and no cute_nvgpu.tma_load without a barrier; expected one, or no cute.roles}}
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %r = cute.memref.alloca() : !two
    %c = cute.static : !cute.coord<"(_,_,1)">
    %s = cute.slice(%r, %c) : !two, !cute.coord<"(_,_,1)">
    // expected-error @below {{expected a load of a whole tensor in shared memory, one that cute.memref.alloca makes: it becomes a ring}}
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    // expected-error @below {{loads a tensor that another load fills as well; expected a tensor for each load}}
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{loads a tensor that nothing uses; remove the load}}
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{uses a tensor before the load that fills it; expected it behind the load, which runs ahead by itself}}
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    // expected-note @below {{it is loaded here}}
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      // expected-note @below {{it is loaded here}}
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    }
    // expected-error @below {{uses a tensor that is loaded by TMA elsewhere; expected it in the block of the load, or in a loop or branch in there}}
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !cute.memref<i32, rmem, "4:1">
    %o = cute.static : !cute.coord<"1">
    // expected-error @below {{'cute.memref.load' op decides what a load by TMA copies, and depends on memory that others may write; expected coordinates and bounds that are computed of arguments, indices and constants, or read from an argument with cute.noalias that the kernel does not write}}
    %w = cute.memref.load(%r, %o) : (!cute.memref<i32, rmem, "4:1">, !cute.coord<"1">) -> i32
    // expected-note @below {{the load is here}}
    cute_nvgpu.tma_load(%A, [%w, %w], %s) : (!load, [i32, i32], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!two = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64,2):(64,1,4096)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{'scf.while' op has loads, stores or products of warpgroups within, which cute-specialize-warps puts barriers between; expected an scf.for or an scf.if around them}}
    scf.while : () -> () {
      %t = arith.constant true
      scf.condition(%t)
    } do {
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
      %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
      scf.yield
    }
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %mask: i16) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{is a load for several blocks in a kernel without clusters; expected cute.cluster of 2 or more on the kernel}}
    cute_nvgpu.tma_load(%A, [%at], %s) multicast(%mask) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %mask: i16) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>, cute.cluster = 2 : i64} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{fills 4096 of 4096 elements in several blocks; expected a slice, which 2 to 2 blocks of the cluster make whole}}
    cute_nvgpu.tma_load(%A, [%at], %s) multicast(%mask) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 512, 1, 1>, cute.roles = array<i64: 40, 104>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{has cute.teams of 2, and 3 warpgroups of the block compute; expected as many for each team}}
    scf.for %t = %zero to %n step %one : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
      %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    } {cute.teams = 2}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 104>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    scf.for %t = %zero to %n step %one : i32 {
      // expected-error @below {{has cute.teams; expected it on an scf.for that is in no other loop or branch of the kernel}}
      scf.for %u = %zero to %n step %one : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
      %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
      } {cute.teams = 2}
    }
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 104>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    scf.for %t = %zero to %n step %one : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
      %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    } {cute.teams = 2}
    // expected-error @below {{has cute.teams, as another loop of the kernel has; expected one such loop}}
    scf.for %t = %zero to %n step %one : i32 {
    } {cute.teams = 2}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 104>} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    // expected-note @below {{the loop is here}}
    scf.for %t = %zero to %n step %one : i32 {
      scf.for %u = %zero to %t step %one : i32 {
        // expected-error @below {{loads by TMA within a loop with cute.teams, whose turns must load as often as one another; expected the load there, or in an scf.for in there with bounds of type i32 from outside}}
        cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
        %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
      }
    } {cute.teams = 2}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{'cute_nvgpu.tma_prefetch' op is for one thread, in a kernel with cute.roles, whose loads run ahead by themselves; expected none, or more places by cute.stages}}
    cute_nvgpu.tma_prefetch(%A, [%at]) : (!load, [!coords])
    cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
    %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    gpu.return
  }
}

// -----

!scales = !cute.memref<f32, gmem, align<4>, "(64,64):(1,0)">
!room = !cute.memref<f32, smem, align<4>, "(64,64):(1,0)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%g: !scales, %i: !at) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %s = cute.memref.alloca() : !room
    // expected-error @below {{'cute.block.warp_load' op is for a warp that copies beside others, in a kernel without roles; expected cute.roles on the kernel, or cute.block.copy}}
    cute.block.warp_load (%g, %s) : (!scales, !room)
    %x = cute.memref.load(%s, %i) : (!room, !at) -> f32
    gpu.return
  }
}

// -----

!scales = !cute.memref<f32, gmem, align<4>, "(64,64):(1,0)">
!room = !cute.memref<f32, smem, align<4>, "(64,64):(1,0)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  // expected-error @below {{has cute.roles and no cute_nvgpu.tma_load without a barrier; expected one, or no cute.roles}}
  gpu.func @kernel(%g: !scales, %i: !at) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !room
    cute.block.warp_load (%g, %s) : (!scales, !room)
    %x = cute.memref.load(%s, %i) : (!room, !at) -> f32
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    // expected-error @below {{decides how many rows of a tensor a load by TMA brings; expected a number that is the same in all of the kernel, computed of its arguments and of constants}}
    scf.for %k = %c0 to %n step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) rest(%k, %n) : (!load, [!coords], !tile)
      %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
    } {cute.stages = 2}
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32, %is: i1) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = cute.memref.alloca() : !tile
    %o = cute.memref.alloca() : !tile
    scf.for %k = %c0 to %n step %c1 : i32 {
      cute_nvgpu.tma_load(%A, [%at], %s) : (!load, [!coords], !tile)
      %missing = arith.addi %k, %c1 : i32
      // expected-error @below {{computes how many rows are missing behind the first load of its ring; expected it in front of that, which says how many bytes there are to be}}
      cute_nvgpu.tma_load(%A, [%at], %o) rest(%n, %missing) : (!load, [!coords], !tile)
      scf.if %is {
        %x = cute.memref.load(%s, %i) : (!tile, !at) -> f16
        %y = cute.memref.load(%o, %i) : (!tile, !at) -> f16
      }
    } {cute.stages = 2}
    gpu.return
  }
}

// -----

// Parts of a tensor, of which one is loaded twice, and of which one is missing.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!both = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !both
    %tile = cute.static "[64:1;64:1]"
    %first = cute.make_coord(0, 0)
    %again = cute.make_coord(0, 0)
    %a = cute.local_tile(%s, %tile, %first)
    %b = cute.local_tile(%s, %tile, %again)
    cute_nvgpu.tma_load(%A, [%at], %a)
    // expected-error @below {{loads a tensor that another load fills as well; expected a tensor for each load, or parts of one that cute.local_tile makes, at coordinates of rows that differ by constants}}
    cute_nvgpu.tma_load(%A, [%at], %b)
    %x = cute.memref.load(%s, %i) : (!both, !at) -> f16
    gpu.return
  }
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!three = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(192,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !three
    %tile = cute.static "[64:1;64:1]"
    %first = cute.make_coord(0, 0)
    %third = cute.make_coord(2, 0)
    %a = cute.local_tile(%s, %tile, %first)
    %b = cute.local_tile(%s, %tile, %third)
    // expected-error @below {{fills, with the loads of other parts, 8192 of 12288 elements; expected loads of all parts}}
    cute_nvgpu.tma_load(%A, [%at], %a)
    cute_nvgpu.tma_load(%A, [%at], %b)
    %x = cute.memref.load(%s, %i) : (!three, !at) -> f16
    gpu.return
  }
}

// -----

// A use between the loads of two parts.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!both = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !both
    %tile = cute.static "[64:1;64:1]"
    %first = cute.make_coord(0, 0)
    %second = cute.make_coord(1, 0)
    %a = cute.local_tile(%s, %tile, %first)
    %b = cute.local_tile(%s, %tile, %second)
    // expected-note @below {{it is loaded here}}
    cute_nvgpu.tma_load(%A, [%at], %a)
    // expected-error @below {{uses a tensor before the load that fills it; expected it behind the load, which runs ahead by itself}}
    %x = cute.memref.load(%s, %i) : (!both, !at) -> f16
    cute_nvgpu.tma_load(%A, [%at], %b)
    gpu.return
  }
}

// -----

// Parts from the second one on: nothing says that the last is a part of the tensor.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!both = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!at = !cute.coord<"(?,?)">

gpu.module @kernels {
  gpu.func @kernel(%A: !load, %at: !coords, %i: !at, %n: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 232>} {
    %s = cute.memref.alloca() : !both
    %tile = cute.static "[64:1;64:1]"
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %one = arith.addi %n, %c1 : i32
    %two = arith.addi %n, %c2 : i32
    %first = cute.make_coord(%one, 0)
    %second = cute.make_coord(%two, 0)
    %a = cute.local_tile(%s, %tile, %first)
    %b = cute.local_tile(%s, %tile, %second)
    cute_nvgpu.tma_load(%A, [%at], %a)
    // expected-error @below {{loads a tensor that another load fills as well; expected a tensor for each load, or parts of one that cute.local_tile makes, at coordinates of rows that differ by constants}}
    cute_nvgpu.tma_load(%A, [%at], %b)
    %x = cute.memref.load(%s, %i) : (!both, !at) -> f16
    gpu.return
  }
}
