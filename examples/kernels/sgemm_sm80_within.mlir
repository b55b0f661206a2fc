// C = alpha A B^T + beta C in f16, summed in f32, of any sizes: sgemm_sm80_auto.mlir beside it, whose tiles may reach over the ends of the matrices.
//
// `@load_within` copies what there is of a tile, and zeros elsewhere, which add nothing to a sum. Rows of A and B may end anywhere: cp.async is told how
// many bytes of each vector are there (`cute.copy_tile`). All that is asked is that rows begin at multiples of 16 bytes, and that N is even, as C is
// stored by pairs.
//
//     cute-opt examples/kernels/sgemm_sm80_within.mlir --cute-compile="arch=sm_90a package=sgemm_sm80_within.cutepkg" -o /dev/null
//     cute-run sgemm_sm80_within.cutepkg --bench --shape A=4096x4095 --shape B=4096x4095 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x64 --shape B=128x64 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=137x203 --shape B=150x203 --shape C=137x150 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=1x1 --shape B=2x1 --shape C=1x2 --set beta=1

// A (M,K) and B (N,K), rows one after the other, each at a multiple of 16 bytes, and C (M,N), whose rows are of pairs.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!C = !cute.memref<f16, gmem, align<16>, "(?,?{div=2}):(?{div=8},1)">
// A tile. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row, and both the copies' writes and ldmatrix's reads are free of conflicts.
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">

// The instructions: 16 bytes a thread from global to shared memory, four 8 x 8 matrices a warp from shared memory, and the
// product of 16 x 16 and 16 x 8.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma_sync = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
// 32 x 8 threads with 1 x 8 elements each: 32 rows of a tile at once, 8 neighbours a whole line of 128 bytes.
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,32),8):((256,1),32)">, tiler_mn = <"[32:1;64:1]">>
// 2 x 4 warps. 64 of N at a time, so that a warp has two atoms of B side by side, which one ldmatrix of four matrices loads.
!mma = !cute.tiled_mma<!mma_sync, atom_layout_MNK = <"(2,4,1):(1,2,0)">, permutation_MNK = <"[32:1;64:1;16:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/mma"
    gpu.func @sgemm_sm80_within_kernel(%A: !mat, %B: !mat, %C: !C, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>, cute.synchronize} {
      // Who this thread is, and which tile of C its block computes.
      %t = cute.call @thread()
      %m = cute.call @block_x()
      %n = cute.call @block_y()
      // A block's tile: 128 x 128 of C, with the coordinates of its elements and the shape of C.
      %gC, %cC, %MN = cute.call @tile_within(%C, tile (128, 128), coord (%m, %n))
      // How many tiles there are along K, one that is there in part too.
      %shape_A = cute.get_shape(%A)
      %tiles_A = cute.ceil_div(%shape_A, "(128,64)")
      %tiles_M, %tiles = cute.get_scalars(%tiles_A)
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // How tiles are copied into shared memory, how ldmatrix fetches A and B from there for the product, and how pairs of C are moved.
      %copy = cute.static : !copy
      %mma = cute.static : !mma
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %pair = cute.make_atom() -> !pair
      %copy_A = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_B = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_C = cute.mma.make_tiled_copy C (%mma, %pair)

      // Tile after tile along K, with three under way.
      %sums = cute.call @accumulators(%mma, shape (128, 128))
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %k = %c0 to %tiles step %c1 : i32 {
        cute.call @load_within(%copy, %A, tile (128, 64), coord (%m, %k), %sA, %t)
        cute.call @load_within(%copy, %B, tile (128, 64), coord (%n, %k), %sB, %t)
        cute.call @multiply_tiles(%mma, %copy_A, %sA, %copy_B, %sB, %sums, %t)
      } {cute.stages = 3 : i64}

      // C = alpha * sums + beta * C in f32, half of N at a time; C is not read where beta is 0.
      cute.call @axpby_tile_within<{T = f16, PARTS = #cute.layout<"((2,2),4,2,2):((1,2),4,16,32)">}>(%copy_C, %alpha, %sums, %beta, %gC, %cC, %MN, %t)
      gpu.return
    }
  }

  // The host: as many blocks as tiles cover C.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !C {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %shape = cute.get_shape(%C)
    %grid = cute.ceil_div(%shape, "(128,128)")
    cute.launch @kernels::@sgemm_sm80_within_kernel blocks(%grid) args(%A, %B, %C, %alpha, %beta)
    return
  }
}
