// TMA of a tensor of six extents: the last dimension of the map stands for two of them.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 2>&1 | FileCheck %s
// INFO: map of src (64 x 8 x 3 x 2 x 24) by boxes of 64 x 8 x 1 x 1 x 1, map of dst (64 x 288) by boxes of 64 x 8
// CHECK: right
// CHECK: no findings

// The last two, 2 and 3 of strides 12288 and 40960, are 3 and 10 steps of 4096: from 0 to 1 * 3 + 2 * 10, of which there are 24.
!src = !cute.memref<f16, gmem, align<16>, "(64,(8,3,2,2,3)):(1,(64,1024,4096,12288,40960))">
!dst = !cute.memref<f16, gmem, align<16>, "(64,288):(1,64)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, tma_gbasis = <"(64,8,1,1,1):(1@0,1@1,1@2,1@3,1@4)">, swizzle = 0>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 8192, tma_gbasis = <"(64,8):(1@0,1@1)">, swizzle = 0>
!from = !cute.coord_tensor<"(0,0,0,0,0)", "(64,(8,3,2,2,3)):(1@0,(1@1,1@2,1@3,3@4,10@4))">
!to = !cute.coord_tensor<"(0,0)", "(64,288):(1@0,1@1)">
!tile = !cute.memref<f16, smem, align<128>, "(64,8):(1,64)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%load: !load, %from: !from, %store: !store, %to: !to) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %x = gpu.block_id x
      %i = arith.index_cast %x : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 1024 : i32
      %all = arith.constant -1 : i32
      %at = cute.make_coord(%c0, %i)
      %g = cute.local_tile(%from, "[64:1;8:1]", %at)
      %h = cute.local_tile(%to, "[64:1;8:1]", %at)
      %s = cute.memref.alloca() : !tile
      %bar = cute.memref.alloca() : !bar
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%load, [%g], %s) on %bar[%c0]
      }
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute_nvgpu.tma_store(%store, %s, [%h])
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }
  func.func @copy(%S: !src {cute.name = "src"}, %D: !dst {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %tile = cute.static "(64,8):(1,64)"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, %tile)
    %store, %to = cute_nvgpu.atom.make_tma_store(%D, %tile)
    %blocks = cute.static shape "36"
    cute.launch @kernels::@copy_kernel blocks(%blocks) args(%load, %from, %store, %to)
    return
  }
}
