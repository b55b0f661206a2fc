// What no part of a block with sums of products can be is refused where it stands.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected cute.plan on each sum of products, by which it is multiplied}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected a sum of products; rows without any are a cute.block.map}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    cute.yield %aw : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"?">) {
  // expected-error @below {{'cute.block.fuse' op expected the first row and the first column, and where blocks share E its first element, as a coordinate, found !cute.coord<"?">}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"?">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1,1):(64,0,1,0,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1,1):(0,64,1,0,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1,1):(64,1,0,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected tensors of rows, columns, K and E, found (64,64,64,1,1):(64,1,0,0,0)}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected plans of one tile of rows and columns, found [64, 64] and [64, 32]}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    %t = cute.all_reduce "add" %ab along [2] {cute.plan = #narrow} : f32
    %u = arith.addf %s, %t : f32
    cute.yield %u : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<bf16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<bf16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected a sum of products as its cute.plan multiplies, of f16, found bf16}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: bf16, %b: bf16):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected factors of a sum of products along mode 2 that are f16 or bf16, widened to f32 by arith.extf, found an element of f32}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f32, %b: f32):
    %ab = arith.mulf %a, %b : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,1)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected sums of products along K or columns, mode 2 or 1, found mode 3}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [3] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected a cute.plan with an atom of 16x8x16 for each 16 rows, one below the other, found (2,2,1) of SM80_16x8x16_F32F16F16F32_TN for 64 rows}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=32},0)">) {
  // expected-error @below {{'cute.block.fuse' op expected a first row and a first column that are multiples of the 64 that a block takes, found ?{div=32}}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=32},0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!x = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @f(%X: !x) {
  cute.map ins(%X : !x) outs(%X : !x) {
  ^bb0(%x: f32):
    // expected-error @below {{'cute.all_reduce' op has the attribute 'cute.plan', where nothing reads it; expected it on a cute.contract or a kernel or a cute.all_reduce of a cute.block.fuse}}
    %s = cute.all_reduce "add" %x along [1] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
#narrow = #cute.plan<tile = 64x32x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(32,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
func.func @f(%A: !a, %B: !b, %D: !d) {
  %at = cute.static : !cute.coord<"(0,0,0)">
  // expected-error @below {{'cute.block.fuse' op expected a first element along E only beside products along columns, found (0,0,0)}}
  cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(0,0,0)">) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
    cute.yield %s : f32
  }
  return
}
