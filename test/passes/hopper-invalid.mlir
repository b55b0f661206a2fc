// Products of warpgroups that cannot go on as they are written.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-algorithms,cute-fragments-to-values)))" --split-input-file --verify-diagnostics

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @read_too_early() kernel {
    %a = cute.memref.alloca() : !part
    %atom = cute.make_atom() : () -> !wgmma
    %mma = cute.make_tiled_mma(%atom) : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
    // expected-note @+1 {{the product starts here}}
    cute.gemm(%mma, %acc, %a, %a, %acc) : (!mma, !acc, !part, !part, !acc)
    cute_nvgpu.wgmma_commit_group
    cute_nvgpu.wgmma_wait_group 1 (%acc) : (!acc) -> ()
    // expected-error @+1 {{touches the accumulators of products that may be under way; expected a cute_nvgpu.wgmma_wait_group 0 that is given this fragment}}
    %v = cute.memref.load_vec %acc : !acc
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @another_sum() kernel {
    %a = cute.memref.alloca() : !part
    %atom = cute.make_atom() : () -> !wgmma
    %mma = cute.make_tiled_mma(%atom) : !mma
    %acc = cute.memref.alloca() : !acc
    %d = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    // expected-error @+1 {{expected D and C to be one fragment, as SM90_64x64x16_F32F16F16_SS<K,K> adds to its accumulators in place}}
    cute.gemm(%mma, %d, %a, %a, %acc) : (!mma, !acc, !part, !part, !acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @rows_without_a_swizzle() kernel {
    %a = cute.memref.alloca() : !part
    %atom = cute.make_atom() : () -> !wgmma
    %mma = cute.make_tiled_mma(%atom) : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    // expected-error @+1 {{lay it out as ((8,8),(8,2)):((8,128),(1,64))}}
    cute.gemm(%mma, %acc, %a, %a, %acc) : (!mma, !acc, !part, !part, !acc)
    gpu.return
  }
}

// -----

!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @nothing_to_add_to() kernel {
    // expected-note @+1 {{the registers are allocated here}}
    %acc = cute.memref.alloca() : !acc
    // expected-error @+1 {{reads registers that nothing has written}}
    cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
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
  gpu.func @registers_without_a_fence() kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    cute.clear(%a)
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    // expected-error @+1 {{takes A from registers that were written since the last fence; give this fragment to cute_nvgpu.wgmma_fence, beside the accumulators}}
    cute.gemm(%mma, %acc, %a, %b, %acc)
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
  gpu.func @registers_written_too_early() kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %a2 = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    cute.clear(%a)
    cute.clear(%a2)
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc, %a, %a2)
    cute.gemm(%mma, %acc, %a, %b, %acc)
    cute_nvgpu.wgmma_commit_group
    cute.gemm(%mma, %acc, %a2, %b, %acc)
    cute_nvgpu.wgmma_commit_group
    cute_nvgpu.wgmma_wait_group 1 (%acc)
    // The first product is over.
    cute.clear(%a)
    // expected-error @+1 {{writes registers that products under way take A from; expected a cute_nvgpu.wgmma_wait_group for their group between the product and here}}
    cute.clear(%a2)
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
  gpu.func @registers_of_the_next_turn(%turns: i32) kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    // expected-error @+1 {{expected products that take A from registers to be waited for in the turn of the loop that starts them}}
    scf.for %i = %c0 to %turns step %c1 : i32 {
      // expected-note @+1 {{they are written here}}
      cute.clear(%a)
      cute_nvgpu.wgmma_fence(%acc, %a)
      cute.gemm(%mma, %acc, %a, %b, %acc)
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
  // Of two fragments that turns write one behind the other, the product of the second may go on into the next turn: it is over when that waits for all but the next product.
  gpu.func @registers_in_turn(%turns: i32) kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %a2 = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute.clear(%a)
      cute_nvgpu.wgmma_fence(%acc, %a)
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 1 (%acc)
      cute.clear(%a2)
      cute_nvgpu.wgmma_fence(%acc, %a2)
      cute.gemm(%mma, %acc, %a2, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 1 (%acc)
    }
    // expected-error @+1 {{writes registers that products under way take A from}}
    cute.clear(%a2)
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
  // The same where one product more may go on: the next turn writes its registers while it does.
  gpu.func @registers_in_turn_too_early(%turns: i32) kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %a2 = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    // expected-error @+1 {{expected products that take A from registers to be waited for in the turn of the loop that starts them}}
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute.clear(%a)
      cute_nvgpu.wgmma_fence(%acc, %a)
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 2 (%acc)
      // expected-note @+1 {{they are written here}}
      cute.clear(%a2)
      cute_nvgpu.wgmma_fence(%acc, %a2)
      cute.gemm(%mma, %acc, %a2, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 1 (%acc)
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!apart = !cute.memref<f16, rmem, "((2,2,2),1,4):((1,16,2),0,4)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @registers_that_are_no_words() kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !apart
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute.clear(%a)
    // expected-error @+1 {{is given registers that hold 1 x f16 at a time, where warpgroups take whole words of 32 bits; make the fragment with cute.mma.make_fragment or cute.make_fragment_like}}
    cute_nvgpu.wgmma_fence(%acc, %a)
    cute.gemm(%mma, %acc, %a, %b, %acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!left = !cute.memref<f16, smem, align<1024>, "((2,2,2),1,4):((1,2,4),0,8)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @not_in_registers() kernel {
    %b = cute.memref.alloca() : !part
    %a = cute.memref.alloca() : !left
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    // expected-error @+1 {{expected A in rmem, where SM90_64x64x16_F32F16F16_RS<K,K> takes it from, found smem; copy it into a fragment}}
    cute.gemm(%mma, %acc, %a, %b, %acc)
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
  gpu.func @waited_for_in_one_branch(%turns: i32, %some: i1) kernel {
    %b = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %a = cute.memref.alloca() : !left
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    cute.clear(%a)
    cute_nvgpu.wgmma_fence(%acc, %a)
    // What no turn writes may be read by products of all turns.
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    cute.clear(%a)
    cute_nvgpu.wgmma_fence(%acc, %a)
    cute.gemm(%mma, %acc, %a, %b, %acc)
    cute_nvgpu.wgmma_commit_group
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    // expected-error @+1 {{writes registers that products under way take A from}}
    cute.clear(%a)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @sums_without_a_fence() kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    // expected-note @+1 {{they are read or written here}}
    cute.clear(%acc)
    // expected-error @+1 {{adds to accumulators that no fence was given since they were last read or written; give this fragment to cute_nvgpu.wgmma_fence, between what reads or writes it and here}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @a_fence_for_others() kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %other = cute.memref.alloca() : !acc
    // expected-note @+1 {{they are read or written here}}
    cute.clear(%acc)
    cute.clear(%other)
    cute_nvgpu.wgmma_fence(%other)
    // expected-error @+1 {{adds to accumulators that no fence was given}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @read_between_products() kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    cute.gemm(%mma, %acc, %a, %a, %acc)
    // Products of one shape are in order without another fence.
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_commit_group
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    // expected-note @+1 {{they are read or written here}}
    %v = cute.memref.load_vec %acc
    // expected-error @+1 {{adds to accumulators that no fence was given}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @fenced_before_the_loop(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    // Nothing but products and waits touches these sums.
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 1 (%acc)
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    cute_nvgpu.wgmma_fence(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      // expected-error @+1 {{adds to accumulators that the loop reads or writes before the next turn comes here, and no fence was given them in between; give this fragment to cute_nvgpu.wgmma_fence in the loop, before this product}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 0 (%acc)
      // expected-note @+1 {{they are read or written here}}
      cute.clear(%acc)
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!small = !cute_nvgpu.sm90.mma<64x32x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!small_mma = !cute.tiled_mma<!small, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!half = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((32,16),1,4):((64,1),0,16)">
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @products_of_two_shapes() kernel {
    %a = cute.memref.alloca() : !part
    %b = cute.memref.alloca() : !half
    %mma = cute.static : !mma
    %small = cute.static : !small_mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    cute.gemm(%mma, %acc, %a, %a, %acc)
    %iter = cute.get_iter(%acc)
    %columns = cute.static "((2,2,4),1,1):((1,2,4),0,0)"
    %first = cute.make_view(%iter, %columns)
    // expected-error @+1 {{adds to accumulators that products of 64x64x16 may be adding to, with one of 64x32x16, and only those of one shape are in order; give this fragment to cute_nvgpu.wgmma_fence between the two}}
    cute.gemm(%small, %first, %a, %b, %first)
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @one_element_too_early() kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    // expected-note @+1 {{the product starts here}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_commit_group
    %at = cute.static coord "3"
    // expected-error @+1 {{touches the accumulators of products that may be under way}}
    %x = cute.memref.load(%acc, %at)
    gpu.return
  }
}
