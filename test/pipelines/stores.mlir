// The loop of sgemm_2 without its barriers, pipelined: the next tile is loaded into registers while this one is multiplied, and
// stored into the other place of a ring behind it. One barrier a turn is left.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x24 --shape B=256x24 --shape C=128x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x8 --shape B=128x8 --shape C=128x128 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x16 --shape B=128x16 --shape C=128x128

// A (M,K), B (N,K) and C (M,N), columns one after the other (BLAS' "NT"). Columns begin at multiples of 16 bytes.
!mat = !cute.memref<f32, gmem, align<16>, "(?,?):(1,?{div=4})">
!any = !cute.layout<"(?,?):(1,?{div=4})">
!thread = !cute.coord<"?">
// A block's tile: 128 x 128 of C, 8 of K at a time; and which one.
!cta = !cute.tile<"[128:1;128:1;8:1]">
!at = !cute.coord<"(?,?,_)">
!gA = !cute.memref<f32, gmem, align<16>, "(128,8,?):(1,?{div=4},?{div=32})">
!gC = !cute.memref<f32, gmem, align<16>, "(128,128):(1,?{div=4})">
!sA = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
// The instructions: copies of 16 bytes by one thread, and single multiply-adds.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
// 32 x 8 threads with 4 x 1 elements each: all 128 x 8 of a tile at once.
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
// 16 x 16 threads over C. The permutation deals out M and N by fours: thread i has rows 4i to 4i+3, and 64 further on four
// more, where without it it would have every 16th. Four neighbours can be read from shared memory at once.
!mma = !cute.tiled_mma<!fma, atom_layout_MNK = <"(16,16,1):(1,16,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>
// Parts of a thread that copies: ((vector, vectors), of M, of K, tiles of K).
!tAgA = !cute.memref<f32, gmem, align<16>, "((4,1),1,1,?):((1,?{div=4}),128,?{div=32},?{div=32})">
!tAgA_k = !cute.memref<f32, gmem, align<16>, "((4,1),1,1):((1,?{div=4}),128,?{div=32})">
!tAsA = !cute.memref<f32, smem, align<16>, "((4,1),1,1):((1,4),128,1024)">
// Parts of a thread that multiplies: (1 value of the atom, 8 of M, 8 of K); of B likewise; of C (1, 8 of M, 8 of N).
!tCsA = !cute.memref<f32, smem, align<16>, "(1,(4,2),8):(0,(1,64),128)">
!tCrA = !cute.memref<f32, rmem, "(1,(4,2),8):(0,(1,4),8)">
!tCgC = !cute.memref<f32, gmem, align<16>, "(1,(4,2),(4,2)):(0,(1,64),(?{div=4},?{div=256}))">
!tCrC = !cute.memref<f32, rmem, "(1,(4,2),(4,2)):(0,(1,4),(8,32))">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_2_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>, cute.synchronize} {
      // Who this thread is, and which tile of C its block computes.
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %n = arith.index_cast %by : index to i32
      %t = cute.make_coord(%t32) : (i32) -> !thread
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      // Three tiles from one tiler of (M,N,K): `proj` leaves out the mode that a tensor does not have, as Step<_1, X, _1> does.
      // A's and B's tiles lie one behind the other along K, their last mode.
      %cta = cute.static : !cta
      %at = cute.make_coord(%m, %n) : (i32, i32) -> !at
      %gA = cute.local_tile(%A, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!mat, !cta, !at) -> !gA
      %gB = cute.local_tile(%B, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!mat, !cta, !at) -> !gA
      %gC = cute.local_tile(%C, %cta, %at) {proj = #cute.coord<"(1,1,_)">} : (!mat, !cta, !at) -> !gC
      %lA = cute.get_layout(%gA) : !gA
      %tiles, %ld, %step = cute.get_scalars <{only_dynamic}>(%lA) : !cute.layout<"(128,8,?):(1,?{div=4},?{div=32})">

      // A tile of A and one of B, in shared memory.
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying. A tiled copy says which thread moves what, for the source and for the destination.
      %vector = cute.make_atom() : () -> !vector
      %copy = cute.make_tiled_copy(%vector) : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t) : (!copy, !gA, !thread) -> !tAgA
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t) : (!copy, !gA, !thread) -> !tAgA
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t) : (!copy, !sA, !thread) -> !tAsA
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t) : (!copy, !sA, !thread) -> !tAsA

      // Multiplying. A tiled MMA says the same of A, B and C.
      %fma = cute.make_atom() : () -> !fma
      %mma = cute.make_tiled_mma(%fma) : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !sA, !thread) -> !tCsA
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !sA, !thread) -> !tCsA
      %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t) : (!mma, !gC, !thread) -> !tCgC

      // Registers for a tile's worth of A and B, and for the sums.
      %tCrA = cute.mma.make_fragment A (%mma, %tCsA) : (!mma, !tCsA) -> !tCrA
      %tCrB = cute.mma.make_fragment B (%mma, %tCsB) : (!mma, !tCsA) -> !tCrA
      %tCrC = cute.mma.make_fragment C (%mma, %tCgC) : (!mma, !tCgC) -> !tCrC
      cute.clear(%tCrC) : (!tCrC)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        // Tile k to shared memory: a load and a store of 16 bytes for A, and for B.
        %here = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tAgA, %here) : !tAgA, !cute.coord<"(_,_,_,?)">
        %b = cute.slice(%tBgB, %here) : !tAgA, !cute.coord<"(_,_,_,?)">
        cute.copy(%copy, %a, %tAsA) : (!copy, !tAgA_k, !tAsA)
        cute.copy(%copy, %b, %tBsB) : (!copy, !tAgA_k, !tAsA)
        // To registers, four elements at a time, and into the sums: (V,M,K) x (V,N,K) => (V,M,N).
        cute.autovec_copy(%tCsA, %tCrA) : (!tCsA, !tCrA)
        cute.autovec_copy(%tCsB, %tCrB) : (!tCsA, !tCrA)
        cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC) : (!mma, !tCrC, !tCrA, !tCrA, !tCrC)
      } {cute.stages = 2 : i64}

      // C = alpha * sums + beta * C
      cute.axpby(%alpha, %tCrC, %beta, %tCgC) : (f32, !tCrC, f32, !tCgC)
      gpu.return
    }
  }

  // The host: how many blocks, and what they are given. Sizes come from the tensors themselves.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bK = arith.constant 8 : i32
    %lA = cute.get_layout(%A) : !mat
    %lB = cute.get_layout(%B) : !mat
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA) : !any
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB) : !any
    // Tiles must divide the problem: nothing below asks whether an element is there.
    %rM = arith.remsi %M, %bM : i32
    %rN = arith.remsi %N, %bM : i32
    %rK = arith.remsi %K, %bK : i32
    %rMN = arith.ori %rM, %rN : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 128, and K of 8"
    %m = arith.divsi %M, %bM : i32
    %n = arith.divsi %N, %bM : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@sgemm_2_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
