// What cannot be partitioned.
//
// RUN: cute-opt %s --cute-partition --split-input-file --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{copies or multiplies tiles of a block; expected the attribute cute.plan on the kernel, as cute-tile leaves it, to say by which atoms}}
  gpu.func @no_config(%a: !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">, %s: !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">) kernel {
    cute.block.copy A (%a, %s) : (!cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">, !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">)
    gpu.return
  }
}

// -----

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @no_way(%a: !g, %b: !g) kernel attributes {cute.plan = #plan} {
    // expected-error @below {{no way to copy a tile of A from gmem to gmem}}
    cute.block.copy A (%a, %b) : (!g, !g)
    gpu.return
  }
}

// -----

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @foreign_registers(%acc: !acc) kernel attributes {cute.plan = #plan} {
    // expected-error @below {{expected a register tensor that this block allocates}}
    cute.clear(%acc) : (!acc)
    gpu.return
  }
}

// -----

// 24 rows are no multiple of what the warps multiply.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!acc = !cute.memref<f32, rmem, "(24,32):(32,1)">
gpu.module @kernels {
  gpu.func @rows() kernel attributes {cute.plan = #plan} {
    // expected-error @below {{expected a register tensor that the tiled MMA of cute.plan can divide, as an accumulator of the block's tile, found (24,32):(32,1)}}
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    gpu.return
  }
}

// -----

// A thread's vector of a transposed tile does not lie in one place.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <"(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <"(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(1,64)">
!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @transposed(%a: !g) kernel attributes {cute.plan = #plan} {
    %s = cute.memref.alloca() : !s
    // expected-error @below {{'cute.copy' op failed to vectorize: the values of a thread in the source lie at 8:64, expected places side by side; the contiguous mode of (32,32):(1,64) is another one: use thread layout (4,8):(1,4) with value layout (8,1)}}
    cute.block.copy A (%a, %s) : (!g, !s)
    gpu.return
  }
}

// -----

// The pass says what the verifier would say of what it makes.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(1,32)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  gpu.func @other_major(%A: !g) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    // expected-error @below {{'cute.copy' op failed to vectorize}}
    cute.block.copy A (%A, %sa) : (!g, !s)
    gpu.return
  }
}

// -----

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // expected-error @below {{expected known_block_size of 32, 1, 1, the threads of the tiled MMA of cute.plan, found 2, 1, 1}}
  gpu.func @fewer_threads(%A: !g) kernel attributes {known_block_size = array<i32: 2, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    cute.block.copy A (%A, %sa) : (!g, !s)
    gpu.return
  }
}

// -----

// A copy is known by its tile in shared memory.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  gpu.func @other_tile(%A: !g) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    // expected-error @below {{expected the tile of A in shared memory that cute.plan copies from gmem to smem, S<2,4,3> (32,32):(32,1), found (32,32):(32,1)}}
    cute.block.copy A (%A, %sa) : (!g, !s)
    gpu.return
  }
}

// -----

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!r = !cute.memref<f32, rmem, "(32,32):(32,1)">
!s = !cute.memref<f32, gmem, align<16>, "(32,32):(32,1)">
!at = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
gpu.module @kernels {
  gpu.func @edge(%s: !s, %at: !at, %end: !cute.coord<"(?,_)">) kernel attributes {cute.plan = #plan} {
    %r = cute.memref.alloca() : !r
    // expected-error @below {{expected a whole tile where C goes straight from registers to global memory, found one that may reach over the end of a matrix; copy it through shared memory}}
    cute.block.copy C (%r, %s) within(%at, %end : !at, !cute.coord<"(?,_)">) : (!r, !s)
    gpu.return
  }
  gpu.func @of_a(%s: !s) kernel attributes {cute.plan = #plan} {
    %r = cute.memref.alloca() : !r
    // expected-error @below {{no way to copy a tile of A from rmem to gmem}}
    cute.block.copy A (%r, %s) : (!r, !s)
    gpu.return
  }
  gpu.func @odd(%p: !cute.memref<f32, gmem, align<16>, "(30,32):(32,1)">, %q: !cute.memref<f16, gmem, align<16>, "(30,32):(32,1)">) kernel attributes {cute.plan = #plan} {
    // expected-error @below {{expected a tensor whose mode 0 (M) is a multiple of 8, found (30,32):(32,1)}}
    cute.block.transform C ins(%p, %p : !cute.memref<f32, gmem, align<16>, "(30,32):(32,1)">, !cute.memref<f32, gmem, align<16>, "(30,32):(32,1)">) outs(%q : !cute.memref<f16, gmem, align<16>, "(30,32):(32,1)">) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      %h = arith.truncf %s : f32 to f16
      cute.yield %h : f16
    }
    gpu.return
  }
}

// -----

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
!own = !cute.memref<f16, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @sums_in_registers() kernel attributes {cute.plan = #plan} {
    %acc = cute.memref.alloca() : !acc
    %own = cute.memref.alloca() : !own
    // expected-error @below {{expected the sums in shared memory, found them in registers, of which parts go out by a plan of warpgroups alone; copy them into C's tile first}}
    cute.block.transform C ins(%acc : !acc) outs(%own : !own) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to f16
      cute.yield %y : f16
    }
    gpu.return
  }
}

// -----

// Registers that are no factor.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
!r = !cute.memref<f16, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @no_factor() kernel attributes {cute.plan = #plan} {
    %s = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !r
    %acc = cute.memref.alloca() : !acc
    // expected-error @below {{expected B in shared memory, or in registers where a cute.block.transform B computes it}}
    cute.block.gemm(%s, %b, %acc) : (!s, !r, !acc)
    gpu.return
  }
}

// -----

// A plan whose tiles in shared memory have elements that are multiplied as they are.
!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!r = !cute.memref<f16, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @as_they_are() kernel attributes {cute.plan = #plan} {
    %s = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !r
    // expected-error @below {{expected a cute.plan that copies B as f16, and multiplies f16, found one of B of f16 and f16; what is multiplied is computed in registers of narrower elements in shared memory}}
    cute.block.transform B ins(%s : !s) outs(%b : !r) {
    ^bb0(%x: f16):
      cute.yield %x : f16
    }
    gpu.return
  }
}
