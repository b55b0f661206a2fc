// Sums of products of warpgroups that another turn of a loop, or one branch, may touch while the products are under way.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-algorithms,cute-fragments-to-values)))" --split-input-file --verify-diagnostics -o /dev/null

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @read_in_the_next_turn(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way; expected a cute_nvgpu.wgmma_wait_group 0 that is given this fragment in the loop, behind the product or before this}}
      %x = cute.memref.load(%acc, %at)
      cute_nvgpu.wgmma_fence(%acc)
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    gpu.return
  }

  // A wait at the start of a turn, or for all but the newest group, is enough.
  gpu.func @read_in_time(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %other = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    cute.clear(%other)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.wgmma_fence(%other)
      cute.gemm(%mma, %other, %a, %a, %other)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 1 (%acc)
      %x = cute.memref.load(%acc, %at)
      cute_nvgpu.wgmma_wait_group 0 (%other)
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
      %y = cute.memref.load(%other, %at)
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
  gpu.func @a_group_too_few(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %other = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    cute.clear(%other)
    // The wait before the loop is for the first turn alone.
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.wgmma_wait_group 1 (%acc)
      // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way}}
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @read_in_a_loop_within(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      scf.for %j = %c0 to %turns step %c1 : i32 {
        // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way}}
        %x = cute.memref.load(%acc, %at)
      }
      scf.for %j = %c0 to %turns step %c1 : i32 {
        cute_nvgpu.wgmma_fence(%acc)
        // expected-note @+1 {{the product starts here}}
        cute.gemm(%mma, %acc, %a, %a, %acc)
        cute_nvgpu.wgmma_commit_group
        cute_nvgpu.wgmma_wait_group 1 (%acc)
      }
    }
    gpu.return
  }

  gpu.func @waited_for_before_the_loop_within(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%acc)
    scf.for %i = %c0 to %turns step %c1 : i32 {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
      scf.for %j = %c0 to %turns step %c1 : i32 {
        %x = cute.memref.load(%acc, %at)
      }
      cute_nvgpu.wgmma_fence(%acc)
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @read_where_a_loop_asks_whether_it_goes_on(%limit: f32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    %at = cute.static coord "3"
    cute.clear(%acc)
    scf.while : () -> () {
      // expected-error @+1 {{touches the accumulators of products that the turn of the loop before may have left under way}}
      %x = cute.memref.load(%acc, %at)
      %more = arith.cmpf olt, %x, %limit : f32
      scf.condition(%more)
    } do {
      cute_nvgpu.wgmma_fence(%acc)
      // expected-note @+1 {{the product starts here}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
      scf.yield
    }
    gpu.return
  }
}

// -----

!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @waited_for_in_one_branch(%some: i1) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    // expected-note @+1 {{the product starts here}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_commit_group
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
    // expected-error @+1 {{touches the accumulators of products that may be under way; expected a cute_nvgpu.wgmma_wait_group 0 that is given this fragment between the product and here}}
    cute.clear(%acc)
    gpu.return
  }

  gpu.func @waited_for_in_both(%some: i1) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_commit_group
    scf.if %some {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    } else {
      cute_nvgpu.wgmma_wait_group 0 (%acc)
    }
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
  gpu.func @not_committed() kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc)
    cute_nvgpu.wgmma_fence(%acc)
    // expected-note @+1 {{the product starts here}}
    cute.gemm(%mma, %acc, %a, %a, %acc)
    cute_nvgpu.wgmma_wait_group 0 (%acc)
    // expected-error @+1 {{expected a cute_nvgpu.wgmma_commit_group and a cute_nvgpu.wgmma_wait_group 0 that is given this fragment between the product and here}}
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
  gpu.func @sums_of_a_turn(%turns: i32) kernel {
    %a = cute.memref.alloca() : !part
    %mma = cute.static : !mma
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %turns step %c1 : i32 {
      %acc = cute.memref.alloca() : !acc
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      // expected-error @+1 {{adds to accumulators that are made in this turn or branch, and may be under way at its end, where their registers become others'; put a cute_nvgpu.wgmma_wait_group 0 that is given them there, or make them before the loop}}
      cute.gemm(%mma, %acc, %a, %a, %acc)
      cute_nvgpu.wgmma_commit_group
    }
    gpu.return
  }
}
