// A copy of a matrix, tile by tile: each thread moves 16 bytes at a time, through registers.
//
// CuTe's counterpart is examples/cute/tutorial/tiled_copy.cu. Shapes are whole numbers of tiles here, and known only when the
// kernel is launched; tiled_copy_if.mlir and tiled_copy_if_dynamic.mlir leave the first of these out.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=256x128 --shape dst=256x128
//
// On a GPU: cute-run tiled_copy.cutepkg --bench --shape src=16384x4096 --shape dst=16384x4096

// Columns follow each other in memory, each a whole number of tiles long and starting at a multiple of 512 bytes. That their distance
// is an i64 leaves the tensor as large as memory.
!T = !cute.memref<f32, gmem, align<16>, "(?{div=128},?{div=64}):(1,?{i64 div=128})">
// What the 256 threads copy at once: 32 threads along a column with four elements each, 8 threads along the rows.
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
// What a thread copies: ((elements of an instruction, instructions for them), along columns, along rows). The tile has 64 columns,
// so there are 8 instructions, 8 columns apart.
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // Who this is: a block's coordinate among the tiles, and a thread's index in its block.
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %by32)
      %thread = cute.make_coord(%tx32)

      // The block's tile of both tensors. Views cost nothing: they are a pointer and a layout.
      %tiler = cute.static "[128:1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)

      // The thread's part of the tile, as the tiled copy deals it out.
      %copy = cute.static : !copy
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)

      // All loads first, then all stores: 128 bytes of each thread are on their way at once, which hides the latency of memory.
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tS, %frag)
      cute.copy(%copy, %frag, %tD)
      gpu.return
    }
  }

  // A block for each tile.
  func.func @copy(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    // The compiler knows how much shared memory the kernel takes, and sets it.
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %across = arith.divsi %m, %c128 : index
    %along = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@copy_kernel blocks in (%across, %along, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
