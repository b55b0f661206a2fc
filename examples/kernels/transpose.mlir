// The transpose of a matrix, through shared memory that is swizzled so that no access waits for a bank.
//
// Rows of the source are rows of memory, so are rows of the destination: a thread that loads 16 bytes of a row has four elements
// that belong into four rows. They change hands in shared memory. A copy between tensors of which one is seen transposed is what CuTe
// makes transposes of: one tile, two layouts.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=128x192 --shape dst=192x128
//
// On a GPU: cute-run transpose.cutepkg --bench --shape src=8192x8192 --shape dst=8192x8192

// Whole tiles; a row's end and the next row's start may have a gap between them.
!T = !cute.memref<f32, gmem, align<16>, "(?{div=64},?{div=64}):(?{i64 div=64},1)">

// The tile in shared memory lies as the destination wants it: element (n,m) at 64 n + m. 64 floats are two rounds of the 32 banks, so
// without a swizzle all elements of a column n are in the same bank, and a warp that stores along n queues up. S<3,4,6> xors three bits
// of the row, byte address bits 10 to 12 (n / 4 modulo 8), into bits 4 to 6, which choose the group of four banks.
!shared = !cute.memref<f32, smem, align<8192>, S<3,4,6>, "(64,64):(64,1)">

// Vectors of 16 bytes: 8 threads along a row, 32 rows. A warp touches 128 bytes, four whole sectors, of each of four rows.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),2,2):((1,0),4,8)">
// The same threads with the same elements, but one at a time, as they are not side by side in the transposed tile. What a warp stores at
// once is at n = 4 t + i, for its 8 threads t along a row, and at 4 values of m, its rows: by the swizzle in bank
// 4 (m / 4 xor t) + m modulo 4, each in its own.
!element = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!scatter = !cute.tiled_copy<!element, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @transpose_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32)

      // Tile (x,y) of the source becomes tile (y,x) of the destination. Blocks that follow each other read tiles below each other and
      // write tiles side by side, which was measured to be 1 % faster than the other way round.
      %from = cute.make_coord(%bx32, %by32)
      %to = cute.make_coord(%by32, %bx32)
      %tiler = cute.static "[64:1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %from)
      %gD = cute.local_tile(%D, %tiler, %to)

      // One piece of shared memory, two views.
      %s = cute.memref.alloca() : !shared
      %start = cute.get_iter(%s)
      %transposed = cute.static "(64,64):(1,64)"
      %st = cute.make_view(%start, %transposed)
      %copy = cute.static : !copy
      %scatter = cute.static : !scatter

      // Global memory to registers, by vectors.
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
      %loaded = cute.memref.alloca() : !frag
      cute.copy(%copy, %tS, %loaded)

      // Registers to shared memory, element by element: the same registers, named as the other copy takes them.
      %tsS = cute.tiled.copy.partition_D(%scatter, %st, %thread)
      %registers = cute.get_iter(%loaded)
      %names = cute.static "((1,4),2,2):((0,1),4,8)"
      %scattered = cute.make_view(%registers, %names)
      cute.copy(%scatter, %scattered, %tsS)

      // What a thread reads next, others have written.
      gpu.barrier

      // Shared memory to registers and on to global memory, by vectors: 8 threads read 128 bytes of a row, the swizzle leaves these in
      // the same 32 banks, only in another order.
      %tsD = cute.tiled.copy.partition_S(%copy, %s, %thread)
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
      %turned = cute.memref.alloca() : !frag
      cute.copy(%copy, %tsD, %turned)
      cute.copy(%copy, %turned, %tD)
      gpu.return
    }
  }

  // A block for each tile.
  func.func @transpose(%S: !T, %D: !T) attributes {cute.computes = [{transpose = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %down = arith.divsi %m, %c64 : index
    %across = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@transpose_kernel blocks in (%down, %across, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
