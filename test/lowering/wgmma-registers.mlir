// Products of warpgroups with A in registers, as the program writes them: a fragment that is loaded from shared memory, fenced with the
// accumulators, and free again behind the wait. The same values as those of a product with both in shared memory.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
//
// RIGHT: right; every element
// RIGHT: no findings
//
// PTX: wgmma.fence.sync.aligned
// PTX: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{{[^}]*}}}, {{{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+}}}, %rd{{[0-9]+}}, p, 1, 1, 0;
// PTX: wgmma.commit_group
// PTX: wgmma.wait_group.sync.aligned 0

!mA = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!mB = !cute.memref<f16, gmem, align<16>, "(32,64):(64,1)">
!mC = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!sB = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(32,64):(64,1)">
!wgmma = !cute_nvgpu.sm90.mma<64x32x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @registers_kernel(%A: !mA, %B: !mB, %C: !mC) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %tx = gpu.thread_id x
      %t32 = arith.index_cast %tx : index to i32
      %t = cute.make_coord(%t32)
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sB
      cute.cooperative_copy(%t, %A, %sA) {threads = 128 : i64}
      cute.cooperative_copy(%t, %B, %sB) {threads = 128 : i64}
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %tCgC = cute.tiled.mma.partition C (%mma, %C, %t)
      %a = cute.mma.make_fragment A (%mma, %tCsA)
      cute.autovec_copy(%tCsA, %a)
      %acc = cute.mma.make_fragment C (%mma, %tCgC)
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc, %a)
      cute.gemm(%mma, %acc, %a, %tCsB, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 0 (%acc)
      cute.autovec_copy(%acc, %tCgC)
      gpu.return
    }
  }
  func.func @product(%A: !mA {cute.name = "A"}, %B: !mB {cute.name = "B"}, %C: !mC {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %none = arith.constant 0 : i32
    gpu.launch_func @kernels::@registers_kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %none args(%A : !mA, %B : !mB, %C : !mC)
    return
  }
}
