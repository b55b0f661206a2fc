// Prefetches into L2 and policies of L2, of copies by TMA and of bulk copies: assembled, and on the emulator without findings.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function copy --device=emulator --seeds 2 --shape src=256x128 --shape dst=256x128 | FileCheck %s
// RUN: cute-run %t.cutepkg --function copy --device=emulator --shape src=131x200 --shape dst=131x200 | FileCheck %s
// RUN: cute-run %t.cutepkg --function lines --device=emulator --seeds 2 | FileCheck %s
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx && FileCheck %s --check-prefix=PTX < %t.ptx
//
// CHECK: : right;
// CHECK: no findings
//
// A tile of 128 x 128 is two boxes.
// PTX: cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint
// PTX: cp.async.bulk.prefetch.tensor.2d.L2.global.L2::cache_hint
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
// PTX: cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!sT = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
!gT = !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@1,1@0)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">
!lines = !cute.memref<f32, gmem, align<16>, "(256,8):(1,256)">
!line = !cute.memref<f32, smem, align<16>, "256:1">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each tile is asked for ahead of its load.
    gpu.func @copy_kernel(%load: !load, %from: !coords, %store: !store, %to: !coords) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %i = arith.index_cast %bx : index to i32
      %j = arith.index_cast %by : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 32768 : i32
      %all = arith.constant -1 : i32
      %tiler = cute.static "[128:1;128:1]"
      %at = cute.make_coord(%i, %j)
      %g = cute.local_tile(%from, %tiler, %at)
      %h = cute.local_tile(%to, %tiler, %at)
      %s = cute.memref.alloca() : !sT
      %bar = cute.memref.alloca() : !bar
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.tma_prefetch(%load, [%g]) policy "evict_first"
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%load, [%g], %s) on %bar[%c0] policy "evict_first" : (!load, [!gT], !sT), !bar
      }
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute_nvgpu.tma_store(%store, %s, [%h]) policy "evict_first"
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }

    // A block copies a line, and asks for the one that another block copies.
    gpu.func @lines_kernel(%from: !lines, %to: !lines) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %i = arith.index_cast %bx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c7 = arith.constant 7 : i32
      %next = arith.xori %i, %c7 : i32
      %bytes = arith.constant 1024 : i32
      %all = arith.constant -1 : i32
      %own = cute.make_coord(_, %i)
      %other = cute.make_coord(_, %next)
      %g = cute.slice(%from, %own)
      %n = cute.slice(%from, %other)
      %h = cute.slice(%to, %own)
      %s = cute.memref.alloca() : !line
      %bar = cute.memref.alloca() : !bar
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.bulk_prefetch(%n)
        cute_nvgpu.bulk_prefetch(%g) policy "evict_last"
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.bulk_load(%g, %s) on %bar[%c0] policy "evict_last"
      }
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute_nvgpu.bulk_store(%s, %h) policy "evict_last"
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }

  func.func @copy(%S: !mat {cute.name = "src"}, %D: !mat {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c0 = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %side = arith.constant 128 : i32
    %bm = arith.ceildivsi %m, %side : i32
    %bn = arith.ceildivsi %n, %side : i32
    %x = arith.index_cast %bm : i32 to index
    %y = arith.index_cast %bn : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %tile = cute.static "S<3,4,3> o 0 o (128,(64,2)):(64,(1,8192))"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, %tile)
    %store, %to = cute_nvgpu.atom.make_tma_store(%D, %tile)
    gpu.launch_func @kernels::@copy_kernel blocks in (%x, %y, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%load : !load, %from : !coords, %store : !store, %to : !coords)
    return
  }

  func.func @lines(%S: !lines {cute.name = "src"}, %D: !lines {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %blocks = arith.constant 8 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @kernels::@lines_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%S : !lines, %D : !lines)
    return
  }
}
