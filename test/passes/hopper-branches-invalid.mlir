// Sums of products of warpgroups that a branch starts, waits for or touches: what one condition starts and waits for is known to be over, and so is what a loop
// waits for in all turns but the first.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-algorithms,cute-fragments-to-values)))" --split-input-file --verify-diagnostics -o /dev/null

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @of_one_condition(%some: i1) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    scf.if %some {
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    cute.clear(%acc)
    gpu.return
  }

  // The turn before has left products under way, if there was one.
  gpu.func @in_all_turns_but_the_first(%first: i32, %turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      %later = arith.cmpi sgt, %i, %c0 : i32
      scf.if %later {
        cute_nvgpu.wgmma_wait_group 0 (%acc)
      }
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    scf.for %i = %first to %turns step %c1 : i32 {
      %is_first = arith.cmpi eq, %first, %i : i32
      scf.if %is_first {
        cute.clear(%acc)
      } else {
        cute_nvgpu.wgmma_wait_group 0 (%acc)
      }
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!left = !cute.memref<f16, rmem, "((2,2,2),1,4):((1,2,4),0,8)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @a_in_registers(%some: i1) kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute.clear(%a)
    cute_nvgpu.wgmma_fence(%acc, %a)
    scf.if %some {
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    cute.clear(%a)
    cute.clear(%acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @of_another_condition(%some: i1, %others: i1) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    scf.if %some {
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    scf.if %others {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    // expected-error @+1 {{touches the accumulators of products that may be under way}}
    cute.clear(%acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // What was under way before is so where the condition does not hold.
  gpu.func @beside_products_of_all(%some: i1) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_commit_group
    scf.if %some {
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    // expected-error @+1 {{touches the accumulators of products that may be under way}}
    cute.clear(%acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // A loop's first turn is not the first one of the loop around it.
  gpu.func @in_a_loop_within(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %j = %c0 to %turns step %c1 : i32 {
      scf.for %i = %c0 to %turns step %c1 : i32 {
        %later = arith.cmpi ne, %i, %c0 : i32
        scf.if %later {
          cute_nvgpu.wgmma_wait_group 0 (%acc)
        }
        // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way}}
        cute.clear(%acc)
        cute_nvgpu.wgmma_fence(%acc)
        // expected-note @+1 {{the product starts here}}
        cute.gemm(%mma, %acc, %a, %a, %acc)
        cute_nvgpu.wgmma_commit_group
      }
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // The second turn is not the first one.
  gpu.func @in_all_turns_but_two(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      %later = arith.cmpi sgt, %i, %c1 : i32
      scf.if %later {
        cute_nvgpu.wgmma_wait_group 0 (%acc)
      }
      // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way}}
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    gpu.return
  }
}
