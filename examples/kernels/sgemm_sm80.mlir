// C = alpha A B^T + beta C in f16, summed in f32, with a pipeline of asynchronous copies: CuTe's tutorial sgemm_sm80.
//
// Three things are under way at once: tiles k + 1 and k + 2 travel from global to shared memory (`cp.async`, which no register
// and no thread waits for), the next 16 of K of tile k from shared memory to registers (`ldmatrix`), and the current 16 are
// multiplied (`mma.sync`). Shared memory is a ring of three places; this file says by hand what is waited for, and when.
//
//     cute-opt examples/kernels/sgemm_sm80.mlir --cute-compile="arch=sm_90a package=sgemm_sm80.cutepkg" -o /dev/null
//     cute-run sgemm_sm80.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x64 --shape B=128x64 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=256x320 --shape B=128x320 --shape C=256x128 --set alpha=2 --set beta=0.5

// A (M,K), B (N,K) and C (M,N), rows one after the other, each at a multiple of 16 bytes.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
// Three tiles. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row, and both the copies' writes and ldmatrix's reads are free of conflicts.
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">

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
    gpu.func @sgemm_sm80_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
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
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %last = arith.subi %tiles, %c1 : i32
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying into the ring. A thread's part is ((vector, vectors), of M, of K, tiles of K or places of the ring).
      %copy = cute.static : !copy
      %tAgA, %tAsA = cute.call @parts(%copy, %gA, %sA, %t)
      %tBgB, %tBsB = cute.call @parts(%copy, %gB, %sB, %t)

      // Multiplying: how ldmatrix fetches A and B and how pairs of C are moved; fragments for a whole tile, of which two steps of K are alive
      // at a time, and the same seen as ldmatrix fills them, (values of the copy, of M or N, of K).
      %mma = cute.static : !mma
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %pair = cute.make_atom() -> !pair
      %copy_A = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_B = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_C = cute.mma.make_tiled_copy C (%mma, %pair)
      %tCrA, %tXrA = cute.call @fragment_A(%mma, %copy_A, shape (128, 64))
      %tCrB, %tXrB = cute.call @fragment_B(%mma, %copy_B, shape (128, 64))
      %tXsA = cute.tiled.copy.partition_S(%copy_A, %sA, %t)
      %tXsB = cute.tiled.copy.partition_S(%copy_B, %sB, %t)
      %sums = cute.call @accumulators(%mma, shape (128, 128))

      // Tiles 0 and 1 start on their way, each a group that can be waited for. (A second tile that is not there is the first.)
      scf.for %p = %c0 to %c2 step %c1 : i32 {
        %k = arith.minsi %p, %last : i32
        cute.call @copy_into(%copy, %tAgA, %k, %tAsA, %p)
        cute.call @copy_into(%copy, %tBgB, %k, %tBsB, %p)
        nvvm.cp.async.commit.group
      } {cute.unroll}

      // Tile 0 is there when at most one group is still under way, for this thread's copies; for all threads' behind the barrier.
      nvvm.cp.async.wait.group 1
      gpu.barrier
      // Its step 0 into the fragments.
      cute.call @load_step_at(%copy_A, %tXsA, %c0, %tXrA, %c0)
      cute.call @load_step_at(%copy_B, %tXsB, %c0, %tXrB, %c0)

      // The place of the ring that is read, and the one that is written: at first 0 and 2.
      %places:2 = scf.for %k = %c0 to %tiles step %c1 iter_args(%read = %c0, %write = %c2) -> (i32, i32) : i32 {
        // Tile k + 2 starts on its way, to where tile k - 1 was: the last barrier said that everybody has read that. Behind the
        // last tile it is the last one again, so that as many groups are under way in every turn.
        %k2 = arith.addi %k, %c2 : i32
        %next = arith.minsi %k2, %last : i32
        cute.call @copy_into(%copy, %tAgA, %next, %tAsA, %write)
        cute.call @copy_into(%copy, %tBgB, %next, %tBsB, %write)
        nvvm.cp.async.commit.group

        // Steps 0 to 2 of K: fetch the next, multiply this one.
        scf.for %i = %c0 to %c3 step %c1 : i32 {
          %j = arith.addi %i, %c1 : i32
          cute.call @load_step_at(%copy_A, %tXsA, %read, %tXrA, %j)
          cute.call @load_step_at(%copy_B, %tXsB, %read, %tXrB, %j)
          cute.call @multiply_step(%mma, %tCrA, %tCrB, %sums, %i)
        } {cute.unroll}

        // Step 3: everything of this tile has been fetched. Wait for the next one (all groups but the newest), say so to the
        // other threads, and fetch its step 0 while step 3 of this one is multiplied.
        nvvm.cp.async.wait.group 1
        gpu.barrier
        %read1 = arith.addi %read, %c1 : i32
        %wraps = arith.cmpi eq, %read1, %c3 : i32
        %read_next = arith.select %wraps, %c0, %read1 : i32
        cute.call @load_step_at(%copy_A, %tXsA, %read_next, %tXrA, %c0)
        cute.call @load_step_at(%copy_B, %tXsB, %read_next, %tXrB, %c0)
        cute.call @multiply_step(%mma, %tCrA, %tCrB, %sums, %c3)
        // The place that was read is written next.
        scf.yield %read_next, %read : i32, i32
      }
      // Nothing may be under way into shared memory that is no longer this block's.
      nvvm.cp.async.wait.group 0

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
    cute.launch @kernels::@sgemm_sm80_kernel blocks(%grid) args(%A, %B, %C, %alpha, %beta)
    return
  }
}
