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
// How ldmatrix fetches A and B for that product, and how pairs of C are moved (make_tiled_copy_A, _B and _C in CuTe).
!copy_Q = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,4),((2,2,2),(1,1))):((128,1,16),((64,8,512),(64,1024)))">, tiler_mn = <"[64:1;16:1]">>
!copy_K = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,4),((2,2),(2,1))):((32,1,0),((16,128),(8,256)))">, tiler_mn = <"[16:1;16:1]">>
!copy_V = !cute.tiled_copy<!ldmatrix_t, layout_copy_tv = <"((4,8,4),((2,2),(2,1))):((32,1,0),((16,128),(8,256)))">, tiler_mn = <"[16:1;16:1]">>
!copy_O = !cute.tiled_copy<!pair, layout_copy_tv = <"((4,8,4),((2,2),(1,2))):((128,1,16),((64,8),(64,512)))">, tiler_mn = <"[64:1;16:1]">>

// Of C a thread has elements of two rows, 8 apart: 16 of each, two neighbours in each of 8 groups of columns. What it knows of the
// two rows is a number for each.
!of_rows = !cute.memref<f32, rmem, "(2):(1)">
// C in f16.
!frag_H = !cute.memref<f16, rmem, "((2,2),1,8):((1,2),0,4)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @attention_kernel(%Q: !mat, %K: !mat, %V: !mat, %O: !mat, %scale: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      // Who this thread is, and which queries its block has.
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %t = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
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
      %sV_start = cute.get_iter(%sV)
      %transposed = cute.static "(64,64):(1,64)"
      %sVt = cute.make_view(%sV_start, %transposed)

      // Copying a tile into shared memory.
      %copy = cute.static : !copy
      %tQgQ = cute.tiled.copy.partition_S(%copy, %gQ, %t)
      %tKgK = cute.tiled.copy.partition_S(%copy, %gK, %t)
      %tVgV = cute.tiled.copy.partition_S(%copy, %gV, %t)
      %tQsQ = cute.tiled.copy.partition_D(%copy, %sQ, %t)
      %tKsK = cute.tiled.copy.partition_D(%copy, %sK, %t)
      %tVsV = cute.tiled.copy.partition_D(%copy, %sV, %t)

      // Multiplying: fragments for whole tiles, the scores of a tile of keys, and O's sums.
      %mma = cute.static : !mma
      %part_A = cute.static shape "((2,2,2),1,4)"
      %part_B = cute.static shape "((2,2),8,4)"
      %part_C = cute.static shape "((2,2),1,8)"
      %rQ = cute.mma.make_fragment A (%mma, %part_A)
      %rK = cute.mma.make_fragment B (%mma, %part_B)
      %rV = cute.mma.make_fragment B (%mma, %part_B)
      %rS = cute.mma.make_fragment C (%mma, %part_C)
      %rO = cute.mma.make_fragment C (%mma, %part_C)
      cute.clear(%rO)

      // From shared memory into the fragments, which are seen as ldmatrix fills them: retile moves nothing.
      %copy_Q = cute.static : !copy_Q
      %copy_K = cute.static : !copy_K
      %copy_V = cute.static : !copy_V
      %tSsQ = cute.tiled.copy.partition_S(%copy_Q, %sQ, %t)
      %tSsK = cute.tiled.copy.partition_S(%copy_K, %sK, %t)
      %tOsV = cute.tiled.copy.partition_S(%copy_V, %sVt, %t)
      %tSrQ = cute.tiled.copy.retile(%copy_Q, %rQ)
      %tSrK = cute.tiled.copy.retile(%copy_K, %rK)
      %tOrV = cute.tiled.copy.retile(%copy_V, %rV)

      // The queries stay in registers for all of the loop. That the copies have to arrive first is seen by the compiler, here too.
      cute.copy(%copy, %tQgQ, %tQsQ)
      cute.copy(%copy_Q, %tSsQ, %tSrQ)

      // Of each row the largest score that was met, over all threads that have elements of it, and the sum of this thread's terms. A
      // term is exp(scale (s - max)) = 2^(s factor - max factor): one multiply-add and one ex2, and none is above 1 where the scale is
      // positive, as it has to be.
      %largest = cute.memref.alloca() : !of_rows
      %sums = cute.memref.alloca() : !of_rows
      %lowest = arith.constant dense<0xFF800000> : vector<2xf32>
      %zeros = arith.constant dense<0.0> : vector<2xf32>
      cute.memref.store_vec %lowest, %largest
      cute.memref.store_vec %zeros, %sums
      %log2e = arith.constant 1.44269502 : f32
      %factor = arith.mulf %scale, %log2e : f32
      %factors = vector.broadcast %factor : f32 to vector<16xf32>

      // Tile after tile of keys, with two under way.
      scf.for %j = %c0 to %tiles step %c1 : i32 {
        %tile_j = cute.make_coord(_, _, _, %j)
        %k = cute.slice(%tKgK, %tile_j)
        %v = cute.slice(%tVgV, %tile_j)
        cute.copy(%copy, %k, %tKsK)
        cute.copy(%copy, %v, %tVsV)

        // S = Q K^T.
        cute.clear(%rS)
        scf.for %i = %c0 to %c4 step %c1 : i32 {
          %step = cute.make_coord(_, _, %i)
          %sK_i = cute.slice(%tSsK, %step)
          %rK_i = cute.slice(%tSrK, %step)
          cute.copy(%copy_K, %sK_i, %rK_i)
          %fQ = cute.slice(%rQ, %step)
          %fK = cute.slice(%rK, %step)
          cute.gemm(%mma, %rS, %fQ, %fK, %rS)
        } {cute.unroll}

        // The softmax of what was met, for each of the thread's two rows; scores become terms where they stand.
        scf.for %r = %c0 to %c2 step %c1 : i32 {
          %row = cute.make_coord((_, %r), 0, _)
          %its = cute.make_coord(%r)
          %rS_row = cute.slice(%rS, %row)
          %rO_row = cute.slice(%rO, %row)

          // The row's maximum. Four neighbouring threads have a row between them: two exchanges, after which all four know it.
          %s = cute.memref.load_vec %rS_row
          %max_1 = vector.reduction <maximumf>, %s : vector<16xf32> into f32
          %next, %next_valid = gpu.shuffle xor %max_1, %c1, %c32 : f32
          %max_2 = arith.maximumf %max_1, %next : f32
          %other, %other_valid = gpu.shuffle xor %max_2, %c2, %c32 : f32
          %max_4 = arith.maximumf %max_2, %other : f32
          %before = cute.memref.load(%largest, %its)
          %max = arith.maximumf %before, %max_4 : f32
          cute.memref.store(%largest, %its, %max)

          // What was summed up so far is too large by this power: 0 the first time, when nothing was, and exactly 1 where the maximum
          // is the one that it was.
          %change = arith.subf %before, %max : f32
          %exponent = arith.mulf %change, %factor : f32
          %rescale = math.exp2 %exponent : f32

          %scaled_max = arith.mulf %max, %factor : f32
          %less = arith.negf %scaled_max : f32
          %summand = vector.broadcast %less : f32 to vector<16xf32>
          %exponents = math.fma %s, %factors, %summand : vector<16xf32>
          %p = math.exp2 %exponents : vector<16xf32>
          cute.memref.store_vec %p, %rS_row

          // The sum stays the thread's own until the end: all four threads multiply theirs by the same powers.
          %more = vector.reduction <add>, %p : vector<16xf32> into f32
          %sum = cute.memref.load(%sums, %its)
          %new_sum = math.fma %sum, %rescale, %more : f32
          cute.memref.store(%sums, %its, %new_sum)
          %o = cute.memref.load_vec %rO_row
          %rescales = vector.broadcast %rescale : f32 to vector<16xf32>
          %rescaled = arith.mulf %o, %rescales : vector<16xf32>
          cute.memref.store_vec %rescaled, %rO_row
        } {cute.unroll}

        // O += P V. Of a 16 x 16 piece of A a thread has what it has of two 16 x 8 pieces of C side by side, in the same order: P is
        // an operand as it is, and only has to be seen as one.
        %rP = cute.convert(%rS) -> !frag_H
        %rP_start = cute.get_iter(%rP)
        %as_A = cute.static "((2,2,2),1,4):((1,2,4),8,8)"
        %tOrP = cute.make_view(%rP_start, %as_A)
        scf.for %i = %c0 to %c4 step %c1 : i32 {
          %step = cute.make_coord(_, _, %i)
          %sV_i = cute.slice(%tOsV, %step)
          %rV_i = cute.slice(%tOrV, %step)
          cute.copy(%copy_V, %sV_i, %rV_i)
          %fP = cute.slice(%tOrP, %step)
          %fV = cute.slice(%rV, %step)
          cute.gemm(%mma, %rO, %fP, %fV, %rO)
        } {cute.unroll}
      } {cute.stages = 2 : i64}

      // Each row divided by its sum, of all four threads that have terms of it. A sum is 1 at least, as one term is, so that an
      // approximate reciprocal will do.
      scf.for %r = %c0 to %c2 step %c1 : i32 {
        %row = cute.make_coord((_, %r), 0, _)
        %its = cute.make_coord(%r)
        %rO_row = cute.slice(%rO, %row)
        %sum_1 = cute.memref.load(%sums, %its)
        %next, %next_valid = gpu.shuffle xor %sum_1, %c1, %c32 : f32
        %sum_2 = arith.addf %sum_1, %next : f32
        %other, %other_valid = gpu.shuffle xor %sum_2, %c2, %c32 : f32
        %sum_4 = arith.addf %sum_2, %other : f32
        %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum_4) : (f32) -> f32
        %inverses = vector.broadcast %inverse : f32 to vector<16xf32>
        %o = cute.memref.load_vec %rO_row
        %divided = arith.mulf %o, %inverses : vector<16xf32>
        cute.memref.store_vec %divided, %rO_row
      } {cute.unroll}
      %copy_O = cute.static : !copy_O
      %rO_f16 = cute.convert(%rO) -> !frag_H
      %tOrO = cute.tiled.copy.retile(%copy_O, %rO_f16)
      %tOgO = cute.tiled.copy.partition_D(%copy_O, %gO, %t)
      cute.copy(%copy_O, %tOrO, %tOgO)
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
    %rM = arith.remsi %M, %c64 : i32
    %rN = arith.remsi %N, %c64 : i32
    %r = arith.ori %rM, %rN : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 64"
    %m = arith.divsi %M, %c64 : i32
    %blocks = arith.index_cast %m : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@attention_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%Q : !mat, %K : !mat, %V : !mat, %O : !mat, %scale : f32)
    return
  }
}
