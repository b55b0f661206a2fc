// C = alpha A B^T + beta C in f16, summed in f32, as sgemm_sm80.mlir beside it, but with a plain loop over the tiles of K that the
// compiler makes a pipeline of.
//
// The loop copies a tile of A and B into shared memory, fetches fragments from it and multiplies them, and says that three tiles
// are to be under way (`cute.stages`). Which copies run ahead, what waits for what, the places in shared memory, the barriers and
// what happens at the ends of the loop is worked out by the compiler; `cute-print-schedule` shows it.
//
//     cute-opt examples/kernels/sgemm_sm80_auto.mlir --cute-compile="arch=sm_90a package=sgemm_sm80_auto.cutepkg" -o /dev/null
//     cute-run sgemm_sm80_auto.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x64 --shape B=128x64 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=256x320 --shape B=128x320 --shape C=256x128 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x128 --shape B=256x128 --shape C=128x256 --set beta=1

// A (M,K), B (N,K) and C (M,N), rows one after the other, each at a multiple of 16 bytes.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
// A tile. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row, and both the copies' writes and ldmatrix's reads are free of conflicts.
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">

// The instructions: 16 bytes a thread from global to shared memory, four 8 x 8 matrices a warp from shared memory, and the
// product of 16 x 16 and 16 x 8.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma_sync = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
// 16 x 8 threads with 1 x 8 elements each: 16 rows of a tile at once, 8 neighbours a whole line of 128 bytes.
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
// 2 x 2 warps. 32 of N at a time, so that a warp has two atoms of B side by side, which one ldmatrix of four matrices loads.
!mma = !cute.tiled_mma<!mma_sync, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>


module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/mma"
    gpu.func @sgemm_sm80_auto_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      // Who this thread is, and which tile of C its block computes.
      %t = cute.call @thread()
      %m = cute.call @block_x()
      %n = cute.call @block_y()
      // A block's tile: 128 x 128 of C. Those of A and B are one behind the other along K.
      %cta = cute.static "[128:1;128:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lA = cute.get_layout(%gA)
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lA)
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying a tile into shared memory, and how ldmatrix fetches A and B from there for the product, and how pairs of C are moved.
      %copy = cute.static : !copy
      %tAgA, %tAsA = cute.call @parts(%copy, %gA, %sA, %t)
      %tBgB, %tBsB = cute.call @parts(%copy, %gB, %sB, %t)
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
        cute.call @copy_part(%copy, %tAgA, %k, %tAsA)
        cute.call @copy_part(%copy, %tBgB, %k, %tBsB)
        cute.call @multiply_tiles(%mma, %copy_A, %sA, %copy_B, %sB, %sums, %t)
      } {cute.stages = 3 : i64}

      // C = alpha * sums + beta * C in f32, a fourth of N at a time; C is not read where beta is 0.
      cute.call @axpby_tile<{T = f16, PARTS = #cute.layout<"((2,2),4,2,4):((1,2),4,16,32)">}>(%copy_C, %alpha, %sums, %beta, %gC, %t)
      gpu.return
    }
  }

  // The host: how many blocks, and what they are given. Sizes come from the tensors themselves.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    // Tiles must divide the problem: nothing above asks whether an element is there.
    %MN = arith.ori %M, %N : i32
    %rMN = arith.remsi %MN, %bM : i32
    %rK = arith.remsi %K, %bK : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 128, and K of 64"
    %shape = cute.get_shape(%C)
    %grid = cute.ceil_div(%shape, "(128,128)")
    cute.launch @kernels::@sgemm_sm80_auto_kernel blocks(%grid) args(%A, %B, %C, %alpha, %beta)
    return
  }
}
