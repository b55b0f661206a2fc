// A loop of nothing but copies through registers, from one tensor to another that is apart: loads run two turns ahead. Where the
// loop begins, ends, and how far it steps is not known when it is compiled.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2
// RUN: cute-run %t.cutepkg --device=emulator --sms 3
// RUN: cute-run %t.cutepkg --device=emulator --sms 100
// RUN: cute-run %t.cutepkg --device=emulator --sms 500

!T = !cute.memref<f32, gmem, align<16>, "(768,1024):(1024,1)">
!at_tile = !cute.coord<"(?,?)">
!at_thread = !cute.coord<"?">
!tiler = !cute.tile<"[32:1;128:1]">
!tile = !cute.memref<f32, gmem, align<16>, "(32,128):(1024,1)">
// A warp copies 512 bytes of a row, 8 warps as many rows.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),4,1):((1,0),8192,0)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),4,1):((1,0),4,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%S: !T {cute.noalias}, %D: !T {cute.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, cute.synchronize} {
      %tx = gpu.thread_id x
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32) : (i32) -> !at_thread
      %tiler = cute.static : !tiler
      %vector = cute.make_atom() : () -> !vector
      %copy = cute.make_tiled_copy(%vector) : !copy

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
        %at = cute.make_coord(%row32, %column32) : (i32, i32) -> !at_tile
        %gS = cute.local_tile(%S, %tiler, %at) : (!T, !tiler, !at_tile) -> !tile
        %gD = cute.local_tile(%D, %tiler, %at) : (!T, !tiler, !at_tile) -> !tile
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy, !tile, !at_thread) -> !part
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !tile, !at_thread) -> !part
        %frag = cute.memref.alloca() : !frag
        cute.copy(%copy, %tS, %frag) : (!copy, !part, !frag)
        cute.copy(%copy, %frag, %tD) : (!copy, !frag, !part)
      } {cute.stages = 3 : i64}
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
