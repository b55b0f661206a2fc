// Plans of warpgroups on the op: of the transposed product, where it is none of the product, and of a factor that TMA loads by im2col.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --function given | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function filter | FileCheck %s
//
// CHECK: right; every element compared
// CHECK: no findings
// INFO: given_kernel(A, B, C, map of B (256 x 40) by boxes of 64 x 64, swizzled by 128 B, map of A (256 x 1000) by boxes of 64 x 128
// INFO: filter_kernel(A, B, C, map of A (96 x 280) by boxes of 64 x 64, swizzled by 128 B, map of B (64 x 14 x 10 x 2) by columns of 64 pixels of 64

!a = !cute.memref<f16, gmem, align<16>, "(1000,256):(256,1)">
!b = !cute.memref<f16, gmem, align<16>, "(40,256):(256,1)">
!c = !cute.memref<f16, gmem, align<16>, "(1000,40):(40,1)">
#plan = #cute.plan<tile = 64x128x64, stages = 9, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(1,0,0)">, permutation_MNK = <"[64:1;128:1;16:1]">>, A = [<!cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>, mbarrier, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 9>], B = [<!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>, mbarrier, smem = <S<3,4,3>, "(128,64):(64,1)">, buffers = 9>], C = [<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, t>, immediate, smem = <S<3,4,3>, "(64,32):(1,64)">, buffers = 2>, <!cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, tma_gbasis = <"(64,32):(1@0,1@1)">, swizzle = 128>, bulk>]>
func.func @given(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 {cute.plan = #plan}
  return
}

#taps = #cute.plan<tile = 128x128x64, stages = 6, raster = 11, mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (mn, mn), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[128:1;128:1;16:1]">>, A = [<!cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@0,1@1)">, swizzle = 128>, mbarrier, smem = <S<3,4,3>, "((64,2),64):((1,4096),64)">, buffers = 6>], B = [<!cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>, mbarrier, smem = <S<3,4,3>, "((64,2),64):((1,4096),64)">, buffers = 6>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <S<3,4,3>, "(128,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.tma_store<f32, copy_bits = 131072, tma_gbasis = <"(32,128):(1@1,1@0)">, swizzle = 128>, bulk>]>
!x = !cute.memref<f16, gmem, align<16>, "(64,14,10,2):(1,64,896,8960)">
!dy = !cute.memref<f16, gmem, align<16>, "(96,280):(1,96)">
!df = !cute.memref<f32, gmem, align<16>, "(96,576):(576,1)">
!taps = !cute.coord_tensor<"(0,-1,-1,0)", "((64,3,3),(14,10,2)):((1@0,1@1,1@2),(1@1,1@2,1@3))">
func.func @filter(%dY: !dy, %X: !x, %dF: !df) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !taps
  cute.contract ins(%dY, %X : !dy, !x) outs(%dF : !df) accumulate f32 {cute.plan = #taps} at B(%at : !taps)
  return
}
