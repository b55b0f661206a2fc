// A persistent kernel: as many blocks as the GPU has multiprocessors, each of which takes one tile after another.
//
// The grid is no number of this file: `cute.sm_count` is read when the function is called, from the device that runs it, so
// that one package suits an A100 with 108 multiprocessors and an H200 with 132.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2
// RUN: cute-run %t.cutepkg --device=emulator --sms 3
// RUN: cute-run %t.cutepkg --device=emulator --sms 500
//
// On a GPU: cute-run persistent_copy.cutepkg --bench

!T = !cute.memref<f32, gmem, align<16>, "(768,1024):(1024,1)">
// A warp copies 512 bytes of a row, 8 warps as many rows.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),4,1):((1,0),4,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%S: !T {cute.noalias}, %D: !T {cute.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %tx = gpu.thread_id x
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32)
      %tiler = cute.static "[32:1;128:1]"
      %copy = cute.static : !copy

      // 24 x 8 tiles, those of a row one after the other; a block takes every so manyth of them as there are blocks.
      %first = gpu.block_id x
      %blocks = gpu.grid_dim x
      %tiles = arith.constant 192 : index
      %across = arith.constant 8 : index
      scf.for %t = %first to %tiles step %blocks {
        %row = arith.divui %t, %across : index
        %column = arith.remui %t, %across : index
        %row32 = arith.index_cast %row : index to i32
        %column32 = arith.index_cast %column : index to i32
        %at = cute.make_coord(%row32, %column32)
        %gS = cute.local_tile(%S, %tiler, %at)
        %gD = cute.local_tile(%D, %tiler, %at)
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
        %frag = cute.memref.alloca() : !frag
        cute.copy(%copy, %tS, %frag)
        cute.copy(%copy, %frag, %tD)
      }
      gpu.return
    }
  }

  // A block for each multiprocessor, and none without a tile.
  func.func @persistent_copy(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %tiles = arith.constant 192 : index
    %smem = arith.constant 0 : i32
    %sms = cute.sm_count() : index
    %blocks = arith.minsi %sms, %tiles : index
    gpu.launch_func @kernels::@copy_kernel blocks in (%blocks, %c1, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
