// What is wrong with a plan is said where it is written.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

// Numbers that cannot be reckoned with.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected M of the tile of 1 to 65536, found 65537}}
#plan = #cute.plan<tile = 65537x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected stages of 1 to 1024, found 0}}
#plan = #cute.plan<tile = 32x32x32, stages = 0, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected raster of 1 to 2147483647, found -1}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = -1, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected split of 1 to 32, found 33}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 33, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected stream of 0 to 32 blocks that a multiprocessor runs at once, found 33}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, stream = 33, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected stream = 2 beside split = 2 or more, the blocks that share a tile at most, where warps multiply; found split = 1}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, stream = 2, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected clusters of at most 8 blocks where warps have roles, and of one elsewhere, found 2x1}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, cluster_m = 2, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected blocks of a cluster along N of 1 to 8, found 9}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, cluster_n = 9, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected teams of 1 to 4, found 5}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, teams = 5, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected one team where K is split, and where warps have no roles, found teams = 2 and split = 1}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, teams = 2, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of C: expected a tile that reaches over at most 2147483648 elements of the workspace, found (32,32):(1099511627776,1)}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 2, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(1099511627776,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// What multiplies.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected a tiled MMA, found f32}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = f32, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the tile 32x24x32 is not a multiple of 16x16x16, which (1,1,1) of SM80_16x8x16_F32F16F16F32_TN cover}}
#plan = #cute.plan<tile = 32x24x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the atoms (8,8,1) of the tiled MMA are 2048 threads, a block has at most 1024}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(8,8,1):(1,8,0)">>, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// A movement by itself.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found f16}}
#movement = #cute.movement<f16, immediate>
module attributes {some.use = #movement} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected group, as SM80_CP_ASYNC_16 completes, found immediate}}
#movement = #cute.movement<!copy, immediate>
module attributes {some.use = #movement} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected immediate, group, mbarrier or bulk, as the atom completes, found soon}}
#movement = #cute.movement<!copy, soon>
module attributes {some.use = #movement} {
}

// -----

!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
// expected-error @below {{expected group, as SM80_CP_ASYNC_16 completes, found mbarrier}}
#movement = #cute.movement<!copy, mbarrier>
module attributes {some.use = #movement} {
}

// -----

!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
// expected-error @below {{expected mbarrier, as atom.tma_load completes, found group}}
#movement = #cute.movement<!tma, group, smem = <S<3,4,3>, "(128,64):(64,1)">, buffers = 2>
module attributes {some.use = #movement} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected a static layout of rows and columns in shared memory, found 32:1}}
#movement = #cute.movement<!copy, group, smem = <"32:1">, buffers = 1>
module attributes {some.use = #movement} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected a layout in shared memory with a place of its own for each of at most 1048576 elements, found (32,32):(1,1)}}
#movement = #cute.movement<!copy, group, smem = <"(32,32):(1,1)">, buffers = 1>
module attributes {some.use = #movement} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected 1 to 1024 buffers, found 0}}
#movement = #cute.movement<!copy, group, smem = <"(32,32):(32,1)">, buffers = 0>
module attributes {some.use = #movement} {
}

// -----

// The ways of the operands.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected two movements, from gmem to smem and from there to rmem, found 1}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of B: expected the first movement to say where in shared memory it ends: smem = <"layout">, buffers = N}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected the second movement to end in rmem, found one that ends in shared memory}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate, smem = <"(32,32):(32,1)">, buffers = 2>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected a copy from gmem to smem, found SM75_U32x4_LDSM_N, which copies from smem to rmem}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!load, immediate, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of C: expected a copy from smem to gmem, found SM80_CP_ASYNC_16, which copies from gmem to smem}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!copy, group>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected copies of f16, found one of f32}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!cute_nvgpu.atom.simt_async_copy<f32, cache = global, 128 b>, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of C: expected copies of f16, found one of f32}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// Tiles in shared memory.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected 32x32 elements in shared memory, as the tile is, found (32,16):(16,1)}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,16):(16,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected buffers = 2, as many as stages, found 3}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 3>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of C: expected buffers = 1, as there is one tile of it in a block, found 2}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 2>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: S<2,3,3> swizzles within the 16 bytes that SM75_U32x4_LDSM_N accesses at once; expected M of at least 4}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <S<2,3,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// Threads and vectors.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: 256 threads copy 128 rows of the 64x16 tile at a time, which does not divide 64}}
#plan = #cute.plan<tile = 64x32x16, stages = 2, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(4,2,1):(1,4,0)">>, A = [<!copy, group, smem = <"(64,16):(16,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,16):(16,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// Where it is read.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
// expected-error @below {{'gpu.module' op has the attribute 'cute.plan', where nothing reads it; expected it on a cute.contract or a kernel}}
gpu.module @kernels attributes {cute.plan = #plan} {
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op expected cute.plan = #cute.plan<...>, found}}
  gpu.func @kernel() kernel attributes {cute.plan = "fast"} {
    gpu.return
  }
}

// -----

// What plans have replaced.
gpu.module @kernels {
  // expected-error @below {{has the attribute 'cute.config', which nothing reads}}
  gpu.func @kernel() kernel attributes {cute.config = {stages = 1 : i64}} {
    gpu.return
  }
}

// -----

// Stages stand on loops.
func.func @stages(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op expected cute.stages = an integer from 1 to 1024, found 0 : i64}}
  scf.for %i = %c0 to %n step %c1 {
  } {cute.stages = 0 : i64}
  return
}

// -----

func.func @stages(%c: i1) {
  // expected-error @below {{'scf.if' op has the attribute 'cute.stages', where nothing reads it; expected it on a cute.contract or an scf.for}}
  scf.if %c {
  } {cute.stages = 2 : i64}
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,255,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{expected 64 threads of the tiled MMA with numbers from 0 to 63, found numbers up to 8191 by the atoms (1,2,1):(1,255,0); give each atom the next number, as (2,2,1):(1,2,0) does}}
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,32):(32,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}

// -----

// Where K is permuted ldmatrix does not know which elements are neighbours.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;(2,4,2,4):(1,16,2,4)]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 128 b>
// expected-error @below {{the way of A: expected !cute_nvgpu.atom.universal_copy from shared memory, where K is permuted or what is multiplied is computed in registers, found SM75_U32x4_LDSM_N}}
#plan = #cute.plan<tile = 32x32x64, stages = 2, raster = 8, mma = !mma, A = [<!copy, group, smem = <"(32,64):(64,1)">, buffers = 2>, <!load, immediate>], B = [<!copy, group, smem = <"(32,64):(64,1)">, buffers = 2>, <!load, immediate>], C = [<!pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!store, immediate>]>
module attributes {some.use = #plan} {
}
