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
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>
// The same threads with the same elements, but one at a time, as they are not side by side in the transposed tile. What a warp stores at
// once is at n = 4 t + i, for its 8 threads t along a row, and at 4 values of m, its rows: by the swizzle in bank
// 4 (m / 4 xor t) + m modulo 4, each in its own.
!scatter = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 32 b>, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    gpu.func @transpose_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %x = cute.call @block_x()
      %y = cute.call @block_y()
      %thread = cute.call @thread()

      // Tile (x,y) of the source becomes tile (y,x) of the destination. Blocks that follow each other read tiles below each other and
      // write tiles side by side, which was measured to be 1 % faster than the other way round.
      %gS = cute.local_tile(%S, (64, 64), (%x, %y))
      %gD = cute.local_tile(%D, (64, 64), (%y, %x))

      // One piece of shared memory, two views.
      %s = cute.memref.alloca() : !shared
      %st = cute.composition(%s, "(64,64):(64,1)")

      // Global memory to registers, by vectors; from there to shared memory, element by element: the same registers, seen as the other copy
      // takes them.
      cute.call @copy_through(!copy, !scatter, %gS, %st, %thread)

      // What a thread reads next, others have written.
      gpu.barrier

      // Shared memory to registers and on to global memory, by vectors: 8 threads read 128 bytes of a row, the swizzle leaves these in
      // the same 32 banks, only in another order.
      cute.call @copy_through(!copy, !copy, %s, %gD, %thread)
      gpu.return
    }
  }

  // A block for each tile.
  func.func @transpose(%S: !T, %D: !T) attributes {cute.computes = [{transpose = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(64,64)")
    cute.launch @kernels::@transpose_kernel blocks(%grid) args(%S, %D)
    return
  }
}
