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
  // expected-error @below {{the kernel needs 131072 bytes of shared memory, sm_89 has 101376, 29696 fewer: 131072 by 2 tensors; tile=128x128x32 warps=2x2 stages=3 fits}}
  gpu.func @too_large() kernel attributes {cute.plan = #plan} {
    // expected-note @below {{65536 bytes from byte 0 on: !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">}}
    %a = cute.memref.alloca() : !s
    // expected-note @below {{65536 bytes from byte 65536 on: !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">}}
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

// -----

// Barriers are counted apart, and what lies between tensors. Of many tensors the smallest are summed up, and what others have at another time is told.
!ring = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,14):(64,1,8192)">
!odd = !cute.memref<f16, smem, align<1024>, "1000:1">
!small = !cute.memref<f16, smem, align<16>, "64:1">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // expected-error @below {{the kernel needs 234480 bytes of shared memory, sm_90a has 232448, 2032 fewer: 234400 by 11 tensors, 64 by 8 mbarriers, 16 between them, where they are aligned; use smaller or fewer tensors, or fewer stages}}
  // expected-note @below {{3 smaller tensors take 384 bytes more}}
  gpu.func @with_barriers(%n: i32) kernel {
    %c0 = arith.constant 0 : i32
    // expected-note @below {{229376 bytes from byte 0 on}}
    %a = cute.memref.alloca() : !ring
    // expected-note @below {{2000 bytes from byte 229376 on}}
    %b = cute.memref.alloca() : !odd
    // expected-note @below {{2000 bytes from byte 231424 on}}
    %c = cute.memref.alloca() : !odd
    %full = cute.memref.alloca() : !bars
    %empty = cute.memref.alloca() : !bars
    // expected-note @below {{128 bytes from byte}}
    %s0 = cute.memref.alloca() : !small
    // expected-note @below {{128 bytes from byte}}
    %s1 = cute.memref.alloca() : !small
    // expected-note @below {{128 bytes from byte}}
    %s2 = cute.memref.alloca() : !small
    // expected-note @below {{128 bytes from byte}}
    %s3 = cute.memref.alloca() : !small
    // expected-note @below {{128 bytes from byte}}
    %s4 = cute.memref.alloca() : !small
    %s5 = cute.memref.alloca() : !small
    %s6 = cute.memref.alloca() : !small
    %s7 = cute.memref.alloca() : !small
    cute_nvgpu.mbarrier_init %full[%c0], %n : !bars
    cute_nvgpu.mbarrier_init %empty[%c0], %n : !bars
    cute.block.copy A (%a, %a) : (!ring, !ring)
    cute.block.copy A (%b, %b) : (!odd, !odd)
    cute.block.copy A (%c, %c) : (!odd, !odd)
    cute.block.copy A (%s0, %s0) : (!small, !small)
    cute.block.copy A (%s1, %s1) : (!small, !small)
    cute.block.copy A (%s2, %s2) : (!small, !small)
    cute.block.copy A (%s3, %s3) : (!small, !small)
    cute.block.copy A (%s4, %s4) : (!small, !small)
    cute.block.copy A (%s5, %s5) : (!small, !small)
    cute.block.copy A (%s6, %s6) : (!small, !small)
    cute.block.copy A (%s7, %s7) : (!small, !small)
    gpu.return
  }
}

// -----

!half = !cute.memref<f16, smem, align<128>, "(128,32,6):(32,1,4096)">
!whole = !cute.memref<f16, smem, align<128>, "(128,32,8):(32,1,4096)">
gpu.module @kernels [#nvvm.target<chip = "sm_89">] {
  // expected-error @below {{the kernel needs 114688 bytes of shared memory, sm_89 has 101376, 13312 fewer: 114688 by 3 tensors; use smaller or fewer tensors, or fewer stages}}
  gpu.func @in_turn() kernel {
    // expected-note @below {{65536 bytes from byte 0 on}}
    %a = cute.memref.alloca() : !whole
    // expected-note @below {{49152 bytes from byte 65536 on}}
    %b = cute.memref.alloca() : !half
    // expected-note @below {{49152 bytes from byte 0 on, 49152 of which tensors above have at another time}}
    %c = cute.memref.alloca() : !half
    cute.block.copy A (%a, %a) : (!whole, !whole)
    cute.block.copy A (%b, %b) : (!half, !half)
    cute.block.copy A (%a, %a) : (!whole, !whole)
    cute.block.copy A (%c, %c) : (!half, !half)
    gpu.return
  }
}
