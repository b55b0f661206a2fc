// Plans that somebody wrote for a product, and that do not fit it.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics
// RUN: not cute-opt %S/../compile/plan.mlir --cute-tile="arch=sm_75" 2>&1 | FileCheck %s --check-prefix=TURING
// RUN: not cute-opt %S/../compile/plan.mlir --cute-tile="arch=sm_80 tile=32x32x32" 2>&1 | FileCheck %s --check-prefix=BESIDE
//
// TURING: error: 'cute.contract' op is computed with SM80_16x8x8_F32F16F16F32_TN, which exists on sm_80 and later; found arch=sm_75
// BESIDE: error: 'cute.contract' op has a cute.plan, and tile is asked for beside it; expected one of them: write it into the plan

// Elements and sums of other types.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<bf16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan for A of f16, found bf16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan for the accumulators of f32, found f16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f16 {cute.plan = #plan}
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<8>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan that moves 8 elements of A at once, of which 4 are known to be side by side, aligned together, and there together; expected an atom of at most 64 bits, or a stride, an extent and an alignment of A that are multiples of 8 elements}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}

// -----

// The architecture.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 50, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 50>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 50>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op 50 stages of 32x32x32 need 204800 bytes of shared memory, sm_80 has 166912}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}

// -----

// A plan says all.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan, and raster is asked for beside it; expected one of them: write it into the plan}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan, cute.raster = 2 : i64}
  return
}

// -----

// A lies column by column, and its tile in shared memory row by row.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  B = [<!copy, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!load, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">
func.func @gemm(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{has a cute.plan that moves 8 neighbours along the columns of A at once, whose rows are contiguous; expected a tile of A in shared memory that lies as A does}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}

// -----

// Elements as they are stored, which nothing makes what is multiplied.
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;(2,4,2,4):(1,16,2,4)]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!bytes = !cute_nvgpu.atom.simt_async_copy<i8, cache = global, 128 b>
#plan = #cute.plan<tile = 32x32x64, stages = 2, raster = 8, mma = !mma,
  A = [<!copy, group, smem = <"(32,64):(64,1)">, buffers = 2>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>],
  B = [<!bytes, group, smem = <"(32,64):(64,1)">, buffers = 2>, <!cute_nvgpu.atom.universal_copy<i8, 128 b>, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!w = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
!u = !cute.memref<ui8, gmem, align<16>, "(64,64):(64,1)">
func.func @nothing(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan that copies B as i8, which a prologue makes f16; expected copies of what is multiplied, as there is no prologue}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}
func.func @another(%A: !t, %B: !u, %C: !t) {
  // expected-error @below {{'cute.contract' op has a cute.plan that copies B as i8 and computes it in registers, where ui8 is stored; expected copies of what is stored, of 8 bits}}
  cute.contract ins(%A, %B) outs(%C) accumulate f32 {cute.plan = #plan} prologue B {
  ^bb0(%b: i8):
    %f = arith.uitofp %b : i8 to f16
    cute.yield %f : f16
  }
  return
}
func.func @part(%A: !t, %B: !cute.memref<i8, gmem, align<16>, "(48,64):(64,1)">, %C: !cute.memref<f16, gmem, align<16>, "(64,48):(48,1)">) {
  // expected-error @below {{where each tile of what the prologue computes has to be whole; expected extents of that factor that are known, and that tile= divides, and no groups of its rows}}
  cute.contract ins(%A, %B) outs(%C) accumulate f32 {cute.plan = #plan} prologue B {
  ^bb0(%b: i8):
    %f = arith.sitofp %b : i8 to f16
    cute.yield %f : f16
  }
  return
}

// -----

// With K in parts the plan is one for sums in f32, of which C is made behind the product.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
#plan = #cute.plan<tile = 32x32x32, stages = 2, raster = 8, split = 2, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>,
  A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
  B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
  C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
func.func @bytes_of_sums(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{sums in f32 are not rounded to i8 here yet: expected C of f32, f16 or bf16, found i8}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32 {cute.plan = #plan}
  return
}
