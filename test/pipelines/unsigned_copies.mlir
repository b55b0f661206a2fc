// The loop of copies.mlir with a counter that has no sign: its tiles are counted from 16 below the largest number with a sign, so that
// bounds and turns on both sides of it are compared. Copies that run over the end are predicated.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
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
!cp_async = !cute_nvgpu.atom.simt_async_copy<f32, cache = global, 128 b>
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!into = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),4,1):((1,0),8192,0)">
!smem = !cute.memref<f32, smem, align<16>, "(32,128):(128,1)">
!spart = !cute.memref<f32, smem, align<16>, "((4,1),4,1):((1,0),1024,0)">
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
      %cp_async = cute.make_atom() : () -> !cp_async
      %into = cute.make_tiled_copy(%cp_async) : !into
      %s = cute.memref.alloca() : !smem
      %to = cute.tiled.copy.partition_D(%into, %s, %thread) : (!into, !smem, !at_thread) -> !spart
      %from = cute.tiled.copy.partition_S(%copy, %s, %thread) : (!copy, !smem, !at_thread) -> !spart

      // 24 x 8 tiles, those of a row one after the other; a block takes every so manyth of them as there are blocks.
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %base = arith.constant 2147483631 : i32
      %first = arith.addi %base, %block : i32
      %tiles = arith.constant -2147483473 : i32
      %across = arith.constant 8 : i32
      scf.for unsigned %u = %first to %tiles step %blocks : i32 {
        %t = arith.subi %u, %base : i32
        %row32 = arith.divui %t, %across : i32
        %column32 = arith.remui %t, %across : i32
        %at = cute.make_coord(%row32, %column32) : (i32, i32) -> !at_tile
        %gS = cute.local_tile(%S, %tiler, %at) : (!T, !tiler, !at_tile) -> !tile
        %gD = cute.local_tile(%D, %tiler, %at) : (!T, !tiler, !at_tile) -> !tile
        %tS = cute.tiled.copy.partition_S(%into, %gS, %thread) : (!into, !tile, !at_thread) -> !part
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !tile, !at_thread) -> !part
        %frag = cute.memref.alloca() : !frag
        cute.copy(%into, %tS, %to) : (!into, !part, !spart)
        cute.copy(%copy, %from, %frag) : (!copy, !spart, !frag)
        cute.copy(%copy, %frag, %tD) : (!copy, !frag, !part)
      } {cute.stages = 4 : i64}
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
