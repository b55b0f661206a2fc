// What a block does together is partitioned and guarded wherever it stands: in an `else`, and in a loop that counts its turns
// itself.
//
// RUN: cute-opt %s --cute-partition --cute-synchronize --split-input-file --verify-diagnostics | FileCheck %s

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
!r = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @else
  // CHECK: } else {
  // CHECK-COUNT-2: cute.copy(%{{.*}}, %{{.*}}, %{{.*}})
  // CHECK: }
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: gpu.barrier
  // CHECK: cute.gemm(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  gpu.func @else(%A: !g, %B: !g, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    %sb = cute.memref.alloca() : !s
    %acc = cute.memref.alloca() : !r
    cute.clear(%acc) : (!r)
    scf.if %c {
    } else {
      cute.block.copy A (%A, %sa) : (!g, !s)
      cute.block.copy B (%B, %sb) : (!g, !s)
    }
    cute.block.gemm(%sa, %sb, %acc) : (!s, !s, !r)
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
!r = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @product_in_else
  // CHECK: } else {
  // CHECK: cute.gemm(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  gpu.func @product_in_else(%A: !g, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    %acc = cute.memref.alloca() : !r
    cute.clear(%acc) : (!r)
    cute.block.copy A (%A, %sa) : (!g, !s)
    scf.if %c {
    } else {
      cute.block.gemm(%sa, %sa, %acc) : (!s, !s, !r)
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
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 8, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @while
  // CHECK: } do {
  // CHECK: cute.copy(%{{.*}}, %{{.*}}, %{{.*}})
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: scf.yield
  gpu.func @while(%A: !g, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %r = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      cute.block.copy A (%A, %sa) : (!g, !s)
      %next = arith.addi %i, %one : i32
      scf.yield %next : i32
    }
    gpu.return
  }
}

// -----

// Copies of all threads together, where only some threads come.
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
  gpu.func @some_threads(%A: !g) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    %t = gpu.thread_id x
    %n = arith.constant 16 : index
    %c = arith.cmpi ult, %t, %n : index
    // expected-note @below {{this depends on the thread}}
    scf.if %c {
      // expected-error @below {{'cute.block.copy' op is done by all threads of the block together, but not all threads of the block need come here alike}}
      cute.block.copy A (%A, %sa) : (!g, !s)
    }
    gpu.return
  }
}

// -----

// Which of several blocks a thread comes to is not known.
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
  gpu.func @several_blocks(%A: !g, %c: i1) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.plan = #plan} {
    %sa = cute.memref.alloca() : !s
    // expected-note @below {{this depends on the thread}}
    scf.execute_region {
      cf.cond_br %c, ^a, ^b
    ^a:
      // expected-error @below {{'cute.block.copy' op is done by all threads of the block together, but not all threads of the block need come here alike; expected it outside of the 'scf.execute_region' around it}}
      cute.block.copy A (%A, %sa) : (!g, !s)
      cf.br ^b
    ^b:
      scf.yield
    }
    gpu.return
  }
}
