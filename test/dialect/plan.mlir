// Plans, as they are written and printed.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc
// RUN: cute-opt %t.mlirbc | FileCheck %s

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>

// A movement with its name, and texts that are not canonical.
// CHECK: gpu.func @kernel() kernel attributes {cute.plan = #cute.plan<tile = 32x64x32, stages = 3, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>,
// CHECK-SAME: A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 3>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
// CHECK-SAME: B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <"(64,(8,4)):(32,(1,8))">, buffers = 3>, <!cute_nvgpu.atom.ldsm<{{.*}}>, immediate>],
// CHECK-SAME: C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>}
gpu.module @kernels {
  gpu.func @kernel() kernel attributes {cute.plan = #cute.plan<tile = 32x64x32, stages = 3, raster = 8, mma = !mma,
      A = [#cute.movement<!copy, group, smem = <S<2,4,3>, "(32, 32) : (32, 1)">, buffers = 3>, <!load, immediate>],
      B = [<!copy, group, smem = <"(64,(8,4)):(32,(1,8))">, buffers = 3>, <!load, immediate>],
      C = [<!pair, immediate, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!store, immediate>]>} {
    gpu.return
  }
}

// A movement by itself.
// CHECK: #cute.movement<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate>
module attributes {some.movement = #cute.movement<!pair, immediate>} {
}

// Of how many blocks share a tile's sums nothing is printed where it is one, nor of how many ranges are dealt out to where none are.
// CHECK: alone = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma =
// CHECK-SAME: dealt = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 2, stream = 3, mma =
// CHECK-SAME: shared = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 4, mma =
module attributes {
    some.alone = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 1, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
      B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>,
    some.dealt = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 2, stream = 3, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
      B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>,
    some.shared = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 4, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
      B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>} {
}
