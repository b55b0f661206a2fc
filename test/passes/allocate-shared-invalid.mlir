// More shared memory than there is.
//
// RUN: cute-opt %s --cute-allocate-shared --split-input-file --verify-diagnostics

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 128x128x32, stages = 4, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(128,32):(32,1)">, buffers = 4>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(128,32):(32,1)">, buffers = 4>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<3,4,4>, "(128,128):(128,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">
gpu.module @kernels [#nvvm.target<chip = "sm_89">] {
  // expected-error @below {{the kernel needs 131072 bytes of shared memory, sm_89 has 101376; tile=128x128x32 warps=2x2 stages=3 fits}}
  gpu.func @too_large() kernel attributes {cute.plan = #plan} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.block.copy A (%a, %b) : (!s, !s)
    gpu.return
  }
}

// -----

// One after the other they fit.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 128x128x32, stages = 4, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(128,32):(32,1)">, buffers = 4>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(128,32):(32,1)">, buffers = 4>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<3,4,4>, "(128,128):(128,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">
gpu.module @kernels [#nvvm.target<chip = "sm_89">] {
  gpu.func @in_turn() kernel attributes {cute.plan = #plan} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.block.copy A (%a, %a) : (!s, !s)
    cute.block.copy A (%b, %b) : (!s, !s)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{expected #nvvm.target<chip = ...> on the kernel's gpu.module}}
  gpu.func @no_config() kernel {
    gpu.return
  }
}
