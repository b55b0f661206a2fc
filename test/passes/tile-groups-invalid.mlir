// Products of groups of rows that no kernel is for.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!a = !cute.memref<f16, gmem, align<16>, "(64,(8,8)):(100,(1,10))">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @pieces(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected A with one extent and one stride for each mode, found (64,(8,8)):(100,(1,10))}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(3000000000,16):(0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(8,16,4):(16,1,128)">
!c = !cute.memref<f16, gmem, align<16>, "(3000000000,8):(8,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @many(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected at most 2147483647 of them, an integer of 32 bits, found (3000000000,8):(8,1)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @written(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows, of which only the GPU knows how many each has; expected no split=}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 {cute.split = 2 : i64} groups M(%E : !e)
  return
}

// -----

#plan = #cute.plan<tile = 16x64x64, stages = 8, raster = 8, split = 2, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,4,1):(1,1,0)">, permutation_MNK = <"[16:1;64:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(16,64):(64,1)">, buffers = 8>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 8>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(16,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @planned(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows, of which only the GPU knows how many each has; expected a cute.plan with a block for each tile: no split or clusters}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 {cute.plan = #plan} groups M(%E : !e)
  return
}
