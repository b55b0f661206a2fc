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
!any = !cute.layout<"(?,?):(?{div=8},1)">
!thread = !cute.coord<"?">
// A block's tile: 128 x 128 of C, 64 of K at a time; and which one.
!cta = !cute.tile<"[128:1;128:1;64:1]">
!at = !cute.coord<"(?,?,_)">
!gA = !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{div=8},1,64)">
!gC = !cute.memref<f16, gmem, align<16>, "(128,128):(?{div=8},1)">
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
// How ldmatrix fetches A and B for that product, and how pairs of C are moved (make_tiled_copy_A, _B and _C in CuTe).
!copy_A = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))">, tiler_mn = <"[32:1;16:1]">>
!copy_B = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))">, tiler_mn = <"[32:1;16:1]">>
!copy_C = !cute.tiled_copy<!pair, layout_copy_tv = <"((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))">, tiler_mn = <"[32:1;32:1]">>

// Parts of a thread that copies: ((vector, vectors), of M, of K, tiles of K).
!tAgA = !cute.memref<f16, gmem, align<16>, "((8,1),8,1,?):((1,8),?{div=128},64,64)">
!tAgA_k = !cute.memref<f16, gmem, align<16>, "((8,1),8,1):((1,8),?{div=128},64)">
!tAsA = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),8,1):((1,8),1024,64)">
// What it multiplies: (values of the atom, of M or N, of K).
!part_A = !cute.shape<"((2,2,2),4,4)">
!part_B = !cute.shape<"((2,2),8,4)">
!part_C = !cute.shape<"((2,2),4,8)">
!tCrA = !cute.memref<f16, rmem, "((2,2,2),4,4):((1,2,4),8,32)">
!tCrB = !cute.memref<f16, rmem, "((2,2),8,4):((1,2),4,32)">
!tCrC = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
!tCrA_k = !cute.memref<f16, rmem, "((2,2,2),4):((1,2,4),8)">
!tCrB_k = !cute.memref<f16, rmem, "((2,2),8):((1,2),4)">
// The same as ldmatrix fetches it: (values of the copy, of M or N, of K) in shared memory, and the fragments seen that way.
!tXsA = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),4,4):((1,16),2048,16)">
!tXsA_k = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),4):((1,16),2048)">
!tXrA = !cute.memref<f16, rmem, "((8,1),4,4):((1,0),8,32)">
!tXrA_k = !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">
!tXrB = !cute.memref<f16, rmem, "((8,1),4,4):((1,32),8,32)">
!tXrB_k = !cute.memref<f16, rmem, "((8,1),4):((1,32),8)">
// C, a fourth of N at a time: the sums, their f16, that seen as pairs, and the pairs in global memory.
!sums = !cute.layout<"((2,2),4,2,4):((1,2),4,16,32)">
!tCrC_4 = !cute.memref<f32, rmem, "((2,2),4,2,4):((1,2),4,16,32)">
!tCrC_n = !cute.memref<f32, rmem, "((2,2),4,2):((1,2),4,16)">
!tCrH_n = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">
!tYrH_n = !cute.memref<f16, rmem, "((2,(2,2)),4,1):((1,(2,16)),4,32)">
!tYrH_v = !cute.memref<f16, rmem, "((2,(2,2)),4):((1,(2,16)),4)">
!tYgC = !cute.memref<f16, gmem, align<4>, "((2,(2,2)),4,4):((1,(?{div=64},16)),?{div=256},32)">
!tYgC_n = !cute.memref<f16, gmem, align<4>, "((2,(2,2)),4):((1,(?{div=64},16)),?{div=256})">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_sm80_auto_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
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
      %c4 = arith.constant 4 : i32
      // Tiles of A and B, one behind the other along K, and the tile of C.
      %cta = cute.static : !cta
      %at = cute.make_coord(%m, %n) : (i32, i32) -> !at
      %gA = cute.local_tile(%A, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!mat, !cta, !at) -> !gA
      %gB = cute.local_tile(%B, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!mat, !cta, !at) -> !gA
      %gC = cute.local_tile(%C, %cta, %at) {proj = #cute.coord<"(1,1,_)">} : (!mat, !cta, !at) -> !gC
      %lA = cute.get_layout(%gA) : !gA
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lA) : !cute.layout<"(128,64,?):(?{div=8},1,64)">
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying a tile into shared memory.
      %cp_async = cute.make_atom() : () -> !cp_async
      %copy = cute.make_tiled_copy(%cp_async) : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t) : (!copy, !gA, !thread) -> !tAgA
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t) : (!copy, !gA, !thread) -> !tAgA
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t) : (!copy, !sA, !thread) -> !tAsA
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t) : (!copy, !sA, !thread) -> !tAsA

      // Multiplying: fragments for a whole tile, and the sums.
      %mma_sync = cute.make_atom() : () -> !mma_sync
      %mma = cute.make_tiled_mma(%mma_sync) : !mma
      %part_A = cute.static : !part_A
      %part_B = cute.static : !part_B
      %part_C = cute.static : !part_C
      %tCrA = cute.mma.make_fragment A (%mma, %part_A) : (!mma, !part_A) -> !tCrA
      %tCrB = cute.mma.make_fragment B (%mma, %part_B) : (!mma, !part_B) -> !tCrB
      %tCrC = cute.mma.make_fragment C (%mma, %part_C) : (!mma, !part_C) -> !tCrC
      cute.clear(%tCrC) : (!tCrC)

      // From shared memory into the fragments, which are seen as ldmatrix fills them: retile moves nothing.
      %ldmatrix = cute.make_atom() : () -> !ldmatrix
      %copy_A = cute.make_tiled_copy(%ldmatrix) : !copy_A
      %copy_B = cute.make_tiled_copy(%ldmatrix) : !copy_B
      %tXsA = cute.tiled.copy.partition_S(%copy_A, %sA, %t) : (!copy_A, !sA, !thread) -> !tXsA
      %tXsB = cute.tiled.copy.partition_S(%copy_B, %sB, %t) : (!copy_B, !sA, !thread) -> !tXsA
      %tXrA = cute.tiled.copy.retile(%copy_A, %tCrA) : (!copy_A, !tCrA) -> !tXrA
      %tXrB = cute.tiled.copy.retile(%copy_B, %tCrB) : (!copy_B, !tCrB) -> !tXrB

      // Tile after tile along K, with three under way.
      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %tile = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tAgA, %tile) : !tAgA, !cute.coord<"(_,_,_,?)">
        %b = cute.slice(%tBgB, %tile) : !tAgA, !cute.coord<"(_,_,_,?)">
        cute.copy(%copy, %a, %tAsA) : (!copy, !tAgA_k, !tAsA)
        cute.copy(%copy, %b, %tBsB) : (!copy, !tAgA_k, !tAsA)
        scf.for %i = %c0 to %c4 step %c1 : i32 {
          %step = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
          %sA_i = cute.slice(%tXsA, %step) : !tXsA, !cute.coord<"(_,_,?)">
          %sB_i = cute.slice(%tXsB, %step) : !tXsA, !cute.coord<"(_,_,?)">
          %rA_i = cute.slice(%tXrA, %step) : !tXrA, !cute.coord<"(_,_,?)">
          %rB_i = cute.slice(%tXrB, %step) : !tXrB, !cute.coord<"(_,_,?)">
          cute.copy(%copy_A, %sA_i, %rA_i) : (!copy_A, !tXsA_k, !tXrA_k)
          cute.copy(%copy_B, %sB_i, %rB_i) : (!copy_B, !tXsA_k, !tXrB_k)
          %fA = cute.slice(%tCrA, %step) : !tCrA, !cute.coord<"(_,_,?)">
          %fB = cute.slice(%tCrB, %step) : !tCrB, !cute.coord<"(_,_,?)">
          cute.gemm(%mma, %tCrC, %fA, %fB, %tCrC) : (!mma, !tCrC, !tCrA_k, !tCrB_k, !tCrC)
        } {cute.unroll}
      } {cute.stages = 3 : i64}

      // C = alpha * sums + beta * C, a fourth of N at a time, in f32; C is not read where beta is 0.
      %step0 = cute.static : !cute.coord<"(_,_,0)">
      %zero = arith.constant 0.0 : f32
      %reads = arith.cmpf une, %beta, %zero : f32
      %pair = cute.make_atom() : () -> !pair
      %copy_C = cute.make_tiled_copy(%pair) : !copy_C
      %tYgC = cute.tiled.copy.partition_D(%copy_C, %gC, %t) : (!copy_C, !gC, !thread) -> !tYgC
      %sums = cute.get_iter(%tCrC) : !tCrC
      %fourths = cute.static : !sums
      %tCrC_4 = cute.make_view(%sums, %fourths) : !tCrC_4
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %fourth = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
        %x = cute.slice(%tCrC_4, %fourth) : !tCrC_4, !cute.coord<"(_,_,_,?)">
        %here = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
        %g = cute.slice(%tYgC, %here) : !tYgC, !cute.coord<"(_,_,?)">
        %h = cute.memref.alloca() : !tCrH_n
        %hp = cute.tiled.copy.retile(%copy_C, %h) : (!copy_C, !tCrH_n) -> !tYrH_n
        %hv = cute.slice(%hp, %step0) : !tYrH_n, !cute.coord<"(_,_,0)">
        cute.clear(%h) : (!tCrH_n)
        scf.if %reads {
          cute.copy(%copy_C, %g, %hv) : (!copy_C, !tYgC_n, !tYrH_v)
        }
        %y = cute.convert(%h) : (!tCrH_n) -> !tCrC_n
        cute.axpby(%alpha, %x, %beta, %y) : (f32, !tCrC_n, f32, !tCrC_n)
        %o = cute.convert(%y) : (!tCrC_n) -> !tCrH_n
        %op = cute.tiled.copy.retile(%copy_C, %o) : (!copy_C, !tCrH_n) -> !tYrH_n
        %ov = cute.slice(%op, %step0) : !tYrH_n, !cute.coord<"(_,_,0)">
        cute.copy(%copy_C, %ov, %g) : (!copy_C, !tYrH_v, !tYgC_n)
      } {cute.unroll}
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
    %lA = cute.get_layout(%A) : !mat
    %lB = cute.get_layout(%B) : !mat
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA) : !any
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB) : !any
    // Tiles must divide the problem: nothing above asks whether an element is there.
    %rM = arith.remsi %M, %bM : i32
    %rN = arith.remsi %N, %bM : i32
    %rK = arith.remsi %K, %bK : i32
    %rMN = arith.ori %rM, %rN : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 128, and K of 64"
    %m = arith.divsi %M, %bM : i32
    %n = arith.divsi %N, %bM : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@sgemm_sm80_auto_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
