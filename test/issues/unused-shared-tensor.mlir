// A tensor in shared memory that nothing uses takes no place from others.
//
// RUN: cute-opt %s --cute-allocate-shared | FileCheck %s
// CHECK: cute.dynamic_smem = 65536 : i64

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f16, smem, align<128>, "(64,512):(512,1)">
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @unused() kernel attributes {cute.plan = #plan} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.block.copy A (%a, %a) : (!s, !s)
    gpu.return
  }
}
