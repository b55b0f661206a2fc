// Attention: O = softmax(scale Q K^T) V in f16, for one head, without a mask, as FlashAttention 2 computes it (Dao, 2023).
//
// The matrix of scores, S = Q K^T, has an element for each query and each key: it is far too large to be written to memory and read
// back. So a block of threads takes 64 queries, which are rows of Q and of O, and goes over the keys 64 at a time, which are rows
// of K and V. Scores never leave registers. A softmax needs the maximum and the sum of a whole row, of which only the part that was
// met is known; so both are kept for what was met, and where a larger maximum comes, what has been summed up is multiplied by the
// power that makes up for it. At the end each row of O is divided by its sum.
//
// The loop over the keys is written as if one turn came after the other: copy a tile of K and one of V into shared memory, multiply,
// take the maximum, exponentiate, sum, multiply again. It says that two tiles of each may be under way (`cute.stages`); the rest is
// the compiler's work: which copies and loads run ahead, the places in shared memory, waits and barriers, and what happens at
// the ends of the loop. K and V are read far apart, with the softmax between, and so get a ring of buffers each: K's place is free
// again before V's tile is waited for. `cute-print-schedule` shows what runs when.
//
//     cute-opt examples/kernels/attention.mlir --cute-compile="arch=sm_90a package=attention.cutepkg" -o /dev/null
//     cute-run attention.cutepkg --bench --shape Q=8192x64 --shape K=8192x64 --shape V=8192x64 --shape O=8192x64
//
// One tile of keys, which is less than the loop has under way; as many; several; rows that are further apart; a steeper softmax.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape Q=64x64 --shape K=64x64 --shape V=64x64 --shape O=64x64
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape Q=128x64 --shape K=128x64 --shape V=128x64 --shape O=128x64 --set scale=1
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape Q=64x64 --layout "K=(448,64):(72,1)" --layout "V=(448,64):(80,1)" --layout "O=(64,64):(88,1)"

// Q (M,64), K (N,64), V (N,64) and O (M,64), rows one after the other, each at a multiple of 16 bytes.
!mat = !cute.memref<f16, gmem, align<16>, "(?,64):(?{div=8},1)">
// A tile in shared memory. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row. V is seen a second time with rows and columns exchanged: the same bytes.
!sQ = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">

// The instructions: 16 bytes a thread from global to shared memory; four 8 x 8 matrices a warp from shared memory, as they are or
// transposed on the way; the product of 16 x 16 and 16 x 8; two neighbours of O to global memory.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldmatrix_t = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
!mma_sync = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
// 16 x 8 threads with 1 x 8 elements each: 16 rows of a tile at once, 8 neighbours a whole line of 128 bytes.
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
// Four warps, one below the other: each has 16 rows to itself, so that nothing of a row's softmax is in another warp. 16 of N at a
// time, so that one ldmatrix of four matrices loads B for two products side by side.
!mma = !cute.tiled_mma<!mma_sync, atom_layout_MNK = <"(4,1,1):(1,4,4)">, permutation_MNK = <"[64:1;16:1;16:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/mma"
    cute.import "std/softmax"
    gpu.func @attention_kernel(%Q: !mat, %K: !mat, %V: !mat, %O: !mat, %scale: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      // Who this thread is, and which queries its block has.
      %t = cute.call @thread()
      %m = cute.call @block_x()
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tile = cute.static "[64:1;64:1]"
      %mine = cute.make_coord(%m, 0)
      %all = cute.static coord "(_,0)"
      %gQ = cute.local_tile(%Q, %tile, %mine)
      %gK = cute.local_tile(%K, %tile, %all)
      %gV = cute.local_tile(%V, %tile, %all)
      %gO = cute.local_tile(%O, %tile, %mine)
      %lK = cute.get_layout(%gK)
      %tiles, %ld, %apart = cute.get_scalars <{only_dynamic}>(%lK)
      // The second product sums over the keys, so its operand B is V with the keys as K mode: V transposed.
      %sQ = cute.memref.alloca() : !sQ
      %sK = cute.memref.alloca() : !sQ
      %sV = cute.memref.alloca() : !sQ
      %sVt = cute.composition(%sV, "(64,64):(64,1)")

      %copy = cute.static : !copy
      %mma = cute.static : !mma
      // How ldmatrix fetches A and B for that product, and how pairs of C are moved.
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %ldmatrix_t = cute.make_atom() -> !ldmatrix_t
      %pair = cute.make_atom() -> !pair
      %copy_Q = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_K = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_V = cute.mma.make_tiled_copy B (%mma, %ldmatrix_t)
      %copy_O = cute.mma.make_tiled_copy C (%mma, %pair)
      // The queries stay in registers for all of the loop. That the copies have to arrive first is seen by the compiler, here too.
      %tQgQ, %tQsQ = cute.call @parts(%copy, %gQ, %sQ, %t)
      %tKgK, %tKsK = cute.call @parts(%copy, %gK, %sK, %t)
      %tVgV, %tVsV = cute.call @parts(%copy, %gV, %sV, %t)
      cute.copy(%copy, %tQgQ, %tQsQ)
      %rQ = cute.call @load_A(%mma, %copy_Q, %sQ, %t)

      // The scores of a tile of keys, and O's sums.
      %rS = cute.call @accumulators(%mma, shape (64, 64))
      %rO = cute.call @accumulators(%mma, shape (64, 64))

      // What is known of the rows that were met: the largest score of each, and the sum of this thread's terms, exp(scale (s - max)), which are
      // powers of two of s factor - max factor.
      %largest, %terms = cute.call @softmax_begin(%rS)
      %log2e = arith.constant 1.44269502 : f32
      %factor = arith.mulf %scale, %log2e : f32

      // Tile after tile of keys, with two under way.
      scf.for %j = %c0 to %tiles step %c1 : i32 {
        cute.call @copy_part(%copy, %tKgK, %j, %tKsK)
        cute.call @copy_part(%copy, %tVgV, %j, %tVsV)

        // S = Q K^T.
        cute.clear(%rS)
        cute.call @multiply_by_tile(%mma, %rQ, %copy_K, %sK, %rS, %t)

        // The softmax of what was met: scores become terms where they stand, and O fits the maxima that are known by now.
        cute.call @softmax_step(%rS, %rO, %largest, %terms, %factor)

        // O += P V. Of a 16 x 16 piece of A a thread has what it has of two 16 x 8 pieces of C side by side, in the same order: P is
        // an operand as it is, and only has to be seen as one.
        %rP = cute.convert(%rS) to f16
        %tOrP = cute.composition(%rP, "((2,2,2),1,4):((1,2,4),8,8)")
        cute.call @multiply_by_tile(%mma, %tOrP, %copy_V, %sVt, %rO, %t)
      } {cute.stages = 2 : i64}

      // Each row divided by its sum, and stored.
      cute.call @softmax_end(%rO, %terms)
      cute.call @store_sums<{T = f16}>(%copy_O, %rO, %gO, %t)
      gpu.return
    }
  }

  // The host: a block for each 64 queries. Sizes come from the tensors themselves.
  func.func @attention(%Q: !mat {cute.name = "Q"}, %K: !mat {cute.name = "K"}, %V: !mat {cute.name = "V"}, %O: !mat {cute.name = "O"},
                       %scale: f32 {cute.name = "scale", cute.default = 0.125 : f32})
      attributes {cute.computes = [{attention = array<i64: 0, 1, 2, 3>, scale = 4 : index, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %lQ = cute.get_layout(%Q)
    %lK = cute.get_layout(%K)
    %M, %ldQ = cute.get_scalars <{only_dynamic}>(%lQ)
    %N, %ldK = cute.get_scalars <{only_dynamic}>(%lK)
    // Tiles must divide the problem: nothing above asks whether a row is there.
    %MN = arith.ori %M, %N : i32
    %r = arith.remsi %MN, %c64 : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 64"
    %shape = cute.get_shape(%Q)
    %grid = cute.ceil_div(%shape, "(64,64)")
    cute.launch @kernels::@attention_kernel blocks(%grid) args(%Q, %K, %V, %O, %scale)
    return
  }
}
